"""The state of a thread between two statements of a symbolic execution, and how two states meet."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpusafe.dataflow import async_copies
from gpusafe.dataflow import phases as ph
from gpusafe.dataflow.async_copies import NOTHING, Pending
from gpusafe.dataflow.phases import Phases
from gpusafe.dataflow.terms import Term, Terms


@dataclass(slots=True)
class State:
    """Variables, branch conditions (all true), phases and pending copies of a thread at one place."""

    env: dict[str, Term]
    guard: tuple[Term, ...]
    phases: Phases
    pending: Pending = NOTHING

    def under(self, cond: Term) -> State:
        """A copy where ``cond`` holds too."""
        guard = self.guard if cond.op == "const" and cond.data else (*self.guard, cond)
        return State(dict(self.env), guard, self.phases, self.pending)


@dataclass(slots=True)
class Exits:
    """The states that leave a labelled block or loop, or start its next iteration."""

    leave: list[State] = field(default_factory=list)
    again: list[State] = field(default_factory=list)


def merge(terms: Terms, states: list[State]) -> State | None:
    """The state where several ways meet; the ways exclude each other."""
    if not states:
        return None
    out = states[0]
    for other in states[1:]:
        out = _meet(terms, out, other)
    return out


def _meet(terms: Terms, a: State, b: State) -> State:
    common = 0
    while common < min(len(a.guard), len(b.guard)) and a.guard[common] is b.guard[common]:
        common += 1
    only_a, only_b = a.guard[common:], b.guard[common:]
    cond, guard = _conditions(terms, only_a, only_b)
    env: dict[str, Term] = {}
    for var in {**a.env, **b.env}:
        left, right = a.env.get(var), b.env.get(var)
        if left is None or right is None:
            if "@" in var:  # a cell of a local array that one of the ways may have changed
                continue
            kept = left or right
            assert kept is not None
            env[var] = kept
        else:
            env[var] = left if left is right else terms.select(cond, left, right)
    pending = async_copies.merge(terms, cond, a.pending, b.pending)
    return State(env, a.guard[:common] + guard, ph.merge(terms, cond, a.phases, b.phases), pending)


def _conditions(terms: Terms, only_a: tuple[Term, ...], only_b: tuple[Term, ...]) -> tuple[Term, tuple[Term, ...]]:
    """What tells the two ways apart (true on the first), and what holds on both beyond their common conditions."""
    if not only_a or not only_b:
        cond = terms.conj(only_a) if only_a else terms.neg(terms.conj(only_b))
        return cond, ()
    whole_a, whole_b = terms.conj(only_a), terms.conj(only_b)
    either = terms.disj(whole_a, whole_b)
    cond = whole_a
    if terms.neg(only_a[0]) is only_b[0]:
        cond = only_a[0]
        rest_a, rest_b = terms.conj(only_a[1:]), terms.conj(only_b[1:])
        either = terms.select(cond, rest_a, rest_b)
        if rest_a is rest_b:
            either = rest_a
    return cond, () if either is terms.true else (either,)


def assigned(body: tuple[object, ...]) -> frozenset[str]:
    """The variables that statements may assign, however deep inside."""
    from gpusafe.ir import kernel as ir

    out: set[str] = set()
    stack: list[object] = list(body)
    while stack:
        match stack.pop():
            case ir.Assign(var=v) | ir.Havoc(var=v):
                out.add(v)
            case ir.Load(var=v) | ir.WarpOp(var=v) | ir.MBarrier(var=v) | ir.Barrier(var=v):
                if v is not None:
                    out.add(v)
            case ir.Atomic(var=v, success=s):
                out.update(x for x in (v, s) if x is not None)
            case ir.If(then=a, orelse=b):
                stack.extend((*a, *b))
            case ir.Block(body=b) | ir.Loop(body=b):
                stack.extend(b)
    return frozenset(out)
