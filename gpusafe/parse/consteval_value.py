"""Values of constants, with the integer types they live in."""

from __future__ import annotations

import struct
from dataclasses import dataclass

Plain = int | bool | float | str | bytes | tuple["Const", ...] | tuple[tuple[str, "Const"], ...]

BITS: dict[str, tuple[int, bool]] = {
    **{f"u{bits}": (bits, False) for bits in (8, 16, 32, 64, 128)},
    **{f"i{bits}": (bits, True) for bits in (8, 16, 32, 64, 128)},
    "usize": (64, False),
    "isize": (64, True),
}
"""(width in bits, signed) of the integer types; pointers have 64 bits on every supported target."""

FLOATS = frozenset({"f16", "f32", "f64"})
MAX_ELEMENTS = 1 << 16
"""Elements of an array constant; longer ones are not evaluated."""


@dataclass(frozen=True, slots=True)
class Const:
    """A constant: ``type`` is a primitive's name, ``tuple``, ``array`` or ``struct``, or ``""`` for an integer literal
    whose type is not known. A struct's value is a tuple of (field, value).
    """

    value: Plain
    type: str = ""

    @property
    def integer(self) -> int | None:
        """The value of an integer; None for everything else."""
        return self.value if isinstance(self.value, int) and not isinstance(self.value, bool) else None


def wrap(value: int, type_: str) -> int:
    """``value`` modulo the width of an integer type."""
    bits, signed = BITS[type_]
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def limits(type_: str) -> tuple[int, int]:
    """The least and the greatest value of an integer type."""
    bits, signed = BITS[type_]
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)


def fits(value: int, type_: str) -> bool:
    """Whether an integer is a value of the type; a type that is not known holds what 128 bits hold."""
    if type_ not in BITS:
        return -(1 << 127) <= value < 1 << 128
    low, high = limits(type_)
    return low <= value <= high


def make_int(value: int, type_: str) -> Const | None:
    """The constant, or None when it overflows (which does not compile)."""
    return Const(value, type_) if fits(value, type_) else None


def typed(given: Const, type_: str) -> Const | None:
    """The constant as a value of a declared type: literals take it on, and what does not fit is None."""
    if type_ not in BITS:
        return given
    if given.integer is None or given.type not in ("", type_) or not fits(given.integer, type_):
        return None
    return Const(given.integer, type_)


def make_float(value: float, type_: str) -> Const:
    """The constant, rounded to the type."""
    if type_ == "f32":
        try:
            value = float(struct.unpack("f", struct.pack("f", value))[0])
        except OverflowError:
            value = float("inf") if value > 0 else float("-inf")
    return Const(value, type_ or "f64")


def cast(given: Const, type_: str) -> Const | None:
    """``given as type_`` for primitives."""
    value = given.value
    if type_ in BITS:
        if isinstance(value, str) and given.type == "char" and len(value) == 1:
            return Const(wrap(ord(value), type_), type_)
        if isinstance(value, float):
            low, high = limits(type_)
            number = 0 if value != value else high if value >= high else low if value <= low else int(value)
            return Const(number, type_)
        return Const(wrap(int(value), type_), type_) if isinstance(value, int) else None
    if type_ in FLOATS and isinstance(value, int | float) and not isinstance(value, bool):
        return make_float(float(value), type_)
    return given if type_ == given.type else None
