"""``gpusafe rules``."""

from __future__ import annotations

import json

from gpusafe.rules import RULES


def run(format: str) -> int:
    """List the catalogue."""
    if format == "json":
        rows = [
            {
                "code": r.code,
                "name": r.name,
                "level": r.level.value,
                "enabled": r.enabled,
                "checked": r.checked,
                "summary": r.summary,
            }
            for r in RULES.values()
        ]
        print(json.dumps(rows, indent=1))
        return 0
    family = ""
    for rule in RULES.values():
        if rule.family != family:
            family = rule.family
            print(f"{family}:")
        state = "not yet" if not rule.checked else rule.level.value if rule.enabled else "off"
        print(f"  {rule.code}  {rule.name:30} {state:8} {rule.summary}")
    print("\nnot yet: nothing asks this rule's question so far; code that depends on it is not called proved")
    return 0
