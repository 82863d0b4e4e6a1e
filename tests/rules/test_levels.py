"""What levels make of findings."""

from __future__ import annotations

import pytest

from gpusafe.config import Lint, Options, PathSettings
from gpusafe.errors import UsageError
from gpusafe.results import Finding, Level
from gpusafe.rules.levels import Policies, mentioned, validate
from gpusafe.span import Span
from gpusafe.verdict import Site


def finding(rule: str, level: Level, file: str = "src/a.rs") -> Finding:
    return Finding(rule, level, "something", Site(Span(file, 1, 1, 1, 2), "here"))


def told(options: Options, what: Finding) -> tuple[str, bool] | None:
    shown = Policies(options).told(what)
    return None if shown is None else (shown.level.value, shown.denied)


def flags(*pairs: str) -> tuple[Lint, ...]:
    return tuple(
        Lint(pair[2:], {"A": "allow", "W": "warn", "D": "deny", "F": "forbid"}[pair[1]], pair[:2]) for pair in pairs
    )


RACE = finding("GS101", Level.ERROR)
BORROW = finding("GS106", Level.WARNING)
OPEN = finding("GS901", Level.NOTE)


@pytest.mark.parametrize(
    ("levels", "what", "outcome"),
    [
        ((), RACE, ("error", False)),
        (("-Wstream-race",), RACE, ("warning", False)),
        (("-Ags1",), RACE, None),
        (("-Aall", "-DGS101"), RACE, ("error", True)),
        (("-DGS106",), BORROW, ("warning", True)),
        (("-DGS106", "-AGS106"), BORROW, None),
        (("-Dwarnings",), BORROW, ("warning", True)),
        (("-Dwarnings",), RACE, ("error", False)),
        (("-Dwarnings", "-WGS101"), RACE, ("warning", True)),
        (("-Awarnings",), BORROW, None),
        (("-Dwarnings", "-Aall"), BORROW, None),
        (("-DGS901",), OPEN, ("warning", True)),
        (("-WGS9",), OPEN, ("warning", False)),
    ],
)
def test_a_level_decides_what_is_told_and_what_fails(
    levels: tuple[str, ...], what: Finding, outcome: tuple[str, bool] | None
) -> None:
    assert told(Options(lints=flags(*levels)), what) == outcome


def test_no_level_makes_an_error_of_what_has_no_counterexample() -> None:
    for level in ("-Dall", "-Fall"):
        shown = Policies(Options(lints=flags(level))).told(OPEN)
        assert shown is not None
        assert shown.level is Level.WARNING
        assert "the run fails because of" in shown.notes[-1]


def test_a_level_switches_a_performance_rule_on() -> None:
    assert "GS403" not in mentioned(Options())
    assert mentioned(Options(lints=flags("-WGS4"))) >= {"GS401", "GS403"}


def test_what_is_forbidden_cannot_be_taken_back() -> None:
    with pytest.raises(UsageError, match="GS101 is forbidden by -F"):
        validate(Options(lints=flags("-FGS1", "-AGS101")))
    by_file = Lint("GS101", "forbid", "gpusafe.toml")
    with pytest.raises(UsageError, match=r"GS101 is forbidden by gpusafe\.toml"):
        validate(Options(lints=(by_file, *flags("-Wstream-race"))))


def test_a_rule_that_there_is_not_is_named() -> None:
    with pytest.raises(UsageError, match="there is no rule `steam-race`; did you mean `stream-race`"):
        validate(Options(lints=flags("-Dsteam-race")))


def test_settings_of_a_path_hold_there_only_and_flags_prevail() -> None:
    benches = PathSettings(".", "benches", (Lint("GS101", "allow", "gpusafe.toml"),))
    options = Options(lints=(Lint("GS101", "deny", "gpusafe.toml"),), per_path=(benches,))
    there = finding("GS101", Level.ERROR, "benches/a.rs")
    assert told(options, RACE) == ("error", True)
    assert told(options, there) is None
    assert told(Options(lints=flags("-WGS101"), per_path=(benches,)), there) == ("warning", False)
