"""Kernels and their parameters as launches pass them."""

from __future__ import annotations

from gpusafe.ir.expr import F32, U32, Const, Length, Param
from gpusafe.ir.kernel import LaunchContract, Space
from tests.parse.device.lowering_of import Lower, lowered, unmodelled


def test_each_dialect_has_its_kernels() -> None:
    plain = lowered('#[no_mangle] pub unsafe extern "gpu-kernel" fn k(n: u32) {}')
    std = lowered("use cuda_std::prelude::*; #[kernel] pub unsafe fn k(n: u32) {}")
    oxide = lowered(
        "use cuda_device::{kernel, cuda_module}; #[cuda_module] mod m { use super::*; #[kernel] fn k() {} }"
    )
    assert [x.dialect for x in (plain, std, oxide)] == ["ptx-kernel", "cuda_std", "cuda-oxide"]
    assert oxide.path == "crate::m::k"


def test_the_name_is_the_one_that_launches_use() -> None:
    made = lowered('#[unsafe(export_name = "fast_add")] pub unsafe extern "ptx-kernel" fn add(n: u32) {}')
    assert made.name == "fast_add"


def test_a_slice_takes_two_arguments_with_cust_and_one_with_cuda_oxide(cuda_std: Lower, oxide: Lower) -> None:
    assert cuda_std("", "xs: &[f32]").params[0].slots == 2
    assert oxide("", "xs: &[f32]").params[0].slots == 1


def test_references_tell_what_may_be_written(plain: Lower) -> None:
    made = plain("", "a: &[f32], b: &mut [u64], c: &AtomicU32, d: *const u32, e: &[f32; 32], f: &mut u8")
    regions = {r.name: r for r in made.regions}
    assert [regions[n].read_only for n in "abcdef"] == [True, False, False, False, True, False]
    assert [regions[n].exclusive for n in "abcdef"] == [False, True, False, False, False, True]
    assert [regions[n].elem_bytes for n in "abcdef"] == [4, 8, 4, 4, 4, 1]
    assert regions["a"].length == Length(regions["b"].length.type, "a")  # type: ignore[union-attr]
    assert regions["d"].length is None
    assert [getattr(regions[n].length, "value", None) for n in "cef"] == [1, 32, 1]
    assert [p.kind for p in made.params] == ["slice", "slice_mut", "pointer", "pointer", "pointer", "pointer"]


def test_a_struct_parameter_is_one_argument_with_a_scalar_for_each_field(plain: Lower) -> None:
    made = plain(
        "*p.to.add(p.n as usize) = p.by;",
        "p: Job",
        "#[repr(C)] #[derive(Clone, Copy)] struct Job { to: *mut f32, n: u32, by: f32 }",
    )
    assert [(p.name, p.kind, p.slots) for p in made.params] == [("p", "opaque", 1)]
    store = made.body[0]
    assert store.value == Param(F32, "p.by")  # type: ignore[attr-defined]
    assert made.regions[0].param == 0


def test_a_runtime_row_width_is_a_parameter_of_the_launch(oxide: Lower) -> None:
    made = oxide("let w = out.row_width();", "mut out: DisjointSlice<f32, thread::Runtime2DIndex>")
    assert made.params[0].row_width == "out.row_width"
    assert made.params[0].kind == "disjoint"
    assert made.regions[0].exclusive


def test_uniform_scalars_are_plain_scalars(oxide: Lower) -> None:
    made = oxide("let x = n.get();", "n: Uniform<u32>")
    assert (made.params[0].kind, made.params[0].type) == ("scalar", U32)


def test_attributes_make_the_launch_contract(oxide: Lower) -> None:
    attributes = (
        "#[launch_bounds(256, 2)]\n#[cluster_launch(4, 1, 1)]\n#[cooperative_launch]\n"
        "#[launch_contract(domain = 1, block = (BLOCK, 1, 1), dynamic_shared = 2 * 1024)]"
    )
    made = oxide("", items="const BLOCK: u32 = 64;", attributes=attributes)
    assert made.contract == LaunchContract((64, 1, 1), 256, 1, (4, 1, 1), True, 2048)


def test_type_parameters_are_taken_from_the_attribute_or_left_open() -> None:
    text = "use cuda_device::{kernel, DisjointSlice};\n#[kernel(f64)]\npub fn k<T: Copy>(xs: &[T]) {}"
    made = lowered(text)
    assert made.regions[0].elem_bytes == 8
    open_ = lowered(text.replace("(f64)", ""))
    assert open_.generic


def test_statics_live_where_their_type_says(oxide: Lower) -> None:
    items = (
        "#[constant] static TAPS: ConstantMemory<[f32; 3]> = ConstantMemory::UNINIT;\n"
        "static mut TOTAL: u64 = 0;\nstatic HITS: DeviceAtomicU32 = DeviceAtomicU32::new(0);"
    )
    body = (
        "static mut TILE: SharedArray<f32, 64> = SharedArray::UNINIT; static mut BAR: Barrier = Barrier::UNINIT;\n"
        "unsafe { TILE[0] = TAPS.get()[1]; TOTAL += 1; mbarrier_init(&raw mut BAR, 1); }\n"
        "HITS.fetch_add(1, AtomicOrdering::Relaxed);"
    )
    made = oxide(body, items=items)
    regions = {r.name: r for r in made.regions}
    assert unmodelled(made) == []
    assert [regions[n].space for n in ("TILE", "BAR", "TAPS", "TOTAL", "HITS")] == [
        Space.SHARED,
        Space.SHARED,
        Space.CONSTANT,
        Space.GLOBAL,
        Space.GLOBAL,
    ]
    assert not regions["TILE"].initialized
    assert regions["TILE"].length == Const(regions["TILE"].length.type, 64)  # type: ignore[union-attr]


def test_two_functions_of_one_name_under_cfg_are_not_guessed_between(plain: Lower) -> None:
    items = '#[cfg(feature = "a")] fn f() -> u32 { 1 }\n#[cfg(not(feature = "a"))] fn f() -> u32 { 2 }'
    assert unmodelled(plain("*out = f();", items=items)) == ["which `f` conditional compilation picks"]


def test_code_for_the_host_only_is_not_there(plain: Lower) -> None:
    host = '#[cfg(not(target_arch = "nvptx64"))] fn f() -> u32 { panic!() }'
    items = host + '#[cfg(target_arch = "nvptx64")] fn f() -> u32 { 7 }'
    made = plain("*out = f();", items=items)
    assert unmodelled(made) == []
    assert len(made.body) == 1


def test_kernels_that_a_macro_makes_are_found() -> None:
    text = (
        "macro_rules! filler { ($name:ident, $t:ty) => {\n"
        '#[no_mangle] pub unsafe extern "ptx-kernel" fn $name(out: *mut $t)'
        " { *out = 3 as $t; } } }\nfiller!(fill_u8, u8);\nfiller!(fill_f64, f64);"
    )
    from gpusafe.parse.rust.build import parse_file
    from gpusafe.parse.rust.device import lower_file

    made = lower_file(parse_file("lib.rs", text))
    assert {x.name: x.regions[0].elem_bytes for x in made.kernels} == {"fill_u8": 1, "fill_f64": 8}
    assert {x.name: x.span.line for x in made.kernels} == {"fill_u8": 3, "fill_f64": 4}
