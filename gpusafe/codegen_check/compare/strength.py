"""Memory orders and scopes of PTX instructions, and whether they are as strong as the source asks."""

from __future__ import annotations

from gpusafe.codegen_check.compare.matching import INSTRUCTIONS, Group, Matching
from gpusafe.codegen_check.ptx import Flow, Instr
from gpusafe.ir.kernel import Order, Scope

SCOPES = {"cta": Scope.BLOCK, "cluster": Scope.CLUSTER, "gpu": Scope.DEVICE, "gl": Scope.DEVICE, "sys": Scope.SYSTEM}
RANK = {Scope.WARP: 0, Scope.BLOCK: 1, Scope.CLUSTER: 2, Scope.DEVICE: 3, Scope.SYSTEM: 4}
SCOPE_WORDS = {
    Scope.WARP: "warp", Scope.BLOCK: "block", Scope.CLUSTER: "cluster", Scope.DEVICE: "device", Scope.SYSTEM: "system",
}  # fmt: skip
ORDER_WORDS = {
    Order.WEAK: "plain", Order.RELAXED: "Relaxed", Order.ACQUIRE: "Acquire", Order.RELEASE: "Release",
    Order.ACQ_REL: "AcqRel", Order.SEQ_CST: "SeqCst",
}  # fmt: skip

_ORDERS = {
    "relaxed": Order.RELAXED, "acquire": Order.ACQUIRE, "release": Order.RELEASE, "acq_rel": Order.ACQ_REL,
    "sc": Order.SEQ_CST, "volatile": Order.RELAXED,
}  # fmt: skip
_ORDERED = frozenset({"ld", "st", "atom", "red", "bar", "barrier", "mbarrier", "cp", "call"})
RELEASES = frozenset({Order.RELEASE, Order.ACQ_REL, Order.SEQ_CST})
ACQUIRES = frozenset({Order.ACQUIRE, Order.ACQ_REL, Order.SEQ_CST})


def order_of(instr: Instr) -> Order:
    """The order that an instruction has by its modifiers and the defaults of the PTX ISA (9.7.13)."""
    if instr.opcode[0] == "membar":
        return Order.SEQ_CST
    said = next((_ORDERS[p] for p in instr.opcode if p in _ORDERS), None)
    if said is not None:
        return said
    return {"fence": Order.ACQ_REL, "atom": Order.RELAXED, "red": Order.RELAXED}.get(instr.opcode[0], Order.WEAK)


def scope_of(instr: Instr) -> Scope:
    """The scope of a strong instruction: ``atom`` and ``red`` default to the device, volatile is system-wide."""
    if instr.has("volatile"):
        return Scope.SYSTEM
    return next((SCOPES[p] for p in instr.opcode if p in SCOPES), Scope.DEVICE)


def fence_keeps(instr: Instr, order: Order, scope: Scope) -> bool:
    """Whether a fence orders at least as much as one of this order and scope."""
    has = order_of(instr)
    strong = has is Order.SEQ_CST or has is order or (has is Order.ACQ_REL and order is not Order.SEQ_CST)
    return strong and RANK[scope_of(instr)] >= RANK[scope]


def access_keeps(matching: Matching, flow: Flow, index: int, group: Group, order: Order) -> bool:
    """Whether an atomic access together with the fences right before and after it has at least this order."""
    instr = matching.function.instrs[index]
    has = order_of(instr)
    releases = order not in RELEASES or _loads_only(instr) or has in RELEASES
    acquires = order not in ACQUIRES or _stores_only(instr) or has in ACQUIRES
    if not releases:
        releases = _fence_beside(matching, flow, index, group, Order.RELEASE, -1)
    if not acquires:
        acquires = _fence_beside(matching, flow, index, group, Order.ACQUIRE, 1)
    if order is Order.SEQ_CST:
        ordered = _fence_beside(matching, flow, index, group, Order.SEQ_CST, -1) or _fence_beside(
            matching, flow, index, group, Order.SEQ_CST, 1
        )
        return ordered and acquires  # the fence.sc releases
    return releases and acquires


def _loads_only(instr: Instr) -> bool:
    return instr.opcode[0] == "ld"


def _stores_only(instr: Instr) -> bool:
    return instr.opcode[0] == "st"


def _fence_beside(matching: Matching, flow: Flow, index: int, group: Group, order: Order, step: int) -> bool:
    """Whether on every way before (-1) or after (1) an access a fence comes before anything else that it must order.

    Instructions of the same origin do not count: the loop of an emulated operation is one operation.
    """
    instrs = matching.function.instrs
    scope, chain = scope_of(instrs[index]), instrs[index].chain
    home = flow.block_of(index)
    stack, seen = [(home, index + step)], {home}
    while stack:
        block, at = stack.pop()
        start, end = flow.blocks[block]
        found = None
        while start <= at < end and found is None:
            other = instrs[at]
            if INSTRUCTIONS["fence"](other):
                found = fence_keeps(other, order, scope)
            elif _must_be_ordered(other) and at not in group.instrs and other.chain != chain:
                found = False
            at += step
        if found is False:
            return False
        if found is None:
            ways = flow.predecessors[block] if step < 0 else flow.successors[block]
            if not ways or (step < 0 and block == 0):
                return False
            for way in ways:
                if way not in seen:
                    seen.add(way)
                    first, last = flow.blocks[way]
                    stack.append((way, last - 1 if step < 0 else first))
    return True


def _must_be_ordered(instr: Instr) -> bool:
    """An access, or a barrier (behind which other threads' accesses may stand)."""
    return instr.opcode[0] in _ORDERED and not instr.has("param")
