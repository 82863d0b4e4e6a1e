"""What CI services and editors read: every format on one report."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from gpusafe.config import Options, parse_outputs
from gpusafe.report import render
from gpusafe.report.line_hash import line_hashes
from gpusafe.results import Accepted, Finding, Fix, Level, Report
from gpusafe.span import Span
from gpusafe.verdict import Site
from tests.report.programs import HOST, KERNEL, RACE, REPORT, SOURCES, span
from tests.report.sarif_excerpt import LOG


def written(format: str, report: Report = REPORT, **options: Any) -> str:
    return render(report, replace(Options(format=format), **options))


@pytest.fixture(autouse=True)
def outside_of_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    monkeypatch.delenv("CI_PROJECT_DIR", raising=False)


@pytest.mark.parametrize(
    ("text", "hashes"),
    [
        ("", ["c129715d7a2bc9a3:1"]),
        (
            " a\nb\n  \t\tc\n d",
            ["271789c17abda88f:1", "54703d4cd895b18:1", "180aee12dab6264:1", "a23a3dc5e078b07b:1"],
        ),
    ],
)
def test_a_line_has_the_hash_that_github_gives_it(text: str, hashes: list[str]) -> None:
    assert line_hashes(text) == hashes
    assert line_hashes(text.replace("\n", "\r\n")) == hashes


def test_an_annotation_escapes_what_would_end_it() -> None:
    odd = replace(RACE, message="100%, or\nmore", primary=Site(Span("a,b:c.rs", 1, 2, 1, 3), "x"))
    line = written("github", replace(REPORT, findings=(odd,))).splitlines()[0]
    assert line.startswith("::error file=a%2Cb%3Ac.rs,line=1,endLine=1,col=2,endColumn=3,title=GS101 stream-race::")
    assert "::100%25, or%0Amore%0A" in line


def test_gitlab_gets_a_row_a_finding_with_its_own_fingerprint() -> None:
    rows = json.loads(written("gitlab"))
    assert [(r["check_name"], r["severity"], r["location"]["path"]) for r in rows] == [
        ("GS101", "critical", HOST),
        ("GS901", "info", KERNEL),
    ]
    assert len({r["fingerprint"] for r in rows}) == 2


def cases(report: Report = REPORT, **options: Any) -> dict[str, list[str]]:
    root = ElementTree.fromstring(written("junit", report, **options))
    return {str(case.get("name")): [child.tag for child in case] for case in root.iter("testcase")}


def test_a_verdict_is_a_test_case() -> None:
    assert cases() == {"kernel k": ["skipped"], "kernel scale": [], "host pipeline": ["failure"]}
    assert cases(strict=True)["kernel k"] == ["failure"]


def test_a_fault_that_is_accepted_fails_no_test_case() -> None:
    assert cases(replace(REPORT, findings=()))["host pipeline"] == ["skipped"]


def test_xml_stays_well_formed_whatever_a_message_holds() -> None:
    odd = replace(RACE, rule="GS903", message='<&"\x00\x1b]]>', primary=Site(span(HOST, "one()"), ""), related=())
    assert "GS903" in cases(replace(REPORT, findings=(odd,)))


def test_markdown_does_not_call_it_proved_while_something_is_open() -> None:
    assert written("markdown").startswith("## gpusafe: 1 error\n")
    assert written("markdown", replace(REPORT, findings=())).startswith("## gpusafe: no errors, 1 not settled\n")


def diagnostics(report: Report = REPORT) -> list[Any]:
    return [json.loads(line) for line in written("rustc-json", report).splitlines()]


def test_each_line_is_a_diagnostic_as_rustc_writes_it() -> None:
    race, note = diagnostics()
    assert (race["$message_type"], race["level"], race["code"]["code"]) == ("diagnostic", "error", "GS101")
    assert [s["is_primary"] for s in race["spans"]] == [True, False, False]
    assert {child["level"] for child in race["children"]} == {"note", "help"}
    assert note["level"] == "note"


def test_byte_offsets_count_utf_8() -> None:
    place = Site(span(KERNEL, "tile[t\t- 1]"), "read here")
    (found,) = diagnostics(replace(REPORT, findings=(replace(RACE, primary=place, related=()),)))
    here = found["spans"][0]
    assert SOURCES[KERNEL].encode()[here["byte_start"] : here["byte_end"]].decode() == "tile[t\t- 1]"


FIXABLE = Finding(
    "GS905",
    Level.WARNING,
    "`allow(GS101)` suppresses nothing",
    Site(span(HOST, "one();"), ""),
    fixes=(Fix("remove the directive", span(HOST, "one();"), ""),),
)


def test_a_fix_is_an_exact_edit_in_both_formats() -> None:
    report = replace(REPORT, findings=(FIXABLE,))
    (found,) = diagnostics(report)
    edits = [s for child in found["children"] for s in child["spans"]]
    assert [(e["suggested_replacement"], e["suggestion_applicability"]) for e in edits] == [("", "MachineApplicable")]
    log = json.loads(written("sarif", report))
    jsonschema.validate(log, LOG)
    (fix,) = log["runs"][0]["results"][0]["fixes"]
    assert fix["artifactChanges"][0]["replacements"][0]["insertedContent"] == {"text": ""}


def test_sarif_keeps_what_a_baseline_accepts_and_says_what_is_new() -> None:
    log = json.loads(written("sarif", replace(REPORT, findings=(FIXABLE,), accepted=(Accepted("b.json", (RACE,)),))))
    jsonschema.validate(log, LOG)
    results = log["runs"][0]["results"]
    assert [(r["ruleId"], r["baselineState"], "suppressions" in r) for r in results] == [
        ("GS905", "new", False),
        ("GS101", "new", True),
        ("GS101", "unchanged", True),
    ]


def test_sarif_shows_proofs_when_asked() -> None:
    log = json.loads(written("sarif", verbose=True))
    jsonschema.validate(log, LOG)
    passed = [r for r in log["runs"][0]["results"] if r["kind"] == "pass"]
    assert {r["properties"]["unit"] for r in passed} == {"k", "scale"}
    assert all(r["level"] == "none" for r in passed)


def test_further_outputs_are_pairs_of_format_and_file() -> None:
    assert parse_outputs("sarif=a.sarif,markdown=b.md") == (("sarif", "a.sarif"), ("markdown", "b.md"))
    for wrong in ("xml=a", "sarif"):
        with pytest.raises(ValueError, match=r"no format|needs a file"):
            parse_outputs(wrong)
