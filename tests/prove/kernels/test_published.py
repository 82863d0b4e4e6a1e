"""Values that one thread of a block writes for all, and totals of a block's own counters."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusafe.app import check
from gpusafe.config import Options

RESERVE = """
__global__ void reserve(const int *in, int *out, int *count) {
    __shared__ int start;
    if (threadIdx.x == 0) start = atomicAdd(count, 32);
    __syncthreads();
    out[start + threadIdx.x] = in[blockIdx.x * 32 + threadIdx.x];
}
"""
QUEUE = """
__global__ void queue(const float *in, float *out, int *next) {
    __shared__ int item;
    while (true) {
        if (threadIdx.x == 0) item = atomicAdd(next, 1);
        __syncthreads();
        int k = item;
        __syncthreads();
        if (k >= 9) break;
        out[k * 32 + threadIdx.x] = in[k * 32 + threadIdx.x];
    }
}
"""
KEEP = """
__global__ void keep(const int *in, int *out, int *count, int n) {
    __shared__ int used, start;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) used = 0;
    __syncthreads();
    int slot = -1, v = 0;
    if (i < n) {
        v = in[i];
        if (v > 0) slot = atomicAdd(&used, 1);
    }
    __syncthreads();
    if (threadIdx.x == 0) start = atomicAdd(count, used);
    __syncthreads();
    if (slot >= 0) out[start + slot] = v;
}
"""


def verdict(tmp_path: Path, text: str) -> str:
    file = tmp_path / "kernel.cu"
    file.write_text(text, encoding="utf-8")
    report = check(Options(paths=(file,), ptx="never", jobs=1, block=(32, 1, 1), grid=(4, 1, 1)))
    return report.units[0].verdict.value


@pytest.mark.parametrize("text", [RESERVE, QUEUE, KEEP], ids=["a part", "an item", "what is kept"])
def test_what_one_thread_reserves_for_its_block_is_the_blocks_own(tmp_path: Path, text: str) -> None:
    assert verdict(tmp_path, text) == "proved"


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (RESERVE, "atomicAdd(count, 32)", "atomicAdd(count, 31)"),
        (RESERVE, "start + threadIdx.x", "start + threadIdx.x * 2"),
        (RESERVE, "    __syncthreads();\n", ""),
        (RESERVE, "threadIdx.x == 0)", "threadIdx.x < 2)"),
        (RESERVE, "__syncthreads();", "__syncthreads(); if (threadIdx.x == 1) start = 0; __syncthreads();"),
        (RESERVE, "threadIdx.x == 0)", "threadIdx.x == 0 && in[0] > 0)"),
        (RESERVE, "threadIdx.x == 0)", "threadIdx.x == 32)"),
        (QUEUE, "int k = item;\n        __syncthreads();", "int k = item;"),
        (QUEUE, "k * 32", "k * 31"),
        (KEEP, "used = 0;\n    __syncthreads();", "used = 0;"),
        (KEEP, "    __syncthreads();\n    if (threadIdx.x == 0) start", "    if (threadIdx.x == 0) start"),
        (KEEP, "atomicAdd(count, used)", "atomicAdd(count, used - 1)"),
        (KEEP, "slot = atomicAdd(&used, 1);", "slot = 2 * atomicAdd(&used, 1);"),
        (KEEP, "if (threadIdx.x == 0) used = 0;", "if (threadIdx.x == 50) used = 0;"),
        (KEEP, "atomicAdd(&used, 1)", "atomicAdd(&used, -1)"),
    ],
)
def test_without_one_of_its_parts_it_is_not(tmp_path: Path, text: str, old: str, new: str) -> None:
    assert old in text
    assert verdict(tmp_path, text.replace(old, new)) != "proved"


LAST = """
__global__ void total(float *p, unsigned *count, float *out) {
    __shared__ bool last;
    int t = threadIdx.x;
    p[blockIdx.x * 32 + t] = t;
    __syncthreads();
    if (t == 0) {
        __threadfence();
        unsigned n = atomicAdd(count, 1u);
        last = n == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last) {
        float sum = 0;
        for (int i = 0; i < gridDim.x; i++) sum += p[i * 32 + (t + 1) % 32];
        out[t] = sum;
    }
}
"""


def test_one_thread_gives_and_takes_a_signal_for_its_block(tmp_path: Path) -> None:
    assert verdict(tmp_path, LAST) == "proved"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("= t;\n    __syncthreads();", "= t;"),
        (
            "= t;\n    __syncthreads();\n    if (t == 0) {\n        __threadfence();",
            "= t;\n    __syncthreads();\n    if (t == 0) {",
        ),
        ("__threadfence();\n        unsigned", "__threadfence_block();\n        unsigned"),
        ("- 1;\n        __threadfence();", "- 1;"),
        ("    __syncthreads();\n    if (last)", "    if (last)"),
        ("gridDim.x - 1", "gridDim.x - 2"),
        ("if (t == 0)", "if (t == 0 && blockIdx.x > 0)"),
        ("n == gridDim.x - 1", "n == 0"),
    ],
)
def test_without_a_fence_or_barrier_the_block_has_no_signal(tmp_path: Path, old: str, new: str) -> None:
    assert old in LAST
    assert verdict(tmp_path, LAST.replace(old, new)) != "proved"
