"""The arguments of macro calls, with spans of the file."""

from __future__ import annotations

import pytest

from gpusafe.parse.rust import ast
from gpusafe.parse.rust.build import parse_file
from gpusafe.parse.rust.macros import (
    parse_args,
    parse_array_type,
    parse_block_text,
    parse_expr_text,
    parse_fields,
    parse_items_text,
    parse_launch,
    parse_type_text,
    parse_vec,
)
from gpusafe.span import Span


def call(text: str) -> ast.MacroCall:
    (function,) = parse_file("x.rs", f"fn f() {{ {text} }}").items
    assert isinstance(function, ast.Fn) and function.body is not None
    built = function.body.tail
    assert isinstance(built, ast.MacroCall)
    return built


def source(text: str, span: Span) -> str:
    """What stands at a span of ``fn f() { text }``."""
    lines = f"fn f() {{ {text} }}".split("\n")[span.line - 1 : span.end_line]
    lines[-1] = lines[-1][: span.end_col - 1]
    lines[0] = lines[0][span.col - 1 :]
    return "\n".join(lines)


def test_arguments_stand_where_they_are_written() -> None:
    text = 'm!(é.a(1), /* b, */ "c,",\n   &mut d[..], // e\n  )'
    args = parse_args(call(text))
    assert args is not None
    assert [source(text, arg.span) for arg in args] == ["é.a(1)", '"c,"', "&mut d[..]"]


@pytest.mark.parametrize("text", ["m!(a b)", "m!(x in y)", "m!(a) + (b)", "m!(in(reg) x)"])
def test_what_is_no_list_of_expressions_gives_none(text: str) -> None:
    (function,) = parse_file("x.rs", f"fn f() {{ {text}; }}").items
    assert isinstance(function, ast.Fn) and function.body is not None
    (stmt,) = function.body.stmts
    assert isinstance(stmt, ast.ExprStmt)
    if isinstance(stmt.expr, ast.MacroCall):
        assert parse_args(stmt.expr) is None


def test_text_cannot_leave_its_wrapper() -> None:
    at = Span("x.rs", 1, 50, 1, 60)
    assert parse_expr_text("a) + (b", at) is None
    assert parse_expr_text("a); f(b", at) is None
    assert parse_block_text("} fn g() {", at) is None
    assert parse_type_text("u8; type B = u16", at) is None


def test_format_strings_name_their_captures() -> None:
    args = parse_args(call('println!("{x} {{no}} {a:?} {0} {n}", z, n = 3)'))
    assert args is not None
    values = [
        str(a.path) if isinstance(a, ast.PathExpr) else a.value for a in args if isinstance(a, ast.Lit | ast.PathExpr)
    ]
    assert values == ["{x} {{no}} {a:?} {0} {n}", "z", 3, "x", "a"]


def test_assertions_have_their_condition_first() -> None:
    args = parse_args(call('assert!(a < b, "{c}")'))
    assert args is not None and isinstance(args[0], ast.Binary) and len(args) == 3


def test_vec_in_both_forms() -> None:
    assert isinstance(parse_vec(call("vec![0u8; 1 << 3]")), ast.ArrayRepeat)
    listed = parse_vec(call("vec![1, 2, // three\n]"))
    assert isinstance(listed, ast.Array) and len(listed.items) == 2
    assert parse_vec(call("vec![]")) is not None


def test_a_shared_array_is_an_array_type() -> None:
    built = parse_array_type(call("shared_array![*mut f32; 16 * 16]"))
    assert built is not None and isinstance(built.inner, ast.TypePtr)


def test_a_launch_of_a_modules_function() -> None:
    shape = "(N as u32).div_ceil(2), b(1, 2), size_of::<Vec<Vec<u8>>>(), self.stream"
    text = f"launch!(m.scan<<<{shape}>>>(\n a.p(), x >> 3\n))"
    launch = parse_launch(call(text))
    assert launch is not None and launch.name == "scan" and launch.function is None
    assert launch.module is not None and source(text, launch.module.span) == "m"
    parts = [launch.grid, launch.block, launch.shared, launch.stream, *launch.args]
    expected = ["(N as u32).div_ceil(2)", "b(1, 2)", "size_of::<Vec<Vec<u8>>>()", "self.stream", "a.p()", "x >> 3"]
    assert [source(text, part.span) for part in parts] == expected


def test_a_launch_of_a_function_in_a_variable() -> None:
    launch = parse_launch(call("launch!(f<<<1, (2, 3, 4), 0, s>>>())"))
    assert launch is not None and launch.module is None and launch.function is not None
    assert isinstance(launch.block, ast.Tuple) and launch.args == ()


@pytest.mark.parametrize(
    "text", ["launch!(f<<<1, 2, 3>>>())", "launch!(f(1, 2))", "launch!(f<<<1, 2, 0, s>>> x (1))", "launch!()"]
)
def test_other_launches_give_none(text: str) -> None:
    assert parse_launch(call(text)) is None


def test_keyed_fields() -> None:
    fields = parse_fields(call("cuda_launch! { kernel: k::<f32>, stream: s, args: [slice(a), 1] }"))
    assert fields is not None and [name for name, _ in fields] == ["kernel", "stream", "args"]


def test_items_from_text() -> None:
    items = parse_items_text("static X: u8 = 1;\nfn g() {}", Span("x.rs", 7, 5, 8, 10))
    assert items is not None and [(i.name, i.span.line, i.span.col) for i in items] == [("X", 7, 5), ("g", 8, 1)]
