"""Rust text becomes typed trees."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TypeVar

import pytest

from gpusafe.parse.rust import ast
from gpusafe.parse.rust.build import parse_file
from gpusafe.span import Span

Kind = TypeVar("Kind")


def item(text: str) -> ast.Item:
    file = parse_file("x.rs", text)
    assert file.errors == ()
    (only,) = file.items
    return only


def body(text: str) -> ast.Block:
    function = item(f"fn f() {{ {text} }}")
    assert isinstance(function, ast.Fn) and function.body is not None
    return function.body


def expr(text: str) -> ast.Expr:
    tail = body(text).tail
    assert tail is not None
    return tail


def nodes(root: object, kind: type[Kind]) -> Iterator[Kind]:
    """All nodes of a kind below ``root``."""
    stack = [root]
    while stack:
        at = stack.pop()
        if isinstance(at, kind):
            yield at
        if isinstance(at, tuple):
            stack.extend(at)
        elif dataclasses.is_dataclass(at) and not isinstance(at, type):
            stack.extend(getattr(at, field.name) for field in dataclasses.fields(at))


def shape(e: ast.Expr | None) -> str:
    """A short, fully bracketed form of simple expressions."""
    match e:
        case ast.Lit(value=value):
            return repr(value)
        case ast.PathExpr(path=path):
            return str(path)
        case ast.Unary(op=op, operand=operand):
            return f"({op}{shape(operand)})"
        case ast.Binary(op=op, left=left, right=right) | ast.Assign(op=op, target=left, value=right):
            return f"({shape(left)} {op} {shape(right)})"
        case ast.Call(func=func, args=args):
            return f"{shape(func)}({', '.join(map(shape, args))})"
        case ast.MethodCall(receiver=receiver, name=name, args=args):
            return f"{shape(receiver)}.{name}({', '.join(map(shape, args))})"
        case ast.Field(base=base, name=name):
            return f"{shape(base)}.{name}"
        case ast.Index(base=base, index=index):
            return f"{shape(base)}[{shape(index)}]"
        case ast.Ref(operand=operand, mutable=mutable, raw=raw):
            return f"&{'raw ' if raw else ''}{'mut ' if mutable else ''}{shape(operand)}"
        case ast.Range(low=low, high=high, inclusive=inclusive):
            return f"{shape(low)}{'..=' if inclusive else '..'}{shape(high)}"
        case ast.Try(operand=operand):
            return f"{shape(operand)}?"
        case ast.Await(operand=operand):
            return f"{shape(operand)}.await"
        case None:
            return ""
        case _:
            return type(e).__name__


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("((1)) + (2 * x)", "(1 + (2 * x))"),
        ("a.b.0.1", "a.b.0.1"),
        ("(a.f)(1)", "a.f(1)"),
        ("a.f(1)?.await", "a.f(1)?.await"),
        ("x[..=n]", "x[..=n]"),
        ("x[a..=b]", "x[a..=b]"),
        ("x[..]", "x[..]"),
        ("x[1..]", "x[1..]"),
        ("0..*n", "0..(*n)"),
        ("x[*a..-b + 1]", "x[(*a)..((-b) + 1)]"),
        ("..*n * 2 - *m", "..(((*n) * 2) - (*m))"),
        ("&a..&b", "&a..&b"),
        ("(0..) * n", "(0.. * n)"),
        ("&raw mut x", "&raw mut x"),
        ("&raw const S", "&raw S"),
        ("&mut *p", "&mut (*p)"),
        ("-1 - !y", "((-1) - (!y))"),
        ("x <<= 1 + 2", "(x <<= (1 + 2))"),
        ("a && b || c", "((a && b) || c)"),
        ("<T as Foo>::bar(1)", "Foo::bar(1)"),
        ("::core::mem::swap(a, b)", "::core::mem::swap(a, b)"),
        ("r#type + 0xff_u8 + 0b11 + 0o17", "(((type + 255) + 3) + 15)"),
        (r"'\n' + '\u{e9}' + b'\x41'", "(('\\n' + 'é') + 65)"),
        (
            r"""f("a\"\\\
             b", r#"x"y"#, b"\xff", c"z")""",
            """f('a"\\\\b', 'x"y', b'\\xff', 'z')""",
        ),
        ("1.5e3f32 + 2f64 + 1.", "((1500.0 + 2.0) + 1.0)"),
    ],
)
def test_expressions(text: str, expected: str) -> None:
    assert shape(expr(text)) == expected


