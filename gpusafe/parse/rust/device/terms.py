"""Making terms: constant folding and the few simplifications that keep them readable."""

from __future__ import annotations

from gpusafe.ir.expr import (
    BOOL,
    COMPARISONS,
    FALSE,
    PTR,
    TRUE,
    U64,
    USIZE,
    Binary,
    Cast,
    Const,
    Expr,
    Op,
    Opaque,
    PtrAdd,
    PtrUnknown,
    Select,
    Special,
    Type,
    Unary,
)
from gpusafe.ir.terms import (
    ADDRESS,
    both,
    children,
    compare,
    either,
    float_cast_name,
    fold_unary,
    identity,
    logic,
    negate,
    on_floats,
    quotient,
    select,
    unary_on_floats,
    variables,
    walk,
    wrap,
)


def int_const(value: int, type_: Type = USIZE) -> Const:
    """An integer constant, wrapped to its type (placeholder types keep the value)."""
    return Const(type_, wrap(value, type_) if type_.kind == "int" else value)


def const_int(term: Expr) -> int | None:
    """The value of an integer constant term."""
    if isinstance(term, Const) and isinstance(term.value, int) and not isinstance(term.value, bool):
        return term.value
    return None


def fold_ints(op: Op, a: int, b: int, type_: Type) -> int | None:
    """``a op b`` on integers of one type, None where Rust panics."""
    match op:
        case Op.ADD:
            return wrap(a + b, type_)
        case Op.SUB:
            return wrap(a - b, type_)
        case Op.MUL:
            return wrap(a * b, type_)
        case Op.DIV:
            return None if b == 0 else wrap(quotient(a, b), type_)
        case Op.REM:
            return None if b == 0 else wrap(a - b * quotient(a, b), type_)
        case Op.AND:
            return wrap(a & b, type_)
        case Op.OR:
            return wrap(a | b, type_)
        case Op.XOR:
            return wrap(a ^ b, type_)
        case Op.SHL:
            return wrap(a << (b % type_.bits), type_)
        case Op.SHR:
            return wrap(a >> (b % type_.bits), type_)
        case Op.MIN:
            return min(a, b)
        case Op.MAX:
            return max(a, b)
        case _:
            return None


def binary(op: Op, a: Expr, b: Expr, nowrap: bool = False) -> Expr:
    """``a op b``; on floats an opaque term."""
    if a.type.kind == "float":
        return on_floats(op, a, b)
    if op in (Op.LAND, Op.LOR):
        return logic(op, a, b)
    if isinstance(a, Const) and isinstance(b, Const):
        if op in COMPARISONS and a.type.kind in ("int", "bool"):
            return TRUE if compare(op, a.value, b.value) else FALSE
        if a.type.kind == "int" and isinstance(a.value, int) and isinstance(b.value, int):
            value = fold_ints(op, a.value, b.value, a.type)
            if value is not None:
                return Const(a.type, value)
    if op in COMPARISONS:
        if a == b and a.type.kind in ("int", "bool") and op in (Op.EQ, Op.LE, Op.GE):
            return TRUE
        if op is Op.LT and a.type.kind == "int" and not a.type.signed and isinstance(b, Const):
            most, limit = _most(a), const_int(b)
            if most is not None and limit is not None and most < limit:
                return TRUE
        return Binary(BOOL, op, a, b)
    if op is Op.SUB and is_address(a) and is_address(b):
        difference = address_difference(a, b)
        if difference is not None:
            return difference
    return identity(op, a, b, const_int(a), const_int(b)) or Binary(a.type, op, a, b, nowrap)


def _most(term: Expr) -> int | None:
    """An upper bound of an unsigned term that is plain to see."""
    match term:
        case Const(value=int() as value) if value >= 0:
            return value
        case Binary(op=Op.REM, b=Const(value=int() as value)) if not term.type.signed and value > 0:
            return value - 1
        case Binary(op=Op.AND, a=a, b=b):
            known = [m for m in (_most(a), _most(b)) if m is not None]
            return min(known, default=None)
        case Binary(op=Op.SHR, a=a, b=Const(value=int() as value)):
            most = _most(a)
            return most >> value if most is not None else None
        case Binary(op=Op.DIV, a=a):
            return _most(a)
        case Special(name="laneid"):
            return 31
        case Cast(a=a) if a.type.kind == "int" and not a.type.signed:
            return _most(a)
        case Select(a=a, b=b):
            first, second = _most(a), _most(b)
            return None if first is None or second is None else max(first, second)
        case _:
            return None


def shift(op: Op, a: Expr, b: Expr) -> Expr:
    """``a << b`` and ``a >> b``: release builds take the amount modulo the width of ``a``."""
    if a.type.kind == "int":
        most = _most(b)
        if most is None or most >= a.type.bits:
            b = binary(Op.AND, b, int_const(a.type.bits - 1, b.type))
    return binary(op, a, b)


