"""One interleaving of many threads as an execution of the memory model, with block barriers.

Threads take turns; each read sees what was written last. Such an execution satisfies the axioms (that is checked), and
what causality leaves unordered in it is a race. Values of plain memory are trusted up to the first race.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from gpusafe.dataflow.concrete.evaluate import UNKNOWN, Unknowable
from gpusafe.ir import kernel as ir
from gpusafe.ir.kernel import Scope
from gpusafe.prove.memory_model import relation as rel
from gpusafe.prove.memory_model.axioms import consistent, fence_order, no_thin_air
from gpusafe.prove.memory_model.causality import causes
from gpusafe.prove.memory_model.events import Event
from gpusafe.prove.memory_model.execution import Execution
from gpusafe.prove.memory_model.models import Model
from gpusafe.prove.memory_model.structure import structure
from gpusafe.prove.memory_model.unfold import Ending, Trace
from gpusafe.prove.protocols.explore import Ground
from gpusafe.prove.protocols.races import Race, Side, race_of, sides_of, unordered
from gpusafe.prove.protocols.state import CONTENTS, Frame, State
from gpusafe.prove.protocols.unfold import Unfolder
from gpusafe.prove.protocols.way import UNTOLD, Cell, Way, Who
from gpusafe.prove.protocols.world import World, name_of

LONGEST = 700  # events of all threads
At = tuple[int, int]
"""An event: the number of its thread, and its place in the thread."""


@dataclass(slots=True)
class Shared:
    """What the threads see of each other: the last write of each cell, and who read what when."""

    cells: dict[str, tuple[int, At]] = field(default_factory=dict)
    plain: dict[tuple[Any, int], tuple[int, Any, int]] = field(default_factory=dict)
    sources: dict[At, At | None] = field(default_factory=dict)
    stamps: dict[At, int] = field(default_factory=dict)
    meetings: list[list[At]] = field(default_factory=list)
    version: int = 0
    clock: int = 0

    def stamp(self, event: At) -> None:
        """Notes that an event happens now."""
        self.stamps[event] = self.clock
        self.clock += 1


class Turns(Unfolder):
    """A thread that stops where it has to wait."""

    def __init__(self, world: World, who: Who, number: int, shared: Shared) -> None:
        super().__init__(world, who, number)
        self.shared = shared
        self.state = State(self._environment(), [Frame(world.kernel.body)])
        self.waits = -1  # for memory to change from this version
        self.barrier: ir.Barrier | None = None
        self.done = False

    def go(self) -> None:
        """Runs until the thread ends or waits."""
        self.waits = -1
        self._follow(self.state)

    def way(self) -> Way:
        """What the thread has done so far."""
        self._flush(self.state)
        state = self.state
        trace = Trace(tuple(state.events), {}, Ending.DONE if self.done else Ending.CUT)
        return Way(self.who, trace, tuple(state.spans), tuple(state.uses))

    def straight(self, state: State, stmt: ir.Stmt) -> bool:
        """One statement, and what others see of it."""
        if isinstance(stmt, ir.Barrier):
            return self._arrive(state, stmt)
        before = len(state.events)
        result = super().straight(state, stmt)
        for at in range(before, len(state.events)):
            event, here = state.events[at], (self.number, at)
            self.shared.stamp(here)
            if event.kind == "W" and event.location is not None:
                self.shared.cells[event.location.cell] = (event.value, here)
                self.shared.version += 1
        return result

    def _arrive(self, state: State, stmt: ir.Barrier) -> bool:
        whole = stmt.action == "sync" and stmt.ident is None and stmt.count is None and stmt.value is None
        if stmt.scope is not Scope.BLOCK or not whole or stmt.relaxed:
            raise Unknowable("a barrier that is not of the whole block")
        self._flush(state)
        self.shared.stamp((self.number, len(state.events)))
        state.emit(Event("B", self.number, text="bar.sync", place=self.place), stmt.span)
        self.barrier = stmt
        return False

    def _choose(self, state: State, cell: Cell, go: Callable[[State, int], None]) -> bool:
        self._flush(state)
        value, source = self.shared.cells.get(name_of(cell), (self.initial(cell), None))
        self.shared.sources[self.number, len(state.events)] = source
        go(state, value)
        return True

    def _load(self, state: State, stmt: ir.Load, where: tuple[Any, int, int]) -> bool:
        result = super()._load(state, stmt, where)
        place, offset, taint = where
        if self._is_local(place) or self._cell(place, offset, stmt.type.bytes) is not None:
            return result
        held = self.shared.plain.get((place, offset))
        if held is not None and held[0] == stmt.type.bytes:
            state.assign(stmt.var, held[1], taint | held[2])
        return result

    def _store(self, state: State, stmt: ir.Store, where: tuple[Any, int, int]) -> None:
        super()._store(state, stmt, where)
        place, offset, _ = where
        if self._is_local(place):
            return
        for at in range(offset - 15, offset + stmt.size):
            held = self.shared.plain.get((place, at))
            if held is not None and at + held[0] > offset:
                self.shared.plain[place, at] = (held[0], UNKNOWN, held[2])
        taint = self._taint(state, stmt.value) & CONTENTS
        self.shared.plain[place, offset] = (stmt.size, self._value(state, stmt.value), taint)

    def _wait(self, state: State, end: int, cell: Cell | None, value: int) -> None:
        for at in range(end, len(state.events)):
            self.shared.sources.pop((self.number, at), None)
        del state.events[end:], state.spans[end:], state.uses[end:]
        kept = CONTENTS | ((1 << end) - 1)  # what was read in the turn that is taken back decides nothing
        state.control &= kept
        state.taint = {var: taint & kept for var, taint in state.taint.items()}
        self.waits = self.shared.version

    def _end(self, state: State, *, cut: bool = False) -> None:
        if cut:
            raise Unknowable("a thread takes too many steps")
        self._flush(state)
        self.done = True


def interleaved(ground: Ground, threads: list[Who], order: Iterable[int]) -> tuple[World, Shared, tuple[Way, ...]]:
    """What the threads do when they take turns in an order, once it is known which cells atomics touch."""
    values: dict[Cell, tuple[int, ...]] = {}
    turns = list(order)
    for _ in range(4):
        world, shared = ground.world(values), Shared()
        runs = [Turns(world, who, number, shared) for number, who in enumerate(threads)]
        while _round(runs, turns, shared):
            pass
        if world.found <= values.keys():
            return world, shared, tuple(r.way() for r in runs)
        values |= dict.fromkeys(world.found, (0,))
    raise Unknowable("the atomics move")


def _round(runs: list[Turns], turns: list[int], shared: Shared) -> bool:
    """One turn for each thread that can go on; False when none can."""
    moved = False
    for number in turns:
        run = runs[number]
        if not run.done and run.barrier is None and run.waits != shared.version:
            run.go()
            moved = True
    blocks: dict[Any, list[Turns]] = {}
    for run in runs:
        if not run.done:
            blocks.setdefault(run.who.block, []).append(run)
    for members in blocks.values():
        if all(r.barrier is not None for r in members):
            if len({id(r.barrier) for r in members}) > 1:
                raise Unknowable("threads wait at different barriers")
            shared.meetings.append([(r.number, len(r.state.events) - 1) for r in members])
            for r in members:
                r.barrier = None
            moved = True
    return moved


def execution_of(world: World, shared: Shared, ways: tuple[Way, ...]) -> Execution | None:
    """The interleaving as an execution; None where the axioms do not allow it or there is too much of it."""
    traces = tuple(w.trace for w in ways)
    if sum(len(t.events) for t in traces) > LONGEST:
        return None
    initial = {name: 0 if isinstance(cell[0], str) else UNTOLD for name, cell in world.cells.items()}
    s = structure(Model.PTX_7_5, initial, traces)
    size = len(s.events)
    first = {e.location.cell: i for i, e in enumerate(s.events) if e.thread < 0 and e.location is not None}
    place = {(n, at): s.starts[n] + at for n, t in enumerate(traces) for at in range(len(t.events))}
    when = {place[at]: stamp for at, stamp in shared.stamps.items() if at in place}
    rf = []
    for read, source in shared.sources.items():
        event = s.events[place[read]]
        assert event.location is not None
        rf.append((first[event.location.cell] if source is None else place[source], place[read]))
    co = [
        (a, b)
        for a in s.writes
        for b in rel.bits(s.same_cell[a] & s.write_set)
        if a != b and (s.events[a].thread < 0 or (s.events[b].thread >= 0 and when[a] < when[b]))
    ]
    fences = [(a, b) for a in s.sc_fences for b in s.sc_fences if s.ms[a] >> b & 1 and when[a] < when[b]]
    met = [(place[a], place[b]) for meeting in shared.meetings for a in meeting for b in meeting if a != b]
    reads, coherence, sync_fence, sync_barrier = (rel.of(size, pairs) for pairs in (rf, co, fences, met))
    caused = causes(s, reads, sync_fence, sync_barrier)
    after = rel.compose(rel.inverse(reads), coherence)
    fits = no_thin_air(s, reads) and fence_order(sync_fence, caused)
    if not fits or not consistent(s, reads, coherence, after, rel.inverse(caused.cause)):
        return None
    return Execution(s, traces, reads, coherence, after, sync_fence, sync_barrier, caused)


def first_race(ground: Ground, threads: list[Who], order: Iterable[int]) -> Race | None:
    """The race that comes first in an interleaving."""
    world, shared, ways = interleaved(ground, threads, order)
    execution = execution_of(world, shared, ways)
    if execution is None:
        return None
    place = {execution.structure.starts[n] + at: (n, at) for n, w in enumerate(ways) for at in range(len(w.uses))}
    words: dict[tuple[Any, int], list[Side]] = {}
    best: tuple[int, Side, Side] | None = None
    late = shared.clock
    for side in sides_of(execution, ways, world):
        when = shared.stamps.get(place[side.event], late)
        for word in range(side.use.offset // 4, (side.use.offset + side.use.size + 3) // 4):
            near = words.setdefault((side.use.place, word), [])
            for other in near:
                last = max(when, shared.stamps.get(place[other.event], late))
                if (best is None or last < best[0]) and unordered(execution, other, side):
                    best = (last, other, side)
            near.append(side)
    return race_of(execution, ways, best[1], best[2]) if best is not None else None
