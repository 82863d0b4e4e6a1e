"""The pure functions on floats that the interpreter computes, by the names that front ends give them."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

from gpusafe.dataflow.arith import clip
from gpusafe.ir.expr import Type

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "fadd": lambda a, b: a + b,
    "fsub": lambda a, b: a - b,
    "fmul": lambda a, b: a * b,
    "fdiv": lambda a, b: a / b,
    "frem": math.fmod,
    "fmin": min,
    "fmax": max,
    "feq": lambda a, b: a == b,
    "fne": lambda a, b: a != b,
    "flt": lambda a, b: a < b,
    "fle": lambda a, b: a <= b,
    "fgt": lambda a, b: a > b,
    "fge": lambda a, b: a >= b,
    "fneg": lambda a: -a,
    "fabs": abs,
    "abs": abs,
    "sqrt": math.sqrt,
    "rsqrt": lambda a: 1 / math.sqrt(a),
    "mul_add": lambda a, b, c: a * b + c,
    "fma": lambda a, b, c: a * b + c,
    "exp": math.exp,
    "sin": math.sin,
    "cos": math.cos,
    "floor": math.floor,
    "ceil": math.ceil,
    "exp2": lambda a: 2.0**a,
    "ln": math.log,
    "log": math.log,
    "log2": math.log2,
    "pow": math.pow,
    "powf": math.pow,
    "tanh": math.tanh,
}
_C_NAMES = {f"{prefix}{name}f": name for name in _FUNCTIONS for prefix in ("", "__") if not name.endswith("f")}


def function(name: str) -> Callable[..., Any] | None:
    """What computes a function, under its Rust or its C name (``expf``, ``__expf``); None where nothing does."""
    return _FUNCTIONS.get(name) or _FUNCTIONS.get(_C_NAMES.get(name, ""))


def computed(name: str) -> bool:
    """Whether the interpreter knows what a function gives where its arguments are known."""
    return function(name) is not None or name in SAME_BITS or name.startswith("int_to_f") or name.endswith("_to_int")


SAME_BITS = frozenset({
    "to_bits", "from_bits", "__float_as_int", "__float_as_uint", "__int_as_float", "__uint_as_float",
    "__double_as_longlong", "__longlong_as_double",
})  # fmt: skip
_FORMATS = {("float", 32): "f", ("float", 64): "d", ("int", 32): "I", ("int", 64): "Q"}


def reinterpret(value: Any, was: Type, to: Type) -> Any:
    """The bits of a number as another type of its size; raises ``struct.error`` or ``KeyError`` where there is none."""
    if was.kind == "int":
        value &= (1 << was.bits) - 1
    raw = struct.pack("<" + _FORMATS[was.kind, was.bits], value)
    (out,) = struct.unpack("<" + _FORMATS[to.kind, to.bits], raw)
    return clip(out, to) if to.kind == "int" else out
