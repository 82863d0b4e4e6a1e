"""Refutations on paths whose conditions are not modelled: one may go either way, two may depend on each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusafe.app import check
from gpusafe.config import Options
from gpusafe.verdict import Verdict

PROGRAM = """
use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::compile_ptx;
use std::sync::Arc;

const SRC: &str = r#"
extern "C" __global__ void fill(float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 100) out[i] = 1.0f;
}
"#;

#[derive(Clone, Copy, PartialEq)]
enum Mode { Quick, Exact }

fn wants(kind: &str) -> bool { kind.starts_with("x") }

fn run(ctx: &Arc<CudaContext>, kind: &str, mode: Mode) -> Result<(), Box<dyn std::error::Error>> {
    unsafe { ctx.disable_event_tracking() };
    let f = ctx.load_module(compile_ptx(SRC)?)?.load_function("fill")?;
    let (a, b) = (ctx.new_stream()?, ctx.new_stream()?);
    let mut out = a.alloc_zeros::<f32>(100)?;
    a.synchronize()?;
    let cfg = LaunchConfig::for_num_elems(100);
    BODY
    a.synchronize()?;
    b.synchronize()?;
    Ok(())
}
"""
ON_A = "unsafe { a.launch_builder(&f).arg(&mut out).launch(cfg)? };"
ON_B = "unsafe { b.launch_builder(&f).arg(&mut out).launch(cfg)? };"


def verdict(folder: Path, body: str) -> Verdict:
    file = folder / "run.rs"
    file.write_text(PROGRAM.replace("BODY", body))
    (unit,) = (u for u in check(Options(paths=(str(file),), ptx="never")).units if u.name == "run")
    return unit.verdict


@pytest.mark.parametrize(
    "body",
    [
        f"if wants(kind) {{ {ON_A} }} if wants(kind) {{ a.synchronize()?; }} {ON_B}",
        f"if mode == Mode::Quick {{ {ON_A} }} match mode {{ Mode::Quick => a.synchronize()?, _ => {{}} }} {ON_B}",
        f"let s = if wants(kind) {{ &a }} else {{ &b }}; {ON_A.replace('a.l', 's.l')} "
        f"let t = if wants(kind) {{ &a }} else {{ &b }}; {ON_A.replace('a.l', 't.l')}",
        f"if wants(kind) {{ {ON_A} }} if !wants(kind) {{ {ON_B} }}",
    ],
)
def test_conditions_that_may_depend_on_each_other_make_no_error(tmp_path: Path, body: str) -> None:
    assert verdict(tmp_path, body) is not Verdict.REFUTED


@pytest.mark.parametrize(
    "body",
    [
        f"if wants(kind) {{ {ON_A} }} {ON_B}",
        f"{ON_A} if wants(kind) {{ a.synchronize()?; }} {ON_B}",
        f"if wants(kind) {{ if kind.is_empty() {{ {ON_A} {ON_B} }} }}",
        f"if kind.is_empty() || wants(kind) {{ return Ok(()); }} {ON_A} {ON_B}",
        f"if wants(kind) {{ {ON_A} }} if kind.is_empty() {{ b.synchronize()?; }} {ON_B}",
    ],
)
def test_a_race_that_needs_one_of_them_is_one(tmp_path: Path, body: str) -> None:
    assert verdict(tmp_path, body) is Verdict.REFUTED
