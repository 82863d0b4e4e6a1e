"""The crates of a package: library, programs, examples, tests, benches, build script."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpusafe.parse.cargo_manifest import Manifest, table, text

_FOLDERS = (("example", "examples"), ("test", "tests"), ("bench", "benches"))


@dataclass(frozen=True, slots=True)
class Target:
    """A crate root of a package; ``kind`` as in Crate."""

    kind: str
    name: str
    root: Path


def targets(manifest: Manifest) -> tuple[Target, ...]:
    """The targets whose root file exists, each file once, the library first."""
    found: dict[Path, Target] = {}
    for target in _candidates(manifest):
        if target.root.is_file():
            found.setdefault(Path(*_normal(target.root)), target)
    return tuple(found.values())


def _normal(path: Path) -> tuple[str, ...]:
    """The parts of a path without ``.`` and ``x/..``."""
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts and parts[-1] not in ("..", path.anchor):
            parts.pop()
        elif part != ".":
            parts.append(part)
    return tuple(parts)


def _candidates(manifest: Manifest) -> Iterator[Target]:
    folder, package = manifest.folder, manifest.package or {}
    lib = table(manifest.data, "lib")
    kind = "proc-macro" if lib.get("proc-macro") is True or lib.get("proc_macro") is True else "lib"
    own_name = _code_name(manifest.name)
    lib_root = text(lib.get("path")) or "src/lib.rs"
    yield Target(kind, _code_name(text(lib.get("name"))) or own_name, folder / lib_root)
    yield from _declared(manifest, "bin", "src/bin")
    if package.get("autobins") is not False:
        yield Target("bin", own_name, folder / "src/main.rs")
        yield from _discovered("bin", folder / "src/bin")
    for target_kind, where in _FOLDERS:
        yield from _declared(manifest, target_kind, where)
        if package.get("auto" + where) is not False:
            yield from _discovered(target_kind, folder / where)
    if package.get("build") is not False:
        yield Target("build", "build_script", folder / (text(package.get("build")) or "build.rs"))


def _declared(manifest: Manifest, kind: str, where: str) -> Iterator[Target]:
    listed = manifest.data.get(kind)
    for entry in listed if isinstance(listed, list) else ():
        if not isinstance(entry, dict):
            continue
        yield from _declared_one(manifest.folder, kind, where, entry)


def _declared_one(folder: Path, kind: str, where: str, entry: dict[str, Any]) -> Iterator[Target]:
    name, path = text(entry.get("name")), text(entry.get("path"))
    if path:
        yield Target(kind, _code_name(name), folder / path)
    elif name:
        yield Target(kind, _code_name(name), folder / where / f"{name}.rs")
        yield Target(kind, _code_name(name), folder / where / name / "main.rs")


def _discovered(kind: str, folder: Path) -> Iterator[Target]:
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return
    for entry in entries:
        if entry.suffix == ".rs":
            yield Target(kind, _code_name(entry.stem), entry)
        elif (entry / "main.rs").is_file():
            yield Target(kind, _code_name(entry.name), entry / "main.rs")


def _code_name(name: str) -> str:
    return name.replace("-", "_")
