"""A kernel whose order rests on a flag is proved for flags that are zero; the launches must see to that."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusafe.app import check
from gpusafe.config import Options
from gpusafe.verdict import Verdict

PROGRAM = """
use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::compile_ptx;
const SRC: &str = r#"
extern "C" __global__ void relay(float *out, int *ready) {
    if (threadIdx.x != 0) return;
    int b = blockIdx.x;
    if (b > 0) {
        while (atomicAdd(&ready[b - 1], 0) == 0) { }
        __threadfence();
        out[b] = out[b - 1] + 1.0f;
    } else {
        out[0] = 1.0f;
    }
    __threadfence();
    atomicExch(&ready[b], 1);
}
"#;
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ctx = CudaContext::new(0)?;
    let stream = ctx.default_stream();
    let relay = ctx.load_module(compile_ptx(SRC)?)?.load_function("relay")?;
    let cfg = LaunchConfig { grid_dim: (8, 1, 1), block_dim: (32, 1, 1), shared_mem_bytes: 0 };
    let mut out = stream.alloc_zeros::<f32>(8)?;
    let mut ready = stream.alloc_zeros::<i32>(8)?;
    BODY
    println!("{:?}", stream.clone_dtoh(&out)?);
    Ok(())
}
"""
LAUNCH = "unsafe { stream.launch_builder(&relay).arg(&mut out).arg(&mut ready).launch(cfg)? };"


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        (LAUNCH, Verdict.PROVED),
        (LAUNCH + LAUNCH, Verdict.UNKNOWN),
        (LAUNCH + "stream.memset_zeros(&mut ready)?;" + LAUNCH, Verdict.PROVED),
        ("stream.memcpy_htod(&[1i32; 8], &mut ready)?;" + LAUNCH, Verdict.UNKNOWN),
    ],
)
def test_the_host_is_proved_only_where_the_flags_are_zero(tmp_path: Path, body: str, verdict: Verdict) -> None:
    file = tmp_path / "main.rs"
    file.write_text(PROGRAM.replace("BODY", body), encoding="utf-8")
    units = {u.name: u for u in check(Options(paths=(str(file),), ptx="never")).units}
    assert units["relay"].verdict is Verdict.PROVED
    assert units["main"].verdict is verdict, units["main"].obligations


STATIC = PROGRAM.replace("int *ready) {", ") {").replace("float *out, )", "float *out)")
STATIC = STATIC.replace('extern "C"', '__device__ int ready[8]INIT;\nextern "C"').replace(
    "let mut ready = stream.alloc_zeros::<i32>(8)?;", ""
)
STATIC = STATIC.replace(
    'let relay = ctx.load_module(compile_ptx(SRC)?)?.load_function("relay")?;',
    'let module = ctx.load_module(compile_ptx(SRC)?)?;\n    let relay = module.load_function("relay")?;',
)
START = "unsafe { stream.launch_builder(&relay).arg(&mut out).launch(cfg)? };"
SET = 'let mut flags = module.get_global("ready", &stream)?;\n    stream.memcpy_htod(&[1u8; 32], &mut flags)?;\n    '


@pytest.mark.parametrize(
    ("init", "body", "root", "verdict"),
    [
        ("", START, "main", Verdict.PROVED),
        (" = {0}", START, "main", Verdict.PROVED),
        (" = {1}", START, "main", Verdict.UNKNOWN),
        ("", START + START, "main", Verdict.UNKNOWN),
        ("", START, "again", Verdict.UNKNOWN),
        ("", SET + START, "main", Verdict.UNKNOWN),
    ],
    ids=["no initialiser", "zeros", "a one", "launched twice", "not from main", "written by the host"],
)
def test_a_static_holds_its_zeros_until_something_writes_it(
    tmp_path: Path, init: str, body: str, root: str, verdict: Verdict
) -> None:
    file = tmp_path / "main.rs"
    program = STATIC.replace("INIT", init).replace("BODY", body)
    file.write_text(program.replace("fn main", f"fn {root}"), encoding="utf-8")
    units = {u.name: u for u in check(Options(paths=(str(file),), ptx="never")).units}
    assert units["relay"].verdict is Verdict.PROVED
    assert units[root].verdict is verdict, units
