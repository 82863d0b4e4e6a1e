"""One way through one thread, as events of the memory model with the plain accesses between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gpusafe.prove.memory_model.unfold import Trace
from gpusafe.span import Span

Triple = tuple[int, int, int]
Cell = tuple[Any, int, int]
"""A place (a region, or a region and the block that has it), a byte offset and a size in bytes."""
WHOLE = 1 << 62  # bytes: the access may be anywhere in its region
UNTOLD = -1 << 130  # the value of an event that is not known


@dataclass(frozen=True, slots=True)
class Who:
    """One thread of the launch."""

    block: Triple
    tid: Triple


@dataclass(frozen=True, slots=True)
class Use:
    """One plain access: ``size`` bytes at ``offset`` of a place; ``data``: contents of memory chose the address;
    ``branch``: they decided that the thread gets there. ``volatile``: which orders nothing (the language has such an
    access race like a plain one).
    """

    place: Any
    offset: int
    size: int
    writes: bool
    mode: str
    span: Span
    data: bool = False
    branch: bool = False
    volatile: bool = False

    def meets(self, other: Use) -> bool:
        """Whether two accesses share a byte and one of them writes."""
        return (
            (self.writes or other.writes)
            and self.place == other.place
            and self.offset < other.offset + other.size
            and other.offset < self.offset + self.size
        )


@dataclass(frozen=True, slots=True)
class Stuck:
    """Where a thread waits for ever: the one cell that each turn of its loop reads (None: not just one)."""

    cell: Cell | None
    values: frozenset[int]  # with these the loop goes on
    name: str = ""  # of the cell, as events have it


@dataclass(frozen=True, slots=True)
class Way:
    """A way through a thread.

    ``trace`` is for the memory model; ``spans`` gives the place of each of its events in the source, ``uses`` the
    plain accesses behind those of its events that stand for a stretch of them. ``stuck``: the way ends in a loop that
    waits for another thread. ``cut``: it was followed no further.
    """

    who: Who
    trace: Trace
    spans: tuple[Span | None, ...]
    uses: tuple[tuple[Use, ...], ...]
    stuck: Stuck | None = None
    cut: bool = False

    @property
    def silent(self) -> bool:
        """Whether the thread does nothing, and waits for nothing."""
        return not self.trace.events and self.stuck is None and not self.cut
