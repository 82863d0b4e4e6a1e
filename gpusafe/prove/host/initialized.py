"""GS112: the device reads memory that nothing has written on this path.

Only what is certain is refuted: no operation before the read may have written the memory, and the kernel reads before
it writes; or what all earlier operations can reach leaves a part out that is read (``coverage``). Where a kernel or
copy did write otherwise, the obligation is proved on the assumption that it wrote what is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gpusafe.dataflow.contracts import KernelSummary
from gpusafe.dataflow.effects import Access, Effects
from gpusafe.ir.expr import Expr, PtrAdd, PtrBase, Select
from gpusafe.ir.host import Alloc, Enqueue, Gap, HostPath, Memory
from gpusafe.ir.kernel import Atomic, Block, If, Load, Loop, Stmt, Store, Unmodelled
from gpusafe.prove.host.conflicts import alias_class
from gpusafe.prove.host.coverage import hole
from gpusafe.prove.host.kernel_ranges import KernelRanges
from gpusafe.prove.host.wording import actor, the
from gpusafe.verdict import Counterexample, Obligation, Site, Verdict

_WRITES = frozenset({"write", "atomic"})


def uninitialized_reads(
    path: HostPath, found: Effects, summaries: Mapping[str, KernelSummary], ranges: KernelRanges
) -> Iterator[tuple[int, Obligation]]:
    """An obligation for each device read of memory that came into being uninitialised on this path.

    Memory that was there before (a field that another method made) may have been written between the two calls.
    """
    born = _born(path)
    blank = {ident: memory for ident, memory in path.memory.items() if not memory.initialized and ident in born}
    if not blank:
        return
    written: dict[str, list[Access]] = {}
    touched = _gaps(path)
    for access in found.accesses:
        memory = blank.get(access.memory)
        op = path.ops[access.op]
        if memory is not None and isinstance(op, Enqueue) and access.mode in ("read", "atomic"):
            earlier = [w for w in written.get(memory.ident, ()) if w.op != access.op]
            left = hole(path, access, earlier, ranges) if earlier else None
            unsure = None
            if not earlier or left is not None:
                unsure = _doubt(path, access, memory, touched, summaries, ranges)
            yield access.op, _obligation(path, access, memory, (earlier, left), unsure)
        if access.mode in _WRITES:
            written.setdefault(access.memory, []).append(access)


def _born(path: HostPath) -> frozenset[str]:
    made = {op.memory for op in path.ops if isinstance(op, Alloc)}
    asked = {a.range.memory for op in path.ops if isinstance(op, Enqueue) and op.what == "alloc" for a in op.accesses}
    return frozenset(made | asked)


def _gaps(path: HostPath) -> list[tuple[int, frozenset[str]]]:
    return [(i, frozenset(op.memory)) for i, op in enumerate(path.ops) if isinstance(op, Gap)]


def _obligation(
    path: HostPath,
    access: Access,
    memory: Memory,
    before: tuple[list[Access], int | None],
    unsure: str | None,
) -> Obligation:
    op = path.ops[access.op]
    earlier, left = before
    question = f"{the(op.label)} reads `{memory.name}` only after it was written"
    if earlier and left is None:
        writer = the(path.ops[earlier[-1].op].label)
        assumption = f"{writer} writes all of `{memory.name}` that {the(op.label)} reads"
        return Obligation("GS112", question, Verdict.PROVED, op.span, assumptions=(assumption,))
    if unsure == "":
        words = f"{the(op.label)} writes what it reads of `{memory.name}` before, or does not read it"
        return Obligation("GS112", question, Verdict.PROVED, op.span, assumptions=(words,))
    if unsure is not None:
        return Obligation("GS112", question, Verdict.UNKNOWN, op.span, unsure)
    if left is not None:
        return Obligation(
            "GS112", question, Verdict.REFUTED, op.span, counterexample=_partly(path, access, memory, before)
        )
    shown = Counterexample(
        f"`{memory.name}` is read by {actor(path, access.op)}, and nothing has written it",
        Site(op.span, f"`{memory.name}` is read here"),
        (Site(memory.span, f"`{memory.name}` is allocated here, uninitialised"),),
        ("no launch, copy or memset before this one writes it on this path",),
        (f"clear `{memory.name}` first, or allocate it zeroed",),
    )
    return Obligation("GS112", question, Verdict.REFUTED, op.span, counterexample=shown)


def _partly(path: HostPath, access: Access, memory: Memory, before: tuple[list[Access], int | None]) -> Counterexample:
    earlier, left = before
    size = memory.elem_bytes or 1
    place = f"`{memory.name}[{(left or 0) // size}]`"
    writers = dict.fromkeys(w.op for w in earlier)
    return Counterexample(
        f"{place} is read by {actor(path, access.op)}, and nothing has written it",
        Site(path.ops[access.op].span, f"{place} is read here"),
        (
            *[Site(path.ops[w].span, f"{the(path.ops[w].label)} writes another part") for w in list(writers)[-2:]],
            Site(memory.span, f"`{memory.name}` is allocated here, uninitialised"),
        ),
        ("what launches, copies and memsets before this one can write on this path leaves a part of it out",),
        (f"write all of `{memory.name}` first, or read only what was written",),
    )


def _doubt(
    path: HostPath,
    access: Access,
    memory: Memory,
    gaps: list[tuple[int, frozenset[str]]],
    summaries: Mapping[str, KernelSummary],
    ranges: KernelRanges,
) -> str | None:
    """Why the read may be of written memory; "" where the operation itself writes first, None where there is no way."""
    for index, touches in gaps:
        if index < access.op and (not touches or memory.ident in touches):
            gap = path.ops[index]
            return gap.reason if isinstance(gap, Gap) else gap.label
    if alias_class(path, memory.ident) == "":
        return f"`{memory.name}` may be the same as other memory"
    if access.doubt is not None:
        return access.doubt
    op = path.ops[access.op]
    if access.param is None or not isinstance(op, Enqueue):
        return None
    summary = summaries.get(op.kernel or "")
    region = summary.kernel.params[access.param].region if summary else None
    if summary is None or region is None:
        return "what the kernel reads first is not known"
    if not reads_first(summary.kernel.body, region):
        return ""
    happens = ranges.happens(access)
    if happens is None:
        return f"whether {the(op.label)} reads `{memory.name}` depends on what is not modelled"
    return None if happens else ""


def reads_first(body: tuple[Stmt, ...], region: str) -> bool:
    """Whether the first access to a region, in the order of the text, reads it (False where that is not sure)."""
    stack = list(reversed(body))
    while stack:
        match stack.pop():
            case Load(ptr=ptr) if region in bases(ptr):
                return True
            case Store(ptr=ptr) | Atomic(ptr=ptr, op="store") if region in bases(ptr) or not bases(ptr):
                return False
            case Atomic(ptr=ptr) if region in bases(ptr):
                return True
            case Unmodelled():
                return False
            case If(then=then, orelse=orelse):
                stack.extend(reversed(then + orelse))
            case Block(body=inner) | Loop(body=inner):
                stack.extend(reversed(inner))
            case _:
                pass
    return False


def bases(ptr: Expr) -> frozenset[str]:
    """The regions that an address expression names itself."""
    names: set[str] = set()
    stack = [ptr]
    while stack:
        match stack.pop():
            case PtrBase(region=region):
                names.add(region)
            case PtrAdd(ptr=inner):
                stack.append(inner)
            case Select(a=a, b=b):
                stack.extend((a, b))
            case _:
                pass
    return frozenset(names)
