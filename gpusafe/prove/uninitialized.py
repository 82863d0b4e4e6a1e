"""Whether a kernel reads shared memory that no thread has written, as seen in a run of a launch in sight."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

from gpusafe.dataflow.concrete import ConcreteLaunch, Touch
from gpusafe.dataflow.taint import CLEAN, expressions, walk
from gpusafe.ir import kernel as ir
from gpusafe.ir.expr import Length, Param
from gpusafe.ir.kernel import Kernel, Region, Space
from gpusafe.ir.terms import children
from gpusafe.prove.counterexample import element, geometry, who
from gpusafe.prove.launch_context import LaunchContext
from gpusafe.prove.pairs_of_kernel import Analysis
from gpusafe.prove.replay import Replayer, launches
from gpusafe.verdict import Counterexample, Obligation, Site, Verdict

OPAQUE = (ir.Unmodelled, ir.MBarrier)
CHOSEN = (1000, 37)  # for integers that no launch fixes: more, and fewer than the threads of most blocks
TRIES = 2
BLOCKS = (128, 256, 512, 1024)  # threads of a block that nothing fixes
STEPS = 60_000  # of all threads together: what is not written is read early or never
Triple = tuple[int, int, int]


def blank_reads(kernel: Kernel, analysis: Analysis, replayer: Replayer) -> list[Obligation]:
    """The shared arrays of which a run read an element that nothing had written.

    They are refuted where the launch fixes every value that decides which elements are written and read; elsewhere the
    run chose some of these values, and what it saw is an open question.
    """
    regions = {r.name: r for r in kernel.regions if r.space in (Space.SHARED, Space.DYNAMIC_SHARED)}
    if not regions or analysis.trace.gaps or any(isinstance(s, OPAQUE) for s in walk(kernel.body)):
        return []
    fixed = _fixed(kernel, analysis)
    found: dict[str, Obligation] = {}
    for launch in islice(launches(analysis.context, kernel, None, CHOSEN), 1 if fixed else TRIES):
        for name, touch in _blank(replayer, launch, analysis.context).items():
            if fixed and name in regions and _decided(analysis, replayer, name):
                found.setdefault(name, _refuted(kernel, regions[name], launch, touch))
            elif name in regions:
                found.setdefault(name, _open(name, launch, touch))
    return list(found.values())


def _blank(replayer: Replayer, launch: ConcreteLaunch, context: LaunchContext) -> dict[str, Touch]:
    """The first read of each array that saw nothing.

    Where nothing says how many threads a block has, one count without such a read tells what the kernel is made for.
    """
    seen = _blank_with(replayer, launch)
    kernel = replayer.kernel
    if "ntid.x" not in context.specials and context.site is None and not kernel.requires:
        most = kernel.contract.max_threads or max(BLOCKS)
        for threads in (n for n in BLOCKS if n <= most):
            larger = _blank_with(replayer, replace(launch, block=(threads, *launch.block[1:]))) if seen else seen
            seen = {name: touch for name, touch in seen.items() if name in larger}
    return seen


def _blank_with(replayer: Replayer, launch: ConcreteLaunch) -> dict[str, Touch]:
    """Those of the first and the last block of a launch."""
    last = (launch.grid[0] - 1, launch.grid[1] - 1, launch.grid[2] - 1)
    blocks: list[Triple] = list(dict.fromkeys([(0, 0, 0), last]))
    outcome = replayer.run(launch, blocks, limit=STEPS)
    raced = {m.first.region for m in outcome.meetings}
    seen: dict[str, Touch] = {}
    for touch in outcome.blank:
        if touch.region not in raced:
            seen.setdefault(touch.region, touch)
    return seen


def _open(name: str, launch: ConcreteLaunch, touch: Touch) -> Obligation:
    thread = who(touch.tid, touch.block, launch)
    where = f"an element of `{name}` in line {touch.span.line}"
    reason = f"in a run with chosen values {thread} reads {where}, which nothing has written"
    question = f"no element of `{name}` is read before it is written"
    return Obligation("GS207", question, Verdict.UNKNOWN, touch.span, reason)


def _fixed(kernel: Kernel, analysis: Analysis) -> bool:
    bound = analysis.context.bindings
    sizes = [bound.specials.get(f"{r}.{a}") for r in ("nctaid", "ntid") for a in "xyz"]
    if any(s is None or s.const is None for s in sizes):
        return False
    used = _used(kernel)
    for param in kernel.params:
        value = bound.params.get(param.name)
        if param.kind == "scalar" and param.name in used and (value is None or value.op != "const"):
            return False
    lengths = [bound.lengths.get(name.removeprefix("length ")) for name in used if name.startswith("length ")]
    return all(n is not None and n.const is not None for n in lengths)


def _used(kernel: Kernel) -> set[str]:
    out: set[str] = set()
    for stmt in walk(kernel.body):
        stack = [e for e in expressions(stmt) if e is not None]
        while stack:
            e = stack.pop()
            match e:
                case Param(name=name):
                    out.add(name)
                case Length(region=region):
                    out.add(f"length {region}")
            stack.extend(children(e))
    return out


def _decided(analysis: Analysis, replayer: Replayer, region: str) -> bool:
    """Whether the launch alone decides which elements of a region are accessed."""
    spans = {a.span for a in analysis.trace.accesses if a.region == region}
    tables = (replayer.taints.address, replayer.taints.control)
    return bool(spans) and not any(t.get(s, CLEAN) for s in spans for t in tables)


def _refuted(kernel: Kernel, region: Region, launch: ConcreteLaunch, touch: Touch) -> Obligation:
    thread = who(touch.tid, touch.block, launch)
    does = "updates" if touch.mode == "atomic" else "reads"
    example = Counterexample(
        f"`{kernel.name}` reads an element of the shared array `{region.name}` that no thread has written",
        Site(touch.span, f"{thread} {does} {element(region, touch)}"),
        (Site(region.span, f"`{region.name}` holds nothing when a block starts"),),
        (geometry(launch),),
        ("write every element that is read, and put a barrier between",),
    )
    question = f"no element of `{region.name}` is read before it is written"
    return Obligation("GS207", question, Verdict.REFUTED, touch.span, counterexample=example)
