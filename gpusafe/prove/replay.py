"""From a model, or from nothing but a launch, to a counterexample that the concrete interpreter has seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from gpusafe.dataflow.arith import clip, fold
from gpusafe.dataflow.concrete import ConcreteLaunch, Meeting, Outcome, run
from gpusafe.dataflow.concrete.evaluate import UNKNOWN, Unknowable, compile_expr
from gpusafe.dataflow.concrete.machine import STEP_LIMIT, TOO_LONG, all_blocks
from gpusafe.dataflow.taint import Taints, can_order, taints
from gpusafe.dataflow.terms import Term, postorder
from gpusafe.ir.expr import U64, Const, Type
from gpusafe.ir.kernel import Kernel
from gpusafe.prove.launch_context import LaunchContext
from gpusafe.prove.pairs import Model
from gpusafe.span import Span

Triple = tuple[int, int, int]
THREADS_LIMIT = 4096
ALL_LIMIT = 16_384  # threads, where an access waits for a value that all threads count up to
STANDARD = ((2, 1, 1), (64, 1, 1))
ENDLESS_LIMIT = 2
STEPS = 1_200_000  # of all replays of one kernel together
EXTREMES = (0, -1, -2, 1, 2)  # seeds of contents of very different kinds
BY_TURNS = (3, 4)  # seeds
SCALARS = (1000, 4099)  # values tried for integers that no launch fixes


@dataclass(frozen=True, slots=True)
class Replayer:
    """What the replays of one kernel share."""

    kernel: Kernel
    taints: Taints
    orders_block: bool
    orders_grid: bool
    endless: list[ConcreteLaunch] = field(default_factory=list)  # launches whose replay took too many steps
    runs: list[int] = field(default_factory=list)  # the steps of each replay so far

    @staticmethod
    def of(kernel: Kernel) -> Replayer:
        """A replayer for a kernel."""
        return Replayer(kernel, taints(kernel), can_order(kernel, False), can_order(kernel, True))

    @property
    def left(self) -> int:
        """The steps that the replays of the kernel may still take."""
        return max(0, STEPS - sum(self.runs))

    def run(
        self,
        launch: ConcreteLaunch,
        blocks: list[Triple],
        wanted: Callable[[Meeting], bool] | None = None,
        only: frozenset[tuple[Triple, Triple]] | None = None,
        *,
        limit: int = STEP_LIMIT,
        watch: Span | None = None,
    ) -> Outcome:
        """One replay within the common budget; without any left it ends at once and shows nothing."""
        outcome = run(self.kernel, launch, blocks, wanted, only, min(limit, self.left), watch)
        self.runs.append(outcome.steps)
        return outcome


def number(term: Term, symbols: dict[str, int], fallback: int) -> int | None:
    """The value of a launch-side term; unknown symbols get the model's value, or ``fallback``."""
    done: dict[Term, Any] = {}
    for t in postorder([term]):
        args = [done[a] for a in t.args]
        if any(a is None for a in args):
            done[t] = None
            continue
        match t.op:
            case "const":
                done[t] = t.data
            case "sym" | "param" | "length":
                name = t.data[0] if isinstance(t.data, tuple) else t.data
                value = symbols.get(f"{t.op} {name}", fallback)
                done[t] = _within(value, t)
            case "special":
                done[t] = symbols.get(str(t.data), 1)
            case "cast":
                done[t] = (
                    clip(int(args[0]), t.type) if t.type.kind == "int" and not isinstance(args[0], float) else None
                )
            case "select":
                done[t] = args[1] if args[0] else args[2]
            case "not":
                done[t] = not args[0]
            case "&&":
                done[t] = bool(args[0] and args[1])
            case "||":
                done[t] = bool(args[0] or args[1])
            case "sum":
                done[t] = args[0] + args[1]
            case _:
                done[t] = _operation(t, args)
    value = done[term]
    return None if value is None else int(value)


def _within(value: int, t: Term) -> int:
    low, high = (t.data[1], t.data[2]) if isinstance(t.data, tuple) else (None, None)
    if low is not None:
        value = max(value, low)
    if high is not None:
        value = min(value, high)
    return clip(value, t.type) if t.type.kind == "int" else value


def _operation(t: Term, args: list[Any]) -> Any:
    if not t.args or any(a.type.kind != "int" for a in t.args) or t.op in ("opaque", "fresh"):
        return None
    try:
        return fold(t.op, tuple(int(a) for a in args), t.args[0].type)
    except ValueError:
        return None


