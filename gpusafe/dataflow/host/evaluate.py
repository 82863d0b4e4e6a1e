"""Expressions: their values and places. One handler per kind of syntax, found in two tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gpusafe.dataflow.host import branches, calls, indexing, loops, macro_calls, raw_memory, scalars, terms
from gpusafe.dataflow.host.access import chain, deref, touch_cell, touch_root, touch_slice
from gpusafe.dataflow.host.blocks import run_block
from gpusafe.dataflow.host.capturing import make_closure
from gpusafe.dataflow.host.drops import take
from gpusafe.dataflow.host.fields import field_cell
from gpusafe.dataflow.host.handles import Buffer, MemSlice, Pointer, View
from gpusafe.dataflow.host.lazy import await_value, lazy_block
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.names import constant
from gpusafe.dataflow.host.naming import christen
from gpusafe.dataflow.host.signals import BreakSignal, ContinueSignal, ReturnSignal
from gpusafe.dataflow.host.syntax_walk import type_name
from gpusafe.dataflow.host.values import (
    MOVED,
    Cell,
    RangeVal,
    RefVal,
    SeqVal,
    SharedVal,
    SliceVal,
    StructVal,
    TupleVal,
    Unknown,
    Value,
    unit,
)
from gpusafe.parse.rust import ast

Handler = Callable[[Machine, Any, ast.Type | None], Value]


def value(m: Machine, expr: ast.Expr, expect: ast.Type | None = None) -> Value:
    """The value of an expression; the caller owns it."""
    m.tick()
    with m.deeper():
        handler = _VALUES.get(type(expr))
        if handler is None:
            return Unknown("syntax that is not modelled")
        return handler(m, expr, expect)


def place(m: Machine, expr: ast.Expr) -> Cell:
    """The place that an expression names; an rvalue gets a temporary that lives until the end of the statement."""
    match expr:
        case ast.PathExpr(path=path) if len(path.names) == 1:
            cell = m.lookup(path.names[0])
            if cell is not None:
                return cell
        case ast.Unary(op="*", operand=operand):
            return _deref_once(m, place(m, operand))
        case ast.Field(base=base, name=name):
            return field_cell(m, place(m, base), name, expr.span)
        case ast.Index():
            return indexing.index_place(m, expr)
        case ast.BlockExpr(kind="unsafe" | "", label=None, block=ast.Block(stmts=(), tail=tail)) if tail is not None:
            return place(m, tail)
    if isinstance(expr, ast.PathExpr):
        static = constant(m, expr.path)
        if static is not None:
            return static
    return m.temporary(m.value(expr))


def _deref_once(m: Machine, cell: Cell) -> Cell:
    match cell.value:
        case RefVal(cell=inner):
            return inner
        case SharedVal(box=box):
            return box.cell
        case StructVal(name=name) if m.program.methods.get((name, "deref")):
            found = m.hooks.call_method(m, name, "deref", cell, [], m.call.at)
            return found.cell if isinstance(found, RefVal) else Cell(found)
        case Pointer() as pointer:
            return raw_memory.pointee(m, pointer)
        case Buffer(kind="pinned" | "unified") as buffer:
            return Cell(MemSlice(buffer.memory, 0, 1, buffer.elem_bytes, True), "element")
    return deref(cell)


# -- leaves ------------------------------------------------------------------------------------------------------------


def _literal(m: Machine, expr: ast.Lit, expect: ast.Type | None) -> Value:
    if expr.kind == "int" and (expr.suffix.startswith("f") or type_name(expect) in ("f32", "f64")):
        return float(expr.value) if isinstance(expr.value, int) else expr.value
    if expr.kind == "byte" and isinstance(expr.value, (bytes, str)) and len(expr.value) == 1:
        return expr.value[0] if isinstance(expr.value, bytes) else ord(expr.value)
    return expr.value


def _path(m: Machine, expr: ast.PathExpr, expect: ast.Type | None) -> Value:
    if len(expr.path.names) == 1:
        cell = m.lookup(expr.path.names[0])
        if cell is not None:
            touch_cell(m, cell, "read", expr.span)
            return take(m, cell)
    return calls.path_value(m, expr)


def _unary(m: Machine, expr: ast.Unary, expect: ast.Type | None) -> Value:
    if expr.op == "*":
        target = place(m, expr)
        if target.name == "element" and isinstance(target.value, MemSlice):
            touch_slice(m, target.value, "read", expr.span)
            return Unknown("an element of a buffer")
        indexing.read_place(m, target, expr.span)
        return take(m, target)
    operand = m.value(expr.operand, expect)
    result = terms.negate(operand) if expr.op == "-" else terms.invert(operand)
    return result if result is not None else Unknown("the result of an operator")


def _binary(m: Machine, expr: ast.Binary, expect: ast.Type | None) -> Value:
    return scalars.binary(m, expr, expect)


def _assign(m: Machine, expr: ast.Assign, expect: ast.Type | None) -> Value:
    if expr.op != "=":
        scalars.compound(m, expr)
        return unit()
    new = m.value(expr.value)
    if isinstance(expr.target, (ast.Tuple, ast.OtherExpr)) or (
        isinstance(expr.target, ast.PathExpr) and expr.target.path.names == ("_",)
    ):
        _destructure(m, expr.target, new)
        return unit()
    target = place(m, expr.target)
    indexing.write_place(m, target, expr)
    touch_cell(m, target, "write", expr.span)
    touch_root(m, expr.target, "write")
    old, target.value = target.value, MOVED
    if old is not MOVED:
        m.drop(old, expr.span, target.name)
    target.value = new
    christen(m, new, target.name)
    return unit()


def _destructure(m: Machine, target: ast.Expr, new: Value) -> None:
    if not isinstance(target, ast.Tuple) or not isinstance(new, TupleVal):
        m.drop(new, target.span)
        return
    for item, cell in zip(target.items, new.items, strict=False):
        if isinstance(item, ast.Tuple | ast.OtherExpr):
            _destructure(m, item, cell.value)
            continue
        if isinstance(item, ast.PathExpr) and item.path.names == ("_",):
            m.drop(cell.value, item.span)
            continue
        inner = place(m, item)
        old, inner.value = inner.value, cell.value
        if old is not MOVED:
            m.drop(old, item.span, inner.name)


# -- places as values --------------------------------------------------------------------------------------------------


def _from_place(m: Machine, expr: ast.Expr, expect: ast.Type | None) -> Value:
    cell = place(m, expr)
    indexing.read_place(m, cell, expr.span)
    touch_cell(m, cell, "read", expr.span)
    touch_root(m, expr, "read")
    return take(m, cell)


def _promoted(m: Machine, expr: ast.Expr) -> bool:
    """Whether a borrow of this constant lives for ever (static promotion: the Rust reference, destructors)."""
    stack = [expr]
    while stack:
        match stack.pop():
            case ast.Lit():
                pass
            case ast.Array(items=items) | ast.Tuple(items=items):
                stack.extend(items)
            case ast.ArrayRepeat(value=value, length=length):
                stack += [value, length]
            case ast.Unary(op="-" | "!", operand=operand) | ast.Cast(operand=operand):
                stack.append(operand)
            case ast.Ref(operand=operand, mutable=False):
                stack.append(operand)
            case ast.Binary(op="/" | "%", left=left, right=ast.Lit() as right) if terms.known(m.value(right)):
                stack.append(left)
            case ast.Binary(op="+" | "-" | "*" | "<<" | ">>" | "&" | "|" | "^", left=left, right=right):
                stack += [left, right]
            case ast.PathExpr(path=path) if _is_const(m, path):
                pass
            case _:
                return False
    return True


def _is_const(m: Machine, path: ast.Path) -> bool:
    """Whether a path names a constant; reading a static is not promoted in a function."""
    if not path.last.isupper() or m.lookup(path.last) is not None:
        return False
    found = m.program.value_item(path.last, m.home)
    return found is None or isinstance(found.item, ast.Const)


def _reference(m: Machine, expr: ast.Ref, expect: ast.Type | None) -> Value:
    if not expr.mutable and isinstance(expr.operand, ast.Array | ast.ArrayRepeat) and _promoted(m, expr.operand):
        return RefVal(Cell(m.value(expr.operand)), False)
    cell = place(m, expr.operand)
    if cell.name == "element" and isinstance(cell.value, MemSlice):
        return RefVal(cell, expr.mutable)
    match cell.value:
        case SliceVal() as part if isinstance(expr.operand, ast.Index):
            return SliceVal(part.seq, part.start, part.length, expr.mutable)
        case MemSlice() as part if isinstance(expr.operand, ast.Index):
            return MemSlice(part.memory, part.start, part.length, part.elem_bytes, expr.mutable)
        case View() as view if isinstance(expr.operand, ast.Index):
            return View(view.buffer, view.start, view.length, view.elem_bytes, expr.mutable)
    if isinstance(expr.operand, ast.Unary) and expr.operand.op == "*":
        inner = chain(cell)[-1]
        if isinstance(inner.value, (SliceVal, MemSlice)):
            return replace(inner.value, mutable=expr.mutable)
        if isinstance(inner.value, View):
            return inner.value
    return RefVal(cell, expr.mutable)


def _cast(m: Machine, expr: ast.Cast, expect: ast.Type | None) -> Value:
    operand = m.value(expr.operand)
    return scalars.cast(m, operand, expr)


# -- aggregates --------------------------------------------------------------------------------------------------------


def _tuple(m: Machine, expr: ast.Tuple, expect: ast.Type | None) -> Value:
    kinds = expect.items if isinstance(expect, ast.TypeTuple) else ()
    return TupleVal([Cell(m.value(item, kinds[i] if i < len(kinds) else None)) for i, item in enumerate(expr.items)])


def _array(m: Machine, expr: ast.Array, expect: ast.Type | None) -> Value:
    inner = expect.inner if isinstance(expect, (ast.TypeArray, ast.TypeSlice)) else None
    items = [Cell(m.value(item, inner)) for item in expr.items]
    elem = inner or (scalars.static_type(m, expr.items[0]) if expr.items else None)
    return SeqVal("array", items, len(items), elem)


def _repeat(m: Machine, expr: ast.ArrayRepeat, expect: ast.Type | None) -> Value:
    length = m.value(expr.length)
    return calls.repeated(m, expr.value, length, "array")


def _range(m: Machine, expr: ast.Range, expect: ast.Type | None) -> Value:
    low = m.value(expr.low) if expr.low is not None else None
    high = m.value(expr.high) if expr.high is not None else None
    return RangeVal(low, high, expr.inclusive)


def _struct(m: Machine, expr: ast.StructLit, expect: ast.Type | None) -> Value:
    return calls.struct_literal(m, expr)


# -- control -----------------------------------------------------------------------------------------------------------


def _block(m: Machine, expr: ast.BlockExpr, expect: ast.Type | None) -> Value:
    if expr.kind == "async":
        return lazy_block(m, expr)
    if expr.label is None:
        return run_block(m, expr.block, expect)
    depth = (len(m.call.scopes), len(m.call.temporaries))
    try:
        return run_block(m, expr.block, expect)
    except BreakSignal as signal:
        if signal.label != expr.label:
            raise
        del m.call.scopes[depth[0] :], m.call.temporaries[depth[1] :]
        return signal.value


def _closure(m: Machine, expr: ast.Closure, expect: ast.Type | None) -> Value:
    return make_closure(m, expr)


def _return(m: Machine, expr: ast.Return, expect: ast.Type | None) -> Value:
    raise ReturnSignal(m.value(expr.value) if expr.value is not None else unit())


def _break(m: Machine, expr: ast.Break, expect: ast.Type | None) -> Value:
    raise BreakSignal(expr.label, m.value(expr.value) if expr.value is not None else unit())


def _continue(m: Machine, expr: ast.Continue, expect: ast.Type | None) -> Value:
    raise ContinueSignal(expr.label)


def _let_condition(m: Machine, expr: ast.LetCond, expect: ast.Type | None) -> Value:
    return branches.let_matches(m, expr)


def _other(m: Machine, expr: ast.OtherExpr, expect: ast.Type | None) -> Value:
    if expr.text != "_":
        m.closing_gaps.append(f"syntax that is not modelled: `{expr.text[:40]}`")
    return Unknown("syntax that is not modelled")


_VALUES: dict[type[ast.Expr], Handler] = {
    ast.Lit: _literal,
    ast.PathExpr: _path,
    ast.Unary: _unary,
    ast.Binary: _binary,
    ast.Assign: _assign,
    ast.Call: calls.call_expr,
    ast.MethodCall: calls.method_expr,
    ast.Field: _from_place,
    ast.Index: _from_place,
    ast.Ref: _reference,
    ast.Cast: _cast,
    ast.Range: _range,
    ast.Tuple: _tuple,
    ast.Array: _array,
    ast.ArrayRepeat: _repeat,
    ast.StructLit: _struct,
    ast.LetCond: _let_condition,
    ast.If: branches.if_expr,
    ast.Match: branches.match_expr,
    ast.Loop: loops.loop_expr,
    ast.While: loops.while_expr,
    ast.For: loops.for_expr,
    ast.BlockExpr: _block,
    ast.Closure: _closure,
    ast.Return: _return,
    ast.Break: _break,
    ast.Continue: _continue,
    ast.Try: branches.try_expr,
    ast.Await: await_value,
    ast.MacroCall: macro_calls.macro_expr,
    ast.OtherExpr: _other,
}
