"""Loops of a symbolic execution: short ones are unrolled, others summarised by their iteration number.

A summary runs the body for one generic iteration k: variables with a closed form (gpusafe.dataflow.induction) get it,
the others are unknowns that depend on k. What holds after the loop is told of a fresh number, that of
the last iteration.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gpusafe.dataflow import async_copies
from gpusafe.dataflow import phases as ph
from gpusafe.dataflow.accesses import Gap, SideCondition
from gpusafe.dataflow.async_copies import Pending
from gpusafe.dataflow.induction import Closed, close
from gpusafe.dataflow.phases import PhasePoint, Phases
from gpusafe.dataflow.state import Exits, State, assigned, merge
from gpusafe.dataflow.taint import walk
from gpusafe.dataflow.terms import Term, Terms
from gpusafe.dataflow.uniformity import BLOCK, NAMES, Uniformity, marked
from gpusafe.ir import kernel as ir
from gpusafe.ir.expr import BOOL, I64

if TYPE_CHECKING:
    from gpusafe.dataflow.execute import Executor

UNROLL_SYNC = 40  # iterations of a loop with barriers, or with variables that have no closed form
UNROLL_PLAIN = 4
UNROLL_STATEMENTS = 1500
PASSES_LIMIT = 6


def uniformity(ex: Executor, heads: dict[Term, int] | None = None) -> Uniformity:
    """Who shares the values of an execution."""
    constant = frozenset(r.name for r in ex.kernel.regions if r.read_only)
    return Uniformity(ex.bindings.specials, constant, heads or {})


@dataclass(slots=True)
class _Mark:
    """Where an executor's records stood, to forget a trial run."""

    accesses: int
    barriers: int
    facts: int
    sides: int
    gaps: int
    atomics: int
    own_uses: int
    private: int
    fences: int
    counter: int
    pending: dict[str, tuple[int, int]]
    path: tuple[int, ...]
    loops: tuple[Term, ...]
    depth: int


def _mark(ex: Executor) -> _Mark:
    t = ex.trace
    pending = {label: (len(e.leave), len(e.again)) for label, e in ex.exits.items()}
    return _Mark(
        len(t.accesses), len(t.barriers), len(t.facts), len(t.sides), len(t.gaps), len(t.atomics), len(t.own_uses),
        len(t.private),
        len(t.fences),
        ex.counter, pending, ex.path, ex.loops, ex.depth,
    )  # fmt: skip


def _forget(ex: Executor, mark: _Mark) -> None:
    t = ex.trace
    del t.accesses[mark.accesses :], t.barriers[mark.barriers :], t.facts[mark.facts :], t.sides[mark.sides :]
    del (
        t.gaps[mark.gaps :],
        t.atomics[mark.atomics :],
        t.own_uses[mark.own_uses :],
        t.private[mark.private :],
        t.fences[mark.fences :],
    )
    ex.counter, ex.path, ex.loops, ex.depth = mark.counter, mark.path, mark.loops, mark.depth
    for label in list(ex.exits):
        if label not in mark.pending:
            del ex.exits[label]
        else:
            leave, again = mark.pending[label]
            del ex.exits[label].leave[leave:], ex.exits[label].again[again:]


def has_sync(body: tuple[ir.Stmt, ...]) -> bool:
    """Whether statements contain a barrier of any kind."""
    stack: list[ir.Stmt] = list(body)
    while stack:
        match stack.pop():
            case ir.Barrier() | ir.MBarrier() | ir.AsyncControl() | ir.AsyncCopy():
                return True
            case ir.If(then=a, orelse=b):
                stack.extend((*a, *b))
            case ir.Block(body=b) | ir.Loop(body=b):
                stack.extend(b)
    return False


def execute(ex: Executor, loop: ir.Loop, state: State) -> State | None:
    """Executes a loop and gives the state after it."""
    mark = _mark(ex)
    sync = has_sync(loop.body)
    known = _known(loop, state)
    if known in ex.undecided:
        return _summarise(ex, loop, state)[1]
    done, decided, after = _unroll(ex, loop, state, UNROLL_SYNC if sync else UNROLL_PLAIN)
    if done:
        return after
    _forget(ex, mark)
    if not decided:
        ex.undecided.add(known)
    exact, after = _summarise(ex, loop, state)
    if exact or sync or not decided:
        return after
    _forget(ex, mark)
    done, decided, after = _unroll(ex, loop, state, UNROLL_SYNC)
    if done:
        return after
    _forget(ex, mark)
    return _summarise(ex, loop, state)[1]


