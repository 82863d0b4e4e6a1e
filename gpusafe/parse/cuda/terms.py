"""Making terms with C's arithmetic: constant folding and the few simplifications that keep terms readable.

Signed arithmetic carries ``nowrap`` (its overflow is undefined), unsigned arithmetic wraps.
"""

from __future__ import annotations

from gpusafe.ir.expr import (
    BOOL,
    COMPARISONS,
    FALSE,
    I64,
    PTR,
    TRUE,
    U64,
    Binary,
    Cast,
    Const,
    Expr,
    Op,
    Opaque,
    PtrAdd,
    PtrUnknown,
    Select,
    Type,
    Unary,
    Var,
)
from gpusafe.ir.terms import (
    ADDRESS,
    compare,
    float_cast_name,
    fold_unary,
    identity,
    logic,
    negate,
    on_floats,
    quotient,
    select,
    unary_on_floats,
    walk,
    wrap,
)


def integer(value: int, type_: Type) -> Const:
    """An integer constant, wrapped to its type."""
    return Const(type_, wrap(value, type_))


def value_of(term: Expr) -> int | None:
    """The value of an integer or bool constant."""
    return int(term.value) if isinstance(term, Const) and term.type.kind in ("int", "bool") else None


def _fold(op: Op, a: int, b: int, type_: Type) -> int | None:
    """``a op b`` on integers, None where C leaves it undefined."""
    match op:
        case Op.ADD:
            return a + b
        case Op.SUB:
            return a - b
        case Op.MUL:
            return a * b
        case Op.DIV:
            return None if b == 0 else quotient(a, b)
        case Op.REM:
            return None if b == 0 else a - b * quotient(a, b)
        case Op.AND:
            return a & b
        case Op.OR:
            return a | b
        case Op.XOR:
            return a ^ b
        case Op.SHL:
            return a << b if 0 <= b < type_.bits else None
        case Op.SHR:
            return a >> b if 0 <= b < type_.bits else None
        case Op.MIN:
            return min(a, b)
        case Op.MAX:
            return max(a, b)
        case _:
            return None


def binary(op: Op, a: Expr, b: Expr) -> Expr:
    """``a op b`` on operands of one type (shifts excepted); on floats an opaque term."""
    if a.type.kind == "float":
        return on_floats(op, a, b)
    if op in (Op.LAND, Op.LOR):
        return logic(op, a, b)
    x, y = value_of(a), value_of(b)
    if x is not None and y is not None:
        if op in COMPARISONS:
            return TRUE if compare(op, x, y) else FALSE
        folded = _fold(op, x, y, a.type)
        if folded is not None and (not a.type.signed or a.type.low <= folded <= a.type.high):
            return integer(folded, a.type)
    if op in COMPARISONS:
        if a == b and a.type.kind in ("int", "bool") and op in (Op.EQ, Op.LE, Op.GE):
            return TRUE
        return Binary(BOOL, op, a, b)
    simple = identity(op, a, b, x, y)
    if simple is not None:
        return simple
    return Binary(a.type, op, a, b, a.type.signed and op in (Op.ADD, Op.SUB, Op.MUL, Op.SHL))


def unary(op: Op, a: Expr) -> Expr:
    """``op a`` (NEG, NOT, ABS, CLZ, POPC, BREV); on floats an opaque term."""
    if a.type.kind == "float":
        return unary_on_floats(op, a)
    if op is Op.NOT and a.type == BOOL:
        return negate(a)
    value = value_of(a)
    if value is None or a.type.kind != "int":
        return Unary(a.type, op, a)
    folded = fold_unary(op, value, a.type)
    return Unary(a.type, op, a) if folded is None else Const(a.type, folded)


def cast(a: Expr, to: Type) -> Expr:
    """``a`` converted as C converts arithmetic types; addresses stay recognisable."""
    if a.type == to:
        return a
    if PTR in (a.type, to):
        if to == BOOL:
            return not_null(a)
        return pointer_at(a) if to == PTR else cast(Opaque(U64, ADDRESS, (a,)), to)
    if "float" in (a.type.kind, to.kind):
        return _float_cast(a, to)
    value = value_of(a)
    if value is not None:
        return (TRUE if value else FALSE) if to == BOOL else integer(value, to)
    return Cast(to, a)


def _float_cast(a: Expr, to: Type) -> Expr:
    if isinstance(a, Const):
        if to.kind == "float":
            return Const(to, float(a.value))
        if to == BOOL:
            return TRUE if a.value else FALSE
        if isinstance(a.value, float) and abs(a.value) < 2.0**63:
            return integer(int(a.value), to)
    return Opaque(to, float_cast_name(a.type, to), (a,))


def pointer_at(a: Expr) -> Expr:
    """The pointer with an address; keeps its origin where the address was computed from a pointer."""
    match a:
        case Opaque(name=name, args=(pointer,)) if name == ADDRESS:
            return pointer
        case Binary(op=Op.ADD, a=x, b=y):
            for base, offset in ((x, y), (y, x)):
                found = pointer_at(base)
                if not isinstance(found, PtrUnknown):
                    return move(found, offset)
        case Cast(a=inner):
            return pointer_at(inner)
    return PtrUnknown(PTR, "a pointer made from an integer")


def move(pointer: Expr, offset: Expr) -> Expr:
    """``pointer`` moved by ``offset`` bytes."""
    value = value_of(offset)
    if value == 0 or isinstance(pointer, PtrUnknown):
        return pointer
    if value is not None and isinstance(pointer, PtrAdd):
        inner = value_of(pointer.offset)
        if inner is not None:
            return move(pointer.ptr, integer(inner + value, I64))
    return PtrAdd(PTR, pointer, offset)


def scaled(index: Expr, size: int) -> Expr:
    """``index * size`` in bytes, in 64 bits; it cannot overflow for a valid pointer."""
    wide = index if index.type == U64 else cast(index, I64)
    value = value_of(wide)
    if value is not None:
        return integer(wrap(value, I64) * size, I64)
    return wide if size == 1 else Binary(wide.type, Op.MUL, wide, Const(wide.type, size), True)


def not_null(pointer: Expr) -> Expr:
    """Whether a pointer is not null: the same for all threads that have the same pointer."""
    if pointer == NULL:
        return FALSE
    base = pointer
    while isinstance(base, PtrAdd):
        base = base.ptr
    return Opaque(BOOL, "pointer is not null", (base,))


NULL = PtrUnknown(PTR, "the null pointer")


def replaced(term: Expr, var: Expr, value: Expr) -> Expr:
    """The term with ``value`` in the place of ``var``."""
    if term == var:
        return value
    match term:
        case Binary(op=op, a=a, b=b):
            return binary(op, replaced(a, var, value), replaced(b, var, value))
        case Unary(op=op, a=a):
            return unary(op, replaced(a, var, value))
        case Cast(type=type_, a=a):
            return cast(replaced(a, var, value), type_)
        case Select(cond=cond, a=a, b=b):
            return select(replaced(cond, var, value), replaced(a, var, value), replaced(b, var, value))
        case _:
            return term


def has_variables(term: Expr) -> bool:
    """Whether a local variable occurs in the term (its value then depends on when it is read)."""
    return any(isinstance(t, Var) for t in walk(term))


__all__ = [
    "ADDRESS",
    "NULL",
    "binary",
    "cast",
    "has_variables",
    "integer",
    "move",
    "negate",
    "not_null",
    "pointer_at",
    "replaced",
    "scaled",
    "select",
    "unary",
    "value_of",
    "walk",
]
