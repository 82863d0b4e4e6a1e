"""Memory that landed in another place than the source says: shared variables in ``.global``, stale read-only loads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpusafe.codegen_check.compare.findings import Weaker
from gpusafe.codegen_check.compare.motion import Context
from gpusafe.codegen_check.compare.operations import Operation
from gpusafe.codegen_check.compare.origins import is_static, origins
from gpusafe.codegen_check.compare.values import pointer_of
from gpusafe.codegen_check.ptx import Symbol
from gpusafe.ir.kernel import Atomic, Space, Store
from gpusafe.verdict import Site


def shared_in_global(context: Context, symbols: Sequence[Symbol]) -> Iterator[Weaker]:
    """Shared regions of the source whose symbol the PTX declares in global memory."""
    for region in context.kernel.regions:
        if region.space not in (Space.SHARED, Space.DYNAMIC_SHARED):
            continue
        name = region.name.rsplit("::", 1)[-1]
        for symbol in symbols:
            if symbol.space == "global" and is_static(symbol.name, name):
                yield Weaker(
                    f"`{name}` is in global memory in the compiled PTX: all blocks share one copy",
                    Site(region.span, "meant to be shared memory, one copy per block"),
                    help=(
                        'declare the variable with `global_asm!(".shared ...")`: rustc has no static in shared memory',
                    ),
                )


def stale_loads(context: Context) -> Iterator[Weaker]:
    """``ld.global.nc`` of memory that the kernel writes: that path may return old values (PTX ISA 9.7.9.9)."""
    written: dict[str, Operation] = {}
    for op in context.operations:
        pointer = pointer_of(op.stmt)
        if pointer is not None and (
            isinstance(op.stmt, Store) or (isinstance(op.stmt, Atomic) and op.stmt.op != "load")
        ):
            region = context.values.region(pointer)
            if region is not None:
                written.setdefault(region, op)
    for index, instr in enumerate(context.matching.function.instrs):
        if instr.opcode[0] != "ld" or not instr.has("nc"):
            continue
        for region in origins(context.kernel, context.matching.function, instr):
            if region in written:
                group = context.matching.owner.get(index)
                span = group.span if group else context.kernel.span
                yield Weaker(
                    "the compiled PTX reads memory that the kernel writes through the read-only cache",
                    Site(span, "`ld.global.nc` may return an old value"),
                    (instr,),
                    (Site(written[region].stmt.span, "written here"),),
                    help=("pass the memory as a raw pointer: rustc tells LLVM that a `&T` is not written",),
                )
