"""The race proof once more, on what a kernel was compiled to: quickly, and without a word on launches not in sight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpusafe.ir.host import LaunchSite
from gpusafe.ir.kernel import Kernel, Scope
from gpusafe.prove.budget import Budget, for_recheck
from gpusafe.prove.contents import possible
from gpusafe.prove.launch_context import LaunchContext, contracts, of_contract, of_site, of_sizes
from gpusafe.prove.one_run import NOT_RUN, needs_run, run_of
from gpusafe.prove.pairs import RLIMIT
from gpusafe.prove.pairs_of_kernel import Analysis, analyse
from gpusafe.prove.replay import Replayer
from gpusafe.prove.replay_pairs import Refuted, refute

_MOST_SITES = 4


@dataclass(frozen=True, slots=True)
class Again:
    """``proved``; else ``reason``, and the replayed race of two writes where there is one.

    A read that races is told as open: compilers may read early what they then do not use.
    """

    proved: bool
    reason: str = ""
    race: Refuted | None = None


def prove_again(kernel: Kernel, sites: Sequence[LaunchSite]) -> Again:
    """Whether the races and barriers of a kernel are proved: for the launches in sight, else under a contract."""
    budget = for_recheck()
    seen = [*(of_site(kernel, s) for s in sites[:_MOST_SITES]), *of_sizes(kernel)]
    for context in seen:
        found = _under(kernel, context, budget, refuting=True)
        if not found.proved:
            return found
    if len(sites) > _MOST_SITES:
        return Again(False, "the kernel is launched in many different ways")
    if seen:
        return Again(True)
    reason = ""
    for contract in contracts(kernel):
        context = of_contract(kernel, contract)
        if possible(kernel, context):
            found = _under(kernel, context, budget)
            if found.proved:
                return found
            reason = reason or found.reason
    return Again(False, reason)


def _under(kernel: Kernel, context: LaunchContext, budget: Budget, *, refuting: bool = False) -> Again:
    analysis = analyse(kernel, context, hasty=True, rlimit=RLIMIT, budget=budget)
    run = run_of(kernel, analysis) if refuting and needs_run(kernel) else NOT_RUN
    if analysis.trace.gaps:
        return Again(False, analysis.trace.gaps[0].reason)
    stuck = any(answer.status != "unsat" and b.scope is Scope.BLOCK for b, answer in analysis.barriers.items())
    if analysis.proved or (run.proved and not run.refuted and not stuck):
        return Again(True)
    failure = next((q.failures[0] for q in analysis.questions.values() if q.failures), None)
    if refuting and failure is not None and failure.answer.status == "sat" and failure.first.writes:
        question = next(q for q in analysis.questions.values() if q.failures)
        race = refute(Replayer.of(kernel), analysis, question) if failure.second.writes else None
        if race is not None:
            return Again(False, race.example.message, race)
    return Again(False, _why(analysis))


def _why(analysis: Analysis) -> str:
    for question in analysis.questions.values():
        if question.failures:
            a, b = question.failures[0].first, question.failures[0].second
            return f"the accesses of `{question.region}` in lines {a.span.line} and {b.span.line} may meet"
    stuck = next((b for b, answer in analysis.barriers.items() if answer.status != "unsat"), None)
    if stuck is not None:
        return f"threads may differ in reaching the barrier in line {stuck.span.line}"
    return "it has too many pairs of accesses"
