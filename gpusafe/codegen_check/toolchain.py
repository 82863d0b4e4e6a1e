"""Which rustc can build for nvptx64 here, which ptxas can assemble, and what to do about what is missing.

Candidates are judged by the files that they come with before any of them is started, and rustup's proxies are never
started: a proxy may download a toolchain. rustup's toolchains are looked up in its folder instead.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gpusafe.codegen_check.kept import Kept, cache_folder, key_of

TRIPLE = "nvptx64-nvidia-cuda"

_GET_RUSTC = "apt-get install rustc-web rust-web-src   (or: rustup target add nvptx64-nvidia-cuda)"
_GET_PTXAS = "pip install 'gpusafe[ptx]'   (or: pip install nvidia-cuda-nvcc)"
_SETUP = "gpusafe ptx --setup"


@dataclass(frozen=True, slots=True)
class Rustc:
    """A compiler that can make nvptx64 code.

    ``version`` is the first line of ``rustc -vV``, ``identity`` all of it. ``library`` is the folder of the standard
    library's source, if it is there; ``has_core`` says that a compiled ``core`` for nvptx64 came with it.
    """

    path: Path
    version: str
    identity: str
    sysroot: Path
    library: Path | None
    has_core: bool

    @property
    def release(self) -> tuple[int, ...]:
        """The version as numbers: ``(1, 96, 0)``."""
        match = re.search(r"(\d+)\.(\d+)\.(\d+)", self.version)
        return tuple(int(part) for part in match.groups()) if match else (0,)


@dataclass(frozen=True, slots=True)
class Ptxas:
    """An assembler; ``version`` such as ``13.0`` (empty: it did not say)."""

    path: Path
    version: str


@dataclass(frozen=True, slots=True)
class Toolchain:
    """What was found; ``why`` tells for a missing rustc what was looked at."""

    rustc: Rustc | None
    ptxas: Ptxas | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One part of the PTX stage for ``gpusafe doctor``: ``help`` is the command that gets what is missing."""

    name: str
    found: bool
    detail: str
    help: str = ""


def find(rustc: str | None = None, ptxas: str | None = None, environ: Mapping[str, str] = os.environ) -> Toolchain:
    """The compiler and the assembler to use; explicit paths come first, then the environment, then usual places."""
    found, why = _find_rustc(rustc, environ)
    return Toolchain(found, _find_ptxas(ptxas, environ), why)


def diagnose(environ: Mapping[str, str] = os.environ) -> tuple[Diagnosis, ...]:
    """What is there and what that enables, for ``gpusafe doctor``."""
    from gpusafe.codegen_check.core_library import ready_sysroot

    tools = find(environ=environ)
    if tools.rustc is None:
        rows = [Diagnosis("rustc (nvptx64)", False, tools.why, _GET_RUSTC)]
    else:
        rows = [Diagnosis("rustc (nvptx64)", True, f"{tools.rustc.version} at {tools.rustc.path}")]
        sysroot = ready_sysroot(tools.rustc, environ)
        rows.append(
            Diagnosis("core for nvptx64", True, str(sysroot))
            if sysroot
            else Diagnosis("core for nvptx64", False, "not built yet (once per compiler, about 20 s)", _SETUP)
        )
    if tools.ptxas is None:
        rows.append(Diagnosis("ptxas", False, "kernels are compiled to PTX but not assembled", _GET_PTXAS))
    else:
        rows.append(Diagnosis("ptxas", True, f"{tools.ptxas.version or 'unknown version'} at {tools.ptxas.path}"))
    return tuple(rows)


def _find_rustc(explicit: str | None, environ: Mapping[str, str]) -> tuple[Rustc | None, str]:
    seen: list[str] = []
    for path in _rustc_candidates(explicit, environ):
        sysroot = path.parent.parent
        library = sysroot / "lib/rustlib/src/rust/library"
        has_core = any((sysroot / "lib/rustlib" / TRIPLE / "lib").glob("libcore*.rlib"))
        if not has_core and not (library / "core/src/lib.rs").is_file():
            seen.append(f"{path} has neither {TRIPLE} nor the library source")
            continue
        identity = _output(path, "-vV", environ)
        if identity is None or not identity.startswith("rustc "):
            seen.append(f"{path} does not run")
            continue
        source = library.resolve() if (library / "core/src/lib.rs").is_file() else None
        return Rustc(path, identity.splitlines()[0], identity, sysroot, source, has_core), ""
    return None, "; ".join(seen) if seen else "no rustc was found"


def _rustc_candidates(explicit: str | None, environ: Mapping[str, str]) -> Iterator[Path]:
    """Compilers in order of preference, each once, proxies replaced by what they stand for."""
    listed = [explicit, environ.get("RUSTC")]
    if explicit is None:
        listed += [shutil.which("rustc", path=environ.get("PATH")), "/usr/bin/rustc", "/usr/local/bin/rustc"]
    paths = [Path(p) for p in listed if p]
    if explicit is None:
        paths += _rustup_compilers(environ)
    seen: set[Path] = set()
    for path in paths:
        if path.is_file() and not _is_rustup_proxy(path) and path.resolve() not in seen:
            seen.add(path.resolve())
            yield path


def _is_rustup_proxy(path: Path) -> bool:
    """A proxy is rustup itself under another name (a link to it, or a hard link beside it)."""
    rustup = path.parent / "rustup"
    return path.resolve().name == "rustup" or (rustup.is_file() and path.samefile(rustup))


def _rustup_compilers(environ: Mapping[str, str]) -> list[Path]:
    home = Path(environ.get("RUSTUP_HOME") or Path(environ.get("HOME", "/nonexistent")) / ".rustup")
    try:
        return sorted((home / "toolchains").glob("*/bin/rustc"), reverse=True)
    except OSError:
        return []


def _find_ptxas(explicit: str | None, environ: Mapping[str, str]) -> Ptxas | None:
    for path in _ptxas_candidates(explicit, environ):
        if path.is_file() and os.access(path, os.X_OK):
            text = _output(path, "--version", environ)
            if text is None:
                continue
            match = re.search(r"release (\d+\.\d+)", text)
            return Ptxas(path, match.group(1) if match else "")
    return None


def _ptxas_candidates(explicit: str | None, environ: Mapping[str, str]) -> Iterator[Path]:
    if explicit is not None:
        yield Path(explicit)
        return
    on_path = shutil.which("ptxas", path=environ.get("PATH"))
    if on_path:
        yield Path(on_path)
    for variable in ("CUDA_HOME", "CUDA_PATH", "CUDA_TOOLKIT_ROOT_DIR"):
        if environ.get(variable):
            yield Path(environ[variable]) / "bin/ptxas"
    yield Path("/usr/local/cuda/bin/ptxas")
    yield from sorted(Path("/usr/local").glob("cuda-*/bin/ptxas"), reverse=True)
    for folder in sys.path:
        yield from sorted((Path(folder) / "nvidia").glob("*/bin/ptxas"), reverse=True)


def _output(path: Path, option: str, environ: Mapping[str, str]) -> str | None:
    """What a version query prints; None when it fails or hangs. Kept as long as the file is the same."""
    kept = Kept(cache_folder(environ) / "tools")
    try:
        state = path.stat()
        key = key_of(str(path), option, str(state.st_size), str(state.st_mtime_ns), str(state.st_ino))
        before = kept.get(key)
        if before is not None:
            return before
        done = subprocess.run(
            [str(path), option], capture_output=True, text=True, timeout=20, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    if done.returncode != 0:
        return None
    kept.put(key, done.stdout)
    return done.stdout
