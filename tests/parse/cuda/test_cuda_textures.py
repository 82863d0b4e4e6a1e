"""Textures, surfaces, random states and the vector functions of NVIDIA's samples."""

from __future__ import annotations

from gpusafe.ir import kernel as k
from gpusafe.parse.cuda import lower_source
from gpusafe.prove.kernels import check_kernel
from gpusafe.verdict import Verdict


def _kernel(source: str) -> k.Kernel:
    (kernel,) = lower_source("f.cu", source).kernels
    return kernel


def _gap(stmts: tuple[k.Stmt, ...]) -> bool:
    return any(isinstance(s, k.Unmodelled) for s in stmts)


def test_a_fetch_is_a_value_and_what_it_takes_for_granted_is_listed() -> None:
    kernel = _kernel(
        "texture<uchar4, 2, cudaReadModeNormalizedFloat> tex;\n"
        "__global__ void f(float4 *out) { out[threadIdx.x] = tex2D(tex, threadIdx.x, 0) * 2.0f; }"
    )
    assert not _gap(kernel.body)
    assert "the kernel does not write what it reads through the texture `tex`" in kernel.granted
    assert any("helper_math.h" in words for words in kernel.granted)
    assert set(kernel.granted) <= set(check_kernel(kernel).assumptions)


def test_threads_that_write_one_place_of_a_surface_are_not_proved() -> None:
    text = (
        "__global__ __launch_bounds__(64) void f(cudaSurfaceObject_t s) "
        "{ surf2Dwrite(1.0f, s, (threadIdx.x AT) * 4, blockIdx.x); }"
    )
    meet = check_kernel(_kernel(text.replace("AT", "/ 2"))).obligations
    assert meet and not all(o.verdict is Verdict.PROVED for o in meet)


def test_a_surface_that_clamps_its_coordinates_is_a_gap() -> None:
    kernel = _kernel(
        "__global__ void f(cudaSurfaceObject_t s) { surf1Dwrite(1.0f, s, threadIdx.x * 4, cudaBoundaryModeClamp); }"
    )
    assert _gap(kernel.body)


def test_a_random_number_reads_and_writes_its_state() -> None:
    kernel = _kernel("__global__ void f(curandState *s, float *r) { r[threadIdx.x] = curand_uniform(&s[0]); }")
    kinds = [type(s) for s in kernel.body]
    assert k.Load in kinds and kinds.count(k.Store) == 2
