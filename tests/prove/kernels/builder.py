"""A compact way to write kernels by hand: expressions with operators, statements in nested ``with`` blocks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gpusafe.ir import kernel as ir
from gpusafe.ir.expr import (
    BOOL,
    F32,
    PTR,
    U32,
    U64,
    Binary,
    Cast,
    Const,
    Expr,
    Length,
    Op,
    Param,
    PtrAdd,
    PtrBase,
    Select,
    Special,
    Type,
    Unary,
    Var,
)  # fmt: skip
from gpusafe.ir.host import Enqueue, Frame, HostPath, LaunchArg, LaunchShape, LaunchSite, Memory, MemRange
from gpusafe.ir.kernel import Order, Region, Scope, Space
from gpusafe.span import Span

COMPARE = {Op.EQ, Op.NE, Op.LT, Op.LE, Op.GT, Op.GE}


def span(line: int) -> Span:
    """A span in the test's imaginary file."""
    return Span("kernel.rs", line, 1, line, 20)


class V:
    """An expression with operators; plain integers become literals of the other operand's type."""

    def __init__(self, expr: Expr) -> None:
        self.expr = expr

    def _op(self, op: Op, other: V | int, swap: bool = False) -> V:
        right = other.expr if isinstance(other, V) else Const(self.expr.type, other)
        a, b = (right, self.expr) if swap else (self.expr, right)
        return V(Binary(BOOL if op in COMPARE else a.type, op, a, b))

    def __add__(self, o: V | int) -> V:
        return self._op(Op.ADD, o)

    def __radd__(self, o: int) -> V:
        return self._op(Op.ADD, o, True)

    def __sub__(self, o: V | int) -> V:
        return self._op(Op.SUB, o)

    def __rsub__(self, o: int) -> V:
        return self._op(Op.SUB, o, True)

    def __mul__(self, o: V | int) -> V:
        return self._op(Op.MUL, o)

    def __rmul__(self, o: int) -> V:
        return self._op(Op.MUL, o, True)

    def __floordiv__(self, o: V | int) -> V:
        return self._op(Op.DIV, o)

    def __mod__(self, o: V | int) -> V:
        return self._op(Op.REM, o)

    def __and__(self, o: V | int) -> V:
        return self._op(Op.LAND if self.expr.type == BOOL else Op.AND, o)

    def __or__(self, o: V | int) -> V:
        return self._op(Op.LOR if self.expr.type == BOOL else Op.OR, o)

    def __xor__(self, o: V | int) -> V:
        return self._op(Op.XOR, o)

    def __lshift__(self, o: V | int) -> V:
        return self._op(Op.SHL, o)

    def __rshift__(self, o: V | int) -> V:
        return self._op(Op.SHR, o)

    def __lt__(self, o: V | int) -> V:
        return self._op(Op.LT, o)

    def __le__(self, o: V | int) -> V:
        return self._op(Op.LE, o)

    def __gt__(self, o: V | int) -> V:
        return self._op(Op.GT, o)

    def __ge__(self, o: V | int) -> V:
        return self._op(Op.GE, o)

    def eq(self, o: V | int) -> V:
        return self._op(Op.EQ, o)

    def ne(self, o: V | int) -> V:
        return self._op(Op.NE, o)

    def __invert__(self) -> V:
        return V(Unary(self.expr.type, Op.NOT, self.expr))

    def to(self, type_: Type) -> V:
        return V(Cast(type_, self.expr))


def select(cond: V, a: V, b: V) -> V:
    return V(Select(a.expr.type, cond.expr, a.expr, b.expr))


class Array:
    """A region seen as an array of elements."""

    def __init__(self, name: str, element: Type) -> None:
        self.name = name
        self.element = element

    def at(self, index: V | int) -> Expr:
        where = index.expr if isinstance(index, V) else Const(U64, index)
        wide = where if where.type.bits == 64 else Cast(U64, where)
        offset = Binary(U64, Op.MUL, wide, Const(U64, self.element.bytes), True)
        return PtrAdd(PTR, PtrBase(PTR, self.name), offset)

    @property
    def length(self) -> V:
        return V(Length(U64, self.name))


