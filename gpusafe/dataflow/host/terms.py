"""Arithmetic on host scalars: exact on what is known, terms on what is not.

A known integer is a Python int; :class:`Counter` marks one that came from the counter of a loop.
Anything that this file cannot express comes back as None, and the caller invents a fresh unknown.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

from gpusafe.dataflow.host.values import Unknown, Value
from gpusafe.dataflow.host_sums import linear
from gpusafe.ir.expr import (
    BOOL,
    COMPARISONS,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    I128,
    ISIZE,
    U8,
    U16,
    U32,
    U64,
    U128,
    USIZE,
    Binary,
    Cast,
    Const,
    Expr,
    Op,
    Select,
    Type,
    Unary,
)

SCALARS: dict[str, Type] = {
    "u8": U8, "u16": U16, "u32": U32, "u64": U64, "u128": U128, "usize": USIZE,
    "i8": I8, "i16": I16, "i32": I32, "i64": I64, "i128": I128, "isize": ISIZE,
    "f16": Type("float", 16), "bf16": Type("float", 16), "f32": F32, "f64": F64, "bool": BOOL, "char": U32,
    "c_int": I32, "c_uint": U32, "c_float": F32, "c_double": F64, "c_uchar": U8, "c_char": I8, "c_void": U8,
    "CUdeviceptr": U64,
}  # fmt: skip
"""Rust's scalar types by name."""


class Counter(int):
    """A known integer computed from the counter of a loop (its value differs from iteration to iteration)."""


class Bent(Counter):
    """One that does not advance by the same amount from iteration to iteration (a quotient, a minimum, a square)."""


def counted(value: int, op: Op, a: Value, b: Value) -> int:
    """The result of ``a op b``, as what it is to a loop. A remainder comes back to itself, and is noted elsewhere."""
    if not isinstance(a, Counter) and not isinstance(b, Counter):
        return value
    even = {
        Op.ADD: True,
        Op.SUB: True,
        Op.MUL: not (isinstance(a, Counter) and isinstance(b, Counter)),
        Op.SHL: not isinstance(b, Counter),
        Op.REM: not isinstance(b, Counter),
    }
    bent = isinstance(a, Bent) or isinstance(b, Bent) or not even.get(op, False)
    return Bent(value) if bent else Counter(value)


def like(value: int, source: Value) -> int:
    """An integer made of one counted number: of the same kind where it is the same number."""
    if not isinstance(source, Counter):
        return value
    return Counter(value) if value == source and not isinstance(source, Bent) else Bent(value)


BINARY: dict[str, Op] = {
    "+": Op.ADD, "-": Op.SUB, "*": Op.MUL, "/": Op.DIV, "%": Op.REM, "&": Op.AND, "|": Op.OR, "^": Op.XOR,
    "<<": Op.SHL, ">>": Op.SHR, "==": Op.EQ, "!=": Op.NE, "<": Op.LT, "<=": Op.LE, ">": Op.GT, ">=": Op.GE,
    "&&": Op.LAND, "||": Op.LOR, "min": Op.MIN, "max": Op.MAX,
}  # fmt: skip


def _div(a: int, b: int) -> int | None:
    if b == 0:
        return None
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _rem(a: int, b: int) -> int | None:
    quotient = _div(a, b)
    return None if quotient is None else a - quotient * b


def _shift(apply: Callable[[int, int], int]) -> Callable[[int, int], int | None]:
    return lambda a, b: apply(a, b) if 0 <= b < 128 else None


_EXACT: dict[Op, Callable[[int, int], int | bool | None]] = {
    Op.ADD: operator.add, Op.SUB: operator.sub, Op.MUL: operator.mul, Op.DIV: _div, Op.REM: _rem,
    Op.AND: operator.and_, Op.OR: operator.or_, Op.XOR: operator.xor,
    Op.SHL: _shift(operator.lshift), Op.SHR: _shift(operator.rshift), Op.MIN: min, Op.MAX: max,
    Op.EQ: operator.eq, Op.NE: operator.ne, Op.LT: operator.lt, Op.LE: operator.le, Op.GT: operator.gt,
    Op.GE: operator.ge,
}  # fmt: skip

_FLOAT: dict[Op, Callable[[float, float], float | bool | None]] = {
    Op.ADD: operator.add, Op.SUB: operator.sub, Op.MUL: operator.mul,
    Op.DIV: lambda a, b: a / b if b else None,
    Op.EQ: operator.eq, Op.NE: operator.ne, Op.LT: operator.lt, Op.LE: operator.le, Op.GT: operator.gt,
    Op.GE: operator.ge,
}  # fmt: skip


