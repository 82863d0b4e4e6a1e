"""Where settings come from: gpusafe.toml, Cargo metadata, the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpusafe.config import Options, PathSettings, from_table, with_values
from gpusafe.errors import UsageError


@dataclass(frozen=True, slots=True)
class Sourced:
    """Options, and for each field that is not a default the place that set it."""

    options: Options
    sources: dict[str, str]


def load(start: Path, given: Mapping[str, Any], explicit: str | None = None) -> Sourced:
    """Defaults, then the nearest configuration at or above ``start``, then the command line (``given``)."""
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for where, table in _tables(start, explicit):
        found = from_table(table, where)
        for name in ("lints", "per_path"):
            if name in found:  # the package's levels add to those of its workspace
                found[name] = (*values.get(name, ()), *found[name])
        values.update(found)
        sources.update(dict.fromkeys(found, where))
    if explicit is None and (members := _of_members(start)):
        values["per_path"] = (*values.get("per_path", ()), *members)
        sources["per_path"] = ", ".join(filter(None, (sources.get("per_path"), "packages of the workspace")))
    sources.update({name: _on_top(name, sources) for name in given})
    lints = (*values.get("lints", ()), *given.get("lints", ()))  # flags add to what files say
    values |= {**given, "lints": lints}
    return Sourced(with_values(Options(), values), sources)


def _of_members(start: Path) -> tuple[PathSettings, ...]:
    """What packages below the nearest Cargo.toml say about their files; that one is read already."""
    from gpusafe.cli.member_settings import of_members

    start = start.resolve()
    for folder in [start, *start.parents] if start.is_dir() else start.parents:
        if (folder / "Cargo.toml").is_file():
            return of_members(folder, {folder / "Cargo.toml"})
        if (folder / ".git").exists():
            break
    return ()


def _on_top(name: str, sources: Mapping[str, str]) -> str:
    adds = name == "lints" and name in sources
    return f"{sources[name]}, command line" if adds else "command line"


def _tables(start: Path, explicit: str | None) -> list[tuple[str, Mapping[str, Any]]]:
    if explicit is not None:
        return [(explicit, _read(Path(explicit)))]
    start = start.resolve()
    package: list[tuple[str, Mapping[str, Any]]] = []
    for folder in [start, *start.parents] if start.is_dir() else start.parents:
        file = folder / "gpusafe.toml"
        if file.is_file() and not package:
            return [(_shown(file), _read(file))]
        cargo = folder / "Cargo.toml"
        tables = _cargo_tables(cargo) if cargo.is_file() else []
        if of_workspace := [table for table in tables if "[workspace." in table[0]]:
            return [*of_workspace, *package] if package else tables  # a package adds to its workspace
        package = package or tables
        if (folder / ".git").exists():
            break
    return package


def _cargo_tables(file: Path) -> list[tuple[str, Mapping[str, Any]]]:
    """The ``[workspace.metadata.gpusafe]`` and ``[package.metadata.gpusafe]`` tables; a broken file has none.

    That it is broken is told by the workspace reader, which meets it again.
    """
    try:
        manifest = _read(file)
    except UsageError:
        return []
    found: list[tuple[str, Mapping[str, Any]]] = []
    for owner in ("workspace", "package"):
        table: Any = manifest.get(owner)
        for key in ("metadata", "gpusafe"):
            table = table.get(key) if isinstance(table, dict) else None
        if isinstance(table, dict):
            found.append((f"{_shown(file)} [{owner}.metadata.gpusafe]", table))
    return found


def _read(file: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"{file}: no such file") from None
    except OSError as problem:
        raise UsageError(f"{file}: {problem.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise UsageError(f"{_shown(file)}: {problem}") from None


def _shown(file: Path) -> str:
    try:
        return str(file.relative_to(Path.cwd()))
    except ValueError:
        return str(file)
