"""From the workspace to the files that the executor indexes."""

from __future__ import annotations

import re

from gpusafe.dataflow.host.program import SourceUnit
from gpusafe.parse.workspace_model import Workspace

_NUMBER = re.compile(r"\d+")


def units_of(workspace: Workspace) -> tuple[SourceUnit, ...]:
    """Every module file of every crate; a file that several crates share is looked at from the first."""
    found: dict[tuple[str, str], SourceUnit] = {}
    seen_from = _seen_from(workspace)
    for crate in workspace.crates:
        versions = {name: parse_version(text) for name, text in crate.dependencies.items()}
        for module in crate.all_modules():
            path = module.file.path
            key = (crate.key, path)
            if key not in found or len(module.path) < len(found[key].module):
                found[key] = SourceUnit(module.file, crate.name, module.path, versions, seen_from[path])
    seen: dict[str, SourceUnit] = {}
    for unit in found.values():
        seen.setdefault(unit.file.path, unit)
    return tuple(seen.values())


def _seen_from(workspace: Workspace) -> dict[str, frozenset[str]]:
    """For each file the files of the crates that it belongs to, and of the crates here that those depend on."""
    files = {crate.key: frozenset(m.file.path for m in crate.all_modules()) for crate in workspace.crates}
    found: dict[str, frozenset[str]] = {}
    for crate in workspace.crates:
        keys, stack = {crate.key}, [crate]
        while stack:
            for key in stack.pop().locals.values():
                other = workspace.by_key.get(key)
                if other is not None and key not in keys:
                    keys.add(key)
                    stack.append(other)
        sees = frozenset(path for key in keys for path in files.get(key, ()))
        for path in files[crate.key]:
            found[path] = found[path] | sees if path in found else sees
    return found


def parse_version(text: str) -> tuple[int, ...]:
    """``=0.18.1`` gives (0, 18, 1)."""
    return tuple(int(n) for n in _NUMBER.findall(text)[:3])
