"""Barriers and fences."""

from __future__ import annotations

from collections.abc import Callable

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import FALSE, I32, U32
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.builtin.site import CallSite
from gpusafe.parse.cuda.context import Context, Unsupported
from gpusafe.parse.cuda.places import truth
from gpusafe.parse.cuda.values import NoValue, Operand, Term

Builtin = Callable[[Context, CallSite], Operand]
NOTHING = NoValue(t.VOID)


def _syncthreads(x: Context, site: CallSite) -> Operand:
    x.emit(k.Barrier(site.span, k.Scope.BLOCK))
    return NOTHING


def _reducing(reduce: str) -> Builtin:
    """``__syncthreads_count`` and kin (CUDA C++ Programming Guide, synchronization functions)."""

    def handler(x: Context, site: CallSite) -> Operand:
        value = truth(site.value(x, 0))
        var = x.temporary(site.last, I32)
        x.emit(k.Barrier(site.span, k.Scope.BLOCK, var=var.name, value=value, reduce=reduce))
        return Term(t.INT, var)

    return handler


def _syncwarp(x: Context, site: CallSite) -> Operand:
    mask = site.term(x, 0, t.UINT) if site.args else None
    x.emit(k.Barrier(site.span, k.Scope.WARP, mask=mask))
    return NOTHING


def _fence(scope: k.Scope, order: k.Order = k.Order.SEQ_CST) -> Builtin:
    def handler(x: Context, site: CallSite) -> Operand:
        x.emit(k.Fence(site.span, order, scope))
        return NOTHING

    return handler


def _trap(x: Context, site: CallSite) -> Operand:
    x.emit(k.Assume(site.span, FALSE, f"`{site.last}`"))
    return NOTHING


def _assert(x: Context, site: CallSite) -> Operand:
    cond = truth(site.value(x, 0))
    x.emit(k.Assume(site.span, cond, f"`{site.last}`"))
    return NOTHING


ORDERS = {
    "memory_order_relaxed": k.Order.RELAXED,
    "memory_order_consume": k.Order.ACQUIRE,
    "memory_order_acquire": k.Order.ACQUIRE,
    "memory_order_release": k.Order.RELEASE,
    "memory_order_acq_rel": k.Order.ACQ_REL,
    "memory_order_seq_cst": k.Order.SEQ_CST,
}
SCOPES = {
    "thread_scope_thread": k.Scope.BLOCK,
    "thread_scope_block": k.Scope.BLOCK,
    "thread_scope_device": k.Scope.DEVICE,
    "thread_scope_system": k.Scope.SYSTEM,
}


def order_named(text: str) -> k.Order:
    """The order that a name such as ``cuda::std::memory_order_acquire`` means."""
    last = text.rpartition("::")[2]
    found = ORDERS.get(last if last.startswith("memory_order") else f"memory_order_{last}")
    if found is None:
        raise Unsupported(f"the memory order `{text}`")
    return found


def scope_named(text: str) -> k.Scope:
    """The scope that a name such as ``cuda::thread_scope_block`` means."""
    found = SCOPES.get(text.rpartition("::")[2])
    if found is None:
        raise Unsupported(f"the scope `{text}`")
    return found


def _named_fence(x: Context, site: CallSite) -> Operand:
    from gpusafe.parse.cuda.render import render

    order = order_named(render(site.args[0])) if site.args else k.Order.SEQ_CST
    scope = scope_named(render(site.args[1])) if len(site.args) > 1 else k.Scope.SYSTEM
    x.emit(k.Fence(site.span, order, scope))
    return NOTHING


def _cluster(action: str) -> Builtin:
    def handler(x: Context, site: CallSite) -> Operand:
        x.emit(k.Barrier(site.span, k.Scope.CLUSTER, action, relaxed="relaxed" in site.last))
        return NOTHING

    return handler


SYNC: dict[str, Builtin] = {
    "__syncthreads": _syncthreads,
    "__barrier_sync": lambda x, site: _named_barrier(x, site),
    "__syncthreads_count": _reducing("count"),
    "__syncthreads_and": _reducing("and"),
    "__syncthreads_or": _reducing("or"),
    "__syncwarp": _syncwarp,
    "__threadfence_block": _fence(k.Scope.BLOCK),
    "__threadfence": _fence(k.Scope.DEVICE),
    "__threadfence_system": _fence(k.Scope.SYSTEM),
    "__trap": _trap,
    "abort": _trap,
    "__builtin_trap": _trap,
    "__builtin_unreachable": _trap,
    "__assert_fail": _trap,
    "assert": _assert,
    "cuda::atomic_thread_fence": _named_fence,
    "cuda::std::atomic_thread_fence": _named_fence,
    "atomic_thread_fence": _named_fence,
    "__cluster_barrier_arrive": _cluster("arrive"),
    "__cluster_barrier_arrive_relaxed": _cluster("arrive"),
    "__cluster_barrier_wait": _cluster("wait"),
}


def _named_barrier(x: Context, site: CallSite) -> Operand:
    ident = site.term(x, 0, t.Scalar(U32))
    x.emit(k.Barrier(site.span, k.Scope.BLOCK, ident=ident))
    return NOTHING
