"""The pure functions on floats that the interpreter computes, by the names that front ends give them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

FUNCTIONS: dict[str, Callable[..., Any]] = {
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
    "sqrtf": math.sqrt,
    "mul_add": lambda a, b, c: a * b + c,
    "fma": lambda a, b, c: a * b + c,
    "exp": math.exp,
    "sin": math.sin,
    "cos": math.cos,
    "floor": math.floor,
    "ceil": math.ceil,
}


def compute(name: str, args: list[Any]) -> Any:
    """The value of a function; raises ArithmeticError or ValueError where there is none."""
    return FUNCTIONS[name](*args)
