"""Hundreds of open questions must not bury one error."""

from __future__ import annotations

from dataclasses import replace

from gpusafe.config import Options
from gpusafe.report import render
from gpusafe.results import FileRecord, FileStatus, Finding, Level, Report
from gpusafe.span import Span
from gpusafe.verdict import Site, Unit
from tests.report.programs import HOST, PROVED, RACE, SOURCES, unit


def note(reason: str, line: int, rule: str = "GS902", unit: str = "f", help: str = "let gpusafe see it") -> Finding:
    place = Site(Span("src/a.rs", line, 5, line + 90, 6), "not settled here")
    return Finding(rule, Level.NOTE, f"host function `{unit}`: {reason}", place, (), (), (help,), unit, reason)


def text(*findings: Finding, **options: object) -> list[str]:
    report = Report((), findings, (FileRecord(HOST, FileStatus.ANALYSED),), sources=SOURCES)
    return render(report, replace(Options(), **options), width=120).splitlines()


def test_notes_with_one_reason_are_told_together_in_two_lines() -> None:
    notes = [note("the macro `frob!` is not known", line, unit=f"f{line}") for line in range(1, 9)]
    assert text(*notes)[:2] == [
        "note[GS902]: the macro `frob!` is not known (8 places)",
        "  --> src/a.rs:1:5 in `f1`, src/a.rs:2:5 in `f2`, src/a.rs:3:5 in `f3` and 5 more",
    ]


def test_reasons_that_differ_in_a_name_are_one_kind_and_the_names_are_listed() -> None:
    notes = [note(f"the effect of `{name}` is not known", at) for at, name in enumerate("abcdef", 1)]
    assert text(*notes)[0] == "note[GS902]: the effect of `a`, `b`, `c` or 3 others is not known (6 places)"
    assert text(*notes[:2])[0] == "note[GS902]: the effect of `a` or `b` is not known (2 places)"


def test_one_note_is_told_with_its_place_and_nothing_else_of_the_program() -> None:
    assert text(note("the macro `frob!` is not known", 7)) == [
        "note[GS902]: the macro `frob!` is not known",
        "  --> src/a.rs:7:5 in `f`",
        "help[GS902]: let gpusafe see it",
        "help: `-v` shows this note in full",
        "",
        "no errors; nothing was proved: no GPU code found; 1 file: 1 analysed",
    ]


def test_the_rest_of_very_many_reasons_is_counted() -> None:
    words = [f"{'x' * n} is not modelled" for n in range(1, 41)]
    out = text(*(note(reason, at) for at, reason in enumerate(words, 1)))
    assert len([line for line in out if line.startswith("note[GS902]")]) == 25
    assert "note: 15 more reasons, 15 places" in out


def test_verbose_shows_every_note_in_full() -> None:
    out = text(note("the macro `frob!` is not known", 1), note("the macro `frob!` is not known", 2), verbose=True)
    assert len([line for line in out if line.startswith("note[GS902]: host function `f`: the macro")]) == 2


def test_errors_stay_whole_and_come_first() -> None:
    out = text(RACE, *(note("the macro `frob!` is not known", line) for line in range(1, 99)))
    assert out[0].startswith("error[GS101]")
    assert "6 |     s2.copy(&buf, &mut host);" in out
    assert len(out) < 30


def many(count: int, file: str = HOST) -> tuple[Unit, ...]:
    return tuple(
        replace(unit("kernel", f"k{n}", PROVED), assumptions=("a one-dimensional launch",)) for n in range(count)
    )


def test_a_long_table_is_cut_to_its_files_and_tells_each_assumption_once() -> None:
    out = render(Report(many(40), (), ()), Options()).splitlines()
    assert out[0] == "src/k.rs  40 proved"
    assert [line.strip() for line in out if "one-dimensional" in line] == ["40 x a one-dimensional launch"]
    assert len(render(Report(many(40), (), ()), Options(verbose=True)).splitlines()) > 80