def _known(loop: ir.Loop, state: State) -> Hashable:
    """What decides whether a loop can be unrolled: the constants among the variables that are known at its head.

    Used to not repeat a trial that failed. Both unrolling and summarising are sound, so that a key which misses
    something costs precision at most, never a wrong proof: it only chooses between the two.
    """
    constants = ((v, t if t.op == "const" else None) for v, t in state.env.items())
    return (loop.label, loop.span, frozenset(constants))


def _iterate(ex: Executor, loop: ir.Loop, state: State) -> tuple[State | None, list[State]]:
    """One iteration: the state at its end (None: it never gets there) and the states that leave the loop."""
    outer = ex.exits.get(loop.label)
    ex.exits[loop.label] = exits = Exits()
    end = ex.block(loop.body, state)
    if outer is None:
        del ex.exits[loop.label]
    else:
        ex.exits[loop.label] = outer
    return merge(ex.terms, [*exits.again, *([end] if end else [])]), exits.leave


def _unroll(ex: Executor, loop: ir.Loop, state: State, limit: int) -> tuple[bool, bool, State | None]:
    """Runs the loop iteration by iteration while its exit is decided by constants.

    Gives whether it came to its end; if not, whether a higher limit might do (no exit was undecided); the state after.
    """
    path, steps = ex.path, ex.steps
    current: State | None = State(dict(state.env), state.guard, state.phases, state.pending)
    leaving: list[State] = []
    decided = True
    for i in range(limit + 1):
        assert current is not None
        guard = current.guard
        ex.path = (*path, i)
        current, left = _iterate(ex, loop, current)
        leaving += left
        if current is None:
            ex.path = path
            return True, True, merge(ex.terms, leaving)
        if left or len(current.guard) != len(guard) or ex.steps - steps > UNROLL_STATEMENTS:
            decided = False
            break
    ex.path = path
    ex.steps = steps
    return False, decided, None


def _summarise(ex: Executor, loop: ir.Loop, state: State) -> tuple[bool, State | None]:
    """Runs the body once for a generic iteration; the first result says whether every integer has a closed form."""
    terms = ex.terms
    name = f"{loop.label}#{ex.number()}"
    k = terms.make("iter", I64, ex.loops, name)
    entry = State(dict(state.env), state.guard, state.phases, state.pending)
    if any(isinstance(s, ir.Store) for s in walk(loop.body)):
        entry.env = {v: t for v, t in entry.env.items() if "@" not in v}
    carried = sorted(v for v in assigned(loop.body) if v in entry.env)
    heads = {v: terms.make("head", entry.env[v].type, (), (name, v)) for v in carried}
    trial = _Head(_placeholder(terms, name) if has_sync(loop.body) else entry.phases, entry.guard, entry.pending)
    mark = _mark(ex)
    end, _ = _pass(ex, loop, k, {**entry.env, **heads}, trial)
    _forget(ex, mark)
    if end is None:
        return True, _once(ex, loop, entry)
    unknown = _unknowns(ex, name, (*ex.loops, k), heads, entry, end)
    banned = frozenset(v for label, v in ex.banned if label == name)
    ends = {v: end.env.get(v, heads[v]) for v in carried}
    closed = close(terms, heads, ends, {v: entry.env[v] for v in carried}, k, unknown, banned)
    body = {**entry.env, **{v: c.value for v, c in closed.items()}}
    goes_on, final, left = _passes(ex, loop, (k, name), entry, body, trial)
    _side_conditions(ex, name, closed, k, final)
    exact = all(c.exact or entry.env[v].type.kind not in ("int", "ptr") for v, c in closed.items())
    return exact, _after(ex, loop, entry, (k, name, goes_on), left)


@dataclass(frozen=True, slots=True)
class _Head:
    """What holds at the head of a generic iteration, beside the variables."""

    phases: Phases
    guard: tuple[Term, ...]
    pending: Pending


