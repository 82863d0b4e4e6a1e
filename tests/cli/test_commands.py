"""The command line from outside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpusafe import __version__
from gpusafe.cli import main


def outcome(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(arguments)
    out, err = capsys.readouterr()
    return status, out, err


@pytest.mark.parametrize("arguments", [["--version"], ["-V"], ["gpusafe", "--version"]])
def test_the_version(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(capsys, *arguments) == (0, f"gpusafe {__version__}\n", "")


def test_help_names_the_commands_and_the_exit_statuses(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = outcome(capsys, "--help")
    assert status == 0
    out = " ".join(out.split())
    assert all(word in out for word in ("check", "explain", "rules", "doctor", "config", "3 incomplete under --strict"))


@pytest.mark.parametrize("name", ["GS101", "stream-race"])
def test_explain_prints_the_rule(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = outcome(capsys, "explain", name)
    assert status == 0
    assert out.startswith("# GS101 stream-race\n")
    assert "Use instead:" in out


def test_explain_may_be_spelled_as_in_rustc(capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(capsys, "--explain", "GS202")[1].startswith("# GS202 shared-race\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["explain", "GS999"], "error: there is no rule `GS999`"),
        (["check", "no/such/path"], "error: no such file or folder: no/such/path"),
        (["check", "--select", "nonsense", "."], "error: there is no rule `nonsense`"),
        (["check", "--config", "none.toml", "."], "error: none.toml: no such file"),
        (["check", "--frobnicate"], "unrecognized arguments: --frobnicate"),
        (["check", "--format", "xml"], "invalid choice: 'xml'"),
        (["chekc"], "invalid choice: 'chekc'"),
        (["chekc"], "did you mean `check`?"),
        (["check", "--fail-on", "warn"], "did you mean `warning`?"),
        (["check", "--manifest-pth=x"], "did you mean `--manifest-path`?"),
    ],
)
def test_what_is_wrong_is_said_in_one_message_with_status_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = outcome(capsys, *arguments)
    assert status == 2
    assert out == ""
    assert message in err
    assert "Traceback" not in err


def test_an_internal_error_is_a_message_and_status_2(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("gpusafe.cli._dispatch", fail)
    monkeypatch.delenv("GPUSAFE_TRACEBACK", raising=False)
    status, _, err = outcome(capsys, "rules")
    assert (status, err.splitlines()[0]) == (2, "error: internal error: RuntimeError: boom")
    monkeypatch.setenv("GPUSAFE_TRACEBACK", "1")
    with pytest.raises(RuntimeError):
        main(["rules"])


def test_an_interrupt_is_status_130(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gpusafe.cli._dispatch", interrupt)
    assert outcome(capsys, "rules")[0] == 130


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"'{sys.executable}' -m gpusafe rules | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("host")
    assert done.stderr == ""


def test_the_catalogue_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(outcome(capsys, "rules", "--format", "json")[1])
    assert {"code": "GS101", "name": "stream-race"}.items() <= rows[0].items()


def test_doctor_says_what_is_there_and_how_to_get_the_rest(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = outcome(capsys, "doctor", "--format", "json")
    document = json.loads(out)
    assert status == 0
    assert document["packages"]["z3-solver"]
    names = [row["name"] for row in document["ptx"]]
    assert "ptxas" in names
    assert all(row["found"] or row["help"] for row in document["ptx"])


def test_settings_come_from_the_nearest_file_and_say_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gpusafe.toml").write_text('fail-on = "warning"\ntargets = ["sm_80"]\n')
    (tmp_path / "crate").mkdir()
    monkeypatch.chdir(tmp_path)
    status, out, _ = outcome(capsys, "config", "crate")
    assert status == 0
    assert 'fail-on = "warning"  # gpusafe.toml: ' in out
    assert 'targets = ["sm_80"]  # gpusafe.toml: ' in out
    assert 'format = "text"  # default: ' in out


def test_settings_in_cargo_metadata_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "Cargo.toml").write_text('[package]\nname = "a"\n[package.metadata.gpusafe]\nstrict = true\n')
    monkeypatch.chdir(tmp_path)
    assert "strict = true  # Cargo.toml [package.metadata.gpusafe]: " in outcome(capsys, "config")[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("colour = true", "gpusafe.toml: unknown key `colour`"),
        ("jobs = 4", "gpusafe.toml: unknown key `jobs`"),
        ('fail-on = "never ever"', "gpusafe.toml: `fail-on` must be one of error, warning, note, never"),
        ("strict = 1", "gpusafe.toml: `strict` must be true or false"),
        ("strict = ", "gpusafe.toml: Invalid value"),
    ],
)
def test_a_wrong_setting_is_named(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gpusafe.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    status, _, err = outcome(capsys, "config")
    assert status == 2
    assert message in err


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["check", "--help"], ["explain", "GS101"], ["rules"]])
def test_nothing_heavy_is_imported_for_a_word(arguments: list[str]) -> None:
    program = (
        "import sys\nfrom gpusafe.cli import main\nmain(sys.argv[1:])\n"
        "heavy = {'z3', 'networkx', 'rich', 'tree_sitter', 'tree_sitter_rust'} & set(sys.modules)\n"
        "sys.stderr.write(' '.join(sorted(heavy)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True, env={**os.environ}
    )
    assert done.stderr == ""


def test_nothing_heavy_is_imported_for_files_without_gpu_code(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "Cargo.toml").write_text('[package]\nname = "a"\n')
    (tmp_path / "src" / "lib.rs").write_text("pub fn f() {}\n")
    program = (
        "import sys\nfrom gpusafe.cli import main\nstatus = main(['check', '.'])\n"
        "heavy = ('z3', 'networkx', 'rich', 'gpusafe.prove', 'gpusafe.dataflow', 'gpusafe.codegen_check')\n"
        "sys.stderr.write(' '.join(name for name in heavy if name in sys.modules))\nsys.exit(status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True, env={**os.environ}
    )
    assert done.stderr == ""
    assert done.stdout == "no errors; nothing was proved: no GPU code found; 1 file: 1 without GPU code\n"


def test_ptx_without_kernels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "lib.rs").write_text("pub fn f() {}\n")
    assert outcome(capsys, "ptx", str(tmp_path))[:2] == (0, "no kernels\n")


@pytest.mark.parametrize("command", ["ptx", "check"])
def test_a_target_that_does_not_exist_is_a_wrong_command_line(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, err = outcome(capsys, command, "--targets", "sm_80,sm_5", str(tmp_path))
    assert status == 2
    assert "`sm_5` is no target such as sm_80" in err