def unary(op: Op, a: Expr) -> Expr:
    """``op a``; on floats an opaque term."""
    if a.type.kind == "float":
        return unary_on_floats(op, a)
    if op is Op.NOT and a.type == BOOL:
        return negate(a)
    value = const_int(a)
    if value is not None and a.type.kind == "int":
        folded = fold_unary(op, value, a.type)
        if folded is not None:
            return Const(a.type, folded)
    if value is not None and op is Op.NEG:  # a literal whose type is not settled yet
        return Const(a.type, -value)
    return Unary(a.type, op, a)


def cast(a: Expr, to: Type) -> Expr:
    """``a as to``."""
    if a.type == to:
        return a
    if a.type == PTR or to == PTR:
        return int_to_ptr(a) if to == PTR else cast(Opaque(U64, ADDRESS, (a,)), to)
    if "float" in (a.type.kind, to.kind):
        if isinstance(a, Const) and a.type.kind == "int" and to.kind == "float":
            return Const(to, float(a.value))
        return Opaque(to, float_cast_name(a.type, to), (a,))
    if isinstance(a, Const) and to.kind == "int" and a.type.kind in ("int", "bool"):
        return Const(to, wrap(int(a.value), to))
    if isinstance(a, Const) and to == BOOL and a.type.kind == "int":
        return TRUE if a.value else FALSE
    return Cast(to, a)


def _origin(ptr: Expr) -> tuple[Expr, list[Expr]]:
    """The pointer that another was moved from, and by how much."""
    offsets: list[Expr] = []
    while isinstance(ptr, PtrAdd):
        offsets.append(ptr.offset)
        ptr = ptr.ptr
    return ptr, offsets


def address_difference(a: Expr, b: Expr) -> Expr | None:
    """``a - b`` of two addresses that come from one pointer."""
    (first, more), (second, less) = _address(a), _address(b)
    if first is None or first != second:
        return None
    made: Expr = int_const(0, a.type)
    for term in more:
        made = binary(Op.ADD, made, cast(term, a.type))
    for term in less:
        made = binary(Op.SUB, made, cast(term, a.type))
    return made


def _address(term: Expr) -> tuple[Expr | None, list[Expr]]:
    offsets: list[Expr] = []
    while True:
        match term:
            case Opaque(name=name, args=(ptr,)) if name == ADDRESS:
                base, moved = _origin(ptr)
                return base, [*offsets, *moved]
            case Binary(op=Op.ADD, a=a, b=b) if is_address(a):
                offsets.append(b)
                term = a
            case Binary(op=Op.ADD, a=a, b=b) if is_address(b):
                offsets.append(a)
                term = b
            case _:
                return None, []


def is_address(term: Expr) -> bool:
    """Whether an integer term is an address that still tells its pointer."""
    match term:
        case Opaque(name=name):
            return name == ADDRESS
        case Binary(op=Op.ADD, a=a, b=b):
            return is_address(a) or is_address(b)
        case Cast(a=a):
            return is_address(a)
        case _:
            return False


def int_to_ptr(a: Expr) -> Expr:
    """The pointer with an address; keeps its origin where the address was computed from a pointer."""
    match a:
        case Opaque(name=name, args=(pointer,)) if name == ADDRESS:
            return pointer
        case Binary(op=Op.ADD, a=x, b=y):
            for base, offset in ((x, y), (y, x)):
                if isinstance(base, Opaque) and base.name == ADDRESS:
                    return ptr_add(base.args[0], offset)
        case Cast(a=inner) if inner.type.bits >= 64:
            return int_to_ptr(inner)
    return PtrUnknown(PTR, "a pointer made from an integer")


def ptr_add(ptr: Expr, offset: Expr) -> Expr:
    """``ptr`` moved by ``offset`` bytes."""
    value = const_int(offset)
    if value == 0:
        return ptr
    if isinstance(ptr, PtrUnknown):
        return ptr
    if value is not None and isinstance(ptr, PtrAdd) and ptr.offset.type == offset.type:
        inner = const_int(ptr.offset)
        if inner is not None:
            return ptr_add(ptr.ptr, int_const(inner + value, offset.type))
    return PtrAdd(PTR, ptr, offset)


def scaled(index: Expr, size: Expr) -> Expr:
    """``index * size`` in bytes; the multiplication cannot overflow for a valid pointer."""
    return binary(Op.MUL, index, cast(size, index.type) if size.type != index.type else size, nowrap=True)


def wrapping_scaled(index: Expr, size: Expr) -> Expr:
    """``index * size`` in bytes, where Rust allows the address to wrap."""
    return binary(Op.MUL, index, cast(size, index.type))


__all__ = [
    "address_difference",
    "binary",
    "both",
    "cast",
    "children",
    "const_int",
    "either",
    "fold_ints",
    "int_const",
    "int_to_ptr",
    "is_address",
    "negate",
    "ptr_add",
    "scaled",
    "select",
    "shift",
    "unary",
    "variables",
    "walk",
    "wrapping_scaled",
]
