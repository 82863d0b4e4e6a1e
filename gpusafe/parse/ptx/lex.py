"""PTX text as tokens (PTX ISA, "Syntax"): words keep the dots of their modifiers, lines are counted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""
    (?P<skip>[ \t\r\f\v]+|//[^\n]*|/\*.*?\*/)
  | (?P<newline>\n)
  | (?P<float>0[fF][0-9a-fA-F]{8}\b|0[dD][0-9a-fA-F]{16}\b|\d+\.\d+(?:[eE][+-]?\d+)?)
  | (?P<number>0[xX][0-9a-fA-F]+U?|0[bB][01]+U?|\d+U?)
  | (?P<string>"(?:[^"\\\n]|\\.)*")
  | (?P<word>[.%]?[A-Za-z_$][\w$]*(?:(?:\.|::)[\w$]+)*)
  | (?P<sign>[{}()\[\];,:@!+\-|<>=*/&^~?.%\#])
    """,
    re.VERBOSE | re.DOTALL,
)


class PtxError(Exception):
    """The text is not PTX that this reader understands; ``line`` counts from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line


@dataclass(frozen=True, slots=True)
class Token:
    """``kind``: word, number, float, string or sign."""

    kind: str
    text: str
    line: int


def tokenize(text: str) -> Iterator[Token]:
    """All tokens in order, without comments. Raises :class:`PtxError`."""
    position, line = 0, 1
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            raise PtxError(f"`{text[position : position + 20].splitlines()[0]}` is not PTX", line)
        kind = found.lastgroup
        position = found.end()
        if kind == "newline":
            line += 1
        elif kind == "skip":
            line += found[0].count("\n")
        else:
            assert kind is not None
            yield Token(kind, found[0], line)
