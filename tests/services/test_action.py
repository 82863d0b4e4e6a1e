"""The composite action: what GitHub asks of action.yml, and the script that its step runs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.programs import RACY, SAFE

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parents[2]


def action() -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
    return document


def test_the_action_is_composite_and_each_step_is_complete() -> None:
    document = action()
    assert set(document) == {"name", "description", "branding", "inputs", "outputs", "runs"}
    assert document["runs"]["using"] == "composite"
    for step in document["runs"]["steps"]:
        assert ("uses" in step) != ("run" in step)
        assert "run" not in step or step["shell"] == "bash"  # composite steps have no default shell
        assert set(step) <= {"id", "if", "name", "uses", "with", "run", "shell", "env", "working-directory"}


def test_all_inputs_and_outputs_are_described_and_no_other_is_used() -> None:
    document = action()
    for given in document["inputs"].values():
        assert given["description"]
        assert isinstance(given["default"], str)  # GitHub takes strings only
    assert all(output["description"] and output["value"] for output in document["outputs"].values())
    used = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text()))
    assert used == set(document["inputs"])


def test_foreign_actions_are_pinned_and_no_input_is_put_into_a_command() -> None:
    for file in (ROOT / "action.yml", ROOT / "docs" / "ci.md", *ROOT.glob(".github/workflows/*.yml")):
        for name in re.findall(r"uses: ((?:actions|github)/\S+)", file.read_text()):
            assert re.search(r"@[0-9a-f]{40}$", name), name
    assert all("${{" not in step.get("run", "") for step in action()["runs"]["steps"])


def test_the_workflow_of_the_docs_uses_inputs_that_there_are() -> None:
    (text,) = re.findall(
        r"```yaml\n# \.github/workflows/gpusafe\.yml\n(.*?)```", (ROOT / "docs" / "ci.md").read_text(), re.S
    )
    steps = yaml.safe_load(text)["jobs"]["gpusafe"]["steps"]
    (ours,) = (step for step in steps if step["uses"].startswith("OWNER/gpusafe@"))
    assert set(ours["with"]) <= set(action()["inputs"])


def test_our_own_workflow_runs_scripts_that_there_are() -> None:
    for file in ROOT.glob(".github/workflows/*.yml"):
        steps = [step for job in yaml.safe_load(file.read_text())["jobs"].values() for step in job["steps"]]
        for script in (step["run"].split()[1] for step in steps if "run" in step):
            assert (ROOT / script).is_file(), script
        assert all(set(step["with"]) <= set(action()["inputs"]) for step in steps if step.get("uses") == "./")


@pytest.fixture
def step(tmp_path: Path) -> Any:
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")

    def run(program: str, **inputs: str) -> tuple[int, str, dict[str, str], str]:
        (tmp_path / "a.cu").write_text(program)
        command = tmp_path / "gpusafe"
        command.write_text(f'#!/bin/sh\necho "$@" >arguments\nexec "{sys.executable}" -m gpusafe "$@"\n')
        command.chmod(0o755)
        output, summary = tmp_path / "output", tmp_path / "summary"
        output.write_text("")
        summary.write_text("")
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "GPUSAFE_COMMAND": str(command),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(summary),
            **{f"GPUSAFE_{name.upper()}": value for name, value in inputs.items()},
        }
        script = ["bash", str(ROOT / "scripts" / "action.sh")]
        done = subprocess.run(script, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        outputs = dict(line.split("=", 1) for line in output.read_text().splitlines())
        return done.returncode, done.stdout, outputs, summary.read_text()

    return run


def test_a_race_fails_the_step_with_an_annotation_a_log_and_a_summary(step: Any, tmp_path: Path) -> None:
    status, out, outputs, summary = step(RACY, sarif="gpusafe.sarif", folder="crates/a/")
    assert status == 1
    assert "::error file=a.cu,line=2" in out
    assert outputs == {"status": "1", "sarif-file": "crates/a/gpusafe.sarif"}
    assert json.loads((tmp_path / "gpusafe.sarif").read_text())["version"] == "2.1.0"
    assert "GS201" in summary


def test_all_inputs_reach_the_program(step: Any, tmp_path: Path) -> None:
    given = {"fail_on": "never", "strict": "true", "args": "-D GS2 --ptx never", "paths": "a.cu", "summary": "false"}
    assert step(SAFE, **given)[0] == 0
    words = "check --format github --fail-on never --strict -D GS2 --ptx never a.cu\n"
    assert (tmp_path / "arguments").read_text() == words
