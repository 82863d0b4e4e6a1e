"""What a picture of a launch graph holds, whatever it is drawn with."""

from __future__ import annotations

from dataclasses import dataclass

from gpusafe.span import Span


@dataclass(frozen=True, slots=True)
class Lane:
    """A column: the host or one of its threads, or a stream; ``title`` is what the user calls it."""

    ident: str
    title: str
    is_host: bool


@dataclass(frozen=True, slots=True)
class Box:
    """One operation. ``lane`` and ``row`` count from 0; rows are in the order in which the host makes the calls.

    ``kind``: ``work`` (runs on the device), ``event``, ``sync``, ``memory``, ``host`` or ``gap`` (not modelled).
    ``calls`` are the functions through which the root function gets here, outermost first.
    """

    ident: str
    lane: int
    row: int
    kind: str
    label: str
    span: Span
    calls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Edge:
    """``source`` is over before ``target`` starts, for the ``reason``."""

    source: str
    target: str
    reason: str


@dataclass(frozen=True, slots=True)
class Race:
    """Two boxes that nothing orders, with the rule and the message of the finding."""

    first: str
    second: str
    rule: str
    message: str


@dataclass(frozen=True, slots=True)
class Picture:
    """The launch graph of one path through a root function.

    ``verdict`` is that of the root; ``conditions`` are the decisions that lead along this path; ``paths`` is how many
    ways there are through the function; ``left_out`` counts the operations that are too many to draw.
    """

    title: str
    span: Span
    verdict: str
    lanes: tuple[Lane, ...]
    boxes: tuple[Box, ...]
    edges: tuple[Edge, ...]
    races: tuple[Race, ...]
    conditions: tuple[str, ...] = ()
    paths: int = 1
    left_out: int = 0

    @property
    def racing(self) -> frozenset[str]:
        """The boxes that take part in a race."""
        return frozenset(ident for race in self.races for ident in (race.first, race.second))
