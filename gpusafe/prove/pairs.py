"""Whether two accesses of two different threads can meet: the query behind every race obligation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import z3

from gpusafe.dataflow.accesses import Access, OwnUse, Trace, conditions
from gpusafe.dataflow.intervals import Intervals
from gpusafe.dataflow.linear import Linear, forced
from gpusafe.dataflow.phases import Phase, PhasePoint, points, terms_of
from gpusafe.dataflow.terms import Term
from gpusafe.ir.kernel import Order, Scope
from gpusafe.prove.budget import QUERY, Budget, for_launches
from gpusafe.prove.contents import facts_of_contents
from gpusafe.prove.encode import Encoder, Thread
from gpusafe.prove.published import published_facts
from gpusafe.prove.tallies import tally_facts
from gpusafe.prove.warp_values import warp_facts

if TYPE_CHECKING:
    from gpusafe.prove.pairs_locked import Lock

Z = Any
WIDE_SCOPES = frozenset({Scope.DEVICE, Scope.SYSTEM})
RLIMIT = QUERY


@dataclass(frozen=True, slots=True)
class Model:
    """Two threads, and the values of the launch's unknowns, for which a query is satisfiable."""

    tid: tuple[tuple[int, int, int], tuple[int, int, int]]
    block: tuple[tuple[int, int, int], tuple[int, int, int]]
    symbols: dict[str, int]


