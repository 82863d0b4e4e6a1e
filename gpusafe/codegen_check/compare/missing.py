"""Synchronisation of the source for which the PTX has no instruction."""

from __future__ import annotations

from collections.abc import Iterator

from gpusafe.codegen_check.compare.findings import Weaker
from gpusafe.codegen_check.compare.matching import INSTRUCTIONS, SYNCHRONISING, Group
from gpusafe.codegen_check.compare.motion import Context
from gpusafe.codegen_check.compare.operations import Operation
from gpusafe.codegen_check.compare.strength import RANK
from gpusafe.ir.kernel import Fence, Order
from gpusafe.verdict import Site

_WORDS = {
    "fence": "fence", "proxy-fence": "proxy fence", "barrier": "barrier", "warp-barrier": "warp barrier",
    "cluster-arrive": "cluster arrival", "cluster-wait": "cluster wait", "warp-op": "warp operation",
    "mbarrier": "mbarrier operation", "async-copy": "asynchronous copy", "async-control": "wait for copies",
    "atomic-load": "atomic load", "atomic-store": "atomic store", "rmw": "atomic", "cas": "compare-exchange",
}  # fmt: skip
_MAY_MERGE = frozenset({"warp-op"})  # of several with equal operands one may be kept


def missing(context: Context) -> tuple[tuple[Weaker, ...], tuple[str, ...]]:
    """What is certainly left out, and what was not found though it may have been merged or be dead code."""
    weaker: list[Weaker] = []
    unclear: list[str] = []
    for group in context.matching.groups.values():
        if group.kind not in SYNCHRONISING or group.instrs:
            continue
        if group.kind == "fence" and all(_beside_another(context, op) for op in group.operations):
            continue
        anchor = next((a for op in group.operations for a in _anchors(context, op)), None)
        certain = group.kind not in _MAY_MERGE and not _unmatched(context, group.kind)
        if anchor is not None and certain:
            weaker.append(_left_out(context, group, anchor))
        else:
            unclear.append(f"no PTX instruction for the {_WORDS[group.kind]} at {group.span}")
    return tuple(weaker), tuple(unclear)


def _unmatched(context: Context, kind: str) -> bool:
    """Whether the PTX has instructions of this kind that belong to no operation: they may be the missing ones."""
    matched = {i for g in context.matching.groups.values() if g.kind == kind for i in g.instrs}
    instrs = context.matching.function.instrs
    return any(INSTRUCTIONS[kind](instr) and i not in matched for i, instr in enumerate(instrs))


def _anchors(context: Context, missing: Operation) -> Iterator[Operation]:
    """Operations that run right behind the missing one whenever it does, and that the PTX has."""
    for op in context.operations[missing.order + 1 :]:
        if op.guards == missing.guards and op.loops == missing.loops and context.matching.group(op).instrs:
            yield op


def _beside_another(context: Context, fence: Operation) -> bool:
    """Whether another fence at least as strong stands right beside it, so that one of them is enough."""
    assert isinstance(fence.stmt, Fence)
    for step in (-1, 1):
        at = fence.order + step
        if 0 <= at < len(context.operations):
            other = context.operations[at].stmt
            if isinstance(other, Fence) and context.operations[at].guards == fence.guards:
                strong = other.order in (Order.SEQ_CST, fence.stmt.order, Order.ACQ_REL)
                if strong and RANK[other.scope] >= RANK[fence.stmt.scope]:
                    return True
    return False


def _left_out(context: Context, group: Group, anchor: Operation) -> Weaker:
    word = _WORDS[group.kind]
    return Weaker(
        f"the compiled PTX has no {word} for this",
        Site(group.span, f"the {word} is gone"),
        context.matching.instrs(context.matching.group(anchor))[:1],
        (Site(anchor.stmt.span, "the PTX still has this, which runs under the same conditions"),),
        help=("assembly with `pure` may be removed; give it no options but `nostack`",),
        lost=group.kind,
    )
