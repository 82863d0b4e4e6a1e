"""Raw macro text: where its brackets, strings and comments are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpusafe.span import Span

_TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/"
    r"|(?:b|c)?r(?P<hashes>#*)\".*?\"(?P=hashes)"
    r"|(?:b|c)?\"(?:\\.|[^\"\\])*\""
    r"|b?'(?:\\(?:x[0-9a-fA-F]{2}|u\{[^}]*\}|.)|[^'\\\n])'"
    r"|[A-Za-z_]\w*"
    r"|\S",
    re.DOTALL,
)
_OPEN = "([{"
_CLOSE = ")]}"


def tokens(text: str) -> Iterator[re.Match[str]]:
    """The tokens of ``text``: words, literals with quotes, and single signs; comments are left out."""
    return (match for match in _TOKEN.finditer(text) if not match[0].startswith(("//", "/*")))


def top_level(text: str, sign: str) -> Iterator[int]:
    """The offsets of a one-character sign outside of brackets, strings and comments."""
    depth = 0
    for match in tokens(text):
        token = match[0]
        if token == sign and depth == 0:
            yield match.start()
        if token in _OPEN:
            depth += 1
        elif token in _CLOSE:
            depth -= 1


def opening_of_last_group(text: str) -> int | None:
    """The offset of the ``(`` that opens the last outermost bracket pair, when nothing follows that pair."""
    depth, opened, last = 0, -1, ""
    for match in tokens(text):
        token = last = match[0]
        if token in _OPEN:
            if depth == 0:
                opened = match.start()
            depth += 1
        elif token in _CLOSE:
            depth -= 1
    if depth != 0 or last != ")" or opened < 0 or text[opened] != "(":
        return None
    return opened


def place_of(text: str, at: Span, start: int, end: int) -> Span:
    """The place of ``text[start:end]`` in the file when ``text`` begins where ``at`` begins."""
    line, col = _advance(text, at.line, at.col, 0, start)
    end_line, end_col = _advance(text, line, col, start, end)
    return Span(at.file, line, col, end_line, end_col)


def _advance(text: str, line: int, col: int, start: int, end: int) -> tuple[int, int]:
    breaks = text.count("\n", start, end)
    if not breaks:
        return line, col + end - start
    return line + breaks, end - text.rfind("\n", start, end)
