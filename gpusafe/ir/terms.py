"""What all front ends do alike when they make terms: folding, simplifications that keep terms readable, walking.

Where two languages differ (overflow, division, conversions), the front end decides; nothing here does.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpusafe.ir.expr import (
    BOOL,
    COMPARISONS,
    FALSE,
    TRUE,
    Binary,
    Cast,
    Const,
    Expr,
    Op,
    Opaque,
    PtrAdd,
    Select,
    Type,
    Unary,
    Var,
)

ADDRESS = "address"
_FLIPPED = {Op.EQ: Op.NE, Op.NE: Op.EQ, Op.LT: Op.GE, Op.GE: Op.LT, Op.GT: Op.LE, Op.LE: Op.GT}
_FLOAT_NAMES = {
    Op.ADD: "fadd",
    Op.SUB: "fsub",
    Op.MUL: "fmul",
    Op.DIV: "fdiv",
    Op.REM: "frem",
    Op.MIN: "fmin",
    Op.MAX: "fmax",
    Op.EQ: "feq",
    Op.NE: "fne",
    Op.LT: "flt",
    Op.LE: "fle",
    Op.GT: "fgt",
    Op.GE: "fge",
}


def wrap(value: int, type_: Type) -> int:
    """``value`` reduced to the range of an integer type (two's complement)."""
    value &= (1 << type_.bits) - 1
    return value - (1 << type_.bits) if type_.signed and value >> (type_.bits - 1) else value


def quotient(a: int, b: int) -> int:
    """``a / b`` rounded towards zero."""
    found = abs(a) // abs(b)
    return found if (a < 0) == (b < 0) else -found


def compare(op: Op, a: int | bool | float, b: int | bool | float) -> bool:
    """The value of a comparison."""
    return {Op.EQ: a == b, Op.NE: a != b, Op.LT: a < b, Op.LE: a <= b, Op.GT: a > b, Op.GE: a >= b}[op]


def on_floats(op: Op, a: Expr, b: Expr) -> Expr:
    """``a op b`` on floats: an opaque term."""
    return Opaque(BOOL if op in COMPARISONS else a.type, _FLOAT_NAMES.get(op, op.name.lower()), (a, b))


def logic(op: Op, a: Expr, b: Expr) -> Expr:
    """``a && b`` or ``a || b``."""
    neutral, absorbing = (TRUE, FALSE) if op is Op.LAND else (FALSE, TRUE)
    if a == neutral:
        return b
    if b == neutral or a in (absorbing, b):
        return a
    return Binary(BOOL, op, a, b)


def both(a: Expr, b: Expr) -> Expr:
    """``a && b``."""
    return logic(Op.LAND, a, b)


def either(a: Expr, b: Expr) -> Expr:
    """``a || b``."""
    return logic(Op.LOR, a, b)


def identity(op: Op, a: Expr, b: Expr, x: int | None, y: int | None) -> Expr | None:
    """``a op b`` where an operand is neutral or absorbing; ``x`` and ``y`` are the operands' values where known."""
    match op:
        case Op.ADD | Op.OR | Op.XOR | Op.SUB | Op.SHL | Op.SHR if y == 0:
            return a
        case Op.ADD | Op.OR | Op.XOR if x == 0:
            return b
        case Op.MUL | Op.DIV if y == 1:
            return a
        case Op.MUL if x == 1:
            return b
        case Op.MUL if x == 0 or y == 0:
            return a if x == 0 else b
        case _:
            return None


def negate(cond: Expr) -> Expr:
    """The logical opposite."""
    match cond:
        case Const(value=value):
            return FALSE if value else TRUE
        case Unary(op=Op.NOT, a=a):
            return a
        case Binary(op=op, a=a, b=b) if op in _FLIPPED:
            return Binary(BOOL, _FLIPPED[op], a, b)
        case _:
            return Unary(BOOL, Op.NOT, cond)


def unary_on_floats(op: Op, a: Expr) -> Expr:
    """``op a`` on a float: a constant for a negated literal, else an opaque term."""
    if isinstance(a, Const) and op is Op.NEG:
        return Const(a.type, -a.value)
    return Opaque(a.type, {Op.NEG: "fneg", Op.ABS: "fabs"}.get(op, op.value), (a,))


def fold_unary(op: Op, value: int, type_: Type) -> int | None:
    """``op value`` on an integer of a type; None for an operator that is not folded."""
    raw = value & ((1 << type_.bits) - 1)
    match op:
        case Op.NEG:
            return wrap(-value, type_)
        case Op.NOT:
            return wrap(~value, type_)
        case Op.ABS:
            return wrap(abs(value), type_)
        case Op.POPC:
            return raw.bit_count()
        case Op.CLZ:
            return type_.bits - raw.bit_length()
        case Op.CTZ:
            return type_.bits if raw == 0 else (raw & -raw).bit_length() - 1
        case Op.BREV:
            return wrap(int(f"{raw:0{type_.bits}b}"[::-1], 2), type_)
        case _:
            return None


def float_cast_name(source: Type, to: Type) -> str:
    """The name of the opaque term for a conversion from or to a float."""
    return f"{_kind(source)}_to_{_kind(to)}"


def _kind(type_: Type) -> str:
    return f"f{type_.bits}" if type_.kind == "float" else "int"


def select(cond: Expr, a: Expr, b: Expr) -> Expr:
    """``a`` where ``cond`` holds, else ``b``."""
    if isinstance(cond, Const):
        return a if cond.value else b
    if a == b:
        return a
    if a == TRUE and b == FALSE:
        return cond
    if a == FALSE and b == TRUE:
        return negate(cond)
    if a.type == BOOL and b == FALSE:
        return both(cond, a)
    if a.type == BOOL and a == TRUE:
        return either(cond, b)
    return Select(a.type, cond, a, b)


def children(term: Expr) -> tuple[Expr, ...]:
    """The direct operands of a term."""
    match term:
        case Unary(a=a) | Cast(a=a):
            return (a,)
        case Binary(a=a, b=b):
            return (a, b)
        case Select(cond=cond, a=a, b=b):
            return (cond, a, b)
        case Opaque(args=args):
            return args
        case PtrAdd(ptr=ptr, offset=offset):
            return (ptr, offset)
        case _:
            return ()


def walk(term: Expr) -> Iterator[Expr]:
    """The term and everything in it."""
    todo = [term]
    while todo:
        here = todo.pop()
        yield here
        todo.extend(children(here))


def variables(term: Expr) -> set[str]:
    """The names of the variables in a term."""
    return {t.name for t in walk(term) if isinstance(t, Var)}
