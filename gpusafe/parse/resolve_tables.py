"""Name tables of modules, made on first use and shared by all resolvers of a workspace."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from gpusafe.parse.resolve_model import Local, Names
from gpusafe.parse.rust import ast
from gpusafe.parse.workspace_model import Crate, Module, ModulePath, Workspace

_EXTERN_CRATE = re.compile(r"extern\s+crate\s+(\w+)(?:\s+as\s+(\w+))?")


@dataclass(slots=True)
class NameTable:
    """The names that one module (or the items of one block) declares and imports."""

    types: dict[str, Local] = field(default_factory=dict)
    values: dict[str, Local] = field(default_factory=dict)
    modules: set[str] = field(default_factory=set)
    uses: dict[str, list[Names]] = field(default_factory=dict)
    globs: list[Names] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ImplRef:
    """An impl block and the module that it stands in."""

    module: Module
    impl: ast.Impl


def names_of(items: Iterable[ast.Item], module: Module, table: NameTable | None = None) -> NameTable:
    """The table of a list of items; the first of two items of one name counts."""
    table = table if table is not None else NameTable()
    for item in items:
        match item:
            case ast.Use(leaves=leaves):
                for leaf in leaves:
                    if leaf.alias == "*":
                        table.globs.append(leaf.path)
                    elif leaf.alias != "_":
                        table.uses.setdefault(leaf.alias, []).append(leaf.path)
            case ast.Mod(name=name):
                table.modules.add(name)
            case ast.Fn(name=name) | ast.Const(name=name) | ast.Static(name=name):
                table.values.setdefault(name, Local(module, item))
            case ast.Struct(name=name):
                table.types.setdefault(name, Local(module, item))
                table.values.setdefault(name, Local(module, item))
            case ast.Enum(name=name) | ast.Trait(name=name) | ast.TypeAlias(name=name):
                table.types.setdefault(name, Local(module, item))
            case ast.ExternBlock(items=inner):
                names_of(inner, module, table)
            case ast.OtherItem(text=text):
                if found := _EXTERN_CRATE.search(text):
                    table.uses.setdefault(found[2] or found[1], []).append(("", found[1]))
    return table


class Tables:
    """The name tables and impl blocks of all crates of one workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._names: dict[tuple[str, ModulePath], NameTable] = {}
        self._impls: dict[str, dict[str, list[ImplRef]]] = {}

    def names(self, crate: Crate, path: ModulePath) -> NameTable | None:
        """The table of a module; None when the crate has no such module."""
        key = crate.key, path
        if key not in self._names:
            module = crate.modules.get(path)
            if module is None:
                return None
            table = NameTable()
            for one in (module, *module.others):
                names_of(one.items, one, table)
            self._names[key] = table
        return self._names[key]

    def impls(self, crate: Crate, name: str) -> list[ImplRef]:
        """The impl blocks of a crate whose self type's last segment is ``name``."""
        if crate.key not in self._impls:
            found: dict[str, list[ImplRef]] = {}
            for module in crate.all_modules():
                for item in module.items:
                    if isinstance(item, ast.Impl):
                        found.setdefault(item.name, []).append(ImplRef(module, item))
            self._impls[crate.key] = found
        return self._impls[crate.key].get(name, [])
