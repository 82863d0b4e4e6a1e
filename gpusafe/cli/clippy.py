"""Clippy's diagnostics before gpusafe's: rust-analyzer runs one check command only."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from gpusafe.errors import UsageError


def stream(path: Path, arguments: Sequence[str] = ("--workspace", "--all-targets")) -> None:
    """Let ``cargo clippy`` write its JSON to stdout for the package or workspace around ``path``.

    ``arguments`` are cargo's: which packages, features and targets.

    This builds the user's code, as clippy does. What clippy finds is in its output; its exit status is not used, except
    that a cargo which cannot be started is a UsageError.
    """
    cargo = os.environ.get("CARGO") or shutil.which("cargo")
    if cargo is None:
        raise UsageError("--with-clippy needs cargo, which is not on the PATH")
    sys.stdout.flush()
    folder = path if path.is_dir() else path.parent
    command = [cargo, "clippy", "--quiet", "--message-format=json", *arguments]
    try:
        subprocess.run(command, cwd=folder, check=False)
    except OSError as problem:
        raise UsageError(f"cannot run {cargo}: {problem.strerror}") from None