class KernelBuilder:
    """Collects the parts of one kernel."""

    def __init__(self, name: str = "k") -> None:
        self.name = name
        self.params: list[ir.KernelParam] = []
        self.regions: list[Region] = []
        self.body: list[ir.Stmt] = []
        self.line = 10
        self.fresh = 0
        self.contract = ir.LaunchContract()

    def _span(self) -> Span:
        self.line += 1
        return span(self.line)

    def emit(self, stmt: ir.Stmt) -> None:
        self.body.append(stmt)

    def scalar(self, name: str, type_: Type = U32) -> V:
        self.params.append(ir.KernelParam(name, "scalar", type_, None, span(1)))
        return V(Param(type_, name))

    def pointer(self, name: str, element: Type = F32, read_only: bool = False) -> Array:
        self.params.append(ir.KernelParam(name, "pointer", element, name, span(1)))
        self.regions.append(Region(name, Space.GLOBAL, element.bytes, None, span(1), len(self.params) - 1, read_only))
        return Array(name, element)

    def slice(self, name: str, element: Type = F32, read_only: bool = False) -> Array:
        kind = "slice" if read_only else "disjoint"
        self.params.append(ir.KernelParam(name, kind, element, name, span(1)))
        length = Length(U64, name)
        self.regions.append(Region(name, Space.GLOBAL, element.bytes, length, span(1), len(self.params) - 1, read_only))
        return Array(name, element)

    def shared(self, name: str, length: int, element: Type = F32) -> Array:
        self.regions.append(Region(name, Space.SHARED, element.bytes, Const(U64, length), span(2), initialized=False))
        return Array(name, element)

    def dynamic_shared(self, name: str, element: Type = F32) -> Array:
        self.regions.append(Region(name, Space.DYNAMIC_SHARED, element.bytes, None, span(2), initialized=False))
        return Array(name, element)

    def special(self, name: str) -> V:
        return V(Special(U32, name))

    @property
    def tid(self) -> V:
        return self.special("tid.x")

    @property
    def block(self) -> V:
        return self.special("ctaid.x")

    @property
    def threads(self) -> V:
        return self.special("ntid.x")

    @property
    def blocks(self) -> V:
        return self.special("nctaid.x")

    @property
    def gid(self) -> V:
        return self.block * self.threads + self.tid

    def var(self, name: str, value: V | int, type_: Type = U32) -> V:
        expr = value.expr if isinstance(value, V) else Const(type_, value)
        self.emit(ir.Assign(self._span(), name, expr))
        return V(Var(expr.type, name))

    def set(self, var: V, value: V | int) -> None:
        assert isinstance(var.expr, Var)
        self.var(var.expr.name, value, var.expr.type)

    def load(self, array: Array, index: V | int, volatile: bool = False) -> V:
        self.fresh += 1
        name = f"loaded{self.fresh}"
        self.emit(ir.Load(self._span(), name, array.at(index), array.element, volatile))
        return V(Var(array.element, name))

    def store(self, array: Array, index: V | int, value: V | float = 0.0) -> None:
        expr = value.expr if isinstance(value, V) else Const(array.element, value)
        self.emit(ir.Store(self._span(), array.at(index), expr, array.element.bytes))

    def atomic_add(self, array: Array, index: V | int, value: V | int = 1, scope: Scope = Scope.DEVICE) -> V:
        self.fresh += 1
        name = f"old{self.fresh}"
        operand = value.expr if isinstance(value, V) else Const(array.element, value)
        self.emit(
            ir.Atomic(self._span(), name, "add", array.at(index), (operand,), array.element, Order.RELAXED, scope)
        )
        return V(Var(array.element, name))

    def exchange(self, array: Array, index: V | int, value: int, scope: Scope = Scope.DEVICE) -> None:
        operand = Const(array.element, value)
        self.emit(
            ir.Atomic(self._span(), None, "exch", array.at(index), (operand,), array.element, Order.RELAXED, scope)
        )

    def fence(self, scope: Scope = Scope.DEVICE) -> None:
        self.emit(ir.Fence(self._span(), Order.SEQ_CST, scope))

    def wait_for(self, array: Array, index: V | int) -> None:
        """``while atomicAdd(&array[index], 0) == 0 {}``"""
        self.fresh += 1
        label = f"spin{self.fresh}"
        outer, self.body = self.body, []
        seen = self.atomic_add(array, index, 0)
        self.emit(ir.If(self._span(), seen.ne(0).expr, (ir.Break(self._span(), label),)))
        inner, self.body = self.body, outer
        self.emit(ir.Loop(self._span(), label, tuple(inner)))

    def borrow(self, array: Array, index: V | int) -> None:
        self.emit(ir.ExclusiveBorrow(self._span(), array.at(index), array.element.bytes))

    def sync(self, scope: Scope = Scope.BLOCK) -> int:
        self.emit(ir.Barrier(self._span(), scope))
        return self.line

    def assume(self, cond: V) -> None:
        self.emit(ir.Assume(self._span(), cond.expr, "a check"))

    def stop(self) -> None:
        self.emit(ir.Return(self._span()))

    @contextmanager
    def when(self, cond: V) -> Iterator[None]:
        outer, self.body = self.body, []
        yield
        inner, self.body = self.body, outer
        self.emit(ir.If(self._span(), cond.expr, tuple(inner)))

    @contextmanager
    def loop(self, cond: V) -> Iterator[None]:
        """``while cond { .. }``"""
        self.fresh += 1
        label = f"loop{self.fresh}"
        outer, self.body = self.body, []
        self.emit(ir.If(self._span(), (~cond).expr, (ir.Break(self._span(), label),)))
        yield
        inner, self.body = self.body, outer
        self.emit(ir.Loop(self._span(), label, tuple(inner)))

    @contextmanager
    def count(self, name: str, start: V | int, end: V | int, step: V | int = 1, type_: Type = U32) -> Iterator[V]:
        """``for name in (start..end).step_by(step)``"""
        i = self.var(name, start, type_)
        with self.loop(i < end):
            yield i
            self.set(i, i + step)

    def build(self) -> ir.Kernel:
        return ir.Kernel(
            self.name, f"crate::{self.name}", "ptx-kernel", tuple(self.params), tuple(self.regions), tuple(self.body),
            Span("kernel.rs", 1, 1, 99, 1), self.contract,
        )  # fmt: skip


