"""The JSON that tools rely on."""

from __future__ import annotations

import json
from typing import Any

from gpusafe.config import Options
from gpusafe.report import render
from tests.report.programs import REPORT


def document() -> Any:
    return json.loads(render(REPORT, Options(format="json")))


def test_a_unit_says_where_it_is_and_what_is_known() -> None:
    unit = document()["units"][0]
    assert {key: unit[key] for key in ("kind", "name", "file", "line", "end_line", "verdict")} == {
        "kind": "kernel",
        "name": "k",
        "file": "src/k.rs",
        "line": 1,
        "end_line": 4,
        "verdict": "unknown",
    }
    assert [(o["rule"], o["verdict"], o["reason"]) for o in unit["obligations"]] == [
        ("GS202", "proved", None),
        ("GS201", "unknown", "no model of `[i]`"),
    ]


def test_a_finding_names_both_sides() -> None:
    finding = document()["findings"][0]
    assert (finding["rule"], finding["level"], finding["file"], finding["line"]) == ("GS101", "error", "src/main.rs", 6)
    assert [(r["file"], r["line"], r["message"]) for r in finding["related"]] == [
        ("src/main.rs", 3, "written here, on stream `s1`"),
        ("src/k.rs", 2, "by this store"),
    ]


def test_what_a_directive_accepts_is_apart_from_the_findings() -> None:
    (item,) = document()["suppressed"]
    assert (item["rule"], item["reason"], item["directive"]["line"]) == ("GS101", "the caller orders them", 4)
    assert len(document()["findings"]) == 2


def test_every_file_is_accounted_for() -> None:
    assert [(f["file"], f["status"]) for f in document()["files"]] == [
        ("src/main.rs", "analysed"),
        ("src/k.rs", "analysed"),
        ("src/plain.rs", "no GPU code"),
        ("src/odd name.rs", "syntax error"),
        ("src/big.rs", "skipped"),
    ]


def test_ptx_stands_beside_the_verdict() -> None:
    assert document()["units"][1]["ptx"] == [
        {"target": "sm_80", "status": "confirmed", "detail": ""},
        {"target": "sm_90", "status": "skipped", "detail": "no rustc"},
    ]
