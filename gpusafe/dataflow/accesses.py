"""What one generic thread of a kernel does to memory: accesses, barriers, and what was not modelled."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from gpusafe.dataflow.async_copies import Copy
from gpusafe.dataflow.phases import Phases
from gpusafe.dataflow.terms import Term, Terms, postorder
from gpusafe.ir.expr import Type
from gpusafe.ir.kernel import Order, Scope
from gpusafe.span import Span


@dataclass(frozen=True, slots=True)
class Context:
    """Under which conditions a thread gets to a place.

    ``guard``: branch conditions, all true. ``facts``: how many of the trace's facts come before it in program order.
    ``phases``: the barriers passed last. ``loops``: the iteration numbers of the enclosing loops, outermost first.
    """

    guard: tuple[Term, ...]
    facts: int
    phases: Phases
    loops: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Access:
    """One access of a thread: ``size`` bytes at byte ``offset`` of ``region``.

    ``mode`` is ``read``, ``write``, ``atomic`` or ``borrow`` (an exclusive borrow). ``op`` is the atomic operation;
    atomics that only load have mode ``atomic`` and ``writes`` False. ``own``: the access of a thread-private cell that
    waits for completion (asynchronous copies set ``pending``). ``seq`` numbers the accesses in program order.
    """

    region: str
    offset: Term
    size: int
    mode: str
    context: Context
    span: Span
    seq: int
    writes: bool
    volatile: bool = False
    op: str | None = None
    order: Order = Order.WEAK
    scope: Scope | None = None
    pending: bool = False


@dataclass(frozen=True, slots=True)
class BarrierPoint:
    """One execution barrier: reached under ``context`` (whose phases are those before it)."""

    name: str
    scope: Scope
    context: Context
    span: Span
    mask: Term | None = None


@dataclass(frozen=True, slots=True)
class FencePoint:
    """One memory fence, in program order with the accesses by ``seq``."""

    order: Order
    scope: Scope
    context: Context
    seq: int


@dataclass(frozen=True, slots=True)
class SideCondition:
    """Where an induction variable is stepped: ``init + k * step`` must still fit ``type``.

    ``signed``: by an addition of signed numbers.
    """

    value: Term
    context: Context
    loop: str
    var: str
    signed: bool = False


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that is not modelled."""

    reason: str
    span: Span
    accesses: bool = True
    syncs: bool = True


@dataclass(frozen=True, slots=True)
class Fact:
    """Threads that came under ``guard`` go on only if ``cond`` holds (checks that trap, what ends a loop)."""

    guard: tuple[Term, ...]
    cond: Term
    number: int = 0


@dataclass(frozen=True, slots=True)
class AtomicResult:
    """How an atomic's old value comes about: the term that stands for it, the access, and what was added."""

    term: Term
    access: Access
    operands: tuple[Term, ...]
    type: Type


@dataclass(frozen=True, slots=True)
class OwnUse:
    """A thread's own access while its asynchronous copy to the same region may still be under way."""

    access: Access
    copy: Copy


@dataclass(slots=True)
class Trace:
    """All that one thread may do, in program order."""

    terms: Terms
    accesses: list[Access] = field(default_factory=list)
    barriers: list[BarrierPoint] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    sides: list[SideCondition] = field(default_factory=list)
    granted: list[str] = field(default_factory=list)  # what the language promises and nothing here proves, in words
    gaps: list[Gap] = field(default_factory=list)
    atomics: list[AtomicResult] = field(default_factory=list)
    fences: list[FencePoint] = field(default_factory=list)
    own_uses: list[OwnUse] = field(default_factory=list)
    private: list[Access] = field(default_factory=list)  # of the thread's own arrays, where the index is computed
    ballots: dict[Term, Term] = field(default_factory=dict)  # votes of whole warps, and what was voted on
    shuffles: dict[Term, tuple[Term, Term]] = field(default_factory=dict)  # results: the value handed out, its lane
    stored: dict[int, Term] = field(default_factory=dict)  # what stores write, by their number, where it is certain
    unknowns: dict[Term, frozenset[Term]] = field(default_factory=dict)


UNKNOWNS = frozenset({"iter", "fresh", "load", "atomic", "shuffle"})


def unknowns(root: Term, memo: dict[Term, frozenset[Term]]) -> frozenset[Term]:
    """The values of a thread that are not functions of its index: iteration numbers, loaded and unknown values."""
    for term in postorder([root]):
        if term not in memo:
            below = frozenset().union(*(memo[a] for a in term.args)) if term.args else frozenset()
            memo[term] = below | {term} if term.op in UNKNOWNS else below
    return memo[root]


def conditions(trace: Trace, context: Context, about: Iterable[Term] = (), all_facts: bool = False) -> list[Term]:
    """What holds of a thread at a place: its branch conditions, and the facts that were settled before.

    Of the facts only those are given that bear on the conditions and on the terms in ``about``.
    """
    terms, memo = trace.terms, trace.unknowns
    guard = set(context.guard)
    relevant: set[Term] = set()
    for term in (*context.guard, *about, *context.loops):
        relevant |= unknowns(term, memo)
    waiting = list(trace.facts if all_facts else trace.facts[: context.facts])
    chosen: list[tuple[int, Term]] = []
    again = True
    while again:
        again = False
        kept = []
        for fact in waiting:
            own = unknowns(fact.cond, memo)
            certain = all(g in guard for g in fact.guard)
            signalled = any(u.op == "atomic" for u in own)  # a wait for a flag
            if (own & relevant) or (certain and not own) or signalled:
                open_ = [g for g in fact.guard if g not in guard]
                whole = terms.binary("||", terms.neg(terms.conj(open_)), fact.cond) if open_ else fact.cond
                chosen.append((fact.number, whole))
                new = own.union(*(unknowns(g, memo) for g in open_)) - relevant if open_ else own - relevant
                relevant |= new
                again = again or bool(new)
            else:
                kept.append(fact)
        waiting = kept
    ordered = [c for _, c in sorted(chosen, key=lambda pair: pair[0])]
    return [c for c in dict.fromkeys((*context.guard, *ordered)) if c is not terms.true]
