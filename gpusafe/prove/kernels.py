"""The verdict of a kernel: under a contract where one suffices, else for the launches in sight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gpusafe.dataflow.contracts import Effect, KernelSummary
from gpusafe.dataflow.terms import Term, postorder
from gpusafe.ir.expr import Const
from gpusafe.ir.host import LaunchSite
from gpusafe.ir.kernel import Kernel, Scope, Space
from gpusafe.ir.words import say
from gpusafe.prove import launch_together, protocols
from gpusafe.prove.bounds import fixed_regions
from gpusafe.prove.budget import for_launches, for_search
from gpusafe.prove.contents import possible
from gpusafe.prove.launch_context import (
    Contract,
    LaunchContext,
    contracts,
    holds,
    modest,
    of_contract,
    of_site,
    of_sizes,
    single_thread,
)
from gpusafe.prove.one_run import needs_run, run_of
from gpusafe.prove.pairs import RLIMIT
from gpusafe.prove.pairs_of_kernel import UNDEFINED_OVERFLOW, Analysis, Question, analyse, execute, setting_of
from gpusafe.prove.replay import Replayer
from gpusafe.prove.replay_pairs import Refuted, reason_of, refute, refute_barrier
from gpusafe.prove.uninitialized import blank_reads
from gpusafe.verdict import Obligation, Verdict

HASTY_RLIMIT = RLIMIT // 2
SITES_LIMIT = 64
BLANK = frozenset({Space.SHARED, Space.DYNAMIC_SHARED})
KINDS = {
    "race": "no two threads race on `{}`",
    "mixed": "no atomic and plain accesses of `{}` meet",
    "scope": "the atomics on `{}` include each other's threads",
    "unwaited": "no asynchronous copy into `{}` is used before its wait",
    "borrow": "no two exclusive borrows of one element of `{}` live at once",
}


@dataclass(frozen=True, slots=True)
class KernelResult:
    """The outcome for one kernel: its obligations, what it promises to launches, and under which assumptions."""

    kernel: Kernel
    obligations: tuple[Obligation, ...]
    summary: KernelSummary
    assumptions: tuple[str, ...] = ()


def check_kernel(kernel: Kernel, sites: Sequence[LaunchSite] = ()) -> KernelResult:
    """Proves a kernel free of races and divergence, or shows where it is not.

    ``sites`` are the launches of this kernel in sight; they decide where no contract does.
    """
    result = _checked(kernel, sites)
    if not kernel.unheld:
        return result
    return replace(result, obligations=tuple(_within_unheld(kernel, o) for o in result.obligations))


def _within_unheld(kernel: Kernel, found: Obligation) -> Obligation:
    """A counterexample counts for nothing where the source states conditions that it may break."""
    if found.verdict is not Verdict.REFUTED:
        return found
    reason = f"a counterexample may be one that the source excludes: `{kernel.unheld[0]}` is not modelled"
    return Obligation(found.rule, found.question, Verdict.UNKNOWN, found.span, reason)


def _checked(kernel: Kernel, sites: Sequence[LaunchSite]) -> KernelResult:
    in_sight = bool(sites or kernel.launched)
    under = _under_contract(kernel)
    if under is None and not in_sight:
        under = _under_contract(kernel, of_modest=True)
    if under is not None and not (in_sight and needs_run(kernel)):
        contract, analysis = under
        words = (*contract.in_words, *_apart(kernel), *_inside(kernel, analysis, sites), *_signals(analysis))
        found = _proved(kernel, analysis, words) + _bounds_at(kernel, sites)
        if not in_sight:
            found += blank_reads(kernel, analysis, Replayer.of(kernel))
        found += launch_together.in_file(kernel, analysis.trace)
        return _result(kernel, analysis, _unique(found), contract, words)
    contexts = _distinct([*(of_site(kernel, s) for s in sites), *of_sizes(kernel)])
    if kernel.assumes and not all(possible(kernel, c) for c in contexts):
        return _unassumed(kernel, sites)
    if not contexts:
        return _without_launch(kernel)
    budget = for_launches()
    analyses = [analyse(kernel, c, budget=budget) for c in contexts[:SITES_LIMIT]]
    words = (_for_launches(len(contexts)), *_apart(kernel))
    words = (*words, *dict.fromkeys(w for a in analyses for w in _signals(a)))
    worst = _obligations(kernel, analyses, words)
    for analysis in analyses[1:]:
        analyses[0].setting.relied.update(analysis.setting.relied)
    words = tuple(dict.fromkeys((*words, *_signals(analyses[0]))))
    worst += launch_together.in_file(kernel, analyses[0].trace)
    if len(contexts) > SITES_LIMIT:
        reason = f"the kernel is launched in {len(contexts)} different ways, of which gpusafe looked at {SITES_LIMIT}"
        worst.append(Obligation("GS901", "all launches are looked at", Verdict.UNKNOWN, kernel.span, reason))
    return _result(kernel, analyses[0], worst, None, words)


def _unassumed(kernel: Kernel, sites: Sequence[LaunchSite]) -> KernelResult:
    """A kernel of which a launch in sight contradicts what the user assumes: the assumption counts for nothing."""
    result = check_kernel(replace(kernel, assumes=()), sites)
    reason = f"a launch in sight contradicts what is assumed of `{kernel.name}`"
    question = f"the launches agree with what is assumed of `{kernel.name}`"
    open_ = Obligation("GS901", question, Verdict.UNKNOWN, kernel.span, reason)
    return replace(result, kernel=kernel, obligations=(*result.obligations, open_))


def _signals(analysis: Analysis) -> list[str]:
    """What the order by flags and counters takes for granted, and what the language promises."""
    zero = [f"`{name}` is zero when the kernel starts" for name in sorted(analysis.setting.relied)]
    return [*zero, *analysis.trace.granted]


def _fixed(kernel: Kernel, analysis: Analysis) -> list[str]:
    """The arrays of fixed length that a kernel uses."""
    used = {a.region for a in (*analysis.trace.accesses, *analysis.trace.private)}
    return [r.name for r in kernel.regions if r.name in used and r.param is None and isinstance(r.length, Const)]


def _inside(kernel: Kernel, analysis: Analysis, sites: Sequence[LaunchSite]) -> tuple[str, ...]:
    """What is left to the launches that are not in sight."""
    names = _fixed(kernel, analysis) if not sites else []
    return (f"accesses of {', '.join(f'`{n}`' for n in names)} stay inside",) if names else ()


def _bounds_at(kernel: Kernel, sites: Sequence[LaunchSite]) -> list[Obligation]:
    """Whether the launches in sight keep the kernel inside its arrays of fixed length."""
    if not any(r.param is None and (isinstance(r.length, Const) or r.space in BLANK) for r in kernel.regions):
        return []
    replayer = Replayer.of(kernel)
    out: list[Obligation] = []
    for context in _distinct([of_site(kernel, s) for s in sites])[:SITES_LIMIT]:
        trace = execute(kernel, context)
        analysis = Analysis(context, trace, setting_of(kernel, trace, context, HASTY_RLIMIT))
        out += fixed_regions(kernel, analysis, replayer, ())
        out += blank_reads(kernel, analysis, replayer)
    return out


def _for_launches(count: int) -> str:
    return "for the launch in sight" if count == 1 else f"for the {count} different launches in sight"


def _under_contract(kernel: Kernel, of_modest: bool = False) -> tuple[Contract, Analysis] | None:
    seen: set[object] = set()
    budget = for_search()
    tries = [modest(kernel, c) for c in contracts(kernel)] if of_modest else contracts(kernel)
    for contract in tries:
        if contract is None or contract.requires in seen:
            continue
        seen.add(contract.requires)
        rlimit = HASTY_RLIMIT if contract.in_words else 0
        context = of_contract(kernel, contract)
        if not possible(kernel, context):
            continue
        analysis = analyse(kernel, context, hasty=True, rlimit=rlimit, budget=budget)
        if analysis.proved:
            return contract, analysis
    return None


def _distinct(contexts: list[LaunchContext]) -> list[LaunchContext]:
    """Launches that differ in what the kernel sees."""
    out: dict[str, LaunchContext] = {}
    for context in contexts:
        b = context.bindings
        tables = (b.specials, b.params, b.lengths, {k: v[1] for k, v in b.same_memory.items()})
        key = repr([sorted((k, fingerprint(v)) for k, v in t.items()) for t in tables])
        key += repr([fingerprint(p) for p in context.premises])
        out.setdefault(key, context)
    return list(out.values())


def fingerprint(term: Term) -> str:
    """A text that tells terms of different tables apart."""
    done: dict[Term, str] = {}
    for t in postorder([term]):
        done[t] = f"{t.op}:{t.type.kind}{t.type.bits}:{t.data}({','.join(done[a] for a in t.args)})"
    return done[term]


def _apart(kernel: Kernel) -> tuple[str, ...]:
    """What each launch must meet: the user's own conditions (GS113), and that pointers do not overlap (GS105)."""
    stated = (
        *(f"`{say(c)}`" for c in kernel.requires),
        *(f"`{name}` holds no value twice" for name in kernel.injective),
        *(f"the values of `{name}` never fall" for name in kernel.monotone),
        *(f"`{say(c)}`, as assumed" for c in kernel.assumes),
        *kernel.granted,
        *((launch_together.IN_WORDS,) if launch_together.waits_for_grid(kernel) else ()),
    )
    names = [p.region for p in kernel.params if p.region is not None]
    if len(names) < 2:
        return stated
    return (
        *stated,
        f"{', '.join(f'`{n}`' for n in names[:-1])} and `{names[-1]}` do not overlap",
    )


