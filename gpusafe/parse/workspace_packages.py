"""Packages under the given paths: which crates they have, what those depend on, and which matter."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from gpusafe.parse.cargo_lock import Lock, read_lock
from gpusafe.parse.cargo_manifest import Dependency, Manifest, dependencies, edition, read_manifest
from gpusafe.parse.cargo_targets import Target, targets
from gpusafe.parse.modules import build_modules
from gpusafe.parse.workspace_files import SourceStore
from gpusafe.parse.workspace_model import Crate

_MAX_PARENTS = 32


@dataclass(frozen=True)
class Package:
    """One ``[package]`` with what it inherits. ``outside``: only a dependency, not among the given paths."""

    manifest: Manifest
    workspace: Manifest | None
    lock: Lock | None
    dependencies: tuple[Dependency, ...]
    targets: tuple[Target, ...]
    outside: bool = False

    @property
    def library(self) -> Target | None:
        """The library target, if the package has one."""
        return next((target for target in self.targets if target.kind in ("lib", "proc-macro")), None)

    @property
    def is_proc_macro(self) -> bool:
        """Whether its library runs inside the compiler."""
        return self.library is not None and self.library.kind == "proc-macro"

    def path_dependencies(self) -> dict[str, Path]:
        """Folders of the dependencies given by path, by the name that code uses."""
        return {d.alias: Path(os.path.normpath(d.path)) for d in self.dependencies if d.path is not None}


class ManifestReader:
    """Reads each Cargo.toml and Cargo.lock once."""

    def __init__(self, store: SourceStore, *, untrusted: bool) -> None:
        self._store = store
        self._untrusted = untrusted
        self._manifests: dict[Path, Manifest | None] = {}
        self.unusable: dict[str, str] = {}
        self._locks: dict[Path, Lock | None] = {}

    def manifest(self, path: Path) -> Manifest | None:
        """The manifest at ``path``; ``unusable`` tells why there is none."""
        if path not in self._manifests:
            read = read_manifest(path)
            if isinstance(read, str):
                self.unusable[str(path)] = read
            self._manifests[path] = read if isinstance(read, Manifest) else None
        return self._manifests[path]

    def package(self, path: Path, *, outside: bool = False) -> Package | None:
        """The package of the Cargo.toml at ``path``, if it has one."""
        manifest = self.manifest(path)
        if manifest is None or manifest.package is None:
            return None
        workspace = self._workspace_of(manifest)
        lock = self._lock(manifest.folder) or (self._lock(workspace.folder) if workspace is not None else None)
        wanted = tuple(dependencies(manifest, workspace))
        return Package(manifest, workspace, lock, wanted, targets(manifest), outside)

    def enclosing(self, file: Path) -> Package | None:
        """The package in whose folder a file lies."""
        for folder in _parents(file):
            path = folder / "Cargo.toml"
            if path.is_file() and (package := self.package(path)) is not None:
                return package
        return None

    def _workspace_of(self, manifest: Manifest) -> Manifest | None:
        if manifest.workspace is not None:
            return manifest
        for folder in _parents(manifest.folder):
            path = folder / "Cargo.toml"
            if self._untrusted and not self._store.exists(path):
                continue
            if path.is_file() and (above := self.manifest(path)) is not None and above.workspace is not None:
                return above
        return None

    def _lock(self, folder: Path) -> Lock | None:
        if folder not in self._locks:
            path = folder / "Cargo.lock"
            readable = not self._untrusted or self._store.exists(path)
            self._locks[folder] = read_lock(path) if readable and path.is_file() else None
        return self._locks[folder]


def _parents(path: Path) -> list[Path]:
    """The folders above a path, nearest first, in the form of the path where it has that many parts."""
    above = list(path.parents)
    if not path.is_absolute():
        here = Path(os.path.abspath(above[-1] if above else "."))
        above += list(here.parents)
    return above[:_MAX_PARENTS]


def versions(package: Package, all_packages: dict[Path, Package]) -> tuple[dict[str, str], dict[str, str]]:
    """(version texts by underscored package name, renames from the name in code to that name)."""
    found: dict[str, str] = {}
    renames: dict[str, str] = {}
    for wanted in package.dependencies:
        name = wanted.package.replace("-", "_")
        locked = package.lock.version(package.manifest.name, wanted.package, wanted.version) if package.lock else None
        text = locked or wanted.version
        if text == "*" and wanted.path is not None:
            local = all_packages.get(Path(os.path.normpath(wanted.path)))
            own = (local.manifest.package or {}).get("version") if local is not None else None
            text = own if isinstance(own, str) else text
        if name not in found or found[name] == "*":
            found[name] = text
        if wanted.alias != name:
            renames[wanted.alias] = name
    return found, renames


def crates_of(package: Package, all_packages: dict[Path, Package], store: SourceStore) -> list[Crate]:
    """The crates of one package; their modules are parsed on first use."""
    found, renames = versions(package, all_packages)
    by_name: dict[str, Target] = {}
    for other in all_packages.values():
        if other.library is not None:
            by_name.setdefault(other.manifest.name, other.library)
    local: dict[str, str] = {}
    paths = package.path_dependencies()
    for wanted in package.dependencies:
        at = paths.get(wanted.alias)
        by_path = all_packages.get(at) if at is not None else None
        library = by_path.library if by_path is not None else by_name.get(wanted.package)
        if library is not None:
            renamed = wanted.alias if wanted.alias != wanted.package.replace("-", "_") else library.name
            local[renamed] = str(library.root)
    crates: list[Crate] = []
    own = package.library
    for target in package.targets:
        visible = dict(local)
        if own is not None and target is not own and target.kind != "build":
            visible.setdefault(own.name, str(own.root))
        crates.append(
            Crate(
                key=str(target.root),
                name=target.name,
                kind=target.kind,
                manifest=str(package.manifest.path),
                root=str(target.root),
                edition=edition(package.manifest, package.workspace),
                dependencies=found,
                load_modules=partial(build_modules, store, target.root, str(target.root)),
                renames=renames,
                locals=visible,
            )
        )
    return crates


def loose_crate(file: Path, package: Package | None, all_packages: dict[Path, Package], store: SourceStore) -> Crate:
    """A crate of one file (and the modules it declares) that is no target of a package."""
    found, renames = versions(package, all_packages) if package is not None else ({}, {})
    return Crate(
        key=str(file),
        name=file.stem.replace("-", "_"),
        kind="loose",
        manifest=str(package.manifest.path) if package is not None else None,
        root=str(file),
        edition=edition(package.manifest, package.workspace) if package is not None else "2021",
        dependencies=found,
        load_modules=partial(build_modules, store, file, str(file)),
        renames=renames,
    )


def relevant(packages: dict[Path, Package], with_gpu: set[Path], hints: Callable[[Path], bool]) -> set[Path]:
    """The folders of packages that have GPU code, or that depend on one that has and hint at it in their own text.

    Dependencies of tests and build scripts do not count.
    """
    users: dict[Path, list[Path]] = {}
    names = {package.manifest.name: folder for folder, package in packages.items()}
    for folder, package in packages.items():
        paths = package.path_dependencies()
        for wanted in package.dependencies:
            used = paths.get(wanted.alias) or names.get(wanted.package)
            if used is not None and wanted.kind == "dependencies" and not package.is_proc_macro:
                users.setdefault(used, []).append(folder)
    found = {folder for folder in with_gpu if folder in packages and not packages[folder].is_proc_macro}
    stack = list(found)
    seen = set(found)
    while stack:
        for user in users.get(stack.pop(), ()):
            if user not in seen:
                seen.add(user)
                if hints(user):
                    found.add(user)
                    stack.append(user)
    return found
