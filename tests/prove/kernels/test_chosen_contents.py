"""Counterexamples for which the replay chooses what is in memory, and when it may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusafe.app import check
from gpusafe.config import Options

PROGRAM = """use cudarc::driver::{{CudaContext, LaunchConfig, PushKernelArg}};
const SRC: &str = r#"
extern "C" __global__ void k(const unsigned *a, const unsigned *b, unsigned *out, unsigned *count) {{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned lane = threadIdx.x % 32;
    {body}
}}
"#;
fn main() -> Result<(), Box<dyn std::error::Error>> {{
    let ctx = CudaContext::new(0)?;
    let stream = ctx.default_stream();
    let k = ctx.load_module(cudarc::nvrtc::compile_ptx(SRC)?)?.load_function("k")?;
    let a = stream.alloc_zeros::<u32>(1025)?;
    let b = stream.alloc_zeros::<u32>(4096)?;
    let mut out = stream.alloc_zeros::<u32>({places})?;
    let mut count = stream.alloc_zeros::<u32>(1)?;
    let cfg = LaunchConfig {{ grid_dim: (8, 1, 1), block_dim: (128, 1, 1), shared_mem_bytes: 0 }};
    unsafe {{ stream.launch_builder(&k).arg(&a).arg(&b).arg(&mut out).arg(&mut count).launch(cfg)? }};
    Ok(())
}}
"""
ROWS = "for (unsigned e = a[i]; e < a[i + 1]; e++) out[b[e]] += 1;"
LEADERS = "unsigned k = b[i] % 16; unsigned g = __match_any_sync(~0u, k); if (lane == __ffs(g) - 1) out[k] += 1;"
FLAGS = "if (a[i] < 500) out[b[i]] = 1;"
APPEND = """unsigned mask = __ballot_sync(~0u, b[i] > 0);
    unsigned base = 0;
    if (lane == 0) base = atomicAdd(count, {by});
    base = __shfl_sync(~0u, base, 0);
    if (b[i] > 0) out[base + __popc(mask & ((1u << lane) - 1u))] = i;"""


@pytest.mark.parametrize(
    ("body", "places", "verdict"),
    [
        (ROWS, 64, "refuted"),
        (ROWS, 4096, "unknown"),
        (LEADERS, 16, "refuted"),
        (LEADERS, 64, "unknown"),
        (FLAGS, 64, "unknown"),
        (APPEND.format(by="1u"), 4096, "refuted"),
    ],
)
def test_contents_are_chosen_where_they_must_collide(tmp_path: Path, body: str, places: int, verdict: str) -> None:
    (tmp_path / "k.rs").write_text(PROGRAM.format(body=body, places=places))
    units = check(Options(paths=(str(tmp_path),), ptx="never")).units
    assert [u.verdict.value for u in units if u.kind == "kernel"] == [verdict]
