"""One line of source as a terminal shows it: tabs expanded, control characters visible, wide ones counted."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

TAB = 4


@dataclass(frozen=True, slots=True)
class SourceLine:
    """``text`` as shown; ``offsets[i]`` is the column (from 0) of source character ``i``, with one more for the end."""

    text: str
    offsets: tuple[int, ...]

    def column(self, col: int) -> int:
        """Where source column ``col`` (from 1) is shown, from 0; columns past the end lie just behind the text."""
        return self.offsets[min(max(col, 1) - 1, len(self.offsets) - 1)]

    @property
    def indent(self) -> int:
        """The shown column of the first character that is not blank."""
        return len(self.text) - len(self.text.lstrip())


def shown(line: str) -> SourceLine:
    """``line`` (without its line end) as a terminal shows it."""
    pieces: list[str] = []
    offsets = [0]
    at = 0
    for char in line.rstrip("\r\n"):
        piece = _piece(char)
        pieces.append(piece)
        at += sum(map(_width, piece))
        offsets.append(at)
    return SourceLine("".join(pieces), tuple(offsets))


def _piece(char: str) -> str:
    if char == "\t":
        return " " * TAB
    if unicodedata.category(char) in ("Cc", "Cf", "Cs"):  # escapes and direction marks must not reach the terminal
        return f"\\u{{{ord(char):x}}}"
    return char


def _width(char: str) -> int:
    if char.isascii():
        return 1
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
