"""Contracts as terms of the IR."""

from __future__ import annotations

from collections.abc import Callable

from gpusafe.ir import expr as ir
from gpusafe.parse.directives.expr import Apply, Compound, DirectiveError, Expr, LengthOf, Name, Not, Number

Lookup = Callable[[str], ir.Expr | None]

_GEOMETRY = {"gridDim": "nctaid", "grid_dim": "nctaid", "blockDim": "ntid", "block_dim": "ntid"}
_WIDE = ir.I128
_OPS = {op.value: op for op in ir.Op}


def to_term(expr: Expr, scalar: Lookup, length: Lookup) -> ir.Expr:
    """``expr`` as a term of type BOOL or integer.

    ``scalar`` and ``length`` give the term of a name and of a region's length (None: there is no such thing).
    Arithmetic is that of integers (128 bits wide), so that nothing wraps. ``injective(..)`` and other named facts are
    not terms: raises DirectiveError for them, and for unknown names.
    """
    match expr:
        case Number(value):
            return ir.Const(_WIDE, value)
        case Name(parts):
            return _wide(_name(parts, scalar))
        case LengthOf(base):
            found = length(str(base))
            if found is None:
                raise DirectiveError(f"there is no slice `{base}` here")
            return _wide(found)
        case Not(op, a):
            inner = to_term(a, scalar, length)
            return ir.Unary(ir.BOOL if op == "!" else _WIDE, ir.Op.NOT if op == "!" else ir.Op.NEG, inner)
        case Compound("=>", a, b):
            return ir.Binary(
                ir.BOOL,
                ir.Op.LOR,
                ir.Unary(ir.BOOL, ir.Op.NOT, to_term(a, scalar, length)),
                to_term(b, scalar, length),
            )
        case Compound(op, a, b):
            left, right = to_term(a, scalar, length), to_term(b, scalar, length)
            return _binary(_OPS[op], left, right)
        case Apply(("min" | "max") as function, (a, b)):
            return _binary(_OPS[function], to_term(a, scalar, length), to_term(b, scalar, length))
        case Apply(function, _):
            raise DirectiveError(f"`{function}(..)` is not a term")
    raise DirectiveError("unknown form")


def _binary(op: ir.Op, left: ir.Expr, right: ir.Expr) -> ir.Expr:
    if left.type != right.type:
        raise DirectiveError(f"`{op.value}` needs two numbers or two conditions")
    if (op in (ir.Op.LAND, ir.Op.LOR)) != (left.type == ir.BOOL) and op not in (ir.Op.EQ, ir.Op.NE):
        raise DirectiveError(f"`{op.value}` does not fit its operands")
    logical = op in ir.COMPARISONS or op in (ir.Op.LAND, ir.Op.LOR)
    return ir.Binary(ir.BOOL if logical else _WIDE, op, left, right)


def _name(parts: tuple[str, ...], scalar: Lookup) -> ir.Expr:
    if len(parts) == 2 and parts[0] in _GEOMETRY and parts[1] in ("x", "y", "z"):
        return ir.Special(ir.U32, f"{_GEOMETRY[parts[0]]}.{parts[1]}")
    found = scalar(".".join(parts))
    if found is None:
        raise DirectiveError(f"there is no `{'.'.join(parts)}` here")
    return found


def _wide(term: ir.Expr) -> ir.Expr:
    return term if term.type.kind != "int" or term.type == _WIDE else ir.Cast(_WIDE, term)
