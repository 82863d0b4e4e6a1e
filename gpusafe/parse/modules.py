"""The module tree of a crate: ``mod`` declarations, ``#[path]``, inline modules, ``include!`` of items."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from gpusafe.parse.rust import ast
from gpusafe.parse.rust.macros import parse_args
from gpusafe.parse.syntax_cfg import BOTH, attribute_sets, item_sets
from gpusafe.parse.workspace_files import SourceStore
from gpusafe.parse.workspace_model import Module, ModulePath

MAX_MODULES = 5_000
"""Modules of one crate; a tree that is larger goes in circles."""

_MAX_INCLUDES = 16


@dataclass(frozen=True, slots=True)
class _Pending:
    """A module whose children are still to be found. ``folder`` is where the files of its child modules lie."""

    path: ModulePath
    file: ast.SourceFile
    items: tuple[ast.Item, ...]
    folder: Path
    sets: frozenset[str]
    chain: tuple[str, ...]


def build_modules(store: SourceStore, root: Path, key: str) -> dict[ModulePath, Module]:
    """All modules of the crate with that root file, by path; empty when the root cannot be read."""
    modules: dict[ModulePath, Module] = {}
    start = _from_file(store, (), root, root.parent, BOTH, ())
    pending = deque([start] if start is not None else ())
    count = 0
    while pending:
        at = pending.popleft()
        count += 1
        if count > MAX_MODULES:
            store.notice(f"{root}: more than {MAX_MODULES} modules; the rest is left out")
            break
        items = tuple(_with_includes(store, at.items, at.file))
        module = Module(at.path, at.file, items, key, at.sets)
        first = modules.get(at.path)
        modules[at.path] = module if first is None else replace(first, others=(*first.others, module))
        for item in items:
            if isinstance(item, ast.Mod) and (child := _child(store, at, item)) is not None:
                pending.append(child)
    return modules


def files_of(modules: dict[ModulePath, Module]) -> set[str]:
    """The paths of the files that a module tree reaches, included ones too."""
    found: set[str] = set()
    for module in modules.values():
        for one in (module, *module.others):
            found.add(one.file.path)
            found.update(item.span.file for item in one.items)
    return found


def _from_file(
    store: SourceStore, path: ModulePath, file: Path, folder: Path, sets: frozenset[str], chain: tuple[str, ...]
) -> _Pending | None:
    syntax = store.syntax(file)
    if syntax is None:
        return None
    real = os.path.realpath(file)
    if real in chain:
        store.notice(f"{file}: module cycle through `{'::'.join(path)}`")
        return None
    return _Pending(path, syntax, syntax.items, folder, sets & attribute_sets(syntax.attributes), (*chain, real))


def _child(store: SourceStore, parent: _Pending, item: ast.Mod) -> _Pending | None:
    path = (*parent.path, item.name)
    sets = parent.sets & item_sets(item)
    given = item.attribute("path")
    named = given.text.strip().strip('"') if given is not None else ""
    if item.items is not None:
        folder = parent.folder / (named or item.name)
        return _Pending(path, parent.file, item.items, folder, sets, parent.chain)
    for file, folder in _places(parent, item, named):
        if store.exists(file):
            return _from_file(store, path, file, folder, sets, parent.chain)
    if any(file.is_file() for file, _ in _places(parent, item, named)):
        store.notice(f"{item.span}: the file of module `{'::'.join(path)}` lies outside of the checked folders")
    elif item.attribute("cfg") is None:
        store.notice(f"{item.span}: no file for module `{'::'.join(path)}`")
    return None


def _places(parent: _Pending, item: ast.Mod, named: str) -> Iterator[tuple[Path, Path]]:
    """Where the file of ``mod name;`` can be, each with the folder of its own child modules."""
    if named:
        inline = Path(parent.file.path).parent
        base = inline if _is_file_level(parent) else parent.folder
        file = _normal(base / named)
        yield file, file.parent
    yield _normal(parent.folder / f"{item.name}.rs"), _normal(parent.folder / item.name)
    yield _normal(parent.folder / item.name / "mod.rs"), _normal(parent.folder / item.name)


def _is_file_level(module: _Pending) -> bool:
    return module.items is module.file.items


def _normal(path: Path) -> Path:
    return Path(os.path.normpath(path))


def _with_includes(store: SourceStore, items: tuple[ast.Item, ...], file: ast.SourceFile) -> Iterator[ast.Item]:
    """The items, with ``include!("file")`` replaced by the items of that file where it can be read."""
    stack: list[tuple[ast.Item, tuple[str, ...]]] = [(item, (file.path,)) for item in reversed(items)]
    while stack:
        item, chain = stack.pop()
        included = _included(store, item) if isinstance(item, ast.MacroItem) else None
        if included is None:
            yield item
        elif included.path in chain or len(chain) > _MAX_INCLUDES:
            store.notice(f"{item.span}: `include!` of a file into itself")
        else:
            stack.extend((inner, (*chain, included.path)) for inner in reversed(included.items))


def _included(store: SourceStore, item: ast.MacroItem) -> ast.SourceFile | None:
    if item.call.path.last != "include":
        return None
    match parse_args(item.call):
        case (ast.Lit(kind="str", value=str(name)),):
            file = _normal(Path(item.span.file).parent / name)
            return store.syntax(file) if store.exists(file) else None
        case _:
            return None