def test_literals_keep_their_suffix_and_kind() -> None:
    lits = [(lit.kind, lit.suffix) for lit in nodes(expr('f(1u32, 2.0f32, true, b"x")'), ast.Lit)]
    assert sorted(lits) == [("bool", ""), ("bytestr", ""), ("float", "f32"), ("int", "u32")]


def test_turbofish_of_functions_methods_and_types() -> None:
    call = expr("Vec::<u8>::with::<T, 3>(x.get::<N>())")
    assert isinstance(call, ast.Call) and isinstance(call.func, ast.PathExpr)
    path = call.func.path
    assert path.names == ("Vec", "with")
    assert [type(g) for g in path.generics] == [ast.TypePath, ast.Lit]
    assert [type(g) for g in path.parent_generics] == [ast.TypePath]
    (method,) = call.args
    assert isinstance(method, ast.MethodCall) and len(method.generics) == 1
    assert (method.name_span.col, method.name_span.end_col) == (method.span.col + 2, method.span.col + 5)


def test_let_chains_and_else_if() -> None:
    built = expr("if let Some(x) = y && x > 1 { 1 } else if z { 2 } else { 3 }")
    assert isinstance(built, ast.If)
    assert isinstance(built.cond, ast.Binary) and built.cond.op == "&&"
    assert isinstance(built.cond.left, ast.LetCond)
    assert isinstance(built.orelse, ast.If) and isinstance(built.orelse.orelse, ast.BlockExpr)


def test_let_else_and_patterns() -> None:
    (stmt,) = body("let S { x, ref mut y, z: w @ 1..=2, .. } = e else { return };").stmts
    assert isinstance(stmt, ast.Let) and stmt.orelse is not None
    assert isinstance(stmt.pat, ast.PatStruct)
    x, y, z = (pat for _, pat in stmt.pat.fields)
    assert isinstance(y, ast.PatIdent) and y.mutable and y.by_ref
    assert isinstance(x, ast.PatIdent) and not x.mutable
    assert isinstance(z, ast.PatIdent) and isinstance(z.sub, ast.PatRange) and z.sub.inclusive


def test_match_arms_with_wildcards_alternatives_and_guards() -> None:
    built = expr("match x { Some(_) | None if a => 1, (1, ..) => 2, [a, rest @ ..] => 3, &_ => 4, READY => 5, _ => 6 }")
    assert isinstance(built, ast.Match)
    kinds = [type(arm.pat) for arm in built.arms]
    assert kinds == [ast.PatOr, ast.PatTuple, ast.PatSlice, ast.PatRef, ast.PatPath, ast.PatWild]
    assert built.arms[0].guard is not None


def test_labels_loops_and_jumps() -> None:
    block = body("'a: loop { while b { continue 'a; } for i in 0..n { break 'a; } } 'c: { break 'c 1 }")
    loop = block.stmts[0]
    assert isinstance(loop, ast.ExprStmt) and isinstance(loop.expr, ast.Loop) and loop.expr.label == "a"
    assert isinstance(block.tail, ast.BlockExpr) and block.tail.label == "c"
    assert {jump.label for jump in nodes(block, ast.Break)} == {"a", "c"}


def test_closures_and_special_blocks() -> None:
    block = body("let f = move |a, _, mut b: u8| a; let g = async move { 1 }; unsafe { x }; const { 2 }")
    (closure,) = nodes(block, ast.Closure)
    assert closure.move and [type(p.pat) for p in closure.params] == [ast.PatIdent, ast.PatWild, ast.PatIdent]
    blocks = {(b.kind, b.move) for b in nodes(block, ast.BlockExpr)}
    assert blocks == {("async", True), ("unsafe", False), ("const", False)}


