"""Closures: what they capture, and how they run."""

from __future__ import annotations

from gpusafe.dataflow.host.blocks import closing, run_scoped, statement
from gpusafe.dataflow.host.drops import take
from gpusafe.dataflow.host.machine import MAX_DEPTH, Call, Machine, Scope
from gpusafe.dataflow.host.signals import CutSignal, ReturnSignal
from gpusafe.dataflow.host.syntax_walk import mentioned
from gpusafe.dataflow.host.typing_rules import apply_type
from gpusafe.dataflow.host.values import MOVED, Cell, ClosureVal, RefVal, TupleVal, Value
from gpusafe.parse.rust import ast
from gpusafe.span import Span


def make_closure(m: Machine, node: ast.Closure) -> ClosureVal:
    """A closure over the variables that its body mentions."""
    captures, owned = capture(m, node.body, node.move)
    return ClosureVal(node, captures, owned, m.call)


def capture(m: Machine, body: ast.Node, move: bool) -> tuple[dict[str, Cell], list[Cell]]:
    """The cells that code sees of the variables around it; those that it owns when it is ``move``."""
    captures: dict[str, Cell] = {}
    owned: list[Cell] = []
    for name in m.program.once("mentioned", body, lambda: mentioned(body)):
        cell = m.lookup(name)
        if cell is None:
            continue
        if not move:
            captures[name] = cell
            continue
        if cell.value is MOVED:
            continue
        inner = Cell(take(m, cell), name)
        captures[name] = inner
        if not isinstance(inner.value, RefVal):
            owned.append(inner)
    return captures, owned


def run_closure(m: Machine, closure: ClosureVal, args: list[Value], span: Span, consume: bool = False) -> Value:
    """Calls a closure; ``consume``: what it captured by value is dropped after the call (FnOnce)."""
    home = closure.home
    assert isinstance(home, Call)
    if len(m.calls) > MAX_DEPTH:
        raise CutSignal("calls are nested too deeply")
    if m.call.span.contains(span):  # an operation that runs late keeps the place that runs it
        m.call.at = span
    call = Call(
        home.function,
        home.span,
        home.home,
        span,
        scopes=[Scope(list(closure.captures.items()))],
        types=home.types,
        owner=home.owner,
        key=home.key,
        number=m.next_call(),
    )
    m.calls.append(call)
    body = closure.block or closure.node.body
    end = closing(body.span)
    try:
        with statement(m, end), run_scoped(m, end):
            for param, arg in zip(closure.node.params, _spread(closure.node, args), strict=False):
                m.bind(param.pat, Cell(apply_type(m, arg, param.type)))
            if isinstance(body, ast.Block):
                return m.hooks.block(m, body, None)
            return m.value(body)
    except ReturnSignal as signal:
        return signal.value
    finally:
        m.calls.remove(call)
        if consume:
            for cell in closure.owned:
                inner, cell.value = cell.value, MOVED
                if inner is not MOVED:
                    m.drop(inner, end, cell.name)


def _spread(node: ast.Closure, args: list[Value]) -> list[Value]:
    if len(node.params) > 1 and len(args) == 1 and isinstance(args[0], TupleVal):
        return args
    return args
