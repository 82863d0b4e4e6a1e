"""Sizes of launches for kernels of CUDA C files: those of the command line, and those of the file's own launches."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusafe.app import check
from gpusafe.config import Options, parse_extent
from gpusafe.verdict import Verdict

RING = """
__global__ void ring(int *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i % 32] = i;
}
"""


def verdict(folder: Path, text: str, **options: tuple[int, int, int]) -> Verdict:
    file = folder / "ring.cu"
    file.write_text(text)
    (unit,) = (u for u in check(Options(paths=(str(file),), ptx="never", **options)).units if u.kind == "kernel")  # type: ignore[arg-type]
    return unit.verdict


def test_sizes_of_the_command_line_decide(tmp_path: Path) -> None:
    assert verdict(tmp_path, RING) is Verdict.REFUTED
    assert verdict(tmp_path, RING, block=(32, 1, 1), grid=(1, 1, 1)) is Verdict.PROVED
    assert verdict(tmp_path, RING, block=(33, 1, 1), grid=(1, 1, 1)) is Verdict.REFUTED
    assert verdict(tmp_path, RING, block=(16, 2, 1), grid=(1, 1, 1)) is Verdict.REFUTED


@pytest.mark.parametrize(
    ("launch", "expected"),
    [
        ("ring<<<1, 32>>>(a, 1000);", Verdict.PROVED),
        ("ring<<<2, 64>>>(a, 32);", Verdict.PROVED),
        ("ring<<<2, 64>>>(a, 33);", Verdict.REFUTED),
        ("ring<<<1, 32>>>(a, 1000); ring<<<1, 64>>>(a, 1000);", Verdict.REFUTED),
        ("ring<<<1, dim3(16, 2)>>>(a, 1000);", Verdict.REFUTED),
    ],
)
def test_launches_of_the_file_decide(tmp_path: Path, launch: str, expected: Verdict) -> None:
    assert verdict(tmp_path, RING + "int main() { int *a; " + launch + " }") is expected


def test_a_counterexample_keeps_to_what_the_user_requires(tmp_path: Path) -> None:
    strided = """
__global__ void scale(float *a, int step) {
    // gpusafe: requires(step == blockDim.x)
    for (int i = threadIdx.x; i < 100 * step; i += step) a[i] *= 2.0f;
}
"""
    assert verdict(tmp_path, strided, block=(512, 1, 1), grid=(1, 1, 1)) is Verdict.PROVED
    assert verdict(tmp_path, strided.replace("==", "<="), block=(512, 1, 1), grid=(1, 1, 1)) is Verdict.REFUTED
    nothing_to_show = strided.replace("step ==", "step % 2 == 1 && step ==")
    assert verdict(tmp_path, nothing_to_show, block=(512, 1, 1), grid=(1, 1, 1)) is not Verdict.REFUTED


@pytest.mark.parametrize(
    "body", ["memcpy(&a[threadIdx.x], 0, 4);", "table[threadIdx.x] = a[threadIdx.x];", "*(int *)nullptr = 1;"]
)
def test_what_no_program_may_do_is_not_proved(tmp_path: Path, body: str) -> None:
    text = "__constant__ int table[64]; __global__ void odd(int *a) { " + body + " }"
    assert verdict(tmp_path, text, block=(64, 1, 1), grid=(1, 1, 1)) is Verdict.UNKNOWN


def test_an_extent_has_one_to_three_sizes() -> None:
    assert parse_extent("256") == (256, 1, 1)
    assert parse_extent("16x8") == (16, 8, 1)
    for wrong in ("", "0", "1,2,3,4", "-1", "a"):
        with pytest.raises(ValueError, match="is not a size"):
            parse_extent(wrong)
