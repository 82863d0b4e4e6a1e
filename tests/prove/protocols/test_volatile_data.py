"""Data behind a volatile pointer, handed over by locks and flags: volatile takes the place of no order."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusafe.app import check
from gpusafe.config import Options

LOCKED = """\
__device__ int lock = 0;
__global__ void add(volatile unsigned* total) {
    if (threadIdx.x == 0 || threadIdx.x == 32) {
        while (atomicCAS%SCOPE%(&lock, 0, 1) != 0) {}
        %TAKEN%
        *total = threadIdx.x;
        %GIVEN%
        atomicExch%SCOPE%(&lock, 0);
    }
}
void run(unsigned* total) { add<<<%BLOCKS%, 33>>>(total); }
"""
PUBLISHED = """\
__device__ int flag = 0;
__device__ int seen = 0;
__global__ void pass(volatile int* letter) {
    if (blockIdx.x == 0) {
        *letter = 7;
        %GIVEN%
        atomicExch(&flag, 1);
    } else {
        while (atomicAdd(&flag, 0) != 1) {}
        %TAKEN%
        seen = *letter;
    }
}
void run(int* letter) { pass<<<2, 1>>>(letter); }
"""
FENCE, BLOCK_FENCE = "__threadfence();", "__threadfence_block();"


def verdict(tmp_path: Path, program: str, taken: str, given: str, scope: str = "", blocks: int = 1) -> str:
    text = program.replace("%TAKEN%", taken).replace("%GIVEN%", given)
    source = tmp_path / "program.cu"
    source.write_text(text.replace("%SCOPE%", scope).replace("%BLOCKS%", str(blocks)))
    return check(Options(paths=(str(source),), ptx="never")).units[0].verdict.value


@pytest.mark.parametrize(("scope", "fence", "blocks"), [("", FENCE, 2), ("_block", BLOCK_FENCE, 1)])
def test_a_lock_with_its_fences_keeps_volatile_data(tmp_path: Path, scope: str, fence: str, blocks: int) -> None:
    assert verdict(tmp_path, LOCKED, fence, fence, scope, blocks) == "proved"


@pytest.mark.parametrize(
    ("taken", "given", "scope", "blocks"),
    [
        ("", FENCE, "", 2),
        (FENCE, "", "", 2),
        (BLOCK_FENCE, FENCE, "", 2),
        (BLOCK_FENCE, BLOCK_FENCE, "_block", 2),
        (BLOCK_FENCE, "", "_block", 1),
    ],
)
def test_a_lock_that_lacks_an_order_or_a_scope_does_not(
    tmp_path: Path, taken: str, given: str, scope: str, blocks: int
) -> None:
    assert verdict(tmp_path, LOCKED, taken, given, scope, blocks) == "refuted"


def test_a_letter_needs_its_fence_and_a_reader_without_one_is_left_open(tmp_path: Path) -> None:
    assert verdict(tmp_path, PUBLISHED, FENCE, FENCE) == "proved"
    assert verdict(tmp_path, PUBLISHED, FENCE, "") == "refuted"
    assert verdict(tmp_path, PUBLISHED, "", FENCE) == "unknown"
