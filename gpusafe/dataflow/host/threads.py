"""Host threads: a spawned closure is walked where it starts, its operations carry its thread."""

from __future__ import annotations

from gpusafe.dataflow.host.access import peel
from gpusafe.dataflow.host.capturing import run_closure
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.values import Cell, ClosureVal, RefVal, ThreadVal, TypeVal, Unknown, Value
from gpusafe.ir.host import Join, Spawn
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
