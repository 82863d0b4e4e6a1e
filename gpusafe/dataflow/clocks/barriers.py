"""Barriers that have state: mbarriers with phases and transaction bytes, named barriers, the barrier of a cluster."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Clock = list[int]


def join(a: Clock, b: Clock) -> Clock:
    """The later of two clocks, part by part."""
    return a if a is b else list(map(max, a, b))


@dataclass(frozen=True, slots=True)
class Pair:
    """What a thread knows (``seen``), and what of it is fenced for the async proxy."""

    seen: Clock
    fenced: Clock

    def with_(self, other: Pair) -> Pair:
        """What two threads know together."""
        if self is other:
            return self
        return Pair(join(self.seen, other.seen), join(self.fenced, other.fenced))


@dataclass(slots=True)
class Copying:
    """A bulk copy that some phase of an mbarrier is to wait for; ``size`` None where a descriptor holds it."""

    thread: Any
    place: Any
    region: str
    offset: int
    size: int | None
    knows: Pair
    span: Any
    may: bool
    writes: bool = True
    issued: int = 0  # the thread's time
    seq: int = 0


@dataclass(slots=True)
class Phased:
    """A barrier with phases: ``part`` is the part of the clocks that counts the phases known to be complete."""

    part: int
    count: int
    pending: int
    complete: int = 0
    bytes: int = 0
    announced: bool = False
    now: Pair | None = None
    past: list[Pair] = field(default_factory=list)
    copies: list[Copying] = field(default_factory=list)
    members: set[int] = field(default_factory=set)
    waited: dict[int, tuple[int, int]] = field(default_factory=dict)  # thread: phase, own time
    passed: list[tuple[int, int, int]] = field(default_factory=list)  # thread, phase under way, own time
    used: dict[int, int] = field(default_factory=dict)  # thread: own time of its last use
    issued: list[tuple[int, int]] = field(default_factory=list)  # threads that announced bytes, and when
    born: tuple[int, int] = (0, 0)  # part and time of what must be known before it is used

    def arrive(self, knows: Pair | None) -> None:
        """One arrival; None where it releases nothing."""
        self.pending -= 1
        if knows is not None:
            self.now = knows if self.now is None else self.now.with_(knows)

    @property
    def ripe(self) -> bool:
        """Whether all arrivals of the phase have been made."""
        return self.pending <= 0

    def finish(self, width: int) -> Pair:
        """Completes the phase; what a wait for it learns."""
        self.complete += 1
        learned = self.now if self.now is not None else Pair([0] * width, [0] * width)
        seen = list(learned.seen)
        seen[self.part] = self.complete
        learned = Pair(seen, learned.fenced)
        self.past.append(learned)
        self.now, self.pending, self.bytes, self.announced = None, self.count, 0, False
        self.copies, self.members, self.issued = [], set(), []
        return learned
