"""Kernels written as IR by hand, for comparisons with hand-written PTX."""

from __future__ import annotations

from gpusafe.ir.expr import BOOL, U32, USIZE, Binary, Const, Expr, Op, Param, PtrAdd, PtrBase, Special, Var
from gpusafe.ir.kernel import (
    Atomic,
    Barrier,
    Fence,
    If,
    Kernel,
    KernelParam,
    Load,
    Order,
    Region,
    Scope,
    Space,
    Stmt,
    Store,
)
from tests.codegen_check.ptx_texts import span

ONE = Const(U32, 1)
FLAG = PtrBase(Param(U32, "p").type, "p")


def kernel(*body: Stmt, regions: tuple[Region, ...] = ()) -> Kernel:
    """A kernel with one pointer parameter ``p``."""
    own = Region("p", Space.GLOBAL, 4, None, span(1), param=0)
    params = (KernelParam("p", "pointer", U32, "p", span(1)), KernelParam("n", "scalar", U32, None, span(1)))
    return Kernel("k", "crate::k", "ptx-kernel", params, (own, *regions), body, span(1))


def rmw(line: int, order: Order = Order.ACQ_REL, scope: Scope = Scope.SYSTEM) -> Atomic:
    """``fetch_add`` on the parameter."""
    return Atomic(span(line), "old", "add", FLAG, (Const(U32, 1),), U32, order, scope)


def fence(line: int, order: Order = Order.ACQ_REL, scope: Scope = Scope.DEVICE) -> Fence:
    """A fence."""
    return Fence(span(line), order, scope)


def barrier(line: int) -> Barrier:
    """``_syncthreads()``."""
    return Barrier(span(line), Scope.BLOCK)


def load(line: int, var: str) -> Load:
    """A plain load of the parameter."""
    return Load(span(line), var, FLAG, U32)


def store(line: int, value: Expr = ONE) -> Store:
    """A plain store to the parameter."""
    return Store(span(line), FLAG, value, 4)


def for_thread_zero(line: int, *then: Stmt) -> If:
    """``if tid.x == 0 { then }``."""
    return If(span(line), Binary(BOOL, Op.EQ, Special(U32, "tid.x"), Const(U32, 0)), then)


def use(line: int, var: str) -> Store:
    """``*p.add(1) = var``, so that ``var`` is used (another element: not the flag)."""
    return Store(span(line), PtrAdd(FLAG.type, FLAG, Const(USIZE, 4)), Var(U32, var), 4)