@dataclass(frozen=True, slots=True)
class Answer:
    """``unsat``, ``sat`` (with a model) or ``unknown``."""

    status: str
    model: Model | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """What all queries of one kernel under one context share.

    ``flags``: atomic writes (by ``seq``) that one thread alone makes, once, with the values that do not tell of them.
    ``winners``: regions of which each cell can be found zero by one read-modify-write only. ``locks``: regions that are
    used as locks. ``counts``: for counters, how often a cell can be added to at most. ``tallies``: shared counters, and
    what they come to at most. ``relied``: signals that some answer made use of.

    ``written``: regions that the launch writes. ``premises``: conditions on the launch (contract, host facts).
    ``counters``: regions that are only ever added to atomically, so that each addition gets a place of its own.
    ``per_block``: regions of which each block has its own. ``injective`` and ``monotone``: what the user states of the
    contents of a region, with the size of its elements in bytes.
    """

    trace: Trace
    specials: dict[str, Term]
    written: frozenset[str]
    premises: tuple[Term, ...] = ()
    counters: frozenset[str] = frozenset()
    injective: frozenset[tuple[str, int]] = frozenset()
    monotone: frozenset[tuple[str, int]] = frozenset()
    flags: dict[int, frozenset[int]] = field(default_factory=dict)
    winners: frozenset[str] = frozenset()
    locks: tuple[Lock, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
    tallies: dict[str, int] = field(default_factory=dict)
    per_block: frozenset[str] = frozenset()
    rlimit: int = RLIMIT
    budget: Budget = field(default_factory=for_launches)
    relied: set[str] = field(default_factory=set)
    memo: dict[object, Answer] = field(default_factory=dict)
    forms: dict[int, tuple[Linear, int]] = field(default_factory=dict)

    @property
    def ordered_within(self) -> bool:
        """Whether something may order a write between two reads of one interval: a narrower barrier, or a signal."""
        narrow = any(b.scope in (Scope.WARP, Scope.CLUSTER) for b in self.trace.barriers)
        return narrow or (bool(self.flags or self.counters) and self._signals_order)

    @property
    def _signals_order(self) -> bool:
        """Whether an atomic may order more than itself: by its own order, or by a fence."""
        relaxed = (Order.WEAK, Order.RELAXED)
        return bool(self.trace.fences) or any(r.access.order not in relaxed for r in self.trace.atomics)

    @property
    def one_grid_phase(self) -> bool:
        """Whether no grid barrier cuts the kernel."""
        return not any(b.scope in WIDE_SCOPES for b in self.trace.barriers)


def conflicting(a: Access, b: Access, same_block: bool) -> bool:
    """Whether the kinds of two accesses conflict when they meet unordered."""
    if not (a.writes or b.writes):
        return False
    if atomic_to_each_other(a, b, same_block):
        return not all(aligned(x.offset, x.size) for x in (a, b))
    return True


def atomic_to_each_other(a: Access, b: Access, same_block: bool) -> bool:
    """Whether two accesses are atomic for each other, as far as they are of the same bytes."""
    alike = a.mode == b.mode == "atomic" and a.size == b.size
    return alike and all(_includes(x.scope, same_block) for x in (a, b))


def _includes(scope: Scope | None, same_block: bool) -> bool:
    return scope in WIDE_SCOPES or (same_block and scope in (Scope.BLOCK, Scope.CLUSTER))


def same_phase(enc: Encoder, a: Phase, b: Phase, one: Thread, two: Thread) -> Z:
    """Both threads passed the same barrier last, in the same iterations."""
    options = []
    for guard_a, point_a in a:
        for guard_b, point_b in b:
            if point_a.barrier != point_b.barrier or len(point_a.at) != len(point_b.at):
                continue
            same = [enc.encode(x, one) == enc.encode(y, two) for x, y in zip(point_a.at, point_b.at, strict=True)]
            options.append(z3.And(enc.encode(guard_a, one), enc.encode(guard_b, two), *same))
    return z3.Or(*options) if options else z3.BoolVal(False, enc.ctx)


def threads(
    setting: Setting, same_block: bool, first: list[Term], second: list[Term]
) -> tuple[Encoder, Thread, Thread]:
    """An encoder with two threads under their conditions."""
    specials = setting.specials
    enc = Encoder(specials, setting.written, same_block)
    base = Intervals(specials)
    base.assume(setting.premises)
    out = []
    for name, conds in (("!1", first), ("!2", second)):
        ranges = base.copy()
        ranges.assume(conds)
        out.append(enc.thread(name, ranges))
    enc.shared.intervals = base
    return enc, out[0], out[1]


def distinct(enc: Encoder, one: Thread, two: Thread) -> Z:
    """Two different threads: of one block, or of two different blocks."""
    if enc.same_block:
        return z3.Or(*[one.tid[d] != two.tid[d] for d in "xyz"])
    return z3.Or(*[one.cta[d] != two.cta[d] for d in "xyz"])


def lemmas(enc: Encoder, setting: Setting) -> list[Z]:
    """What is known of products, of values loaded from race-free memory, and of results of atomic additions."""
    out: list[Z] = []
    if enc.fresh and (setting.trace.ballots or setting.trace.shuffles):
        out += warp_facts(enc, setting.trace)
    if enc.loads:
        out += published_facts(enc, setting.trace, setting.per_block)
    out += enc.spread()
    for i, (x, one) in enumerate(enc.loads):
        for y, two in enc.loads[i + 1 :]:
            if one is not two:
                out += _same_loads(enc, setting, x, y, one, two)
    if setting.injective or setting.monotone:
        out += facts_of_contents(enc, setting.injective, setting.monotone)
    for i, (x, one) in enumerate(enc.atomics):
        out += _few_additions(enc, setting, x, one)
        for y, two in enc.atomics[i + 1 :]:
            if one is not two:
                out += _tickets(enc, setting, x, y, one, two)
                out += _one_winner(enc, setting, x, y, one, two)
    return out + tally_facts(enc, setting.trace, setting.tallies)


def _same_loads(enc: Encoder, setting: Setting, x: Term, y: Term, one: Thread, two: Thread) -> list[Z]:
    """Two threads that read one cell in one interval see one value: a write in between would be a race."""
    assert isinstance(x.data, tuple) and isinstance(y.data, tuple)
    if x.data[0] != y.data[0] or x.type != y.type:
        return []
    if x.data[0] in setting.written and setting.ordered_within:
        return []
    if not enc.same_block and (x.data[0] in setting.per_block or not setting.one_grid_phase):
        return []
    premise = [enc.encode(x.args[0], one) == enc.encode(y.args[0], two)]
    if enc.same_block:
        premise.append(same_phase(enc, _load_phase(x), _load_phase(y), one, two))
    return [z3.Implies(z3.And(*premise), enc.encode(x, one) == enc.encode(y, two))]


def _load_phase(load: Term) -> Phase:
    _, _, shape, loops = load.data
    parts = list(load.args[1 + loops :])
    out = []
    for barrier, count in shape:
        guard, *at = parts[: 1 + count]
        parts = parts[1 + count :]
        out.append((guard, PhasePoint(barrier, tuple(at))))
    return tuple(out)


def _tickets(enc: Encoder, setting: Setting, x: Term, y: Term, one: Thread, two: Thread) -> list[Z]:
    """Additions to one counter reserve disjoint stretches."""
    assert isinstance(x.data, tuple) and isinstance(y.data, tuple)
    known = x.data[0] in setting.counters or x.data[0] in setting.tallies
    if x.data[0] != y.data[0] or not known or x.type != y.type:
        return []
    if x.data[2] != "add" or y.data[2] != "add" or (x.data[0] in setting.per_block and not enc.same_block):
        return []
    a, b = enc.encode(x, one), enc.encode(y, two)
    by_a, by_b = enc.encode(x.args[1], one), enc.encode(y.args[1], two)
    same = enc.encode(x.args[0], one) == enc.encode(y.args[0], two)
    if one.home or two.home:  # they may be one thread, in one turn of its loops
        same = z3.And(same, _two_additions(enc, x, y, one, two))
    out = [z3.Implies(same, z3.Or(a + by_a <= b, b + by_b <= a))]
    handed_on = setting.trace.shuffles and (x.args[1].const is None or y.args[1].const is None)
    if x.data[0] in setting.counters and (handed_on or one.home or two.home):
        setting.relied.add(str(x.data[0]))
        out += [a >= 0, a + by_a <= x.type.high, b >= 0, b + by_b <= x.type.high]
    return out


def _few_additions(enc: Encoder, setting: Setting, x: Term, one: Thread) -> list[Z]:
    """Where each of so many threads adds one, none finds as much as all of them added."""
    most = setting.counts.get(str(x.data[0]))
    if most is None or x.data[2] != "add" or x.args[1].const != 1:
        return []
    setting.relied.add(str(x.data[0]))
    found = enc.encode(x, one)
    return [found >= 0, found < most]


def _one_winner(enc: Encoder, setting: Setting, x: Term, y: Term, one: Thread, two: Thread) -> list[Z]:
    """Only one read-modify-write finds the zero that a cell starts with, where none is ever written."""
    region = x.data[0]
    if region not in setting.winners or y.data[0] != region:
        return []
    if any(t.data[2] == "load" or (t.data[2] == "cas" and t.args[1].const != 0) for t in (x, y)):
        return []  # they do not write when they find zero
    if region in setting.per_block and not enc.same_block:
        return []
    both = [enc.encode(x, one) == 0, enc.encode(y, two) == 0, enc.encode(x.args[0], one) == enc.encode(y.args[0], two)]
    if one.home or two.home:
        both.append(_two_additions(enc, x, y, one, two))
    return [z3.Not(z3.And(*both))]


def _two_additions(enc: Encoder, x: Term, y: Term, one: Thread, two: Thread) -> Z:
    """Whether two results come from different threads, or from different turns of one."""
    differ = [one.tid[d] != two.tid[d] for d in "xyz"] + [one.cta[d] != two.cta[d] for d in "xyz"]
    if isinstance(x.data, tuple) and isinstance(y.data, tuple) and x.data[1] == y.data[1]:
        turns = zip(x.args[2:], y.args[2:], strict=True)
        differ += [enc.encode(p, one) != enc.encode(q, two) for p, q in turns]
    return z3.Or(*differ)


def overlap(enc: Encoder, a: Access, b: Access, one: Thread, two: Thread) -> Z:
    """The two accesses have a byte in common."""
    x, y = enc.encode(a.offset, one), enc.encode(b.offset, two)
    if a.size == b.size and aligned(a.offset, a.size) and aligned(b.offset, b.size):
        zero = enc.num(0)
        places = [
            (enc.encode(f.first, one) if f.first is not None else zero)
            == (enc.encode(f.second, two) if f.second is not None else zero)
            for f in forced(a.offset, b.offset, one.intervals, two.intervals)
        ]
        return z3.And(x == y, *places)
    return z3.And(x < y + b.size, y < x + a.size)


def aligned(offset: Term, size: int) -> bool:
    """Whether a byte offset is certainly a multiple of an access size."""
    if offset.op == "sum":
        return all(aligned(a, size) for a in offset.args)
    if offset.const is not None:
        return offset.const % size == 0
    if offset.op == "*" and offset.args[1].const is not None:
        return offset.args[1].const % size == 0
    if offset.op in ("+", "-"):
        return all(aligned(a, size) for a in offset.args)
    if offset.op == "select":
        return all(aligned(a, size) for a in offset.args[1:])
    if offset.op == "<<" and offset.args[1].const is not None:
        return (1 << offset.args[1].const) % size == 0
    return False


def where(trace: Trace, access: Access) -> list[Term]:
    """What holds of a thread that makes an access."""
    return conditions(trace, access.context, (access.offset, *terms_of(access.context.phases)))


def apart_in_time(a: Access, b: Access, same_block: bool) -> bool:
    """Whether no barrier interval holds both accesses, whatever the iterations."""
    one, two = a.context.phases, b.context.phases
    return not (points(one.block) & points(two.block) if same_block else points(one.grid) & points(two.grid))


def meet(setting: Setting, a: Access, b: Access, same_block: bool, *, torn: bool = False) -> Answer:
    """Whether two threads (of one block, or of two) can make these two accesses at the same time and place.

    ``torn``: only as far as they overlap without being of the same bytes.
    """
    trace = setting.trace
    if apart_in_time(a, b, same_block):
        return Answer("unsat")
    first, second = (where(trace, x) for x in (a, b))
    enc, one, two = threads(setting, same_block, first, second)
    goal = [distinct(enc, one, two), overlap(enc, a, b, one, two)]
    if torn:
        goal.append(enc.encode(a.offset, one) != enc.encode(b.offset, two))
    goal += [enc.encode(c, one) for c in first] + [enc.encode(c, two) for c in second]
    goal += [enc.encode(c, enc.shared) for c in setting.premises]
    pa, pb = a.context.phases, b.context.phases
    if same_block:
        goal.append(same_phase(enc, pa.block, pb.block, one, two))
        if pa.warp != pa.block or pb.warp != pb.block:
            other_warp = enc.warp(one) != enc.warp(two)
            goal.append(z3.Or(other_warp, same_phase(enc, pa.warp, pb.warp, one, two)))
    else:
        goal.append(same_phase(enc, pa.grid, pb.grid, one, two))
    if setting.flags or setting.counters:
        from gpusafe.prove.pairs_handed_over import ordered

        hand_overs = ordered(enc, setting, ((a, one), (b, two)), second)
        hand_overs += ordered(enc, setting, ((b, two), (a, one)), first)
        goal += [z3.Not(h) for h in hand_overs]
    if setting.locks:
        from gpusafe.prove.pairs_locked import locked

        goal += [z3.Not(h) for h in locked(enc, setting, (a, one), (b, two))]
    return decide(enc, setting, goal, one, two)


def uses_own_copy(setting: Setting, use: OwnUse) -> Answer:
    """Whether a thread's access can touch what its own asynchronous copy may still be writing."""
    first = conditions(setting.trace, use.access.context, (use.access.offset, use.copy.offset, *use.copy.guard))
    enc, one, two = threads(setting, True, first, [])
    x, y = enc.encode(use.access.offset, one), enc.encode(use.copy.offset, one)
    goal = [x < y + use.copy.size, y < x + use.access.size]
    goal += [enc.encode(c, one) for c in (*first, *use.copy.guard)]
    goal += [enc.encode(c, enc.shared) for c in setting.premises]
    return decide(enc, setting, goal, one, two)


def decide(enc: Encoder, setting: Setting, goal: list[Z], one: Thread, two: Thread) -> Answer:
    """Asks Z3; products are first abstracted, and taken as they are only to find a model."""
    extra = lemmas(enc, setting)
    answer, model = solve(enc, [*goal, *extra, *enc.facts], setting.rlimit, setting.budget)
    if answer == "sat" and enc.meanings:
        again, better = solve(enc, [*goal, *extra, *enc.facts, *enc.meanings], setting.rlimit, setting.budget)
        if again == "unsat":
            return Answer("unsat")
        answer, model = (again, better) if again == "sat" else ("unknown", None)
    return Answer(answer, _model(enc, model, one, two) if model is not None else None)


def solve(enc: Encoder, formulas: list[Z], rlimit: int, budget: Budget | None = None) -> tuple[str, Any]:
    """Runs the solver under a resource limit, which an account may lower; what is used is charged to it."""
    if budget is not None:
        rlimit = budget.grant(rlimit)
        if not rlimit:
            return "unknown", None
    solver = z3.Solver(ctx=enc.ctx)
    solver.set("rlimit", rlimit)
    solver.set("timeout", 20_000)  # a safety net only: the resource limit ends a query long before
    solver.add(*formulas)
    result = str(solver.check())
    if budget is not None:
        budget.charge(_used(solver))
    return result, solver.model() if result == "sat" else None


def _used(solver: Z) -> int:
    """The resource units that a solver's check took."""
    figures = solver.statistics()
    return int(figures.get_key_value("rlimit count")) if "rlimit count" in figures.keys() else 0  # noqa: SIM118


def _model(enc: Encoder, model: Any, one: Thread, two: Thread) -> Model:
    def number(value: Z) -> int:
        return int(model.eval(value, model_completion=True).as_long())

    def triple(values: dict[str, Z]) -> tuple[int, int, int]:
        return number(values["x"]), number(values["y"]), number(values["z"])

    symbols = {
        name: number(symbol)
        for name, symbol in enc._names.items()
        if name.startswith(("param ", "sym ", "length ", "ntid", "nctaid"))
    }
    return Model((triple(one.tid), triple(two.tid)), (triple(one.cta), triple(two.cta)), symbols)
