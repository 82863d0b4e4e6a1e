"""Every rule is explained, exemplified, and written in one voice."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpusafe.report.explain import markdown
from gpusafe.rules import RULES, Rule
from gpusafe.rules.catalogue import OFF

ROOT = Path(__file__).parents[2]
UI = ROOT / "fixtures" / "ui"

# fmt: off
NO_FIXTURE_YET = frozenset((
    "GS111",
    "GS301", "GS302", "GS307", "GS308", "GS309", "GS401", "GS402",
    "GS403", "GS404", "GS904",
))
# fmt: on
"""Rules that nothing reports yet, or whose program is still to be written. This list must only get shorter."""

each_rule = pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))


def test_the_catalogue_is_complete() -> None:
    hundreds = {"1": 15, "2": 8, "3": 9, "4": 4, "9": 6}
    assert list(RULES) == [f"GS{h}{n:02}" for h, count in hundreds.items() for n in range(1, count + 1)]
    assert len({rule.name for rule in RULES.values()}) == len(RULES)


@each_rule
def test_a_rule_is_explained_under_the_same_headings(rule: Rule) -> None:
    assert re.findall(r"^## (.+)$", rule.explanation, re.MULTILINE) == [
        "What it does",
        "Why is this bad",
        "How to fix",
        "Limits",
    ]


@each_rule
def test_summaries_and_help_have_the_voice_of_rustc(rule: Rule) -> None:
    for text in (rule.summary, *rule.help):
        assert text
        assert not text.endswith(".")
        assert text[0] in "`'" or text[0].islower()


@each_rule
def test_a_rule_shows_the_fault_and_the_program_without_it(rule: Rule) -> None:
    assert rule.racy
    assert rule.fixed
    assert rule.racy != rule.fixed
    text = markdown(rule)
    assert rule.racy in text
    assert rule.fixed in text


@each_rule
def test_performance_rules_are_off_and_all_others_on(rule: Rule) -> None:
    assert rule.enabled == (not rule.code.startswith(OFF))


@each_rule
def test_a_rule_has_a_fixture_or_is_known_to_lack_one(rule: Rule) -> None:
    has_fixture = any((UI / rule.code).rglob("*.rs"))
    assert has_fixture != (rule.code in NO_FIXTURE_YET)


def test_the_fixtures_are_of_rules_that_exist() -> None:
    assert {folder.name for folder in UI.iterdir() if folder.is_dir()} <= set(RULES)


@each_rule
def test_a_rule_that_nothing_reports_says_so(rule: Rule) -> None:
    rooms = [path for path in (ROOT / "gpusafe").rglob("*.py") if path.parent.name != "rules"]
    made_here = {"GS903", "GS905", "GS906"}  # of files and directives, among the rules themselves
    asked = rule.code in made_here or any(f'"{rule.code}"' in path.read_text("utf-8") for path in rooms)
    assert rule.checked == asked
    assert rule.checked != ("Not checked yet" in markdown(rule))
