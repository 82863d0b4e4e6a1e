"""Branches that do no GPU work: both sides are walked and their scalars joined, so that no path is spent on them."""

from __future__ import annotations

from dataclasses import dataclass

from gpusafe.dataflow.host import terms
from gpusafe.dataflow.host.access import deref
from gpusafe.dataflow.host.blocks import run_block
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.syntax_walk import walk
from gpusafe.dataflow.host.values import Cell, StructVal, TupleVal, TypeVal, Unknown, Value, is_scalar, unit
from gpusafe.ir.expr import Expr
from gpusafe.parse.rust import ast

_HARMLESS_MACROS = frozenset(
    (
        "println",
        "print",
        "eprintln",
        "eprint",
        "format",
        "write",
        "writeln",
        "debug",
        "info",
        "warn",
        "error",
        "trace",
        "vec",
    )
)
_HARMLESS_METHODS = frozenset(
    [
        "len",
        "is_empty",
        "min",
        "max",
        "abs",
        "pow",
        "sqrt",
        "wrapping_add",
        "wrapping_mul",
        "wrapping_sub",
        "saturating_sub",
        "saturating_add",
        "div_ceil",
        "next_power_of_two",
        "clamp",
        "to_string",
        "as_str",
        "unwrap_or",
        "unwrap_or_default",
        "is_some",
        "is_none",
        "is_ok",
        "is_err",
        "contains",
        "first",
        "last",
        "sum",
        "count",
        "elapsed",
        "as_secs_f64",
        "as_secs_f32",
        "trailing_zeros",
        "leading_zeros",
        "is_power_of_two",
        "rem_euclid",
        "powi",
        "powf",
        "floor",
        "ceil",
        "round",
        "exp",
        "ln",
        "sin",
        "cos",
        "starts_with",
        "ends_with",
        "trim",
        "to_owned",
        "into",
    ]
)
_EXITS = (ast.Return, ast.Break, ast.Continue, ast.Try, ast.Await, ast.Closure, ast.Loop, ast.While, ast.For)


@dataclass(frozen=True, slots=True)
class Merged:
    """The value of a merged `if`."""

    value: Value


def merge_branches(m: Machine, expr: ast.If, condition: Value, expect: ast.Type | None) -> Merged | None:
    """Walks both sides of an `if` and joins them; None when a side does something that needs a path of its own."""
    targets = _assigned(m, expr.then)
    more = _assigned(m, expr.orelse) if expr.orelse is not None else {}
    if targets is None or more is None:
        return None
    cells = {**targets, **more}
    before = {name: cell.value for name, cell in cells.items()}
    mark = len(m.ops)
    first = run_block(m, expr.then, expect)
    after_first = {name: cell.value for name, cell in cells.items()}
    for name, cell in cells.items():
        cell.value = before[name]
    second = m.value(expr.orelse, expect) if expr.orelse is not None else unit()
    for name, cell in cells.items():
        cell.value = _join(m, condition, after_first[name], cell.value)
    if len(m.ops) != mark:
        m.closing_gaps.append(f"an access of the host under a condition at {expr.span.file}:{expr.span.line}")
    return Merged(_join(m, condition, first, second))


def _assigned(m: Machine, side: ast.Node) -> dict[str, Cell] | None:
    """The scalar variables that code assigns to; None when it may do more than that."""
    found: dict[str, Cell] = {}
    local: set[str] = set()
    for node in walk(side):
        match node:
            case ast.Let(pat=ast.PatIdent(name=name)):
                local.add(name)
            case ast.Let() | ast.Match() | ast.LetCond() | ast.OtherExpr() | ast.ItemStmt():
                return None
            case ast.MacroCall(path=path):
                if path.last not in _HARMLESS_MACROS or path.last in m.program.macros:
                    return None
            case ast.MethodCall(name=name):
                if name not in _HARMLESS_METHODS:
                    return None
            case ast.Call(func=func):
                if not (isinstance(func, ast.PathExpr) and func.path.last in ("Some", "Ok", "Err")):
                    return None
            case ast.StructLit():
                return None
            case ast.Ref(mutable=True):
                return None
            case ast.PathExpr(path=path) if len(path.names) == 1:
                cell = m.lookup(path.names[0])
                if cell is not None and not _plain(deref(cell).value):
                    return None
            case ast.Assign(target=target):
                if not isinstance(target, ast.PathExpr) or len(target.path.names) != 1:
                    return None
                cell = m.lookup(target.path.names[0])
                if cell is not None and target.path.names[0] not in local:
                    found[target.path.names[0]] = cell
            case _ if isinstance(node, _EXITS):
                return None
    return found


def _plain(value: Value) -> bool:
    match value:
        case Unknown(holds=()) | TypeVal():
            return True
        case TupleVal(items=items):
            return all(_plain(c.value) for c in items)
        case StructVal(fields=fields, variant=str()):
            return all(_plain(c.value) for c in fields.values())
    return is_scalar(value) or type(value).__name__ in ("SeqVal", "SliceVal", "RangeVal")


def _join(m: Machine, condition: Value, first: Value, second: Value) -> Value:
    if first is second or (is_scalar(first) and is_scalar(second) and first == second and type(first) is type(second)):
        return first
    if isinstance(condition, Expr):
        chosen = terms.select(condition, first, second)
        if chosen is not None:
            return chosen
    if isinstance(first, TupleVal) and isinstance(second, TupleVal) and len(first.items) == len(second.items):
        return TupleVal(
            [Cell(_join(m, condition, a.value, b.value)) for a, b in zip(first.items, second.items, strict=True)]
        )
    for side, other in ((first, second), (second, first)):
        if isinstance(side, Expr):
            return m.symbol("either", side.type)
        if terms.is_int(side) and terms.is_int(other):
            low, high = sorted((terms.known(side) or 0, terms.known(other) or 0))
            kind = terms.SCALARS["usize" if low >= 0 else "i64"]
            return m.symbol("either", kind, low, high)
    return Unknown("one of two values")