# -- obligations


def _proved(kernel: Kernel, analysis: Analysis, words: tuple[str, ...]) -> list[Obligation]:
    out = [*_gaps(kernel, analysis)]
    for question in analysis.questions.values():
        out.append(_obligation(kernel, question, Verdict.PROVED, words))
    for barrier in analysis.barriers:
        rule = "GS204" if barrier.scope is Scope.WARP else "GS203"
        out.append(
            Obligation(
                rule,
                _barrier_question(barrier.scope, barrier.span.line),
                Verdict.PROVED,
                barrier.span,
                assumptions=words,
            )
        )
    return _unique(out)


def _barrier_question(scope: Scope, line: int) -> str:
    what = {Scope.WARP: "warp", Scope.BLOCK: "block", Scope.CLUSTER: "cluster"}.get(scope, "grid")
    return f"all threads of a {what} reach the barrier in line {line}"


def _unique(obligations: list[Obligation]) -> list[Obligation]:
    """One obligation for each question: the worst verdict."""
    rank = {Verdict.REFUTED: 0, Verdict.UNKNOWN: 1, Verdict.PROVED: 2}
    best: dict[tuple[str, str], Obligation] = {}
    for o in obligations:
        key = (o.rule if o.verdict is not Verdict.REFUTED else "", o.question)
        key = ("", o.question)
        if key not in best or rank[o.verdict] < rank[best[key].verdict]:
            best[key] = o
    return list(best.values())


