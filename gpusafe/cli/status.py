"""Which exit status a report deserves."""

from __future__ import annotations

from gpusafe.cli.exit_codes import CLEAN, FINDINGS, INCOMPLETE
from gpusafe.config import Options
from gpusafe.results import FileStatus, Finding, Level, Report
from gpusafe.verdict import Unit, Verdict

_RANK = {Level.ERROR: 3, Level.WARNING: 2, Level.NOTE: 1}
_FLOOR = {"error": 3, "warning": 2, "note": 1, "never": 4}


def exit_status(report: Report, options: Options) -> int:
    """1 for a finding that is denied or at or above ``--fail-on``; else 3 under ``--strict`` when something is open;
    else 0."""
    if any(finding.denied or _RANK[finding.level] >= _FLOOR[options.fail_on] for finding in report.findings):
        return FINDINGS
    return INCOMPLETE if options.strict and is_incomplete(report) else CLEAN


def is_incomplete(report: Report) -> bool:
    """Whether a unit is not settled (and not accepted so), or a file was not (wholly) read."""
    open_files = (FileStatus.SYNTAX_ERROR, FileStatus.SKIPPED)
    return any(unit.verdict is Verdict.UNKNOWN and not _accepted(unit, report) for unit in report.units) or any(
        record.status in open_files for record in report.files
    )


def _accepted(unit: Unit, report: Report) -> bool:
    """Whether baselines hold all notes about a unit that is not settled."""
    taken = [finding for accepted in report.accepted for finding in accepted.findings]
    return any(_about(f, unit) for f in taken) and not any(_about(f, unit) for f in report.findings)


def _about(finding: Finding, unit: Unit) -> bool:
    same = finding.unit == unit.name and finding.reason is not None
    return same and any(finding.reason == o.reason and finding.primary.span == o.span for o in unit.obligations)
