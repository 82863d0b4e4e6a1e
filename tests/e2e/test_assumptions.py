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
    assert "`stride > 0`" in assumptions


def test_the_kernel_is_not_proved_without_it(tmp_path: Path) -> None:
    assert spread(tmp_path, "")[0] != "proved"


CSR = """use cuda_std::prelude::*;
{directive}#[kernel]
pub unsafe fn rows(starts: *const u32, out: *mut f32) {{
    let row = thread::index_1d() as usize;
    let mut k = *starts.add(row);
    while k < *starts.add(row + 1) {{
        *out.add(k as usize) = 1.0;
        k += 1;
    }}
}}
"""
SCATTER = """use cuda_std::prelude::*;
{directive}#[kernel]
pub unsafe fn scatter(to: *const u32, out: *mut f32, n: u32) {{
    let i = thread::index_1d();
    if i < n {{
        *out.add(*to.add(i as usize) as usize) = 1.0;
    }}
}}
"""


def checked(folder: Path, source: str, directive: str) -> tuple[str, tuple[str, ...], list[str]]:
    """The kernel's verdict, its assumptions, and what is said about directives."""
    (folder / "k.rs").write_text(source.format(directive=directive))
    report = check(Options(paths=(str(folder),), ptx="never"))
    (unit,) = report.units
    return unit.verdict.value, unit.assumptions, [f.message for f in report.findings if f.rule == "GS906"]


def test_rows_of_a_sparse_matrix_are_apart_when_their_starts_never_fall(tmp_path: Path) -> None:
    verdict, assumptions, told = checked(tmp_path, CSR, "// gpusafe: assume(monotone(starts))\n")
    assert (verdict, told) == ("proved", [])
    assert "the values of `starts` never fall" in assumptions
    assert checked(tmp_path, CSR, "// gpusafe: assume(injective(starts))\n")[0] == "unknown"


def test_a_scatter_through_an_index_without_repetitions_is_apart(tmp_path: Path) -> None:
    assert checked(tmp_path, SCATTER, "// gpusafe: assume(injective(to))\n")[0] == "proved"
    assert checked(tmp_path, SCATTER, "// gpusafe: assume(monotone(to))\n")[0] == "unknown"


def test_what_contradicts_itself_proves_nothing_and_is_told(tmp_path: Path) -> None:
    for directive in (
        "requires(n > 4 && n < 3)",
        "requires(n > 4)\n// gpusafe: assume(n < 3)",
        "assume(blockDim.x > 2000)",
    ):
        verdict, assumptions, told = checked(tmp_path, SCATTER, f"// gpusafe: {directive}\n")
        assert verdict == "unknown"
        assert told == [
            "what `scatter` requires and assumes contradicts itself: no launch meets it, and it has no effect"
        ]
        assert "what `scatter` requires" not in assumptions


def test_a_condition_that_only_flat_launches_break_is_no_proof_for_flat_launches(tmp_path: Path) -> None:
    assert checked(tmp_path, SCATTER, "// gpusafe: requires(gridDim.y == 2)\n")[0] == "unknown"