def _pass(ex: Executor, loop: ir.Loop, k: Term, body: dict[str, Term], head: _Head) -> tuple[State | None, list[State]]:
    """Runs the body for iteration k."""
    outer = ex.loops
    ex.loops = (*outer, k)
    out = _iterate(ex, loop, State(dict(body), head.guard, head.phases, head.pending))
    ex.loops = outer
    return out


def _passes(
    ex: Executor, loop: ir.Loop, iteration: tuple[Term, str], entry: State, body: dict[str, Term], head: _Head
) -> tuple[Term, State | None, list[State]]:
    """Runs the body until what holds at its head is what its end (of the iteration before) and the entry say."""
    terms = ex.terms
    k, name = iteration
    mark = _mark(ex)
    goes_on = terms.true
    sync = has_sync(loop.body)
    for number in range(PASSES_LIMIT):
        final, left = _pass(ex, loop, k, body, head)
        if final is None:
            break
        following = head
        if number == 0:
            goes_on = terms.conj(final.guard[len(entry.guard) :])
            guard = entry.guard
            if not _checks_first(loop):
                guard = tuple(g for g in (*guard, _from_second(terms, k, goes_on)) if g is not terms.true)
            phases = _head_phases(terms, name, k, entry.phases, final.phases) if sync else head.phases
            following = _Head(phases, guard, head.pending)
        pending = _head_pending(terms, k, entry.pending, final.pending)
        if pending.shape != following.pending.shape or following != head:
            head = _Head(following.phases, following.guard, pending)
            if number == PASSES_LIMIT - 1:
                ex.trace.gaps.append(Gap("a loop whose asynchronous copies pile up", loop.span))
                break
            _forget(ex, mark)
            continue
        break
    return goes_on, final, left


def _head_pending(terms: Terms, k: Term, entry: Pending, end: Pending) -> Pending:
    """The copies under way at the head of iteration k."""
    if not entry.copies and not end.copies:
        return Pending()
    before = end.mapped(_shifted(terms, k, end.terms(), _previous(terms, k)), terms)
    return async_copies.merge(terms, terms.binary("==", k, terms.const(0, I64)), entry, before)


def _checks_first(loop: ir.Loop) -> bool:
    """Whether the loop's first statement alone decides whether it goes on (`while`, `for`)."""
    match loop.body[:1]:
        case (ir.If(then=(ir.Break(label=label),), orelse=()),) if label == loop.label:
            rest = walk(loop.body[1:])
            return not _leaves_otherwise(loop) and not any(isinstance(s, ir.Break) and s.label == label for s in rest)
    return False


def _placeholder(terms: Terms, name: str) -> Phases:
    head = ((terms.true, PhasePoint(f"head:{name}")),)
    return Phases(head, head, head)


def _once(ex: Executor, loop: ir.Loop, entry: State) -> State | None:
    """A loop whose body never gets to its end is a block."""
    _, left = _iterate(ex, loop, entry)
    return merge(ex.terms, left)


def _unknowns(
    ex: Executor, name: str, loops: tuple[Term, ...], heads: dict[str, Term], entry: State, end: State
) -> dict[str, Term]:
    """Stand-ins for variables without a closed form; those share one who share all that it is computed from.

    They stand for the values from the second iteration on; in the first one the variables are as before the loop.
    """
    before = uniformity(ex)
    first = {v: before.level(entry.env[v]) for v in heads}
    level = dict.fromkeys(heads, BLOCK)
    changed = True
    while changed:
        changed = False
        levels = uniformity(ex, {head: max(level[v], first[v]) for v, head in heads.items()})
        for v, head in heads.items():
            found = levels.level(end.env.get(v, head))
            if found > level[v]:
                level[v] = found
                changed = True
    return {
        v: ex.terms.make("fresh", h.type, loops, (f"{v}@{name}", NAMES[level[v]], f"is the value of `{v}` in a loop"))
        for v, h in heads.items()
    }


def _previous(terms: Terms, k: Term) -> Term:
    return terms.binary("+", k, terms.const(-1, I64), True)


def _from_second(terms: Terms, k: Term, cond: Term) -> Term:
    """In every iteration but the first, ``cond`` held one iteration ago."""
    before = _shifted(terms, k, [cond], _previous(terms, k))[cond]
    return terms.binary("||", terms.binary("==", k, terms.const(0, I64)), before)


