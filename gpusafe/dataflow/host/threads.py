"""Host threads: a spawned closure is walked where it starts, its operations carry its thread."""

from __future__ import annotations

from collections.abc import Callable

from gpusafe.dataflow.host.access import peel
from gpusafe.dataflow.host.capturing import run_closure
from gpusafe.dataflow.host.handles import Lazy
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.results import Found
from gpusafe.dataflow.host.values import (
    Cell,
    ClosureVal,
    RefVal,
    SeqVal,
    ThreadVal,
    TupleVal,
    TypeVal,
    Unknown,
    Value,
    err,
    ok,
    unit,
)
from gpusafe.ir.host import Join, Spawn
from gpusafe.parse.rust import ast
from gpusafe.span import Span


def spawn(m: Machine, closure: Value, span: Span, scope: TypeVal | None) -> Value:
    """Starts a thread and walks its closure."""
    ident = m.fresh("thread")
    m.emit(Spawn, span, "spawn of a thread", thread=ident)
    outer, m.thread = m.thread, ident
    target = peel(closure)
    try:
        result: Value = Unknown("what a thread returns")
        if isinstance(target, ClosureVal):
            args: list[Value] = [RefVal(Cell(scope))] if scope is not None and target.node.params else []
            result = run_closure(m, target, args, span, consume=True)
    finally:
        m.thread = outer
    handle = ThreadVal(ident, Cell(result))
    if scope is not None and isinstance(scope.payload, list):
        scope.payload.append(handle)
    return handle


def scope(m: Machine, closure: Value, span: Span) -> Value:
    """``thread::scope``: threads that were not joined are joined at its end."""
    target = peel(closure)
    handles: list[ThreadVal] = []
    if not isinstance(target, ClosureVal):
        return Unknown("the result of a scope")
    result = run_closure(m, target, [RefVal(Cell(TypeVal("scope", handles)))], span)
    for handle in handles:
        if not handle.joined:
            m.emit(Join, span, "end of a thread scope", thread=handle.ident)
            handle.joined = True
    return result


def each(m: Machine, get: Callable[[int], Value], indices: range) -> list[Value]:
    """A parallel iterator: every element on a host thread of its own, all joined before it goes on."""
    if not m.calls:
        return [get(i) for i in indices]
    span = m.call.at
    outer, started, values = m.thread, [], []
    for index in indices:
        ident = m.fresh("thread")
        m.emit(Spawn, span, "a parallel iterator hands an element to a thread", thread=ident)
        started.append(ident)
        m.thread = ident
        try:
            values.append(get(index))
        finally:
            m.thread = outer
    for ident in started:
        m.emit(Join, span, "end of a parallel iterator", thread=ident)
    return values


def join_both(m: Machine, args: list[Value], expr: ast.Expr, path: ast.Path) -> Value:
    """``rayon::join``."""
    handles = [spawn(m, a, expr.span, None) for a in args[:2]]
    cells = []
    for handle in handles:
        assert isinstance(handle, ThreadVal)
        m.emit(Join, expr.span, "end of a join", thread=handle.ident)
        cells.append(handle.result)
    return TupleVal(cells)


def spawn_future(m: Machine, future: Value, span: Span) -> Value:
    """``tokio::spawn``: a host task starts at once; device operations get their stream now."""
    target = peel(future)
    if isinstance(target, Lazy) and target.dialect == "std" and isinstance(target.parts[0], ClosureVal):
        return spawn(m, target.parts[0], span, None)
    if isinstance(target, Lazy) and target.dialect != "std":
        from gpusafe.dataflow.host.device_ops import start

        return start(m, target, span)
    return future


def channel(m: Machine, args: list[Value], expr: ast.Expr, path: ast.Path) -> Value:
    """A channel: what is sent is received in order."""
    queue: list[Value] = []
    return TupleVal([Cell(TypeVal("sender", queue)), Cell(TypeVal("receiver", queue))])


def channel_method(m: Machine, end: TypeVal, name: str, args: list[Value]) -> Found | None:
    """``send``, ``recv`` and iteration."""
    queue = end.payload
    if not isinstance(queue, list):
        return None
    match name:
        case "send" | "try_send":
            queue.append(args[0])
            m.closing_gaps.append("values that go through a channel between host threads")
            return Found(ok(unit()))
        case "recv" | "try_recv" | "recv_timeout":
            return Found(ok(queue.pop(0)) if queue else err(Unknown("a closed channel")))
        case "iter" | "into_iter" | "try_iter":
            items = [Cell(v) for v in queue]
            queue.clear()
            return Found(SeqVal("vec", items, len(items)))
        case "clone":
            return Found(end)
    return None
