"""Rust text as tokens with their places: enough to find names, brackets and statics in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

_TOKEN = re.compile(
    r"(?P<comment>//[^\n]*|/\*)"
    r"|(?P<string>[bc]?r(?P<hashes>#*)\".*?\"(?P=hashes)|[bc]?\"(?:\\.|[^\"\\])*\"|b?'(?:\\[^\n]+?|[^'\\\n])')"
    r"|(?P<lifetime>'[A-Za-z_]\w*)"
    r"|(?P<name>(?:r\#)?[A-Za-z_]\w*)"
    r"|(?P<number>\d[\w.]*?(?=\.\.|[^\w.]|$))"
    r"|(?P<sign>::|->|=>|\.\.[.=]?|\S)",
    re.DOTALL,
)
_CLOSING = {"(": ")", "[": "]", "{": "}"}


def words(text: str) -> frozenset[str]:
    """The words of a list that is written as one text."""
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class Token:
    """``kind``: string, lifetime, name, number or sign; ``start`` and ``end`` are offsets."""

    kind: str
    text: str
    start: int
    end: int


def tokens(text: str, start: int = 0, end: int | None = None) -> Iterator[Token]:
    """The tokens of ``text[start:end]`` without comments."""
    at, stop = start, len(text) if end is None else end
    while at < stop:
        match = _TOKEN.search(text, at, stop)
        if match is None:
            return
        if match.lastgroup == "comment":
            at = _end_of_block(text, match.start(), stop) if match[0] == "/*" else match.end()
            continue
        kind = "string" if match["string"] is not None else match.lastgroup or "sign"
        yield Token(kind, match[0], match.start(), match.end())
        at = match.end()


def _end_of_block(text: str, start: int, stop: int) -> int:
    """Behind a block comment; they nest."""
    depth, at = 0, start
    for match in re.compile(r"/\*|\*/").finditer(text, start, stop):
        depth += 1 if match[0] == "/*" else -1
        at = match.end()
        if depth == 0:
            return at
    return stop


def opening_of(text: str, start: int, end: int) -> int | None:
    """The offset of the ``{`` that the last ``}`` of ``text[start:end]`` closes."""
    stack: list[int] = []
    last = None
    for token in tokens(text, start, end):
        if token.text == "{":
            stack.append(token.start)
        elif token.text == "}" and stack:
            last = stack.pop()
    return last


@dataclass(frozen=True, slots=True)
class Names:
    """Names that a text mentions: ``free`` by themselves or in paths, ``members`` behind a dot or ``::``."""

    free: frozenset[str]
    members: frozenset[str]


@lru_cache(maxsize=4096)
def names_in(text: str) -> Names:
    """The names of a text, macro arguments included, strings and comments not."""
    free, members = set(), set()
    previous = ""
    for token in tokens(text):
        if token.kind == "name":
            name = token.text.removeprefix("r#")
            if previous in (".", "::"):
                members.add(name)
            if previous != ".":
                free.add(name)
        previous = token.text
    return Names(frozenset(free), frozenset(members))


class Lines:
    """Offsets of lines and columns (both from 1, columns in characters)."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(m.end() for m in re.finditer("\n", text))]

    def offset(self, line: int, col: int) -> int:
        """The offset of a place."""
        return self._starts[min(line, len(self._starts)) - 1] + col - 1

    def line(self, offset: int) -> int:
        """The line of an offset."""
        low, high = 0, len(self._starts)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._starts[middle] <= offset else (low, middle)
        return low + 1