def _shifted(terms: Terms, k: Term, roots: list[Term], to: Term) -> dict[Term, Term]:
    return terms.substitute(roots, lambda t: to if t is k else None)


def _head_phases(terms: Terms, name: str, k: Term, entry: Phases, end: Phases) -> Phases:
    """The phases at the head of iteration k: those before the loop, or those at the end of the iteration before."""
    moved = ph.mapped(end, _shifted(terms, k, ph.terms_of(end), _previous(terms, k)), terms)
    first = terms.binary("==", k, terms.const(0, I64))
    placeholder = f"head:{name}"
    last = terms.make("iter", I64, (*k.args, k), f"{name}~last")
    earlier = _shifted(terms, k, ph.terms_of(end), last)

    def one(before: ph.Phase, after: ph.Phase, raw: ph.Phase) -> ph.Phase:
        if all(p.barrier == placeholder for _, p in after):
            return before
        if all(p.barrier != placeholder for _, p in after):
            return ph.guarded(terms, first, before) + ph.guarded(terms, terms.neg(first), after)
        some = terms.binary("<", last, k)  # the last iteration that passed a barrier, if any did
        passed = tuple((g, p) for g, p in raw if p.barrier != placeholder)
        at_last = tuple(
            (earlier.get(g, g), PhasePoint(p.barrier, tuple(earlier.get(t, t) for t in p.at))) for g, p in passed
        )
        return before + ph.guarded(terms, some, at_last)

    return Phases(
        one(entry.block, moved.block, end.block),
        one(entry.warp, moved.warp, end.warp),
        one(entry.grid, moved.grid, end.grid),
    )


def _side_conditions(ex: Executor, name: str, closed: dict[str, Closed], k: Term, final: State | None) -> None:
    if final is None:
        return
    context = replace(ex.context(final), loops=(*ex.loops, k))
    following = ex.terms.binary("+", k, ex.terms.const(1, I64), True)
    for var, c in closed.items():
        if c.kind == "additive" and c.value.op == "ind":
            init, step, _ = c.value.args
            value = ex.terms.make("ind", c.value.type, (init, step, following), c.sign)
            ex.trace.sides.append(SideCondition(value, context, name, var, c.signed))


def _after(
    ex: Executor, loop: ir.Loop, entry: State, summary: tuple[Term, str, Term], left: list[State]
) -> State | None:
    """The state after the loop, told of the number of the iteration that leaves it.

    That a thread which enters the loop also leaves it is taken for granted (termination is not proved), so the
    conditions of leaving are facts about that number, not conditions of getting here.
    """
    terms = ex.terms
    k, name, goes_on = summary
    out = merge(terms, left)
    if out is None:
        return None
    trip = _from_second(terms, k, goes_on)
    own = terms.conj(out.guard[len(entry.guard) :])
    shared = uniformity(ex)
    who = max(shared.level(goes_on), shared.level(own))  # who leaves in the same iteration and in the same way
    last = terms.make("iter", I64, k.args, marked(f"{name}~exit", who))
    roots = [*out.env.values(), trip, own, *ph.terms_of(out.phases), *out.pending.terms()]
    moved = _shifted(terms, k, roots, last)
    guard = entry.guard
    if _leaves_otherwise(loop):
        guard = (*guard, terms.make("fresh", BOOL, ex.loops, (f"{name}~end", NAMES[who], "depends on how a loop ends")))
    env = {v: moved[t] for v, t in out.env.items()}
    after = State(env, guard, ph.mapped(out.phases, moved, terms), out.pending.mapped(moved, terms))
    ex.fact(after, terms.binary("&&", moved[own], moved[trip]))
    return after


def _leaves_otherwise(loop: ir.Loop) -> bool:
    """Whether the loop may end other than by its own break: a return, or a jump to a label around it."""
    inside = {loop.label}
    jumps: set[str] = set()
    for stmt in walk(loop.body):
        match stmt:
            case ir.Return():
                return True
            case ir.Break(label=label) | ir.Continue(label=label):
                jumps.add(label)
            case ir.Block(label=label) | ir.Loop(label=label):
                inside.add(label)
    return bool(jumps - inside)
