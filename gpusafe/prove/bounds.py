"""Whether an access can leave the memory that a launch passes."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import z3

from gpusafe.dataflow.accesses import Access
from gpusafe.dataflow.concrete import ConcreteLaunch
from gpusafe.dataflow.concrete.machine import OutOfBounds
from gpusafe.dataflow.intervals import Intervals
from gpusafe.dataflow.terms import Term, postorder
from gpusafe.ir.expr import I64, Const
from gpusafe.ir.kernel import Kernel, Region
from gpusafe.prove.counterexample import element, geometry, who
from gpusafe.prove.launch_context import LaunchContext
from gpusafe.prove.pairs import Answer, Setting, decide, threads, where
from gpusafe.prove.pairs_of_kernel import Analysis
from gpusafe.prove.replay import SCALARS, Replayer, concrete, contents, number
from gpusafe.verdict import Counterexample, Obligation, Site, Verdict

TRIED = (*SCALARS, 7)  # an unknown of the host must lead outside with a small value, too: it may be bounded elsewhere


def leaves(setting: Setting, access: Access, size: Term) -> Answer:
    """Whether some thread's access starts below 0 or ends past ``size`` bytes."""
    conds = where(setting.trace, access)
    ranges = Intervals(setting.specials)
    ranges.assume([*setting.premises, *conds])
    low, high = ranges.of(access.offset)
    if low >= 0 and high + access.size <= ranges.of(size)[0]:
        return Answer("unsat")
    enc, one, two = threads(setting, True, conds, [])
    offset, end = enc.encode(access.offset, one), enc.encode(size, enc.shared)
    goal = [enc.encode(c, one) for c in conds] + [enc.encode(c, enc.shared) for c in setting.premises]
    goal.append(z3.Or(offset < 0, offset + access.size > end))
    return decide(enc, setting, goal, one, two)


def left_open(replayer: Replayer, access: Access) -> str:
    """Why it is not settled whether an access stays inside."""
    if "data" in replayer.taints.address.get(access.span, frozenset()):
        return f"the address of the access in line {access.span.line} depends on values read from memory"
    return f"whether the access in line {access.span.line} stays inside `{access.region}` was not settled"


def seen_outside(
    replayer: Replayer, context: LaunchContext, access: Access, answer: Answer, sizes: dict[str, Term]
) -> tuple[ConcreteLaunch, OutOfBounds] | None:
    """A run that leaves the buffer; with an unknown of the host it must do so for several of its values."""
    address = replayer.taints.address.get(access.span, frozenset())
    control = replayer.taints.control.get(access.span, frozenset())
    if address & {"data", "sync", "opaque"} or control & {"sync", "opaque"}:
        return None
    symbols = _symbols([access.offset, *access.context.guard, *sizes.values(), *context.specials.values()])
    if len(symbols) > 1:
        return None
    seen = []
    model = {} if symbols or answer.model is None else answer.model.symbols
    for values, fallback in product((model, {}) if model else ({},), TRIED if symbols else SCALARS):
        launch = concrete(context, replayer.kernel, values, fallback)
        if launch is None:
            continue
        numbers = {name: number(term, values, fallback) for name, term in sizes.items()}
        found = _run_outside(replayer, launch, access, answer, numbers)
        if found is not None:
            seen.append((launch, found))
            if not symbols:
                return seen[0]
        elif symbols:
            return None
    return seen[0] if len(seen) > 1 else None


def _symbols(roots: list[Term]) -> set[object]:
    return {t.data for t in postorder(roots) if t.op in ("sym", "param")}


def _run_outside(
    replayer: Replayer, launch: ConcreteLaunch, access: Access, answer: Answer, known: dict[str, int | None]
) -> OutOfBounds | None:
    numbers = {name: n for name, n in known.items() if n is not None}
    if any(n < 0 for n in numbers.values()):
        return None  # such a slice panics before the launch
    blocks = [(0, 0, 0), tuple(n - 1 for n in launch.grid)]
    if answer.model is not None:
        blocks.insert(0, answer.model.block[0])
    inside = [b for b in dict.fromkeys(blocks) if all(i < n for i, n in zip(b, launch.grid, strict=True))]
    filled = replace(launch, sizes=numbers, contents=contents(1))
    for block in inside:
        for out in replayer.run(filled, [block]).outside:  # type: ignore[list-item]
            if out.touch.region == access.region and out.touch.span == access.span:
                return out
    return None


def fixed_regions(kernel: Kernel, analysis: Analysis, replayer: Replayer, words: tuple[str, ...]) -> list[Obligation]:
    """The accesses of arrays whose length the source fixes (shared arrays, statics), at a launch in sight."""
    out = []
    for region in kernel.regions:
        accesses = [a for a in (*analysis.trace.accesses, *analysis.trace.private) if a.region == region.name]
        if not accesses or region.param is not None or not isinstance(region.length, Const):
            continue
        length = int(region.length.value)
        size = analysis.context.terms.const(length * region.elem_bytes, I64)
        question = f"no access of `{region.name}` leaves its {length} elements"
        verdict, example, reason = Verdict.PROVED, None, None
        for access in accesses:
            answer = leaves(analysis.setting, access, size)
            if answer.status == "unsat":
                continue
            found = seen_outside(replayer, analysis.context, access, answer, {})
            if found is not None:
                verdict, example = Verdict.REFUTED, _outside(kernel, region, length, *found)
                break
            verdict, reason = Verdict.UNKNOWN, reason or left_open(replayer, access)
        if verdict is Verdict.REFUTED:
            reason = None
        span = example.primary.span if example is not None else region.span
        out.append(
            Obligation("GS205", question, verdict, span, reason, words if verdict is Verdict.PROVED else (), example)
        )
    return out


def _outside(kernel: Kernel, region: Region, length: int, launch: ConcreteLaunch, out: OutOfBounds) -> Counterexample:
    thread = who(out.touch.tid, out.touch.block, launch)
    does = {"read": "reads", "write": "writes", "atomic": "updates", "borrow": "borrows"}[out.touch.mode]
    return Counterexample(
        f"`{kernel.name}` accesses `{region.name}` outside its {length} elements",
        Site(out.touch.span, f"{thread} {does} {element(region, out.touch)}"),
        (Site(region.span, f"`{region.name}` has {length} elements"),),
        (geometry(launch),),
        ("guard the access, or make the array as long as the launch's blocks need",),
    )
