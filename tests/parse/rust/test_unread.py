"""What no front end reads is found all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusafe.parse.rust.unread import unread
from gpusafe.parse.workspace import load


def found(tmp_path: Path, text: str) -> list[str]:
    file = tmp_path / "lib.rs"
    file.write_text(text, encoding="utf-8")
    return sorted(k.name for k in unread(load([file])))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("use cubecl::prelude::*;\n#[cube(launch)]\nfn scale(x: &mut Array<f32>) {}\n#[cube]\nfn part() {}", []),
        ("#[cutile::module]\nmod m {\n  #[cutile::entry()]\n  fn bump(x: &mut Tensor<f32, S>) {}\n}", ["bump"]),
        (
            "use cuda_std::prelude::*;\nmacro_rules! make { ($n:ident) => { #[kernel] pub unsafe fn $n() {} } }\n"
            "make!(a);\nmake!(b);",
            ["make!", "make!"],
        ),
        ("use cuda_std::prelude::*;\nmacro_rules! other { () => { fn f() {} } }\nother!();", []),
        ("use cuda_std::prelude::*;\n#[kernel]\npub unsafe fn read() {}", []),
        ("use cudarc::driver::*;\nfn broken(s: &CudaStream) { let x = ; }\nfn whole(s: &CudaStream) {}", ["broken"]),
    ],
)
def test_each_is_named_once(tmp_path: Path, text: str, names: list[str]) -> None:
    assert found(tmp_path, text) == names
