"""`--with-clippy`: one command for rust-analyzer that gives clippy's diagnostics and gpusafe's."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import gpusafe
from tests.cli.programs import RACY

LIB = """#[cfg(feature = "more")]
pub fn more(names: &[u8]) -> bool {
    names.len() == 0
}

pub fn none(names: &[u8]) -> bool {
    names.len() == 0
}
"""


def crate(folder: Path) -> Path:
    (folder / "src").mkdir()
    toml = '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n[features]\nmore = []\n'
    (folder / "Cargo.toml").write_text(toml)
    (folder / "src" / "lib.rs").write_text(LIB)
    (folder / "a.cu").write_text(RACY)
    return folder


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    root = Path(gpusafe.__file__).parents[1]
    return subprocess.run(
        [sys.executable, "-m", "gpusafe", "gpusafe", "check", "--message-format=json", "--with-clippy", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(root), "CARGO_NET_OFFLINE": "true", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def clippy_is_there() -> bool:
    cargo = shutil.which("cargo")
    return (
        cargo is not None and subprocess.run([cargo, "clippy", "-V"], capture_output=True, check=False).returncode == 0
    )


def diagnostics(output: str) -> list[dict[str, Any]]:
    """What rust-analyzer takes from the output: cargo's messages, and rustc's diagnostics themselves."""
    lines = [json.loads(line) for line in output.splitlines()]
    found = [line.get("message", line) if line.get("reason") == "compiler-message" else line for line in lines]
    return [line for line in found if line.get("$message_type") == "diagnostic"]


@pytest.mark.skipif(not clippy_is_there(), reason="cargo clippy is not installed")
def test_clippy_comes_first_and_both_are_there(tmp_path: Path) -> None:
    done = run(crate(tmp_path), "--features", "more")
    assert done.returncode == 1, done.stderr
    codes = [found["code"]["code"] for found in diagnostics(done.stdout) if found["code"]]
    assert codes[-1] == "GS201"
    assert {"clippy::len_zero"} == set(codes[:-1])
    lines = {span["line_start"] for found in diagnostics(done.stdout)[:-1] for span in found["spans"]}
    assert {3, 7} <= lines  # the feature reached cargo


def test_without_cargo_it_is_said(tmp_path: Path) -> None:
    done = run(crate(tmp_path), PATH=str(tmp_path), CARGO="")
    assert done.returncode == 2
    assert done.stderr == "error: --with-clippy needs cargo, which is not on the PATH\n"
