"""The values of arrays of constants."""

from __future__ import annotations

from gpusafe.ir.expr import Const, Expr
from gpusafe.parse.cuda import syntax as s
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.context import Context, Unsupported
from gpusafe.parse.cuda.convert import convert, zero
from gpusafe.parse.cuda.operands import value_of
from gpusafe.parse.cuda.values import Term

_LARGEST = 4096


def read_table(x: Context, kind: t.Array, init: s.Expr) -> tuple[Expr, ...] | None:
    """The elements of a constant array in memory order, None when they are not all known scalars."""
    inner: t.CType = kind
    count = 1
    while isinstance(inner, t.Array):
        if inner.length is None:
            return None
        count *= inner.length
        inner = inner.of
    if not isinstance(inner, t.Scalar) or count > _LARGEST or not isinstance(init, s.Braces):
        return None
    out: list[Expr] = []
    try:
        with x.without_statements():
            _fill(x, kind, init, inner, out)
    except Unsupported:
        return None
    return tuple(out) if len(out) == count and all(isinstance(e, Const) for e in out) else None


def _fill(x: Context, kind: t.Array, init: s.Braces, inner: t.Scalar, out: list[Expr]) -> None:
    length = kind.length or 0
    for item in init.items:
        if isinstance(kind.of, t.Array):
            if not isinstance(item, s.Braces):
                raise Unsupported("a flat initialiser of a nested array")
            _fill(x, kind.of, item, inner, out)
        else:
            made = convert(x, value_of(x, item), inner, item.span)
            if not isinstance(made, Term):
                raise Unsupported("an element that is not known")
            out.append(made.expr)
    per = 1
    below = kind.of
    while isinstance(below, t.Array):
        per *= below.length or 0
        below = below.of
    nothing = zero(inner)
    assert isinstance(nothing, Term)
    out.extend([nothing.expr] * ((length - len(init.items)) * per))
