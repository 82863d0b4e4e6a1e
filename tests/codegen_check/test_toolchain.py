"""Finding a compiler and an assembler, and saying what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusafe.codegen_check.core_library import SetupError, ready_sysroot, setup_core
from gpusafe.codegen_check.toolchain import Rustc, find


def bare(tmp_path: Path) -> dict[str, str]:
    """An environment with nothing on the path and a cache of its own."""
    return {"PATH": "", "XDG_CACHE_HOME": str(tmp_path / "own-cache")}


def program(path: Path, text: str) -> Path:
    """A shell script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def compiler(home: Path, text: str = "echo 'rustc 1.96.0 (test)'") -> Path:
    """A compiler that comes with the library's source."""
    source = home / "lib/rustlib/src/rust/library/core/src/lib.rs"
    source.parent.mkdir(parents=True)
    source.write_text("")
    return program(home / "bin/rustc", text)


def test_a_compiler_with_the_library_source_is_taken(tmp_path: Path) -> None:
    path = compiler(tmp_path)
    found = find(rustc=str(path), environ=bare(tmp_path))
    assert found.rustc is not None
    assert found.rustc.release == (1, 96, 0)
    assert found.rustc.library == tmp_path / "lib/rustlib/src/rust/library"


def test_a_compiler_without_target_and_source_is_named_in_the_reason(tmp_path: Path) -> None:
    path = program(tmp_path / "bin/rustc", "echo 'rustc 1.96.0'")
    found = find(rustc=str(path), environ=bare(tmp_path))
    assert found.rustc is None
    assert "neither nvptx64-nvidia-cuda nor the library source" in found.why


def test_a_compiler_that_does_not_run_is_named_in_the_reason(tmp_path: Path) -> None:
    path = compiler(tmp_path, "exit 3")
    assert "does not run" in find(rustc=str(path), environ=bare(tmp_path)).why


def test_a_rustup_proxy_is_never_started(tmp_path: Path) -> None:
    mark = tmp_path / "started"
    rustup = program(tmp_path / "bin/rustup", f"touch {mark}; echo 'rustc 1.96.0'")
    (tmp_path / "bin/rustc").symlink_to(rustup)
    found = find(rustc=str(tmp_path / "bin/rustc"), environ=bare(tmp_path))
    assert found.rustc is None
    assert not mark.exists()


def test_rustups_toolchains_are_found_in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler(tmp_path / "toolchains/nightly-x")
    monkeypatch.setattr(
        "gpusafe.codegen_check.toolchain._is_rustup_proxy",
        lambda path: not str(path).startswith(str(tmp_path)),  # hide this machine's own compilers
    )
    found = find(environ={**bare(tmp_path), "RUSTUP_HOME": str(tmp_path)})
    assert found.rustc is not None
    assert found.rustc.path == tmp_path / "toolchains/nightly-x/bin/rustc"


def test_ptxas_is_found_in_a_toolkit_and_asked_for_its_version(tmp_path: Path) -> None:
    program(tmp_path / "bin/ptxas", "echo 'Cuda compilation tools, release 13.0, V13.0.88'")
    found = find(environ={**bare(tmp_path), "CUDA_HOME": str(tmp_path)})
    assert found.ptxas is not None
    assert found.ptxas.version == "13.0"


def a_rustc(tmp_path: Path, text: str) -> Rustc:
    path = compiler(tmp_path / "rust", text)
    library = tmp_path / "rust/lib/rustlib/src/rust/library"
    return Rustc(path, "rustc 1.96.0", "rustc 1.96.0", tmp_path / "rust", library, False)


def test_a_build_that_fails_says_why_and_leaves_nothing(tmp_path: Path) -> None:
    rustc = a_rustc(tmp_path, "echo 'error: no space left on device' >&2; exit 1")
    environ = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    with pytest.raises(SetupError, match="no space left"):
        setup_core(rustc, environ)
    assert ready_sysroot(rustc, environ) is None
    assert [p.suffix for p in (tmp_path / "cache/gpusafe/core").iterdir()] == [".lock"]


def test_a_build_that_is_killed_says_so(tmp_path: Path) -> None:
    rustc = a_rustc(tmp_path, "kill -9 $$")
    with pytest.raises(SetupError, match="signal 9"):
        setup_core(rustc, {"XDG_CACHE_HOME": str(tmp_path / "cache")})


def test_a_finished_build_is_used_again(tmp_path: Path) -> None:
    count = tmp_path / "count"
    rustc = a_rustc(tmp_path, f"echo x >> {count}")
    environ = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    first = setup_core(rustc, environ)
    assert setup_core(rustc, environ) == first == ready_sysroot(rustc, environ)
    assert count.read_text().count("x") == 2  # core and compiler_builtins, once each


def test_a_cache_that_cannot_be_written_is_an_error_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file, not a folder")
    with pytest.raises(SetupError, match="cannot keep core"):
        setup_core(a_rustc(tmp_path, "true"), {"XDG_CACHE_HOME": str(tmp_path / "cache")})
