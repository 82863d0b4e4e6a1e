"""Statements as code of the clock machine. What memory holds is not known, so that a run speaks for all contents."""

from __future__ import annotations

from collections.abc import Callable, Generator
from math import prod
from typing import TYPE_CHECKING, Any

from gpusafe.dataflow.clocks import waiting
from gpusafe.dataflow.clocks.barriers import Pair
from gpusafe.dataflow.clocks.polling import polls
from gpusafe.dataflow.concrete.evaluate import UNKNOWN, Unknowable, compile_expr
from gpusafe.dataflow.state import assigned
from gpusafe.dataflow.taint import walk
from gpusafe.ir import kernel as ir
from gpusafe.ir.expr import Type
from gpusafe.ir.kernel import Scope, Space

if TYPE_CHECKING:
    from gpusafe.dataflow.clocks.machine import Cluster, Thread

Gen = Generator[Callable[[], bool], None, object]
Runner = Callable[["Thread"], Gen]
RETURN = object()
FULL = 0xFFFF_FFFF
PLAIN = (ir.Assign, ir.Havoc, ir.Load, ir.Store, ir.ExclusiveBorrow, ir.Atomic, ir.If, ir.Block, ir.Assume, ir.Fence)


class Jump:
    """Leaving a labelled block or loop, or starting its next iteration."""

    __slots__ = ("again", "label")

    def __init__(self, label: str, again: bool) -> None:
        self.label, self.again = label, again


