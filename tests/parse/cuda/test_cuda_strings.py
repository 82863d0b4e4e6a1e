"""Kernels in Rust string literals stand where the reader sees them."""

from __future__ import annotations

from gpusafe.parse.cuda.lex import tokenize
from gpusafe.parse.cuda.strings import Literal, kernel_literals


def _places(literal: Literal, word: str) -> list[tuple[int, int]]:
    tokens = tokenize("f.rs", literal.text, literal.line, literal.col, literal.line_starts)
    return [(t.place.line, t.place.col) for t in tokens if t.text == word]


def _seen(source: str, word: str) -> list[tuple[int, int]]:
    """Where a reader of the Rust file sees the word."""
    return [
        (number, at + 1)
        for number, line in enumerate(source.splitlines(), start=1)
        for at in range(len(line))
        if line.startswith(word, at)
    ]


def test_a_raw_string_keeps_lines_and_columns() -> None:
    source = 'const SRC: &str = r#"\n__global__ void k(float *p) {\n    p[0] = 1;\n}\n"#;\n'
    (literal,) = kernel_literals(source)
    assert literal.name == "SRC"
    assert _places(literal, "p") == _seen(source, "p")


def test_a_plain_string_with_continued_lines_keeps_lines_and_columns() -> None:
    source = 'static K: &str = "extern \\"C\\" __global__ void k(int *p) {\\n\\\n    p[1] = 2;\\n\\\n}";\n'
    (literal,) = kernel_literals(source)
    assert literal.name == "K"
    assert 'extern  "C "' in literal.text
    assert _places(literal, "p") == _seen(source, "p")


def test_newlines_written_as_escapes_start_lines_of_the_text_but_not_of_the_file() -> None:
    source = 'let k = "#define N 3\\n__global__ void k(int *p) { p[N] = 1; }\\n";'
    (literal,) = kernel_literals(source)
    assert literal.text.count("\n") == 2
    assert _places(literal, "p") == _seen(source, "p")


def test_format_strings_have_their_braces_undoubled_and_holes_as_names() -> None:
    source = 'let k = format!("__global__ void k(int *p) {{ p[{row}] = {}; }}", 3);'
    (literal,) = kernel_literals(source)
    assert "{{" not in literal.text and "}}" not in literal.text
    assert _places(literal, "row") == [(1, source.index("{row}") + 1)]


def test_comments_and_other_strings_are_passed_over() -> None:
    source = '// "__global__"\n/* "__global__" /* nested */ */\nlet a = "text"; let c = \'"\'; let b = r"__global__ x";'
    assert [literal.name for literal in kernel_literals(source)] == ["b"]


def test_a_string_that_does_not_end_is_no_kernel() -> None:
    assert list(kernel_literals('const A: &str = "__global__ void')) == []
