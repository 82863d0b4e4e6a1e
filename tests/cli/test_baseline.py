"""Old findings are accepted, new ones count: by baseline and by revision."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from gpusafe.cli import main
from tests.cli.programs import MOVED, RACY, SAFE, SECOND, git, repository

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "k.cu").write_text(RACY)
    monkeypatch.chdir(folder)
    return folder


def status(*arguments: str) -> int:
    return main([*arguments, "--ptx", "never"])


def last_line(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out.rstrip().splitlines()[-1]


def test_what_the_baseline_holds_is_accepted_and_counted(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status("check") == 1
    assert status("baseline", "create") == 0
    assert "recorded 1 finding (1 GS201)" in last_line(capsys)
    assert status("check") == 0
    assert last_line(capsys).startswith(
        "no errors, 1 accepted: in gpusafe-baseline.json; 0 of 1 unit proved, 1 refuted"
    )
    assert status("check", "--no-baseline") == 1


def test_moved_reformatted_and_renamed_code_stays_accepted(here: Path) -> None:
    status("baseline", "create")
    (here / "k.cu").unlink()
    (here / "renamed.cu").write_text(MOVED)
    assert status("check") == 0


def test_a_new_fault_counts_and_a_corrected_one_can_be_pruned(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status("baseline", "create")
    (here / "k.cu").write_text(SAFE + SECOND)
    capsys.readouterr()
    assert status("check") == 1
    out = capsys.readouterr().out
    assert "`spread`" in out
    assert "1 of gpusafe-baseline.json gone" in out
    assert status("baseline", "prune") == 0
    assert "1 gone, 0 findings left" in last_line(capsys)
    assert status("baseline", "update") == 0
    assert status("baseline", "show") == 0
    assert "k.cu: GS201 in `spread`" in capsys.readouterr().out
    assert status("check") == 0


def test_a_second_equal_fault_is_not_covered_by_the_first(here: Path) -> None:
    status("baseline", "create")
    (here / "more.cu").write_text(RACY)
    assert status("check") == 1


def test_an_open_question_in_the_baseline_does_not_fail_a_strict_run(here: Path) -> None:
    (here / "k.cu").write_text(
        'extern "C" __device__ void ext(unsigned *p);\nextern "C" __global__ void k(unsigned *out) { ext(out); }\n'
    )
    assert status("check", "--strict") == 3
    status("baseline", "create")
    assert status("check", "--strict") == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["baseline", "show"], "there is no gpusafe-baseline.json"),
        (["check", "--baseline", "none.json"], "no such baseline: none.json"),
        (["check", "--baseline", "k.cu"], "k.cu is no baseline of gpusafe"),
    ],
)
def test_a_baseline_that_is_not_there_is_an_error(
    here: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(*arguments) == 2
    assert message in capsys.readouterr().err


def test_create_does_not_write_over_a_baseline(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status("baseline", "create")
    assert status("baseline", "create") == 2
    assert "is there already" in capsys.readouterr().err


def test_the_file_has_one_finding_a_line_and_no_line_numbers(here: Path) -> None:
    status("baseline", "create")
    text = (here / "gpusafe-baseline.json").read_text()
    (entry,) = json.loads(text)["findings"]
    assert set(entry) == {"fingerprint", "rule", "file", "unit", "message"}
    assert len(text.splitlines()) == 6


@needs_git
def test_only_what_is_new_since_a_revision_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    top = repository(tmp_path / "r", {"gpu/k.cu": RACY, "README.md": "x"})
    monkeypatch.chdir(top / "gpu")
    assert status("check", "--changed-since", "HEAD") == 0
    assert "nothing that gpusafe reads has changed" in capsys.readouterr().out
    (top / "gpu/k.cu").write_text(MOVED)
    assert status("check", "--changed-since", "HEAD") == 0
    assert "1 accepted: in HEAD" in last_line(capsys)
    (top / "gpu/new.cu").write_text(SECOND)
    assert status("check", "--changed-since", "HEAD") == 1
    out = capsys.readouterr().out
    assert "gpu/" not in out
    assert out.startswith("error[GS201]")
    assert " --> new.cu:2:" in out
    assert status("check", "--changed-since", "nowhere") == 2
    assert "there is no revision `nowhere`" in capsys.readouterr().err


@needs_git
def test_a_synchronisation_that_is_removed_elsewhere_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The two accesses stay as they are; what ordered them lies in another file."""
    header = "__device__ inline void meet() { __syncthreads(); }\n"
    kernel = (
        '#include "meet.cuh"\nextern "C" __global__ void k(unsigned *out) {\n    __shared__ unsigned tile[256];\n'
        "    tile[threadIdx.x] = threadIdx.x;\n    meet();\n    out[blockIdx.x * blockDim.x + threadIdx.x] = "
        "tile[255 - threadIdx.x];\n}\n"
    )
    top = repository(tmp_path / "r", {"k.cu": kernel, "meet.cuh": header})
    monkeypatch.chdir(top)
    assert status("check", "--block", "256") == 0
    (top / "meet.cuh").write_text("__device__ inline void meet() {}\n")
    assert status("check", "--block", "256", "--changed-since", "HEAD") == 1


@needs_git
def test_staged_looks_at_the_index_and_not_at_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    top = repository(tmp_path / "r", {"k.cu": SAFE})
    monkeypatch.chdir(top)
    (top / "k.cu").write_text(RACY)
    assert status("check", "--staged") == 0
    git(top, "add", "k.cu")
    (top / "k.cu").write_text(SAFE)
    capsys.readouterr()
    assert status("check", "--staged") == 1
    assert " --> k.cu:2:" in capsys.readouterr().out
    git(top, "checkout", "-q", "-f", "HEAD")
    (top / "notes.md").write_text("words")
    git(top, "add", "notes.md")
    assert status("check", "--staged") == 0
    assert "nothing that gpusafe reads has changed" in capsys.readouterr().out
