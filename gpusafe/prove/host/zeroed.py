"""Flags and counters that a kernel's order rests on hold zeros when it starts.

The kernel's proof assumes it; here the path is looked at: the last operation that wrote the memory before the launch
must be a memset to zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gpusafe.dataflow.contracts import KernelSummary
from gpusafe.dataflow.effects import Access, Effects
from gpusafe.ir.expr import Binary, Const, Op
from gpusafe.ir.host import Enqueue, Gap, HostPath
from gpusafe.ir.kernel import Space
from gpusafe.prove.host.wording import the
from gpusafe.verdict import Obligation, Verdict

_WRITES = frozenset({"write", "atomic"})
_UNNAMED = frozenset({"static", "constant", "unknown", None})  # memory that may be a static of the device
_ELSEWHERE = "the memory behind `{}` is not an argument of the launch, so what it holds is not known"


def zeroed_signals(
    path: HostPath, found: Effects, summaries: Mapping[str, KernelSummary]
) -> Iterator[tuple[int, Obligation]]:
    """An obligation for each region that a launch needs zeroed."""
    for index, op in enumerate(path.ops):
        summary = summaries.get(op.kernel or "") if isinstance(op, Enqueue) else None
        if summary is None:
            continue
        for region in summary.zeroed:
            question = f"`{region}` is zero when {the(op.label)} starts"
            reason = _doubt(path, found, index, summary, region, summaries)
            verdict = Verdict.PROVED if reason is None else Verdict.UNKNOWN
            yield index, Obligation("GS302", question, verdict, op.span, reason)


def _doubt(
    path: HostPath,
    found: Effects,
    index: int,
    summary: KernelSummary,
    region: str,
    summaries: Mapping[str, KernelSummary],
) -> str | None:
    """Why the region may hold something else, None when it cannot."""
    params = [i for i, p in enumerate(summary.kernel.params) if p.region == region]
    touched = {a.memory for a in found.accesses if a.op == index and a.param in params}
    if not touched:
        return None if _fresh(path, found, index, summary, region, summaries) else _ELSEWHERE.format(region)
    for memory in sorted(touched):
        earlier = [a for a in found.accesses if a.op < index and a.memory == memory and a.mode in _WRITES]
        if not earlier:
            return f"nothing in sight sets `{region}` to zero, which the kernel's order by it needs"
        reason = _not_zero(path, earlier[-1], region)
        if reason is not None:
            return reason
    return None


def _fresh(
    path: HostPath,
    found: Effects,
    index: int,
    summary: KernelSummary,
    region: str,
    summaries: Mapping[str, KernelSummary],
) -> bool:
    """Whether a static of the device holds the zeros that it was loaded with: nothing in the program came before.

    Only a path from ``main`` shows all that ran before.
    """
    static = next((r for r in summary.kernel.regions if r.name == region), None)
    if static is None or static.param is not None or static.space is not Space.GLOBAL or static.nonzero:
        return False
    if path.root.rsplit("::", 1)[-1] != "main" or summary.kernel.dialect == "ptx":
        return False
    for op in path.ops[:index]:
        if isinstance(op, Gap):
            return False
        if isinstance(op, Enqueue) and (op.kernel is not None or op.what in ("launch", "graph", "callback", "library")):
            before = summaries.get(op.kernel or "")
            if before is None or any(r.span == static.span for r in before.kernel.regions) or not before.complete:
                return False
    kinds = {ident: memory.kind for ident, memory in path.memory.items()}
    return not any(a.op < index and a.mode in _WRITES and kinds.get(a.memory) in _UNNAMED for a in found.accesses)


def _not_zero(path: HostPath, last: Access, region: str) -> str | None:
    writer = path.ops[last.op]
    if isinstance(writer, Enqueue) and writer.what == "memset" and writer.zero and _whole(path, last):
        return None
    return f"{the(writer.label)} left in `{region}` what need not be zero, and the kernel's order by it needs zeros"


def _whole(path: HostPath, access: Access) -> bool:
    """Whether an access covers all of its memory."""
    start, size, memory = access.range.start, access.range.size, path.memory.get(access.memory)
    if not (isinstance(start, Const) and start.value == 0):
        return False
    if size is None:
        return True
    if memory is None or memory.length is None or memory.elem_bytes is None:
        return False
    if not isinstance(memory.length, Const):
        return isinstance(size, Binary) and size.op is Op.MUL and size.a == memory.length
    return isinstance(size, Const) and size.value >= memory.length.value * memory.elem_bytes
