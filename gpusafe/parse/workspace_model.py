"""What the loader hands on: crates, their modules, the account of the files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from gpusafe.parse.rust import ast
from gpusafe.parse.syntax_cfg import BOTH
from gpusafe.results import FileRecord

ModulePath = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Module:
    """One module of a crate.

    ``path`` counts from the crate's root, which is ``()``. ``file`` is where the module is written, ``items`` what it
    holds (items of an ``include!`` among them). ``crate`` is the key of its crate. ``sets`` says where the module can
    exist by its own and its parents' ``cfg``. ``others`` are further modules with the same path (cfg alternatives).
    """

    path: ModulePath
    file: ast.SourceFile
    items: tuple[ast.Item, ...]
    crate: str
    sets: frozenset[str] = BOTH
    others: tuple[Module, ...] = ()


@dataclass(frozen=True)
class Crate:
    """One target of a package, or a file of its own.

    ``key`` is unique in the workspace (the path of the root file). ``name`` is what ``use`` would call it. ``kind``:
    lib, proc-macro, bin, example, test, bench, build or loose. ``dependencies`` maps the underscored names of packages
    to version texts (of Cargo.lock, else of Cargo.toml; ``*`` when there is none). ``renames`` maps names that code
    uses to underscored package names, where the two differ; ``locals`` maps names that code uses to keys of crates
    here. ``modules`` are parsed on first use.
    """

    key: str
    name: str
    kind: str
    manifest: str | None
    root: str
    edition: str
    dependencies: dict[str, str]
    load_modules: Callable[[], dict[ModulePath, Module]] = field(repr=False, compare=False)
    renames: dict[str, str] = field(default_factory=dict)
    locals: dict[str, str] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash(self.key)

    @cached_property
    def modules(self) -> dict[ModulePath, Module]:
        """All modules by path; of cfg alternatives the first (see ``Module.others``)."""
        return self.load_modules()

    def all_modules(self) -> Iterator[Module]:
        """Every module, cfg alternatives included."""
        for module in self.modules.values():
            yield module
            yield from module.others


@dataclass(frozen=True)
class Workspace:
    """Everything under the given paths.

    ``crates`` are those with GPU code (or that depend on one here), ``libraries`` the rest, which are parsed only when
    a path leads there. ``files`` accounts for every file. ``sources`` has the text of every file that was read,
    ``cuda_files`` (``.cu`` and ``.cuh``) and ``ptx_files`` among them. ``roots`` are the folders that files may be read
    from.
    """

    crates: tuple[Crate, ...]
    files: tuple[FileRecord, ...]
    sources: dict[str, str]
    cuda_files: tuple[str, ...] = ()
    libraries: tuple[Crate, ...] = ()
    notices: tuple[str, ...] = ()
    roots: tuple[Path, ...] = ()
    ptx_files: tuple[str, ...] = ()

    @cached_property
    def by_key(self) -> dict[str, Crate]:
        """Crates and libraries by key."""
        return {crate.key: crate for crate in (*self.crates, *self.libraries)}