def test_the_value_of_a_block_is_what_has_no_semicolon() -> None:
    assert body("a; if b { 1 } else { 2 }").tail is not None
    assert body("if b { 1 } c();").tail is None
    assert body("m! { x }").tail is not None
    assert body("let x = 1;").tail is None


def test_items_inside_functions_are_statements() -> None:
    stmts = body("static mut T: [f32; 4] = [0.0; 4]; fn g() {} use a::b; struct S;").stmts
    assert [type(s.item) for s in stmts if isinstance(s, ast.ItemStmt)] == [ast.Static, ast.Fn, ast.Use, ast.Struct]


def test_attributes_of_statements_arms_and_values() -> None:
    block = body("#[cfg(a)] let x = 1; #[unroll] for i in n {} match y { #[cfg(b)] _ => 1 } #[cfg(c)] { 2 }")
    let, loop, match = block.stmts
    assert isinstance(let, ast.Let) and let.attributes[0].text == "a"
    assert isinstance(loop, ast.ExprStmt) and loop.attributes[0].path == "unroll"
    assert isinstance(match, ast.ExprStmt) and isinstance(match.expr, ast.Match)
    assert match.expr.arms[0].attributes[0].text == "b"
    assert block.tail_attributes[0].text == "c"


def test_struct_literals_and_arrays() -> None:
    built = expr("S { a, b: 1, 0: 2, ..base }")
    assert isinstance(built, ast.StructLit)
    assert [name for name, _ in built.fields] == ["a", "b", "0"]
    assert shape(built.base) == "base"
    assert isinstance(expr("[0; N]"), ast.ArrayRepeat)
    assert isinstance(expr("[1, 2]"), ast.Array)
    assert isinstance(expr("(1,)"), ast.Tuple)
    assert isinstance(expr("()"), ast.Tuple)


def test_a_kernel_signature() -> None:
    built = item(
        '#[unsafe(no_mangle)]\npub unsafe extern "ptx-kernel" fn k<\'a, const N: usize, T: Copy>'
        "(mut p: *mut [T; N], &(a, b): &(u8, u8)) -> impl Fn(u8) -> u8 where T: Add + Mul { }"
    )
    assert isinstance(built, ast.Fn)
    assert built.attribute("no_mangle") is not None
    assert (built.is_pub, built.is_unsafe, built.abi) == (True, True, "ptx-kernel")
    assert [(g.name, g.kind, len(g.bounds)) for g in built.generics] == [
        ("'a", "lifetime", 0),
        ("N", "const", 0),
        ("T", "type", 3),
    ]
    first, second = built.params
    assert isinstance(first.pat, ast.PatIdent) and first.pat.mutable
    assert isinstance(first.type, ast.TypePtr) and isinstance(first.type.inner, ast.TypeArray)
    assert isinstance(second.pat, ast.PatRef)
    assert isinstance(built.result, ast.TypeBounds) and built.result.kind == "impl"


def test_methods_know_how_they_take_self() -> None:
    built = item("impl<T> Run for Engine<T> { fn a(&mut self) {} fn b(mut self) {} fn c(self: &Self) {} }")
    assert isinstance(built, ast.Impl) and built.name == "Engine" and str(built.trait) == "Run"
    firsts = [fn.params[0] for fn in built.items if isinstance(fn, ast.Fn)]
    assert [type(p.type) for p in firsts] == [ast.TypeRef, ast.TypePath, ast.TypeRef]
    assert isinstance(firsts[0].type, ast.TypeRef) and firsts[0].type.mutable


def test_use_trees_are_flat() -> None:
    built = item("use a::{self, b as c, d::*, e::{f, g as _}};")
    assert isinstance(built, ast.Use)
    assert [(leaf.path, leaf.alias) for leaf in built.leaves] == [
        (("a",), "a"),
        (("a", "b"), "c"),
        (("a", "d"), "*"),
        (("a", "e", "f"), "f"),
        (("a", "e", "g"), "_"),
    ]


