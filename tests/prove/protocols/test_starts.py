"""A counterexample that needs a signal to be zero is told only where the signal may be zero."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusafe.app import check
from gpusafe.config import Options
from gpusafe.verdict import Verdict

OXIDE = """\
use cuda_core::{CudaContext, DeviceBuffer, LaunchConfig};
use cuda_device::atomic::{AtomicOrdering, DeviceAtomicU32};
use cuda_device::{DisjointSlice, cuda_module, kernel, thread};

#[cuda_module]
mod kernels {
    use super::*;

    #[kernel]
    pub fn set(mut s: DisjointSlice<DeviceAtomicU32>) {
        if thread::threadIdx_x() == 0 { unsafe { (*s.as_mut_ptr()).store(1, AtomicOrdering::Relaxed); } }
    }

    #[kernel]
    pub fn both(s: &[DeviceAtomicU32], mut data: DisjointSlice<u32>) {
        let b = thread::blockIdx_x() as usize;
        if thread::threadIdx_x() != 0 { return; }
        s[b].store(1, AtomicOrdering::Release);
        if s[1 - b].load(AtomicOrdering::Acquire) == 0 { unsafe { *data.as_mut_ptr() += 1; } }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ctx = CudaContext::new(0)?;
    let stream = ctx.default_stream();
    let module = kernels::load(&ctx)?;
    %START%
    let mut data = DeviceBuffer::<u32>::zeroed(&stream, 64)?;
    let config = LaunchConfig { grid_dim: (2, 1, 1), block_dim: (32, 1, 1), shared_mem_bytes: 0 };
    unsafe { module.both(&stream, config, &s, &mut data) }?;
    println!("{:?}", data.to_host_vec(&stream)?);
    Ok(())
}
"""
ZEROED = "let mut s = DeviceBuffer::<u32>::zeroed(&stream, 8)?.cast_elem::<DeviceAtomicU32>();"
SET = """
    let one = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (32, 1, 1), shared_mem_bytes: 0 };
    unsafe { module.set(&stream, one, &mut s) }?;
"""
VARIABLE = """\
__device__ int flags[2]%INIT%;
__global__ void both(int* data) {
    if (threadIdx.x != 0 || blockIdx.x > 1) return;
    atomicExch(&flags[blockIdx.x], 1);
    if (atomicAdd(&flags[1 - blockIdx.x], 0) == 0) { *data = blockIdx.x; }
}
"""


def verdict_of(path: Path, program: str, name: str) -> Verdict:
    path.write_text(program)
    report = check(Options(paths=(str(path),), ptx="never", block=(32, 1, 1), grid=(2, 1, 1)))
    return next(u.verdict for u in report.units if u.name == name)


@pytest.mark.parametrize(
    "start",
    [ZEROED, "let s = DeviceBuffer::from_host(&stream, &vec![0u32; 100])?.cast_elem::<DeviceAtomicU32>();"],
    ids=["zeroed", "zeros copied"],
)
def test_signals_that_start_at_zero_let_both_in(tmp_path: Path, start: str) -> None:
    assert verdict_of(tmp_path / "main.rs", OXIDE.replace("%START%", start), "both") is Verdict.REFUTED


@pytest.mark.parametrize(
    "start",
    [
        "let s = DeviceBuffer::from_host(&stream, &[1u32; 8])?.cast_elem::<DeviceAtomicU32>();",
        "let s = DeviceBuffer::from_host(&stream, &vec![3u32; 100])?.cast_elem::<DeviceAtomicU32>();",
        ZEROED + SET,
    ],
    ids=["ones copied", "many copied", "set by a kernel"],
)
def test_what_starts_otherwise_is_no_error_and_no_proof(tmp_path: Path, start: str) -> None:
    assert verdict_of(tmp_path / "main.rs", OXIDE.replace("%START%", start), "both") is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("init", "expected"),
    [("", Verdict.REFUTED), (" = {0, 0}", Verdict.REFUTED), (" = {1, 1}", Verdict.UNKNOWN)],
    ids=["none", "zero", "one"],
)
def test_a_variable_of_the_device_starts_as_it_says(tmp_path: Path, init: str, expected: Verdict) -> None:
    assert verdict_of(tmp_path / "both.cu", VARIABLE.replace("%INIT%", init), "both") is expected
