"""The text report: findings in rustc's layout, a table of verdicts, and a last line that nobody can misread."""

from __future__ import annotations

from gpusafe.config import Options
from gpusafe.report.marks import folded
from gpusafe.report.open_notes import is_open, open_text
from gpusafe.report.snippet import gutter_width, snippets
from gpusafe.report.style import Style
from gpusafe.report.summary import summary
from gpusafe.report.verdicts import verdict_table
from gpusafe.results import FileStatus, Finding, Report


def render(report: Report, options: Options, style: Style) -> str:
    """The whole report; without ``--verbose`` what is open is told briefly, and long tables are cut to their files."""
    brief = [] if options.verbose else [finding for finding in report.findings if is_open(finding)]
    full = [finding for finding in report.findings if options.verbose or not is_open(finding)]
    blocks = [finding_text(finding, report.sources or {}, style) for finding in full]
    blocks += [text] if (text := open_text(brief, style)) else []
    if not options.quiet:
        blocks += _accounts(report, style)
        table = verdict_table(report.units, style, verbose=options.verbose)
        if table:
            blocks.append("\n".join(table))
    blocks.append(summary(report, style))
    return "\n\n".join(blocks) + "\n"


def finding_text(finding: Finding, sources: dict[str, str], style: Style) -> str:
    """One finding in rustc's layout."""
    role = finding.level.value
    gutter = gutter_width((finding.primary, *finding.related))
    head = style.paint(role, f"{role}[{finding.rule}]") + style.paint("bold", f": {finding.message}")
    lines = [head, *snippets(finding.primary, finding.related, sources, style, gutter)]
    for kind, texts in (("note", finding.notes), ("help", finding.help)):
        for text in texts:
            lines += _remark(kind, text, gutter, style)
    return "\n".join(lines)


def _remark(kind: str, text: str, gutter: int, style: Style) -> list[str]:
    room = style.width - gutter - 5 - len(kind)
    first, *rest = (part for line in text.split("\n") for part in folded(line, room))
    lines = [f"{' ' * gutter} {style.paint('frame', '=')} {style.paint('bold', kind)}: {first}"]
    return lines + [f"{' ' * (gutter + 5 + len(kind))}{line}" for line in rest]


def _accounts(report: Report, style: Style) -> list[str]:
    """What was not (wholly) read, and what else the user should know."""
    lines: list[str] = []
    told = {finding.primary.span.file for finding in report.findings if finding.rule == "GS903"}
    for record in report.files:
        unread = record.status is FileStatus.SKIPPED or (
            record.status is FileStatus.SYNTAX_ERROR and record.path not in told
        )
        if unread or (record.detail and record.status in (FileStatus.ANALYSED, FileStatus.NO_GPU)):
            why = f": {record.detail}" if record.detail else ""
            lines.append(f"{style.paint('note', 'note')}: {record.path}: {record.status.value}{why}")
    lines += [f"{style.paint('note', 'note')}: {notice}" for notice in report.notices]
    for item in report.suppressed:
        place = item.finding.primary.span
        lines.append(f"{style.paint('note', 'note')}: {item.finding.rule} at {place} is allowed: {item.reason}")
    return ["\n".join(lines)] if lines else []
