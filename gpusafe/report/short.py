"""One line a finding, as cargo's short messages: for terminals, grep and editors that jump to `file:line:col`."""

from __future__ import annotations

from gpusafe.config import Options
from gpusafe.report.style import Style
from gpusafe.report.summary import summary
from gpusafe.results import Report


def render(report: Report, options: Options, style: Style) -> str:
    """``file:line:col: level[code]: message``, and the summary as the last line."""
    lines = []
    for finding in report.findings:
        at, role = finding.primary.span, finding.level.value
        lines.append(f"{at.file}:{at.line}:{at.col}: {style.paint(role, f'{role}[{finding.rule}]')}: {finding.message}")
    return "\n".join([*lines, summary(report, style)]) + "\n"
