"""From the workspace to the files that the executor indexes."""

from __future__ import annotations

import re

from gpusafe.dataflow.host.program import SourceUnit
from gpusafe.parse.workspace_model import Workspace

_NUMBER = re.compile(r"\d+")


def units_of(workspace: Workspace) -> tuple[SourceUnit, ...]:
    """Every module file of every crate, once per crate."""
    found: dict[tuple[str, str], SourceUnit] = {}
    for crate in workspace.crates:
        versions = {name: parse_version(text) for name, text in crate.dependencies.items()}
        for module in crate.all_modules():
            key = (crate.key, module.file.path)
            if key not in found or len(module.path) < len(found[key].module):
                found[key] = SourceUnit(module.file, crate.name, module.path, versions)
    seen: dict[str, SourceUnit] = {}
    for unit in found.values():
        seen.setdefault(unit.file.path, unit)
    return tuple(seen.values())


def parse_version(text: str) -> tuple[int, ...]:
    """``=0.18.1`` gives (0, 18, 1)."""
    return tuple(int(n) for n in _NUMBER.findall(text)[:3])
