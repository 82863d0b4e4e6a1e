"""SARIF: valid, linked, stable."""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gpusafe.config import Options
from gpusafe.report import render
from gpusafe.results import Finding, Level, Report
from gpusafe.span import Span
from gpusafe.verdict import Site
from tests.report.programs import HOST, RACE, REPORT, SOURCES
from tests.report.sarif_excerpt import LOG


def log(report: Report = REPORT) -> Any:
    return json.loads(render(report, Options(format="sarif")))


def run(report: Report = REPORT) -> Any:
    return log(report)["runs"][0]


def result(report: Report = REPORT, number: int = 0) -> Any:
    return run(report)["results"][number]


def test_the_log_is_valid() -> None:
    jsonschema.validate(log(), LOG)


@pytest.mark.skipif("GPUSAFE_SARIF_SCHEMA" not in os.environ, reason="GPUSAFE_SARIF_SCHEMA does not name the schema")
def test_the_log_is_valid_against_the_schema_of_the_standard() -> None:
    schema = json.loads(Path(os.environ["GPUSAFE_SARIF_SCHEMA"]).read_text(encoding="utf-8"))
    jsonschema.validators.validator_for(schema)(schema).validate(log())


@pytest.mark.skipif("GPUSAFE_SARIF_MULTITOOL" not in os.environ, reason="GPUSAFE_SARIF_MULTITOOL names no program")
def test_the_validator_of_the_standard_and_of_code_scanning_has_nothing_to_say(tmp_path: Path) -> None:
    """Microsoft's Sarif.Multitool, with the rules of the standard and of GitHub."""
    (tmp_path / "log.sarif").write_text(render(REPORT, Options(format="sarif", verbose=True)), encoding="utf-8")
    program = [os.environ["GPUSAFE_SARIF_MULTITOOL"], "validate", "log.sarif", "--rule-kind", "Sarif;Ghas"]
    done = subprocess.run(
        [*program, "--output", "out.sarif"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    told = [line for line in done.stdout.splitlines() if re.search(r": (error|warning) (?!SARIF2005)", line)]
    assert told == []
    assert (tmp_path / "out.sarif").is_file()


def test_the_message_links_to_the_other_side_of_the_race() -> None:
    message = result()["message"]["text"]
    assert message.splitlines()[:2] == [
        "`copy` reads `buf` on stream `s2` while `scale` may still write it.",
        "See: [written here, on stream `s1`](1); [by this store](2).",
    ]
    ids = {
        related["id"]: related["physicalLocation"]["region"]["startLine"] for related in result()["relatedLocations"]
    }
    assert ids == {1: 3, 2: 2}


def test_brackets_in_a_message_start_no_link() -> None:
    text = result(number=1)["message"]["text"]
    assert "\\[i\\]" in text
    assert not re.search(r"(?<!\\)\[[^\]]*\]\(", text)


def test_the_steps_to_the_fault_end_with_the_fault_in_one_thread_flow() -> None:
    (flow,) = result()["codeFlows"]
    (thread,) = flow["threadFlows"]
    steps = [step["location"]["physicalLocation"]["region"]["startLine"] for step in thread["locations"]]
    assert steps == [3, 2, 6]
    assert thread["locations"][-1]["importance"] == "essential"


def test_what_is_not_settled_is_open_and_not_a_failure() -> None:
    note = result(number=1)
    assert (note["kind"], note["level"]) == ("open", "none")
    assert (result()["kind"], result()["level"]) == ("fail", "error")


def test_what_a_directive_accepts_is_suppressed_and_not_left_out() -> None:
    (suppression,) = result(number=2)["suppressions"]
    assert (suppression["kind"], suppression["justification"]) == ("inSource", "the caller orders them")


def test_each_result_points_at_its_rule_with_help() -> None:
    rules = run()["tool"]["driver"]["rules"]
    rule = rules[result()["ruleIndex"]]
    assert rule["id"] == "GS101"
    assert "## How to fix" in rule["help"]["markdown"]
    assert all(len(r["fullDescription"]["text"]) <= 1024 for r in rules)


def test_paths_are_relative_and_escaped() -> None:
    places = [n["locations"][0]["physicalLocation"] for n in run()["invocations"][0]["toolExecutionNotifications"][:2]]
    assert [p["artifactLocation"] for p in places] == [
        {"uri": "src/odd%20name.rs", "uriBaseId": "SRCROOT"},
        {"uri": "src/big.rs", "uriBaseId": "SRCROOT"},
    ]
    absolute = replace(RACE, primary=Site(Span(str(Path.cwd() / "src/a.rs"), 1, 1, 1, 2), "x"))
    location = result(replace(REPORT, findings=(absolute,)))["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location == {"uri": "src/a.rs", "uriBaseId": "SRCROOT"}


def prints(report: Report) -> list[str]:
    return [r["partialFingerprints"]["primaryLocationLineHash"] for r in run(report)["results"]]


def shifted(finding: Finding) -> Finding:
    def down(site: Site) -> Site:
        s = site.span
        return site if s.file != HOST else replace(site, span=replace(s, line=s.line + 2, end_line=s.end_line + 2))

    return replace(finding, primary=down(finding.primary), related=tuple(map(down, finding.related)))


def test_fingerprints_survive_lines_above() -> None:
    moved = {**SOURCES, HOST: "use a;\nuse b;\n" + SOURCES[HOST]}
    before = Report((), (RACE,), (), sources=SOURCES)
    after = Report((), (shifted(RACE),), (), sources=moved)
    assert prints(before) == prints(after)


def test_two_faults_of_one_rule_on_one_line_stay_two() -> None:
    other = replace(RACE, related=RACE.related[1:])
    first, second = prints(Report((), (RACE, other), (), sources=SOURCES))
    assert first != second
    again = prints(Report((), (RACE, RACE), (), sources=SOURCES))
    assert again[0] != again[1]


def test_the_same_report_gives_the_same_bytes_whatever_it_took() -> None:
    slower = replace(REPORT, seconds=9.0, units=tuple(replace(u, seconds=3.0) for u in REPORT.units))
    assert render(slower, Options(format="sarif")) == render(REPORT, Options(format="sarif"))


def test_each_result_is_one_line_so_that_large_logs_are_small_and_differ_line_by_line() -> None:
    lines = render(REPORT, Options(format="sarif")).splitlines()
    assert sum(line.startswith('{"ruleId": ') for line in lines) == len(run()["results"])


def test_an_empty_report_is_a_valid_log() -> None:
    jsonschema.validate(log(Report((), (), ())), LOG)


def test_levels_are_those_of_the_findings() -> None:
    warning = replace(RACE, level=Level.WARNING)
    assert result(replace(REPORT, findings=(warning,)))["level"] == "warning"
