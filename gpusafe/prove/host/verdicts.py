"""Decides one pair of conflicting accesses: proved, refuted (and replayed), or unknown and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from gpusafe.dataflow.happens_before import Ordering, stream_of
from gpusafe.dataflow.host_replay import Schedule
from gpusafe.ir.host import Enqueue, Gap, HostPath
from gpusafe.prove.host.conflicts import Pair, alias_class
from gpusafe.prove.host.meetings import Meetings
from gpusafe.prove.host.overlap import Meet, Overlap, overlap
from gpusafe.prove.host.wording import memory_name, stream_name
from gpusafe.verdict import Verdict

Separate: TypeAlias = Callable[[Pair, Overlap], Overlap]
"""Narrows the overlap of two argument ranges to what the kernels really touch."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict on a pair; ``reason`` for unknown, ``why`` for proved, ``schedule`` and ``byte`` for refuted."""

    verdict: Verdict
    reason: str | None = None
    why: str = ""
    schedule: Schedule | None = None
    byte: int | None = None


@dataclass(frozen=True, slots=True)
class Judge:
    """Decides the pairs of one path. ``charitable`` is the order under the kindest reading of what is not known."""

    path: HostPath
    charitable: Ordering
    separate: Separate
    meetings: Meetings

    def decide(self, pair: Pair) -> Decision:
        """The verdict on one pair."""
        if pair.ordered:
            return Decision(Verdict.PROVED, why="ordered")
        shared = self.shared(pair)
        if shared.meet is Meet.NEVER:
            return Decision(Verdict.PROVED, why="disjoint")
        doubt = self.doubt(pair, shared)
        if doubt is not None:
            return Decision(Verdict.UNKNOWN, doubt)
        schedule = self.meetings.find(pair)
        if schedule is None:
            return Decision(Verdict.UNKNOWN, self.meetings.excuse)
        return Decision(Verdict.REFUTED, schedule=schedule, byte=shared.byte)

    def shared(self, pair: Pair) -> Overlap:
        """The common bytes of the two sides."""
        if pair.first.memory != pair.second.memory:
            names = memory_name(self.path, pair.first), memory_name(self.path, pair.second)
            return Overlap(Meet.DEPENDS, reason=f"{names[0]} and {names[1]} may be the same memory")
        found = overlap(self.path, pair.first.range, pair.second.range)
        return found if found.meet is Meet.NEVER else self.separate(pair, found)

    def doubt(self, pair: Pair, shared: Overlap) -> str | None:
        """Why an unordered pair is not surely a race."""
        for access in (pair.first, pair.second):
            if access.doubt is not None:
                return access.doubt
        if shared.meet is Meet.DEPENDS:
            return shared.reason or "whether the two stretches overlap is not known"
        if pair.first.mode == "free":
            return None
        gap = self.gap_between(pair)
        if gap is not None:
            return f"{gap.reason}, which may order the two"
        if self.charitable.either_way(pair.first.op, pair.second.op):
            return self.open_order(pair)
        return None

    def open_order(self, pair: Pair) -> str:
        """What is not known about the streams."""
        ops = (self.path.ops[pair.first.op], self.path.ops[pair.second.op])
        streams = {op.stream: stream_of(self.path, op.stream) for op in ops if isinstance(op, Enqueue)}
        names = [stream_name(self.path, ident) for ident in streams]
        if len(names) == 2:
            kinds = {s.kind for s in streams.values()}
            if "unknown" in kinds:
                return f"{names[0]} and {names[1]} may be one stream or two: nothing in sight says"
            return f"whether {names[0]} and {names[1]} wait for each other is not known"
        return f"whether what orders this on {names[0]} covers it is not known" if names else "the order is not known"

    def gap_between(self, pair: Pair) -> Gap | None:
        """An unmodelled call between the two that may order them."""
        low, high = sorted((pair.first.op, pair.second.op))
        classes = {alias_class(self.path, a.memory) for a in (pair.first, pair.second)}
        for op in self.path.ops[low + 1 : high]:
            if isinstance(op, Gap) and (not op.memory or classes & {alias_class(self.path, m) for m in op.memory}):
                return op
        return None
