"""From failed queries to replayed counterexamples, or to the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from gpusafe.dataflow.accesses import Access
from gpusafe.dataflow.concrete import Meeting
from gpusafe.dataflow.terms import Term, postorder
from gpusafe.ir.kernel import Scope
from gpusafe.prove.counterexample import of_divergence, of_meeting, rule_of
from gpusafe.prove.pairs import Model
from gpusafe.prove.pairs_of_kernel import Analysis, Failure, Question
from gpusafe.prove.replay import SCALARS, Replayer, launches, outcomes
from gpusafe.prove.replay_crowding import covers, crowded, crowded_in_runs, memory_decides
from gpusafe.span import Span
from gpusafe.verdict import Counterexample

SMALLER = (37, 100, 5)
Pair = frozenset[Span]  # the places of two accesses, or the one place of both


@dataclass(frozen=True, slots=True)
class Refuted:
    """A replayed counterexample and the rule it breaks."""

    rule: str
    example: Counterexample


def refute_barrier(replayer: Replayer, analysis: Analysis, scope: Scope, model: Model | None) -> Counterexample | None:
    """A run in which a thread waits at a barrier of this kind (of a warp, or wider) that another does not reach."""
    if any(g.syncs for g in analysis.trace.gaps):
        return None
    simple = _simple(replayer, [b.span for b in analysis.barriers])
    for launch, outcome in outcomes(replayer, analysis.context, model, data=False, simple=simple):
        for seen in outcome.divergences:
            taint = replayer.taints.control.get(seen.span, frozenset())
            if (seen.scope is Scope.WARP) == (scope is Scope.WARP) and not taint & {"sync", "opaque", "data"}:
                return of_divergence(replayer.kernel, launch, seen)
    return None


def refute(replayer: Replayer, analysis: Analysis, question: Question) -> Refuted | None:
    """Replays what the failed pairs of a question suggest until the interpreter sees two accesses meet.

    Where the address depends on a scalar that no launch fixes, that must be the only such scalar, and the accesses
    must meet for each of several values of it.
    """
    if any(g.syncs for g in analysis.trace.gaps):
        return None
    for failure in question.failures:
        free = _free_symbols([failure.first.offset, failure.second.offset])
        if not free:
            models = [failure.answer.model] if failure.answer.model is not None else [None]
            found = _replayed(replayer, analysis, question, models[0])
            if found is not None:
                return found
        elif len(_all_symbols(failure, analysis)) == 1:
            allowed = _allowed(replayer, analysis)
            every = [_replayed(replayer, analysis, question, None, (value,)) for value in allowed]
            if every and all(every):
                return every[0]
    return None


def _allowed(replayer: Replayer, analysis: Analysis) -> list[int]:
    """Two values of a scalar that keep to what the user requires of launches; none where fewer are found."""
    meets = (
        v for v in (*SCALARS, *SMALLER) if any(True for _ in launches(analysis.context, replayer.kernel, None, (v,)))
    )
    found = list(islice(meets, 2))
    return found if len(found) == 2 else []


def _replayed(
    replayer: Replayer, analysis: Analysis, question: Question, model: Model | None, values: tuple[int, ...] = SCALARS
) -> Refuted | None:
    spans = {_pair(f) for f in question.failures}
    collides = _collides(replayer, analysis, question)
    if all(_never_certain(replayer, pair in collides, pair) for pair in spans):
        return None

    def wanted(meeting: Meeting) -> bool:
        a, b = meeting.first, meeting.second
        pair = frozenset((a.span, b.span))
        return a.region == question.region and pair in spans and certain(meeting) is not None

    def certain(meeting: Meeting) -> bool | None:
        return _certain(replayer, frozenset((meeting.first.span, meeting.second.span)) in collides, meeting)

    data = _data(replayer, question)
    simple = _simple(replayer, [s for pair in spans for s in pair])
    waits = any("sync" in replayer.taints.control.get(s, frozenset()) for pair in spans for s in pair)
    found = outcomes(
        replayer, analysis.context, model, data=data, values=values, wanted=wanted, simple=simple, waits=waits
    )
    for launch, outcome in found:
        for meeting in filter(wanted, outcome.meetings):
            depends = certain(meeting)
            example = of_meeting(replayer.kernel, launch, meeting, bool(depends))
            return Refuted(rule_of(replayer.kernel, meeting), example)
    return None


def _all_symbols(failure: Failure, analysis: Analysis) -> tuple[str, ...]:
    """All scalars that no launch fixes and that decide whether the two accesses happen, and where."""
    sides = (failure.first, failure.second)
    roots = [t for x in sides for t in (x.offset, *x.context.guard)]
    return _free_symbols([*roots, *analysis.context.specials.values(), *analysis.context.premises])


def _data(replayer: Replayer, question: Question) -> bool:
    spans = [s for f in question.failures for s in (f.first.span, f.second.span)]
    tables = (replayer.taints.control, replayer.taints.address)
    return any({"data", "votes"} & table.get(s, frozenset()) for s in spans for table in tables)


def _simple(replayer: Replayer, spans: list[Span]) -> bool:
    """Whether getting to these places, and the addresses there, depends on nothing that is in memory."""
    tables = (replayer.taints.address, replayer.taints.control)
    return not any(table.get(span, frozenset()) for span in spans for table in tables)


def _collides(replayer: Replayer, analysis: Analysis, question: Question) -> frozenset[Pair]:
    """The pairs of places whose addresses may depend on contents of memory and count all the same.

    All do where there are more threads than elements, and for two atomics at one place that memory alone decides:
    they are atomic because addresses coincide. So do an access that memory alone places and one that goes over all
    places: only contents that lead each thread to its own place keep the two apart.
    """
    every = frozenset(_pair(f) for f in question.failures)
    if question.kind == "scope" and all(
        memory_decides(f.first) and memory_decides(f.second) for f in question.failures
    ):
        return every
    if replayer.kernel.injective:
        return frozenset()
    placed = any("data" in replayer.taints.address.get(f.second.span, frozenset()) for f in question.failures)
    for failure in question.failures if placed else ():
        if crowded(replayer.kernel, analysis.context, analysis.trace, failure.second):
            return every
        if crowded_in_runs(replayer, analysis.context, failure.second):
            return every
    if question.kind not in ("mixed", "race"):
        return frozenset()
    return frozenset(_pair(f) for f in question.failures if _over_all(replayer, analysis, f))


def _pair(failure: Failure) -> Pair:
    return frozenset((failure.first.span, failure.second.span))


def _over_all(replayer: Replayer, analysis: Analysis, failure: Failure) -> bool:
    """Whether memory alone decides where one access of a pair is, and the other one goes over all places."""

    def placed(access: Access) -> bool:
        return "data" in replayer.taints.address.get(access.span, frozenset())

    pair = (failure.first, failure.second)
    return any(
        memory_decides(scattered)
        and placed(scattered)
        and not placed(other)
        and covers(replayer, analysis.context, other)
        for scattered, other in (pair, pair[::-1])
    )


def _never_certain(replayer: Replayer, collides: bool, pair: frozenset[Span]) -> bool:
    """Whether no run can show a pair, because a place or a branch depends on what a run may not choose."""
    for span in pair:
        address = replayer.taints.address.get(span, frozenset())
        control = replayer.taints.control.get(span, frozenset())
        if "opaque" in address | control or ("data" in address and not collides):
            return True
    return False


def _certain(replayer: Replayer, collides: bool, meeting: Meeting) -> bool | None:
    """None when a meeting may not happen after all; True when it depends on contents of memory, else False."""
    data = False
    same_block = meeting.first.block == meeting.second.block
    ordering = replayer.orders_block if same_block else replayer.orders_grid
    for span in (meeting.first.span, meeting.second.span):
        address = replayer.taints.address.get(span, frozenset())
        control = replayer.taints.control.get(span, frozenset())
        if "opaque" in address | control or ("data" in address and not collides):
            return None
        if ordering and "sync" in address | control:
            return None
        data = data or bool({"data", "votes"} & (address | control))
    return data


def _free_symbols(roots: list[Term]) -> tuple[str, ...]:
    """The scalars in terms that no launch fixes."""
    names = []
    for t in postorder(roots):
        if t.op == "param":
            names.append(str(t.data))
        elif t.op == "sym":
            assert isinstance(t.data, tuple)
            names.append(str(t.data[0]))
    return tuple(dict.fromkeys(names))


def reason_of(replayer: Replayer, analysis: Analysis, failure: Failure) -> str:
    """Why a pair is neither proved apart nor shown to meet, for the user."""
    lines = sorted({failure.first.span.line, failure.second.span.line})
    where = " and ".join(f"line {n}" for n in lines)
    gap = next((g for g in analysis.trace.gaps if g.syncs), None)
    if gap is not None:
        return f"the accesses in {where} may meet unless {gap.reason}, which is not modelled, orders them"
    free = _free_symbols([failure.first.offset, failure.second.offset])
    if free:
        return (
            f"the accesses in {where} are apart or not depending on the value of `{free[0]}`, which no launch in sight "
            "fixes; state a condition with `// gpusafe: requires(...)`"
        )
    for span in (failure.first.span, failure.second.span):
        if "data" in replayer.taints.address.get(span, frozenset()):
            return (
                f"the address of the access in line {span.line} depends on values read from memory, and nothing here "
                "says that they differ"
            )
        if "sync" in replayer.taints.control.get(span, frozenset()) | replayer.taints.address.get(span, frozenset()):
            return (
                f"the access in line {span.line} depends on a flag, lock or counter, whose ordering is not modelled yet"
            )
    if failure.answer.status == "unknown":
        return f"whether the accesses in {where} are apart was not settled within the solver's limit"
    return f"the accesses in {where} may meet, but no run of the interpreter showed it"
