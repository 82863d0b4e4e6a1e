"""Exact fixed-width integer arithmetic, as the GPU computes it."""

from __future__ import annotations

from gpusafe.ir.expr import Type


def clip(value: int, type_: Type) -> int:
    """``value`` wrapped into an integer type."""
    value &= (1 << type_.bits) - 1
    return value - (1 << type_.bits) if type_.signed and value >> (type_.bits - 1) else value


def truncating_div(a: int, b: int) -> int:
    """Division towards zero; by zero it gives all ones (the machine does not trap on it)."""
    if b == 0:
        return -1
    quotient = abs(a) // abs(b)
    return -quotient if (a < 0) != (b < 0) else quotient


def reverse_bits(value: int, bits: int) -> int:
    """The ``bits`` low bits in reverse order."""
    return int(format(value & ((1 << bits) - 1), f"0{bits}b")[::-1], 2)


def _shift_left(a: int, b: int, bits: int) -> int:
    return a << b if 0 <= b < bits else 0


def _shift_right(a: int, b: int, bits: int) -> int:
    return a >> b if 0 <= b < bits else (-1 if a < 0 else 0)


def fold(op: str, args: tuple[int, ...], type_: Type) -> int:
    """The result of an operation on operands of ``type_`` (comparisons give 0 or 1), wrapped for arithmetic."""
    a = args[0]
    b = args[1] if len(args) > 1 else 0
    bits = type_.bits
    unsigned = a & ((1 << bits) - 1)
    match op:
        case "+":
            value = a + b
        case "-":
            value = a - b
        case "*":
            value = a * b
        case "/":
            value = truncating_div(a, b)
        case "%":
            value = a - b * truncating_div(a, b) if b else a
        case "&":
            value = a & b
        case "|":
            value = a | b
        case "^":
            value = a ^ b
        case "<<":
            value = _shift_left(a, b, bits)
        case ">>":
            value = _shift_right(a, b, bits)
        case "min":
            value = min(a, b)
        case "max":
            value = max(a, b)
        case "==":
            return int(a == b)
        case "!=":
            return int(a != b)
        case "<":
            return int(a < b)
        case "<=":
            return int(a <= b)
        case ">":
            return int(a > b)
        case ">=":
            return int(a >= b)
        case "neg":
            value = -a
        case "~":
            value = ~a
        case "clz":
            value = bits - unsigned.bit_length()
        case "ctz":
            value = (unsigned & -unsigned).bit_length() - 1 if unsigned else bits
        case "popc":
            value = unsigned.bit_count()
        case "brev":
            value = reverse_bits(a, bits)
        case "abs":
            value = abs(a)
        case _:
            raise ValueError(f"no such integer operation: {op}")
    return clip(value, type_)
