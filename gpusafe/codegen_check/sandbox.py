"""Running rustc and ptxas on code that nobody vouches for: own folder, own home, limits, no network where possible."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Limits:
    """``seconds`` of wall-clock time, ``memory`` in bytes of address space, ``file`` bytes in one output file."""

    seconds: float = 60.0
    memory: int = 12 * _GIB
    file: int = _GIB


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a program ended.

    ``code`` is its exit status, negative for a signal, None when it did not start; ``problem`` says in words why there
    is no ordinary exit status (not started, out of time, killed).
    """

    code: int | None
    stdout: str
    stderr: str
    problem: str = ""

    @property
    def ok(self) -> bool:
        """Whether it ended by itself with status 0."""
        return self.code == 0 and not self.problem


def run(
    argv: Sequence[str],
    folder: Path,
    extra: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    isolate: bool = True,
) -> Outcome:
    """Run a program inside ``folder`` with a bare environment and wait for it; never raises.

    ``folder`` is also its home and its place for temporary files. The program gets a process group of its own, which
    ends with it. With ``isolate`` it gets a network namespace without interfaces where the system allows that.
    """
    limits = limits or Limits()
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "LC_ALL": "C.UTF-8",
        **(extra or {}),
    }
    command = [*(_without_network() if isolate else ()), *argv]
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        return Outcome(None, "", "", f"could not be started: {error.strerror or error}")
    _limit(process.pid, limits)
    try:
        out, err = process.communicate(timeout=limits.seconds)
    except subprocess.TimeoutExpired:
        _end_group(process)
        return Outcome(None, "", "", f"did not end within {limits.seconds:g} s")
    except BaseException:
        _end_group(process)
        raise
    problem = f"was ended by signal {-process.returncode}" if process.returncode < 0 else ""
    return Outcome(process.returncode, out.decode(errors="replace"), err.decode(errors="replace"), problem)


def _limit(pid: int, limits: Limits) -> None:
    """Resource limits of a started process (what it starts inherits them); only Linux can set them from outside."""
    try:
        import resource
    except ImportError:
        return
    if not hasattr(resource, "prlimit"):
        return
    wanted = (
        (resource.RLIMIT_AS, limits.memory),
        (resource.RLIMIT_FSIZE, limits.file),
        (resource.RLIMIT_CPU, int(limits.seconds) + 5),
        (resource.RLIMIT_CORE, 0),
    )
    for kind, value in wanted:
        with contextlib.suppress(OSError, ValueError):
            hard = resource.prlimit(pid, kind)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.prlimit(pid, kind, (value, value))


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End a process that we started, and what it started in its own session."""
    with contextlib.suppress(OSError, AttributeError):  # Windows has no groups of this kind
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(OSError):
        process.kill()
    process.communicate()


@lru_cache(maxsize=1)
def _without_network() -> tuple[str, ...]:
    """The prefix that gives a program a network namespace of its own; empty where that is not allowed."""
    unshare = shutil.which("unshare", path="/usr/bin:/bin")
    if unshare is None:
        return ()
    prefix = (unshare, "--user", "--map-current-user", "--net", "--")
    try:
        done = subprocess.run([*prefix, "true"], capture_output=True, timeout=5, check=False)
    except (OSError, subprocess.SubprocessError):
        return ()
    return prefix if done.returncode == 0 else ()
