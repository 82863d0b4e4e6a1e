"""From CUDA C text to kernel IR: what is accessed, ordered and guarded, and where the spans point."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import F32, I32, TRUE, U32, Binary, Const, Op, Opaque, Param, PtrAdd, PtrBase, Special, Var
from gpusafe.parse.cuda import lower_source


def _kernel(source: str) -> k.Kernel:
    module = lower_source("f.cu", source)
    assert not module.errors
    (kernel,) = module.kernels
    return kernel


def _body(statements: str, params: str = "float *a, const int *b, int n") -> k.Kernel:
    return _kernel(f'extern "C" __global__ void f({params}) {{\n{statements}\n}}')


def _walk(stmts: tuple[k.Stmt, ...]) -> Iterator[k.Stmt]:
    for stmt in stmts:
        yield stmt
        match stmt:
            case k.If(then=then, orelse=orelse):
                yield from _walk(then)
                yield from _walk(orelse)
            case k.Block(body=body) | k.Loop(body=body):
                yield from _walk(body)


def _all(kernel: k.Kernel, kind: type[k.Stmt]) -> list[k.Stmt]:
    return [s for s in _walk(kernel.body) if isinstance(s, kind)]


def _gaps(kernel: k.Kernel) -> list[str]:
    return [s.what for s in _walk(kernel.body) if isinstance(s, k.Unmodelled)]


# -- the shape of a kernel ---------------------------------------------------------------------------------------------


def test_parameters_and_regions_say_what_the_launch_passes() -> None:
    kernel = _body("", "const float *__restrict__ in, double *out, unsigned n, float4 *v")
    assert [(p.name, p.kind, p.region) for p in kernel.params] == [
        ("in", "pointer", "in"),
        ("out", "pointer", "out"),
        ("n", "scalar", None),
        ("v", "pointer", "v"),
    ]
    assert kernel.params[0].type == F32 and kernel.params[2].type == U32
    assert [(r.name, r.elem_bytes, r.read_only, r.param) for r in kernel.regions] == [
        ("in", 4, True, 0),
        ("out", 8, False, 1),
        ("v", 16, False, 3),
    ]
    assert kernel.dialect == "cuda-c"


def test_shared_arrays_are_regions_of_the_block() -> None:
    kernel = _body("__shared__ float s[8][33]; extern __shared__ int d[]; s[n][1] = 0; d[n] = 1;")
    static, dynamic = kernel.regions[2:]
    assert (static.space, static.length, static.initialized) == (k.Space.SHARED, Const(static.length.type, 264), False)
    assert dynamic.space is k.Space.DYNAMIC_SHARED


def test_a_shared_array_of_a_device_function_is_one_object_however_often_it_is_called() -> None:
    kernel = _kernel("__device__ void g(int v) { __shared__ int s[4]; s[v] = v; }\n__global__ void f() { g(1); g(2); }")
    assert [r.name for r in kernel.regions] == ["s"]


def test_all_dynamic_shared_arrays_are_the_one_allocation() -> None:
    kernel = _body("extern __shared__ float x[]; { extern __shared__ float y[]; y[0] = 1; } x[0] = 1;")
    assert [r.name for r in kernel.regions if r.space is k.Space.DYNAMIC_SHARED] == ["x"]


def test_launch_bounds_are_a_contract() -> None:
    kernel = _kernel("#define T 64\n__global__ void __launch_bounds__(2 * T, 4) f() {}")
    assert kernel.contract.max_threads == 128


def test_module_variables_are_globals_and_regions_without_parameter() -> None:
    module = lower_source(
        "f.cu", "__constant__ float c[3]; __device__ int hits; __global__ void f(float *o) { o[0] = c[1]; hits = 1; }"
    )
    assert [(g.name, g.space, g.elem_bytes, g.length) for g in module.globals] == [
        ("c", k.Space.CONSTANT, 4, 3),
        ("hits", k.Space.GLOBAL, 4, 1),
    ]
    assert [(r.name, r.param, r.read_only) for r in module.kernels[0].regions[1:]] == [
        ("c", None, True),
        ("hits", None, False),
    ]


def test_templates_are_lowered_once_for_each_set_of_arguments() -> None:
    source = """
