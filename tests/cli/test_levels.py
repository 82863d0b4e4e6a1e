"""Levels, packages and paths from the command line and from files."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusafe.cli import main
from tests.cli.programs import RACY, SAFE

QUIET = ("-q", "--format", "short")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def outcome(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = main(arguments)
    out, err = capsys.readouterr()
    return status, out + err


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def test_a_race_can_be_a_warning_by_flag_and_by_file(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(here, {"a.cu": RACY})
    assert outcome(capsys, "check", *QUIET)[0] == 1
    for arguments in (["check", *QUIET, "-W", "global-race"], ["check", *QUIET, "--", "-WGS201"]):
        status, out = outcome(capsys, *arguments)
        assert (status, "a.cu:2:5: warning[GS201]" in out) == (0, True)
    write(here, {"gpusafe.toml": '[lints]\nglobal-race = "warn"\n'})
    assert outcome(capsys, "check", *QUIET)[0] == 0
    assert outcome(capsys, "check", *QUIET, "-D", "GS2")[0] == 1


def test_a_path_has_settings_of_its_own(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    toml = '[package]\nname = "a"\n[package.metadata.gpusafe.per-path."old/**"]\nignore = ["global-race"]\n'
    write(here, {"old/a.cu": RACY, "Cargo.toml": toml, "src/lib.rs": ""})
    assert outcome(capsys, "check", *QUIET)[0] == 0
    write(here, {"new/a.cu": RACY})
    status, out = outcome(capsys, "check", *QUIET)
    assert status == 1
    assert "new/a.cu:2:5: error[GS201]" in out
    assert "old/a.cu" not in out


def test_what_is_forbidden_no_directive_accepts(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    allowed = RACY.replace("    out[", "    // gpusafe: allow(GS201): one thread a block\n    out[")
    write(here, {"a.cu": allowed})
    assert outcome(capsys, "check", *QUIET)[0] == 0
    status, out = outcome(capsys, "check", *QUIET, "-F", "GS201")
    assert status == 1
    assert "error[GS201]" in out
    assert "`allow(GS201)` has no effect: a lint level forbids to accept GS201" in out


def test_an_expectation_is_met_or_told(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for program, told in ((RACY, False), (SAFE, True)):
        expecting = program.replace("    out[", "    // gpusafe: expect(global-race): a known fault\n    out[")
        write(here, {"a.cu": expecting})
        status, out = outcome(capsys, "check", *QUIET)
        assert status == 0
        assert ("a.cu:2:5: warning[GS905]: `expect(GS201)` is not met" in out) is told


def test_an_expectation_without_reason_is_told(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(here, {"a.cu": RACY.replace("    out[", "    // gpusafe: expect(GS201)\n    out[")})
    status, out = outcome(capsys, "check", *QUIET)
    assert status == 1
    assert "GS906]: an `expect` needs its reason, as in `expect(GS201): reason`" in out.replace("GS101", "GS201")


def test_cargo_flags_choose_packages(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(
        here,
        {
            "Cargo.toml": '[workspace]\nmembers = ["bad", "good"]\n',
            "bad/Cargo.toml": '[package]\nname = "bad"\n',
            "bad/src/lib.rs": "",
            "bad/a.cu": RACY,
            "good/Cargo.toml": '[package]\nname = "good"\n',
            "good/src/lib.rs": "",
            "good/a.cu": SAFE,
        },
    )
    assert outcome(capsys, "gpusafe", "-p", "good", "-q")[0] == 0
    assert outcome(capsys, "gpusafe", "-p", "bad", "-q")[0] == 1
    assert outcome(capsys, "gpusafe", "--workspace", "--exclude", "b*", "-q", "--offline", "--features", "x")[0] == 0
    assert outcome(capsys, "gpusafe", "check", "--manifest-path", "good/Cargo.toml", "-q")[0] == 0
    assert outcome(capsys, "check", "--manifest-path", "good/Cargo.toml", "--workspace", "-q")[0] == 1
    status, out = outcome(capsys, "gpusafe", "-p", "god")
    assert (status, "there is no package `god` in Cargo.toml; did you mean `good`?" in out) == (2, True)
    assert outcome(capsys, "gpusafe", "-p", "good", "bad")[0] == 2


def test_a_package_of_the_workspace_speaks_for_its_files(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(
        here,
        {
            "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\n',
            "crates/a/Cargo.toml": '[package]\nname = "a"\n[package.metadata.gpusafe]\nignore = ["GS201"]\n',
            "crates/a/a.cu": RACY,
            "crates/b/Cargo.toml": '[package]\nname = "b"\n',
            "crates/b/b.cu": RACY,
        },
    )
    status, out = outcome(capsys, "check", *QUIET)
    assert (status, "crates/a/a.cu" in out, "crates/b/b.cu:2:5: error" in out) == (1, False, True)
    out = outcome(capsys, "config")[1]
    assert 'per-path."**".lints = { GS201 = "allow" }  # below crates/a  # packages of the workspace' in out
    write(here, {"crates/b/Cargo.toml": '[package]\nname = "b"\n[package.metadata.gpusafe]\nlints = 3\n'})
    status, out = outcome(capsys, "check", *QUIET)
    assert (status, "crates/b/Cargo.toml [package.metadata.gpusafe]: `lints`: must be a table" in out) == (2, True)


def test_a_package_adds_to_its_workspace(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(
        here,
        {
            "Cargo.toml": "[workspace.metadata.gpusafe]\nstrict = true\nlints = { GS1 = 'deny', GS2 = 'warn' }\n",
            "a/Cargo.toml": '[package]\nname = "a"\n[package.metadata.gpusafe]\nlints = { GS2 = "allow" }\n',
        },
    )
    monkeypatch.chdir(here / "a")
    out = outcome(capsys, "config")[1]
    assert "strict = true" in out
    levels = [line.partition("  #")[0] for line in out.splitlines() if line.startswith("lints.")]
    assert levels == ['lints.GS1 = "deny"', 'lints.GS2 = "warn"', 'lints.GS2 = "allow"']


def test_json_messages_are_those_of_rustc_as_in_cargo(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(here, {"a.cu": RACY})
    status, out = outcome(capsys, "gpusafe", "--message-format", "json")
    assert (status, out.startswith('{"$message_type"')) == (1, True)


def test_config_shows_levels_with_their_source(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(here, {"gpusafe.toml": '[lints]\nGS1 = "deny"\n[per-path."a/**"]\nignore = ["GS2"]\n'})
    status, out = outcome(capsys, "config", "--show-source")
    assert status == 0
    assert 'lints.GS1 = "deny"  # gpusafe.toml: ' in out
    assert 'per-path."a/**".lints = { GS2 = "allow" }' in out
