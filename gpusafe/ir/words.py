"""Conditions in the notation that a user wrote them in: ``input.len() >= n * stride``, ``blockDim.x <= 256``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from gpusafe.ir.dump import show
from gpusafe.ir.expr import Binary, Cast, Const, Expr, Length, Op, Param, Special, Unary, Var

REGISTERS = {"ntid": "blockDim", "nctaid": "gridDim", "tid": "threadIdx", "ctaid": "blockIdx"}
_BINDS = {
    Op.LOR: 1, Op.LAND: 2, Op.EQ: 3, Op.NE: 3, Op.LT: 3, Op.LE: 3, Op.GT: 3, Op.GE: 3, Op.OR: 4, Op.XOR: 5, Op.AND: 6,
    Op.SHL: 7, Op.SHR: 7, Op.ADD: 8, Op.SUB: 8, Op.MUL: 9, Op.DIV: 9, Op.REM: 9,
}  # fmt: skip
_LONE = (Op.EQ, Op.NE, Op.LT, Op.LE, Op.GT, Op.GE)


def say(cond: Expr, length: Callable[[str], str] = "{}.len()".format) -> str:
    """A condition on sizes, scalars and the geometry; conversions between integers are left out.

    ``length`` names the length of a region.
    """
    return _say(cond, 0, length)


def _say(term: Expr, around: int, length: Callable[[str], str]) -> str:
    inside = partial(_say, length=length)
    match term:
        case Const(value=value):
            return str(value).lower() if isinstance(value, bool) else str(value)
        case Param(name=name) | Var(name=name):
            return name
        case Length(region=region):
            return length(region)
        case Special(name=name):
            register, _, axis = name.partition(".")
            return f"{REGISTERS[register]}.{axis}" if register in REGISTERS else name
        case Cast(a=a):
            return inside(a, around)
        case Unary(op=Op.NOT, a=a):
            return f"!{inside(a, 10)}"
        case Binary(op=op, a=a, b=b) if op in _BINDS:
            binds = _BINDS[op]
            words = f"{inside(a, binds + (op in _LONE))} {op.value} {inside(b, binds + 1)}"
            return f"({words})" if binds < around else words
        case _:
            return show(term)
