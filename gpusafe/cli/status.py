"""Which exit status a report deserves."""

from __future__ import annotations

from gpusafe.cli.exit_codes import CLEAN, FINDINGS, INCOMPLETE
from gpusafe.config import Options
from gpusafe.results import FileStatus, Level, Report
from gpusafe.verdict import Verdict

_RANK = {Level.ERROR: 3, Level.WARNING: 2, Level.NOTE: 1}
_FLOOR = {"error": 3, "warning": 2, "note": 1, "never": 4}


def exit_status(report: Report, options: Options) -> int:
    """1 for a finding at or above ``--fail-on``; else 3 under ``--strict`` when something is open; else 0."""
    if any(_RANK[finding.level] >= _FLOOR[options.fail_on] for finding in report.findings):
        return FINDINGS
    return INCOMPLETE if options.strict and is_incomplete(report) else CLEAN


def is_incomplete(report: Report) -> bool:
    """Whether a unit is not settled, or a file was not (wholly) read."""
    open_files = (FileStatus.SYNTAX_ERROR, FileStatus.SKIPPED)
    return any(unit.verdict is Verdict.UNKNOWN for unit in report.units) or any(
        record.status in open_files for record in report.files
    )