class Program:
    """A kernel compiled for one cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.polled: set[int] = set()
        for stmt in walk(cluster.kernel.body):
            if isinstance(stmt, ir.Loop) and (only := polls(stmt)) is not None:
                self.polled.add(id(only))
        self.body = self.block(cluster.kernel.body)

    def start(self, thread: Thread) -> Gen:
        """The running code of a thread."""
        return self.body(thread)

    def block(self, body: tuple[ir.Stmt, ...]) -> Runner:
        """Statements in order."""
        codes = [self.statement(s) for s in body]
        step = self.cluster.step

        def run(t: Thread) -> Gen:
            for plain, code in codes:
                step()
                signal = plain(t) if plain is not None else (yield from code(t))  # type: ignore[misc]
                if signal is not None:
                    return signal
            return None

        return run

    def statement(self, stmt: ir.Stmt) -> tuple[Callable[[Thread], object] | None, Runner | None]:
        """One statement: a function, or a generator where it may wait."""
        c = self.cluster
        match stmt:
            case ir.If():
                return None, self._if(stmt)
            case ir.Block(label=label, body=body):
                return None, self._labelled(label, self.block(body), False)
            case ir.Loop(label=label, body=body):
                return None, self._labelled(label, self.block(body), True)
            case ir.Break(label=label):
                leave = Jump(label, False)
                return lambda t: leave, None
            case ir.Continue(label=label):
                again = Jump(label, True)
                return lambda t: again, None
            case ir.Return():
                return lambda t: RETURN, None
            case ir.Barrier(scope=Scope.CLUSTER):
                return None, waiting.cluster_barrier(c, stmt)
            case ir.Barrier(scope=Scope.BLOCK):
                return None, waiting.block_barrier(c, stmt)
            case ir.Barrier(scope=Scope.WARP):
                return None, waiting.warp_barrier(c, stmt)
            case ir.MBarrier(
                op="wait" | "wait_parity" | "test_wait" | "try_wait" | "try_wait_parity" | "test_wait_parity"
            ):
                polled = id(stmt) in self.polled or stmt.op in ("wait", "wait_parity")
                return None, waiting.mbarrier_wait(c, stmt, polled)
            case ir.MBarrier():
                return waiting.mbarrier(c, stmt), None
            case ir.AsyncCopy() if stmt.kind != "cp.async":
                return waiting.bulk_copy(c, stmt), None
        return self._simple(stmt), None

    def _simple(self, stmt: ir.Stmt) -> Callable[[Thread], object]:
        c = self.cluster
        match stmt:
            case ir.Assign(var=target, value=value):
                fn = compile_expr(value)
                return lambda t: t.env.__setitem__(target, fn(t.env))
            case ir.Havoc(var=name):
                return lambda t: t.env.__setitem__(name, UNKNOWN)
            case ir.Load():
                return self._load(stmt)
            case ir.Store():
                return self._store(stmt)
            case ir.ExclusiveBorrow(ptr=ptr, size=size, span=span):
                place = compile_expr(ptr)
                return lambda t: c.access(t, place(t.env), size, "borrow", span, True)
            case ir.Atomic():
                return self._atomic(stmt)
            case ir.Assume(cond=cond):
                return self._assume(compile_expr(cond))
            case ir.Fence(scope=scope, order=order):
                strong = order in (ir.Order.RELEASE, ir.Order.ACQ_REL, ir.Order.SEQ_CST)
                wide = scope in (Scope.CLUSTER, Scope.DEVICE, Scope.SYSTEM)
                return lambda t: _fence(t, wide) if strong else None
            case ir.ProxyFence(kind=kind):
                return lambda t: _proxy_fence(c, t, kind)
            case ir.WarpOp(var=var, op="elect", mask=mask):
                lanes = compile_expr(mask) if mask is not None else (lambda env: FULL)
                return lambda t: _elect(c, t, var, lanes(t.env))
            case ir.WarpOp(var=var):
                return lambda t: t.env.__setitem__(var, UNKNOWN) if var is not None else None
            case ir.AsyncControl(kind="bulk"):
                return lambda t: waiting.bulk_control(t, stmt)
        name = type(stmt).__name__
        what = stmt.what if isinstance(stmt, ir.Unmodelled) else name

        def stop(t: Thread) -> object:
            raise Unknowable(f"{what} is not modelled")

        return stop

    def _load(self, stmt: ir.Load) -> Callable[[Thread], object]:
        at, c = compile_expr(stmt.ptr), self.cluster

        def load(t: Thread) -> object:
            pointer = at(t.env)
            c.access(t, pointer, stmt.type.bytes, "read", stmt.span, False, None, stmt.volatile)
            if stmt.var is not None:
                t.env[stmt.var] = self._value(t, pointer, stmt.type)
            return None

        return load

    def _value(self, t: Thread, pointer: Any, type_: Type) -> Any:
        name = pointer[0]
        if isinstance(name, str) and self.cluster.regions[name].space is Space.LOCAL:
            size, value = t.local.get((name, pointer[1]), (0, UNKNOWN))
            return value if size == type_.bytes else UNKNOWN
        return UNKNOWN

    def _store(self, stmt: ir.Store) -> Callable[[Thread], object]:
        at, value, c = compile_expr(stmt.ptr), compile_expr(stmt.value), self.cluster

        def store(t: Thread) -> object:
            pointer = at(t.env)
            c.access(t, pointer, stmt.size, "write", stmt.span, True, None, stmt.volatile)
            name, offset = pointer
            if isinstance(name, str) and c.regions[name].space is Space.LOCAL:
                for near in [k for k in t.local if k[0] == name and offset - 16 < k[1] < offset + stmt.size]:
                    del t.local[near]
                t.local[name, offset] = (stmt.size, UNKNOWN if t.may else value(t.env))
            return None

        return store

    def _atomic(self, stmt: ir.Atomic) -> Callable[[Thread], object]:
        at, c = compile_expr(stmt.ptr), self.cluster

        def atomic(t: Thread) -> object:
            c.access(t, at(t.env), stmt.type.bytes, "atomic", stmt.span, stmt.op != "load", stmt.scope)
            for var in (stmt.var, stmt.success):
                if var is not None:
                    t.env[var] = UNKNOWN
            return None

        return atomic

    def _assume(self, test: Callable[[dict[str, Any]], Any]) -> Callable[[Thread], object]:
        def check(t: Thread) -> object:
            holds = test(t.env)
            if holds is not UNKNOWN and not holds:
                raise Unknowable("a thread traps")
            return None

        return check

    def _if(self, stmt: ir.If) -> Runner:
        test, then, orelse = compile_expr(stmt.cond), self.block(stmt.then), self.block(stmt.orelse)
        both = (stmt,)
        plain = all(isinstance(s, (*PLAIN, ir.Break)) for s in walk(both))
        changed = sorted(assigned(both))

        def run(t: Thread) -> Gen:
            taken = test(t.env)
            if taken is not UNKNOWN:
                return (yield from (then if taken else orelse)(t))
            if not plain:
                raise Unknowable("a branch on a value that is not known")
            outer, t.may = t.may, True
            before = {v: t.env.get(v, UNKNOWN) for v in changed}
            for way in (then, orelse):
                if (yield from way(t)) is not None:
                    raise Unknowable("a branch on a value that is not known")
                t.env.update(before)
            t.env.update(dict.fromkeys(changed, UNKNOWN))
            t.may = outer
            return None

        return run

    def _labelled(self, label: str, body: Runner, loops: bool) -> Runner:
        step = self.cluster.step

        def run(t: Thread) -> Gen:
            while True:
                step()
                signal = yield from body(t)
                if isinstance(signal, Jump) and signal.label == label:
                    if not (signal.again and loops):
                        return None
                elif signal is not None:
                    return signal
                elif not loops:
                    return None

        return run


def _fence(t: Thread, wide: bool) -> None:
    if t.may:  # it may not be executed
        return
    t.near = t.knows
    t.fence = t.knows if wide else t.fence
    t.tick()


def _proxy_fence(c: Cluster, t: Thread, kind: str) -> None:
    from gpusafe.dataflow.clocks.machine import GENERIC

    if kind not in GENERIC:
        c.doubt(f"the proxy fence `{kind}`")
    elif c.async_:
        t.knows = Pair(t.knows.seen, list(map(max, t.knows.fenced, t.knows.seen)))
        t.tick()


def _elect(c: Cluster, t: Thread, var: str | None, lanes: Any) -> None:
    if lanes is UNKNOWN or lanes & FULL != FULL or prod(c.block) % 32:
        raise Unknowable("which lane of a part of a warp is elected is not known")
    if var is not None:
        t.env[var] = t.env["%laneid"] == c.elected
