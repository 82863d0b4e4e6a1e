"""Jumps, self-named types, vector functions and stated conditions, as benchmark suites write them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import Binary, Const, Param
from gpusafe.parse.cuda import lower_source, lower_sources
from gpusafe.parse.workspace import load
from gpusafe.prove.kernels import check_kernel
from gpusafe.verdict import Verdict


def _kernel(source: str) -> k.Kernel:
    module = lower_source("f.cu", source)
    assert not module.errors
    return module.kernels[-1]


def _body(statements: str) -> k.Kernel:
    return _kernel(f"__global__ void f(float *a, const int *b, int n) {{\n{statements}\n}}")


def _launched(statements: str) -> k.Kernel:
    launch = "void host(float *a, const int *b) { f<<<4, 64>>>(a, b, 256); }"
    return _kernel(f"__global__ void f(float *a, const int *b, int n) {{\n{statements}\n}}\n{launch}")


def _walk(stmts: tuple[k.Stmt, ...]) -> Iterator[k.Stmt]:
    for stmt in stmts:
        yield stmt
        match stmt:
            case k.If(then=then, orelse=orelse):
                yield from _walk(then)
                yield from _walk(orelse)
            case k.Block(body=body) | k.Loop(body=body):
                yield from _walk(body)


def _gaps(kernel: k.Kernel) -> list[str]:
    return [s.what for s in _walk(kernel.body) if isinstance(s, k.Unmodelled)]


def _verdicts(kernel: k.Kernel) -> set[Verdict]:
    return {o.verdict for o in check_kernel(kernel).obligations}


# -- goto --------------------------------------------------------------------------------------------------------------


def test_a_jump_forwards_leaves_a_block_that_ends_at_the_label() -> None:
    kernel = _body("if (n > 3) goto end; a[threadIdx.x] = 1; end: a[0 * n] = a[0];")
    assert not _gaps(kernel)
    block = next(s for s in kernel.body if isinstance(s, k.Block))
    assert any(isinstance(s, k.Break) and s.label == block.label for s in _walk(block.body))
    assert any(isinstance(s, k.Store) for s in block.body)


def test_a_jump_out_of_loops_passes_what_lies_between() -> None:
    text = "for (int i = 0; i < n; i++) { while (b[i] > 0) { if (b[i] == 7) goto next; } a[i] = 1; next: ; }"
    assert not _gaps(_body(text))


def test_two_labels_nest_and_a_skipped_barrier_is_divergence() -> None:
    text = "if (threadIdx.x == 0) goto second; __syncthreads(); first: if (n > 9) goto second; second: ;"
    kernel = _body(text)
    assert not _gaps(kernel)
    found = {o.rule for o in check_kernel(kernel).obligations if o.verdict is Verdict.REFUTED}
    assert found == {"GS203"}


def test_a_jump_backwards_is_said_to_be_not_modelled() -> None:
    assert any("goto again" in gap for gap in _gaps(_body("again: a[0] = 1; if (n > 3) goto again;")))


# -- declarations ------------------------------------------------------------------------------------------------------


def test_a_struct_may_have_a_typedef_of_its_own_name() -> None:
    source = """
    typedef struct Ball { float3 at; float r; } Ball;
    typedef struct Node { Ball ball; unsigned kind; } Node;
    __constant__ Node nodes[4];
    __global__ void f(float *out) {
        Node n(nodes[threadIdx.x]); Ball s = n.ball; s.at.x += 1.0f; out[threadIdx.x] = s.at.x;
    }
    """
    assert not _gaps(_kernel(source))


def test_a_variable_that_looks_like_a_prototype_is_a_variable() -> None:
    assert not _gaps(
        _body("float r = a[n]; float square(r * r), first(a[threadIdx.x]); a[threadIdx.x] = square + first;")
    )


def test_an_object_becomes_a_pointer_by_its_conversion_operator() -> None:
    source = """
    template <class T> struct Shared {
        __device__ operator T *() { extern __shared__ int bytes[]; return (T *)bytes; }
        __device__ operator const T *() const { extern __shared__ int bytes[]; return (T *)bytes; }
    };
    __global__ void f(int *a) { int *s = Shared<int>(); s[threadIdx.x] = 1; __syncthreads(); a[threadIdx.x] = s[0]; }
    """
    kernel = _kernel(source)
    assert not _gaps(kernel)
    assert {r.space for r in kernel.regions} == {k.Space.GLOBAL, k.Space.DYNAMIC_SHARED}
    assert "PtrUnknown" not in repr(kernel.body)


# -- functions of the samples' headers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        "fminf(make_float3(x, 0, 1), make_float3(1.f)).x",
        "clamp(x, 0.f, 1.f)",
        "fabs(make_float2(x, x)).y",
        "CUDART_PI_F",
    ],
)
def test_vector_functions_and_constants_need_no_definition(value: str) -> None:
    assert not _gaps(_body(f"float x = a[threadIdx.x]; a[threadIdx.x] = {value};"))


def test_clamp_of_integers_is_exact_enough_to_prove_an_index() -> None:
    text = "__shared__ int s[64]; s[clamp((int)threadIdx.x, 0, 1023)] = 1;"
    kernel = _kernel(f"__global__ __launch_bounds__(64) void f(float *a) {{ {text} }}")
    assert _verdicts(kernel) == {Verdict.PROVED}


# -- what a source states ----------------------------------------------------------------------------------------------


def test_a_condition_of_a_parameter_that_the_body_changes_is_about_what_was_passed() -> None:
    kernel = _body("__requires(n == 64); n = n + 1; a[n * blockIdx.x + threadIdx.x] = 1;")
    (cond,) = kernel.requires
    assert isinstance(cond, Binary) and isinstance(cond.a, Param) and isinstance(cond.b, Const)


def test_a_condition_of_a_thread_is_not_taken_for_one_of_the_launch() -> None:
    kernel = _body("__requires(threadIdx.x == 0); a[0] = threadIdx.x;")
    assert not kernel.requires
    assert kernel.unheld
    assert not _gaps(kernel)


def test_a_condition_that_is_left_out_turns_a_race_into_no_answer_and_leaves_proofs_alone() -> None:
    index = "int t = threadIdx.x + blockIdx.x * blockDim.x;"
    stated = f"{index} __requires(b[t] != b[__other_int(t)]);"
    assert Verdict.REFUTED in _verdicts(_launched(f"{index} a[n] = t;"))
    excluded = _verdicts(_launched(f"{stated} a[n] = t;"))
    assert Verdict.UNKNOWN in excluded and Verdict.REFUTED not in excluded
    assert _verdicts(_launched(f"{stated} a[t] = t;")) == {Verdict.PROVED}


def test_powers_of_two_and_implications_are_conditions_of_the_launch() -> None:
    kernel = _body("__requires(__is_pow2(n)); __requires(__implies(n > 4, n < 100));")
    assert len(kernel.requires) == 2
    assert not kernel.unheld


# -- headers beside the tree -------------------------------------------------------------------------------------------


def test_a_file_checked_alone_may_include_a_header_of_the_folder_above(tmp_path: Path) -> None:
    (tmp_path / "bench" / "one").mkdir(parents=True)
    (tmp_path / "bench" / "shared.h").write_text("#define WIDTH 16\n")
    file = tmp_path / "bench" / "one" / "kernel.cu"
    file.write_text('#include "../shared.h"\n__global__ void f(int *a) { a[threadIdx.x % WIDTH] = 1; }\n')
    ((_, module),) = lower_sources(load([file]))
    assert not _gaps(module.kernels[0])
