"""Warp shuffles, votes, matches and reductions."""

from __future__ import annotations

from collections.abc import Callable

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import BOOL, I32, U32, Const, Expr, Op
from gpusafe.parse.cuda import terms
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.builtin.site import CallSite
from gpusafe.parse.cuda.context import Context
from gpusafe.parse.cuda.convert import expression
from gpusafe.parse.cuda.places import truth
from gpusafe.parse.cuda.values import Aggregate, Operand, Term, Value
from gpusafe.span import Span

Builtin = Callable[[Context, CallSite], Operand]


def full_mask() -> Expr:
    """All 32 lanes."""
    return Const(U32, 0xFFFFFFFF)


def shuffle(
    x: Context, op: str, mask: Expr | None, value: Value, lane: Expr, width: Expr, span: Span, name: str
) -> Value:
    """One shuffle for each scalar of the value."""
    if isinstance(value, Aggregate):
        parts = tuple(shuffle(x, op, mask, f, lane, width, span, name) for f in value.fields)
        return Aggregate(value.type, parts)
    expr = expression(x, value)
    var = x.temporary(name, expr.type)
    x.emit(k.WarpOp(span, var.name, op, mask, (expr, lane, width), expr.type))
    return Term(t.plain(value.type), var)


def _shuffle(op: str, masked: bool) -> Builtin:
    """``__shfl_*_sync(mask, value, lane, width = 32)``, and the old forms without a mask."""

    def handler(x: Context, site: CallSite) -> Operand:
        start = 1 if masked else 0
        mask = site.term(x, 0, t.UINT) if masked else None
        value = site.value(x, start)
        lane = site.term(x, start + 1, t.INT if op in ("shfl_idx", "shfl_xor") else t.UINT)
        width = site.term(x, start + 2, t.INT) if len(site.args) > start + 2 else Const(I32, 32)
        return shuffle(x, op, mask, value, lane, width, site.span, site.last)

    return handler


def _vote(op: str, masked: bool) -> Builtin:
    """``__any_sync(mask, predicate)`` and kin; ballot gives the mask of lanes."""

    def handler(x: Context, site: CallSite) -> Operand:
        mask = site.term(x, 0, t.UINT) if masked else None
        predicate = truth(site.value(x, 1 if masked else 0))
        type_ = U32 if op == "ballot" else BOOL
        var = x.temporary(site.last, type_)
        x.emit(k.WarpOp(site.span, var.name, op, mask, (predicate,), type_))
        return Term(t.UINT, var) if op == "ballot" else Term(t.INT, terms.cast(var, I32))

    return handler


def _match(op: str) -> Builtin:
    def handler(x: Context, site: CallSite) -> Operand:
        mask, value = site.term(x, 0, t.UINT), site.term(x, 1)
        var = x.temporary(site.last, U32)
        x.emit(k.WarpOp(site.span, var.name, op, mask, (value,), U32))
        if op == "match_all" and len(site.args) > 2:
            _store_predicate(x, site, var)
        return Term(t.UINT, var)

    return handler


def _store_predicate(x: Context, site: CallSite, mask: Expr) -> None:
    from gpusafe.parse.cuda.places import dereference, write

    place = dereference(x, site.value(x, 2), site.span, "predicate")
    all_equal = terms.binary(Op.NE, mask, Const(U32, 0))
    write(x, place, Term(t.INT, terms.cast(all_equal, I32)), site.span)


def _reduce(op: str) -> Builtin:
    def handler(x: Context, site: CallSite) -> Operand:
        mask = site.term(x, 0, t.UINT)
        value = site.value(x, 1)
        expr = expression(x, value)
        var = x.temporary(site.last, expr.type)
        x.emit(k.WarpOp(site.span, var.name, f"redux_{op}", mask, (expr,), expr.type))
        return Term(t.plain(value.type), var)

    return handler


def _activemask(x: Context, site: CallSite) -> Operand:
    var = x.temporary("active mask", U32)
    x.emit(k.WarpOp(site.span, var.name, "activemask", None, (), U32))
    return Term(t.UINT, var)


WARP: dict[str, Builtin] = {
    "__shfl_sync": _shuffle("shfl_idx", True),
    "__shfl_up_sync": _shuffle("shfl_up", True),
    "__shfl_down_sync": _shuffle("shfl_down", True),
    "__shfl_xor_sync": _shuffle("shfl_xor", True),
    "__shfl": _shuffle("shfl_idx", False),
    "__shfl_up": _shuffle("shfl_up", False),
    "__shfl_down": _shuffle("shfl_down", False),
    "__shfl_xor": _shuffle("shfl_xor", False),
    "__any_sync": _vote("any", True),
    "__all_sync": _vote("all", True),
    "__ballot_sync": _vote("ballot", True),
    "__any": _vote("any", False),
    "__all": _vote("all", False),
    "__ballot": _vote("ballot", False),
    "__match_any_sync": _match("match_any"),
    "__match_all_sync": _match("match_all"),
    "__activemask": _activemask,
    **{f"__reduce_{op}_sync": _reduce(op) for op in ("add", "min", "max", "and", "or", "xor")},
}
