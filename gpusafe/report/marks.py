"""The lines under one source line: markers, the last label beside them, the others hung below on connectors."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from gpusafe.report.style import Style

_MARGIN = 8  # columns that line numbers and bars may take
_NARROWEST = 40


@dataclass(frozen=True, slots=True)
class Mark:
    """Columns (from 0, half open) to underline, and the label; ``primary`` draws ``^`` and wins where marks overlap."""

    start: int
    end: int
    text: str
    primary: bool


def mark_lines(marks: Sequence[Mark], style: Style) -> list[str]:
    """The lines, without any gutter; none for no marks."""
    if not marks:
        return []
    cells = _Canvas()
    for mark in sorted(marks, key=lambda m: m.primary):
        cells.put(mark.start, ("^" if mark.primary else "-") * (mark.end - mark.start), mark.primary)
    labelled = sorted((m for m in marks if m.text), key=lambda m: (m.start, m.end, not m.primary))
    inline = _inline(labelled, marks)
    hanging = [m for m in labelled if m is not inline]
    lines: list[str] = []
    if inline is not None:
        column = cells.end + 1
        first, *rest = folded(inline.text, style.width - _MARGIN - column)
        cells.put(column, first, inline.primary)
        lines += [_row(hanging, column, part, inline.primary, style) for part in rest]
    lines.insert(0, cells.render(style))
    if hanging:
        lines.append(_row(hanging, 0, "", False, style))
    while hanging:
        mark = hanging.pop()
        left = [other for other in hanging if other.start < mark.start]
        parts = folded(mark.text, style.width - _MARGIN - mark.start)
        lines += [_row(left, mark.start, part, mark.primary, style) for part in parts]
    return lines


def folded(text: str, room: int) -> list[str]:
    """``text`` in lines of at most ``room`` characters (but never very narrow ones)."""
    return textwrap.wrap(text, max(room, _NARROWEST), break_long_words=False, break_on_hyphens=False) or [""]


def _inline(labelled: Sequence[Mark], marks: Sequence[Mark]) -> Mark | None:
    """The mark whose label fits beside the markers: the rightmost one, unless another mark reaches as far right."""
    if not labelled:
        return None
    last = labelled[-1]
    crowded = any(m is not last and m.end > last.start for m in marks)
    return None if crowded and len(labelled) > 1 else last


def _row(connected: Sequence[Mark], column: int, text: str, primary: bool, style: Style) -> str:
    """A line with the connectors of the labels still to come, and a piece of text."""
    row = _Canvas()
    for mark in connected:
        row.put(mark.start, "|", mark.primary)
    row.put(column, text, primary)
    return row.render(style)


class _Canvas:
    """One line, written piece by piece at columns; does not leave this module."""

    def __init__(self) -> None:
        self.cells: dict[int, tuple[str, bool]] = {}

    @property
    def end(self) -> int:
        return max(self.cells, default=-1) + 1

    def put(self, column: int, text: str, primary: bool) -> None:
        for place, char in enumerate(text, column):
            self.cells[place] = (char, primary)

    def render(self, style: Style) -> str:
        out: list[str] = []
        run = ""
        role = False
        for column in range(self.end):
            char, primary = self.cells.get(column, (" ", role))
            if primary != role:
                out.append(_tinted(run, role, style))
                run, role = "", primary
            run += char
        out.append(_tinted(run, role, style))
        return "".join(out)


def _tinted(run: str, primary: bool, style: Style) -> str:
    return style.paint("error" if primary else "secondary", run) if run.strip() else run
