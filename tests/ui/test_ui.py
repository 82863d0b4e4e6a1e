"""Programs with what must be said about them: ``//~`` marks, ``//@`` verdicts, and the whole text beside each program.

``GPUSAFE_BLESS=1 pytest tests/ui`` writes the text anew.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

import pytest

from gpusafe.config import Options
from gpusafe.report import render
from gpusafe.results import Finding, Level, Report
from gpusafe.span import Span

ROOT = Path(__file__).parents[2]
UI = sorted(p for p in (ROOT / "fixtures/ui").rglob("*.rs"))
SAFE = sorted(p for p in (ROOT / "fixtures/safe").rglob("*.rs"))

MARK = re.compile(r"//~(\^*)\s*((?:GS\d{3}(?:\|GS\d{3})*\s*)+)")
VERDICT = re.compile(r"//@\s*(kernel|host)\s+(\w+)\s*:\s*(proved|refuted|unknown)")

pytestmark = pytest.mark.skipif(not (ROOT / "gpusafe/app.py").exists(), reason="gpusafe.app is not there")


NOT_YET: dict[str, str] = {}
"""Faults that are not seen yet, and why. They must fail here: a program that passes leaves the list."""


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def case(path: Path) -> object:
    why = NOT_YET.get(name(path))
    marks = [pytest.mark.xfail(reason=why, strict=True)] if why else []
    return pytest.param(path, id=name(path), marks=marks)


each_seen = pytest.mark.parametrize("program", [p for p in UI if name(p) not in NOT_YET], ids=name)
each_program = pytest.mark.parametrize("program", list(map(case, [*UI, *SAFE])))
each_fault = pytest.mark.parametrize("program", list(map(case, UI)))
each_safe = pytest.mark.parametrize("program", SAFE, ids=name)


@cache
def checked(program: Path) -> Report:
    """The report on one program, as run from the project's root without the PTX stage."""
    from gpusafe.app import check

    before = Path.cwd()
    os.chdir(ROOT)
    try:
        return check(Options(paths=(name(program),), ptx="never"))
    finally:
        os.chdir(before)


def marks(program: Path) -> list[tuple[int, set[str]]]:
    """Line and acceptable rules of each mark."""
    found = []
    for number, line in enumerate(program.read_text(encoding="utf-8").splitlines(), 1):
        if mark := MARK.search(line):
            found += [(number - len(mark[1]), set(rules.split("|"))) for rules in mark[2].split()]
    return found


def errors(report: Report) -> list[Finding]:
    return [finding for finding in report.findings if finding.level is Level.ERROR]


def names_line(finding: Finding, line: int) -> bool:
    spans: list[Span] = [finding.primary.span, *(site.span for site in finding.related)]
    return any(span.line <= line <= span.end_line for span in spans)


@each_fault
def test_each_marked_line_is_named_by_an_error_of_its_rule(program: Path) -> None:
    found = errors(checked(program))
    told = [(f.rule, f.primary.span.line) for f in found]
    for line, rules in marks(program):
        assert any(f.rule in rules and names_line(f, line) for f in found), f"line {line}: {rules} not in {told}"


@each_seen
def test_no_error_lies_apart_from_the_marks(program: Path) -> None:
    expected = marks(program)
    stray = [
        (f.rule, f.primary.span.line)
        for f in errors(checked(program))
        if not any(f.rule in rules and names_line(f, line) for line, rules in expected)
    ]
    assert stray == []


@each_fault
def test_the_rule_of_the_folder_is_reported(program: Path) -> None:
    code = program.relative_to(ROOT / "fixtures/ui").parts[0]
    accepted = {code}.union(*(rules for _, rules in marks(program) if code in rules))
    assert accepted & {finding.rule for finding in checked(program).findings}


@each_program
def test_the_verdicts_are_those_that_the_program_names(program: Path) -> None:
    expected = {(kind, unit): verdict for kind, unit, verdict in VERDICT.findall(program.read_text(encoding="utf-8"))}
    units = {(u.kind, u.name.rsplit("::", 1)[-1]): u for u in checked(program).units}
    got = {key: units[key].verdict.value if key in units else "absent" for key in expected}
    why = {key: [o.reason for o in units[key].obligations if o.reason] for key in expected if key in units}
    assert got == expected, why


@each_safe
def test_safe_programs_have_no_findings(program: Path) -> None:
    report = checked(program)
    assert [(f.rule, f.message) for f in report.findings] == []
    assert report.units


@each_seen
def test_the_text_is_the_one_beside_the_program(program: Path) -> None:
    text = render(checked(program), Options(ptx="never"), width=120)
    golden = program.with_suffix(".stderr")
    if os.environ.get("GPUSAFE_BLESS"):
        golden.write_text(text, encoding="utf-8")
    assert golden.exists(), "GPUSAFE_BLESS=1 pytest tests/ui writes it"
    assert text == golden.read_text(encoding="utf-8")


def test_no_text_is_without_its_program() -> None:
    assert [name(p) for p in (ROOT / "fixtures").rglob("*.stderr") if not p.with_suffix(".rs").exists()] == []
