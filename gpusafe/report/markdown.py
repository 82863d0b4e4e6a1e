"""A Markdown summary: for the page of a CI job or a comment on a pull request."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence

from gpusafe.config import Options
from gpusafe.report.open_notes import groups, is_open
from gpusafe.report.place import from_top
from gpusafe.report.style import Style
from gpusafe.report.summary import summary
from gpusafe.report.text import finding_text
from gpusafe.results import Finding, Level, Report
from gpusafe.verdict import Unit, Verdict

_MOST_FINDINGS = 50
_MOST_REASONS = 20
_SIGNS = {Verdict.PROVED: "proved", Verdict.REFUTED: "**refuted**", Verdict.UNKNOWN: "unknown"}


def render(report: Report, options: Options, style: Style) -> str:
    """Headline, findings in full behind a fold each, what is open by reason, and a table of files."""
    faults = [finding for finding in report.findings if not is_open(finding)]
    notes = [finding for finding in report.findings if is_open(finding)]
    parts = [f"## gpusafe: {_headline(report)}", _escaped(summary(report, Style())) + "."]
    parts += [_fault(finding, report) for finding in faults[:_MOST_FINDINGS]]
    if len(faults) > _MOST_FINDINGS:
        parts.append(f"... and {len(faults) - _MOST_FINDINGS} more findings")
    parts += _open(notes)
    parts += _table(report.units)
    return "\n\n".join(parts) + "\n"


def _headline(report: Report) -> str:
    errors = sum(finding.level is Level.ERROR for finding in report.findings)
    if errors:
        return f"{errors} error{'' if errors == 1 else 's'}"
    unknown = sum(unit.verdict is Verdict.UNKNOWN for unit in report.units)
    if unknown:
        return f"no errors, {unknown} not settled"
    return "everything proved" if report.units and not report.findings else "no errors"


def _fault(finding: Finding, report: Report) -> str:
    span = finding.primary.span
    head = (
        f"<code>{finding.rule}</code> {_html(finding.message)} (<code>{_html(from_top(span.file))}:{span.line}</code>)"
    )
    text = finding_text(finding, report.sources or {}, Style(width=110))
    fence = "`" * max(4, _longest_run(text) + 1)
    opened = " open" if finding.level is Level.ERROR else ""
    return f"<details{opened}><summary>{head}</summary>\n\n{fence}text\n{text}\n{fence}\n\n</details>"


def _open(notes: Sequence[Finding]) -> list[str]:
    if not notes:
        return []
    every = groups(notes)
    rows = [f"| {len(g.notes)} | {g.rule} | {_cell(g.reason)} | {_cell(str(g.notes[0].primary.span))} |" for g in every]
    more = [f"... and {len(every) - _MOST_REASONS} more reasons"] if len(every) > _MOST_REASONS else []
    table = "\n".join(
        ["| times | rule | not settled, because | for instance |", "|---:|---|---|---|", *rows[:_MOST_REASONS]]
    )
    return [f"<details><summary>{len(notes)} not settled</summary>", table, *more, "</details>"]


def _table(units: Sequence[Unit]) -> list[str]:
    files: dict[str, Counter[Verdict]] = {}
    for unit in units:
        files.setdefault(os.path.normpath(unit.span.file), Counter())[unit.verdict] += 1
    if not files:
        return []
    rows = [
        f"| {_cell(from_top(file))} | " + " | ".join(str(counts[v] or "") for v in _SIGNS) + " |"
        for file, counts in files.items()
    ]
    head = ["| file | " + " | ".join(_SIGNS.values()) + " |", "|---|---:|---:|---:|"]
    return ["\n".join([*head, *rows])]


def _cell(text: str) -> str:
    return _escaped(" ".join(text.split())).replace("|", "\\|")


def _escaped(text: str) -> str:
    return text.replace("<", "&lt;").replace(">", "&gt;")


def _html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _longest_run(text: str) -> int:
    longest = run = 0
    for sign in text:
        run = run + 1 if sign == "`" else 0
        longest = max(longest, run)
    return longest
