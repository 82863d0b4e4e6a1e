"""Patterns: whether a value matches, and the variables that it binds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpusafe.dataflow.host import terms
from gpusafe.dataflow.host.access import deref, host_slice, touch_slice
from gpusafe.dataflow.host.blocks import bind_value, take_or_ref
from gpusafe.dataflow.host.fields import field_cell
from gpusafe.dataflow.host.handles import MemSlice
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.names import constant
from gpusafe.dataflow.host.values import (
    MOVED,
    Cell,
    RefVal,
    SeqVal,
    SliceVal,
    StructVal,
    TupleVal,
    Unknown,
    Value,
)
from gpusafe.ir.expr import Op
from gpusafe.parse.rust import ast

Match = bool | None


def bind(m: Machine, pat: ast.Pat, cell: Cell, by_ref: bool = False) -> Match:
    """Matches a pattern against a place and declares its variables (also when it is not known whether it matches)."""
    m.tick()
    if isinstance(cell.value, RefVal) and not isinstance(pat, (ast.PatIdent, ast.PatWild, ast.PatRef)):
        return bind(m, pat, deref(cell), True)
    match pat:
        case ast.PatIdent():
            return _identifier(m, pat, cell, by_ref)
        case ast.PatWild() | ast.PatRest():
            return True
        case ast.PatTuple(items=items):
            return _tuple(m, items, cell, by_ref)
        case ast.PatTupleStruct(path=path, items=items):
            return _variant(m, path, _positional(items), cell, by_ref)
        case ast.PatStruct(path=path, fields=fields):
            return _variant(m, path, fields, cell, by_ref)
        case ast.PatPath(path=path):
            return _path(m, path, cell)
        case ast.PatRef(inner=inner):
            return bind(m, inner, deref(cell) if isinstance(cell.value, RefVal) else cell, False)
        case ast.PatLit(value=literal):
            return _equal(m, cell.value, m.value(literal), Op.EQ)
        case ast.PatRange():
            return _range(m, pat, cell)
        case ast.PatOr(items=items):
            return _either(m, items, cell, by_ref)
        case ast.PatSlice(items=items):
            return _slice(m, items, cell, by_ref)
    return None


def _identifier(m: Machine, pat: ast.PatIdent, cell: Cell, by_ref: bool) -> Match:
    if pat.sub is None and pat.name[:1].isupper():
        known = constant(m, ast.Path(pat.span, (pat.name,)))
        if known is not None:
            return _equal(m, deref(cell).value, known.value, Op.EQ)
    matched: Match = True
    if pat.sub is not None:
        matched = bind(m, pat.sub, cell, by_ref)
    if m.dry:
        return matched
    if cell.value is MOVED:
        bind_value(m, pat.name, Unknown("a value that was moved"))
        return matched
    bind_value(m, pat.name, take_or_ref(m, cell, by_ref or pat.by_ref, True))
    return matched


def _positional(items: Sequence[ast.Pat]) -> tuple[tuple[str, ast.Pat], ...]:
    rest = next((i for i, p in enumerate(items) if isinstance(p, ast.PatRest)), None)
    if rest is None:
        return tuple((str(i), p) for i, p in enumerate(items))
    return tuple((str(i), p) for i, p in enumerate(items[:rest]))


def _tuple(m: Machine, items: Sequence[ast.Pat], cell: Cell, by_ref: bool) -> Match:
    target = cell.value
    if not isinstance(target, TupleVal):
        return _all([bind(m, p, Cell(_unknown_part(m, target)), by_ref) for p in items])
    rest = next((i for i, p in enumerate(items) if isinstance(p, ast.PatRest)), None)
    pairs = list(zip(items, target.items, strict=False))
    if rest is not None:
        after = len(items) - rest - 1
        tail = target.items[len(target.items) - after :] if after else []
        pairs = [*pairs[:rest], *zip(items[rest + 1 :], tail, strict=False)]
    return _all([bind(m, p, c, by_ref) for p, c in pairs])


def _unknown_part(m: Machine, whole: Value) -> Value:
    holds = whole.holds if isinstance(whole, Unknown) else ()
    return Unknown("part of a value that is not modelled", None, holds)


def _variant(m: Machine, path: ast.Path, fields: Sequence[tuple[str, ast.Pat]], cell: Cell, by_ref: bool) -> Match:
    target = cell.value
    if isinstance(target, StructVal):
        if target.variant is not None and target.variant != path.last:
            return False
        return _all([bind(m, p, field_cell(m, cell, name, path.span), by_ref) for name, p in fields])
    results: list[Match] = [None]
    for name, sub in fields:
        part = field_cell(m, cell, name, path.span) if not path.last[:1].isupper() else Cell(_unknown_part(m, target))
        results.append(bind(m, sub, part, by_ref))
    return _all(results)


def _path(m: Machine, path: ast.Path, cell: Cell) -> Match:
    target = cell.value
    if isinstance(target, StructVal) and target.variant is not None:
        return target.variant == path.last
    known = constant(m, path)
    if known is not None:
        return _equal(m, target, known.value, Op.EQ)
    return None


def _equal(m: Machine, left: Value, right: Value, op: Op) -> Match:
    if isinstance(left, str) and isinstance(right, str):
        return left == right
    result = terms.binary(op, left, right)
    if isinstance(left, terms.Counter):
        m.note_counter("the loop's counter is matched against a pattern")
    return result if isinstance(result, bool) else None


def _range(m: Machine, pat: ast.PatRange, cell: Cell) -> Match:
    checks: list[Match] = []
    if pat.low is not None:
        checks.append(_equal(m, cell.value, m.value(pat.low), Op.GE))
    if pat.high is not None:
        checks.append(_equal(m, cell.value, m.value(pat.high), Op.LE if pat.inclusive else Op.LT))
    return _all(checks)


def _either(m: Machine, items: Sequence[ast.Pat], cell: Cell, by_ref: bool) -> Match:
    unsure = False
    for item in items:
        matched = bind(m, item, cell, by_ref)
        if matched:
            return True
        unsure = unsure or matched is None
    return None if unsure else False


def _slice(m: Machine, items: Sequence[ast.Pat], cell: Cell, by_ref: bool) -> Match:
    target = cell.value
    cells: list[Cell] | None = None
    if isinstance(target, SeqVal):
        cells = target.items
    elif isinstance(target, SliceVal) and target.seq.items is not None and isinstance(target.start, int):
        count = target.length if isinstance(target.length, int) else 0
        cells = target.seq.items[target.start : target.start + count]
    memory = host_slice(target)
    if memory is not None:
        return _memory_slice(m, items, memory, cell.value, by_ref)
    if cells is None:
        return _all([None, *(bind(m, p, Cell(_unknown_part(m, target)), by_ref) for p in items)])
    rest = any(isinstance(p, ast.PatRest) for p in items)
    if (len(cells) != len(items)) if not rest else (len(cells) < len(items) - 1):
        return False
    return _tuple(m, items, Cell(TupleVal(cells)), by_ref)


def _memory_slice(m: Machine, items: Sequence[ast.Pat], memory: MemSlice, target: Value, by_ref: bool) -> Match:
    """A slice pattern on memory that a device may use: the variables are references into it."""
    if not m.dry:
        touch_slice(m, memory, "write" if getattr(target, "mutable", False) else "read", items[0].span)
    rest = next((i for i, p in enumerate(items) if _is_rest(p)), None)
    length = terms.known(memory.length)
    if length is not None and (length != len(items) if rest is None else length < len(items) - 1):
        return False
    results: list[Match] = [None if length is None else True]
    for index, item in enumerate(items):
        if rest is None or index < rest:
            start = terms.add(memory.start, index)
            part = Cell(replace(memory, start=start, length=1, mutable=True), "element") if start is not None else None
        else:
            part = Cell(memory) if index == rest else Cell(memory, "element")
        results.append(bind(m, item, part or Cell(memory, "element"), by_ref))
    return _all(results)


def _is_rest(pat: ast.Pat) -> bool:
    return isinstance(pat, ast.PatRest) or (isinstance(pat, ast.PatIdent) and isinstance(pat.sub, ast.PatRest))


def _all(results: Sequence[Match]) -> Match:
    if any(r is False for r in results):
        return False
    return None if any(r is None for r in results) else True


def matches(m: Machine, pat: ast.Pat, cell: Cell) -> Match:
    """Whether a pattern matches, binding and moving nothing."""
    before, m.dry = m.dry, True
    try:
        return bind(m, pat, cell)
    finally:
        m.dry = before
