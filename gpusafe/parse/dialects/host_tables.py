"""The tables of host APIs: for a dialect's type, what each of its methods does."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources


@cache
def host_table(dialect: str) -> dict[str, dict[str, str]]:
    """Type name to method name to action, of ``cudarc``, ``cust`` or ``oxide``."""
    text = resources.files("gpusafe.parse.dialects").joinpath(f"host_{dialect}.toml").read_text("utf-8")
    table = tomllib.loads(text)
    for owner, methods in table.items():
        if not isinstance(methods, dict) or not all(isinstance(v, str) for v in methods.values()):
            raise ValueError(f"host_{dialect}.toml: `{owner}` must map method names to actions")
    return table
