"""What a proof rests on is listed with it."""

from __future__ import annotations

from pathlib import Path

from gpusafe.app import check
from gpusafe.config import Options

KERNEL = """use cuda_std::prelude::*;
{directive}#[kernel]
pub unsafe fn spread(out: *mut f32, stride: u32) {{
    *out.add(thread::index_1d() as usize * stride as usize) = 1.0;
}}
"""


def spread(folder: Path, directive: str) -> tuple[str, tuple[str, ...]]:
    (folder / "k.rs").write_text(KERNEL.format(directive=directive))
    (unit,) = check(Options(paths=(str(folder),), ptx="never")).units
    return unit.verdict.value, unit.assumptions


def test_what_the_user_requires_is_an_assumption_of_the_proof(tmp_path: Path) -> None:
    verdict, assumptions = spread(tmp_path, "// gpusafe: requires(stride > 0)\n")
    assert verdict == "proved"
    assert "what `spread` requires" in assumptions


def test_the_kernel_is_not_proved_without_it(tmp_path: Path) -> None:
    assert spread(tmp_path, "")[0] != "proved"
