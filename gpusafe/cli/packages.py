"""Which folders the packages of cargo's flags are. Manifests are read as text; cargo does not run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from gpusafe.errors import UsageError
from gpusafe.parse.cargo_manifest import Manifest, read_manifest
from gpusafe.parse.workspace_files import scan


def chosen(manifest_path: str | None, named: Sequence[str], excluded: Sequence[str], *, whole: bool) -> tuple[str, ...]:
    """The folders of the ``named`` packages; of the whole workspace but the ``excluded`` ones; or of the package here.

    Raises UsageError for a manifest or a package that is not there.
    """
    here = _manifest(Path(manifest_path)) if manifest_path else _nearest(Path.cwd())
    root = _root(here)
    if not named and not excluded:
        return (_shown(root.folder if whole else here.folder),)
    members = [m for file in scan(root.folder).manifests if isinstance(m := read_manifest(file), Manifest) and m.name]
    wanted = [m for m in members if not named or any(_is(m, spec) for spec in named)]
    for spec in (*named, *excluded):
        if not any(_is(m, spec) for m in members):
            raise UsageError(f"there is no package `{spec}` in {_shown(root.path)}{_hint(spec, members)}")
    left = [m for m in wanted if not any(_is(m, spec) for spec in excluded)]
    if not left:
        raise UsageError("--exclude leaves no package")
    return tuple(dict.fromkeys(_shown(m.folder) for m in left))


def _is(manifest: Manifest, spec: str) -> bool:
    """Whether a package is meant: by its name, a pattern of it, or with ``@VERSION`` or ``:VERSION`` behind it."""
    name = spec.rpartition("#")[2].partition("@")[0].partition(":")[0]
    return fnmatchcase(manifest.name, name)


def _hint(spec: str, members: Iterable[Manifest]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(spec, [m.name for m in members], 1, 0.5)
    return f"; did you mean `{near[0]}`?" if near else ""


def _nearest(folder: Path) -> Manifest:
    for at in (folder, *folder.parents):
        if (at / "Cargo.toml").is_file():
            return _manifest(at / "Cargo.toml")
    raise UsageError(f"there is no Cargo.toml in {folder} or above it")


def _manifest(path: Path) -> Manifest:
    if not path.is_file():
        raise UsageError(f"no such manifest: {path}")
    found = read_manifest(Path(os.path.abspath(path)))
    if isinstance(found, str):
        raise UsageError(f"{path}: {found}")
    return found


def _root(manifest: Manifest) -> Manifest:
    """The workspace that a package belongs to, itself where there is none above it."""
    for folder in (manifest.folder, *manifest.folder.parents):
        file = folder / "Cargo.toml"
        above = read_manifest(file) if file.is_file() else None
        if isinstance(above, Manifest) and above.workspace is not None:
            return above
    return manifest


def _shown(path: Path) -> str:
    """The path from the working folder where it lies below it."""
    here = os.getcwd()
    return os.path.relpath(path, here) if path.is_relative_to(here) else str(path)
