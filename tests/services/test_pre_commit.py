"""The hooks, run by the real pre-commit in a real repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from importlib import metadata, util
from pathlib import Path

import pytest

from gpusafe.cli import main
from tests.cli.programs import RACY, SAFE, git, repository

ROOT = Path(__file__).parents[2]
_PARTS = ("gpusafe", "pyproject.toml", "README.md", "LICENSE-MIT", "LICENSE-APACHE", ".pre-commit-hooks.yaml")


def _missing() -> str | None:
    if shutil.which("git") is None:
        return "git is not installed"
    if util.find_spec("pre_commit") is None:
        return "pre-commit is not installed (it is in the dev extra)"
    if int(metadata.version("setuptools").partition(".")[0]) < 77:
        return "setuptools is too old to build gpusafe without a network"
    return None


pytestmark = pytest.mark.skipif(_missing() is not None, reason=str(_missing()))


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A repository with gpusafe's hooks, and an environment in which pre-commit installs it without a network.

    The hook's own environment gets gpusafe; what that builds on comes from the environment of this test.
    """
    source = tmp_path_factory.mktemp("gpusafe")
    for part in _PARTS:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        copy(ROOT / part, source / part)
    for cached in source.rglob("__pycache__"):
        shutil.rmtree(cached)
    offline = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0"}  # 0: pip's odd way to say yes
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PRE_COMMIT"))},
        **offline,
        "PYTHONPATH": sysconfig.get_path("purelib"),
        "PRE_COMMIT_HOME": str(tmp_path_factory.mktemp("home")),
        "GIT_CONFIG_GLOBAL": os.devnull,
    }
    return repository(source, {}), environment


def configured(folder: Path, hooks: Path, files: dict[str, str]) -> Path:
    """A repository that uses both hooks, with ``files`` staged."""
    revision = git(hooks, "rev-parse", "HEAD").strip()
    ids = "\n".join(f"  - id: {hook}" for hook in ("gpusafe", "gpusafe-ptx"))
    config = f"repos:\n- repo: {hooks}\n  rev: {revision}\n  hooks:\n{ids}\n"
    made = repository(folder, {".pre-commit-config.yaml": config})
    for name, text in files.items():
        (made / name).write_text(text)
    git(made, "add", "-A")
    return made


def run(folder: Path, environment: dict[str, str], *arguments: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "pre_commit", "run", "--color", "never", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_the_hook_passes_fails_with_the_message_and_respects_the_baseline(
    hooks: tuple[Path, dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, environment = hooks
    here = configured(tmp_path / "user", source, {"a.cu": SAFE})
    status, out = run(here, environment)
    assert (status, "Passed" in out) == (0, True)
    assert "gpusafe (with PTX)" not in out

    (here / "a.cu").write_text(RACY)
    git(here, "add", "-A")
    status, out = run(here, environment)
    assert status == 1
    assert "error[GS201]" in out
    assert "--> a.cu:2:5" in out

    monkeypatch.chdir(here)
    assert main(["baseline", "create"]) == 0
    git(here, "add", "-A")
    status, out = run(here, environment)
    assert (status, "Passed" in out) == (0, True)


def test_a_commit_without_code_is_not_checked(hooks: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    source, environment = hooks
    here = configured(tmp_path / "user", source, {"notes.md": "a race\n"})
    git(here, "commit", "-q", "-m", "notes")
    (here / "more.md").write_text("more\n")
    git(here, "add", "-A")
    status, out = run(here, environment, "gpusafe")
    assert (status, "Skipped" in out) == (0, True)


def test_the_hook_with_ptx_waits_for_a_push(hooks: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    source, environment = hooks
    here = configured(tmp_path / "user", source, {"a.cu": SAFE})
    assert "gpusafe (with PTX)" in run(here, environment, "--hook-stage", "pre-push", "--all-files")[1]
