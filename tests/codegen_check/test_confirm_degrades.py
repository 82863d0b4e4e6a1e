"""The stage as a whole when something is missing or broken: statuses with reasons, and never an exception."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusafe.codegen_check import confirm
from gpusafe.codegen_check.toolchain import Ptxas, Rustc, Toolchain
from gpusafe.ir.kernel import Kernel
from gpusafe.parse.workspace import Workspace, load
from gpusafe.span import Span

SOURCE = """\
#![no_std]
#![feature(abi_ptx)]
#[no_mangle]
pub unsafe extern "ptx-kernel" fn k(p: *mut u32) {
    *p = 1;
}
"""


@pytest.fixture
def program(tmp_path: Path) -> tuple[Workspace, Kernel]:
    """A program of one kernel."""
    path = tmp_path / "k.rs"
    path.write_text(SOURCE)
    workspace = load((path,))
    (file,) = workspace.sources
    return workspace, Kernel("k", "crate::k", "ptx-kernel", (), (), (), Span(file, 4, 1, 6, 2))


def fake_rustc(tmp_path: Path, script: str) -> Rustc:
    """A compiler with everything in place that does what the script says."""
    home = tmp_path / "rust"
    (home / "lib/rustlib/nvptx64-nvidia-cuda/lib").mkdir(parents=True)
    path = home / "bin/rustc"
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\ncase "$*" in *shims*) exit 0;; esac\n{script}\n')
    path.chmod(0o755)
    return Rustc(path, "rustc 1.96.0", "rustc 1.96.0", home, None, True)


def reasons(
    program: tuple[Workspace, Kernel], tools: Toolchain, tmp_path: Path, **options: str
) -> set[tuple[str, str]]:
    workspace, kernel = program
    environ = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "PATH": "/usr/bin:/bin"}
    found = confirm([kernel], workspace, (), tools=tools, environ=environ, **options)[kernel.key]
    assert found.obligations == ()
    assert [s.target for s in found.statuses] == ["sm_80", "sm_90"]
    return {(s.status, s.detail) for s in found.statuses}


def test_without_a_compiler_the_kernels_are_skipped(program: tuple[Workspace, Kernel], tmp_path: Path) -> None:
    ((status, detail),) = reasons(program, Toolchain(None, None, "no rustc was found"), tmp_path)
    assert status == "skipped"
    assert "no rustc was found" in detail


def test_in_auto_mode_core_is_not_built(program: tuple[Workspace, Kernel], tmp_path: Path) -> None:
    rustc = fake_rustc(tmp_path, "exit 1")
    bare = Rustc(rustc.path, rustc.version, rustc.identity, rustc.sysroot, tmp_path, False)
    ((status, detail),) = reasons(program, Toolchain(bare, None), tmp_path)
    assert status == "skipped"
    assert "core is not built" in detail


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("kill -9 $$", "signal 9"),
        ("echo 'error: boom' >&2; exit 1", "boom"),
        ("exit 7", "status 7"),
        ("exit 0", "left no PTX"),
        ("echo 'error: internal compiler error: unexpected panic' >&2; exit 101", "internal compiler error"),
        ("echo 'error: failed to write to `/t/x`: No space left on device (os error 28)' >&2; exit 1", "No space left"),
        (
            "echo 'LLVM ERROR: IO failure on output stream: No space left on device' >&2; exit 101",
            "could not do its work",
        ),
        ("echo 'LLVM ERROR: out of memory' >&2; kill -6 $$", "out of memory"),
    ],
)
def test_a_compiler_that_fails_costs_the_confirmation_only(
    program: tuple[Workspace, Kernel], tmp_path: Path, script: str, words: str
) -> None:
    ((status, detail),) = reasons(program, Toolchain(fake_rustc(tmp_path, script), None), tmp_path)
    assert status == "skipped"
    assert words in detail


def test_a_full_disk_is_not_remembered(program: tuple[Workspace, Kernel], tmp_path: Path) -> None:
    lines = ".version 7.0\\n.target sm_80\\n.visible .entry k()\\n{\\nret;\\n}\\n"
    works = f'for a; do case "$a" in asm=*) printf "{lines}" > "${{a#asm=}}";; esac; done'
    full = "echo 'LLVM ERROR: IO failure on output stream: No space left on device' >&2; exit 101"
    script = f"if [ -e {tmp_path}/room ]; then {works}; else {full}; fi"
    tools = Toolchain(fake_rustc(tmp_path, script), None)
    assert {status for status, _ in reasons(program, tools, tmp_path)} == {"skipped"}
    (tmp_path / "room").touch()
    assert {status for status, _ in reasons(program, tools, tmp_path)} == {"confirmed"}


@pytest.mark.parametrize(
    "left", [".version 7.0\\n.target sm_80\\n.visible .entry k()\\n{\\nret;", ".version 7.0\\n.target sm_80\\n"]
)
def test_ptx_that_is_cut_off_is_skipped(program: tuple[Workspace, Kernel], tmp_path: Path, left: str) -> None:
    script = f'for a; do case "$a" in asm=*) printf "{left}" > "${{a#asm=}}";; esac; done'
    ((status, detail),) = reasons(program, Toolchain(fake_rustc(tmp_path, script), None), tmp_path)
    assert status == "skipped"
    assert "does not end" in detail or "no entry" in detail


def test_ptx_that_cannot_be_read_is_skipped(program: tuple[Workspace, Kernel], tmp_path: Path) -> None:
    script = 'for a; do case "$a" in asm=*) echo nonsense > "${a#asm=}";; esac; done'
    ((status, detail),) = reasons(program, Toolchain(fake_rustc(tmp_path, script), None), tmp_path)
    assert status == "skipped"
    assert "could not be read" in detail


def test_a_broken_assembler_is_no_fault_of_the_kernel(program: tuple[Workspace, Kernel], tmp_path: Path) -> None:
    lines = ".version 7.0\\n.target sm_80\\n.visible .entry k()\\n{\\nret;\\n}\\n"
    script = f'for a; do case "$a" in asm=*) printf "{lines}" > "${{a#asm=}}";; esac; done'
    ptxas = tmp_path / "ptxas"
    ptxas.write_text("#!/bin/sh\nexit 134\n")
    ptxas.chmod(0o755)
    tools = Toolchain(fake_rustc(tmp_path, script), Ptxas(ptxas, "13.0"))
    ((status, detail),) = reasons(program, tools, tmp_path)
    assert status == "skipped"
    assert "not assembled" in detail
    ((status, detail),) = reasons(program, Toolchain(tools.rustc, None), tmp_path)
    assert (status, "no ptxas" in detail) == ("confirmed", True)


def test_a_kernel_of_another_compiler_is_skipped(program: tuple[Workspace, Kernel]) -> None:
    workspace, kernel = program
    cuda = Kernel("c", "c", "cuda-c", (), (), (), kernel.span)
    (status, _) = confirm([cuda], workspace, ("sm_90", "sm_120"))[cuda.key].statuses
    assert status.status == "skipped"


def test_a_flag_that_is_refused_says_so(tmp_path: Path) -> None:
    path = tmp_path / "k.rs"
    path.write_text("//! rustc-flags: -C linker=/tmp/evil\n" + SOURCE)
    workspace = load((path,))
    kernel = Kernel("k", "crate::k", "ptx-kernel", (), (), (), Span(next(iter(workspace.sources)), 5, 1, 7, 2))
    ((_, detail),) = reasons((workspace, kernel), Toolchain(fake_rustc(tmp_path, "exit 0"), None), tmp_path)
    assert "linker" in detail