def _rule(kernel: Kernel, question: Question) -> str:
    space = next(r.space for r in kernel.regions if r.name == question.region)
    race = "GS202" if space in (Space.SHARED, Space.DYNAMIC_SHARED) else "GS201"
    return {"race": race, "mixed": "GS206", "scope": "GS301", "borrow": "GS208", "unwaited": "GS305"}[question.kind]


def _obligation(
    kernel: Kernel,
    question: Question,
    verdict: Verdict,
    words: tuple[str, ...] = (),
    reason: str | None = None,
    refuted: Refuted | None = None,
) -> Obligation:
    region = next(r for r in kernel.regions if r.name == question.region)
    span = refuted.example.primary.span if refuted is not None else region.span
    if verdict is Verdict.UNKNOWN and question.failures:
        span = question.failures[0].second.span
    return Obligation(
        refuted.rule if refuted is not None else _rule(kernel, question),
        KINDS[question.kind].format(question.region),
        verdict,
        span,
        reason,
        words if verdict is Verdict.PROVED else (),
        refuted.example if refuted is not None else None,
    )


def _gaps(kernel: Kernel, analysis: Analysis) -> list[Obligation]:
    """What is not modelled makes the kernel unknown."""
    out = []
    for gap in analysis.trace.gaps:
        whole = ": " in gap.reason or gap.reason.endswith("not modelled")
        reason = gap.reason if whole else f"{gap.reason} is not modelled"
        out.append(Obligation("GS901", "all of the kernel is modelled", Verdict.UNKNOWN, gap.span, reason))
    if kernel.generic:
        reason = "the kernel is generic and no instance of it is in sight"
        out.append(Obligation("GS901", "the kernel has concrete types", Verdict.UNKNOWN, kernel.span, reason))
    return out


