"""Which texts have to do with GPUs."""

from __future__ import annotations

import pytest

from gpusafe.parse.workspace_gpu_text import mentions_gpu


@pytest.mark.parametrize(
    "text",
    [
        "use cudarc::driver::CudaStream;",
        "use cust::prelude::*;",
        'extern "ptx-kernel" fn k() {}',
        "#[kernel] fn k() {}",
        "#[cuda_device::kernel(x)] fn k() {}",
        "use core::arch::nvptx;",
        "use core::arch::{nvptx as p};",
        'const SRC: &str = r#"extern "C" __global__ void k() {}"#;',
        "fn f(s: &CudaStream) {}",
        "launch!(m.f<<<1, 1, 0, s>>>())",
        "extern { fn cudaMemcpyAsync(); }",
    ],
)
def test_gpu_code(text: str) -> None:
    assert mentions_gpu(text)


@pytest.mark.parametrize(
    "text",
    [
        "fn main() {}",
        "// use cudarc::driver::CudaStream",
        "/* #[kernel] */ fn f() {}",
        'println!("cudarc");',
        "fn customer(locust: u8) {}",
        "fn kernel_size() {} #[inline] fn kernel() {}",
        "// __global__ void k()",
    ],
)
def test_other_code(text: str) -> None:
    assert not mentions_gpu(text)
