"""What a crate has rustc read is inside of its tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusafe.codegen_check.crate_source import find_source
from gpusafe.codegen_check.includes import read_outside
from gpusafe.ir.kernel import Kernel
from gpusafe.parse.workspace import load
from gpusafe.span import Span

KERNEL = """
#[no_mangle]
pub unsafe extern "ptx-kernel" fn k() {}
"""


def outside(folder: Path, line: str) -> str | None:
    package = folder / "package"
    (package / "src").mkdir(parents=True)
    (package / "Cargo.toml").write_text('[package]\nname = "package"\nversion = "0.1.0"\nedition = "2021"\n')
    path = package / "src/lib.rs"
    path.write_text(line + KERNEL)
    workspace = load((package,))
    (file,) = (f for f in workspace.sources if f.endswith("lib.rs"))
    source = find_source(workspace, Kernel("k", "crate::k", "ptx-kernel", (), (), (), Span(file, 3, 1, 3, 40)))
    assert source is not None
    return read_outside(source)


@pytest.mark.parametrize(
    "line",
    [
        'const S: &str = include_str!("/etc/hostname");',
        'const S: &[u8] = include_bytes!("../../secret");',
        'const S: &str = include_str!(concat!("../..", "/secret"));',
        "macro_rules! take { ($p:literal) => { include_str!($p) } }",
    ],
)
def test_a_file_outside_of_the_tree_is_told(tmp_path: Path, line: str) -> None:
    assert outside(tmp_path, line) is not None


@pytest.mark.parametrize(
    "line",
    [
        'const S: &str = include_str!("../Cargo.toml");',
        'const S: &str = include_str!(r"table.txt");',
        'const S: &str = include_str!(concat!(env!("OUT_DIR"), "/k.ptx"));',
        '// include_str!("/etc/hostname")',
        "",
    ],
)
def test_files_of_the_crate_may_be_read(tmp_path: Path, line: str) -> None:
    assert outside(tmp_path, line) is None
