"""The lines under one source line: markers, the last label beside them, the others hung below on connectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpusafe.report.style import Style


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
    if inline is not None:
        cells.put(cells.end + 1, inline.text, inline.primary)
    lines = [cells.render(style)]
    hanging = [m for m in labelled if m is not inline]
    if hanging:
        lines.append(_connectors(hanging, style))
    while hanging:
        mark = hanging.pop()
        row = _Canvas()
        for other in hanging:
            if other.start < mark.start:
                row.put(other.start, "|", other.primary)
        row.put(mark.start, mark.text, mark.primary)
        lines.append(row.render(style))
    return lines


def _inline(labelled: Sequence[Mark], marks: Sequence[Mark]) -> Mark | None:
    """The mark whose label fits beside the markers: the rightmost one, unless another mark reaches as far right."""
    if not labelled:
        return None
    last = labelled[-1]
    crowded = any(m is not last and m.end > last.start for m in marks)
    return None if crowded and len(labelled) > 1 else last


def _connectors(marks: Sequence[Mark], style: Style) -> str:
    row = _Canvas()
    for mark in marks:
        row.put(mark.start, "|", mark.primary)
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
