"""GS105: one launch that gets overlapping memory through two arguments and writes at least one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations, groupby

from gpusafe.dataflow.contracts import KernelSummary
from gpusafe.dataflow.effects import Access, Effects
from gpusafe.ir.host import Enqueue, HostPath, LaunchSite
from gpusafe.prove.host.bearing import Bearing, of_launch
from gpusafe.prove.host.conflicts import alias_class
from gpusafe.prove.host.overlap import Meet, Overlap, overlap
from gpusafe.prove.host.wording import memory_name, the
from gpusafe.prove.launch_context import of_site
from gpusafe.prove.pairs_of_kernel import analyse
from gpusafe.prove.replay import Replayer
from gpusafe.prove.replay_pairs import refute
from gpusafe.verdict import Counterexample, Obligation, Site, Verdict

_CLASH = frozenset(
    {("read", "write"), ("write", "read"), ("write", "write"), ("read", "atomic"), ("atomic", "read")}
) | {
    ("write", "atomic"),
    ("atomic", "write"),
}


def aliased_arguments(
    path: HostPath, found: Effects, summaries: Mapping[str, KernelSummary]
) -> Iterator[tuple[int, Obligation]]:
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
                yield index, _obligation(path, op, a, b, summaries)


def _obligation(
    path: HostPath, op: Enqueue, a: Access, b: Access, summaries: Mapping[str, KernelSummary]
) -> Obligation:
    name = memory_name(path, a)
    question = f"the arguments of {the(op.label)} that lie in {name} do not overlap where one is written"
    answer = _overlap(path, a, b)
    if answer.meet is Meet.NEVER:
        return Obligation("GS105", question, Verdict.PROVED, op.span)
    doubt = a.doubt or b.doubt or (answer.reason if answer.meet is Meet.DEPENDS else None)
    summary = summaries.get(op.kernel or "")
    if doubt is not None or summary is None:
        return Obligation("GS105", question, Verdict.UNKNOWN, op.span, doubt or "the kernel is not in sight")
    if _promised_apart(summary, a, b):
        return Obligation("GS105", question, Verdict.REFUTED, op.span, counterexample=_shown(path, op, a, b, None))
    near = replace(path, assumes=Bearing(path.assumes).on(of_launch(op, path)))
    context = of_site(summary.kernel, LaunchSite(op, near))
    analysis = analyse(summary.kernel, context)
    if analysis.proved and summary.complete:
        words = (
            f"each thread of {the(op.label)} writes only what no other thread touches, although the arguments overlap"
        )
        return Obligation("GS105", question, Verdict.PROVED, op.span, assumptions=(words,))
    replayer = Replayer.of(summary.kernel)
    for asked in analysis.questions.values():
        met = refute(replayer, analysis, asked) if asked.failures else None
        if met is not None:
            shown = _shown(path, op, a, b, met.example)
            return Obligation("GS105", question, Verdict.REFUTED, op.span, counterexample=shown)
    reason = f"{name} is passed twice and written, and whether two threads meet in it is not settled"
    return Obligation("GS105", question, Verdict.UNKNOWN, op.span, reason)


def _overlap(path: HostPath, a: Access, b: Access) -> Overlap:
    if a.memory != b.memory:
        names = memory_name(path, a), memory_name(path, b)
        return Overlap(Meet.DEPENDS, reason=f"{names[0]} and {names[1]} may be the same memory")
    return overlap(path, a.range, b.range)


def _promised_apart(summary: KernelSummary, a: Access, b: Access) -> bool:
    """Whether the kernel's own types say that the written side is the only way to its memory."""
    exclusive = {region.param for region in summary.kernel.regions if region.exclusive}
    return any(side.mode != "read" and side.param is not None and side.param in exclusive for side in (a, b))


def _shown(path: HostPath, op: Enqueue, a: Access, b: Access, met: Counterexample | None) -> Counterexample:
    name = memory_name(path, a)
    written, other = (a, b) if a.mode != "read" else (b, a)
    sites = []
    for side, words in ((written, "written through this argument"), (other, "and reached through this one")):
        if side.arg is not None:
            sites.append(Site(op.args[side.arg].span, f"{name} is {words}"))
    memory = path.memory.get(a.memory)
    if memory is not None:
        sites.append(Site(memory.span, f"{name} comes from here"))
    notes = [met.message, *met.notes] if met is not None else ["the kernel declares the written side exclusive"]
    if met is not None:
        sites += [met.primary, *met.related]
    if path.conditions:
        notes.append(f"on the path from `{path.root}` where {', '.join(path.conditions[:6])}")
    return Counterexample(
        f"{the(op.label)} gets {name} through two arguments and writes it",
        Site(op.span, f"{name} is borrowed mutably and a second time by this launch"),
        tuple(sites),
        tuple(notes),
        ("pass two buffers, or two views that do not overlap",),
    )
