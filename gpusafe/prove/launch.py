"""A kernel's conditions at one launch: its shape (GS113) and the sizes of the buffers it gets (GS114)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gpusafe.dataflow.accesses import Access
from gpusafe.dataflow.concrete import ConcreteLaunch
from gpusafe.dataflow.concrete.machine import OutOfBounds
from gpusafe.dataflow.contracts import KernelSummary
from gpusafe.dataflow.terms import Term
from gpusafe.dataflow.values import Values
from gpusafe.ir.expr import COMPARISONS, I64, Binary, Expr, Op
from gpusafe.ir.host import LaunchSite
from gpusafe.ir.kernel import Kernel, Space
from gpusafe.ir.words import say
from gpusafe.prove import launch_together
from gpusafe.prove.bounds import leaves, left_open, seen_outside
from gpusafe.prove.counterexample import element, geometry, who
from gpusafe.prove.launch_context import LaunchContext, argument_bytes, few_threads, holds, of_site
from gpusafe.prove.pairs import RLIMIT, Setting
from gpusafe.prove.pairs_of_kernel import analyse, execute
from gpusafe.prove.replay import Replayer
from gpusafe.prove.replay_pairs import refute
from gpusafe.verdict import Counterexample, Obligation, Site, Verdict

BLOCK_LIMIT = 1024
FEW = "fewer than 2^31 threads along each axis"


def check_launch(summary: KernelSummary, site: LaunchSite) -> tuple[Obligation, ...]:
    """The obligations of one launch, for the host function that it stands in."""
    context = of_site(summary.kernel, site)
    out = [*_block_size(summary, site, context)]
    if not out:
        out += _shape(summary, site, context)
        if launch_together.waits_for_grid(summary.kernel):
            out += launch_together.at_site(summary.kernel, execute(summary.kernel, context), site)
        out += _buffers(summary, site)
    return tuple(out)


def _block_size(summary: KernelSummary, site: LaunchSite, context: LaunchContext) -> Iterator[Obligation]:
    """A block of more than 1024 threads cannot be launched on any device."""
    sizes = [context.specials.get(f"ntid.{a}") for a in "xyz"]
    known = [s.const for s in sizes if s is not None]
    if len(known) < 3 or any(n is None for n in known):
        return
    threads = 1
    for n in known:
        threads *= n or 0
    if threads > BLOCK_LIMIT:
        message = f"the launch of `{summary.kernel.name}` asks for blocks of {threads} threads"
        place = Site(site.op.span, f"a block has at most {BLOCK_LIMIT} threads")
        example = Counterexample(message, place, help=("use smaller blocks and more of them",))
        yield Obligation("GS113", _shape_question(summary), Verdict.REFUTED, site.op.span, counterexample=example)


def _shape_question(summary: KernelSummary) -> str:
    return f"the launch has a shape for which `{summary.kernel.name}` is proved"


def _shape(summary: KernelSummary, site: LaunchSite, context: LaunchContext) -> Iterator[Obligation]:
    if not summary.requires:
        return
    question, span = _shape_question(summary), site.op.span
    stated = summary.kernel.requires
    met = [(cond, holds((cond,), context)) for cond in summary.requires if cond not in stated]
    for cond in stated:
        yield from _stated(summary, site, cond)
    if not met:
        return
    if all(h for _, h in met):
        yield Obligation("GS113", question, Verdict.PROVED, span)
        return
    if all(h is not False for _, h in met) and _only_size_open(met):
        yield Obligation("GS113", question, Verdict.PROVED, span, assumptions=(f"the launch has {FEW}",))
        return
    analysis = analyse(summary.kernel, context)
    if analysis.proved:
        yield Obligation("GS113", question, Verdict.PROVED, span, assumptions=("proved for this launch alone",))
        return
    replayer = Replayer.of(summary.kernel)
    for asked in analysis.questions.values():
        if not asked.failures:
            continue
        refuted = refute(replayer, analysis, asked)
        if refuted is not None:
            yield Obligation(
                "GS113", question, Verdict.REFUTED, span, counterexample=_at_launch(summary, site, refuted.example)
            )
            return
    words = "; ".join(summary.in_words)
    reason = f"`{summary.kernel.name}` is proved for {words}, and whether this launch is such a one is not known"
    yield Obligation("GS113", question, Verdict.UNKNOWN, span, reason)


def _stated(summary: KernelSummary, site: LaunchSite, cond: Expr) -> Iterator[Obligation]:
    """A condition that the kernel states of every launch, in a comment or in its launch contract."""
    name, span, shape = summary.kernel.name, site.op.span, site.op.shape
    context = of_site(summary.kernel, site, guards=False)
    met, words = holds((cond,), context), say(cond)
    question = f"the launch of `{name}` meets `{words}`"
    if met:
        yield Obligation("GS113", question, Verdict.PROVED, span)
    elif shape is not None and shape.guarded and cond in summary.kernel.contract.requires:
        if met is None:
            yield Obligation("GS113", question, Verdict.PROVED, span, assumptions=("the launcher checks it",))
            return
        reason = f"the launcher refuses this launch of `{name}`: `{words}` does not hold"
        yield Obligation("GS113", question, Verdict.UNKNOWN, span, reason)
    elif met is None:
        reason = f"whether this launch of `{name}` meets `{words}` is not known"
        yield Obligation("GS113", question, Verdict.UNKNOWN, span, reason)
    else:
        place = Site(span, f"this launch does not meet `{words}`")
        kernel = Site(summary.kernel.span, f"`{name}` states its conditions here")
        example = Counterexample(
            f"this launch of `{name}` breaks a condition of the kernel", place, (kernel,), _sides(cond, context)
        )
        yield Obligation("GS113", question, Verdict.REFUTED, span, counterexample=example)


def _sides(cond: Expr, context: LaunchContext) -> tuple[str, ...]:
    """What both sides of a comparison come to at a launch, where that is known."""
    values = Values(context.terms, context.bindings)
    match cond:
        case Binary(op=op, a=a, b=b) if op in COMPARISONS:
            left, right = values.evaluate(a, {}).const, values.evaluate(b, {}).const
            if left is not None and right is not None:
                return (f"at this launch it says {left} {op.value} {right}",)
    return ()


def _only_size_open(met: Sequence[tuple[Expr, bool | None]]) -> bool:
    """Whether all that is open is that the number of threads fits 31 bits."""
    for cond, h in met:
        if h is None:
            match cond:
                case Binary(op=Op.LE):
                    continue
            return False
    return True


def _at_launch(summary: KernelSummary, site: LaunchSite, example: Counterexample) -> Counterexample:
    """A race inside the kernel as what it is to the host: a launch that the kernel is not made for."""
    words = "; ".join(w for w in summary.in_words if w != FEW)
    name = summary.kernel.name
    return Counterexample(
        f"this launch of `{name}` makes its threads race",
        Site(site.op.span, f"`{name}` is free of races only for {words}"),
        (example.primary, *example.related),
        example.notes,
        (f"launch `{name}` in the shape that it is written for, or compute its index from all axes of the launch",),
    )


# -- buffers


def _buffers(summary: KernelSummary, site: LaunchSite) -> Iterator[Obligation]:
    kernel = summary.kernel
    context = of_site(kernel, site, aliases=False)
    trace = execute(kernel, context)
    written = frozenset(a.region for a in trace.accesses if a.writes)
    setting = Setting(trace, context.specials, written, context.premises, rlimit=RLIMIT // 2)
    sizes = argument_bytes(kernel, site, context)
    replayer = Replayer.of(kernel)
    for region in kernel.regions:
        accesses = [a for a in trace.accesses if a.region == region.name]
        if not accesses:
            continue
        if region.space is Space.DYNAMIC_SHARED:
            size = context.specials.get("dynamic_smem_bytes")
            rule, what = "GS113", f"the dynamic shared memory of the launch holds all that `{kernel.name}` uses"
        elif region.param is not None:
            size = sizes.get(region.name)
            rule, what = "GS114", f"`{kernel.name}` stays inside the memory passed as `{region.name}`"
        else:
            continue
        yield _inside(replayer, setting, context, site, (rule, what), accesses, size, sizes)


def _inside(
    replayer: Replayer,
    setting: Setting,
    context: LaunchContext,
    site: LaunchSite,
    asked: tuple[str, str],
    accesses: list[Access],
    size: Term | None,
    sizes: dict[str, Term],
) -> Obligation:
    rule, question = asked
    span = site.op.span
    name = accesses[0].region
    if size is None:
        if _checked(setting, context, accesses):
            return Obligation(rule, question, Verdict.PROVED, span, assumptions=tuple(setting.trace.granted))
        return Obligation(rule, question, Verdict.UNKNOWN, span, f"how much memory is passed as `{name}` is not known")
    seen: set[tuple[object, ...]] = set()
    reason: str | None = None
    few = few_threads(context)
    assumptions = tuple(setting.trace.granted)
    for access in accesses:
        key = (access.offset.id, access.size, tuple(c.id for c in access.context.guard), access.context.facts)
        if key in seen:
            continue
        seen.add(key)
        answer = leaves(setting, access, size)
        if answer.status == "unsat":
            continue
        if few and leaves(replace(setting, premises=(*setting.premises, *few)), access, size).status == "unsat":
            assumptions = tuple(dict.fromkeys((*assumptions, f"the launch has {FEW}")))
            continue
        out = seen_outside(replayer, context, access, answer, sizes)
        if out is not None:
            return Obligation(
                rule, question, Verdict.REFUTED, span, counterexample=_too_small(replayer.kernel, site, rule, *out)
            )
        reason = reason or left_open(replayer, access)
    if reason is None:
        return Obligation(rule, question, Verdict.PROVED, span, assumptions=assumptions)
    return Obligation(rule, question, Verdict.UNKNOWN, span, reason)


def _checked(setting: Setting, context: LaunchContext, accesses: list[Access]) -> bool:
    """Whether every access is bounded by the length that the region itself tells."""
    terms = context.terms
    for access in accesses:
        length = context.bindings.lengths.get(access.region)
        if length is None:
            return False
        size = terms.binary("*", terms.natural(length), terms.const(access.size, I64), True)
        if leaves(setting, access, size).status != "unsat":
            return False
    return True


def _too_small(kernel: Kernel, site: LaunchSite, rule: str, launch: ConcreteLaunch, out: OutOfBounds) -> Counterexample:
    region = next(r for r in kernel.regions if r.name == out.touch.region)
    thread = who(out.touch.tid, out.touch.block, launch)
    does = {"read": "reads", "write": "writes", "atomic": "updates", "borrow": "borrows"}[out.touch.mode]
    elements = out.length // max(1, region.elem_bytes)
    if rule == "GS113":
        message = f"this launch of `{kernel.name}` has too little dynamic shared memory"
        label = f"{out.length} bytes of dynamic shared memory are passed"
    else:
        message = f"`{kernel.name}` accesses `{region.name}` past the end of the buffer that this launch passes"
        label = f"the memory passed as `{region.name}` holds {elements} elements"
    return Counterexample(
        message,
        Site(site.op.span, label),
        (Site(out.touch.span, f"{thread} {does} {element(region, out.touch)}"),),
        (geometry(launch),),
        ("guard the access by the length of the buffer, or pass a buffer that is large enough",),
    )
