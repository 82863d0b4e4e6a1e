"""Order and scope of atomics and fences: what the source asks for, and what the PTX has."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from gpusafe.codegen_check.compare.findings import Weaker
from gpusafe.codegen_check.compare.matching import Group, Matching
from gpusafe.codegen_check.compare.motion import Context
from gpusafe.codegen_check.compare.strength import (
    ORDER_WORDS,
    RANK,
    SCOPE_WORDS,
    access_keeps,
    fence_keeps,
    order_of,
    scope_of,
)
from gpusafe.codegen_check.ptx import Flow
from gpusafe.ir.kernel import Atomic, Fence, Order, Scope
from gpusafe.verdict import Site

_STRENGTH = {
    Order.WEAK: 0, Order.RELAXED: 1, Order.ACQUIRE: 2, Order.RELEASE: 2, Order.ACQ_REL: 3, Order.SEQ_CST: 4,
}  # fmt: skip


def weak_atomics(matching: Matching, flow: Flow) -> Iterator[Weaker]:
    """Atomics whose order is lost."""
    for group in matching.groups.values():
        asked = [op.stmt for op in group.operations if isinstance(op.stmt, Atomic)]
        if not asked:
            continue
        order = min((a.order for a in asked), key=_STRENGTH.__getitem__)
        scope = min((a.scope for a in asked), key=RANK.__getitem__)
        weak = [i for i in group.instrs if not access_keeps(matching, flow, i, group, order)]
        if weak and order is not Order.RELAXED:
            yield _weak_atomic(matching, weak, order, scope, asked[0])


def _weak_atomic(matching: Matching, weak: list[int], order: Order, scope: Scope, asked: Atomic) -> Weaker:
    instrs = tuple(matching.function.instrs[i] for i in weak)
    has, at = ORDER_WORDS[order_of(instrs[0])].lower(), scope_of(instrs[0])
    narrower = RANK[at] < RANK[scope]
    message = f"the compiled PTX drops the {ORDER_WORDS[order]} order of this atomic"
    if narrower:
        message += f", and its scope is the {SCOPE_WORDS[at]} only"
    label = f"asks for {ORDER_WORDS[order]} at {SCOPE_WORDS[scope]} scope, gets {has} at {SCOPE_WORDS[at]} scope"
    return Weaker(message, Site(asked.span, label), instrs, help=_help(order, asked.op), lost="rmw")


def _help(order: Order, op: str) -> tuple[str, ...]:
    if op in ("load", "store", "cas"):
        return ()
    before = "`fence(Ordering::Release)` before it" if order is not Order.ACQUIRE else ""
    after = "`fence(Ordering::Acquire)` after it" if order is not Order.RELEASE else ""
    fences = " and ".join(f for f in (before, after) if f)
    return (
        f"put {fences}, or use a compare-exchange loop (`fetch_update`): LLVM before version 23 keeps the order of "
        "compare-exchange, load, store and fence, and drops that of every other atomic operation for nvptx64",
    )


def narrow_scopes(matching: Matching) -> Iterator[tuple[Group, Scope, Scope]]:
    """Atomics (group, asked, has) whose scope is narrower than asked for; what that means depends on who else looks."""
    for group in matching.groups.values():
        asked = [op.stmt for op in group.operations if isinstance(op.stmt, Atomic)]
        if asked and group.instrs:
            scope = min((a.scope for a in asked), key=RANK.__getitem__)
            has = min((scope_of(matching.function.instrs[i]) for i in group.instrs), key=RANK.__getitem__)
            if RANK[has] < RANK[scope]:
                yield group, scope, has


def without_host(context: Context, with_host: Collection[str]) -> Iterator[Weaker]:
    """Atomics on memory that the host uses meanwhile whose scope leaves the host out."""
    for group, wanted, has in narrow_scopes(context.matching):
        asked = group.operations[0].stmt
        if isinstance(asked, Atomic) and wanted is Scope.SYSTEM and context.values.region(asked.ptr) in with_host:
            label = f"asks for system scope, gets {SCOPE_WORDS[has]} scope"
            yield Weaker(
                f"the compiled PTX narrows this atomic to {SCOPE_WORDS[has]} scope, which leaves out the host",
                Site(group.span, label),
                context.matching.instrs(group),
                help=("hand over to the host by an atomic store or a compare-exchange, which keep system scope",),
            )


def weak_fences(matching: Matching) -> Iterator[Weaker]:
    """Fences that order less or reach less far than the source's."""
    for group in matching.groups.values():
        asked = [op.stmt for op in group.operations if isinstance(op.stmt, Fence)]
        if not asked:
            continue
        order = min((f.order for f in asked), key=_STRENGTH.__getitem__)
        scope = min((f.scope for f in asked), key=RANK.__getitem__)
        weak = tuple(i for i in matching.instrs(group) if not fence_keeps(i, order, scope))
        if weak:
            has = f"{ORDER_WORDS[order_of(weak[0])]} at {SCOPE_WORDS[scope_of(weak[0])]} scope"
            label = f"asks for {ORDER_WORDS[order]} at {SCOPE_WORDS[scope]} scope, gets {has}"
            yield Weaker(
                "the compiled PTX has a weaker fence than the source", Site(asked[0].span, label), weak, lost="fence"
            )
