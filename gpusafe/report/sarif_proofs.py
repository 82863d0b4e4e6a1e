"""Proofs as SARIF results of the kind ``pass``: shown with ``--verbose``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gpusafe.report.sarif_place import location
from gpusafe.verdict import Obligation, Unit, Verdict


def proofs(unit: Unit, index: Mapping[str, int], sources: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """One result for each rule of which all questions about the unit are proved."""
    rules: dict[str, list[Obligation]] = {}
    for obligation in unit.obligations:
        rules.setdefault(obligation.rule, []).append(obligation)
    for rule, obligations in rules.items():
        if all(o.verdict is Verdict.PROVED for o in obligations):
            assumed = dict.fromkeys([*unit.assumptions, *(a for o in obligations for a in o.assumptions)])
            told = f"{unit.kind} `{unit.name}`: proved for {rule}, in {len(obligations)} questions."
            lines = [told, *(f"assuming {assumption}" for assumption in assumed)]
            yield {
                "ruleId": rule,
                "ruleIndex": index[rule],
                "kind": "pass",
                "level": "none",
                "message": {"text": "\n".join(lines).replace("[", "\\[").replace("]", "\\]")},
                "locations": [location(unit.span, "", {})],
                "properties": {"unit": unit.name, "questions": [o.question for o in obligations]},
            }
