"""The last line: how many findings, how much is proved, and what became of the files."""

from __future__ import annotations

from collections import Counter

from gpusafe.report.style import Style
from gpusafe.results import FileStatus, Level, Report
from gpusafe.verdict import Verdict


def summary(report: Report, style: Style) -> str:
    """One line: ``3 errors; 5 of 9 units proved, 2 refuted, 2 unknown; 14 files: 6 analysed, 8 without GPU code``."""
    parts = (_findings(report, style), _units(report, style), _ptx(report), _files(report))
    return "; ".join(part for part in parts if part)


def _findings(report: Report, style: Style) -> str:
    counts = Counter(finding.level for finding in report.findings)
    parts = [style.paint("error", _count(counts[Level.ERROR], "error")) if counts[Level.ERROR] else "no errors"]
    if counts[Level.WARNING]:
        parts.append(style.paint("warning", _count(counts[Level.WARNING], "warning")))
    if report.suppressed:
        parts.append(f"{len(report.suppressed)} allowed by directives")
    for taken in report.accepted:
        if taken.findings:
            parts.append(f"{len(taken.findings)} accepted: in {taken.where}")
        if taken.gone:
            parts.append(f"{taken.gone} of {taken.where} gone")
    if report.left_out:
        parts.append(f"{report.left_out} left out by the selection of rules")
    return ", ".join(parts)


def _units(report: Report, style: Style) -> str:
    total = len(report.units)
    if not total:
        unread = any(record.status in (FileStatus.SKIPPED, FileStatus.SYNTAX_ERROR) for record in report.files)
        return f"nothing was proved: no GPU code found{' in what was read' if unread else ''}"
    counts = Counter(unit.verdict for unit in report.units)
    proved, refuted, unknown = (counts[v] for v in (Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN))
    if proved == total:
        whole = "the only unit is" if total == 1 else f"all {total} units are"
        return style.paint("proved", f"{whole} proved")
    parts = [f"{proved} of {_count(total, 'unit')} proved"]
    if refuted:
        parts.append(style.paint("refuted", f"{refuted} refuted"))
    if unknown:
        parts.append(style.paint("unknown", f"{unknown} unknown"))
    return ", ".join(parts)


_WORST_FIRST = ("rejected", "weaker", "skipped", "confirmed")


def _ptx(report: Report) -> str:
    """How many kernels' PTX was confirmed for all targets, or what is the worst of it; empty without a PTX stage."""
    worst = Counter(
        next(word for word in _WORST_FIRST if word in statuses)
        for unit in report.units
        if (statuses := {status.status for status in unit.ptx} & set(_WORST_FIRST))
    )
    if not worst:
        return ""
    words = [f"{worst[word]} {word}" for word in reversed(_WORST_FIRST) if worst[word]]
    return f"PTX of {_count(sum(worst.values()), 'kernel')}: {', '.join(words)}"


_FILE_WORDS = {
    FileStatus.ANALYSED: "analysed",
    FileStatus.NO_GPU: "without GPU code",
    FileStatus.SYNTAX_ERROR: "with syntax errors",
    FileStatus.SKIPPED: "skipped",
}


def _files(report: Report) -> str:
    counts = Counter(record.status for record in report.files)
    if not report.files:
        return "no files"
    parts = [f"{counts[status]} {words}" for status, words in _FILE_WORDS.items() if counts[status]]
    return f"{_count(len(report.files), 'file')}: {', '.join(parts)}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
