"""Excerpts in rustc's layout."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpusafe.report.snippet import snippets
from gpusafe.report.style import Style
from gpusafe.span import Span
from gpusafe.verdict import Site


def drawn(source: str, primary: tuple[Span, str], *related: tuple[Span, str], width: int = 100) -> str:
    sites = [Site(*site) for site in related]
    return "\n".join(snippets(Site(*primary), sites, {"a.rs": source}, Style(width=width), 2))


def at(line: int, col: int, end: int, end_line: int | None = None) -> Span:
    return Span("a.rs", line, col, end_line or line, end)


def layout(text: str) -> str:
    """The text between the quotes, whose margin is that of an excerpt with two digits."""
    lines = text.strip("\n").splitlines()[:-1]
    return "\n".join(line[8:] for line in lines)


def test_both_sides_of_a_race_are_labelled_and_the_lines_between_left_out() -> None:
    source = "s1.launch(&k);\none();\ntwo();\nthree();\ns2.copy(&b);"
    assert drawn(source, (at(5, 1, 12), "read"), (at(1, 1, 14), "written")) == layout("""
          --> a.rs:5:1
           |
         1 | s1.launch(&k);
           | ------------- written
        ...
         5 | s2.copy(&b);
           | ^^^^^^^^^^^ read
           |
    """)


def test_a_gap_of_one_line_is_shown_rather_than_hinted_at() -> None:
    assert drawn("a();\nb();\nc();", (at(1, 1, 4), "x"), (at(3, 1, 4), "y")).splitlines()[4] == " 2 | b();"


def test_several_labels_on_one_line_hang_below_each_other() -> None:
    assert drawn("out[i] = out[i + 1];", (at(1, 1, 7), "store"), (at(1, 10, 20), "load")) == layout("""
          --> a.rs:1:1
           |
         1 | out[i] = out[i + 1];
           | ^^^^^^   ---------- load
           | |
           | store
           |
    """)


def test_where_places_overlap_the_primary_one_is_drawn_on_top() -> None:
    lines = drawn("f(a, b);", (at(1, 3, 4), "this"), (at(1, 1, 8), "the call")).splitlines()
    assert lines[3] == "   | --^----"


def test_a_place_of_several_lines_gets_a_bar() -> None:
    assert drawn("launch(\n  a,\n  b,\n)?;\nnext();", (at(1, 1, 3, 4), "this launch")) == layout("""
          --> a.rs:1:1
           |
         1 | / launch(
         2 | |   a,
         3 | |   b,
         4 | | )?;
           | |__^ this launch
           |
    """)


def test_the_bar_of_the_outer_place_runs_further_left() -> None:
    source = "let x = f(|| {\n  launch(\n    a,\n  )\n});"
    assert drawn(source, (at(2, 3, 4, 4), "in"), (at(1, 9, 3, 5), "out")) == layout("""
          --> a.rs:2:3
           |
         1 |    let x = f(|| {
           |  __________-
         2 | |/   launch(
         3 | ||     a,
         4 | ||   )
           | ||___^ in
         5 | |  });
           | |___- out
           |
    """)


def test_a_long_place_is_shown_by_its_ends() -> None:
    source = "\n".join(f"line{i};" for i in range(1, 31))
    lines = drawn(source, (at(1, 1, 8, 30), "all of it")).splitlines()
    assert [line for line in lines if "line" in line] == [
        " 1 | / line1;",
        " 2 | | line2;",
        "29 | | line29;",
        "30 | | line30;",
    ]


def test_markers_stand_under_what_a_terminal_shows() -> None:
    lines = drawn("\t全角(a,\tb)", (at(1, 2, 4), "wide"), (at(1, 8, 9), "b")).splitlines()
    assert lines[2:4] == [" 1 |     全角(a,    b)", "   |     ^^^^       - b"]


def test_terminal_codes_in_a_source_do_not_reach_the_terminal() -> None:
    text = drawn('let s = "\x1b[2J\u202e";', (at(1, 5, 6), "here"))
    assert "\x1b" not in text
    assert "\\u{1b}" in text
    assert "\\u{202e}" in text


def test_a_very_long_line_is_cut() -> None:
    text = drawn("x" * 10_000, (at(1, 5000, 5001), "far"), width=80)
    assert max(map(len, text.splitlines())) <= 90


def test_places_outside_of_the_source_are_named_without_an_excerpt() -> None:
    assert drawn("one line", (at(99, 1, 2), "gone")) == "  --> a.rs:99:1"


def test_columns_past_the_end_of_a_line_point_behind_it() -> None:
    assert drawn("ab", (at(1, 40, 50), "here")).splitlines()[3] == "   |   ^ here"


SPANS = st.builds(
    lambda line, col, lines, cols: Span("a.rs", line, col, line + lines, col + cols if lines == 0 else cols + 1),
    st.integers(1, 12),
    st.integers(1, 30),
    st.integers(0, 9),
    st.integers(0, 20),
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.text(alphabet="ab \t\n全\u0301\x1b{", max_size=120),
    SPANS,
    st.lists(SPANS, max_size=4),
    st.integers(40, 120),
)
def test_no_source_and_no_places_break_the_layout(source: str, primary: Span, related: list[Span], width: int) -> None:
    text = drawn(source, (primary, "here"), *((span, f"also {n}") for n, span in enumerate(related)), width=width)
    assert text.startswith("  --> a.rs:")
    assert "\x1b" not in text
    if primary.line <= source.count("\n") + 1 and primary.end_line <= source.count("\n") + 1:
        assert "here" in text


def test_long_labels_are_folded_beside_their_markers() -> None:
    label = "borrowed here by the copy on stream `copies`, until that stream gets past it"
    assert drawn("x.copy(&a, &mut b);", (at(1, 1, 19), label), (at(1, 8, 10), "a"), width=80) == layout("""
          --> a.rs:1:1
           |
         1 | x.copy(&a, &mut b);
           | ^^^^^^^^^^^^^^^^^^
           | |      |
           | |      a
           | borrowed here by the copy on stream `copies`, until that stream gets
           | past it
           |
    """)
    assert drawn("f();", (at(1, 1, 4), label), width=60) == layout("""
          --> a.rs:1:1
           |
         1 | f();
           | ^^^ borrowed here by the copy on stream `copies`,
           |     until that stream gets past it
           |
    """)
