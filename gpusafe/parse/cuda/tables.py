"""Arrays of constants whose values the source gives: an element is chosen among those values."""

from __future__ import annotations

from gpusafe.ir.expr import I64, Expr, Op, PtrAdd, PtrBase
from gpusafe.parse.cuda import terms
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.context import Context

_SPELLED_OUT = 32


def element_of(x: Context, kind: t.Scalar, pointer: Expr) -> Expr | None:
    """The element of a known table that a pointer leads to; None when it is none, or the table is too long."""
    offset: Expr = terms.integer(0, I64)
    while isinstance(pointer, PtrAdd):
        offset = terms.binary(Op.ADD, offset, terms.cast(pointer.offset, I64))
        pointer = pointer.ptr
    table = x.tables.get(pointer.region) if isinstance(pointer, PtrBase) else None
    if table is None or not table or table[0].type != kind.type:
        return None
    size = kind.type.bytes
    at = terms.value_of(offset)
    if at is not None:
        return table[at // size] if at % size == 0 and 0 <= at // size < len(table) else None
    if len(table) > _SPELLED_OUT:
        return None
    chosen = table[-1]
    for index in range(len(table) - 2, -1, -1):
        here = terms.binary(Op.EQ, offset, terms.integer(index * size, I64))
        chosen = terms.select(here, table[index], chosen)
    return chosen
