"""All executions of some threads of a launch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from gpusafe.dataflow.concrete import ConcreteLaunch
from gpusafe.dataflow.concrete.evaluate import Unknowable
from gpusafe.errors import GpusafeError
from gpusafe.ir.expr import Const
from gpusafe.ir.kernel import Kernel, Space
from gpusafe.parse.litmus import Place, ThreadCode
from gpusafe.prove.memory_model.models import Model
from gpusafe.prove.memory_model.search import Budget as Candidates
from gpusafe.prove.memory_model.search import choices, executions
from gpusafe.prove.memory_model.structure import structure
from gpusafe.prove.memory_model.unfold import Trace
from gpusafe.prove.protocols.races import Race, races
from gpusafe.prove.protocols.unfold import Unfolder
from gpusafe.prove.protocols.way import UNTOLD, Cell, Stuck, Way, Who
from gpusafe.prove.protocols.world import Budget, Code, World

ROUNDS = 12
VALUES = 24  # of one cell
EXECUTIONS = 6_000  # of one choice of ways
WIDE = ("gpu", "sys")
STARTS = frozenset({0, UNTOLD})  # what cells hold at the start


@dataclass(frozen=True, slots=True)
class Ground:
    """What an exploration starts from; ``charitable`` as in :class:`World`."""

    kernel: Kernel
    launch: ConcreteLaunch
    written: frozenset[str]
    charitable: bool
    code: Code
    budget: Budget

    def world(self, values: dict[Cell, tuple[int, ...]]) -> World:
        """The world in which cells may hold these values."""
        spaces = {r.name: r.space for r in self.kernel.regions}
        lengths = {
            r.name: int(r.length.value) * r.elem_bytes for r in self.kernel.regions if isinstance(r.length, Const)
        }
        lengths |= {r.name: self.launch.shared_bytes for r in self.kernel.regions if r.space is Space.DYNAMIC_SHARED}
        lengths |= self.launch.sizes
        return World(
            self.kernel,
            self.launch,
            self.written,
            self.charitable,
            values,
            self.code,
            self.budget,
            spaces=spaces,
            lengths=lengths,
        )


def ways_of(ground: Ground, threads: list[Who]) -> tuple[World, list[list[Way]]]:
    """The ways of each thread over all values that the cells may hold, which the threads themselves write.

    A value comes from a chain of writes without a cycle (no thin air): once there were more rounds than the threads
    have writes, values that are new yet come from no execution.
    """
    values: dict[Cell, tuple[int, ...]] = {}
    for number in range(ROUNDS):
        world = ground.world(values)
        ways = [Unfolder(world, who, number).run() for number, who in enumerate(threads)]
        held: dict[Cell, set[int]] = {cell: set(v) for cell, v in values.items()}
        for cell in world.found:
            held.setdefault(cell, set()).add(0 if isinstance(cell[0], str) else UNTOLD)
        writes = 0
        for of_thread in ways:
            writes += max((sum(e.kind == "W" for e in w.trace.events) for w in of_thread), default=0)
            for event in (e for w in of_thread for e in w.trace.events):
                if event.kind == "W" and event.location is not None:
                    held[world.cells[event.location.cell]].add(event.value)
        wider = {cell: tuple(sorted(held[cell])) for cell in held}
        if wider == values or (number > writes + 1 and wider.keys() == values.keys()):
            return world, ways
        if any(len(v) > VALUES for v in held.values()):
            break
        values = wider
    raise Unknowable("a cell takes too many values")


def found_races(world: World, ways: list[list[Way]]) -> Iterator[Race]:
    """The races of all executions. Raises ``Unknowable`` where there are too many to look at."""
    fitting = _Fitting(ways)
    initial = {name: 0 if isinstance(cell[0], str) else UNTOLD for name, cell in world.cells.items()}
    places = [_place(of_thread) for of_thread in ways]
    threads = tuple(ThreadCode(number, place, (), ()) for number, place in enumerate(places))
    try:
        for chosen in choices(_traces(ways), initial, fitting.possible):
            world.budget.candidate()
            whole = tuple(fitting.by_trace[id(t)] for t in chosen)
            s = structure(Model.PTX_7_5, initial, chosen)
            for execution in executions(s, threads, chosen, Candidates(EXECUTIONS)):
                world.budget.candidate()
                yield from races(execution, whole, world)
    except GpusafeError as error:
        raise Unknowable(str(error)) from error


def _traces(ways: list[list[Way]]) -> list[list[Trace]]:
    return [[w.trace for w in of_thread] for of_thread in ways]


def _place(ways: list[Way]) -> Place:
    place = next((e.place for w in ways for e in w.trace.events if e.place is not None), None)
    return place if place is not None else Place(0, None, 0)


class _Fitting:
    """Which choices of ways can be an execution at all, told before the axioms are asked."""

    def __init__(self, ways: list[list[Way]]) -> None:
        self.by_trace = {id(w.trace): w for of_thread in ways for w in of_thread}
        self.writes = {id(w.trace): _values(w, "W") for of_thread in ways for w in of_thread}
        self.reads = {id(w.trace): _values(w, "R") for of_thread in ways for w in of_thread}
        self.writers: dict[str, set[int]] = {}
        events = [e for of_thread in ways for w in of_thread for e in w.trace.events if e.location is not None]
        self.loose = {e.location.cell for e in events if e.location and (e.order == "weak" or e.scope not in WIDE)}
        for number, of_thread in enumerate(ways):
            for name in {n for way in of_thread for n in self.writes[id(way.trace)]}:
                self.writers.setdefault(name, set()).add(number)

    def possible(self, chosen: tuple[Trace, ...]) -> bool:
        """Whether ways for the first threads may go together."""
        keys = [id(t) for t in chosen]
        return self._coherent(keys) and not any(self._goes_on(self.by_trace[k].stuck, keys) for k in keys)

    def _settled(self, name: str, count: int) -> bool:
        return all(number < count for number in self.writers.get(name, ()))

    def _goes_on(self, stuck: Stuck | None, keys: list[int]) -> bool:
        """Whether a thread that waits could see already what ends its wait.

        It goes on in some execution when whatever was written last to its cell ends the wait; the execution in which
        it does is looked at, and shows every race that the shorter one does.
        """
        if stuck is None or stuck.cell is None or not self._settled(stuck.name, len(keys)):
            return False
        last = [self.writes[k][stuck.name][-1] for k in keys if stuck.name in self.writes[k]]
        return bool(last) and not any(v in stuck.values for v in last)

    def _coherent(self, keys: list[int]) -> bool:
        """Whether nobody sees the values of one writer in another order than they were written in."""
        for reader in keys:
            for name, seen in self.reads[reader].items():
                if name in self.loose or not self._settled(name, len(keys)):
                    continue
                writing = [k for k in keys if name in self.writes[k]]
                if writing and (len(writing) > 1 or writing[0] == reader):
                    continue
                written = self.writes[writing[0]][name] if writing else ()
                if len(set(written)) < len(written) or not STARTS.isdisjoint(written):
                    continue
                rank = {value: at for at, value in enumerate(written)}
                ranks = [rank.get(value, -1) for value in seen]
                if any(b < a for a, b in pairwise(ranks)) or any(v not in rank and v not in STARTS for v in seen):
                    return False
        return True


def _values(way: Way, kind: str) -> dict[str, tuple[int, ...]]:
    """The values that a way reads or writes, by cell, in its order."""
    out: dict[str, tuple[int, ...]] = {}
    for event in way.trace.events:
        if event.kind == kind and event.location is not None:
            out[event.location.cell] = (*out.get(event.location.cell, ()), event.value)
    return out