def contents(seed: int) -> Any:
    """Initial contents of memory: a fixed pseudo-random function of the cell (0: all zeros; -1, -2: extreme values)."""

    def cell(region: str, offset: int, type_: Type) -> Any:
        if seed == 0:
            return 0.0 if type_.kind == "float" else False if type_.kind == "bool" else 0
        if seed < 0 and type_.kind == "int":
            return type_.high if seed == -1 else type_.low
        if seed < 0:
            return (seed == -1) if type_.kind == "bool" else 1e30 if seed == -1 else -1e30
        mixed = (hash_text(region) * 31 + offset * 2654435761 + seed * 40503) & 0xFFFF_FFFF
        mixed ^= mixed >> 15
        mixed = mixed * 2246822519 & 0xFFFF_FFFF
        mixed ^= mixed >> 13
        if type_.kind == "float":
            return (mixed % 20_001 - 10_000) / 100
        if type_.kind == "bool":
            return bool(mixed & 1)
        return mixed % min(1000, type_.high + 1)  # small numbers, and only those that the type holds

    return cell


def memory_of(kernel: Kernel, seed: int) -> Any:
    """Contents for a kernel's arrays that keep to what the user states of them: there, each element is its place.

    With a seed of ``BY_TURNS`` every other array holds zeros: what is read from one exceeds what is in the next.
    """
    stated = {*kernel.injective, *kernel.monotone}
    free, zeros = contents(seed), contents(0)
    empty = {r.name for n, r in enumerate(kernel.regions) if seed in BY_TURNS and n % 2 == BY_TURNS.index(seed)}

    def cell(region: str, offset: int, type_: Type) -> Any:
        if region not in stated or type_.kind != "int":
            return (zeros if region in empty else free)(region, offset, type_)
        place = offset // type_.bytes
        return place if place <= type_.high else UNKNOWN

    return cell


@lru_cache(maxsize=256)
def hash_text(text: str) -> int:
    """A stable hash of a name."""
    value = 7
    for char in text:
        value = (value * 131 + ord(char)) & 0xFFFF_FFFF
    return value


def launches(
    context: LaunchContext, kernel: Kernel, model: Model | None, values: tuple[int, ...] = SCALARS
) -> Iterator[ConcreteLaunch]:
    """Concrete launches of a context: the model's, then with other values for what the launch leaves open."""
    symbols = model.symbols if model is not None else {}
    for attempt in ({}, symbols) if context.site is None else (symbols, {}):
        for fallback in values:
            launch = concrete(context, kernel, attempt, fallback)
            if launch is not None:
                yield launch


def concrete(context: LaunchContext, kernel: Kernel, symbols: dict[str, int], fallback: int) -> ConcreteLaunch | None:
    """The context's launch with numbers in it."""
    sizes: dict[str, list[int]] = {}
    for at, register in enumerate(("nctaid", "ntid")):
        sizes[register] = []
        for i, axis in enumerate("xyz"):
            bound = context.specials.get(f"{register}.{axis}")
            value = number(bound, symbols, fallback) if bound is not None else STANDARD[at][i]
            if value is None or value < 1:
                return None
            sizes[register].append(value)
    block = sizes["ntid"]
    if block[0] * block[1] * block[2] > 1024:
        return None
    if any(number(p, symbols, fallback) == 0 for p in context.premises):
        return None
    params: dict[str, Any] = {}
    for param in kernel.params:
        if param.row_width is not None:
            params[param.row_width] = _scalar(
                U64, context.bindings.params.get(param.row_width), symbols, fallback, param.row_width
            )
        if param.kind != "scalar" or param.type is None:
            continue
        bound = context.bindings.params.get(param.name)
        params[param.name] = _scalar(param.type, bound, symbols, fallback, param.name)
    lengths: dict[str, int] = {}
    for region in kernel.regions:
        bound = context.bindings.lengths.get(region.name)
        if bound is not None:
            length = number(bound, symbols, fallback)
            if length is not None:
                lengths[region.name] = length
        elif region.param is not None and region.length is not None and not isinstance(region.length, Const):
            lengths[region.name] = symbols.get(f"length {region.name}", 1 << 20)
    same = {}
    for name, (other, offset) in context.bindings.same_memory.items():
        moved = number(offset, symbols, fallback)
        if moved is None:
            return None
        same[name] = (other, moved)
    dynamic = context.specials.get("dynamic_smem_bytes")
    shared = number(dynamic, symbols, fallback) if dynamic is not None else None
    launch = ConcreteLaunch(
        (sizes["nctaid"][0], sizes["nctaid"][1], sizes["nctaid"][2]),
        (block[0], block[1], block[2]),
        params,
        lengths,
        same,
        memory_of(kernel, 0),
        shared if shared is not None else 1 << 16,
    )
    return launch if _meets(kernel, launch) else None


