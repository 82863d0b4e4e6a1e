"""What users write in comments and attributes, and what it covers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusafe.parse.directives import Allow, DirectiveError, parse_expr, read
from gpusafe.span import Span


def covered(source: str) -> tuple[int, int]:
    """The lines that the only directive of a program covers."""
    found = read("a.rs", source)
    assert not found.problems
    (directive,) = (*found.allows, *found.contracts)
    return directive.covers.line, directive.covers.end_line


def problems(source: str) -> list[str]:
    return [p.message for p in read("a.rs", source).problems]


def test_an_allow_on_its_own_line_covers_the_next_statement() -> None:
    source = """fn f() {
    // gpusafe: allow(GS101): the caller orders them
    s.copy(
        &a,
        &mut b,
    )?;
    s.other();
}
"""
    assert covered(source) == (3, 6)


@pytest.mark.parametrize(
    "source",
    [
        "// gpusafe: expect(GS101): a known fault\ns.copy(&a);\n",
        '#[cfg_attr(any(), gpusafe::expect(GS101, reason = "a known fault"))]\nfn f() {}\n',
    ],
)
def test_an_expectation_is_an_allow_that_says_so(source: str) -> None:
    (expected,) = read("a.rs", source).allows
    assert (expected.verb, expected.rules, expected.reason) == ("expect", ("GS101",), "a known fault")


def test_an_allow_behind_code_covers_that_line() -> None:
    assert covered("fn f() {\n    s.copy(&a); // gpusafe: allow(GS101): fine\n    t.copy(&a);\n}\n") == (2, 2)


def test_an_allow_before_an_item_covers_all_of_it_attributes_aside() -> None:
    source = """// gpusafe: allow(GS201): each element has one writer
#[kernel]
#[inline(never)]
pub unsafe fn k(x: *mut f32) {
    if a { *x = 1.0; } else { *x = 2.0; }
}
fn other() {}
"""
    assert covered(source) == (4, 6)


@pytest.mark.parametrize(
    ("statement", "lines"),
    [
        ("let x = match a {\n 1 => { 2 }\n _ => 3,\n};\nnext();", (2, 5)),
        ("if a {\n b();\n} else {\n c();\n}\nnext();", (2, 6)),
        ("for i in 0..n {\n f(i);\n}\nnext();", (2, 4)),
        ("let m: Map<A, B> = f(\n a,\n);\nnext();", (2, 4)),
        ("unsafe { launch!(\n k<<<1, 2, 0, s>>>(a)\n)? };\nnext();", (2, 4)),
        ('a.b(\n \'}\', "}", r#"}"#, /* } */\n);\nnext();', (2, 4)),
        ("x.y(\n z)\n}", (2, 3)),
        ("first(\n a),\nsecond", (2, 3)),
    ],
)
def test_a_statement_ends_where_its_brackets_say(statement: str, lines: tuple[int, int]) -> None:
    assert covered(f"// gpusafe: allow(GS101): why\n{statement}") == lines


def test_the_attribute_form_covers_its_item_and_keeps_commas_of_its_reason() -> None:
    source = '#[cfg_attr(any(), gpusafe::allow(GS103, stream-race, reason = "held, by the caller"))]\nfn f() {\n}\n'
    (allow,) = read("a.rs", source).allows
    assert allow.rules == ("GS103", "stream-race")
    assert allow.reason == "held, by the caller"
    assert (allow.covers.line, allow.covers.end_line) == (2, 3)


def test_an_inner_attribute_covers_the_module_it_stands_in() -> None:
    attribute = '#![cfg_attr(any(), gpusafe::allow(GS201, reason = "x"))]'
    source = f"fn f() {{}}\nmod m {{\n    {attribute}\n    fn g() {{}}\n}}\nfn h() {{}}\n"
    assert covered(source) == (2, 5)


def test_an_inner_attribute_at_the_top_covers_the_file() -> None:
    assert covered('#![cfg_attr(any(), gpusafe::allow(GS201, reason = "x"))]\nfn f() {}\nfn g() {}\n') == (1, 4)


def test_contracts_belong_to_the_function_that_follows_or_holds_them() -> None:
    source = """// gpusafe: requires(n <= out.len(), gridDim.y == 1)
fn f() {
    // gpusafe: assume(injective(perm))
    g();
}
fn h() {}
"""
    found = read("a.rs", source)
    texts = [(c.verb, c.text) for c in found.contracts_of(Span("a.rs", 2, 1, 5, 2))]
    assert texts == [("requires", "n <= out.len()"), ("requires", "gridDim.y == 1"), ("assume", "injective(perm)")]
    assert found.contracts_of(Span("a.rs", 6, 1, 6, 10)) == ()


def test_a_directive_in_cuda_source_in_a_string_counts_but_is_not_held_against_the_user() -> None:
    source = (
        'const SRC: &str = r#"\n__global__ void k(int* x) {\n  x[0] = 1; // gpusafe: allow(GS201): one block\n}\n"#;\n'
    )
    (allow,) = read("a.rs", source).allows
    assert allow == Allow(allow.span, allow.covers, ("GS201",), "one block", quiet=True)
    assert allow.covers.line == 3


def test_words_in_strings_are_no_directives() -> None:
    found = read("a.rs", 'let s = "// gpusafe: frobnicate";\nlet u = "//";\n')
    assert found == read("a.rs", "")


@pytest.mark.parametrize(
    ("directive", "message"),
    [
        ("allow(GS101)", "an `allow` needs its reason, as in `allow(GS101): reason`"),
        ("allow(): why", "`allow()` names nothing"),
        ("allow GS101: why", "expected `allow(..)`, `expect(..)`, `requires(..)`, `assume(..)`"),
        ("permit(GS101): why", "there is no directive `permit` (there are allow, expect, requires and assume)"),
        ("requires(n <)", "the expression ends too early"),
        ("requires(a < b < c)", "comparisons cannot be chained"),
        ("requires(n <= out.len()", "the closing parenthesis is missing"),
        ("allow(GS101) because", "a reason follows behind a colon, as in `allow(GS101): reason`"),
    ],
)
def test_what_cannot_be_read_is_told(directive: str, message: str) -> None:
    assert problems(f"// gpusafe: {directive}\nf();\n") == [message]


def test_a_directive_that_nothing_follows_is_told() -> None:
    assert problems("fn f() {\n    g();\n    // gpusafe: allow(GS101): why\n}\n") == [
        "no statement or item follows that it could apply to"
    ]


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("a + b * c", "a + (b * c)"),
        ("a - b - c", "(a - b) - c"),
        ("a < b && c == d || e", "((a < b) && (c == d)) || e"),
        ("!a && b", "(!a) && b"),
        ("x % 4 == 0", "(x % 4) == 0"),
        ("a => b && c", "a => (b && c)"),
        ("0x10_usize + 1_000", "16 + 1000"),
    ],
)
def test_operators_bind_as_in_rust(text: str, same: str) -> None:
    assert parse_expr(text) == parse_expr(same)


def test_deep_nesting_is_refused_and_not_overrun() -> None:
    with pytest.raises(DirectiveError, match="nested too deeply"):
        parse_expr("(" * 5000 + "a" + ")" * 5000)


@given(st.text(alphabet="/*#![]()\"'\\r{};,:= \ngpusafe:allow", max_size=200))
def test_no_text_breaks_the_reader(text: str) -> None:
    read("a.rs", text + "\n// gpusafe: allow(GS101): x\n" + text)
