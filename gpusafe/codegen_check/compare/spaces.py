"""Memory that landed in another place than the source says: shared variables in ``.global``, stale read-only loads."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from gpusafe.codegen_check.compare.findings import Weaker
from gpusafe.codegen_check.compare.motion import Context
from gpusafe.codegen_check.compare.operations import Operation
from gpusafe.codegen_check.compare.origins import is_static, origins
from gpusafe.codegen_check.compare.values import pointer_of
from gpusafe.codegen_check.ptx import Symbol
from gpusafe.ir.kernel import Atomic, Space, Store
from gpusafe.verdict import Site


def shared_in_global(context: Context, symbols: Sequence[Symbol], meant: Collection[str]) -> Iterator[Weaker]:
    """Shared regions of the source whose symbol the PTX declares in global memory.

    ``meant`` names the statics that an attribute asks to be shared.
    """
    for region in context.kernel.regions:
        name = region.name.rsplit("::", 1)[-1]
        if region.space not in (Space.SHARED, Space.DYNAMIC_SHARED) and name not in meant:
            continue
        for symbol in symbols:
            if symbol.space == "global" and is_static(symbol.name, name):
                yield Weaker(
                    f"`{name}` is in global memory in the compiled PTX: all blocks share one copy",
                    Site(region.span, "meant to be shared memory, one copy per block"),
                    related=_accesses(context, region.name),
                    declarations=((symbol.line, f".global {symbol.name}[{symbol.bytes}];"),),
                    help=(
                        'declare the variable with `global_asm!(".shared ...")`: rustc has no static in shared memory',
                    ),
                )


def _accesses(context: Context, region: str) -> tuple[Site, ...]:
    """The first places that write and read a region."""
    found: dict[str, Site] = {}
    for op in context.operations:
        pointer = pointer_of(op.stmt)
        if pointer is not None and context.values.region(pointer) == region:
            what = "read" if op.kind in ("load", "atomic-load", "volatile-load") else "written"
            found.setdefault(what, Site(op.stmt.span, f"{what} by all blocks here"))
    return tuple(found.values())


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
