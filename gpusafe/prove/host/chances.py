"""Whether a refuted path can be taken at all, where conditions on the way are not modelled.

One condition that nothing is known about may go either way. Two of them may depend on each other: code that asks the
same thing twice never sees two answers. A refutation stands when it needs at most one such decision. Those without
which an operation is never reached count as one, since code is there to be reached, and not at all where both
operations need them; one is not needed where the same pair is refuted on a path that differs in it alone. A loop over
what is not known that never runs is not enough: code is written for it to run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TypeAlias

from gpusafe.ir.host import HostOp, HostPath, Turn
from gpusafe.span import Span

Needs: TypeAlias = Callable[[tuple[Span, ...], tuple[object, ...], int], bool]


@dataclass(frozen=True, slots=True)
class Sighting:
    """A refutation on one path: the decisions before its second operation, and where the operations stand."""

    turns: tuple[Turn, ...]
    first: tuple[Span, ...]
    second: tuple[Span, ...]


def sighting(path: HostPath, first: int, second: int) -> Sighting:
    """The sighting of two operations (by index) on a path."""
    turns = tuple(t for t in path.turns if t.at <= second)
    return Sighting(turns, _places(path.ops[first]), _places(path.ops[second]))


def _places(op: HostOp) -> tuple[Span, ...]:
    return tuple(frame.at for frame in op.frames)


def in_doubt(sightings: Sequence[Sighting], paths: Sequence[HostPath]) -> tuple[str, ...]:
    """The decisions that one refutation needs together, in words; none where it stands. ``paths`` are all there are."""
    needed = [_needed(s, sightings) for s in sightings]
    if any(len(turns) <= 1 and not any(t.unlikely for t in turns) for turns in needed):
        return ()
    needs = lru_cache(maxsize=None)(partial(_needs, tuple(paths)))
    if any(_opinions(s, turns, needs) <= 1 for s, turns in zip(sightings, needed, strict=True)):
        return ()
    fewest = min(needed, key=len)
    return tuple(dict.fromkeys(t.words for t in fewest))


def _needed(seen: Sighting, sightings: Sequence[Sighting]) -> list[Turn]:
    taken = {t.site: t.taken for t in seen.turns}
    return [t for t in seen.turns if not any(_differs_only_in(t, o, taken) for o in sightings)]


def _differs_only_in(turn: Turn, other: Sighting, taken: dict[tuple[object, ...], int]) -> bool:
    differs = True
    for t in other.turns:
        if t.site == turn.site:
            differs = t.taken != turn.taken
        elif taken.get(t.site) != t.taken:
            return False
    return differs


def _opinions(seen: Sighting, turns: Sequence[Turn], needs: Needs) -> int:
    """How many decisions have to go together."""
    apart: set[object] = set()
    for turn in turns:
        if turn.unlikely:
            apart.add((turn.site, "unlikely"))
        first, second = (needs(places, turn.site[:-1], turn.taken) for places in (seen.first, seen.second))
        if first and second:
            continue
        apart.add("first" if first else "second" if second else turn.site)
    return len(apart)


def _needs(paths: tuple[HostPath, ...], places: tuple[Span, ...], site: tuple[object, ...], taken: int) -> bool:
    """Whether no path reaches an operation but by this way of a condition."""
    for path in paths:
        for index, op in enumerate(path.ops):
            if op.frames[-1].at == places[-1] and _places(op) == places:
                if not any(t.site[:-1] == site and t.taken == taken and t.at <= index for t in path.turns):
                    return False
                break
    return True
