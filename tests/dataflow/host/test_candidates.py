"""Which functions of a program count as host functions with GPU work, and which calls lead to them."""

from __future__ import annotations

from gpusafe.dataflow.host.program import SourceUnit, build_program
from gpusafe.dataflow.host.roots import gpu_functions
from gpusafe.parse.rust.build import parse_file
from tests.dataflow.host.walking import CUDARC, main_paths


def candidates(text: str) -> set[str]:
    program = build_program([SourceUnit(parse_file("main.rs", CUDARC + text))], ())
    return {f.path for f in gpu_functions(program)}


GPU_MAP = """
    struct Doubler { stream: Arc<CudaStream> }
    impl Doubler {
        fn map(&self, x: &[f32], y: f32, z: f32) { self.stream.synchronize().unwrap(); }
    }
"""


def test_a_call_with_another_number_of_arguments_is_another_method() -> None:
    found = candidates(GPU_MAP + "fn plain(v: Vec<f32>) -> Vec<f32> { v.into_iter().map(|x| x + 1.0).collect() }")
    assert found == {"Doubler::map"}


def test_a_call_that_fits_a_gpu_method_counts_whatever_its_receiver_is() -> None:
    found = candidates(GPU_MAP + "fn apply<T: Mapper>(t: T, v: &[f32]) { t.map(v, 1.0, 2.0) }")
    assert found == {"Doubler::map", "apply"}


def test_a_default_method_reaches_what_the_impls_put_in_its_hooks() -> None:
    found = candidates("""
        trait Step { fn step(&self); fn run(&self) { self.step(); } }
        struct Gpu { stream: Arc<CudaStream> }
        impl Step for Gpu { fn step(&self) { self.stream.synchronize().unwrap(); } }
        fn main() { let g = make(); g.run(); }
    """)
    assert found == {"Gpu::step", "Step::run", "main"}


def test_the_constructor_of_a_foreign_type_is_no_call_of_an_own_one() -> None:
    found = candidates("""
        struct Gpu { context: Arc<CudaContext> }
        impl Gpu { fn new() -> Gpu { Gpu { context: CudaContext::new(0).unwrap() } } }
        fn list() -> Vec<u8> { Vec::new() }
        fn generic<T: Make>() -> T { T::new() }
    """)
    assert found == {"Gpu::new", "generic"}


def test_a_method_that_std_has_too_counts_only_beside_gpu_types() -> None:
    found = candidates("""
        struct Buffers { out: CudaSlice<f32> }
        struct Text { bytes: Vec<u8> }
        impl Buffers { fn half(&self) { self.out.slice(0..4); } }
        impl Text { fn copy(&self) -> Vec<u8> { self.bytes.to_vec() } }
        fn through(buffers: &Buffers) -> usize { buffers.out.as_slice().len() }
    """)
    assert found == {"Buffers::half", "through"}


def test_a_variable_is_no_mention_of_a_function() -> None:
    found = candidates("""
        fn scale() { let s = CudaContext::new(0).unwrap(); s.synchronize().unwrap(); }
        fn plain(scale: f32) -> f32 { scale * 2.0 }
        fn passes() { apply(scale) }
    """)
    assert found == {"scale", "passes"}


def test_the_own_method_of_a_vector_comes_before_a_traits() -> None:
    (path,) = main_paths(
        CUDARC
        + """
        trait Size { fn len(&self) -> usize; }
        impl<T> Size for Vec<T> { fn len(&self) -> usize { self.len() } }
        fn main() {
            let ctx = CudaContext::new(0).unwrap();
            let v = vec![0f32; 16];
            let d = ctx.default_stream().alloc_zeros::<f32>(v.len()).unwrap();
        }
        """
    )
    assert not [op.label for op in path.ops if "not followed" in op.label]


def test_a_traits_default_function_on_a_scalar_type_is_a_call_of_it() -> None:
    found = candidates("""
        trait Element { fn start(ctx: &Arc<CudaContext>) { ctx.synchronize().unwrap(); } }
        impl Element for f32 {}
        fn go() { f32::start(context()) }
    """)
    assert found == {"Element::start", "go"}


def test_a_function_of_an_associated_type_may_be_any_types_own() -> None:
    found = candidates("""
        struct Gpu { context: Arc<CudaContext> }
        impl Storage for Gpu { fn make(n: usize) -> Gpu { Gpu { context: CudaContext::new(0).unwrap() } } }
        fn go<Backend: HasStorage>() { Backend::Storage::make(4); }
    """)
    assert found == {"Gpu::make", "go"}


def test_a_blanket_impl_does_not_hide_the_impls_of_types() -> None:
    found = candidates("""
        struct Gpu { context: Arc<CudaContext> }
        impl Maker for Gpu { fn make() -> Gpu { Gpu { context: CudaContext::new(0).unwrap() } } }
        impl<T: Plain> Other for T { fn make() -> usize { 1 } }
        fn go<T: Maker>() { T::make(); }
    """)
    assert "go" in found


def test_a_slice_method_of_a_vector_gives_way_to_a_traits() -> None:
    (path,) = main_paths(
        CUDARC
        + """
        trait Halves { fn split_at(&self, n: usize) -> usize; }
        impl Halves for Vec<f32> { fn split_at(&self, n: usize) -> usize { n } }
        fn main() {
            let ctx = CudaContext::new(0).unwrap();
            let v = vec![0f32; 16];
            let d = ctx.default_stream().alloc_zeros::<f32>(v.split_at(3)).unwrap();
        }
        """
    )
    assert [str(m.length.value) for m in path.memory.values() if m.kind == "device"] == ["3"]
