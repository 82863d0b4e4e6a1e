"""What only Linux or only POSIX has is not needed for a check."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.cli.programs import RACY

ELSEWHERE = """
import multiprocessing, os, sys
for name in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[name] = None  # an import raises, as on Windows
for name in ("fork", "killpg", "sched_getaffinity"):
    if hasattr(os, name):
        delattr(os, name)
multiprocessing.get_all_start_methods = lambda: ["spawn"]
from gpusafe.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_a_check_needs_nothing_that_windows_lacks(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text(RACY)
    root = str(Path(__file__).parents[2])
    program = f"import sys; sys.path.insert(0, {root!r})\n{ELSEWHERE}"
    command = [sys.executable, "-c", program, "check", "a.cu", "-q", "--format", "short", "-j", "2"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert "a.cu:2:5: error[GS201]" in done.stdout
