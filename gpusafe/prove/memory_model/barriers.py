"""CTA barriers: who waits for whom, and who then synchronises with whom."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product

from gpusafe.parse.litmus import Barrier, ThreadCode
from gpusafe.prove.memory_model import relation as rel
from gpusafe.prove.memory_model.events import BarrierUse
from gpusafe.prove.memory_model.relation import Relation
from gpusafe.prove.memory_model.structure import Structure
from gpusafe.prove.memory_model.unfold import Ending, Trace


@dataclass(frozen=True, slots=True)
class _Member:
    event: int
    thread: int
    use: BarrierUse
    waits: bool  # blocked here for ever


def meetings(s: Structure, threads: tuple[ThreadCode, ...], traces: tuple[Trace, ...]) -> list[Relation] | None:
    """The possible synchronisations of barriers, or None where the traces block and pass at the wrong places.

    A barrier without a quorum lets its threads pass when every thread of the CTA that names it has reached it, one
    with a quorum when that many have. Which ones made the quorum is open; they synchronise with each other and with
    those that come later.
    """
    groups: dict[tuple[object, ...], list[_Member]] = {}
    for number, (thread, trace, start) in enumerate(zip(threads, traces, s.starts, strict=True)):
        for at, event in enumerate(trace.events):
            if event.barrier is None:
                continue
            use, place = event.barrier, thread.place
            last = at == len(trace.events) - 1
            waits = trace.ending is Ending.BLOCKED and last
            key: tuple[object, ...] = (place.gpu, place.cluster, place.cta, use.instance, use.round, use.resource)
            groups.setdefault(key, []).append(_Member(start + at, number, use, waits))
    choices = []
    for key, members in groups.items():
        opened = _opens(members, threads, key)
        if any(m.waits == open_ and not m.use.arrives for m, open_ in zip(members, opened, strict=True)):
            return None
        if not any(opened):
            continue
        choices.append([(chosen, members) for chosen in _subsets(members)])
    out = []
    for chosen in product(*choices):
        pairs = [
            (a.event, b.event)
            for met, members in chosen
            for a in met
            for b in members
            if a is not b and not b.use.arrives
        ]
        out.append(rel.of(len(s.events), pairs))
    return out


def _opens(members: list[_Member], threads: tuple[ThreadCode, ...], key: tuple[object, ...]) -> list[bool]:
    """For each member whether its wait ends."""
    here = {m.thread for m in members}
    out = []
    for member in members:
        if member.use.quorum is not None:
            out.append(len(members) >= member.use.quorum)
        else:
            needed = {
                number
                for number, thread in enumerate(threads)
                if (thread.place.gpu, thread.place.cluster, thread.place.cta) == key[:3] and _names(thread, member.use)
            }
            out.append(needed <= here)
    return out


def _names(thread: ThreadCode, use: BarrierUse) -> bool:
    """Whether a thread's code is sure to mean this barrier somewhere."""
    return any(
        isinstance(i, Barrier) and i.instance == use.instance and i.resource == use.resource for i in thread.code
    )


def _subsets(members: list[_Member]) -> Iterator[tuple[_Member, ...]]:
    quorums = [m.use.quorum for m in members if m.use.quorum is not None]
    size = max(quorums) if len(quorums) == len(members) else len(members)
    yield from combinations(members, min(max(size, 0), len(members)))