def _obligations(kernel: Kernel, analyses: list[Analysis], words: tuple[str, ...]) -> list[Obligation]:
    out: list[Obligation] = []
    replayer = Replayer.of(kernel)
    for analysis in analyses:
        run = run_of(kernel, analysis)
        out += [*run.refuted, *_gaps(kernel, analysis)]
        out += [o for o in _of_barriers(kernel, analysis, replayer, words) if not run.settles(o)]
        if analysis.context.site is not None:
            out += fixed_regions(kernel, analysis, replayer, words)
            out += blank_reads(kernel, analysis, replayer)
        followed = _followed(kernel, analysis, run.proved)
        for question in analysis.questions.values():
            if not question.failures or run.proved or followed.proved:
                assumed = (*run.assumed, *followed.assumed) if question.failures else ()
                out.append(_obligation(kernel, question, Verdict.PROVED, (*words, *assumed)))
                continue
            refuted = refute(replayer, analysis, question) or _raced(kernel, analysis, question)
            if refuted is not None:
                out.append(_obligation(kernel, question, Verdict.REFUTED, refuted=refuted))
            elif not run.shows(question.failures[0]):
                reason = reason_of(replayer, analysis, question.failures[0])
                out.append(_obligation(kernel, question, Verdict.UNKNOWN, reason=reason))
        if analysis.cut and not run.proved:
            out.append(
                Obligation(
                    "GS904",
                    "all pairs of accesses are settled",
                    Verdict.UNKNOWN,
                    kernel.span,
                    "the kernel has too many pairs of accesses",
                )
            )
    return _without_echo(_unique(out))


def _followed(kernel: Kernel, analysis: Analysis, settled: bool) -> protocols.Settled:
    """What all executions of the launch's threads say where the questions about pairs stay open."""
    open_ = any(q.failures for q in analysis.questions.values())
    if settled or not open_ or analysis.cut or analysis.trace.gaps:
        return protocols.Settled()
    found = protocols.prove(kernel, analysis.context, analysis.setting.written)
    analysis.setting.relied.update(found.signals)
    return found


def _raced(kernel: Kernel, analysis: Analysis, question: Question) -> Refuted | None:
    """An execution that the memory model allows, in which two threads race."""
    if analysis.trace.gaps or question.kind == "unwaited":
        return None
    model = next((f.answer.model for f in question.failures if f.answer.model is not None), None)
    found = protocols.refute(kernel, analysis.context, analysis.setting.written, question.region, model)
    if found is None or protocols.not_zero(kernel, analysis.context.site, protocols.signals_of(found[0])):
        return None
    return Refuted(*protocols.in_words(kernel, *found))


def _without_echo(obligations: list[Obligation]) -> list[Obligation]:
    """Drops a refuted borrow where the race that it leads to is refuted too."""
    raced = {o.span for o in obligations if o.verdict is Verdict.REFUTED and o.rule in ("GS201", "GS202")}
    return [o for o in obligations if not (o.verdict is Verdict.REFUTED and o.rule == "GS208" and o.span in raced)]


