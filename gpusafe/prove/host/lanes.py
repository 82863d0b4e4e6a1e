"""Stretches of one allocation in lanes: side by side where that is certain, so that few of them need be compared.

Every stretch of a lane ends where the next one starts, or before. Where a new stretch belongs is found by halving; it
is then apart from all others of the lane, and apart from a lane in which it only has a place to go.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from gpusafe.dataflow.host_sums import Linear, linear
from gpusafe.ir.host import HostPath, MemRange
from gpusafe.prove.host.overlap import end_of

MOST_LANES = 4


@dataclass(slots=True)
class _Stretch:
    """Bytes from ``start`` up to ``end``, and the operations (a bit set) that access exactly these."""

    start: Linear
    end: Linear
    ops: int


@dataclass(frozen=True, slots=True)
class Near:
    """What a stretch may meet: the operations (a bit set) that are not certainly apart from it, and its neighbours."""

    rivals: int
    neighbours: int


@dataclass(slots=True)
class Lanes:
    """The accesses to one allocation so far. What cannot be told apart from four others is ``loose``."""

    path: HostPath
    lanes: list[list[_Stretch]] = field(default_factory=list)
    loose: int = 0

    def near(self, stretch: MemRange) -> Near:
        """Which of the operations so far a stretch may meet."""
        ends = self._ends(stretch)
        rivals, neighbours = self.loose, 0
        for lane in self.lanes:
            place = _place(lane, *ends) if ends is not None else None
            if place is None:
                rivals |= _all(lane)
            elif isinstance(place, _Stretch):
                rivals |= place.ops
            else:
                for beside in lane[max(0, place - 1) : place + 1]:
                    neighbours |= beside.ops
        return Near(rivals, neighbours)

    def add(self, stretch: MemRange, op: int) -> None:
        """Takes in one access of an operation."""
        ends = self._ends(stretch)
        if ends is None:
            self.loose |= 1 << op
            return
        for lane in self._open():
            place = _place(lane, *ends)
            if isinstance(place, _Stretch):
                place.ops |= 1 << op
                return
            if place is not None:
                lane.insert(place, _Stretch(*ends, 1 << op))
                return
        self.loose |= 1 << op

    def _open(self) -> Iterator[list[_Stretch]]:
        yield from self.lanes
        if len(self.lanes) < MOST_LANES:
            self.lanes.append([])
            yield self.lanes[-1]

    def _ends(self, stretch: MemRange) -> tuple[Linear, Linear] | None:
        start, end = linear(stretch.start), end_of(self.path, stretch)
        if end is None or not end.plus(start, -1).never_negative:
            return None
        return start, end


def _place(lane: list[_Stretch], start: Linear, end: Linear) -> int | _Stretch | None:
    """The stretch with the same ends, the index at which there is room, or None where it may overlap another."""
    low, high = 0, len(lane)
    while low < high:
        middle = (low + high) // 2
        other = lane[middle]
        if other.start == start and other.end == end:
            return other
        if other.start.plus(end, -1).never_negative:
            high = middle
        elif start.plus(other.end, -1).never_negative:
            low = middle + 1
        else:
            return None
    return low


def _all(lane: list[_Stretch]) -> int:
    ops = 0
    for stretch in lane:
        ops |= stretch.ops
    return ops
