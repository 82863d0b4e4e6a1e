"""Races in an execution: conflicting accesses of two threads that causality does not order (PTX ISA, 8.6, 8.7)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from gpusafe.prove.memory_model import relation as rel
from gpusafe.prove.memory_model.axioms import coherences, fence_order
from gpusafe.prove.memory_model.causality import causes
from gpusafe.prove.memory_model.events import Event
from gpusafe.prove.memory_model.execution import Execution
from gpusafe.prove.memory_model.search import sc_orders
from gpusafe.prove.memory_model.structure import structure
from gpusafe.prove.protocols.way import Use, Way
from gpusafe.prove.protocols.world import World
from gpusafe.span import Span

FENCES = 5  # of which all orders are tried


@dataclass(frozen=True, slots=True)
class Side:
    """One of two accesses that race: the thread's number, the number of its event, and the access."""

    thread: int
    event: int
    use: Use


@dataclass(frozen=True, slots=True)
class Race:
    """Two accesses and the execution in which nothing orders them; the first one writes."""

    first: Side
    second: Side
    execution: Execution
    ways: tuple[Way, ...]

    @property
    def spans(self) -> frozenset[Span]:
        """The two places in the source."""
        return frozenset((self.first.use.span, self.second.use.span))


def races(execution: Execution, ways: tuple[Way, ...], world: World) -> Iterator[Race]:
    """All races of an execution."""
    sides = list(sides_of(execution, ways, world))
    for at, one in enumerate(sides):
        for two in sides[at + 1 :]:
            if unordered(execution, one, two):
                yield race_of(execution, ways, one, two)


def race_of(execution: Execution, ways: tuple[Way, ...], one: Side, two: Side) -> Race:
    """The race of two sides."""
    first, second = (one, two) if one.use.writes else (two, one)
    return Race(first, second, execution, ways)


def unordered(execution: Execution, one: Side, two: Side) -> bool:
    """Whether two accesses conflict and neither causality nor their being atomic keeps them apart."""
    if one.thread == two.thread or not one.use.meets(two.use):
        return False
    base, cause = execution.causes.base, execution.causes.cause
    i, j = one.event, two.event
    if base[i] >> j & 1 or base[j] >> i & 1 or cause[i] >> j & 1 or cause[j] >> i & 1:
        return False
    return not (one.use.mode == two.use.mode == "atomic" and execution.structure.ms[i] >> j & 1)


def sides_of(execution: Execution, ways: tuple[Way, ...], world: World) -> Iterator[Side]:
    """All accesses of an execution."""
    for number, (way, start) in enumerate(zip(ways, execution.structure.starts, strict=True)):
        for at, event in enumerate(way.trace.events):
            for use in way.uses[at]:
                yield Side(number, start + at, use)
            span = way.spans[at]
            if event.location is not None and span is not None:
                place, offset, size = world.cells[event.location.cell]
                writes, mode = event.kind == "W", "atomic"
                if event.order == "weak":
                    mode = "write" if writes else "read"
                yield Side(number, start + at, Use(place, offset, size, writes, mode, span))


def follows(race: Race) -> bool:
    """Whether the second access comes after the first one by program order and by who reads whom: a hand-over."""
    s = race.execution.structure
    after = rel.closure(rel.union(s.po, race.execution.rf))
    return bool(after[race.first.event] >> race.second.event & 1 or after[race.second.event] >> race.first.event & 1)


def narrow(race: Race) -> bool:
    """Whether the execution could not race if all scopes included all threads."""
    old = race.execution.structure
    traces = tuple(replace(w.trace, events=tuple(_widened(e) for e in w.trace.events)) for w in race.ways)
    initial = {e.location.cell: e.value for e in old.events if e.location is not None and e.thread < 0}
    s = structure(old.model, initial, traces)
    i, j = race.first.event, race.second.event
    if race.first.use.mode == race.second.use.mode == "atomic" and s.ms[i] >> j & 1:
        return True
    orders = sc_orders(s) if len(s.sc_fences) <= FENCES else [race.execution.sync_fence]
    for sync_fence in orders:
        caused = causes(s, race.execution.rf, sync_fence, race.execution.sync_barrier)
        if caused.base[i] >> j & 1 or caused.base[j] >> i & 1 or not fence_order(sync_fence, caused):
            continue
        if next(coherences(s, race.execution.rf, caused), None) is not None:
            return False
    return True


def _widened(event: Event) -> Event:
    return replace(event, scope="sys") if event.kind in "RWF" else event
