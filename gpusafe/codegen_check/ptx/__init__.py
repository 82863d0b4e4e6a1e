"""PTX text: its instructions, their control flow, and which branches depend on the thread."""

from gpusafe.codegen_check.ptx.calls import with_callees
from gpusafe.codegen_check.ptx.flow import Flow, build_flow
from gpusafe.codegen_check.ptx.model import Chain, Function, Instr, Place, Symbol, Unit
from gpusafe.codegen_check.ptx.read import PtxError, read

__all__ = [
    "Chain",
    "Flow",
    "Function",
    "Instr",
    "Place",
    "PtxError",
    "Symbol",
    "Unit",
    "build_flow",
    "read",
    "with_callees",
]
