"""Rules and notifications as SARIF describes them."""

from __future__ import annotations

from typing import Any

from gpusafe.report.explain import markdown
from gpusafe.results import FileStatus, Level
from gpusafe.rules import RULES, Rule

_MAX_TEXT = 1000  # code scanning services cut descriptions at 1024 characters

FILE_NOTES = {
    FileStatus.SKIPPED: ("skipped-file", "warning"),
    FileStatus.SYNTAX_ERROR: ("syntax-error", "warning"),
}
"""Which files get a notification: its descriptor and its level."""

_NOTES = {
    "skipped-file": (
        "a file was not read, and why",
        "A file that is too large, lies outside of the checked folders, or cannot be read is not analysed: what it"
        " holds is unknown.",
    ),
    "syntax-error": (
        "a file, or part of one, does not parse",
        "The parts around the place that does not parse are analysed; what it stands in is unknown.",
    ),
    "notice": (
        "something about the whole run",
        "For instance a setting without effect, or a GPU crate in a version that no table describes.",
    ),
}

NOTIFICATIONS: list[dict[str, Any]] = [
    {
        "id": name,
        "shortDescription": {"text": short},
        "fullDescription": {"text": full},
        "help": {"text": full, "markdown": full},
    }
    for name, (short, full) in _NOTES.items()
]

_SEVERITY = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "recommendation"}


def descriptor(code: str) -> dict[str, Any]:
    """The reporting descriptor of a rule."""
    rule = RULES[code]
    text = markdown(rule, title=False)
    return {
        "id": rule.code,
        "name": "".join(part.capitalize() for part in rule.name.split("-")),
        "shortDescription": {"text": rule.summary[:_MAX_TEXT]},
        "fullDescription": {"text": _full(rule)},
        "help": {"text": text, "markdown": text},
        "defaultConfiguration": {"enabled": rule.enabled, "level": rule.level.value},
        "properties": {
            "tags": _tags(rule),
            "precision": "very-high" if rule.level is Level.ERROR else "high",
            "problem.severity": _SEVERITY[rule.level],
        },
    }


def _full(rule: Rule) -> str:
    """What the rule does: the first section of its explanation, in one paragraph."""
    section = rule.explanation.partition("\n\n")[0]
    text = " ".join(line for line in section.splitlines() if not line.startswith("#"))
    return text[:_MAX_TEXT]


def _tags(rule: Rule) -> list[str]:
    families = {"GS1": "host", "GS2": "device", "GS3": "memory-model", "GS4": "performance", "GS9": "analysis"}
    return ["gpu", families.get(rule.code[:3], "package"), rule.name]
