"""``core`` for nvptx64: built once per compiler from the library's source, and kept in the user's cache."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from gpusafe.codegen_check.kept import cache_folder
from gpusafe.codegen_check.sandbox import Limits, run
from gpusafe.codegen_check.toolchain import TRIPLE, Rustc
from gpusafe.errors import GpusafeError

_BUILD_LIMITS = Limits(seconds=600.0)
_BUILTINS = "#![feature(compiler_builtins)]\n#![compiler_builtins]\n#![no_std]\n"


class SetupError(GpusafeError):
    """``core`` could not be built; the message says why."""


def compiler_key(rustc: Rustc) -> str:
    """Names a compiler: its version text and the path of its library source."""
    text = f"{rustc.identity}\n{rustc.library}\n{_BUILTINS}"
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def ready_sysroot(rustc: Rustc, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The sysroot that has a compiled ``core`` for nvptx64, if there is one already; starts nothing."""
    if rustc.has_core:
        return rustc.sysroot
    sysroot = cache_folder(environ) / "core" / compiler_key(rustc)
    return sysroot if (sysroot / "complete").is_file() else None


def setup_core(
    rustc: Rustc, environ: Mapping[str, str] = os.environ, progress: Callable[[str], None] = lambda _: None
) -> Path:
    """The sysroot with ``core``, built now if need be. Safe to call from several processes at once.

    A build happens in a folder of its own, which takes its final name only when it is complete: an interrupted one
    leaves nothing that looks done. Raises :class:`SetupError`.
    """
    ready = ready_sysroot(rustc, environ)
    if ready is not None:
        return ready
    if rustc.library is None:
        raise SetupError(f"{rustc.path} comes without the library's source")
    home = cache_folder(environ) / "core"
    target = home / compiler_key(rustc)
    try:
        home.mkdir(parents=True, exist_ok=True)
        with exclusive(home / f"{target.name}.lock"):
            ready = ready_sysroot(rustc, environ)
            if ready is not None:
                return ready
            progress(f"building core for {TRIPLE} (once per compiler, about 20 s)")
            _build(rustc, rustc.library, home, target)
    except OSError as error:
        raise SetupError(f"cannot keep core in {home}: {error.strerror or error}") from error
    return target


@contextlib.contextmanager
def exclusive(lock: Path) -> Iterator[None]:
    """Hold a lock file; the lock goes with the process that holds it. Windows has none: nothing is held there."""
    with open(lock, "w") as handle:
        with contextlib.suppress(ImportError):
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _build(rustc: Rustc, library: Path, home: Path, target: Path) -> None:
    prefix = f"building-{target.name}-"
    for left in home.glob(f"{prefix}*"):  # of a build that was killed: the lock is ours
        shutil.rmtree(left, ignore_errors=True)
    work = Path(tempfile.mkdtemp(prefix=prefix, dir=home))
    try:
        out = work / "lib/rustlib" / TRIPLE / "lib"
        out.mkdir(parents=True)
        _compile(rustc, "core", "2024", library / "core/src/lib.rs", out, work)
        builtins = work / "compiler_builtins.rs"
        builtins.write_text(_BUILTINS)
        _compile(rustc, "compiler_builtins", "2024", builtins, out, work)
        (work / "complete").write_text(rustc.identity)
        if target.exists():
            shutil.rmtree(target)
        os.rename(work, target)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _compile(rustc: Rustc, name: str, edition: str, source: Path, out: Path, work: Path) -> None:
    argv = [str(rustc.path), "--edition", edition, "--crate-name", name, "--crate-type", "rlib", "--target", TRIPLE]
    argv += ["-C", "opt-level=3", "-C", "panic=abort", "-C", "debuginfo=0", "--cap-lints", "allow"]
    argv += ["--sysroot", str(work), "--out-dir", str(out), str(source)]
    outcome = run(argv, work, {"RUSTC_BOOTSTRAP": "1"}, _BUILD_LIMITS)
    if not outcome.ok:
        first = next((line for line in outcome.stderr.splitlines() if line.startswith("error")), "")
        raise SetupError(f"rustc could not build {name}: {outcome.problem or first or 'no reason given'}")
