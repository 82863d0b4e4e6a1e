"""Codes, names, prefixes."""

from __future__ import annotations

import pytest

from gpusafe.errors import UsageError
from gpusafe.rules import find, reported, validate_selection


@pytest.mark.parametrize("text", ["GS101", "gs101", "stream-race", "Stream-Race", "stream_race"])
def test_a_rule_is_found_by_code_or_name(text: str) -> None:
    assert find(text).code == "GS101"


def test_an_unknown_name_gets_the_nearest_ones() -> None:
    with pytest.raises(UsageError, match="there is no rule `stream-rce`; did you mean `stream-race`"):
        find("stream-rce")


def test_nothing_selected_means_all_but_performance() -> None:
    codes = reported((), ())
    assert "GS101" in codes
    assert "GS401" not in codes


def test_prefixes_select_and_ignore() -> None:
    assert reported(("GS4",), ("GS403",)) == {"GS401", "GS402", "GS404"}
    assert not [code for code in reported((), ("GS1", "GS901")) if code.startswith("GS1") or code == "GS901"]
    assert {"GS101", "GS401"} <= reported(("all",), ())


@pytest.mark.parametrize("pattern", ["GS8", "E501", "races"])
def test_a_pattern_that_selects_nothing_is_an_error(pattern: str) -> None:
    with pytest.raises(UsageError):
        validate_selection([pattern])
