"""GS106 where it does no harm yet: a kernel writes memory that the launch passes by shared borrow."""

from __future__ import annotations

from collections.abc import Mapping

from gpusafe.dataflow.contracts import KernelSummary
from gpusafe.dataflow.effects import Access, effects
from gpusafe.ir.host import Enqueue, HostPath, HostProgram
from gpusafe.prove.host.wording import memory_name, the
from gpusafe.results import Finding, Level
from gpusafe.verdict import Site


def shared_borrow_warnings(program: HostProgram, summaries: Mapping[str, KernelSummary]) -> tuple[Finding, ...]:
    """One warning for each launch argument that is passed by `&` and written by the kernel.

    Where that makes two operations meet, a GS101 error says so too; this is about whoever comes later and trusts the
    borrow.
    """
    warned: dict[tuple[object, ...], Finding] = {}
    for path in program.paths:
        for access in effects(path, summaries).accesses:
            finding = _warning(path, access, summaries)
            if finding is not None:
                warned.setdefault((finding.primary.span, finding.message), finding)
    return tuple(warned.values())


def _warning(path: HostPath, access: Access, summaries: Mapping[str, KernelSummary]) -> Finding | None:
    op = path.ops[access.op]
    if not isinstance(op, Enqueue) or access.arg is None or access.mode == "read" or access.doubt is not None:
        return None
    arg = op.args[access.arg]
    summary = summaries.get(op.kernel or "")
    if arg.passed != "ref" or summary is None or access.param is None or not summary.params[access.param].writes:
        return None  # atomics are for sharing, whatever their scope
    name = memory_name(path, access)
    return Finding(
        "GS106",
        Level.WARNING,
        f"{the(op.label)} passes {name} by shared borrow, but the kernel writes it",
        Site(arg.span, f"{name} is borrowed as if it were only read"),
        (Site(op.span, "written by this launch"),),
        ("whoever trusts the borrow orders too little: reads elsewhere do not wait for this write",),
        (f"pass {name} by `&mut`",),
        op.frames[-1].function,
    )
