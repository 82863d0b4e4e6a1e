"""Memory of the concrete interpreter: values, and which accesses of different threads met unordered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from gpusafe.dataflow.concrete.evaluate import UNKNOWN
from gpusafe.ir.expr import Type
from gpusafe.ir.kernel import Scope
from gpusafe.span import Span

KEPT = 3  # threads remembered for each cell, statement and interval
OTHERS = 48  # accesses remembered for each cell, for the blocks that come later
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


class Enough(Exception):
    """The meeting that a run looks for has happened."""


class Clocks(Protocol):
    """Tells whether two accesses of one warp are ordered by a warp barrier."""

    def ordered_in_warp(self, a: Touch, b: Touch) -> bool:
        """Whether a warp barrier that both threads passed lies between the accesses."""
        ...


class _Cell:
    """Who touched four bytes: all of the present interval of one block, and one of each kind for every block."""

    __slots__ = ("block", "others", "phase", "recent")

    def __init__(self) -> None:
        self.block: tuple[int, int, int] | None = None
        self.phase = -1
        self.recent: list[Touch] = []
        self.others: list[Touch] = []


class Memory:
    """All regions: values by byte offset, and the touches of each cell."""

    def __init__(self, clocks: Clocks, contents: Any, wanted: Callable[[Meeting], bool] | None) -> None:
        self._wanted = wanted
        self._values: dict[tuple[Any, int], tuple[int, Any]] = {}
        self._cells: dict[tuple[Any, int], _Cell] = {}
        self._clocks = clocks
        self._contents = contents
        self.meetings: dict[tuple[object, ...], Meeting] = {}

    def read(self, place: Any, offset: int, type_: Type) -> Any:
        """The value of a cell: what was stored last, or the initial contents."""
        found = self._values.get((place, offset))
        if found is not None:
            return found[1] if found[0] == type_.bytes else UNKNOWN
        return self._contents(place, offset, type_)

    def stored(self, place: Any, offset: int, size: int) -> bool:
        """Whether a store has written one of these bytes."""
        near = ((at, self._values.get((place, at))) for at in range(offset - 15, offset + size))
        return any(known is not None and at + known[0] > offset for at, known in near)

    def write(self, place: Any, offset: int, size: int, value: Any) -> None:
        """Stores a value; cells that it partly covers become unknown."""
        for at in range(offset - 15, offset + size):
            known = self._values.get((place, at))
            if known is not None and at != offset and at + known[0] > offset:
                self._values[place, at] = (known[0], UNKNOWN)
        before = self._values.get((place, offset), (0, None))[0]
        if before > size:  # what is left of a wider value stays written
            rest = self._values.get((place, offset + size), (0, None))[0]
            self._values[place, offset + size] = (max(before - size, rest), UNKNOWN)
        self._values[place, offset] = (size, value)

    def touch(self, place: Any, now: Touch) -> None:
        """Records an access and whom it meets."""
        shared = not isinstance(place, str)
        for word in range(now.offset // 4, (now.offset + now.size + 3) // 4):
            cell = self._cells.get((place, word))
            if cell is None:
                cell = self._cells[place, word] = _Cell()
            self._in_block(cell, now)
            if not shared:
                self._across_blocks(cell, now)

    def _in_block(self, cell: _Cell, now: Touch) -> None:
        if cell.block != now.block or cell.phase != now.block_phase:
            cell.block, cell.phase, cell.recent = now.block, now.block_phase, []
        same = 0
        for other in cell.recent:
            like = other.mode == now.mode and other.span is now.span and other.warp_clock == now.warp_clock
            if other.thread == now.thread:
                if like:
                    same = KEPT
                continue
            same += like
            if self._conflict(other, now):
                self.met(other, now)
        if same < KEPT:
            cell.recent.append(now)

    def _across_blocks(self, cell: _Cell, now: Touch) -> None:
        known = False
        for other in cell.others:
            if other.block != now.block:
                if self._conflict(other, now):
                    self.met(other, now)
            elif other.mode == now.mode and other.span is now.span and other.grid_phase == now.grid_phase:
                known = True
        if not known and len(cell.others) < OTHERS:
            cell.others.append(now)

    def _conflict(self, a: Touch, b: Touch) -> bool:
        if not (a.writes or b.writes) or a.offset >= b.offset + b.size or b.offset >= a.offset + a.size:
            return False
        same_block = a.block == b.block
        if a.mode == b.mode == "atomic" and a.size == b.size and a.offset == b.offset:
            wide = (
                (Scope.DEVICE, Scope.SYSTEM, Scope.BLOCK, Scope.CLUSTER) if same_block else (Scope.DEVICE, Scope.SYSTEM)
            )
            if a.scope in wide and b.scope in wide:
                return False
        if a.grid_phase != b.grid_phase:
            return False
        if not same_block:
            return True
        return a.block_phase == b.block_phase and not self._clocks.ordered_in_warp(a, b)

    def met(self, a: Touch, b: Touch) -> None:
        """Notes that two accesses met."""
        first, second = (b, a) if b.writes else (a, b)
        key = (first.region, first.span, second.span, first.mode, second.mode, a.block == b.block)
        if key not in self.meetings and len(self.meetings) < MEETINGS:
            self.meetings[key] = meeting = Meeting(first, second)
            if self._wanted is not None and self._wanted(meeting):
                raise Enough
