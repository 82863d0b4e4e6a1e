"""Which status a report deserves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpusafe.cli.status import exit_status
from gpusafe.config import Options
from gpusafe.results import FileRecord, FileStatus, Finding, Level, Report
from gpusafe.span import Span
from gpusafe.verdict import Obligation, Site, Unit, Verdict

HERE = Span("a.rs", 1, 1, 1, 2)
UNKNOWN = Unit("kernel", "k", HERE, (Obligation("GS201", "no race", Verdict.UNKNOWN, HERE, "why"),))
CLEAN = Report((), (), (FileRecord("a.rs", FileStatus.ANALYSED),))


def with_finding(level: Level) -> Report:
    return replace(CLEAN, findings=(Finding("GS101", level, "m", Site(HERE, "")),))


@pytest.mark.parametrize(
    ("level", "fail_on", "status"),
    [
        (Level.ERROR, "error", 1),
        (Level.WARNING, "error", 0),
        (Level.WARNING, "warning", 1),
        (Level.NOTE, "warning", 0),
        (Level.NOTE, "note", 1),
        (Level.ERROR, "never", 0),
    ],
)
def test_findings_at_or_above_the_floor_are_status_1(level: Level, fail_on: str, status: int) -> None:
    assert exit_status(with_finding(level), replace(Options(), fail_on=fail_on)) == status


@pytest.mark.parametrize(
    "report",
    [
        replace(CLEAN, units=(UNKNOWN,)),
        replace(CLEAN, files=(FileRecord("a.rs", FileStatus.SYNTAX_ERROR),)),
        replace(CLEAN, files=(FileRecord("a.rs", FileStatus.SKIPPED, "too large"),)),
    ],
)
def test_what_is_open_is_status_3_under_strict_only(report: Report) -> None:
    assert exit_status(report, Options()) == 0
    assert exit_status(report, replace(Options(), strict=True)) == 3


def test_findings_come_before_what_is_open() -> None:
    report = replace(with_finding(Level.ERROR), units=(UNKNOWN,))
    assert exit_status(report, replace(Options(), strict=True)) == 1


def test_clean_is_clean() -> None:
    assert exit_status(CLEAN, replace(Options(), strict=True)) == 0
