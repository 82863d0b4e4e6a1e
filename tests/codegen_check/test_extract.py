"""Cutting one kernel out of its crate."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusafe.codegen_check.extract import Extracted, extract
from gpusafe.codegen_check.extract.lex import names_in, tokens
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.build import parse_file

PROGRAM = """\
//! A program.
use cuda_core::{CudaContext, DeviceBuffer};
use cuda_device::{DisjointSlice, cuda_module, kernel, thread};
use std::mem::swap;

/// How wide a row is.
const WIDTH: usize = 16;
const HOST_ONLY: usize = 99;

#[derive(Clone, Copy, serde::Serialize)]
struct Pair {
    a: u32,
}

impl Pair {
    fn sum(self) -> u32 {
        self.a
    }
    fn upload(self, ctx: &CudaContext) {}
}

#[cuda_module]
mod kernels {
    use super::*;

    /// Doubles.
    #[kernel]
    pub fn double(mut out: DisjointSlice<u32>, pair: Pair) {
        let i = thread::index_1d();
        for k in 0..WIDTH {}
        if let Some(v) = out.get_mut(i) { *v = pair.sum(); }
    }

    #[kernel]
    pub fn other() {}
}

fn main() {
    let context = CudaContext::new(HOST_ONLY);
}
"""


def kernel_of(items: tuple[ast.Item, ...]) -> ast.Fn:
    """The first kernel."""
    for item in items:
        if isinstance(item, ast.Mod) and item.items:
            return kernel_of(item.items)
        if isinstance(item, ast.Fn) and (item.attribute("kernel") or item.abi == "ptx-kernel"):
            return item
    raise AssertionError("no kernel")


def cut(text: str, **sizes: int) -> Extracted:
    """The first kernel of a file, cut out."""
    file = parse_file("main.rs", text)
    bytes_at = {("main.rs", int(line.removeprefix("line"))): size for line, size in sizes.items()}
    return extract({(): (file, file.items)}, kernel_of(file.items), Path("/extract"), bytes_at)


def root_of(extracted: Extracted) -> str:
    return extracted.files[extracted.root]


def test_what_the_kernel_needs_stays_on_its_lines() -> None:
    lines, source = root_of(cut(PROGRAM)).splitlines(), PROGRAM.splitlines()
    for number, line in enumerate(source):
        if any(mark in line for mark in ("const WIDTH", "thread::index_1d", "out.get_mut", "struct Pair", "fn sum")):
            assert lines[number] == line


@pytest.mark.parametrize(
    "gone", ["CudaContext", "HOST_ONLY", "fn main", "fn other", "fn upload", "serde", "//", "swap"]
)
def test_what_only_the_host_needs_is_gone(gone: str) -> None:
    assert gone not in root_of(cut(PROGRAM))


def test_the_kernel_becomes_an_entry_of_stock_rustc() -> None:
    assert '#[unsafe(no_mangle)] pub extern "ptx-kernel" fn double(' in root_of(cut(PROGRAM))


def test_an_import_of_an_unknown_crate_that_the_kernel_uses_is_named() -> None:
    text = PROGRAM.replace("use std::mem::swap;", "use glam::Vec3;").replace("pair.sum()", "Vec3::ONE.x")
    assert cut(text).foreign == ("glam::Vec3",)


SHARED = """\
#[kernel]
pub fn k() {
    static mut TILE: SharedArray<f32, 64> = SharedArray::UNINIT;
    let p = &raw mut TILE as *mut f32;
    unsafe { TILE[3] = self::helper(self.TILE) };
}
"""


def test_a_shared_static_becomes_a_function_on_the_same_line() -> None:
    lines = root_of(cut(SHARED)).splitlines()
    assert "fn TILE() -> *mut SharedArray<f32, 64>" in lines[2]
    assert "&raw mut (*TILE()) as *mut f32" in lines[3]
    assert "(*TILE())[3]" in lines[4]
    assert "self.TILE" in lines[4]


def test_the_size_of_a_shared_static_is_the_irs_or_the_types() -> None:
    assert "gpusafe_s0_0_TILE[256]" in root_of(cut(SHARED, line3=256))
    assert "size_of::<SharedArray<f32, 64>>()" in root_of(cut(SHARED))


def test_file_modules_are_found_beside_the_root() -> None:
    root = parse_file("src/main.rs", "mod shapes;\n#[kernel]\npub fn k() { shapes::area() }\n")
    shapes = parse_file("src/shapes.rs", "use std::fs;\npub fn area() {}\npub fn save() { fs::write() }\n")
    made = extract({(): (root, root.items), ("shapes",): (shapes, shapes.items)}, kernel_of(root.items), Path("/x"), {})
    (other,) = (name for name in made.files if name != made.root)
    assert f'#[path = "{other}"] pub mod shapes;' in made.files[made.root]
    assert "fn area" in made.files[other]
    assert "save" not in made.files[other]
    assert made.origin[other] == "src/shapes.rs"


def test_features_of_the_crate_are_kept() -> None:
    assert cut("#![feature(f16, abi_ptx)]\n" + SHARED).features == ("f16", "abi_ptx")


def test_a_launch_context_is_bound() -> None:
    text = SHARED.replace("#[kernel]", "#[kernel(launch_context = lc)]")
    assert "let lc = &cuda_device::thread::LaunchContext;" in root_of(cut(text)).splitlines()[1]


def test_names_in_ranges_strings_and_comments_are_told_apart() -> None:
    names = names_in("for i in 0..COUNT { x.field(); mod_a::f(\"NAME\", 'c', 'a'); /* /* GONE */ */ } // GONE")
    assert {"COUNT", "mod_a", "x"} <= names.free
    assert {"field", "f"} <= names.members
    assert not {"NAME", "GONE"} & (names.free | names.members)


def test_a_lifetime_is_no_character() -> None:
    assert [t.kind for t in tokens("'a 'x'")] == ["lifetime", "string"]
