"""Look-ups in the tables of host APIs."""

from __future__ import annotations

from gpusafe.parse.dialects.host_tables import host_table


def action(dialect: str, owner: str, method: str) -> str | None:
    """What a method of a dialect's type does, None when the table does not have it."""
    return host_table(dialect).get(owner, {}).get(method)
