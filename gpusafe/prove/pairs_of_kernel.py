"""All race and divergence questions of one kernel under one launch context."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import prod

from gpusafe.dataflow.accesses import Access, BarrierPoint, SideCondition, Trace, conditions
from gpusafe.dataflow.cas_loops import folded
from gpusafe.dataflow.execute import Executor
from gpusafe.dataflow.intervals import Intervals
from gpusafe.dataflow.terms import Term
from gpusafe.ir.kernel import Kernel, Scope, Space
from gpusafe.prove.budget import Budget, for_launches
from gpusafe.prove.contents import whole_regions
from gpusafe.prove.divergence import diverges
from gpusafe.prove.launch_context import LaunchContext
from gpusafe.prove.pairs import (
    RLIMIT,
    Answer,
    Setting,
    apart_in_time,
    atomic_to_each_other,
    conflicting,
    meet,
    solve,
    threads,
    uses_own_copy,
)
from gpusafe.prove.pairs_enumerated import apart
from gpusafe.prove.pairs_handed_over import counts, flags, winners
from gpusafe.prove.pairs_locked import locks
from gpusafe.prove.pairs_quick import settled
from gpusafe.prove.tallies import is_total, tallies

FAILURES_KEPT = 6
PAIR_LIMIT = 4000
ADDERS = 1 << 24  # additions to one counter that a launch of unknown size is taken to make at most
SHARED = frozenset({Space.SHARED, Space.DYNAMIC_SHARED})


@dataclass(frozen=True, slots=True)
class Failure:
    """A pair that could not be proved apart."""

    first: Access
    second: Access
    same_block: bool
    answer: Answer


@dataclass(slots=True)
class Question:
    """One obligation: a region and the kind of conflict, with what failed."""

    region: str
    kind: str
    asked: int = 0
    failures: list[Failure] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Stuck:
    """A barrier that could not be proved to be reached by all threads."""

    barrier: BarrierPoint
    answer: Answer


@dataclass(slots=True)
class Analysis:
    """What became of all questions; ``cut`` when not all were asked."""

    context: LaunchContext
    trace: Trace
    setting: Setting
    questions: dict[tuple[str, str], Question] = field(default_factory=dict)
    barriers: dict[BarrierPoint, Answer] = field(default_factory=dict)
    counted: set[str] = field(default_factory=set)
    cut: bool = False

    @property
    def proved(self) -> bool:
        """Whether all questions were asked and all had the answer no."""
        clean = all(not q.failures for q in self.questions.values())
        return clean and not self.cut and all(a.status == "unsat" for a in self.barriers.values())


def kind_of(a: Access, b: Access) -> str:
    """The kind of a conflict: race, mixed (atomic and plain), scope (two atomics), borrow."""
    modes = {a.mode, b.mode}
    if modes == {"atomic"}:
        return "scope"
    if "borrow" in modes:
        return "borrow"
    return "mixed" if "atomic" in modes else "race"


UNDEFINED_OVERFLOW = frozenset({"cuda-c"})
"""Dialects in which a signed addition that overflows is undefined ([expr.pre] of C++)."""
SIGNED = "signed loop counters do not overflow (C++ leaves that undefined)"

STEADY = "no loop counter wraps around (each loop ends before its last step leaves the counter's type)"


def execute(kernel: Kernel, context: LaunchContext, budget: Budget | None = None) -> Trace:
    """Executes a kernel; loop variables whose steps may overflow lose their closed form."""
    banned: frozenset[tuple[str, str]] = frozenset()
    alike = replace(kernel, body=folded(kernel.body))
    for _ in range(4):
        trace = Executor(alike, context.terms, context.bindings, banned).run()
        setting = setting_of(kernel, trace, context, RLIMIT // 2, budget)
        open_ = [s for s in trace.sides if not _fits(setting, s)]
        wraps = [s for s in open_ if kernel.dialect not in UNDEFINED_OVERFLOW or not s.signed]
        bad = set() if context.steady else {(s.loop, s.var) for s in wraps}
        if not bad:
            trace.granted += [STEADY] if wraps else []
            trace.granted += [SIGNED] if len(wraps) < len(open_) else []
            break
        banned |= bad
    return trace


def _fits(setting: Setting, side: SideCondition) -> bool:
    conds = conditions(setting.trace, side.context, (side.value,))
    ranges = Intervals(setting.specials)
    ranges.assume([*setting.premises, *conds])
    if ranges.fits(side.value):
        return True
    enc, one, _ = threads(setting, True, conds, [])
    init, step, k = side.value.args
    low, high = side.value.type.low, side.value.type.high
    encoded = [enc.encode(t, one) for t in (init, step, k)]
    moved = enc.product(k, step, encoded[2], encoded[1], one)
    value = encoded[0] + int(str(side.value.data)) * moved
    goal = [enc.encode(c, one) for c in conds] + [enc.encode(c, enc.shared) for c in setting.premises]
    import z3

    goal.append(z3.Or(value < low, value > high))
    return solve(enc, [*goal, *enc.spread(), *enc.facts], setting.rlimit, setting.budget)[0] == "unsat"


def setting_of(
    kernel: Kernel, trace: Trace, context: LaunchContext, rlimit: int, budget: Budget | None = None
) -> Setting:
    """What the queries about a trace share."""
    written = frozenset(a.region for a in trace.accesses if a.writes)
    per_block = frozenset(r.name for r in kernel.regions if r.space in SHARED)
    known = tallies(trace, per_block, context.specials)
    counters = frozenset(r for r in written if _counts(trace, r, context.specials, known))
    whole = whole_regions(kernel, context)
    base = Setting(
        trace,
        context.specials,
        written,
        context.premises,
        counters,
        frozenset(r for r in whole if r[0] in kernel.injective),
        monotone=frozenset(r for r in whole if r[0] in kernel.monotone),
        per_block=per_block,
        tallies=known,
        rlimit=rlimit,
        budget=budget if budget is not None else for_launches(),
    )
    if not rlimit or not any(a.mode == "atomic" for a in trace.accesses):
        return base
    base = replace(base, winners=winners(trace), locks=locks(trace))
    return replace(base, flags=flags(base), counts=counts(base, context))


def _counts(trace: Trace, region: str, specials: dict[str, Term], totals: dict[str, int]) -> bool:
    """Whether a region is only ever added to, by amounts that are not negative and too small to come round."""
    accesses = [a for a in trace.accesses if a.region == region]
    if any(a.mode != "atomic" or a.op not in ("add", "load") for a in accesses):
        return False
    ranges = Intervals({})
    sizes = [s.const for n, s in specials.items() if n.startswith(("ntid", "nctaid"))]
    threads = prod(n or 1 for n in sizes) if len(sizes) == 6 and None not in sizes else ADDERS
    for result in trace.atomics:
        if result.access.region == region and result.access.op == "add":
            total = is_total(result.operands[0], totals)
            low, high = (0, totals[total]) if total is not None else ranges.of(result.operands[0])
            if low < 0 or high * threads > result.type.high:
                return False
    return True


def analyse(
    kernel: Kernel,
    context: LaunchContext,
    *,
    hasty: bool = False,
    rlimit: int = RLIMIT,
    budget: Budget | None = None,
) -> Analysis:
    """Asks all questions of a kernel; ``hasty`` stops at the first one that is not proved.

    With ``rlimit`` 0 no solver is asked, and what needs one stays unknown.
    """
    budget = budget if budget is not None else for_launches()
    trace = execute(kernel, context, budget)
    setting = setting_of(kernel, trace, context, rlimit, budget)
    out = Analysis(context, trace, setting)
    spaces = {r.name: r.space for r in kernel.regions}
    for barrier in trace.barriers:
        out.barriers[barrier] = answer = (
            diverges(setting, barrier) if rlimit or not barrier.context.guard else Answer("unknown")
        )
        if hasty and answer.status != "unsat":
            out.cut = True
            return out
    for use in trace.own_uses:
        question = out.questions.setdefault((use.copy.region, "unwaited"), Question(use.copy.region, "unwaited"))
        question.asked += 1
        answer = uses_own_copy(setting, use) if rlimit else Answer("unknown")
        if answer.status != "unsat":
            question.failures.append(
                Failure(replace(use.access, span=use.copy.span, offset=use.copy.offset), use.access, True, answer)
            )
            if hasty:
                out.cut = True
                return out
    by_region: dict[str, list[Access]] = {}
    for access in trace.accesses:
        by_region.setdefault(access.region, []).append(access)
    asked = 0
    for region, accesses in by_region.items():
        levels = (True,) if spaces[region] in SHARED else (True, False)
        for a, b, same_block in _pairs(accesses, levels):
            kind = kind_of(a, b)
            question = out.questions.setdefault((region, kind), Question(region, kind))
            question.asked += 1
            if apart_in_time(a, b, same_block):
                continue
            asked += 1
            if asked > PAIR_LIMIT:
                out.cut = True
                return out
            if len(question.failures) >= FAILURES_KEPT:
                continue
            answer = _meet(setting, a, b, same_block)
            if answer.status != "unsat":
                question.failures.append(Failure(a, b, same_block, answer))
                if hasty:
                    out.cut = True
                    return out
    return out


def _pairs(accesses: list[Access], levels: tuple[bool, ...]) -> list[tuple[Access, Access, bool]]:
    out = []
    for same_block in levels:
        for i, a in enumerate(accesses):
            for b in accesses[i:]:
                if conflicting(a, b, same_block):
                    out.append((a, b, same_block))
    return out


def _meet(setting: Setting, a: Access, b: Access, same_block: bool) -> Answer:
    """The answer for a pair that may meet in time; pairs with the same places and conditions are asked once."""
    key = (a.region, same_block, atomic_to_each_other(a, b, same_block), *(_asked(setting, x) for x in (a, b)))
    if key not in setting.memo:
        if settled(setting, a, b, same_block):
            answer = Answer("unsat")
        else:
            torn = atomic_to_each_other(a, b, same_block)
            answer = meet(setting, a, b, same_block, torn=torn) if setting.rlimit else Answer("unknown")
        if setting.rlimit and answer.status != "unsat" and apart(setting, a, b, same_block):
            answer = Answer("unsat")
        setting.memo[key] = answer
    return setting.memo[key]


def _asked(setting: Setting, x: Access) -> tuple[object, ...]:
    """What the answer for a pair depends on, of one side; where signals order accesses, program order counts."""
    at = (x.seq, x.context.loops) if setting.flags or setting.counters or setting.locks else None
    return (x.offset.id, x.size, tuple(g.id for g in x.context.guard), x.context.facts, x.context.phases, at)


def warp_barriers_whole(analysis: Analysis) -> bool:
    """Whether all warp barriers name all lanes."""
    masks = [b.mask for b in analysis.trace.barriers if b.scope is Scope.WARP]
    return all(m is None or m.const in (0xFFFF_FFFF, -1) for m in masks)