def test_other_items() -> None:
    file = parse_file(
        "x.rs",
        """
        #![no_std]
        pub struct T(pub u8, u16); union U { a: u8 } enum E { A = 1, B(u8), C { x: u8 } }
        trait Q: R { type X: Y; const C: u8; fn a(&self) -> !; }
        unsafe extern "C" { fn f(x: i32); static X: u8; }
        macro_rules! m { ($a:expr) => { $a + 1 }; () => {} }
        type A<T> = [T; 3]; mod inner { #![cfg(x)] fn g() {} } mod outer; m! { 1 } extern crate std as s;
        """,
    )
    assert file.errors == () and [a.path for a in file.attributes] == ["no_std"]
    by_name = {i.name: i for i in file.items}
    assert isinstance(by_name["T"], ast.Struct) and [f for f, _ in by_name["T"].fields] == ["0", "1"]
    assert isinstance(by_name["U"], ast.Struct) and by_name["U"].kind == "union"
    assert isinstance(by_name["E"], ast.Enum) and [v.name for v in by_name["E"].variants] == ["A", "B", "C"]
    assert isinstance(by_name["Q"], ast.Trait) and len(by_name["Q"].items) == 3
    assert isinstance(by_name["inner"], ast.Mod) and by_name["inner"].attribute("cfg") is not None
    assert isinstance(by_name["outer"], ast.Mod) and by_name["outer"].items is None
    rules = next(i for i in file.items if isinstance(i, ast.MacroRules))
    assert rules.rules == (("$a:expr", " $a + 1 "), ("", ""))
    foreign = next(i for i in file.items if isinstance(i, ast.ExternBlock))
    assert foreign.abi == "C" and [i.name for i in foreign.items] == ["f", "X"]


def test_cfg_attr_shows_what_it_may_add() -> None:
    built = item('#[cfg_attr(target_os = "cuda", kernel, deny(a, b))] fn f() {}')
    assert [(a.path, a.text) for a in built.attributes[1:]] == [("kernel", ""), ("deny", "a, b")]


def test_columns_count_characters() -> None:
    file = parse_file("x.rs", 'const É: &str = "äöü"; const Z: u8 = 1;\nfn f() {}')
    z, f = file.items[1:]
    assert z.span == Span("x.rs", 1, 24, 1, 40)
    assert f.span == Span("x.rs", 2, 1, 2, 10)


def test_macro_text_has_its_place() -> None:
    call = expr("é!(a,\n b)")
    assert isinstance(call, ast.MacroCall)
    assert call.text == "a,\n b"
    assert call.text_span == Span("x.rs", 1, 13, 2, 3)


BROKEN = [
    "fn bad() { x + ; }",
    "fn bad() { if x { ",
    "fn bad( { }",
    "fn bad() { launch!(a, (b; }",
    "fn bad() { /* unterminated }",
    'fn bad() { "unterminated }',
    "fn bad() { match x { A => , B => 2 } }",
]


@pytest.mark.parametrize("bad", BROKEN)
def test_attributes_stay_with_the_broken_function(bad: str) -> None:
    file = parse_file("x.rs", f"#[kernel]\n{bad}\nfn last() {{ b }}\n")
    kernels = [i.name for i in file.items if i.attribute("kernel") is not None]
    assert kernels == ["bad"]


@pytest.mark.parametrize("bad", BROKEN)
def test_a_broken_function_says_so_and_its_neighbours_are_whole(bad: str) -> None:
    file = parse_file(
        "x.rs", f"fn first() {{ a }}\n{bad}\n#[kernel]\npub fn last() {{ b }}\nimpl S {{ fn m() {{}} }}\n"
    )
    functions = {i.name: i for i in file.items if isinstance(i, ast.Fn)}
    assert functions["bad"].problem == "syntax error in line 2"
    assert functions["first"].problem is None and functions["first"].body is not None
    assert functions["last"].problem is None and functions["last"].attribute("kernel") is not None
    assert any(isinstance(i, ast.Impl) for i in file.items)
    assert file.errors[0].line == 2


def test_tokens_that_only_a_macro_understands_are_no_error() -> None:
    file = parse_file(
        "x.rs", "macro_rules! m { () => { seq!(P in 0..3 {{ let [#(p~P,)*] = x; }}) } } fn f() { q!(a ~ #b) }"
    )
    assert file.errors == ()
    assert all(i.problem is None for i in file.items if isinstance(i, ast.Fn))
