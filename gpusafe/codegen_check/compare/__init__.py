"""A kernel's PTX held against the operations that its source asks for."""

from gpusafe.codegen_check.compare.check import Comparison, compare
from gpusafe.codegen_check.compare.findings import Weaker

__all__ = ["Comparison", "Weaker", "compare"]
