"""Futures: async blocks and functions run when they are awaited; device operations go to their dialect."""

from __future__ import annotations

from gpusafe.dataflow.host.access import peel
from gpusafe.dataflow.host.capturing import capture, run_closure
from gpusafe.dataflow.host.drops import take
from gpusafe.dataflow.host.handles import Lazy
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.values import ClosureVal, ThreadVal, Unknown, Value, ok
from gpusafe.ir.host import Join
from gpusafe.parse.rust import ast


def lazy_block(m: Machine, expr: ast.BlockExpr) -> Value:
    """``async { .. }``: a closure without parameters that has not run."""
    captures, owned = capture(m, expr.block, expr.move)
    node = ast.Closure(expr.span, (), ast.BlockExpr(expr.span, expr.block), expr.move, True)
    closure = ClosureVal(node, captures, owned, m.call, expr.block)
    return Lazy("async", (closure,), "std", expr.span)


def await_value(m: Machine, expr: ast.Await, expect: ast.Type | None) -> Value:
    """``e.await``."""
    return resolve(m, m.value(expr.operand, expect), expr)


def resolve(m: Machine, future: Value, expr: ast.Expr) -> Value:
    """Runs a future to its end."""
    found = peel(future)
    if isinstance(found, Lazy):
        if found.kind == "async" and isinstance(found.parts[0], ClosureVal):
            return run_closure(m, found.parts[0], [], expr.span, consume=True)
        from gpusafe.dataflow.host.device_ops import complete

        return complete(m, found, expr.span)
    if isinstance(found, ThreadVal):
        if not found.joined:
            m.emit(Join, expr.span, "await of a task", thread=found.ident)
            found.joined = True
        return ok(take(m, found.result))
    if isinstance(found, Unknown):
        return Unknown(found.why, None, found.holds)
    return future
