"""The shim crates (``shims/``) compiled for nvptx64, cached beside ``core``."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from gpusafe.codegen_check.core_library import SetupError, compiler_key, exclusive
from gpusafe.codegen_check.kept import cache_folder
from gpusafe.codegen_check.sandbox import Limits, run
from gpusafe.codegen_check.toolchain import TRIPLE, Rustc

CRATES = ("std", "gpusafe_ptx", "cuda_std", "cuda_device", "cuda_host", "cuda_core")
"""In the order in which they are built; each may use ``gpusafe_ptx``."""

_SOURCES = Path(__file__).parent / "shims"
_FLAGS = ("-O", "-Cpanic=abort", "-Cdebuginfo=0", "-Zmir-enable-passes=-JumpThreading")
"""Jump threading would clone the barriers inside of the shims' own functions (rust#137086)."""

_LIMITS = Limits(seconds=120.0)


def shim_externs(rustc: Rustc, sysroot: Path, environ: Mapping[str, str] = os.environ) -> tuple[tuple[str, Path], ...]:
    """The compiled shims as ``--extern`` pairs, built now if need be (2 s). Raises :class:`SetupError`."""
    home = cache_folder(environ) / "shims"
    target = home / f"{compiler_key(rustc)}-{_sources_key()}"
    try:
        home.mkdir(parents=True, exist_ok=True)
        if not (target / "complete").is_file():
            with exclusive(home / f"{target.name}.lock"):
                if not (target / "complete").is_file():
                    _build(rustc, sysroot, home, target)
    except OSError as error:
        raise SetupError(f"cannot keep the shims in {home}: {error.strerror or error}") from error
    return tuple((name, target / f"lib{name}.rlib") for name in CRATES)


def _sources_key() -> str:
    digest = hashlib.sha256(" ".join(_FLAGS).encode())
    for path in sorted(_SOURCES.rglob("*.rs")):
        digest.update(str(path.relative_to(_SOURCES)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _build(rustc: Rustc, sysroot: Path, home: Path, target: Path) -> None:
    prefix = f"building-{target.name}-"
    for left in home.glob(f"{prefix}*"):  # of a build that was killed: the lock is ours
        shutil.rmtree(left, ignore_errors=True)
    work = Path(tempfile.mkdtemp(prefix=prefix, dir=home))
    try:
        for name in CRATES:
            argv = [str(rustc.path), "--edition", "2021", "--crate-name", name, "--crate-type", "rlib"]
            argv += ["--target", TRIPLE, "--sysroot", str(sysroot), *_FLAGS]
            argv += ["--cap-lints", "allow", "-L", str(work), "--out-dir", str(work)]
            if name.startswith("cuda_"):
                argv += ["--extern", f"gpusafe_ptx={work / 'libgpusafe_ptx.rlib'}"]
            outcome = run([*argv, str(_SOURCES / name / "lib.rs")], work, {"RUSTC_BOOTSTRAP": "1"}, _LIMITS)
            if not outcome.ok:
                first = next((line for line in outcome.stderr.splitlines() if line.startswith("error")), "")
                raise SetupError(f"rustc could not build the shim {name}: {outcome.problem or first}")
        (work / "complete").write_text(rustc.identity)
        if target.exists():
            shutil.rmtree(target)
        os.rename(work, target)
    finally:
        shutil.rmtree(work, ignore_errors=True)
