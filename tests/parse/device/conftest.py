"""Kernels of the three dialects around a body."""

from __future__ import annotations

import pytest

from gpusafe.ir import kernel as k
from tests.parse.device.lowering_of import CUDA_STD, OXIDE, PLAIN, Lower, lowered


@pytest.fixture
def plain() -> Lower:
    """Lower the body of a kernel for stock rustc: ``plain("*out = 1;", "out: *mut u32")``."""

    def run(body: str, params: str = "out: *mut u32, n: u32", items: str = "") -> k.Kernel:
        text = f'{PLAIN}{items}\npub unsafe extern "ptx-kernel" fn k({params}) {{\n{body}\n}}'
        return lowered(text, "k")

    return run


@pytest.fixture
def cuda_std() -> Lower:
    """Lower the body of a cuda_std kernel."""

    def run(body: str, params: str = "out: *mut u32, n: u32", items: str = "") -> k.Kernel:
        return lowered(f"{CUDA_STD}{items}\n#[kernel]\npub unsafe fn k({params}) {{\n{body}\n}}", "k")

    return run


@pytest.fixture
def oxide() -> Lower:
    """Lower the body of a cuda-oxide kernel."""

    def run(body: str, params: str = "mut out: DisjointSlice<u32>", items: str = "", attributes: str = "") -> k.Kernel:
        inside = f"{items}\n#[kernel]\n{attributes}\npub fn k({params}) {{\n{body}\n}}"
        return lowered(f"{OXIDE}#[cuda_module]\nmod kernels {{\nuse super::*;\n{inside}\n}}", "k")

    return run
