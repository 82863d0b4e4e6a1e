"""Blocks and statements: scopes, temporaries, and the drops at their ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gpusafe.dataflow.host import macro_expansion
from gpusafe.dataflow.host.configuration import compiled
from gpusafe.dataflow.host.drops import drop_cell, take
from gpusafe.dataflow.host.machine import Machine, Scope
from gpusafe.dataflow.host.naming import christen
from gpusafe.dataflow.host.signals import PanicSignal, Signal
from gpusafe.dataflow.host.typing_rules import apply_type
from gpusafe.dataflow.host.values import MOVED, Cell, RefVal, Value, unit
from gpusafe.parse.rust import ast
from gpusafe.span import Span


def closing(span: Span) -> Span:
    """The closing brace of a block, where its variables are dropped."""
    return Span(span.file, span.end_line, max(1, span.end_col - 1), span.end_line, span.end_col)


@contextmanager
def run_scoped(m: Machine, end: Span) -> Iterator[Scope]:
    """A scope whose variables are dropped in reverse order when it is left, however it is left."""
    scope = Scope()
    call = m.call
    call.scopes.append(scope)
    try:
        yield scope
    except Signal as signal:
        if not (isinstance(signal, PanicSignal) and signal.exits):
            _leave(m, scope, end)
        _pop(call.scopes, scope)
        raise
    else:
        _leave(m, scope, end)
        _pop(call.scopes, scope)


@contextmanager
def statement(m: Machine, end: Span) -> Iterator[list[Cell]]:
    """A statement whose temporaries are dropped in reverse order at its end."""
    cells: list[Cell] = []
    call = m.call
    call.temporaries.append(cells)
    try:
        yield cells
    except Signal as signal:
        _remove(call.temporaries, cells)
        if not (isinstance(signal, PanicSignal) and signal.exits):
            _drop_all(m, cells, end)
        raise
    else:
        _remove(call.temporaries, cells)
        _drop_all(m, cells, end)


def _remove(stack: list[list[Cell]], cells: list[Cell]) -> None:
    for index in range(len(stack) - 1, -1, -1):
        if stack[index] is cells:
            del stack[index:]
            return


def _pop(stack: list[Scope], scope: Scope) -> None:
    for index in range(len(stack) - 1, -1, -1):
        if stack[index] is scope:
            del stack[index:]
            return


def _leave(m: Machine, scope: Scope, end: Span) -> None:
    while scope.variables:
        _, cell = scope.variables.pop()
        drop_cell(m, cell, end)


def _drop_all(m: Machine, cells: list[Cell], end: Span) -> None:
    while cells:
        drop_cell(m, cells.pop(), end)


def run_block(m: Machine, block: ast.Block, expect: ast.Type | None = None) -> Value:
    """Walks a block and gives the value of its tail."""
    end = closing(block.span)
    with statement(m, end), run_scoped(m, end):
        _declare_items(m, block)
        for stmt in block.stmts:
            run_statement(m, stmt)
        result: Value = unit()
        if block.tail is not None:
            result = m.value(block.tail, expect)
    return result


def _declare_items(m: Machine, block: ast.Block) -> None:
    for stmt in block.stmts:
        if isinstance(stmt, ast.ItemStmt) and isinstance(stmt.item, ast.Const) and stmt.item.value is not None:
            m.declare(stmt.item.name, Cell(m.value(stmt.item.value, stmt.item.type), stmt.item.name))


def run_statement(m: Machine, stmt: ast.Stmt) -> None:
    """Walks one statement."""
    m.tick()
    if isinstance(stmt, (ast.Let, ast.ExprStmt)) and stmt.attributes and not compiled(m, stmt.attributes):
        return
    match stmt:
        case ast.Let():
            _let(m, stmt)
        case ast.ExprStmt(expr=ast.MacroCall() as call) if macro_expansion.run(m, call):
            pass
        case ast.ExprStmt(expr=expr):
            with statement(m, stmt.span) as temporaries:
                temporaries.append(Cell(m.value(expr)))


def _let(m: Machine, stmt: ast.Let) -> None:
    if stmt.value is None:
        if isinstance(stmt.pat, ast.PatIdent):
            m.declare(stmt.pat.name, Cell(MOVED, stmt.pat.name))
        return
    with statement(m, stmt.span) as temporaries:
        if _is_place(m, stmt.value) and not isinstance(stmt.pat, ast.PatIdent):
            cell = m.place(stmt.value)
        else:
            result = m.value(stmt.value, stmt.type)
            result = apply_type(m, result, stmt.type)
            _extend(m, result, temporaries)
            cell = Cell(result)
            temporaries.append(cell)
        matched = m.bind(stmt.pat, cell)
        if stmt.orelse is None or matched is True:
            return
        if matched is None:
            words = f"the pattern of `let` at {stmt.span.file}:{stmt.span.line}"
            matched = m.choose((f"{words} matches", f"{words} does not match"), turn=True) == 0
        if not matched:
            m.hooks.block(m, stmt.orelse, None)


def _is_place(m: Machine, expr: ast.Expr) -> bool:
    match expr:
        case ast.PathExpr(path=path):
            return len(path.names) == 1 and m.lookup(path.names[0]) is not None
        case ast.Field(base=base):
            return _is_place(m, base)
        case ast.Index() | ast.Unary(op="*"):
            return True
    return False


def _extend(m: Machine, result: Value, temporaries: list[Cell]) -> None:
    """``let x = &rvalue`` keeps the temporary until the end of the block."""
    if isinstance(result, RefVal):
        for index, cell in enumerate(temporaries):
            if cell is result.cell:
                del temporaries[index]
                m.declare("", cell)
                return


def bind_value(m: Machine, name: str, value: Value) -> Cell:
    """Declares a variable that owns a value, and names the handle in it."""
    cell = Cell(value, name)
    m.declare(name, cell)
    christen(m, value, name)
    return cell


def take_or_ref(m: Machine, cell: Cell, by_ref: bool, mutable: bool) -> Value:
    """What an identifier pattern binds: a reference under a reference, else the value."""
    if by_ref:
        return cell.value if isinstance(cell.value, RefVal) else RefVal(cell, mutable)
    return take(m, cell)
