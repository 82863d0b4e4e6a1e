"""Numbers, characters and strings as C writes them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from gpusafe.ir.expr import F32, F64, I32, I64, U32, U64, Type

_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)([uUlLzZ]*)\Z")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b",
            "f": "\f", "v": "\v", "?": "?"}  # fmt: skip
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]+|[0-7]{1,3}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|\n|.)", re.DOTALL)
_MAX_DIGITS = 80


@dataclass(frozen=True, slots=True)
class IntegerLiteral:
    """A value and the type that C gives it."""

    value: int
    type: Type


@lru_cache(maxsize=4096)
def integer_literal(text: str) -> IntegerLiteral | None:
    """The value and type of an integer literal (LP64), or None when ``text`` is none."""
    match = _INTEGER.match(text.replace("'", ""))
    if match is None or len(text) > _MAX_DIGITS:
        return None
    digits, suffix = match.group(1), match.group(2).lower()
    lowered = digits.lower()
    decimal = not lowered.startswith("0") or lowered == "0"
    if lowered.startswith("0x"):
        value = int(lowered, 16)
    elif lowered.startswith("0b"):
        value = int(lowered, 2)
    elif decimal:
        value = int(lowered)
    elif set(lowered) <= set("01234567"):
        value = int(lowered, 8)
    else:
        return None
    unsigned, wide = "u" in suffix, "l" in suffix or "z" in suffix
    choices: tuple[Type, ...]
    if unsigned:
        choices = (U64,) if wide else (U32, U64)
    elif decimal:
        choices = (I64,) if wide else (I32, I64)
    else:
        choices = (I64, U64) if wide else (I32, U32, I64, U64)
    kind = next((t for t in choices if value <= t.high), U64)
    return IntegerLiteral(value & U64.high, kind)


def float_literal(text: str) -> tuple[float, Type] | None:
    """The value and type of a floating literal, or None when ``text`` is none."""
    plain = text.replace("'", "").lower()
    if plain.startswith("0x"):
        try:
            return float.fromhex(plain.rstrip("f")), F32 if plain.endswith("f") and "p" in plain else F64
        except ValueError:
            return None
    kind = F32 if plain.endswith("f") else F64
    try:
        return float(plain.rstrip("fl")), kind
    except ValueError:
        return None


def _unescape(match: re.Match[str]) -> str:
    body = match.group(1)
    if body == "\n":
        return ""
    if body[0] in "xuU" and len(body) > 1:
        return chr(min(int(body[1:], 16), 0x10FFFF))
    if body[0] in "01234567":
        return chr(int(body, 8))
    return _ESCAPES.get(body, body)


def string_value(text: str) -> str:
    """What a string literal stands for."""
    if "R" in text.split('"', 1)[0]:
        inner = text[text.index('"') + 1 : -1]
        delim = inner.split("(", 1)[0]
        return inner[len(delim) + 1 : len(inner) - len(delim) - 1]
    return _ESCAPE.sub(_unescape, text[text.index('"') + 1 : -1])


def char_value(text: str) -> int:
    """The value of a character literal (0 for an empty one)."""
    inner = _ESCAPE.sub(_unescape, text[text.index("'") + 1 : -1])
    return ord(inner[0]) if inner else 0
