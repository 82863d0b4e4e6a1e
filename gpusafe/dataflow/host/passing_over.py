"""Code that can do no GPU work: when it branches it is passed over as a whole instead of costing paths.

Checks of results are such code: loops over downloaded data that compare, count, print and exit. What it assigns to is
forgotten; leaving early or panicking stays a path of its own while work is in flight.
"""

from __future__ import annotations

import re

from gpusafe.dataflow.host.access import deref
from gpusafe.dataflow.host.foreign import handles_in
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.macro_expansion import texts_of
from gpusafe.dataflow.host.program import Program
from gpusafe.dataflow.host.signals import PanicSignal, ReturnSignal
from gpusafe.dataflow.host.syntax_walk import mentioned, walk, without_strings
from gpusafe.dataflow.host.values import SeqVal, Unknown, is_scalar
from gpusafe.parse.rust import ast

_IDENT = re.compile(r"[A-Za-z_]\w*")
_PANICS = frozenset(["panic", "assert", "assert_eq", "assert_ne", "unreachable", "todo", "unimplemented"])


def host_only_key(m: Machine, body: ast.Block, key: str) -> str | None:
    """The key when the code mentions no handle and calls nothing with GPU work, else None."""
    names = m.program.once("mentioned", body, lambda: mentioned(body))
    called = m.program.once("called", body, lambda: _called(m.program, body))
    if called & m.program.gpu_names:
        return None
    for name in names:
        cell = m.lookup(name)
        if cell is not None and (handles_in(cell.value) or cell.memory is not None):
            return None
    return key


def _called(program: Program, body: ast.Block) -> frozenset[str]:
    found: set[str] = set()
    for node in walk(body):
        match node:
            case ast.Call(func=ast.PathExpr(path=path)):
                found.add(path.last)
            case ast.MethodCall(name=name):
                found.add(name)
            case ast.MacroCall(path=path, text=text):
                found.update((path.last, *_IDENT.findall(without_strings(text))))
                found.update(n for own in texts_of(program, path.last) for n in _IDENT.findall(own))
    return frozenset(found)


def pass_over(m: Machine, body: ast.Block) -> None:
    """Forgets what the code assigns to, and walks its exits once."""
    for node in walk(body):
        match node:
            case ast.Assign(target=target):
                _forget(m, target)
            case ast.MethodCall(receiver=receiver, name=name) if name.startswith(
                ("push", "insert", "extend", "pop", "clear")
            ):
                _forget(m, receiver)
            case ast.Ref(mutable=True, operand=operand):
                _forget(m, operand)
    if not m.pending:
        return
    if any(isinstance(n, (ast.Return, ast.Try)) for n in walk(body)):
        where = f"{body.span.file}:{body.span.line}"
        if m.choose((f"the loop at {where} runs through", f"the loop at {where} returns early")) == 1:
            raise ReturnSignal(Unknown("the result of an early return"))
    leave_by_panic(m, body)


def leave_by_panic(m: Machine, body: ast.Block) -> None:
    """One more path for a panic that the code may raise while work is in flight."""
    if m.pending and any(isinstance(n, ast.MacroCall) and n.path.last in _PANICS for n in walk(body)):
        where = f"{body.span.file}:{body.span.line}"
        if m.choose((f"the code at {where} does not panic", f"the code at {where} panics")) == 1:
            raise PanicSignal


def _forget(m: Machine, target: ast.Expr) -> None:
    current = target
    while isinstance(current, ast.Field | ast.Index | ast.Unary | ast.MethodCall):
        match current:
            case ast.Field(base=base) | ast.Index(base=base):
                current = base
            case ast.Unary(operand=operand):
                current = operand
            case ast.MethodCall(receiver=receiver):
                current = receiver
    if not isinstance(current, ast.PathExpr) or len(current.path.names) != 1:
        return
    cell = m.lookup(current.path.names[0])
    if cell is None:
        return
    inner = deref(cell)
    if isinstance(inner.value, SeqVal):
        inner.value.items, inner.value.length = None, m.symbol("length", low=0)
    elif is_scalar(inner.value):
        inner.value = Unknown(f"`{current.path.names[0]}`")
