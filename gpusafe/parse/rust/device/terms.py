"""Making terms: constant folding and the few simplifications that keep them readable."""

from __future__ import annotations

from collections.abc import Iterator

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
    Var,
)

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
ADDRESS = "address"


def wrap(value: int, type_: Type) -> int:
    """``value`` reduced to the range of an integer type, as Rust's ``as`` does."""
    value &= (1 << type_.bits) - 1
    return value - (1 << type_.bits) if type_.signed and value >> (type_.bits - 1) else value


def int_const(value: int, type_: Type = USIZE) -> Const:
    """An integer constant, wrapped to its type (placeholder types keep the value)."""
    return Const(type_, wrap(value, type_) if type_.kind == "int" else value)


def const_int(term: Expr) -> int | None:
    """The value of an integer constant term."""
    if isinstance(term, Const) and isinstance(term.value, int) and not isinstance(term.value, bool):
        return term.value
    return None


def _divide(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


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
            return None if b == 0 else wrap(_divide(a, b), type_)
        case Op.REM:
            return None if b == 0 else wrap(a - b * _divide(a, b), type_)
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


def _compare(op: Op, a: int | bool | float, b: int | bool | float) -> bool:
    return {
        Op.EQ: a == b,
        Op.NE: a != b,
        Op.LT: a < b,
        Op.LE: a <= b,
        Op.GT: a > b,
        Op.GE: a >= b,
    }[op]


def binary(op: Op, a: Expr, b: Expr, nowrap: bool = False) -> Expr:
    """``a op b``; on floats an opaque term."""
    if a.type.kind == "float":
        return Opaque(BOOL if op in COMPARISONS else a.type, _FLOAT_NAMES.get(op, op.name.lower()), (a, b))
    if op in (Op.LAND, Op.LOR):
        return _logic(op, a, b)
    if isinstance(a, Const) and isinstance(b, Const):
        if op in COMPARISONS and a.type.kind in ("int", "bool"):
            return TRUE if _compare(op, a.value, b.value) else FALSE
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
    return _identity(op, a, b) or Binary(a.type, op, a, b, nowrap)


def _logic(op: Op, a: Expr, b: Expr) -> Expr:
    neutral, absorbing = (TRUE, FALSE) if op is Op.LAND else (FALSE, TRUE)
    if a == neutral:
        return b
    if b == neutral or a == absorbing:
        return a
    if a == b:
        return a
    return Binary(BOOL, op, a, b)


def _identity(op: Op, a: Expr, b: Expr) -> Expr | None:
    x, y = const_int(a), const_int(b)
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


def both(a: Expr, b: Expr) -> Expr:
    """``a && b``."""
    return binary(Op.LAND, a, b)


def either(a: Expr, b: Expr) -> Expr:
    """``a || b``."""
    return binary(Op.LOR, a, b)


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
    """``op a``; on floats an opaque term."""
    if a.type.kind == "float":
        if isinstance(a, Const) and op is Op.NEG:
            return Const(a.type, -a.value)
        return Opaque(a.type, {Op.NEG: "fneg", Op.ABS: "fabs"}.get(op, op.value), (a,))
    if op is Op.NOT and a.type == BOOL:
        return negate(a)
    value = const_int(a)
    if value is not None and a.type.kind == "int":
        folded = _fold_unary(op, value, a.type)
        if folded is not None:
            return Const(a.type, folded)
    if value is not None and op is Op.NEG:  # a literal whose type is not settled yet
        return Const(a.type, -value)
    return Unary(a.type, op, a)


def _fold_unary(op: Op, value: int, type_: Type) -> int | None:
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


def cast(a: Expr, to: Type) -> Expr:
    """``a as to``."""
    if a.type == to:
        return a
    if a.type == PTR or to == PTR:
        return int_to_ptr(a) if to == PTR else cast(Opaque(U64, ADDRESS, (a,)), to)
    if "float" in (a.type.kind, to.kind):
        if isinstance(a, Const) and a.type.kind == "int" and to.kind == "float":
            return Const(to, float(a.value))
        return Opaque(to, f"{_kind(a.type)}_to_{_kind(to)}", (a,))
    if isinstance(a, Const) and to.kind == "int" and a.type.kind in ("int", "bool"):
        return Const(to, wrap(int(a.value), to))
    if isinstance(a, Const) and to == BOOL and a.type.kind == "int":
        return TRUE if a.value else FALSE
    return Cast(to, a)


def _kind(type_: Type) -> str:
    return f"f{type_.bits}" if type_.kind == "float" else "int"


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


def select(cond: Expr, a: Expr, b: Expr) -> Expr:
    """``if cond { a } else { b }``."""
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
