"""Load what the user named: files, folders, packages, workspaces.

No cargo runs and nothing is executed: manifests are read as TOML and module trees are followed in the text.
"""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from gpusafe.errors import UsageError
from gpusafe.parse.cargo_manifest import Manifest
from gpusafe.parse.modules import files_of
from gpusafe.parse.workspace_files import CUDA_SUFFIXES, PTX_SUFFIX, Scan, SourceStore, scan
from gpusafe.parse.workspace_model import Crate, Module, ModulePath, Workspace
from gpusafe.parse.workspace_packages import (
    ManifestReader,
    Package,
    crates_of,
    loose_crate,
    relevant,
)
from gpusafe.results import FileRecord, FileStatus

__all__ = ["Crate", "Module", "ModulePath", "Workspace", "load"]

_MOD_DECLARATION = re.compile(r"\bmod\s+(?:r#)?\w+\s*;")

_INCLUDED_CUDA = re.compile(
    r"include_str!\s*\(\s*(concat!\s*\(\s*env!\s*\(\s*\"CARGO_MANIFEST_DIR\"\s*\)\s*,\s*)?\"([^\"\n]+\.cuh?)\"\s*,?\s*\)"
)


def load(paths: Sequence[Path], *, untrusted: bool = False) -> Workspace:
    """Everything under ``paths``: ``.rs`` and ``.cu`` files, ``Cargo.toml`` files, folders, ``.ptx`` files by name.

    ``untrusted`` keeps reading inside of the given folders: manifests, lock files and dependencies by path that lie
    above or beside them are not looked at. A path that does not exist raises UsageError.
    """
    with _paused_collection():
        return _Loader(_distinct(paths), untrusted=untrusted).run()


