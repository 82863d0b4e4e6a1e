"""All executions of some threads of a launch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gpusafe.dataflow.concrete import ConcreteLaunch
from gpusafe.dataflow.concrete.evaluate import Unknowable
from gpusafe.errors import GpusafeError
from gpusafe.ir.expr import Const
from gpusafe.ir.kernel import Kernel, Space
from gpusafe.parse.litmus import Place, ThreadCode
from gpusafe.prove.memory_model.models import Model
from gpusafe.prove.memory_model.search import choices, executions
from gpusafe.prove.memory_model.structure import structure
from gpusafe.prove.memory_model.unfold import Trace
from gpusafe.prove.protocols.races import Race, races
from gpusafe.prove.protocols.unfold import Unfolder
from gpusafe.prove.protocols.way import UNTOLD, Cell, Way, Who
from gpusafe.prove.protocols.world import Code, World

ROUNDS = 12
VALUES = 24  # of one cell
EXECUTIONS = 6_000
CHOSEN = 4_000


@dataclass(frozen=True, slots=True)
class Ground:
    """What an exploration starts from; ``charitable`` as in :class:`World`."""

    kernel: Kernel
    launch: ConcreteLaunch
    written: frozenset[str]
    charitable: bool
    code: Code

    def world(self, values: dict[Cell, tuple[int, ...]]) -> World:
        """The world in which cells may hold these values."""
        spaces = {r.name: r.space for r in self.kernel.regions}
        lengths = {
            r.name: int(r.length.value) * r.elem_bytes for r in self.kernel.regions if isinstance(r.length, Const)
        }
        lengths |= {r.name: self.launch.shared_bytes for r in self.kernel.regions if r.space is Space.DYNAMIC_SHARED}
        lengths |= self.launch.sizes
        return World(
            self.kernel, self.launch, self.written, self.charitable, values, self.code, spaces=spaces, lengths=lengths
        )


def ways_of(ground: Ground, threads: list[Who]) -> tuple[World, list[list[Way]]]:
    """The ways of each thread over all values that the cells may hold, which the threads themselves write."""
    values: dict[Cell, tuple[int, ...]] = {}
    for _ in range(ROUNDS):
        world = ground.world(values)
        ways = [Unfolder(world, who, number).run() for number, who in enumerate(threads)]
        held: dict[Cell, set[int]] = {cell: set(v) for cell, v in values.items()}
        for cell in world.found:
            held.setdefault(cell, set()).add(0 if isinstance(cell[0], str) else UNTOLD)
        for way in (w for of_thread in ways for w in of_thread):
            for event in way.trace.events:
                if event.kind == "W" and event.location is not None:
                    held[world.cells[event.location.cell]].add(event.value)
        if any(len(v) > VALUES for v in held.values()):
            break
        wider = {cell: tuple(sorted(v)) for cell, v in held.items()}
        if wider == values:
            return world, ways
        values = wider
    raise Unknowable("a cell takes too many values")


def found_races(world: World, ways: list[list[Way]]) -> Iterator[Race]:
    """The races of all executions. Raises ``Unknowable`` where there are too many to look at."""
    by_trace: dict[int, Way] = {id(w.trace): w for of_thread in ways for w in of_thread}
    initial = {name: 0 if isinstance(cell[0], str) else UNTOLD for name, cell in world.cells.items()}
    places = [_place(of_thread) for of_thread in ways]
    threads = tuple(ThreadCode(number, place, (), ()) for number, place in enumerate(places))
    count = 0
    try:
        for tried, chosen in enumerate(choices(_traces(ways), initial, _waits_for_nothing(ways, by_trace))):
            if tried > CHOSEN:
                raise Unknowable("there are too many ways through the threads")
            whole = tuple(by_trace[id(t)] for t in chosen)
            s = structure(Model.PTX_7_5, initial, chosen)
            for execution in executions(s, threads, chosen, limit=EXECUTIONS):
                count += 1
                if count > EXECUTIONS:
                    raise Unknowable("there are too many executions")
                yield from races(execution, whole, world)
    except GpusafeError as error:
        raise Unknowable(str(error)) from error


def _traces(ways: list[list[Way]]) -> list[list[Trace]]:
    return [[w.trace for w in of_thread] for of_thread in ways]


def _place(ways: list[Way]) -> Place:
    place = next((e.place for w in ways for e in w.trace.events if e.place is not None), None)
    return place if place is not None else Place(0, None, 0)


def _waits_for_nothing(ways: list[list[Way]], by_trace: dict[int, Way]) -> Callable[[tuple[Trace, ...]], bool]:
    """Whether no chosen thread waits for what it could see already.

    A thread that waits for a cell goes on in some execution when whatever was written there last ends its wait; the
    execution in which it does is looked at, and shows every race that the shorter one does.
    """
    writers: dict[str, set[int]] = {}
    for number, of_thread in enumerate(ways):
        for way in of_thread:
            for event in way.trace.events:
                if event.kind == "W" and event.location is not None:
                    writers.setdefault(event.location.cell, set()).add(number)

    def possible(chosen: tuple[Trace, ...]) -> bool:
        for trace in chosen:
            stuck = by_trace[id(trace)].stuck
            if stuck is None or stuck.cell is None:
                continue
            name = stuck.name
            if any(number >= len(chosen) for number in writers.get(name, ())):
                continue
            last = [_last(t, name) for t in chosen]
            seen = [v for v in last if v is not None]
            if seen and not any(v in stuck.values for v in seen):
                return False
        return True

    return possible


def _last(trace: Trace, name: str) -> int | None:
    for event in reversed(trace.events):
        if event.kind == "W" and event.location is not None and event.location.cell == name:
            return event.value
    return None
