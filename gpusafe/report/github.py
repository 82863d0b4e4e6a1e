"""Annotations of GitHub Actions: workflow commands on stdout."""

from __future__ import annotations

import os

from gpusafe.config import Options
from gpusafe.report.open_notes import groups, is_open
from gpusafe.report.place import from_top
from gpusafe.report.style import Style
from gpusafe.report.summary import summary
from gpusafe.results import Finding, Level, Report
from gpusafe.rules.catalogue import codes
from gpusafe.span import Span

_COMMANDS = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "notice"}
_MOST_OPEN = 5


def render(report: Report, options: Options, style: Style) -> str:
    """One command a finding; of what is open one a kind of reason. The last line is the summary, as plain text.

    A step shows at most ten annotations of a kind, so the worst come first.
    """
    top = os.environ.get("GITHUB_WORKSPACE")
    lines = [_finding(finding, top) for finding in report.findings if not is_open(finding)]
    open_notes = [finding for finding in report.findings if is_open(finding)]
    for group in groups(open_notes)[:_MOST_OPEN]:
        note = group.notes[0]
        more = f" ({len(group.notes)} places)" if len(group.notes) > 1 else ""
        lines.append(_command("notice", note.primary.span, note.rule, f"not settled: {group.reason}{more}", top))
    return "\n".join([*lines, summary(report, Style())]) + "\n"


def _finding(finding: Finding, top: str | None) -> str:
    told = [finding.message]
    told += [f"{from_top(site.span.file, top)}:{site.span.line}: {site.label}" for site in finding.related]
    told += [f"note: {note}" for note in finding.notes] + [f"help: {help}" for help in finding.help]
    return _command(_COMMANDS[finding.level], finding.primary.span, finding.rule, "\n".join(told), top)


def _command(kind: str, span: Span, rule: str, message: str, top: str | None) -> str:
    values = {"file": from_top(span.file, top), "line": span.line, "endLine": span.end_line}
    if span.line == span.end_line:  # columns of annotations over several lines are refused
        values |= {"col": span.col, "endColumn": span.end_col}
    values["title"] = f"{rule} {codes()[rule]}"
    listed = ",".join(f"{name}={_property(str(value))}" for name, value in values.items())
    return f"::{kind} {listed}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
