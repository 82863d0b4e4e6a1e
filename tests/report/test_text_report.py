"""The text report as a person reads it."""

from __future__ import annotations

from dataclasses import replace

from gpusafe.config import Options
from gpusafe.report import render
from gpusafe.results import FileRecord, FileStatus, Report
from tests.report.programs import HOST, OPEN, PROVED, RACE, REPORT, UNKNOWN, unit


def lines(report: Report, **options: object) -> list[str]:
    return render(report, replace(Options(), **options)).splitlines()


def last(report: Report) -> str:
    return lines(report)[-1]


def test_a_race_is_told_as_rustc_would() -> None:
    text = render(replace(REPORT, findings=(RACE,)), Options())
    assert text.startswith(
        """error[GS101]: `copy` reads `buf` on stream `s2` while `scale` may still write it
 --> src/main.rs:6:5
  |
3 |     s1.launch(&scale, &buf);
  |     ----------------------- written here, on stream `s1`
...
6 |     s2.copy(&buf, &mut host);
  |     ^^^^^^^^^^^^^^^^^^^^^^^^ read here, on stream `s2`
  |
 ::: src/k.rs:2:5
  |
2 |     tile[t] = x[i];
  |     -------------- by this store
  |
  = note: no event orders `s2` behind `s1`
  = help: record an event on `s1` and let `s2` wait for it
"""
    )


def test_the_table_says_of_each_unit_what_is_known() -> None:
    table = [line for line in lines(REPORT) if line.startswith(("kernel", "host"))]
    assert table == [
        "kernel k         src/k.rs:1     unknown  no model of `[i]`",
        "kernel scale     src/k.rs:1     proved   1 obligation; ptx confirmed on sm_80, skipped (no rustc) on sm_90",
        "host   pipeline  src/main.rs:1  refuted  GS101",
    ]


def test_the_last_line_counts_everything() -> None:
    assert last(REPORT) == (
        "1 error, 1 allowed by directives; 1 of 3 units proved, 1 refuted, 1 unknown; "
        "PTX of 1 kernel: 1 skipped; 5 files: 2 analysed, 1 without GPU code, 1 with syntax errors, 1 skipped"
    )


def test_no_errors_is_not_told_as_proved_while_something_is_unknown() -> None:
    report = Report((unit("kernel", "k", PROVED, UNKNOWN),), (OPEN,), (FileRecord(HOST, FileStatus.ANALYSED),))
    assert last(report) == "no errors; 0 of 1 unit proved, 1 unknown; 1 file: 1 analysed"


def test_nothing_found_is_not_told_as_proved_either() -> None:
    assert last(Report((), (), (FileRecord("a.rs", FileStatus.NO_GPU),))) == (
        "no errors; nothing was proved: no GPU code found; 1 file: 1 without GPU code"
    )


def test_nothing_found_in_files_that_were_not_read_claims_nothing_of_them() -> None:
    assert last(Report((), (), (FileRecord("a.rs", FileStatus.SKIPPED, "too large"),))) == (
        "no errors; nothing was proved: no GPU code found in what was read; 1 file: 1 skipped"
    )


def test_findings_that_were_not_asked_for_are_counted() -> None:
    report = Report((unit("kernel", "k", PROVED),), (), (FileRecord(HOST, FileStatus.ANALYSED),), left_out=2)
    assert last(report).startswith("no errors, 2 left out by the selection of rules; ")


def test_a_file_that_was_read_with_replacement_characters_is_named() -> None:
    report = Report((), (), (FileRecord("a.rs", FileStatus.ANALYSED, "not UTF-8 (byte 3)"),))
    assert "note: a.rs: analysed: not UTF-8 (byte 3)" in lines(report)


def test_all_proved_is_said_in_so_many_words() -> None:
    report = Report(
        (unit("kernel", "k", PROVED), unit("host", "h", PROVED)), (), (FileRecord(HOST, FileStatus.ANALYSED),)
    )
    assert last(report) == "no errors; all 2 units are proved; 1 file: 1 analysed"


def test_files_that_were_not_read_are_named_with_the_reason() -> None:
    out = lines(REPORT)
    assert "note: src/odd name.rs: syntax error: expected `)`" in out
    assert "note: src/big.rs: skipped: larger than 8 MB" in out
    assert "note: ptxas was not found" in out
    assert "note: GS101 at src/main.rs:6:5 is allowed: the caller orders them" in out


def test_quiet_leaves_findings_and_the_last_line() -> None:
    out = lines(REPORT, quiet=True)
    assert not [line for line in out if line.startswith(("kernel", "host", "note:"))]
    assert out[0].startswith("error[GS101]")
    assert out[-1].startswith("1 error")


def test_verbose_lists_every_question_with_its_answer() -> None:
    out = lines(REPORT, verbose=True)
    assert "       2:5 GS202 no two threads meet on `tile`: proved" in out
    assert "       2:15 GS201 no two threads meet on `x`: unknown: no model of `[i]`" in out


def test_colour_changes_nothing_but_colour() -> None:
    import re

    coloured = render(REPORT, Options(), color=True)
    assert "\x1b[1;31m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render(REPORT, Options())
