"""What the packages of a workspace say about their own files, when the run starts above them."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from gpusafe.config import Lint, PathSettings, from_table

_KEYS = ("lints", "ignore", "per-path")
"""Settings that speak of findings, so that they can hold for one package; the rest is for runs that start there."""


def of_members(folder: Path, read: Collection[Path]) -> tuple[PathSettings, ...]:
    """The levels in ``[package.metadata.gpusafe]`` of the members of the workspace in ``folder``, each for its files.

    ``read`` has manifests that are read already. Raises UsageError for a table that cannot be read.
    """
    found: list[PathSettings] = []
    for manifest in _members(folder):
        if manifest in read:
            continue
        table = _table(manifest)
        kept = {key: value for key, value in table.items() if key in _KEYS}
        if not kept:
            continue
        where = f"{_relative(manifest)} [package.metadata.gpusafe]"
        values = from_table(kept, where)
        ignored = tuple(Lint(rule, "allow", where) for rule in values.get("ignore", ()))
        lints = (*ignored, *values.get("lints", ()))
        if lints:
            found.append(PathSettings(str(Path(_relative(manifest)).parent), "**", lints))
        found += values.get("per_path", ())
    return tuple(found)


def _members(folder: Path) -> Iterator[Path]:
    """The manifests of the members that the workspace in ``folder`` lists."""
    workspace = _toml(folder / "Cargo.toml").get("workspace")
    patterns = workspace.get("members") if isinstance(workspace, dict) else None
    for pattern in patterns if isinstance(patterns, list) else ():
        if not isinstance(pattern, str) or pattern.startswith(("/", "..")):
            continue
        yield from sorted(folder.glob(f"{pattern.rstrip('/')}/Cargo.toml"))


def _table(manifest: Path) -> Mapping[str, Any]:
    at: Any = _toml(manifest)
    for key in ("package", "metadata", "gpusafe"):
        at = at.get(key) if isinstance(at, dict) else None
    return at if isinstance(at, dict) else {}


def _toml(file: Path) -> dict[str, Any]:
    """The file's content, nothing for one that cannot be read (which the workspace reader tells) or is not about us."""
    try:
        text = file.read_text(encoding="utf-8")
        return tomllib.loads(text) if "gpusafe" in text or "[workspace]" in text else {}
    except (OSError, ValueError, RecursionError):
        return {}


def _relative(file: Path) -> str:
    try:
        return str(file.relative_to(Path.cwd()))
    except ValueError:
        return str(file)
