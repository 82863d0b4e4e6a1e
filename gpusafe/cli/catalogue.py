"""``gpusafe rules``."""

from __future__ import annotations

import json

from gpusafe.rules import RULES


def run(format: str) -> int:
    """List the catalogue."""
    if format == "json":
        rows = [
            {"code": r.code, "name": r.name, "level": r.level.value, "enabled": r.enabled, "summary": r.summary}
            for r in RULES.values()
        ]
        print(json.dumps(rows, indent=1))
        return 0
    family = ""
    for rule in RULES.values():
        if rule.family != family:
            family = rule.family
            print(f"{family}:")
        state = rule.level.value if rule.enabled else "off"
        print(f"  {rule.code}  {rule.name:30} {state:8} {rule.summary}")
    return 0
