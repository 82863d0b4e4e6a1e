"""Declarations: variables with alignment, sizes and initialisers, parameters (PTX ISA, chapter 5)."""

from __future__ import annotations

import re
from dataclasses import replace

from gpusafe.parse.ptx.cursor import Cursor
from gpusafe.parse.ptx.lex import PtxError
from gpusafe.parse.ptx.syntax import BYTES, Param, Variable

_ZERO = re.compile(r"0[xXbBfFdD]?0*U?|0+\.0*")

SPACES = {".global": "global", ".shared": "shared", ".const": "const", ".local": "local", ".param": "param",
          ".tex": "global"}  # fmt: skip
_VECTORS = {".v2": 2, ".v4": 4, ".v8": 8}


def space_of(word: str) -> str | None:
    """The state space that a word such as ``.shared`` or ``.shared::cta`` names."""
    return SPACES.get(word.partition("::")[0])


def variables(cursor: Cursor, extern: bool) -> list[Variable]:
    """The variables of a declaration; the cursor stands at its state space and ends behind its semicolon."""
    start = cursor.word()
    space = space_of(start.text)
    if space is None:
        raise PtxError(f"`{start.text}` is not a state space", start.line)
    elem = 0
    while cursor.here.text.startswith("."):
        elem = _modifier(cursor) or elem
    if elem == 0:
        raise PtxError("a variable without a type", start.line)
    out = []
    while True:
        name = cursor.word()
        count = _extents(cursor)
        if cursor.accept("<"):
            number = cursor.number()
            cursor.expect(">")
            out += [Variable(f"{name.text}{i}", space, elem, 1, name.line, extern) for i in range(min(number, 4096))]
        else:
            out.append(Variable(name.text, space, elem, count, name.line, extern))
        if cursor.accept("=") and not _all_zero(cursor):
            out[-1] = replace(out[-1], nonzero=True)
        if cursor.accept(";"):
            return out
        cursor.expect(",")


def _modifier(cursor: Cursor) -> int:
    """Takes one word of a declaration; gives the bytes of an element when it is a type."""
    word = cursor.word()
    match word.text:
        case ".align" | ".managed" | ".unified":
            if cursor.here.kind == "number":
                cursor.take()
            return 0
        case ".attribute":
            cursor.skip_balanced()
            return 0
        case text if text in _VECTORS:
            return _VECTORS[text] * _modifier(cursor)
    return BYTES.get(word.text[1:], 0)


def _extents(cursor: Cursor) -> int | None:
    """The number of elements behind a name: 1 without brackets, None when it is left open."""
    count: int | None = 1
    while cursor.accept("["):
        if cursor.accept("]"):
            count = None
            continue
        size = cursor.number()
        cursor.expect("]")
        count = None if count is None else count * max(0, size)
    return count


def _all_zero(cursor: Cursor) -> bool:
    """Whether an initialiser is made of zeros; the cursor ends behind it."""
    depth, zeros = 0, True
    while depth > 0 or cursor.here.text not in (",", ";"):
        token = cursor.take()
        if token.text in ("{", "("):
            depth += 1
        elif token.text in ("}", ")"):
            depth -= 1
        elif token.text != ",":
            zeros = zeros and _ZERO.fullmatch(token.text) is not None
    return zeros


def params(cursor: Cursor) -> tuple[Param, ...]:
    """A list of parameters in brackets."""
    cursor.expect("(")
    out: list[Param] = []
    while not cursor.accept(")"):
        out.append(_param(cursor))
        cursor.accept(",")
    return tuple(out)


def _param(cursor: Cursor) -> Param:
    line = cursor.line
    type_, pointer, bytes_ = "", False, 0
    while cursor.here.text.startswith("."):
        word = cursor.word().text
        if word == ".ptr":
            pointer = True
        elif word == ".align":
            cursor.number()
        elif word in _VECTORS:
            bytes_ = _VECTORS[word]
        elif word[1:] in BYTES:
            type_ = word[1:]
    if not type_:
        raise PtxError("a parameter without a type", line)
    name = cursor.word().text
    aggregate = cursor.here.text == "["
    count = _extents(cursor)
    size = BYTES[type_] * max(1, bytes_) * (count if count is not None else 0)
    return Param(name, type_, size, aggregate or bytes_ > 0, pointer, line)