@contextmanager
def _paused_collection() -> Iterator[None]:
    """Trees are built by the million and none is garbage; the collector only costs time meanwhile."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _distinct(paths: Sequence[Path]) -> list[Path]:
    """The paths that exist and do not lie in another of them; a Cargo.toml stands for its folder."""
    normal: dict[Path, None] = {}
    for path in paths:
        if not path.exists():
            raise UsageError(f"no such file or folder: {path}")
        normal[Path(os.path.normpath(path.parent if path.name == "Cargo.toml" else path))] = None
    real = {path: Path(os.path.realpath(path)) for path in normal}
    folders = {real[path] for path in normal if path.is_dir()}
    return [path for path in normal if not any(above in folders for above in real[path].parents)]


class _Loader:
    """One run of ``load``."""

    def __init__(self, paths: list[Path], *, untrusted: bool) -> None:
        self.untrusted = untrusted
        self.folders = [path for path in paths if path.is_dir()]
        self.single = [path for path in paths if not path.is_dir()]
        self.store = SourceStore([*self.folders, *(path.parent for path in self.single)])
        self.reader = ManifestReader(self.store, untrusted=untrusted)
        self.packages: dict[Path, Package] = {}
        self.rust: list[Path] = []
        self.cuda: list[Path] = []
        self.ptx: list[Path] = []
        self.crates: list[Crate] = []
        self.libraries: list[Crate] = []

    def run(self) -> Workspace:
        for folder in self.folders:
            self._take_scan(scan(folder))
        self._take_outside_packages()
        owner = {file: self._owner(file) for file in self.rust}
        self._load_packages(owner)
        self._load_loose([file for file in self.rust if owner[file] is None])
        self._load_single()
        for file in (*self.cuda, *self.ptx):
            self.store.read(file)
        return Workspace(
            crates=tuple(self.crates),
            files=tuple(self._records()),
            sources=self.store.sources,
            cuda_files=tuple(str(file) for file in self.cuda if str(file) in self.store.sources),
            libraries=tuple(self.libraries),
            notices=tuple(self.store.notices),
            roots=tuple(self.store.roots),
            ptx_files=tuple(str(file) for file in self.ptx if str(file) in self.store.sources),
        )

    def _take_scan(self, found: Scan) -> None:
        self.rust += found.rust
        self.cuda += found.cuda
        for notice in found.notices:
            self.store.notice(notice)
        for path in found.manifests:
            manifest = self.reader.manifest(path)
            if manifest is not None:
                self._check_members(manifest)
            if (package := self.reader.package(path)) is not None:
                self.packages[package.manifest.folder] = package

    def _check_members(self, manifest: Manifest) -> None:
        members = (manifest.workspace or {}).get("members")
        for member in members if isinstance(members, list) else ():
            if not isinstance(member, str) or any(sign in member for sign in "*?["):
                continue
            if not (manifest.folder / member / "Cargo.toml").is_file():
                self.store.notice(f"{manifest.path}: workspace member `{member}` has no Cargo.toml")

    def _take_outside_packages(self) -> None:
        """Dependencies by path that lie elsewhere, so that paths into them resolve."""
        stack = list(self.packages.values())
        while stack:
            package = stack.pop()
            for alias, folder in package.path_dependencies().items():
                manifest = folder / "Cargo.toml"
                if folder in self.packages or not manifest.is_file():
                    continue
                if self.untrusted:
                    self.store.notice(f"{package.manifest.path}: `{alias}` lies outside of the checked folders")
                    continue
                found = self.reader.package(manifest, outside=True)
                if found is not None:
                    self.store.add_root(folder)
                    self.packages[folder] = found
                    stack.append(found)

    def _owner(self, file: Path) -> Path | None:
        return next((folder for folder in file.parents if folder in self.packages), None)

    def _load_packages(self, owner: dict[Path, Path | None]) -> None:
        with_gpu = {folder for file, folder in owner.items() if folder is not None and self.store.has_gpu(file)}
        files: dict[Path, list[Path]] = {}
        for file, at in owner.items():
            if at is not None:
                files.setdefault(at, []).append(file)
        needed = relevant(
            self.packages, with_gpu, lambda folder: any(map(self.store.hints_at_gpu, files.get(folder, ())))
        )
        reached: set[str] = set()
        for folder, package in self.packages.items():
            crates = crates_of(package, self.packages, self.store)
            if folder not in needed or package.outside:
                self.libraries += crates
                continue
            self.crates += crates
            for crate in crates:
                reached |= files_of(crate.modules)
        for file, at in owner.items():
            if at is not None and str(file) not in reached and self.store.has_gpu(file):
                package = self.packages[at]
                if package.is_proc_macro and file.is_relative_to(at / "src"):
                    continue
                crate = loose_crate(file, package, self.packages, self.store)
                self.crates.append(crate)
                reached |= files_of(crate.modules)

    def _load_loose(self, files: list[Path]) -> None:
        """Files without a package: each is a crate, unless another one declares it as a module."""
        declaring = [file for file in files if _MOD_DECLARATION.search(self.store.read(file) or "")]
        trees = {file: self._loose(file) for file in declaring}
        reached: set[str] = set()
        for file, crate in trees.items():
            if str(file) not in reached:
                reached |= files_of(crate.modules) - {str(file)}
        for file in files:
            if str(file) in reached:
                continue
            crate = trees.get(file) or self._loose(file)
            if file in trees or self.store.has_gpu(file):
                self._take_loose(crate)
            else:
                self.libraries.append(crate)

    def _loose(self, file: Path, *, reads_package: bool = False) -> Crate:
        """A crate of its own, with the dependency versions of the package around it, if there is one."""
        package = self.reader.enclosing(file) if not self.untrusted else None
        if package is not None and reads_package:
            self.store.add_root(package.manifest.folder)
        return loose_crate(file, package, {}, self.store)

    def _take_loose(self, crate: Crate) -> None:
        tree = files_of(crate.modules)
        (self.crates if any(self.store.has_gpu(Path(path)) for path in tree) else self.libraries).append(crate)

    def _load_single(self) -> None:
        rust = [file for file in self.single if file.suffix == ".rs"]
        crates: dict[Path, Crate] = {}
        for file in rust:
            crates[file] = self._loose(file, reads_package=True)
        reached: set[str] = set()
        for file, crate in crates.items():
            if str(file) not in reached:
                reached |= files_of(crate.modules) - {str(file)}
        for file, crate in crates.items():
            if str(file) in reached:
                continue
            self._take_loose(crate)
            tree = files_of(crate.modules) | {str(file)}
            self.rust += [Path(path) for path in sorted(tree) if Path(path) not in self.rust]
            self._take_included(sorted(tree), crate)
        for file in self.single:
            if file.suffix in CUDA_SUFFIXES:
                self.cuda += [file] if file not in self.cuda else []
            elif file.suffix == PTX_SUFFIX:
                self.ptx += [file] if file not in self.ptx else []
            elif file.suffix != ".rs":
                self.store.skipped[str(file)] = "neither Rust nor CUDA source nor PTX"
                self.rust.append(file)

    def _take_included(self, files: list[str], crate: Crate) -> None:
        """CUDA sources that single files include as text."""
        for file in files:
            for match in _INCLUDED_CUDA.finditer(self.store.sources.get(file, "")):
                base = Path(crate.manifest or file).parent if match[1] else Path(file).parent
                path = Path(os.path.normpath(f"{base}/{match[2]}"))
                if path not in self.cuda and self.store.exists(path):
                    self.cuda.append(path)

    def _records(self) -> Iterator[FileRecord]:
        parsed = self.store.parsed()
        known = {str(file) for file in self.rust}
        extra = [Path(path) for path in parsed if path not in known]
        for file in [*self.rust, *sorted(extra)]:
            key = str(file)
            detail = self.store.details.get(key, "")
            syntax = parsed.get(key)
            if key in self.store.skipped:
                yield FileRecord(key, FileStatus.SKIPPED, self.store.skipped[key])
            elif syntax is not None and syntax.errors:
                first = syntax.errors[0]
                message = f"syntax error in line {first.line}"
                yield FileRecord(key, FileStatus.SYNTAX_ERROR, f"{message}; {detail}" if detail else message, first)
            elif self.store.has_gpu(file) and syntax is None:
                yield FileRecord(key, FileStatus.NO_GPU, "part of a procedural macro, which runs in the compiler")
            elif self.store.has_gpu(file):
                yield FileRecord(key, FileStatus.ANALYSED, detail)
            else:
                yield FileRecord(key, FileStatus.NO_GPU, detail)
        for manifest, why in self.reader.unusable.items():
            yield FileRecord(manifest, FileStatus.SKIPPED, why)
        for file in (*self.cuda, *self.ptx):
            key = str(file)
            skipped = self.store.skipped.get(key)
            status = FileStatus.SKIPPED if skipped is not None else FileStatus.ANALYSED
            yield FileRecord(key, status, skipped or self.store.details.get(key, ""))