LARGEST_TERM = 200
"""Nodes of a term, written out; what grows further (a random number generator that is iterated) is unknown."""


def _too_large(*terms: Expr) -> bool:
    """Whether a term of these parts would have more nodes than any index or size that people write."""
    count = 0
    stack: list[Expr] = list(terms)
    while stack:
        count += 1
        if count >= LARGEST_TERM:
            return True
        match stack.pop():
            case Binary(a=a, b=b):
                stack += (a, b)
            case Select(cond=cond, a=a, b=b):
                stack += (cond, a, b)
            case Unary(a=a) | Cast(a=a):
                stack.append(a)
    return False


def is_int(value: Value) -> bool:
    """Whether a value is a known integer (not a boolean)."""
    return isinstance(value, int) and not isinstance(value, bool)


def known(value: Value) -> int | None:
    """The integer that a value is known to be, else None."""
    match value:
        case bool():
            return None
        case int():
            return value
        case Const(value=int(number)) if not isinstance(number, bool):
            return number
    return None


def as_term(value: Value, type_: Type | None = None) -> Expr | None:
    """A scalar as a term: known numbers become constants of ``type_`` (or of a default type)."""
    match value:
        case Expr():
            return value
        case bool():
            return Const(BOOL, value)
        case int():
            chosen = type_ if type_ is not None and type_.kind == "int" else (USIZE if value >= 0 else I64)
            return Const(chosen, value)
        case float():
            return Const(type_ if type_ is not None and type_.kind == "float" else F64, value)
    return None


def binary(op: Op, a: Value, b: Value, nowrap: bool = False) -> Value | None:
    """``a op b`` on scalars, None where it cannot be said."""
    if isinstance(a, Const) and isinstance(b, Const | int):
        a = a.value
    if isinstance(b, Const) and isinstance(a, int):
        b = b.value
    match a, b:
        case (bool(), bool()):
            return _booleans(op, a, b)
        case (int(), int()) if is_int(a) and is_int(b):
            exact = _EXACT.get(op)
            result = exact(int(a), int(b)) if exact else None
            return counted(result, op, a, b) if isinstance(result, int) and is_int(result) else result
        case (float() | int(), float() | int()):
            inexact = _FLOAT.get(op)
            return inexact(float(a), float(b)) if inexact else None
    return _symbolic(op, a, b, nowrap)


def _booleans(op: Op, a: bool, b: bool) -> bool | None:
    table: dict[Op, bool] = {
        Op.LAND: a and b, Op.LOR: a or b, Op.EQ: a == b, Op.NE: a != b, Op.AND: a and b, Op.OR: a or b, Op.XOR: a != b
    }  # fmt: skip
    return table.get(op)


def _symbolic(op: Op, a: Value, b: Value, nowrap: bool) -> Expr | int | None:
    left = as_term(a, b.type if isinstance(b, Expr) else None)
    right = as_term(b, a.type if isinstance(a, Expr) else None)
    if left is None or right is None:
        return None
    if left.type.kind == "float" or right.type.kind == "float":
        return None
    if left.type != right.type and op not in (Op.SHL, Op.SHR):
        return None
    simple = _simplify(op, left, right)
    if simple is not None:
        return simple
    if op in (Op.DIV, Op.REM) and not (isinstance(right, Const) and right.value):
        return None
    if _too_large(left, right):
        return None
    result = BOOL if op in COMPARISONS or op in (Op.LAND, Op.LOR) else left.type
    return Binary(result, op, left, right, nowrap)


def _simplify(op: Op, left: Expr, right: Expr) -> Expr | int | None:
    zero_right = isinstance(right, Const) and right.value == 0 and right.type.kind == "int"
    zero_left = isinstance(left, Const) and left.value == 0 and left.type.kind == "int"
    one_right = isinstance(right, Const) and right.value == 1 and right.type.kind == "int"
    one_left = isinstance(left, Const) and left.value == 1 and left.type.kind == "int"
    match op:
        case Op.ADD if zero_right:
            return left
        case Op.ADD if zero_left:
            return right
        case Op.SUB if zero_right:
            return left
        case Op.SUB if left == right:
            return 0
        case Op.MUL if zero_right or zero_left:
            return 0
        case Op.MUL | Op.DIV if one_right:
            return left
        case Op.MUL if one_left:
            return right
        case Op.MIN | Op.MAX if left == right:
            return left
    return None


