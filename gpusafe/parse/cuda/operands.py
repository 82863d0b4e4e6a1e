"""The usual ways to evaluate a part of an expression."""

from __future__ import annotations

from gpusafe.ir.expr import BOOL, Expr
from gpusafe.parse.cuda import syntax as s
from gpusafe.parse.cuda import terms
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.context import Context, Unsupported
from gpusafe.parse.cuda.convert import convert, expression
from gpusafe.parse.cuda.places import read, truth
from gpusafe.parse.cuda.render import shown
from gpusafe.parse.cuda.values import Place, StructPlace, Term, UnknownValue, Value, VariablePlace


def value_of(x: Context, expr: s.Expr) -> Value:
    """The value of an expression."""
    return read(x, x.evaluate(expr), expr.span, expr)


def term_of(x: Context, expr: s.Expr, kind: t.CType | None = None) -> Expr:
    """The term of a scalar or pointer expression, converted to ``kind`` if given."""
    value = value_of(x, expr)
    return expression(x, convert(x, value, kind, expr.span) if kind is not None else value)


def condition_of(x: Context, expr: s.Expr) -> Expr:
    """The expression as a condition; a value that is not modelled may be true or false."""
    value = value_of(x, expr)
    if isinstance(value, UnknownValue):
        return x.havoc(expr.span, shown(expr), BOOL, value.reason)
    return truth(value)


def constant_of(x: Context, expr: s.Expr) -> int | None:
    """The value of an expression that is already known, None when it is not."""
    found = value_of(x, expr)
    return terms.value_of(found.expr) if isinstance(found, Term) else None


def declare_result(x: Context, kind: t.CType, name: str) -> Place:
    """Variables for a value of any type."""
    match kind:
        case t.Scalar() | t.Pointer():
            return VariablePlace(t.plain(kind), x.emitter.fresh(name))
        case t.Struct(union=False, fields=fields):
            return StructPlace(kind, tuple(declare_result(x, f.type, f"{name}.{f.name}") for f in fields))
        case _:
            raise Unsupported(f"a value of type `{t.show(kind)}`")
