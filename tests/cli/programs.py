"""Small programs for the commands, and a git repository to hold them."""

from __future__ import annotations

import subprocess
from pathlib import Path

RACY = """extern "C" __global__ void shift(unsigned *out) {
    out[threadIdx.x / 2] = threadIdx.x;
}
"""

MOVED = """// a line more


extern "C" __global__ void shift(unsigned *out)
{
    out[
        threadIdx.x / 2
    ] = threadIdx.x;
}
"""

SECOND = """extern "C" __global__ void spread(unsigned *cells) {
    cells[threadIdx.x / 4] = threadIdx.x;
}
"""

SAFE = """extern "C" __global__ void shift(unsigned *out) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
}
"""


def git(folder: Path, *arguments: str) -> str:
    """Run git as somebody, with no settings of the machine."""
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null"]
    done = subprocess.run(["git", "-C", str(folder), *who, *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def repository(folder: Path, files: dict[str, str]) -> Path:
    """A repository with one commit that holds ``files``."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    return folder