def add(a: Value, b: Value) -> Value | None:
    """Sum of sizes or offsets inside one allocation: cannot wrap."""
    return binary(Op.ADD, a, b, nowrap=True)


def sub(a: Value, b: Value) -> Value | None:
    """Difference of positions inside one allocation: cannot wrap. ``(k + 1) * n - k * n`` is ``n``."""
    made = binary(Op.SUB, a, b, nowrap=True)
    if not isinstance(made, Binary):
        return made
    left = linear(made)
    match tuple(left.terms):
        case ():
            return left.const if left.const >= 0 else made
        case ((atom, 1),) if left.const == 0 and atom.type == made.type:
            return atom
    return made


def mul(a: Value, b: Value) -> Value | None:
    """Product of a count and a size inside one allocation: cannot wrap."""
    return binary(Op.MUL, a, b, nowrap=True)


def div_ceil(a: Value, b: Value) -> Value | None:
    """``a.div_ceil(b)``, which does not overflow."""
    left, right = known(a), known(b)
    if left is not None and right:
        value = -(-left // right)
        return counted(value, Op.DIV, a, b)
    if right is None or right <= 0:
        return None
    raised = add(a, right - 1)
    return None if raised is None else binary(Op.DIV, raised, right, nowrap=True)


def negate(a: Value) -> Value | None:
    """``-a``."""
    match a:
        case bool():
            return None
        case int():
            return Counter(-a) if isinstance(a, Counter) else -a
        case float():
            return -a
        case Expr() if a.type.kind == "int":
            return Unary(a.type, Op.NEG, a)
    return None


def invert(a: Value) -> Value | None:
    """``!a``."""
    match a:
        case bool():
            return not a
        case Expr() if a.type == BOOL:
            flipped = {Op.EQ: Op.NE, Op.NE: Op.EQ, Op.LT: Op.GE, Op.GE: Op.LT, Op.LE: Op.GT, Op.GT: Op.LE}
            if isinstance(a, Unary) and a.op is Op.NOT:
                return a.a
            if isinstance(a, Binary) and a.op in flipped:
                return Binary(BOOL, flipped[a.op], a.a, a.b)
            return Unary(BOOL, Op.NOT, a)
        case Expr() if a.type.kind == "int":
            return Unary(a.type, Op.NOT, a)
    return None


def cast(a: Value, type_: Type) -> Value | None:
    """``a as T``."""
    if type_.kind == "float":
        return float(a) if isinstance(a, (int, float)) else None
    match a:
        case bool():
            return int(a) if type_.kind == "int" else a
        case int():
            return like(wrap(int(a), type_), a)
        case float():
            return max(type_.low, min(type_.high, int(a))) if a == a and abs(a) < 1e300 else None
        case str() if len(a) == 1:
            return wrap(ord(a), type_)
        case Expr() if a.type.kind in ("int", "bool"):
            return a if a.type == type_ else Cast(type_, a)
    return None


def wrap(value: int, type_: Type) -> int:
    """An integer brought into the range of a type, as two's complement does."""
    value &= (1 << type_.bits) - 1
    return value - (1 << type_.bits) if type_.signed and value > type_.high else value


def select(cond: Expr, a: Value, b: Value) -> Value | None:
    """``if cond { a } else { b }`` on scalars."""
    left = as_term(a, b.type if isinstance(b, Expr) else None)
    right = as_term(b, a.type if isinstance(a, Expr) else None)
    if left is None or right is None:
        return None
    if left == right:
        return left
    if left.type != right.type or _too_large(cond, left, right):
        return None
    return Select(left.type, cond, left, right)


def in_words(term: Expr) -> str:
    """A term as a user would write it."""
    match term:
        case Const(value=value):
            return str(value).lower() if isinstance(value, bool) else str(value)
        case Binary(op=op, a=a, b=b) if op in (Op.MIN, Op.MAX):
            return f"{op.value}({in_words(a)}, {in_words(b)})"
        case Binary(op=op, a=a, b=b):
            return f"{in_words(a)} {op.value} {in_words(b)}"
        case Unary(op=op, a=a):
            return f"{'!' if op is Op.NOT else '-'}({in_words(a)})"
        case Cast(a=a):
            return in_words(a)
        case Select(cond=cond, a=a, b=b):
            return f"if {in_words(cond)} {{ {in_words(a)} }} else {{ {in_words(b)} }}"
    return str(getattr(term, "name", "?"))


def empty(length: Value) -> Value:
    """Whether something of this length has no elements."""
    found = binary(Op.EQ, length, 0)
    return found if found is not None else Unknown("whether it is empty")
