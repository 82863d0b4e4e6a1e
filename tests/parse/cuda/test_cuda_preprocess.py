"""The preprocessor: what is left of a text, and where its tokens say they stand."""

from __future__ import annotations

import pytest

from gpusafe.parse.cuda.preprocess import Preprocessed, preprocess


def _text(source: str, **defines: str) -> str:
    return " ".join(t.text for t in preprocess("f.cu", source, defines=defines).tokens)


def _lines(found: Preprocessed, word: str) -> list[int]:
    return [t.place.line for t in found.tokens if t.text == word]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("#define N 4\nint a[N];", "int a [ 4 ] ;"),
        ("#define SQ(x) ((x) * (x))\nSQ(a + 1)", "( ( a + 1 ) * ( a + 1 ) )"),
        ("#define A B\n#define B A\nA", "A"),
        ("#define F(x) x\n#define G F\nG(3)", "3"),
        ("#define F(x) [x]\nF", "F"),
        ("#define CAT(a, b) a##b\nCAT(k, 1)", "k1"),
        ("#define CAT(a, b) a##b\n#define X 1\nCAT(k, X)", "kX"),
        ("#define STR(x) #x\nSTR(a + b)", '"a + b"'),
        ("#define V(f, ...) f(__VA_ARGS__)\nV(g, 1, 2)", "g ( 1 , 2 )"),
        ("#define MULTI a \\\n b\nMULTI", "a b"),
        ("#define N 1\n#undef N\nN", "N"),
        ("a /* b\n c */ d // e\nf", "a d f"),
    ],
)
def test_macros_are_replaced_as_c_does(source: str, expected: str) -> None:
    assert _text(source) == expected


@pytest.mark.parametrize(
    ("condition", "taken"),
    [
        ("1 + 1 == 2", True),
        ("defined(FOO)", False),
        ("!defined FOO && 3 > 2", True),
        ("UNKNOWN", False),
        ("__CUDA_ARCH__ >= 700", True),
        ("(1 ? 0 : 1) || 0x10 == 16", True),
        ("-1 < 0", True),
        ("__has_include(<x.h>)", False),
    ],
)
def test_conditions_select_the_branch(condition: str, taken: bool) -> None:
    assert _text(f"#if {condition}\nyes\n#else\nno\n#endif") == ("yes" if taken else "no")


def test_elif_takes_the_first_branch_that_holds() -> None:
    assert _text("#if 0\na\n#elif 1\nb\n#elif 1\nc\n#else\nd\n#endif") == "b"


def test_inactive_branches_define_nothing() -> None:
    assert _text("#if 0\n#define N 1\n#if 1\nx\n#endif\n#endif\nN") == "N"


def test_given_defines_hold() -> None:
    assert _text("BLOCK", BLOCK="256") == "256"


def test_a_macro_in_a_function_points_at_its_use_and_arguments_at_themselves() -> None:
    found = preprocess("f.cu", "#define PUT(p, v) p[0] = v\nvoid f() {\n  PUT(\n    out,\n    1);\n}\n")
    assert _lines(found, "out") == [4]
    assert _lines(found, "1") == [5]
    assert _lines(found, "=") == [3]


def test_a_macro_that_writes_functions_points_at_its_own_lines() -> None:
    found = preprocess("f.cu", "#define MAKE(T) void f(T *p) { \\\n  p[0] = 1; }\n\nMAKE(int)\n")
    assert _lines(found, "=") == [2]
    assert _lines(found, "int") == [4]


def test_places_are_counted_from_where_the_text_starts() -> None:
    first, second = preprocess("f.rs", "a\n b", line=10, col=20).tokens
    assert (first.place.line, first.place.col) == (10, 20)
    assert (second.place.line, second.place.col) == (11, 2)


def test_includes_of_the_tree_are_followed_and_keep_their_own_places() -> None:
    files = {"x.cuh": ("lib/x.cuh", "#pragma once\nint x;")}
    found = preprocess(
        "f.cu", '#include "x.cuh"\n#include "x.cuh"\n#include <cuda_fp16.h>\ny', includes=lambda _f, n: files.get(n)
    )
    assert [(t.text, t.place.file) for t in found.tokens] == [
        ("int", "lib/x.cuh"),
        ("x", "lib/x.cuh"),
        (";", "lib/x.cuh"),
        ("y", "f.cu"),
    ]
    assert found.headers == ("cuda_fp16.h",)


def test_a_file_that_includes_itself_ends() -> None:
    found = preprocess("f.cu", '#include "f.cu"\nx', includes=lambda _f, _n: ("f.cu", '#include "f.cu"\nx'))
    assert any("too deeply" in p.text for p in found.problems)


def test_macros_that_double_each_other_end() -> None:
    doubling = "".join(f"#define M{i + 1} M{i} M{i}\n" for i in range(40))
    found = preprocess("f.cu", f"#define M0 x\n{doubling}M40")
    assert any("does not end" in p.text for p in found.problems)
