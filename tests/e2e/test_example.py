"""The example crate: what a newcomer sees first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = "fixtures/crates/example"

pytestmark = pytest.mark.skipif(not (ROOT / "gpusafe/app.py").exists(), reason="gpusafe.app is not there")


@pytest.fixture(scope="module")
def outcome() -> Any:
    import subprocess
    import sys

    command = [sys.executable, "-m", "gpusafe", "check", EXAMPLE, "--format", "json", "--ptx", "never"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    return json.loads(done.stdout)


def faults() -> list[tuple[str, int]]:
    """File and line of what a FAULT comment of the example speaks of: the first line of code behind it."""
    found = []
    for path in sorted((ROOT / EXAMPLE).rglob("*.rs")):
        lines = path.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            if "FAULT:" in line:
                behind = next(i for i in range(number, len(lines)) if not lines[i].strip().startswith("//"))
                found.append((path.relative_to(ROOT).as_posix(), behind + 1))
    return found


def test_there_are_three_faults() -> None:
    assert len(faults()) == 3


def test_each_fault_is_an_error_and_nothing_else_is(outcome: Any) -> None:
    errors = [f for f in outcome["findings"] if f["level"] == "error"]
    missed = set(faults())
    stray = []
    for error in errors:
        sites = [error, *error["related"]]
        hits = {
            (f, line)
            for f, line in faults()
            for s in sites
            if s["file"] == f and s["line"] <= line + 6 and line <= s["end_line"]
        }
        missed -= hits
        if not hits:
            stray.append((error["rule"], error["file"], error["line"]))
    assert (missed, stray) == (set(), [])


def test_the_faults_are_of_three_kinds(outcome: Any) -> None:
    rules = {f["rule"] for f in outcome["findings"] if f["level"] == "error"}
    assert {"GS202", "GS103"} <= rules
    assert rules & {"GS101", "GS111"}


def test_the_sound_kernels_are_proved(outcome: Any) -> None:
    verdicts = {u["name"].rsplit("::", 1)[-1]: u["verdict"] for u in outcome["units"] if u["kind"] == "kernel"}
    assert verdicts == {"step": "proved", "block_heat": "proved", "smooth": "refuted"}


def test_every_file_is_accounted_for(outcome: Any) -> None:
    files = {f["file"] for f in outcome["files"]}
    assert {path.relative_to(ROOT).as_posix() for path in (ROOT / EXAMPLE).rglob("*.rs")} <= files
