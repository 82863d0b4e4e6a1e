"""Which threads of a launch take part in a protocol."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice, product
from math import prod

from gpusafe.dataflow.concrete import ConcreteLaunch
from gpusafe.dataflow.taint import walk
from gpusafe.ir import kernel as ir
from gpusafe.ir.expr import Const
from gpusafe.prove.protocols.explore import Ground
from gpusafe.prove.protocols.unfold import Unfolder
from gpusafe.prove.protocols.way import Cell, Triple, Way, Who
from gpusafe.span import Span

PROVED_THREADS = 8_192  # of a launch whose threads are all looked at
LOOKED_AT = 640  # threads, in search of those that could race
TOGETHER = 4
TRIES = 14
CROWD = 2_048  # threads that take turns
BUSY = 160  # of them, where those that do nothing are left out
Role = frozenset[Span]


def all_threads(launch: ConcreteLaunch) -> Iterator[Who]:
    """The threads of a launch, block by block."""
    for bz, by, bx in product(*(range(n) for n in reversed(launch.grid))):
        for z, y, x in product(*(range(n) for n in reversed(launch.block))):
            yield Who((bx, by, bz), (x, y, z))


def active(ground: Ground, most: int) -> list[Who] | None:
    """The threads that do something, None where they are more than ``most`` (or too many to look at)."""
    launch = ground.launch
    if prod(launch.grid) * prod(launch.block) > PROVED_THREADS:
        return None
    out = []
    for who in all_threads(launch):
        if any(not w.silent for w in Unfolder(ground.world({}), who, 0).run()):
            out.append(who)
            if len(out) > most:
                return None
    return out


def guesses(kernel: ir.Kernel) -> tuple[int, ...]:
    """Values that atomics may well see: the constants that are stored and compared with."""
    out = {0, 1}
    for stmt in walk(kernel.body):
        match stmt:
            case ir.Atomic(operands=operands):
                out |= {int(o.value) for o in operands if isinstance(o, Const) and o.type.kind == "int"}
    return tuple(sorted(v for v in out if v >= 0))[:6]


def roles(ground: Ground) -> dict[Role, list[Who]]:
    """Threads by what they do: for each set of places in the source at which a thread has events, the first two."""
    out: dict[Role, list[Who]] = {}
    guessed = guesses(ground.kernel)
    values: dict[Cell, tuple[int, ...]] = {}
    for who in _sample(ground.launch):
        for _ in range(3):
            world = ground.world(dict(values))
            ways = Unfolder(world, who, 0).run()
            new = world.found - values.keys()
            if not new:
                break
            values |= dict.fromkeys(new, guessed)
        role = places(ways)
        if role and len(out.setdefault(role, [])) < 2:
            out[role].append(who)
    return out


def _sample(launch: ConcreteLaunch) -> Iterator[Who]:
    """Threads of some blocks: all of the first ones, else the first of each warp and the last ones."""
    if prod(launch.grid) * prod(launch.block) <= LOOKED_AT:
        yield from all_threads(launch)
        return
    blocks = max(2, LOOKED_AT // prod(launch.block))
    yield from islice(all_threads(launch), min(blocks, prod(launch.grid)) * prod(launch.block))
    last = (launch.grid[0] - 1, launch.grid[1] - 1, launch.grid[2] - 1)
    if prod(launch.grid) > blocks:
        yield Who(last, (0, 0, 0))


def places(ways: list[Way]) -> Role:
    """Where a thread has events and accesses."""
    found: set[Span] = set()
    for way in ways:
        found |= {s for s in way.spans if s is not None}
        found |= {use.span for uses in way.uses for use in uses}
    return frozenset(found)


def teams(ground: Ground, suspects: list[Who]) -> Iterator[list[Who]]:
    """Groups of threads in which to look for a race, small ones first, those with ``suspects`` first."""
    tried: set[frozenset[Who]] = set()
    known = roles(ground)
    crew = [who for found in known.values() for who in found]
    firsts = [found[0] for found in known.values()]
    for size in range(2, TOGETHER + 1):
        options: list[tuple[Who, ...]] = []
        if len(suspects) == 2:
            options += [(*suspects, *more) for more in combinations([w for w in firsts if w not in suspects], size - 2)]
        if len(crew) <= 8:
            options += combinations(crew, size)
        for team in options:
            key = frozenset(team)
            if len(key) == size and key not in tried and len(tried) < TRIES:
                tried.add(key)
                yield list(team)


def crowds(ground: Ground, suspects: list[Who]) -> Iterator[list[Who]]:
    """Many threads, in whole blocks where blocks have barriers: those of the suspects' blocks, then the first ones."""
    launch = ground.launch
    own = sorted({who.block for who in suspects})
    if len(own) > 1 or prod(launch.grid) == 1:
        yield _blocks(launch, own or [(0, 0, 0)])
    whole = any(isinstance(s, ir.Barrier) for s in walk(ground.kernel.body))
    per_block = prod(launch.block)
    if whole:
        first = [who.block for who in islice(all_threads(launch), 0, CROWD, per_block)]
        yield _blocks(launch, sorted({*own, *first[: CROWD // per_block]}))
        return
    busy: list[Who] = []
    for who in islice(all_threads(launch), 4 * CROWD):
        if len(busy) < BUSY and any(not w.silent for w in Unfolder(ground.world({}), who, 0).run()):
            busy.append(who)
    yield busy


def _blocks(launch: ConcreteLaunch, blocks: list[Triple]) -> list[Who]:
    sizes = [range(n) for n in reversed(launch.block)]
    return [Who(block, (x, y, z)) for block in blocks for z, y, x in product(*sizes)]
