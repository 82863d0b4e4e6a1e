"""What all executions of the threads that take part say about a kernel: a proof, or an execution with a race.

A proof looks at all threads of the launch. A race needs only some of them: the others need not have started.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from gpusafe.dataflow.concrete import ConcreteLaunch
from gpusafe.dataflow.concrete.evaluate import Unknowable
from gpusafe.dataflow.taint import walk
from gpusafe.dataflow.terms import Term, postorder
from gpusafe.ir import kernel as ir
from gpusafe.ir.kernel import Kernel
from gpusafe.prove.launch_context import LaunchContext
from gpusafe.prove.pairs import Model
from gpusafe.prove.protocols.explore import Ground, found_races, ways_of
from gpusafe.prove.protocols.interleave import first_race
from gpusafe.prove.protocols.participants import active, crowds, teams
from gpusafe.prove.protocols.races import Race
from gpusafe.prove.protocols.way import Who
from gpusafe.prove.protocols.world import Budget, Code
from gpusafe.prove.replay import EXTREMES, SCALARS, concrete, memory_of

Again = Callable[[Ground], Iterator[Race]]
Finder = Callable[[Ground, str, Model | None], tuple[Race, Again] | None]
MOST = 6  # threads that a proof follows together
COST = (250_000, 3_000)


@dataclass(frozen=True, slots=True)
class Settled:
    """``proved``: no two threads of the launch race in any execution, if the ``signals`` are zero at the start."""

    proved: bool = False
    signals: tuple[str, ...] = ()

    @property
    def assumed(self) -> tuple[str, ...]:
        """The assumption in words."""
        return tuple(f"`{name}` is zero when the kernel starts" for name in self.signals)


OPEN = Settled()


def has_signals(kernel: Kernel) -> bool:
    """Whether threads may hand over by atomics."""
    return any(isinstance(s, ir.Atomic) for s in walk(kernel.body))


def follows_all(kernel: Kernel) -> bool:
    """Whether this room models all that a kernel does."""
    for stmt in walk(kernel.body):
        match stmt:
            case ir.Barrier() | ir.WarpOp() | ir.MBarrier() | ir.AsyncCopy() | ir.AsyncControl() | ir.ProxyFence():
                return False
            case ir.Unmodelled():
                return False
    return True


def takes_turns(kernel: Kernel) -> bool:
    """Whether a kernel can be run with its threads taking turns: what it has beyond atomics are barriers of blocks."""
    for stmt in walk(kernel.body):
        match stmt:
            case ir.WarpOp() | ir.MBarrier() | ir.AsyncCopy() | ir.AsyncControl() | ir.ProxyFence():
                return False
            case ir.Unmodelled():
                return False
    return True


def prove(kernel: Kernel, context: LaunchContext, written: frozenset[str]) -> Settled:
    """Looks at all executions of a launch in which few threads do something."""
    if not (has_signals(kernel) and follows_all(kernel)) or context.bindings.same_memory or context.premises:
        return OPEN
    launch = _certain(kernel, context)
    if launch is None:
        return OPEN
    ground = Ground(kernel, launch, written, False, Code(), Budget(*COST))
    try:
        threads = active(ground, MOST)
        if not threads:
            return OPEN
        world, ways = ways_of(ground, threads)
        if any(w.cut for of_thread in ways for w in of_thread) or next(found_races(world, ways), None) is not None:
            return OPEN
    except Unknowable:
        return OPEN
    return Settled(True, tuple(sorted({place for place, _, _ in world.cells.values() if isinstance(place, str)})))


def _sized(context: LaunchContext) -> bool:
    """Whether grid and block of the launch are known."""
    bound = [context.specials.get(f"{r}.{a}") for r in ("nctaid", "ntid") for a in "xyz"]
    return all(b is not None and _fixed(b) for b in bound)


def _fixed(term: Term) -> bool:
    """Whether the launch decides a value."""
    return not any(t.op in ("sym", "param", "length", "fresh", "opaque") for t in postorder([term]))


def _certain(kernel: Kernel, context: LaunchContext) -> ConcreteLaunch | None:
    """The launch with what it fixes; numbers that it leaves open, and all that are not whole, are not known."""
    if not _sized(context):
        return None
    launch = concrete(context, kernel, {}, SCALARS[0])
    if launch is None:
        return None
    bound = context.bindings
    whole = {p.name for p in kernel.params if p.type is not None and p.type.kind in ("int", "bool")}
    whole |= {p.row_width for p in kernel.params if p.row_width is not None}
    params = {n: v for n, v in launch.params.items() if n in whole and n in bound.params and _fixed(bound.params[n])}
    lengths = {n: v for n, v in launch.lengths.items() if n in bound.lengths and _fixed(bound.lengths[n])}
    return replace(launch, params=params, lengths=lengths)


def refute(
    kernel: Kernel, context: LaunchContext, written: frozenset[str], region: str, model: Model | None
) -> tuple[Race, ConcreteLaunch] | None:
    """An execution of some threads in which two of them race on a region.

    Where contents of memory decide addresses, or the launch leaves scalars open, the race must be there for all of
    several choices.
    """
    if not has_signals(kernel) or not _sized(context):
        return None
    finders: list[Finder] = [_search] if follows_all(kernel) else []
    finders += [_interleave] if takes_turns(kernel) else []
    for finder in finders:
        found = _shown(finder, kernel, context, written, (region, model))
        if found is not None:
            return found
    return None


def _shown(
    finder: Finder, kernel: Kernel, context: LaunchContext, written: frozenset[str], where: tuple[str, Model | None]
) -> tuple[Race, ConcreteLaunch] | None:
    shown: tuple[Race, ConcreteLaunch] | None = None
    region, model = where
    for launch in _launches(kernel, context, model):
        code, budget = Code(), Budget(*COST)
        first = finder(
            Ground(kernel, replace(launch, contents=memory_of(kernel, 1)), written, True, code, budget), region, model
        )
        if first is None:
            return None
        race, again = first
        if race.first.use.data or race.second.use.data:
            for seed in EXTREMES:
                other = Ground(kernel, replace(launch, contents=memory_of(kernel, seed)), written, True, code, budget)
                if not any(r.spans == race.spans for r in again(other)):
                    return None
        shown = shown or (race, launch)
    return shown


def _launches(kernel: Kernel, context: LaunchContext, model: Model | None) -> list[ConcreteLaunch]:
    symbols = model.symbols if model is not None and context.site is None else {}
    found = [concrete(context, kernel, symbols, value) for value in SCALARS]
    out: list[ConcreteLaunch] = []
    for launch in found:
        if launch is None:
            return []
        if not any((launch.params, launch.lengths) == (o.params, o.lengths) for o in out):
            out.append(launch)
    return out


def _search(ground: Ground, region: str, model: Model | None) -> tuple[Race, Again] | None:
    """A race in an execution of a few threads."""
    try:
        for team in teams(ground, _suspects(ground, model)):
            found = next(_races(ground, team, region), None)
            if found is not None:
                return found, lambda other, team=team: _races(other, team, region)
    except Unknowable:
        return None
    return None


def _interleave(ground: Ground, region: str, model: Model | None) -> tuple[Race, Again] | None:
    """A race in an interleaving of many threads."""

    def races(other: Ground, threads: list[Who], order: Sequence[int]) -> Iterator[Race]:
        try:
            race = first_race(other, threads, order)
        except Unknowable:
            return
        if race is not None and _region(race) == region:
            yield race

    try:
        for threads in crowds(ground, _suspects(ground, model)):
            numbers = range(len(threads))
            for order in (numbers, numbers[::-1]):
                found = next(races(ground, threads, order), None)
                if found is not None:
                    return found, lambda other, threads=threads, order=order: races(other, threads, order)
    except Unknowable:
        return None
    return None


def _suspects(ground: Ground, model: Model | None) -> list[Who]:
    found = [Who(b, t) for b, t in zip(model.block, model.tid, strict=True)] if model is not None else []
    outside = any(i >= n for who in found for i, n in zip(who.block, ground.launch.grid, strict=True))
    return [] if outside else found


def _region(race: Race) -> str:
    place = race.first.use.place
    return place if isinstance(place, str) else str(place[0])


def _races(ground: Ground, team: list[Who], region: str) -> Iterator[Race]:
    """The races of a team on a region; nothing where some value is not known."""
    try:
        world, ways = ways_of(ground, team)
        for race in found_races(world, ways):
            if _region(race) == region:
                yield race
    except Unknowable:
        return
