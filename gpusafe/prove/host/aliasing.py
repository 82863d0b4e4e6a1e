"""GS105: one launch that gets overlapping memory through two arguments and writes at least one of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, groupby

from gpusafe.dataflow.effects import Access, Effects
from gpusafe.ir.host import Enqueue, HostPath
from gpusafe.prove.host.conflicts import alias_class
from gpusafe.prove.host.kernel_ranges import KernelRanges
from gpusafe.prove.host.overlap import Meet, Overlap, overlap
from gpusafe.prove.host.wording import memory_name, the
from gpusafe.verdict import Counterexample, Obligation, Site, Verdict

_CLASH = frozenset(
    {("read", "write"), ("write", "read"), ("write", "write"), ("read", "atomic"), ("atomic", "read")}
) | {
    ("write", "atomic"),
    ("atomic", "write"),
}


def aliased_arguments(path: HostPath, found: Effects, ranges: KernelRanges) -> Iterator[tuple[int, Obligation]]:
    """An obligation for each launch with two arguments in one allocation (the index of the launch goes with it)."""
    for index, group in groupby(found.accesses, key=lambda access: access.op):
        op = path.ops[index]
        through = [a for a in group if a.arg is not None]
        if not isinstance(op, Enqueue) or len(through) < 2:
            continue
        for a, b in combinations(through, 2):
            if a.arg == b.arg or (a.mode, b.mode) not in _CLASH:
                continue
            if alias_class(path, a.memory) == alias_class(path, b.memory):
                yield index, _obligation(path, op, a, b, ranges)


def _obligation(path: HostPath, op: Enqueue, a: Access, b: Access, ranges: KernelRanges) -> Obligation:
    name = memory_name(path, a)
    question = f"the arguments of {the(op.label)} that lie in {name} do not overlap where one is written"
    answer = _overlap(path, op, a, b, ranges)
    doubt = a.doubt or b.doubt or (answer.reason if answer.meet is Meet.DEPENDS else None)
    if answer.meet is Meet.NEVER:
        return Obligation("GS105", question, Verdict.PROVED, op.span)
    if doubt is not None:
        return Obligation("GS105", question, Verdict.UNKNOWN, op.span, doubt)
    return Obligation(
        "GS105", question, Verdict.REFUTED, op.span, counterexample=_shown(path, op, a, b, answer, ranges)
    )


def _overlap(path: HostPath, op: Enqueue, a: Access, b: Access, ranges: KernelRanges) -> Overlap:
    if a.memory != b.memory:
        names = memory_name(path, a), memory_name(path, b)
        return Overlap(Meet.DEPENDS, reason=f"{names[0]} and {names[1]} may be the same memory")
    found = overlap(path, a.range, b.range)
    if found.meet is not Meet.ALWAYS:
        return found
    if _promised_apart(op, a, b, ranges):
        return found
    return ranges.two_threads(op, a, b)


def _promised_apart(op: Enqueue, a: Access, b: Access, ranges: KernelRanges) -> bool:
    """Whether the kernel's own types say that the written side is the only way to its memory."""
    summary = ranges.summaries.get(op.kernel or "")
    if summary is None:
        return False
    regions = {region.param: region for region in summary.kernel.regions}
    written = [side for side in (a, b) if side.mode != "read" and side.param is not None]
    return any((region := regions.get(side.param)) is not None and region.exclusive for side in written)


def _shown(path: HostPath, op: Enqueue, a: Access, b: Access, answer: Overlap, ranges: KernelRanges) -> Counterexample:
    name = memory_name(path, a)
    written, other = (a, b) if a.mode != "read" else (b, a)
    sites = []
    for side, words in ((written, "written through this argument"), (other, "and reached through this one")):
        if side.arg is not None:
            sites.append(Site(op.args[side.arg].span, f"{name} is {words}"))
    memory = path.memory.get(a.memory)
    if memory is not None:
        sites.append(Site(memory.span, f"{name} comes from here"))
    notes = [f"both arguments reach byte {answer.byte} of {name}"] if answer.byte is not None else []
    if path.conditions:
        notes.append(f"on the path from `{path.root}` where {', '.join(path.conditions[:6])}")
    return Counterexample(
        f"{the(op.label)} gets {name} through two arguments and writes it",
        Site(op.span, f"{name} is borrowed mutably and a second time by this launch"),
        tuple(sites),
        tuple(notes),
        ("pass two buffers, or two views that do not overlap",),
    )
