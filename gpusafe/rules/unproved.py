"""Notes for what could not be settled: one a unit and reason."""

from __future__ import annotations

from gpusafe.results import Finding, Level
from gpusafe.rules.catalogue import RULES
from gpusafe.verdict import Obligation, Site, Unit, Verdict

_MAX_QUESTIONS = 4

_BY_WORDING = (
    ("GS904", ("solver limit", "the solver's limit", "the solver gave up", "resource limit")),
    ("GS902", ("call of ", "a call of ", "calls ", "unmodelled call")),
)
"""How reasons begin that have a rule of their own; all others are GS901."""

_HELP_BY_WORDING = (
    (
        " was not found, so what it does to its arguments",
        "add the crate, folder or file that holds the kernel to the paths of `gpusafe check`",
    ),
    (
        "the macro `",
        "write out what the macro does, or make a function of it: macros of the program are not expanded here",
    ),
)
"""What to do about reasons that `requires` cannot help with."""


def unproved(unit: Unit) -> tuple[Finding, ...]:
    """The notes of one unit; none when it has no unknown obligation."""
    groups: dict[tuple[str, str], list[Obligation]] = {}
    for obligation in unit.obligations:
        if obligation.verdict is Verdict.UNKNOWN:
            reason = obligation.reason or "no reason was given"
            groups.setdefault((rule_of(obligation), reason), []).append(obligation)
    return tuple(_note(unit, *key, group) for key, group in groups.items() if not _told_in_full(key, groups))


def _told_in_full(key: tuple[str, str], groups: dict[tuple[str, str], list[Obligation]]) -> bool:
    """Whether another note about the same place begins with this reason and says more."""
    return any(
        other != key and other[1].startswith(f"{key[1]}; ") and group[0].span == groups[key][0].span
        for other, group in groups.items()
    )


def rule_of(obligation: Obligation) -> str:
    """GS901, or the narrower rule that an unknown obligation names itself or by how its reason begins."""
    if obligation.rule.startswith("GS90"):
        return obligation.rule
    reason = (obligation.reason or "").lower()
    for rule, beginnings in _BY_WORDING:
        if reason.startswith(beginnings):
            return rule
    return "GS901"


def _note(unit: Unit, rule: str, reason: str, group: list[Obligation]) -> Finding:
    first = group[0]
    spans = list(dict.fromkeys(o.span for o in group))
    what = "kernel" if unit.kind == "kernel" else "host function"
    claims = [o for o in group if not o.rule.startswith("GS90")]  # of the others the headline says it all
    questions = list(dict.fromkeys(f"not proved: {o.question} ({o.rule})" for o in claims))
    if len(questions) > _MAX_QUESTIONS:
        rest = len(questions) - _MAX_QUESTIONS + 1
        questions = [*questions[: _MAX_QUESTIONS - 1], f"not proved: {rest} more questions about this {what}"]
    return Finding(
        rule,
        Level.NOTE,
        _headline(unit, what, reason),
        Site(first.span, "not settled here"),
        tuple(Site(span, "nor here") for span in spans[1:3] if not span.contains(first.span)),
        tuple(questions),
        _help(rule, reason),
        unit.name,
        reason,
    )


def _headline(unit: Unit, what: str, reason: str) -> str:
    if unit.verdict is Verdict.REFUTED:  # an error says so already; this is about the rest of it
        return f"not all of {what} `{unit.name}` is settled: {reason}"
    return f"{what} `{unit.name}` is neither proved nor refuted: {reason}"


def _help(rule: str, reason: str) -> tuple[str, ...]:
    for words, help in _HELP_BY_WORDING:
        if words in reason:
            return (help,)
    return RULES[rule].help
