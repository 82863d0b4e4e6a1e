"""Values of constants."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusafe.parse.consteval import Const, ConstEval, Place
from gpusafe.parse.resolve import Local, Resolver
from gpusafe.parse.rust.macros import parse_expr_text, parse_type_text
from gpusafe.parse.workspace import load
from gpusafe.span import Span

AT = Span("x.rs", 1, 100, 1, 100)


def evaluator(folder: Path, text: str) -> ConstEval:
    path = folder / "lone.rs"
    path.write_text(f"use cust::prelude::Stream;\n{text}")
    workspace = load([path])
    return ConstEval(Resolver(workspace, workspace.crates[0]))


def value_of(folder: Path, text: str, expr: str, **env: int | bool) -> object:
    parsed = parse_expr_text(expr, AT)
    assert parsed is not None
    found = evaluator(folder, text).expr(parsed, Place(), env)
    return found.value if found is not None else None


def named(folder: Path, text: str, name: str = "X") -> Const | None:
    e = evaluator(folder, text)
    found = e.resolver.resolve((), (name,))
    assert isinstance(found, Local)
    return e.item(found)


def size_of(folder: Path, text: str, given: str) -> int | None:
    parsed = parse_type_text(given, AT)
    assert parsed is not None
    layout = evaluator(folder, text).layout(parsed, Place())
    return layout.size if layout is not None else None


@pytest.mark.parametrize(
    ("expr", "value"),
    [
        ("1 + 2 * 3", 7),
        ("(1 << 10) / 3", 341),
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("300u32 as u8", 44),
        ("-1i32 as u32", 0xFFFF_FFFF),
        ("!0 as u16", 0xFFFF),
        ("!0u8", 255),
        ("1000u32.div_ceil(256)", 4),
        ("33usize.next_power_of_two()", 64),
        ("4.min(3).max(1)", 3),
        ("u32::MAX", 0xFFFF_FFFF),
        ("250u8.wrapping_add(10)", 4),
        ("250u8.saturating_add(10)", 255),
        ("std::cmp::max(3, 4)", 4),
        ("core::mem::size_of::<[f32; 4]>()", 16),
        ("size_of::<*const u8>() + std::mem::align_of::<u64>()", 16),
        ("[10, 20, 30][1]", 20),
        ("(1, true).1", True),
        ("[0u8; 5].len()", 5),
        ("if 3 > 2 && !false { 1 } else { 2 }", 1),
        ("match 5 { 1 | 2 => 1, 3..=9 => 2, _ => 3 }", 2),
        ('concat!("a", 1, true)', "a1true"),
        ("'a' as u32", 97),
        ("2.5f32 as i32", 2),
        ("1u64 << 40", 1 << 40),
        ("u32::pow(2, 5)", 32),
        ("u32::from(7u8)", 7),
    ],
)
def test_expressions(tmp_path: Path, expr: str, value: object) -> None:
    assert value_of(tmp_path, "", expr) == value


@pytest.mark.parametrize(
    "expr",
    [
        "255u8 + 1",
        "1u32 - 2",
        "1 / 0",
        "1 % 0",
        "1u32 << 32",
        "1 << 99999999999999",
        "unknown + 1",
        "f(1)",
        "1u8 + 1u16",
        "-1i32 == 1u32",
        "9999999999999999999999999999999999999999999999",
        "2.pow(9999999)",
        "[1, 2][5]",
        "[0; 99999999999]",
        "x.y.z",
        "loop {}",
        "|x| x",
        "1 << 31",  # its type decides the sign
    ],
)
def test_what_has_no_known_value_is_none(tmp_path: Path, expr: str) -> None:
    assert value_of(tmp_path, "", expr) is None


def test_items_over_items_with_their_types(tmp_path: Path) -> None:
    text = """
        mod sizes { pub const TILE: usize = 16; pub const HALF: usize = TILE / 2; }
        use sizes::*;
        const ALL: [usize; 2] = [TILE, HALF];
        static S: u32 = ALL[0] as u32 + 1;
        const X: u32 = S * 2;
    """
    assert named(tmp_path, text) == Const(34, "u32")


def test_a_mutable_static_is_no_constant(tmp_path: Path) -> None:
    assert named(tmp_path, "static mut X: u32 = 1;") is None


def test_constants_in_circles_are_none(tmp_path: Path) -> None:
    assert named(tmp_path, "const X: u32 = Y; const Y: u32 = X + 1;") is None


def test_associated_constants_and_enums(tmp_path: Path) -> None:
    text = """
        struct T; impl T { const N: usize = 4; const M: usize = Self::N * 2; }
        enum E { A, B = 7, C }
        const X: usize = T::M + E::C as usize;
    """
    assert named(tmp_path, text) == Const(16, "usize")


def test_const_functions_with_loops_and_const_generics(tmp_path: Path) -> None:
    text = """
        const fn log2(mut n: u32) -> u32 { let mut k = 0; while n > 1 { n >>= 1; k += 1; } k }
        const fn clamp(x: u32) -> u32 { if x > 10 { return 10; } x }
        const fn twice<const N: usize>() -> usize { N * 2 }
        const fn bytes<T>(n: usize) -> usize { n * core::mem::size_of::<T>() }
        const fn hash(x: u32) -> u32 { let mut h = x; let mut i = 0;
            loop { if i == 3 { break; } i += 1; if i == 2 { continue; } h = h.wrapping_mul(31) ^ 0x9e37_79b9; } h }
        const X: (u32, u32, usize, usize, u32) = (log2(1024), clamp(99), twice::<8>(), bytes::<u16>(3), hash(5));
    """
    found = named(tmp_path, text)
    h = 5
    for _ in range(2):
        h = ((h * 31) & 0xFFFF_FFFF) ^ 0x9E37_79B9
    assert found is not None and isinstance(found.value, tuple)
    assert [c.value for c in found.value if isinstance(c, Const)] == [10, 10, 16, 6, h]


@pytest.mark.parametrize(
    "body", ["loop {}", "f(x)", "let mut i = 0; while true { i += 1; if i > 1 { continue; } } i", "{ x; }"]
)
def test_functions_without_end_are_none(tmp_path: Path, body: str) -> None:
    assert named(tmp_path, f"const fn f(x: u32) -> u32 {{ {body} }} const X: u32 = f(1);") is None


def test_an_environment_gives_const_parameters(tmp_path: Path) -> None:
    assert value_of(tmp_path, "const K: usize = 2;", "N * K + 1", N=8) == 17


def test_a_literal_takes_the_expected_type(tmp_path: Path) -> None:
    e = evaluator(tmp_path, "")
    parsed = parse_expr_text("3 + 4", AT)
    assert parsed is not None
    assert e.expr(parsed, Place(), expect="u16") == Const(7, "u16")


@pytest.mark.parametrize(
    ("given", "size"),
    [
        ("Plain", 12),
        ("InC", 16),
        ("Pair<u64, u8>", 16),
        ("(u8, u32, u8)", 8),
        ("&[f32]", 16),
        ("&f32", 8),
        ("Small", 1),
        ("Word", 4),
        ("Alias", 8),
        ("[Plain; 3]", 36),
        ("Packed", None),
        ("Data", None),
        ("Unknown", None),
        ("half::f16", 2),
    ],
)
def test_sizes_of_types(tmp_path: Path, given: str, size: int | None) -> None:
    text = """
        struct Plain { a: u8, b: f64bits, c: u16, d: u32 } type f64bits = [u16; 2];
        #[repr(C)] struct InC { a: u8, b: u64 }
        struct Pair<A, B>(A, B);
        enum Small { A, B } #[repr(u32)] enum Word { A } enum Data { A(u8) }
        #[repr(packed)] struct Packed { a: u8, b: u64 }
        type Alias = u64;
    """
    assert size_of(tmp_path, text, given) == size