def launch(
    kernel: ir.Kernel,
    grid: tuple[int, int, int] | int,
    block: tuple[int, int, int] | int,
    args: dict[str, object] | None = None,
    assumes: tuple[Expr, ...] = (),
    shared: int = 0,
) -> LaunchSite:
    """A launch: scalars as ints or terms, arrays as their length in elements (missing: long enough for anything)."""
    args = args or {}
    axes = lambda v: (v, 1, 1) if isinstance(v, int) else v  # noqa: E731
    memory: dict[str, Memory] = {}
    passed = []
    for param in kernel.params:
        value = args.get(param.name, 1 << 20)
        number = value if isinstance(value, Expr) else Const(param.type if param.kind == "scalar" else U64, value)  # type: ignore[arg-type]
        if param.kind == "scalar":
            passed.append(LaunchArg("scalar", span(50), number, type=param.type))
        else:
            size = param.type.bytes if param.type else 4
            memory[param.name] = Memory(param.name, "device", size, number, None, param.name, span(49))
            whole = MemRange(param.name, Const(U64, 0), None)
            passed.append(LaunchArg("memory", span(50), range=whole, passed="mut", elem_bytes=size, length=number))
    constants = lambda v: tuple(Const(U32, x) if isinstance(x, int) else x for x in axes(v))  # noqa: E731
    op = Enqueue(
        (Frame("main", span(40), span(50)),), f"launch of `{kernel.name}`", "s", "launch", kernel=kernel.key,
        kernel_name=kernel.name, shape=LaunchShape(constants(grid), constants(block), Const(U32, shared)),
        args=tuple(passed),
    )  # fmt: skip
    return LaunchSite(op, HostPath("main", span(40), (op,), {}, memory, assumes=assumes))
