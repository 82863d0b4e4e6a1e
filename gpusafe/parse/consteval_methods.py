"""Operators, methods and associated constants of the primitive types."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

from gpusafe.parse.consteval_value import BITS, FLOATS, Const, fits, limits, make_float, make_int, wrap

_COMPARE: dict[str, Callable[[object, object], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,  # type: ignore[dict-item]
    "<=": operator.le,  # type: ignore[dict-item]
    ">": operator.gt,  # type: ignore[dict-item]
    ">=": operator.ge,  # type: ignore[dict-item]
}


def quotient(a: int, b: int) -> int:
    """Division that truncates, as Rust's does."""
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


_ARITHMETIC: dict[str, Callable[[int, int], int | None]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda a, b: quotient(a, b) if b else None,
    "%": lambda a, b: a - quotient(a, b) * b if b else None,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}


def binary(op: str, a: Const, b: Const) -> Const | None:
    """A binary operator other than the lazy ones; None when it overflows or the types do not fit."""
    if op in ("<<", ">>"):
        return _shift(op, a, b)
    if a.type and b.type and a.type != b.type:
        return None
    type_ = a.type or b.type
    if type_ in BITS and not all(fits(number, type_) for c in (a, b) if (number := c.integer) is not None):
        return None
    left, right = a.value, b.value
    if op in _COMPARE:
        comparable = isinstance(left, int | float) and isinstance(right, int | float)
        return Const(_COMPARE[op](left, right), "bool") if comparable or op in ("==", "!=") else None
    if isinstance(left, bool) and isinstance(right, bool):
        flags = {"&": left and right, "|": left or right, "^": left != right}
        return Const(flags[op], "bool") if op in flags else None
    if isinstance(left, float) and isinstance(right, float):
        return _float(op, left, right, type_)
    x, y = a.integer, b.integer
    if x is None or y is None or op not in _ARITHMETIC:
        return None
    value = _ARITHMETIC[op](x, y)
    return make_int(value, type_) if value is not None else None


def _float(op: str, left: float, right: float, type_: str) -> Const | None:
    match op:
        case "+":
            return make_float(left + right, type_)
        case "-":
            return make_float(left - right, type_)
        case "*":
            return make_float(left * right, type_)
        case "/" if right:
            return make_float(left / right, type_)
        case _:
            return None


def _shift(op: str, a: Const, b: Const) -> Const | None:
    x, y = a.integer, b.integer
    bits = BITS.get(a.type, (32, True))[0] if a.type else 128
    if x is None or y is None or not 0 <= y < bits:
        return None
    if op == ">>":
        return Const(x >> y, a.type)
    if a.type in BITS:
        return Const(wrap(x << y, a.type), a.type)
    return Const(x << y, "") if 0 <= x << y < 1 << 31 else None  # beyond that its type matters


def unary(op: str, a: Const) -> Const | None:
    """``-`` and ``!``."""
    match op, a.value:
        case "!", bool(value):
            return Const(not value, "bool")
        case "!", int(value):
            return Const(wrap(~value, a.type or "i32"), a.type)
        case "-", int(value) if not isinstance(value, bool):
            return make_int(-value, a.type)
        case "-", float(value):
            return Const(-value, a.type)
        case _:
            return None


def _pow(a: int, b: int) -> int | None:
    return a**b if b >= 0 and (abs(a) <= 1 or b * abs(a).bit_length() <= 512) else None


def _next_power_of_two(a: int) -> int:
    return 1 << (a - 1).bit_length() if a > 1 else 1


_PLAIN: dict[str, Callable[..., int | bool | None]] = {
    "div_ceil": lambda a, b: -(-a // b) if b > 0 and a >= 0 else None,
    "next_multiple_of": lambda a, b: -(-a // b) * b if b > 0 and a >= 0 else None,
    "next_power_of_two": lambda a: _next_power_of_two(a) if a >= 0 else None,
    "is_power_of_two": lambda a: a > 0 and a & (a - 1) == 0,
    "min": min,
    "max": max,
    "clamp": lambda a, low, high: min(max(a, low), high) if low <= high else None,
    "pow": _pow,
    "abs": abs,
    "abs_diff": lambda a, b: abs(a - b),
    "signum": lambda a: (a > 0) - (a < 0),
    "div_euclid": lambda a, b: (a - a % abs(b)) // b if b else None,
    "rem_euclid": lambda a, b: a % abs(b) if b else None,
    "ilog2": lambda a: a.bit_length() - 1 if a > 0 else None,
    "isqrt": lambda a: math.isqrt(a) if a >= 0 else None,
    "count_ones": lambda a: a.bit_count() if a >= 0 else None,
    "is_multiple_of": lambda a, b: a % b == 0 if b else a == 0,
    "eq": operator.eq,
    "ne": operator.ne,
}
_GIVES_U32 = frozenset({"ilog2", "count_ones", "trailing_zeros", "leading_zeros"})
_OVERFLOWING: dict[str, Callable[[int, int], int | None]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "pow": _pow,
}


def method(name: str, receiver: Const, args: tuple[Const, ...]) -> Const | None:
    """A method of a primitive, an array or a string."""
    if name == "len" and not args and isinstance(receiver.value, tuple | str | bytes):
        length = len(receiver.value.encode()) if isinstance(receiver.value, str) else len(receiver.value)
        return Const(length, "usize") if receiver.type != "struct" else None
    if name in ("clone", "to_owned", "into", "as_ref", "as_str", "to_string", "as_bytes") and not args:
        return receiver if name != "as_bytes" or isinstance(receiver.value, bytes) else None
    numbers = tuple(arg.integer for arg in (receiver, *args))
    known = tuple(number for number in numbers if number is not None)
    if len(known) != len(numbers) or len(known) > 3:
        return None
    type_ = receiver.type or next((arg.type for arg in args if arg.type in BITS), "")
    return _int_method(name, known, type_)


def _int_method(name: str, numbers: tuple[int, ...], type_: str) -> Const | None:
    mode, _, rest = name.partition("_")
    if mode in ("wrapping", "saturating") and rest in _OVERFLOWING and len(numbers) == 2 and type_ in BITS:
        value = _OVERFLOWING[rest](*numbers)
        if value is None:
            return None
        low, high = limits(type_)
        return Const(wrap(value, type_) if mode == "wrapping" else min(max(value, low), high), type_)
    if name in ("trailing_zeros", "leading_zeros") and type_ in BITS and len(numbers) == 1:
        bits, number = BITS[type_][0], numbers[0] & ((1 << BITS[type_][0]) - 1)
        count = (number & -number).bit_length() - 1 if name == "trailing_zeros" else bits - number.bit_length()
        return Const(count if number else bits, "u32")
    rule = _PLAIN.get(name)
    if rule is None:
        return None
    try:
        result = rule(*numbers)
    except TypeError:  # a wrong number of arguments
        return None
    if isinstance(result, bool):
        return Const(result, "bool")
    given = "u32" if name in _GIVES_U32 else type_
    return Const(result, given) if result is not None and fits(result, given) else None


def associated(type_: str, name: str) -> Const | None:
    """``u32::MAX`` and its like."""
    if type_ in BITS:
        low, high = limits(type_)
        match name:
            case "MAX":
                return Const(high, type_)
            case "MIN":
                return Const(low, type_)
            case "BITS":
                return Const(BITS[type_][0], "u32")
    if type_ in FLOATS and name in ("INFINITY", "NEG_INFINITY"):
        return Const(float("inf") if name == "INFINITY" else float("-inf"), type_)
    return None
