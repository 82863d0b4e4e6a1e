"""Loops over the grid whose counters have 32 bits: what wraps around, what may not, and who says so."""

from __future__ import annotations

from pathlib import Path

from gpusafe.app import check
from gpusafe.config import Options
from gpusafe.verdict import Unit

LOOP = """\
__global__ void add(float* a, const float* b, %TYPE% n) {
    %TYPE% stride = gridDim.x * blockDim.x;
    for (%TYPE% i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) a[i] = b[i];
}
"""
SIXTEENTHS = (16, 1, 1)


def unit(tmp_path: Path, text: str, threads: int | None = None) -> Unit:
    source = tmp_path / "kernel.cu"
    source.write_text(text)
    block = (threads, 1, 1) if threads else None
    return check(Options(paths=(str(source),), ptx="never", block=block, grid=SIXTEENTHS if threads else None)).units[0]


def test_a_signed_counter_does_not_overflow_by_the_rules_of_the_language(tmp_path: Path) -> None:
    found = unit(tmp_path, LOOP.replace("%TYPE%", "int"))
    assert found.verdict.value == "proved"
    assert any("signed loop counters" in words for o in found.obligations for words in o.assumptions)


def test_an_unsigned_counter_may_wrap_and_the_proof_says_that_it_must_not(tmp_path: Path) -> None:
    found = unit(tmp_path, LOOP.replace("%TYPE%", "unsigned"))
    assert found.verdict.value == "proved"
    assert any("wraps around" in words for o in found.obligations for words in o.assumptions)


def test_a_stride_that_divides_the_range_of_the_counter_needs_no_promise(tmp_path: Path) -> None:
    found = unit(tmp_path, LOOP.replace("%TYPE%", "unsigned"), threads=256)
    assert found.verdict.value == "proved"
    assert not any("wrap" in words for o in found.obligations for words in o.assumptions)


def test_a_stride_that_does_not_divide_it_is_safe_only_where_the_counter_cannot_wrap(tmp_path: Path) -> None:
    found = unit(tmp_path, LOOP.replace("%TYPE%", "unsigned"), threads=96)
    said = [words for o in found.obligations for words in o.assumptions if "2^30" in words or "wrap" in words]
    assert found.verdict.value == "unknown" or said


def test_a_stride_that_is_too_short_is_still_a_race(tmp_path: Path) -> None:
    text = LOOP.replace("%TYPE%", "int").replace("gridDim.x * blockDim.x;", "gridDim.x * blockDim.x - 1;")
    assert unit(tmp_path, text, threads=256).verdict.value == "refuted"