def _of_barriers(kernel: Kernel, analysis: Analysis, replayer: Replayer, words: tuple[str, ...]) -> list[Obligation]:
    out = []
    for barrier, answer in analysis.barriers.items():
        rule = "GS204" if barrier.scope is Scope.WARP else "GS203"
        question = _barrier_question(barrier.scope, barrier.span.line)
        if answer.status == "unsat":
            out.append(Obligation(rule, question, Verdict.PROVED, barrier.span, assumptions=words))
            continue
        example = refute_barrier(replayer, analysis, barrier.scope, answer.model)
        if example is not None:
            out.append(Obligation(rule, question, Verdict.REFUTED, barrier.span, counterexample=example))
        else:
            reason = f"the branch or loop around the barrier in line {barrier.span.line} may differ between threads"
            out.append(Obligation(rule, question, Verdict.UNKNOWN, barrier.span, reason))
    return out


# -- without launches


def _without_launch(kernel: Kernel) -> KernelResult:
    """A kernel that nothing in sight launches and no contract proves: refuted only by a race that needs no choice."""
    alone = single_thread(kernel)
    if alone is not None and possible(kernel, of_contract(kernel, alone)):
        analysis = analyse(kernel, of_contract(kernel, alone), hasty=True)
        if analysis.proved:
            words = (*alone.in_words, *_apart(kernel), *_signals(analysis))
            reason = "the kernel never asks which thread it is: one thread alone may run it, and no launch is in sight"
            open_ = Obligation("GS113", "one thread alone runs the kernel", Verdict.UNKNOWN, kernel.span, reason)
            return _result(kernel, analysis, [*_proved(kernel, analysis, words), open_], alone, words)
    tries = [of_contract(kernel, c) for c in contracts(kernel)]
    context = next((c for c in tries[1:] if possible(kernel, c)), tries[0])
    analysis = analyse(kernel, context)
    if kernel.dialect in UNDEFINED_OVERFLOW and not analysis.proved:
        steady = analyse(kernel, replace(context, steady=True), hasty=True)
        analysis = steady if steady.proved else analysis
    words = (*context.in_words, *_apart(kernel), *_signals(analysis))
    return _result(kernel, analysis, _obligations(kernel, [analysis], words), None, words)


def _result(
    kernel: Kernel, analysis: Analysis, obligations: list[Obligation], contract: Contract | None, words: tuple[str, ...]
) -> KernelResult:
    summary = KernelSummary(
        kernel,
        _effects(kernel, analysis),
        _global_effects(kernel, analysis),
        (*(contract.requires if contract is not None else ()), *kernel.requires),
        contract.in_words if contract is not None else (),
        not analysis.trace.gaps,
        tuple(sorted(analysis.setting.relied)),
    )
    return KernelResult(kernel, tuple(obligations), summary, words)


def _effect(analysis: Analysis, region: str) -> Effect:
    accesses = [a for a in analysis.trace.accesses if a.region == region]
    modes = {a.mode for a in accesses}
    known = not any(g.accesses for g in analysis.trace.gaps)
    writes = bool(modes & {"write", "borrow"})
    return Effect("read" in modes or not known, writes or not known, "atomic" in modes, known)


def _effects(kernel: Kernel, analysis: Analysis) -> tuple[Effect, ...]:
    return tuple(_effect(analysis, p.region) if p.region is not None else Effect() for p in kernel.params)


def _global_effects(kernel: Kernel, analysis: Analysis) -> tuple[tuple[str, Effect], ...]:
    outside = [r for r in kernel.regions if r.param is None and r.space in (Space.GLOBAL, Space.CONSTANT)]
    return tuple((r.name, _effect(analysis, r.name)) for r in outside)


__all__ = ["KernelResult", "check_kernel", "holds"]
