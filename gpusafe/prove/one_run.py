"""Kernels whose barriers have state: one run of the launch with clocks in place of the questions about pairs.

It proves where the launch fixes everything that decides branches and addresses, and where each arrival belongs to one
phase in every schedule. It refutes where a run under an actual schedule shows two accesses that nothing orders.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product
from math import prod
from typing import Any

from gpusafe.dataflow.accesses import Gap
from gpusafe.dataflow.clocks import Entry, Fault, Run, run_cluster
from gpusafe.dataflow.clocks.memory import conflict
from gpusafe.dataflow.taint import expressions, walk
from gpusafe.ir import kernel as ir
from gpusafe.ir.expr import Opaque
from gpusafe.ir.kernel import Kernel, Scope, Space
from gpusafe.ir.terms import children
from gpusafe.prove.launch_context import LaunchContext
from gpusafe.prove.one_run_words import obligation
from gpusafe.prove.pairs_of_kernel import Analysis, Failure
from gpusafe.verdict import Obligation, Verdict

STEPS = 700_000  # of all threads of a launch together
LONG = 1 << 20  # elements
THREADS = 2048  # of one cluster
Triple = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Seen:
    """What became of a launch: refuted obligations, or a proof (``why`` is empty), or why there is neither."""

    refuted: tuple[Obligation, ...] = ()
    why: str = ""
    assumed: tuple[str, ...] = ()

    @property
    def proved(self) -> bool:
        """Whether no two threads of the launch meet, and none waits forever."""
        return not self.refuted and not self.why

    def settles(self, obligation: Obligation) -> bool:
        """Whether the run answers what is open about a barrier: one wider than a warp, or one that it shows parted."""
        if obligation.verdict is not Verdict.UNKNOWN:
            return False
        shown = any((o.rule, o.span) == (obligation.rule, obligation.span) for o in self.refuted)
        return shown or (self.proved and obligation.rule == "GS203")

    def shows(self, failure: Failure) -> bool:
        """Whether a refuted obligation shows just the two accesses of an open pair."""
        pair = {failure.first.span, failure.second.span}
        examples = [o.counterexample for o in self.refuted if o.counterexample is not None]
        return any(pair <= {e.primary.span, *(s.span for s in e.related)} for e in examples)


NOT_RUN = Seen(why="the kernel is not run")
MODELLED = ("the memory barrier operation", "an asynchronous bulk copy", "a named or split barrier", "a pointer whose")


def run_of(kernel: Kernel, analysis: Analysis) -> Seen:
    """What a run says of an analysis; what the run models is no gap any more."""
    context = analysis.context
    if (context.site is None and not kernel.launched) or not needs_run(kernel):
        return NOT_RUN
    seen = examine(kernel, context)
    gaps = [g for g in analysis.trace.gaps if not g.reason.startswith(MODELLED)]
    analysis.trace.gaps[:] = gaps
    if seen.why:
        reason = f"its barriers are followed in a run of the launch, which settles nothing: {seen.why}"
        analysis.trace.gaps[:] = [*gaps, Gap(reason, kernel.span)]
    return seen


def needs_run(kernel: Kernel) -> bool:
    """Whether a kernel uses barriers with state, bulk copies or memory of its peers."""
    return _needs_run(kernel)


@cache
def _needs_run(kernel: Kernel) -> bool:
    for stmt in walk(kernel.body):
        match stmt:
            case ir.MBarrier() | ir.ProxyFence() | ir.Barrier(scope=Scope.CLUSTER):
                return True
            case ir.AsyncCopy(kind=kind) if kind != "cp.async":
                return True
            case ir.Barrier(action=action, ident=ident, count=count) if (
                action != "sync" or ident is not None or count is not None
            ):
                return True
        stack = [e for e in expressions(stmt) if e is not None]
        while stack:
            e = stack.pop()
            match e:
                case Opaque(name="mapa"):
                    return True
            stack.extend(children(e))
    return False


def examine(kernel: Kernel, context: LaunchContext) -> Seen:
    """Runs a launch in sight."""
    shape = _shape(kernel, context)
    if shape is None:
        return Seen(why="the size of the launch is not known")
    grid, block, cluster = shape
    if (
        prod(block) > 1024
        or prod(block) * prod(cluster) > THREADS
        or any(g % c for g, c in zip(grid, cluster, strict=True))
    ):
        return Seen(why="the launch is too large to be run")
    if context.bindings.same_memory:
        return Seen(why="two arguments of the launch share memory")
    known = _environment(kernel, context)
    firsts = (
        [(x, y, z) for z, y, x in product(*(range(0, grid[i], cluster[i]) for i in (2, 1, 0)))]
        if prod(grid) <= STEPS // prod(block)
        else []
    )
    if not firsts:
        return Seen(why="the launch has too many threads to be run")
    elects = any(isinstance(s, ir.WarpOp) and s.op == "elect" for s in walk(kernel.body))
    open_ = {**_long_arrays(kernel, context), **known}
    for lane in (31, 0) if elects else (0,):
        faults, _ = _launch(kernel, open_, shape, firsts[:2], (True, lane, STEPS))
        shown = [f for f in faults if f.certain]
        if shown:
            return Seen(_unique([obligation(kernel, shape, f) for f in shown]))
    left, assumed = STEPS, dict[str, None]()
    for lane in range(32) if elects else (0,):
        faults, runs = _launch(kernel, known, shape, firsts, (False, lane, left))
        left -= sum(r.steps for r in runs)
        why = next((r.why for r in runs if r.why), "") or next((d for r in runs for d in r.doubts), "")
        if faults and not why:
            why = f"the accesses in line {faults[0].first.span.line} may meet others"
        if why:
            return Seen(why=why)
        assumed |= dict.fromkeys(a for r in runs for a in r.assumed)
    return Seen(assumed=tuple(assumed))


def _launch(
    kernel: Kernel,
    env: dict[str, Any],
    shape: tuple[Triple, Triple, Triple],
    firsts: list[Triple],
    how: tuple[bool, int, int],
) -> tuple[list[Fault], list[Run]]:
    """Runs of some clusters of one launch; ``how``: as an actual schedule, the elected lane, the budget in steps."""
    actual, lane, left = how
    runs: list[Run] = []
    for first in firsts:
        runs.append(run_cluster(kernel, env, shape, first, actual=actual, limit=left, elected=lane))
        left -= runs[-1].steps
        if runs[-1].why or runs[-1].faults:
            break
    return [f for r in runs for f in r.faults] + _across(kernel, runs), runs


def _unique(found: list[Obligation]) -> tuple[Obligation, ...]:
    return tuple({(o.rule, o.span): o for o in found}.values())


def _shape(kernel: Kernel, context: LaunchContext) -> tuple[Triple, Triple, Triple] | None:
    sizes = []
    for register in ("nctaid", "ntid"):
        bound = [context.specials.get(f"{register}.{a}") for a in "xyz"]
        numbers = [b.const for b in bound if b is not None]
        if len(numbers) != 3 or any(n is None or n < 1 for n in numbers):
            return None
        sizes.append(tuple(int(n or 0) for n in numbers))
    launch = context.site.op.shape if context.site is not None else None
    cluster = kernel.contract.cluster or (launch.cluster if launch is not None else None) or (1, 1, 1)
    (gx, gy, gz), (bx, by, bz) = sizes
    return (gx, gy, gz), (bx, by, bz), cluster


def _environment(kernel: Kernel, context: LaunchContext) -> dict[str, Any]:
    """What the launch fixes; everything else stays unknown."""
    env: dict[str, Any] = {}
    for name, value in context.bindings.params.items():
        if value.op == "const" and not isinstance(value.data, float):
            env[f"param {name}"] = value.data
    for name, value in context.bindings.lengths.items():
        if value.const is not None:
            env[f"length {name}"] = value.const
    dynamic = context.specials.get("dynamic_smem_bytes")
    if dynamic is not None and dynamic.const is not None:
        env["%dynamic_smem_bytes"] = dynamic.const
    return env


def _long_arrays(kernel: Kernel, context: LaunchContext) -> dict[str, Any]:
    """For a counterexample, arguments whose lengths no launch fixes are long."""
    if context.premises:
        return {}
    return {f"length {r.name}": LONG for r in kernel.regions if r.param is not None and r.length is not None}


def _across(kernel: Kernel, runs: list[Run]) -> list[Fault]:
    """Accesses of global memory by different clusters, which nothing orders."""
    spaces = {r.name: r.space for r in kernel.regions}
    known: dict[tuple[Any, int], list[Entry]] = {}
    found: list[Fault] = []
    for run in runs:
        for key, cell in run.global_touches.items():
            before = known.setdefault(key, [])
            for a, b in product(before, cell):
                if conflict(a, b) and spaces[a.region] is Space.GLOBAL and len(found) < 8:
                    found.append(Fault("race", *((a, b) if a.writes else (b, a))))
            if len(before) < 64 or any(e.writes for e in cell):
                before.extend(cell[:64])
    return found
