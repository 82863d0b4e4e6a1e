"""``bar``, ``barrier``, ``fence``, ``membar``, ``trap`` (PTX ISA, parallel synchronization)."""

from __future__ import annotations

from collections.abc import Callable

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import FALSE, U32
from gpusafe.parse.cuda import terms
from gpusafe.parse.cuda.context import Context
from gpusafe.parse.cuda.ptx.memory import order_of, scope_of
from gpusafe.parse.cuda.ptx.registers import Registers
from gpusafe.parse.cuda.ptx.text import Instruction

Handler = Callable[[Context, Registers, Instruction], bool]
_MEMBAR = {"cta": k.Scope.BLOCK, "gl": k.Scope.DEVICE, "sys": k.Scope.SYSTEM}


def _bar(x: Context, r: Registers, i: Instruction) -> bool:
    if i.has("cluster"):
        action = "arrive" if i.has("arrive") else "wait"
        x.emit(k.Barrier(r.span, k.Scope.CLUSTER, action, relaxed=i.has("relaxed")))
        return True
    if i.has("warp"):
        x.emit(k.Barrier(r.span, k.Scope.WARP, mask=r.get(i.operands[0], U32)))
        return True
    if i.has("red") or not i.has("sync", "arrive"):
        return False
    ident = r.get(i.operands[0], U32) if i.operands else None
    count = r.get(i.operands[1], U32) if len(i.operands) > 1 else None
    if count is None and ident is not None and terms.value_of(ident) == 0:
        ident = None  # barrier 0 of the whole block is what `__syncthreads` uses
    action = "arrive" if i.has("arrive") else "sync"
    x.emit(k.Barrier(r.span, k.Scope.BLOCK, action, ident=ident, count=count))
    return True


def _membar(x: Context, r: Registers, i: Instruction) -> bool:
    scope = next((_MEMBAR[w] for w in i.words if w in _MEMBAR), None)
    if scope is None:
        return False
    x.emit(k.Fence(r.span, k.Order.SEQ_CST, scope))
    return True


def _fence(x: Context, r: Registers, i: Instruction) -> bool:
    """``fence`` without an order is acq_rel."""
    if i.has("proxy"):
        kind = ".".join(i.words[i.words.index("proxy") + 1 :])
        x.emit(k.ProxyFence(r.span, kind))
        return True
    if i.has("mbarrier_init"):
        x.emit(k.Fence(r.span, k.Order.RELEASE, k.Scope.CLUSTER))
        return True
    x.emit(k.Fence(r.span, order_of(i, k.Order.ACQ_REL), scope_of(i, k.Scope.DEVICE)))
    return True


def _trap(x: Context, r: Registers, i: Instruction) -> bool:
    x.emit(k.Assume(r.span, FALSE, "`trap`"))
    return True


def _exit(x: Context, r: Registers, i: Instruction) -> bool:
    x.emit(k.Return(r.span))
    return True


INSTRUCTIONS: dict[str, Handler] = {
    "bar": _bar,
    "barrier": _bar,
    "membar": _membar,
    "fence": _fence,
    "trap": _trap,
    "exit": _exit,
}
