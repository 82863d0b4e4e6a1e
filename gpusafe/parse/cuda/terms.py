"""Making terms with C's arithmetic: constant folding and the few simplifications that keep terms readable.

Signed arithmetic carries ``nowrap`` (its overflow is undefined), unsigned arithmetic wraps.
"""

from __future__ import annotations

from collections.abc import Iterator

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
    """``value`` reduced to the range of an integer type."""
    value &= (1 << type_.bits) - 1
    return value - (1 << type_.bits) if type_.signed and value >> (type_.bits - 1) else value


def integer(value: int, type_: Type) -> Const:
    """An integer constant, wrapped to its type."""
    return Const(type_, wrap(value, type_))


def value_of(term: Expr) -> int | None:
    """The value of an integer or bool constant."""
    return int(term.value) if isinstance(term, Const) and term.type.kind in ("int", "bool") else None


def _quotient(a: int, b: int) -> int:
    found = abs(a) // abs(b)
    return found if (a < 0) == (b < 0) else -found


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
            return None if b == 0 else _quotient(a, b)
        case Op.REM:
            return None if b == 0 else a - b * _quotient(a, b)
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


def _compare(op: Op, a: int, b: int) -> bool:
    return {Op.EQ: a == b, Op.NE: a != b, Op.LT: a < b, Op.LE: a <= b, Op.GT: a > b, Op.GE: a >= b}[op]


def binary(op: Op, a: Expr, b: Expr) -> Expr:
    """``a op b`` on operands of one type (shifts excepted); on floats an opaque term."""
    if a.type.kind == "float":
        return Opaque(BOOL if op in COMPARISONS else a.type, _FLOAT_NAMES.get(op, op.name.lower()), (a, b))
    if op in (Op.LAND, Op.LOR):
        return _logic(op, a, b)
    x, y = value_of(a), value_of(b)
    if x is not None and y is not None:
        if op in COMPARISONS:
            return TRUE if _compare(op, x, y) else FALSE
        folded = _fold(op, x, y, a.type)
        if folded is not None and (not a.type.signed or a.type.low <= folded <= a.type.high):
            return integer(folded, a.type)
    if op in COMPARISONS:
        if a == b and a.type.kind in ("int", "bool") and op in (Op.EQ, Op.LE, Op.GE):
            return TRUE
        return Binary(BOOL, op, a, b)
    simple = _identity(op, a, b, x, y)
    if simple is not None:
        return simple
    return Binary(a.type, op, a, b, a.type.signed and op in (Op.ADD, Op.SUB, Op.MUL, Op.SHL))


def _logic(op: Op, a: Expr, b: Expr) -> Expr:
    neutral, absorbing = (TRUE, FALSE) if op is Op.LAND else (FALSE, TRUE)
    if a == neutral:
        return b
    if b == neutral or a in (absorbing, b):
        return a
    return Binary(BOOL, op, a, b)


def _identity(op: Op, a: Expr, b: Expr, x: int | None, y: int | None) -> Expr | None:
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


def unary(op: Op, a: Expr) -> Expr:
    """``op a`` (NEG, NOT, ABS, CLZ, POPC, BREV); on floats an opaque term."""
    if a.type.kind == "float":
        if isinstance(a, Const) and op is Op.NEG:
            return Const(a.type, -a.value)
        return Opaque(a.type, {Op.NEG: "fneg", Op.ABS: "fabs"}.get(op, op.value), (a,))
    if op is Op.NOT and a.type == BOOL:
        return negate(a)
    value = value_of(a)
    if value is None or a.type.kind != "int":
        return Unary(a.type, op, a)
    raw = value & ((1 << a.type.bits) - 1)
    match op:
        case Op.NEG:
            return integer(-value, a.type)
        case Op.NOT:
            return integer(~value, a.type)
        case Op.ABS:
            return integer(abs(value), a.type)
        case Op.POPC:
            return integer(raw.bit_count(), a.type)
        case Op.CLZ:
            return integer(a.type.bits - raw.bit_length(), a.type)
        case Op.BREV:
            return integer(int(f"{raw:0{a.type.bits}b}"[::-1], 2), a.type)
        case _:
            return Unary(a.type, op, a)


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
    return Opaque(to, f"{_kind(a.type)}_to_{_kind(to)}", (a,))


def _kind(type_: Type) -> str:
    return f"f{type_.bits}" if type_.kind == "float" else "int"


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


def select(cond: Expr, a: Expr, b: Expr) -> Expr:
    """``cond ? a : b``."""
    if isinstance(cond, Const):
        return a if cond.value else b
    if a == b:
        return a
    if a == TRUE and b == FALSE:
        return cond
    if a == FALSE and b == TRUE:
        return negate(cond)
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


def has_variables(term: Expr) -> bool:
    """Whether a local variable occurs in the term (its value then depends on when it is read)."""
    return any(isinstance(t, Var) for t in walk(term))
