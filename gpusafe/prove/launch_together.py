"""Grid-wide barriers and how a kernel is launched: only a cooperative launch runs all blocks at once (GS113).

CUDA's driver sets up the barrier of a grid only for a cooperative launch (``cuLaunchCooperativeKernel``, or the
attribute ``CU_LAUNCH_ATTRIBUTE_COOPERATIVE``). In any other launch ``grid.sync()`` is undefined: its counter is no
memory of the program, and a block that waits may keep the one it waits for from starting.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpusafe.dataflow.accesses import BarrierPoint, Trace
from gpusafe.dataflow.taint import walk
from gpusafe.ir.host import LaunchSite
from gpusafe.ir.kernel import Barrier, Kernel, Scope
from gpusafe.span import Span
from gpusafe.verdict import Counterexample, Obligation, Site, Verdict

GRID = (Scope.DEVICE, Scope.SYSTEM)
IN_WORDS = "a cooperative launch (the kernel waits at a barrier of the whole grid)"


def waits_for_grid(kernel: Kernel) -> bool:
    """Whether a barrier of the whole grid stands in a kernel, reached or not."""
    return any(isinstance(stmt, Barrier) and stmt.scope in GRID for stmt in walk(kernel.body))


def grid_barriers(trace: Trace) -> list[BarrierPoint]:
    """The barriers of a whole grid that a kernel may reach."""
    return [b for b in trace.barriers if b.scope in GRID]


def at_site(kernel: Kernel, trace: Trace, site: LaunchSite) -> list[Obligation]:
    """Whether one launch of a host runs the grid that its kernel's barriers wait for."""
    barriers = grid_barriers(trace)
    if not barriers:
        return []
    shape = site.op.shape
    if shape is None:
        reason = f"whether this launch of `{kernel.name}` is cooperative is not known"
        return [Obligation("GS113", _question(kernel), Verdict.UNKNOWN, site.op.span, reason)]
    if shape.cooperative:
        return [Obligation("GS113", _question(kernel), Verdict.PROVED, site.op.span)]
    return [_alone(kernel, barriers, site.op.span)]


def in_file(kernel: Kernel, trace: Trace) -> list[Obligation]:
    """The same for the ``<<<..>>>`` launches of a CUDA C file, which are never cooperative."""
    barriers = grid_barriers(trace)
    if not barriers or kernel.dialect != "cuda-c":
        return []
    return [_alone(kernel, barriers, size.span) for size in kernel.launched]


def _question(kernel: Kernel) -> str:
    return f"the launch of `{kernel.name}` runs the whole grid at once, as its barriers need"


def _alone(kernel: Kernel, barriers: Sequence[BarrierPoint], launch: Span) -> Obligation:
    """A launch that is not cooperative: an error where no condition stands before a barrier of the grid."""
    question = f"{_question(kernel)} (line {launch.line})"
    always = next((b for b in barriers if not b.context.guard and not b.context.loops), None)
    if always is None:
        line = barriers[0].span.line
        reason = (
            f"the launch is not cooperative, and whether a thread gets to the barrier of the grid in line {line} "
            "depends on conditions"
        )
        return Obligation("GS113", question, Verdict.UNKNOWN, launch, reason)
    example = Counterexample(
        f"`{kernel.name}` waits for the whole grid, and this launch is not cooperative",
        Site(launch, "this launch does not promise that all blocks run at once"),
        (Site(always.span, "each thread waits here for all threads of the grid"),),
        ("without a cooperative launch a barrier of the grid is undefined: it may hang, or order nothing",),
        ("launch the kernel cooperatively, or split it into two launches at the barrier",),
    )
    return Obligation("GS113", question, Verdict.REFUTED, launch, counterexample=example)
