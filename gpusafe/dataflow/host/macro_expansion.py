"""Macros that the program defines itself with ``macro_rules!``: what a call stands for is walked in its place.

A macro in statement position puts its `let`s into the block around it; those that the macro names itself cannot be
named there (hygiene), those that the call names can. Where a name is both the macro's own and the call's, the call is
not understood: telling the two apart takes more than text.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.program import Program, nameable, visible
from gpusafe.dataflow.host.results import Found
from gpusafe.dataflow.host.syntax_walk import walk
from gpusafe.dataflow.host.values import Cell, Unknown, Value, unit
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.build import parse_wrapped
from gpusafe.parse.rust.device.macro_rules import expanded_text

_MAX_DEPTH = 8
_IDENT = re.compile(r"(?<![$\w])[A-Za-z_]\w*")


def defined(m: Machine, expr: ast.MacroCall) -> ast.MacroRules | None:
    """The program's own macro that a call names."""
    found = [
        d
        for d in m.program.macros.get(expr.path.last, ())
        if isinstance(d.item, ast.MacroRules) and visible(d.home, m.home) and nameable(d.home, m.home)
    ]
    best = min(found, key=lambda d: (d.home.file != m.home.file, d.home.unit.crate != m.home.unit.crate), default=None)
    return best.item if best is not None and isinstance(best.item, ast.MacroRules) else None


def texts_of(program: Program, name: str) -> tuple[str, ...]:
    """What calls of the program's macros of a name may stand for, macros that they call in turn included."""
    found: dict[str, None] = {}
    names = [name]
    seen: set[str] = set()
    while names:
        current = names.pop()
        if current in seen:
            continue
        seen.add(current)
        for definition in program.macros.get(current, ()):
            if isinstance(definition.item, ast.MacroRules):
                for _, body in definition.item.rules:
                    found.setdefault(body)
                    names += [n for n in _IDENT.findall(body) if n in program.macros]
    return tuple(found)


def expand(m: Machine, expr: ast.MacroCall, expect: ast.Type | None) -> Found | None:
    """The value of a call of the program's own macro; None when it is not one."""
    definition = defined(m, expr)
    if definition is None:
        return None
    body = _body(m, expr, definition)
    if body is None:
        return Found(_not_understood(m, expr))
    tail = body.tail
    if tail is not None and not body.stmts:  # its temporaries are those of the statement around the call
        return Found(_nested(m, expr, lambda: m.value(tail, expect)))
    return Found(_nested(m, expr, lambda: m.hooks.block(m, body, expect)))


def run(m: Machine, expr: ast.MacroCall) -> bool:
    """Walks a call in statement position; False when it is not one of the program's own macros."""
    from gpusafe.dataflow.host.blocks import run_statement, statement

    definition = defined(m, expr)
    if definition is None:
        return False
    body = _body(m, expr, definition)
    if body is None:
        _not_understood(m, expr)
        return True
    scope = m.call.scopes[-1]
    first = len(scope.variables)

    def statements() -> Value:
        for stmt in body.stmts:
            run_statement(m, stmt)
        if body.tail is not None:
            with statement(m, expr.span) as temporaries:
                temporaries.append(Cell(m.value(body.tail)))
        return unit()

    _nested(m, expr, statements)
    given = frozenset(_IDENT.findall(expr.text))
    scope.variables[first:] = [(n if n in given else "", cell) for n, cell in scope.variables[first:]]
    return True


def _nested(m: Machine, expr: ast.MacroCall, work: Callable[[], Value]) -> Value:
    if m.expanding >= _MAX_DEPTH:
        return _not_understood(m, expr)
    m.expanding += 1
    try:
        return work()
    finally:
        m.expanding -= 1


def _body(m: Machine, expr: ast.MacroCall, definition: ast.MacroRules) -> ast.Block | None:
    """The statements that a call stands for; None when that is not known."""
    return m.program.once("expansion", expr, lambda: _parsed(expr, definition))


def _parsed(expr: ast.MacroCall, definition: ast.MacroRules) -> ast.Block | None:
    text = expanded_text(definition, expr.text)
    if text is None:
        return None
    items = parse_wrapped("fn __gpusafe(){", " ".join(text.split("\n")).strip(), "\n}", expr.span)
    item = items[0] if items else None
    if not isinstance(item, ast.Fn) or item.body is None or item.problem is not None:
        return None
    if any(isinstance(s, ast.ItemStmt) for s in item.body.stmts):
        return None
    given = frozenset(_IDENT.findall(expr.text))
    own = frozenset(n for _, body in definition.rules for n in _IDENT.findall(body))
    bound = frozenset(n.name for n in walk(item.body) if isinstance(n, ast.PatIdent))
    return item.body if not bound & given & own else None


def _not_understood(m: Machine, expr: ast.MacroCall) -> Unknown:
    reason = f"the call of the macro `{expr.path.last}!` is not understood"
    m.gap(expr.span, reason)
    return Unknown(reason)
