"""Appends of which one lane of each warp reserves the places: ranks, shuffled tickets, and what breaks them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusafe.app import check
from gpusafe.config import Options

PROGRAM = """use cudarc::driver::{{CudaContext, LaunchConfig, PushKernelArg}};
const SRC: &str = r#"
extern "C" __global__ void append(const int *x, int *kept, unsigned *count) {{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned lane = threadIdx.x % 32;
    bool keep = x[i] > 0;
    unsigned mask = __ballot_sync(0xffffffffu, keep);
    unsigned base = 0;
    {body}
}}
"#;
fn main() -> Result<(), Box<dyn std::error::Error>> {{
    let ctx = CudaContext::new(0)?;
    let stream = ctx.default_stream();
    let k = ctx.load_module(cudarc::nvrtc::compile_ptx(SRC)?)?.load_function("append")?;
    let x = stream.alloc_zeros::<i32>(1024)?;
    let mut kept = stream.alloc_zeros::<i32>(1024)?;
    let mut count = stream.alloc_zeros::<u32>(1)?;
    let cfg = LaunchConfig {{ grid_dim: (8, 1, 1), block_dim: (128, 1, 1), shared_mem_bytes: 0 }};
    unsafe {{ stream.launch_builder(&k).arg(&x).arg(&mut kept).arg(&mut count).launch(cfg)? }};
    Ok(())
}}
"""
LEADER = "if (lane == 0) base = atomicAdd(count, (unsigned)__popc(mask)); base = __shfl_sync(~0u, base, 0); "
BELOW = "unsigned rank = __popc(mask & ((1u << lane) - 1u)); "
STORE = "if (keep) kept[base + rank] = x[i];"


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        (LEADER + BELOW + STORE, "proved"),
        (LEADER.replace("if (lane == 0)", "if (lane == 0 && mask)") + BELOW + STORE, "proved"),
        (LEADER + BELOW.replace("lane)", "(31 - lane))") + STORE, "refuted"),
        (LEADER + BELOW + STORE.replace("if (keep) ", ""), "refuted"),
        (LEADER.replace("lane == 0", "lane == 1") + BELOW + STORE, "refuted"),
        (LEADER.replace("base = __shfl_sync(~0u, base, 0);", "") + BELOW + STORE, "refuted"),
        (LEADER.replace("__popc(mask)", "__popc(mask) / 2") + BELOW + STORE, "refuted"),
        (LEADER.replace("__popc(mask)", "__popc(mask >> 1)") + BELOW + STORE, "refuted"),
        (LEADER + BELOW + STORE.replace("rank", "rank / 2"), "refuted"),
    ],
)
def test_each_lane_gets_a_place_of_its_own_or_not(tmp_path: Path, body: str, verdict: str) -> None:
    (tmp_path / "k.rs").write_text(PROGRAM.format(body=body))
    units = check(Options(paths=(str(tmp_path),), ptx="never")).units
    assert [u.verdict.value for u in units if u.kind == "kernel"] == [verdict]


def test_a_leader_that_the_vote_chooses(tmp_path: Path) -> None:
    lowest = LEADER.replace("lane == 0", "lane == __ffs(mask) - 1").replace("base, 0)", "base, __ffs(mask) - 1)")
    (tmp_path / "k.rs").write_text(PROGRAM.format(body=lowest + BELOW + STORE))
    units = check(Options(paths=(str(tmp_path),), ptx="never")).units
    assert [u.verdict.value for u in units if u.kind == "kernel"] == ["proved"]
