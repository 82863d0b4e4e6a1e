"""Literals: numbers, characters and strings with their escapes decoded."""

from __future__ import annotations

import re
from collections.abc import Callable

from tree_sitter import Node as TsNode

from gpusafe.parse.rust import ast
from gpusafe.parse.rust.build_source import Reader

_INTEGER = re.compile(r"(0x[0-9a-fA-F_]+?|0o[0-7_]+|0b[01_]+|[0-9][0-9_]*)([iu](?:8|16|32|64|128|size))?\Z")
_FLOAT_SUFFIX = re.compile(r"_?(f16|f32|f64|f128)\Z")
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u\{([0-9a-fA-F_]{1,12})\}|\r?\n\s*|(.))", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "\\": "\\", "'": "'", '"': '"'}
_RAW = re.compile(r"(b|c)?r(#*)\"")
_MAX_DIGITS = 60  # u128 in binary is longer, but not in digits that Python converts slowly


def build_literal(r: Reader, node: TsNode) -> ast.Expr:
    """The literal at ``node``; one that Rust would reject becomes OtherExpr."""
    built = _LITERALS[node.type](r, node)
    return built if built is not None else ast.OtherExpr(r.span(node), r.text(node))


def _integer(r: Reader, node: TsNode) -> ast.Lit | None:
    text = r.text(node)
    if _FLOAT_SUFFIX.search(text) and not text.startswith("0x"):
        return _float(r, node)
    match = _INTEGER.match(text)
    if match is None:
        return None
    digits = match[1].replace("_", "")
    if len(digits) > _MAX_DIGITS and digits[:2] not in ("0b", "0x", "0o"):
        return None
    base = {"0x": 16, "0o": 8, "0b": 2}.get(digits[:2], 10)
    try:
        return ast.Lit(r.span(node), "int", int(digits, base), match[2] or "")
    except ValueError:
        return None


def _float(r: Reader, node: TsNode) -> ast.Lit | None:
    text = r.text(node)
    suffix = _FLOAT_SUFFIX.search(text)
    digits = (text[: suffix.start()] if suffix else text).replace("_", "")
    try:
        return ast.Lit(r.span(node), "float", float(digits), suffix[1] if suffix else "")
    except ValueError:
        return None


def _unescape(text: str) -> str:
    def one(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1], 16))
        if match[2]:
            digits = match[2].replace("_", "")
            value = int(digits, 16) if digits else 0x110000
            return chr(value) if value < 0x110000 else "\ufffd"
        return _SIMPLE.get(match[3], match[3]) if match[3] else ""

    return _ESCAPE.sub(one, text) if "\\" in text else text


def _to_bytes(text: str) -> bytes:
    return b"".join(bytes((ord(c),)) if ord(c) < 256 else c.encode("utf-8", "replace") for c in text)


def _string(r: Reader, node: TsNode) -> ast.Lit | None:
    text = r.text(node)
    start = text.find('"')
    prefix, value = text[:start], _unescape(text[start + 1 : -1])
    if prefix == "b":
        return ast.Lit(r.span(node), "bytestr", _to_bytes(value))
    if prefix == "c":
        return ast.Lit(r.span(node), "cstr", value)
    return ast.Lit(r.span(node), "str", value)


def _raw_string(r: Reader, node: TsNode) -> ast.Lit | None:
    text = r.text(node)
    match = _RAW.match(text)
    if match is None:
        return None
    value = text[match.end() : len(text) - len(match[2]) - 1]
    if match[1] == "b":
        return ast.Lit(r.span(node), "bytestr", value.encode("utf-8", "replace"))
    return ast.Lit(r.span(node), "cstr" if match[1] == "c" else "str", value)


def _char(r: Reader, node: TsNode) -> ast.Lit | None:
    text = r.text(node)
    is_byte = text.startswith("b")
    value = _unescape(text[2 if is_byte else 1 : -1])
    if len(value) != 1:
        return None
    if is_byte:
        return ast.Lit(r.span(node), "byte", ord(value))
    return ast.Lit(r.span(node), "char", value)


_LITERALS: dict[str, Callable[[Reader, TsNode], ast.Lit | None]] = {
    "integer_literal": _integer,
    "float_literal": _float,
    "string_literal": _string,
    "raw_string_literal": _raw_string,
    "char_literal": _char,
    "boolean_literal": lambda r, node: ast.Lit(r.span(node), "bool", r.text(node) == "true"),
}