template <typename T, int N> __global__ void f(T *p) { p[N] = T(0); }
template __global__ void f<float, 2>(float *);
template __global__ void f<int, 3>(int *);
void host() { f<float, 2><<<1, 1>>>(0); }
template <typename T> __global__ void g(T *p) {}
"""
    module = lower_source("f.cu", source)
    assert [(kernel.name, kernel.generic) for kernel in module.kernels] == [
        ("f<float, 2>", False),
        ("f<int, 3>", False),
        ("g", True),
    ]
    assert _gaps(module.kernels[2])


# -- accesses ----------------------------------------------------------------------------------------------------------


def test_compound_assignment_loads_the_right_side_then_the_left_then_stores() -> None:
    kernel = _body("a[n] += b[n];")
    assert [type(s) for s in kernel.body] == [k.Load, k.Load, k.Store]
    regions = [s.ptr.ptr.region for s in kernel.body]
    assert regions == ["b", "a", "a"]


def test_an_unsigned_index_is_widened_without_its_sign() -> None:
    (store,) = _body("a[threadIdx.x] = 1.0f;").body
    assert isinstance(store, k.Store) and isinstance(store.ptr, PtrAdd)
    assert store.ptr.ptr == PtrBase(store.ptr.type, "a")
    assert isinstance(store.ptr.offset, Binary) and store.ptr.offset.nowrap
    assert store.value == Const(F32, 1.0)


def test_mixing_int_and_unsigned_computes_unsigned_and_converts_back() -> None:
    (assign, _) = _body("int i = blockIdx.x * blockDim.x + threadIdx.x; a[i] = 0;").body
    assert isinstance(assign, k.Assign)
    assert assign.value.type == I32
    inner = assign.value.a
    assert inner.type == U32 and not inner.nowrap


def test_a_load_on_the_right_of_and_happens_under_the_left() -> None:
    kernel = _body("if (n > 0 && b[n] == 3) { a[n] = 0; }")
    (outer,) = kernel.body
    assert isinstance(outer, k.If)
    assert outer.cond == Binary(TRUE.type, Op.GT, Param(I32, "n"), Const(I32, 0))
    load, inner = outer.then
    assert isinstance(load, k.Load) and isinstance(inner, k.If)
    assert isinstance(inner.then[0], k.Store)


def test_with_an_else_the_condition_is_kept_in_a_variable() -> None:
    kernel = _body("if (n > 0 && b[n] == 3) { a[0] = 0; } else { a[1] = 0; }")
    assert [type(s) for s in kernel.body] == [k.Assign, k.If, k.If]
    last = kernel.body[-1]
    assert isinstance(last, k.If) and isinstance(last.cond, Var) and last.orelse


def test_a_loop_condition_with_a_load_leaves_before_the_load() -> None:
    kernel = _body("while (n > 0 && b[n] > 0) n--;")
    loop = kernel.body[-1]
    assert isinstance(loop, k.Loop)
    assert [type(s) for s in loop.body] == [k.If, k.Load, k.If, k.Assign]


def test_continue_leaves_a_block_so_that_the_step_still_runs() -> None:
    kernel = _body("for (int i = 0; i < n; ++i) { if (b[i]) continue; a[i] = 0; }")
    loop = kernel.body[-1]
    assert isinstance(loop, k.Loop)
    (block,) = [s for s in loop.body if isinstance(s, k.Block)]
    assert any(isinstance(s, k.Break) and s.label == block.label for s in _walk(block.body))
    assert isinstance(loop.body[-1], k.Assign)


def test_vectors_of_floats_are_one_access_and_vectors_of_integers_are_exact() -> None:
    kernel = _body("float4 x = v[n]; int2 y = w[n]; p[y.y] = x.x;", "float4 *v, int2 *w, float *p, int n")
    sizes = [s.type.bytes for s in _all(kernel, k.Load)]
    assert sizes == [16, 4, 4]


def test_volatile_accesses_are_marked() -> None:
    kernel = _body("while (v[0] == 0) {} ((volatile int *)w)[0] = 1;", "volatile int *v, int *w")
    (load,), (store,) = _all(kernel, k.Load), _all(kernel, k.Store)
    assert load.volatile and store.volatile


def test_stores_in_an_inlined_function_have_the_spans_of_its_own_lines() -> None:
    kernel = _kernel(
        "__device__ void g(float *p, int i) {\n  p[i] = 1;\n}\n__global__ void f(float *a) { g(a + 4, 2); }"
    )
    (store,) = _all(kernel, k.Store)
    assert store.span.line == 2
    assert store.ptr == PtrAdd(store.ptr.type, PtrBase(store.ptr.type, "a"), Const(store.ptr.offset.type, 24))


def test_an_early_return_ends_the_thread_and_an_inlined_one_only_its_function() -> None:
    kernel = _kernel(
        "__device__ int g(int x) { if (x > 2) return 1; return 2; }\n"
        "__global__ void f(int *a, int n) { if (n < 0) return; a[0] = g(n); }"
    )
    assert len(_all(kernel, k.Return)) == 1
    assert len(_all(kernel, k.Break)) == 2


def test_a_recursive_function_is_not_modelled_rather_than_followed_for_ever() -> None:
    kernel = _kernel(
        "__device__ int g(int x) { return x ? g(x - 1) : 0; }\n__global__ void f(int *a) { a[0] = g(a[1]); }"
    )
    assert any("recursive" in gap for gap in _gaps(kernel))


def test_a_known_table_is_its_values_and_not_just_any() -> None:
    kernel = _kernel("constexpr int T[3] = {5, 6, 7};\n__global__ void f(int *a, int i) { a[T[1]] = T[i]; }")
    (store,) = kernel.body
    assert isinstance(store, k.Store)
    assert store.ptr.offset.value == 24
    assert not isinstance(store.value, (Var, Opaque))


# -- order -------------------------------------------------------------------------------------------------------------


def test_barriers_and_fences() -> None:
    kernel = _body(
        "__syncthreads(); __syncwarp(0xff); int c = __syncthreads_count(n > 3); __threadfence(); __threadfence_block();"
    )
    block, warp, count = _all(kernel, k.Barrier)
    assert block == k.Barrier(block.span, k.Scope.BLOCK)
    assert warp.scope is k.Scope.WARP and warp.mask == Const(U32, 255)
    assert count.reduce == "count" and count.var
    assert [(f.order, f.scope) for f in _all(kernel, k.Fence)] == [
        (k.Order.SEQ_CST, k.Scope.DEVICE),
        (k.Order.SEQ_CST, k.Scope.BLOCK),
    ]


@pytest.mark.parametrize(
    ("call", "op", "scope"),
    [
        ("atomicAdd(&h[n], 1u)", "add", k.Scope.DEVICE),
        ("atomicAdd_block(&h[n], 1u)", "add", k.Scope.BLOCK),
        ("atomicMax_system(h, 3u)", "max", k.Scope.SYSTEM),
        ("atomicCAS(h, 0u, 1u)", "cas", k.Scope.DEVICE),
        ("atomicInc(h, 7u)", "inc", k.Scope.DEVICE),
        ("cuda::atomic_ref<unsigned, cuda::thread_scope_block>(h[n]).fetch_add(1u, cuda::memory_order_acquire)", "add",
         k.Scope.BLOCK),
    ],
)  # fmt: skip
def test_atomics(call: str, op: str, scope: k.Scope) -> None:
    kernel = _body(f"unsigned old = {call}; a[old] = 0;", "unsigned *h, float *a, int n")
    (atomic,) = _all(kernel, k.Atomic)
    assert (atomic.op, atomic.scope, atomic.type) == (op, scope, U32)
    order = k.Order.ACQUIRE if "acquire" in call else k.Order.RELAXED
    assert atomic.order is order
    assert not _gaps(kernel)


def test_shuffles_and_votes() -> None:
    kernel = _body("float v = a[n]; v += __shfl_down_sync(0xffffffff, v, 16); if (__any_sync(0xf, v > 0)) a[0] = v;")
    shuffle, vote = _all(kernel, k.WarpOp)
    assert (shuffle.op, shuffle.operands[1:]) == ("shfl_down", (Const(U32, 16), Const(I32, 32)))
    assert (vote.op, vote.mask) == ("any", Const(U32, 15))


def test_cooperative_groups() -> None:
    kernel = _body(
        "namespace cg = cooperative_groups; auto b = cg::this_thread_block(); auto t = cg::tiled_partition<16>(b);\n"
        "b.sync(); cg::this_grid().sync(); t.sync(); int v = t.shfl_down(n, 8); a[v] = t.thread_rank();"
    )
    assert [b.scope for b in _all(kernel, k.Barrier)] == [k.Scope.BLOCK, k.Scope.DEVICE, k.Scope.WARP]
    assert not _gaps(kernel)


def test_pipelined_copies_by_function_and_by_assembly_are_the_same() -> None:
    by_function = _body(
        "__shared__ float s[32]; __pipeline_memcpy_async(&s[n], &a[n], 4);\n"
        "__pipeline_commit(); __pipeline_wait_prior(1);"
    )
    by_assembly = _body(
        "__shared__ float s[32]; unsigned t = __cvta_generic_to_shared(&s[n]);\n"
        'asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(t), "l"(&a[n]));\n'
        'asm volatile("cp.async.commit_group;"); asm volatile("cp.async.wait_group 1;");'
    )
    for kernel in (by_function, by_assembly):
        (copy,) = _all(kernel, k.AsyncCopy)
        assert copy.kind == "cp.async"
        assert [(c.action, c.pending) for c in _all(kernel, k.AsyncControl)] == [("commit", 0), ("wait", 1)]
        assert not _gaps(kernel)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"bar.sync 0;"', k.Barrier),
        ('"bar.sync 1, 64;"', k.Barrier),
        ('"barrier.cluster.arrive.release;"', k.Barrier),
        ('"membar.gl;"', k.Fence),
        ('"fence.acq_rel.gpu;" ::: "memory"', k.Fence),
        ('"fence.proxy.async;"', k.ProxyFence),
        ('"st.global.release.gpu.u32 [%0], %1;" :: "l"(h), "r"(1)', k.Atomic),
        ('"ld.volatile.global.u32 %0, [%1];" : "=r"(x) : "l"(h + 1)', k.Load),
        ('"red.global.add.u32 [%0], 1;" :: "l"(h)', k.Atomic),
        ('"mbarrier.init.shared.b64 [%0], 32;" :: "r"((unsigned)__cvta_generic_to_shared(m))', k.MBarrier),
    ],
)
def test_inline_assembly(text: str, expected: type[k.Stmt]) -> None:
    kernel = _body(
        f"__shared__ unsigned long long m[1]; unsigned x = 0; asm volatile({text}); h[2] = x;", "unsigned *h"
    )
    assert _all(kernel, expected)
    assert not _gaps(kernel)


def test_assembly_loads_set_their_output() -> None:
    kernel = _body(
        'unsigned x; asm volatile("ld.acquire.gpu.u32 %0, [%1+8];" : "=r"(x) : "l"(h)); h[x] = 1;', "unsigned *h"
    )
    (atomic,) = _all(kernel, k.Atomic)
    assert (atomic.op, atomic.order, atomic.ptr.offset.value) == ("load", k.Order.ACQUIRE, 8)


def test_an_address_computed_in_assembly_is_still_the_pointer() -> None:
    kernel = _body(
        "__shared__ int s[8]; unsigned p;\n"
        'asm("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(p) : "l"(s));\n'
        'int v; asm volatile("ld.shared.s32 %0, [%1];" : "=r"(v) : "r"(p)); a[0] = v;'
    )
    assert not _gaps(kernel)
    assert any(isinstance(s, k.Load) for s in kernel.body)


# -- what is not modelled ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "unknown(a);",
        "again: ; goto again;",
        'asm volatile("wgmma.fence.sync.aligned;");',
        "a[0] = undeclared;",
        "new int;",
    ],
)
def test_what_is_not_modelled_is_said_and_costs_that_statement_only(statement: str) -> None:
    kernel = _body(f"{statement} a[1] = 2;")
    assert _gaps(kernel)
    assert _all(kernel, k.Store)


def test_a_call_without_pointers_touches_no_memory() -> None:
    (gap,) = [s for s in _walk(_body("unknown(n);").body) if isinstance(s, k.Unmodelled)]
    assert not gap.accesses


def test_printf_and_float_functions_are_no_gaps() -> None:
    assert not _gaps(_body('printf("%d", n); a[n] = __expf(a[n]) + fmaxf(sqrtf(a[0]), 1.f);'))


def test_a_syntax_error_costs_one_function() -> None:
    module = lower_source(
        "f.cu", "__global__ void bad(int *a) { a[0] = = 1; }\n__global__ void good(int *a) { a[0] = 1; }"
    )
    bad, good = module.kernels
    assert (bad.name, bad.params[0].region) == ("bad", "a")
    assert _gaps(bad) and not _gaps(good)
    assert module.errors[0].line == 1


def test_a_missing_brace_does_not_swallow_the_next_kernel() -> None:
    module = lower_source("f.cu", "__global__ void bad(int *a) { if (1) { a[0] = 1; }\n__global__ void good(int *a) {}")
    assert [kernel.name for kernel in module.kernels][-1] == "good"


@pytest.mark.parametrize("nest", ["(", "{", "if (n) ", "-", "a[", "!"])
def test_deep_nesting_ends_in_an_answer(nest: str) -> None:
    closing = {"(": ")", "{": "}", "a[": "]"}.get(nest, "")
    inner = "1" if nest in ("(", "-", "a[", "!") else ";"
    before = "n = " if nest in ("(", "-", "a[", "!") else ""
    module = lower_source(
        "f.cu", f"__global__ void f(int *a, int n) {{ {before}{nest * 3000}{inner}{closing * 3000}; }}"
    )
    assert len(module.kernels) <= 1
    assert all(_gaps(kernel) for kernel in module.kernels)


def test_a_long_sum_is_no_problem() -> None:
    assert lower_source("f.cu", f"__global__ void f(int *a) {{ a[0] = {' + '.join(['1'] * 3000)}; }}").kernels


_WORDS = """
__global__ void f ( int * a , n ) { } [ ] ; = + - ++ -- && || ? : , < > << >> if for while do switch case 1 2u 3.f
__shared__ template typename T struct :: . -> & return break continue asm "x" 'c' #define #if #endif auto []
float4 __syncthreads() atomicAdd(a,1) sizeof const volatile extern "C" threadIdx.x
"""
_PIECES = st.sampled_from([*_WORDS.split(), "\n"])


@settings(max_examples=150, deadline=None)
@given(st.lists(_PIECES, max_size=60))
def test_no_text_makes_lowering_raise(pieces: list[str]) -> None:
    lower_source("f.cu", "__global__ void f(int *a, int n) {" + " ".join(pieces))
    lower_source("f.cu", " ".join(pieces))


def test_special_registers_are_terms() -> None:
    (store,) = _body("a[0] = warpSize + gridDim.y;").body
    assert isinstance(store, k.Store)
    assert Special(U32, "nctaid.y") in _terms(store.value)


def _terms(term: object) -> list[object]:
    out = [term]
    for name in ("a", "b", "args"):
        inner = getattr(term, name, ())
        for part in inner if isinstance(inner, tuple) else (inner,):
            out += _terms(part) if hasattr(part, "type") else []
    return out


@pytest.mark.parametrize(
    "head", ["void __global__ k", "static __global__ void k", "__global__ static void k", "MY_API __global__ void k",
             "__global__ MY_API void k", "__global__ __attribute__((x)) void k", "template <> __global__ void k<int>"]
)  # fmt: skip
def test_no_kernel_is_passed_over_in_silence(head: str) -> None:
    module = lower_source("f.cu", f"{head}(int *a) {{ a[0] = 1; }}")
    (kernel,) = module.kernels
    assert kernel.name.startswith("k")
    assert _all(kernel, k.Store) or _gaps(kernel)


@pytest.mark.parametrize(
    ("record", "size"),
    [
        ("struct R { char a; int b; };", 8),
        ("struct R { int a; double b; char c; };", 24),
        ("struct __align__(16) R { int a; };", 16),
        ("typedef struct __align__(64) { unsigned x, y; } R;", 64),
        ("struct R { float3 p; float4 v; };", 32),
        ("struct R { union { int i; double d; }; short s[3]; };", 16),
    ],
)
def test_structs_are_laid_out_as_c_does(record: str, size: int) -> None:
    kernel = _kernel(f"{record}\n__global__ void f(R *r, int *o) {{ o[0] = sizeof(R); }}")
    assert kernel.regions[0].elem_bytes == size
    (store,) = kernel.body
    assert isinstance(store, k.Store) and store.value == Const(I32, size)


@pytest.mark.parametrize(
    "record",
    [
        "struct __attribute__((packed)) R { char a; int b; };",
        "#pragma pack(push, 1)\nstruct R { char a; int b; };\n#pragma pack(pop)",
        "struct R { char a; alignas(32) int b; };",
    ],
)
def test_structs_with_another_layout_are_not_modelled(record: str) -> None:
    assert _gaps(_kernel(f"{record}\n__global__ void f(R *r) {{ r[1].b = 1; }}"))


def test_launches_of_the_file_itself_tell_their_geometry() -> None:
    module = lower_source(
        "f.cu",
        "#define B 2\n__global__ void k(int *a) {}\n"
        "int main(int n) { dim3 block(16, 16); const int m = 8; k<<<B, m * 4>>>(0); k<<<n, block>>>(0); }",
    )
    assert [(launch.kernel, launch.grid, launch.block) for launch in module.launches] == [
        ("k", (2, 1, 1), (32, 1, 1)),
        ("k", (None, None, None), (16, 16, 1)),
    ]
