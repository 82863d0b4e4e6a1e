"""A file with its comments and strings set apart, without parsing it: works in macro bodies and on broken code."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from gpusafe.span import Span

_START = re.compile(
    r"""//[^\n]*|/\*|\b[bc]?r(?P<hashes>\#*)"|"|'(?:\\u\{[^}']*\}|\\[^\n]|[^\\'\n])'""",
    re.VERBOSE,
)
_STRING_END = re.compile(r'\\.|"', re.DOTALL)
_BLOCK = re.compile(r"/\*|\*/")
_VISIBLE = re.compile(r"[^\n]")


@dataclass(frozen=True, slots=True)
class Source:
    """``code`` has the length of ``text``, with comments and the insides of strings blanked.

    ``comments`` and ``strings`` are (start, end) offsets; a string's are those of its inside.
    """

    file: str
    text: str
    code: str
    comments: tuple[tuple[int, int], ...]
    strings: tuple[tuple[int, int], ...]
    line_starts: tuple[int, ...]

    def span(self, start: int, end: int) -> Span:
        """The span of the offsets ``start`` to ``end``."""
        line, col = self.position(start)
        end_line, end_col = self.position(end)
        return Span(self.file, line, col, end_line, end_col)

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column (from 1) of an offset."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line_of(self, offset: int) -> tuple[int, int]:
        """Start and end (before the line end) of the line that holds an offset."""
        start = self.line_starts[self.position(offset)[0] - 1]
        end = self.text.find("\n", offset)
        return start, len(self.text) if end < 0 else end


def scan(file: str, text: str) -> Source:
    """Set comments and strings of ``text`` (Rust or CUDA C) apart."""
    comments: list[tuple[int, int]] = []
    strings: list[tuple[int, int]] = []
    pieces: list[str] = []
    at = 0
    while match := _START.search(text, at):
        start, end = match.span()
        pieces.append(text[at:start])
        token = match[0]
        if token.startswith("//"):
            comments.append((start, end))
        elif token == "/*":
            end = _block_end(text, end)
            comments.append((start, end))
        elif token.endswith('"'):
            end, inside = _string_end(text, end, match["hashes"])
            strings.append((match.end(), inside))
        pieces.append(_VISIBLE.sub(" ", text[start:end]) if token[:1] == "/" else _hollow(text[start:end]))
        at = end
    pieces.append(text[at:])
    starts = (0, *(m.end() for m in re.finditer("\n", text)))
    return Source(file, text, "".join(pieces), tuple(comments), tuple(strings), starts)


def _hollow(literal: str) -> str:
    """A literal with its inside blanked but its ends visible, so that it still counts as code."""
    return literal[:1].replace("\n", " ") + _VISIBLE.sub(" ", literal[1:-1]) + ('"' if len(literal) > 1 else "")


def _block_end(text: str, at: int) -> int:
    depth = 1
    while depth and (match := _BLOCK.search(text, at)):
        depth += 1 if match[0] == "/*" else -1
        at = match.end()
    return len(text) if depth else at


def _string_end(text: str, at: int, hashes: str | None) -> tuple[int, int]:
    """Offsets behind the string and of the end of its inside."""
    if hashes is not None:
        close = f'"{hashes}'
        found = text.find(close, at)
        return (len(text), len(text)) if found < 0 else (found + len(close), found)
    while match := _STRING_END.search(text, at):
        at = match.end()
        if match[0] == '"':
            return at, at - 1
    return len(text), len(text)