def _meets(kernel: Kernel, launch: ConcreteLaunch) -> bool:
    """Whether a launch keeps to what the user requires of every launch (not, where that is not known)."""
    env: dict[str, Any] = {f"param {name}": value for name, value in launch.params.items()}
    env |= {f"length {region}": length for region, length in launch.lengths.items()}
    for register, sizes in (("ntid", launch.block), ("nctaid", launch.grid)):
        env |= {f"%{register}.{axis}": size for axis, size in zip("xyz", sizes, strict=True)}
    try:
        return all(compile_expr(cond)(env) is True for cond in (*kernel.requires, *kernel.assumes))
    except Unknowable:
        return False


def _scalar(type_: Type, bound: Term | None, symbols: dict[str, int], fallback: int, name: str) -> Any:
    if type_.kind == "float":
        return (
            float(bound.data)
            if bound is not None and bound.op == "const" and isinstance(bound.data, int | float)
            else 0.5
        )
    value = number(bound, symbols, fallback) if bound is not None else symbols.get(f"param {name}", fallback)
    return clip(value if value is not None else fallback, type_) if type_.kind == "int" else bool(value)


def outcomes(
    replayer: Replayer,
    context: LaunchContext,
    model: Model | None,
    *,
    data: bool,
    values: tuple[int, ...] = SCALARS,
    wanted: Callable[[Meeting], bool] | None = None,
    simple: bool = False,
    waits: bool = False,
) -> Iterator[tuple[ConcreteLaunch, Outcome]]:
    """Runs of a context's launches, on the model's blocks first; ``data``: with several contents of memory.

    ``simple``: nothing on the way of the two threads depends on memory, so that they may run alone.
    """
    tried: set[tuple[object, ...]] = set()
    if model is not None and simple:
        yield from _two_threads(replayer, context, model, values, wanted)
    for launch in launches(context, replayer.kernel, model, values):
        for blocks in _block_choices(launch, model, waits):
            for seed in (1, 2, 0, *BY_TURNS) if data else (0,):
                key = (launch.grid, launch.block, tuple(sorted(launch.params.items())), tuple(blocks), seed)
                if key in tried or len(tried) > 8:
                    continue
                tried.add(key)
                if len(replayer.endless) >= ENDLESS_LIMIT or not replayer.left:
                    return
                filled = replace(launch, contents=memory_of(replayer.kernel, seed))
                outcome = replayer.run(filled, blocks, wanted)
                if outcome.why == TOO_LONG:
                    replayer.endless.append(filled)
                yield filled, outcome


def _two_threads(
    replayer: Replayer,
    context: LaunchContext,
    model: Model,
    values: tuple[int, ...],
    wanted: Callable[[Meeting], bool] | None,
) -> Iterator[tuple[ConcreteLaunch, Outcome]]:
    """Runs of the model's two threads alone."""
    launch = concrete(context, replayer.kernel, model.symbols, values[0])
    if launch is None or any(i >= n for b in model.block for i, n in zip(b, launch.grid, strict=True)):
        return
    only = frozenset(zip(model.block, model.tid, strict=True))
    filled = replace(launch, contents=memory_of(replayer.kernel, 1))
    yield filled, replayer.run(filled, sorted(set(model.block)), wanted, only)


def _block_choices(launch: ConcreteLaunch, model: Model | None, waits: bool) -> Iterator[list[Triple]]:
    per_block = launch.block[0] * launch.block[1] * launch.block[2]
    total = launch.grid[0] * launch.grid[1] * launch.grid[2]
    if model is not None:
        chosen = sorted(set(model.block))
        if all(all(i < n for i, n in zip(b, launch.grid, strict=True)) for b in chosen):
            yield chosen
    if per_block * total <= THREADS_LIMIT:
        yield [(x, y, z) for z in range(launch.grid[2]) for y in range(launch.grid[1]) for x in range(launch.grid[0])]
        return
    first: list[Triple] = [(0, 0, 0)]
    for axis in range(3):
        if launch.grid[axis] > 1:
            step = [0, 0, 0]
            step[axis] = 1
            first.append((step[0], step[1], step[2]))
    last = (launch.grid[0] - 1, launch.grid[1] - 1, launch.grid[2] - 1)
    yield list(dict.fromkeys([*first, last]))
    if waits and per_block * total <= ALL_LIMIT:  # what the last of all threads does
        yield list(all_blocks(launch.grid))
