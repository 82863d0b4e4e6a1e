"""Memory of the concrete interpreter: values, and which accesses of different threads met unordered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from gpusafe.dataflow.concrete.evaluate import UNKNOWN
from gpusafe.ir.expr import Type
from gpusafe.ir.kernel import Scope
from gpusafe.span import Span

KEPT = 3  # threads remembered for each cell, statement and interval
MEETINGS = 64


@dataclass(frozen=True, slots=True)
class Touch:
    """One access: ``mode`` is read, write, atomic or borrow; ``cell`` its first byte; the clocks say when it was."""

    region: str
    offset: int
    size: int
    mode: str
    span: Span
    thread: int
    block: tuple[int, int, int]
    tid: tuple[int, int, int]
    grid_phase: int
    block_phase: int
    warp_clock: int
    scope: Scope | None = None
    volatile: bool = False
    writes: bool = False


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two accesses of different threads that conflict and that nothing orders; the first one writes."""

    first: Touch
    second: Touch


class Clocks(Protocol):
    """Tells whether two accesses of one warp are ordered by a warp barrier."""

    def ordered_in_warp(self, a: Touch, b: Touch) -> bool:
        """Whether a warp barrier that both threads passed lies between the accesses."""
        ...


class Memory:
    """All regions: values by byte offset, and the touches of each cell."""

    def __init__(self, clocks: Clocks, contents: Any) -> None:
        self._values: dict[tuple[Any, int], tuple[int, Any]] = {}
        self._touched: dict[tuple[Any, int], list[Touch]] = {}
        self._clocks = clocks
        self._contents = contents
        self.meetings: dict[tuple[object, ...], Meeting] = {}

    def read(self, place: Any, offset: int, type_: Type) -> Any:
        """The value of a cell: what was stored last, or the initial contents."""
        found = self._values.get((place, offset))
        if found is not None:
            return found[1] if found[0] == type_.bytes else UNKNOWN
        return self._contents(place, offset, type_)

    def write(self, place: Any, offset: int, size: int, value: Any) -> None:
        """Stores a value; cells that it partly covers become unknown."""
        for at in range(offset - 15, offset + size):
            known = self._values.get((place, at))
            if known is not None and at != offset and at + known[0] > offset:
                self._values[place, at] = (known[0], UNKNOWN)
        self._values[place, offset] = (size, value)

    def touch(self, place: Any, now: Touch) -> None:
        """Records an access and whom it meets."""
        for byte in range(now.offset // 4, (now.offset + now.size + 3) // 4):
            seen = self._touched.setdefault((place, byte), [])
            same = 0
            for other in seen:
                if other.thread == now.thread and other.block == now.block:
                    if other.mode == now.mode and other.span == now.span and self._when(other) == self._when(now):
                        same = KEPT
                    continue
                if other.mode == now.mode and other.span == now.span and self._when(other) == self._when(now):
                    same += 1
                if self._conflict(other, now):
                    self._met(other, now)
            if same < KEPT:
                seen.append(now)

    @staticmethod
    def _when(t: Touch) -> tuple[int, ...]:
        return t.grid_phase, t.block_phase, t.warp_clock, *t.block

    def _conflict(self, a: Touch, b: Touch) -> bool:
        if not (a.writes or b.writes) or a.offset >= b.offset + b.size or b.offset >= a.offset + a.size:
            return False
        same_block = a.block == b.block
        if a.mode == b.mode == "atomic" and a.size == b.size and a.offset == b.offset:
            wide = (Scope.DEVICE, Scope.SYSTEM, Scope.BLOCK, Scope.CLUSTER) if same_block else (Scope.DEVICE, Scope.SYSTEM)
            if a.scope in wide and b.scope in wide:
                return False
        if a.grid_phase != b.grid_phase:
            return False
        if not same_block:
            return True
        return a.block_phase == b.block_phase and not self._clocks.ordered_in_warp(a, b)

    def _met(self, a: Touch, b: Touch) -> None:
        first, second = (b, a) if b.writes else (a, b)
        key = (first.region, first.span, second.span, first.mode, second.mode, a.block == b.block)
        if len(self.meetings) < MEETINGS:
            self.meetings.setdefault(key, Meeting(first, second))
