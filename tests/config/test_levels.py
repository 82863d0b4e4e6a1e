"""Levels of rules, everywhere and under some paths."""

from __future__ import annotations

import pytest

from gpusafe.config.levels import PathSettings, read_lints


@pytest.mark.parametrize(
    ("pattern", "file", "covered"),
    [
        ("benches", "benches/a.rs", True),
        ("benches/", "benches/deep/a.rs", True),
        ("benches", "src/benches/a.rs", False),
        ("**/benches", "src/benches/a.rs", True),
        ("**/*.cu", "a.cu", True),
        ("**/*.cu", "kernels/deep/a.cu", True),
        ("*.cu", "kernels/a.cu", False),
        ("src/*/old.rs", "src/x/old.rs", True),
        ("src/*/old.rs", "src/x/y/old.rs", False),
        ("src/**", "src/x/y/old.rs", True),
        ("a.b", "aXb", False),
        ("**", "../outside.rs", False),
    ],
)
def test_a_pattern_names_files_and_what_lies_below_folders(pattern: str, file: str, covered: bool) -> None:
    assert PathSettings(".", pattern, ()).covers(file) is covered


def test_a_pattern_starts_where_its_file_lies() -> None:
    assert PathSettings("sub", "benches", ()).covers("sub/benches/a.rs")
    assert not PathSettings("sub", "benches", ()).covers("benches/a.rs")


def test_narrow_patterns_of_a_table_prevail_over_wide_ones_in_any_order() -> None:
    table = {"stream-race": "warn", "GS10": "allow", "all": "deny", "GS1": "forbid"}
    assert [lint.rule for lint in read_lints(table, "gpusafe.toml")] == ["all", "GS1", "GS10", "stream-race"]
