"""rustc's JSON diagnostics, one a line: what rust-analyzer reads from ``check.overrideCommand``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gpusafe.config import Options
from gpusafe.report.explain import markdown
from gpusafe.report.place import from_top
from gpusafe.report.style import Style
from gpusafe.report.text import finding_text
from gpusafe.results import Finding, Fix, Report
from gpusafe.rules import RULES
from gpusafe.span import Span
from gpusafe.verdict import Site


def render(report: Report, options: Options, style: Style) -> str:
    """A ``compiler-message`` without package, that is, the diagnostic itself, for each finding."""
    files = _Files(report.sources or {})
    return "".join(json.dumps(_diagnostic(f, files, style), ensure_ascii=False) + "\n" for f in report.findings)


class _Files:
    """Byte offsets of lines, counted once a file; does not leave this module."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self.sources = sources
        self._lines: dict[str, list[str]] = {}
        self._starts: dict[str, list[int]] = {}

    def lines(self, file: str) -> list[str]:
        if file not in self._lines:
            lines = self.sources.get(file, "").split("\n")
            starts = [0]
            for line in lines:
                starts.append(starts[-1] + len(line.encode("utf-8", "surrogatepass")) + 1)
            self._lines[file], self._starts[file] = lines, starts
        return self._lines[file]

    def offset(self, file: str, line: int, col: int) -> int:
        """The UTF-8 byte offset of a place; 0 in files whose text is not at hand."""
        lines = self.lines(file)
        if not 1 <= line <= len(lines):
            return max(self._starts[file][-1] - 1, 0)
        return self._starts[file][line - 1] + len(lines[line - 1][: col - 1].encode("utf-8", "surrogatepass"))


def _diagnostic(finding: Finding, files: _Files, style: Style) -> dict[str, Any]:
    return {
        "$message_type": "diagnostic",
        "message": finding.message,
        "code": {"code": finding.rule, "explanation": markdown(RULES[finding.rule])},
        "level": finding.level.value,
        "spans": [_span(finding.primary, files, primary=True), *(_span(site, files) for site in finding.related)],
        "children": [
            *(_child("note", note) for note in finding.notes),
            *(_child("help", help) for help in finding.help),
            *(_suggestion(fix, files) for fix in finding.fixes),
        ],
        "rendered": finding_text(finding, dict(files.sources), Style(width=style.width)) + "\n\n",
    }


def _child(level: str, message: str, *spans: dict[str, Any]) -> dict[str, Any]:
    return {"message": message, "code": None, "level": level, "spans": list(spans), "children": [], "rendered": None}


def _suggestion(fix: Fix, files: _Files) -> dict[str, Any]:
    place = _span(Site(fix.span, ""), files, primary=True)
    edit = {"suggested_replacement": fix.text, "suggestion_applicability": "MachineApplicable"}
    return _child("help", fix.title, {**place, **edit})


def _span(site: Site, files: _Files, *, primary: bool = False) -> dict[str, Any]:
    span = site.span
    return {
        "file_name": from_top(span.file),
        "byte_start": files.offset(span.file, span.line, span.col),
        "byte_end": files.offset(span.file, span.end_line, span.end_col),
        "line_start": span.line,
        "line_end": span.end_line,
        "column_start": span.col,
        "column_end": span.end_col,
        "is_primary": primary,
        "text": _text(span, files.lines(span.file)),
        "label": site.label or None,
        "suggested_replacement": None,
        "suggestion_applicability": None,
        "expansion": None,
    }


def _text(span: Span, lines: list[str]) -> list[dict[str, Any]]:
    out = []
    for number in range(span.line, min(span.end_line, len(lines), span.line + 20) + 1):
        line = lines[number - 1]
        start = span.col if number == span.line else 1
        end = span.end_col if number == span.end_line else len(line) + 1
        out.append({"text": line, "highlight_start": start, "highlight_end": end})
    return out
