"""Cargo.toml: packages, workspaces, dependencies as written."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_TABLES = ("dependencies", "dev-dependencies", "build-dependencies")


@dataclass(frozen=True, slots=True)
class Dependency:
    """One dependency: ``alias`` is its name in code, ``package`` the package (with hyphens), ``kind`` the table."""

    alias: str
    package: str
    version: str
    path: Path | None
    kind: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """A Cargo.toml that parsed. ``data`` is the whole document."""

    path: Path
    data: dict[str, Any]

    @property
    def folder(self) -> Path:
        """The folder of the package or workspace."""
        return self.path.parent

    @property
    def package(self) -> dict[str, Any] | None:
        """The ``[package]`` table."""
        return table(self.data, "package") if "package" in self.data else None

    @property
    def workspace(self) -> dict[str, Any] | None:
        """The ``[workspace]`` table."""
        return table(self.data, "workspace") if "workspace" in self.data else None

    @property
    def name(self) -> str:
        """The package's name, ``""`` without one."""
        return text((self.package or {}).get("name"))


def read_manifest(path: Path) -> Manifest | str:
    """The manifest, or why it cannot be used."""
    try:
        return Manifest(path, tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError) as error:
        return f"unreadable: {error}"
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        return f"not valid TOML: {error or type(error).__name__}"


def table(data: dict[str, Any], key: str) -> dict[str, Any]:
    """A sub-table, empty when it is missing or no table."""
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def text(value: object) -> str:
    """A string, ``""`` for anything else."""
    return value if isinstance(value, str) else ""


def edition(manifest: Manifest, workspace: Manifest | None) -> str:
    """The package's edition, inherited when it says so."""
    value = (manifest.package or {}).get("edition")
    if isinstance(value, dict) and workspace is not None:
        value = table(workspace.workspace or {}, "package").get("edition")
    return text(value) or "2015"


def dependencies(manifest: Manifest, workspace: Manifest | None) -> Iterator[Dependency]:
    """All dependencies: of every kind and every target, with ``workspace = true`` followed."""
    inherited = table(workspace.workspace or {}, "dependencies") if workspace is not None else {}
    scopes = [manifest.data, *(t for t in table(manifest.data, "target").values() if isinstance(t, dict))]
    for scope in scopes:
        for kind in _TABLES:
            for alias, given in table(scope, kind).items():
                folder = manifest.folder
                if isinstance(given, dict) and given.get("workspace") is True and workspace is not None:
                    given, folder = inherited.get(alias, {}), workspace.folder
                yield _dependency(alias, given, folder, kind)


def _dependency(alias: str, given: object, folder: Path, kind: str) -> Dependency:
    if not isinstance(given, dict):
        return Dependency(alias.replace("-", "_"), alias, text(given) or "*", None, kind)
    path = text(given.get("path"))
    package = text(given.get("package")) or alias
    version = text(given.get("version")) or "*"
    return Dependency(alias.replace("-", "_"), package, version, folder / path if path else None, kind)
