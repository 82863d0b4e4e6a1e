"""CUDA C text to preprocessing tokens, each with its place in the file that holds it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from gpusafe.span import Span


class Kind(Enum):
    """What a token is."""

    IDENT = "identifier"
    NUMBER = "number"
    STRING = "string"
    CHAR = "character"
    PUNCT = "punctuation"


@dataclass(frozen=True, slots=True)
class Token:
    """A preprocessing token.

    ``first`` tells that it starts a line, ``spaced`` that white space comes before it. ``hidden`` are the macros that
    must not be expanded in it again. ``place`` is where messages point to.
    """

    kind: Kind
    text: str
    place: Span
    first: bool = False
    spaced: bool = False
    hidden: frozenset[str] = frozenset()


_TOKEN = re.compile(
    r"""
      (?P<space>(?:[ \t\f\v\r]|\\\r?\n)+)
    | (?P<newline>\n)
    | (?P<comment>//(?:\\\r?\n|[^\n])*|/\*.*?(?:\*/|\Z))
    | (?P<raw>(?:u8|[uUL])?R"(?P<delim>[^()\\\s"]{0,16})\(.*?\)(?P=delim)")
    | (?P<string>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*")
    | (?P<char>(?:u8|[uUL])?'(?:\\.|[^'\\\n])+')
    | (?P<number>\.?[0-9](?:[eEpP][+-]|'(?=[0-9a-zA-Z])|[0-9a-zA-Z_.])*)
    | (?P<ident>[^\W\d]\w*|\$\w+)
    | (?P<punct><<<|>>>|<<=|>>=|\.\.\.|->\*|<=>|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||::|\#\#
        |\+=|-=|\*=|/=|%=|&=|\|=|\^=|[^\s\w])
    """,
    re.VERBOSE | re.DOTALL,
)
_KINDS = {
    "raw": Kind.STRING,
    "string": Kind.STRING,
    "char": Kind.CHAR,
    "number": Kind.NUMBER,
    "ident": Kind.IDENT,
    "punct": Kind.PUNCT,
}


Starts = Sequence[tuple[int, int]]


def tokenize(file: str, text: str, line: int = 1, col: int = 1, starts: Starts | None = None) -> list[Token]:
    """All tokens of ``text``, whose first character stands at ``line``, ``col`` of ``file``.

    ``starts`` gives line and column of every line of the text where they do not simply follow each other.
    """
    tokens: list[Token] = []
    at, line_start, row = 0, 1 - col, 0
    first, spaced = True, False
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:  # a control character or the like: nothing in C starts with it
            at, spaced = at + 1, True
            continue
        end = match.end()
        begin_line, begin_col = line, at - line_start + 1
        group = match.lastgroup or ""
        if group == "delim":
            group = "raw"
        newlines = text.count("\n", at, end) if group in ("space", "newline", "comment", "raw") else 0
        if newlines:
            row += newlines
            line += newlines
            line_start = text.rfind("\n", at, end) + 1
            if starts is not None and row < len(starts):
                line = starts[row][0]
                line_start -= starts[row][1] - 1
        if group in _KINDS:
            place = Span(file, begin_line, begin_col, line, end - line_start + 1)
            tokens.append(Token(_KINDS[group], match.group(), place, first, spaced))
            first, spaced = False, False
        else:
            spaced = True
            first = first or group == "newline"
        at = end
    return tokens
