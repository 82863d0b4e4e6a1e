"""Name resolution: what a path means in a module."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gpusafe.parse.resolve_model import Foreign, Local, LocalModule, Names, Resolved
from gpusafe.parse.resolve_prelude import PRELUDE, PRIMITIVES, STD_CRATES
from gpusafe.parse.resolve_tables import ImplRef, NameTable, Tables, names_of
from gpusafe.parse.rust import ast
from gpusafe.parse.workspace_gpu_text import GPU_CRATES
from gpusafe.parse.workspace_model import Crate, Module, ModulePath, Workspace

__all__ = ["Foreign", "ImplRef", "Local", "LocalModule", "Resolved", "Resolver", "Tables"]

_MAX_HOPS = 40
"""Imports that lead to imports; a longer chain is a cycle."""


class Resolver:
    """Looks paths up as they stand in the modules of one crate. Give one ``tables`` to all resolvers of a workspace."""

    def __init__(self, workspace: Workspace, crate: Crate, tables: Tables | None = None) -> None:
        self.workspace = workspace
        self.crate = crate
        self.tables = tables if tables is not None else Tables(workspace)

    def resolve(
        self,
        module_path: ModulePath,
        names: Names,
        scope_uses: Sequence[ast.Item] = (),
        *,
        values: bool = True,
        within: ast.Impl | ast.Trait | None = None,
    ) -> Resolved | None:
        """The meaning of ``names`` in a module, or None when nothing is known.

        ``scope_uses`` are the items (imports and others) of the blocks around the place, innermost first. ``values``
        prefers functions and constants for the last segment, otherwise types. ``within`` gives ``Self`` its meaning.
        """
        if not names:
            return None
        if names[0] == "Self" and within is not None:
            return self._in_self(module_path, names[1:], scope_uses, values, within)
        if scope_uses and names[0] not in ("crate", "self", "super", ""):
            module = self.crate.modules.get(module_path)
            if module is not None:
                table = names_of(scope_uses, module)
                found = self._in_table(self.crate, module_path, table, names, values, 0)
                if found is not None and not (isinstance(found, Foreign) and not found.certain):
                    return found
                outside = self._lookup(self.crate, module_path, names, values, 0)
                return _joined(found, outside)
        return self._lookup(self.crate, module_path, names, values, 0)

    def resolve_type(
        self,
        module_path: ModulePath,
        given: ast.Type,
        scope_uses: Sequence[ast.Item] = (),
        within: ast.Impl | ast.Trait | None = None,
    ) -> Resolved | None:
        """The meaning of a type's path (references and pointers are not looked through)."""
        if not isinstance(given, ast.TypePath):
            return None
        return self.resolve(module_path, given.path.names, scope_uses, values=False, within=within)

    def impls_of(self, name: str) -> tuple[ImplRef, ...]:
        """The impl blocks for types called ``name`` in this crate and in the crates of the workspace that it uses."""
        return tuple(ref for crate in self._visible_crates() for ref in self.tables.impls(crate, name))

    def methods(self, type_name: str, method: str) -> tuple[Local, ...]:
        """The associated functions called ``method`` of types called ``type_name``, inherent ones first."""
        found = [
            Local(ref.module, item, ref.impl)
            for ref in self.impls_of(type_name)
            for item in ref.impl.items
            if item.name == method and isinstance(item, ast.Fn)
        ]
        return tuple(
            sorted(found, key=lambda local: isinstance(local.owner, ast.Impl) and local.owner.trait is not None)
        )

    def _visible_crates(self) -> Iterator[Crate]:
        seen: set[str] = set()
        stack = [self.crate.key]
        while stack:
            key = stack.pop()
            crate = self.workspace.by_key.get(key)
            if key in seen or crate is None:
                continue
            seen.add(key)
            yield crate
            stack.extend(at for name, at in crate.locals.items() if name not in GPU_CRATES)

    # -- steps -------------------------------------------------------------------------------------------------------

    def _in_self(
        self, at: ModulePath, rest: Names, scope: Sequence[ast.Item], values: bool, within: ast.Impl | ast.Trait
    ) -> Resolved | None:
        if isinstance(within, ast.Trait):
            module = self.crate.modules.get(at)
            return self._associated(self.crate, Local(module, within), rest, values, 0) if module is not None else None
        match within.self_type:
            case ast.TypePath(path=path) if path.names[0] != "Self":
                if rest:
                    for item in within.items:
                        if item.name == rest[0] and (module := self.crate.modules.get(at)) is not None:
                            return Local(module, item, within, rest=rest[1:])
                return self.resolve(at, (*path.names, *rest), scope, values=values and bool(rest))
            case _:
                return None

    def _lookup(self, crate: Crate, at: ModulePath, names: Names, values: bool, hops: int) -> Resolved | None:
        """A path as written in a module."""
        if hops > _MAX_HOPS:
            return None
        head, rest = names[0], names[1:]
        if head == "":
            return self._extern(crate, rest, values, hops) if rest else None
        if head in ("crate", "$crate"):
            return self._in_module(crate, (), rest, values, hops)
        if head in ("self", "super"):
            while names and names[0] in ("self", "super"):
                if names[0] == "super":
                    if not at:
                        return None
                    at = at[:-1]
                names = names[1:]
            return self._in_module(crate, at, names, values, hops)
        found = self._in_module(crate, at, names, values, hops)
        if found is not None and not (isinstance(found, Foreign) and not found.certain):
            return found
        known = self._extern(crate, names, values, hops) if rest or not values else None
        if known is None and head in PRELUDE:
            known = Foreign((*PRELUDE[head], *rest))
        if known is None and head in PRIMITIVES:
            known = Foreign(names)
        return known if known is not None else found

    def _in_module(self, crate: Crate, at: ModulePath, names: Names, values: bool, hops: int) -> Resolved | None:
        """A path inside of a module."""
        if not names:
            return LocalModule(crate.key, at)
        table = self.tables.names(crate, at)
        return self._in_table(crate, at, table, names, values, hops) if table is not None else None

    def _in_table(
        self, crate: Crate, at: ModulePath, table: NameTable, names: Names, values: bool, hops: int
    ) -> Resolved | None:
        if hops > _MAX_HOPS:
            return None
        head, rest = names[0], names[1:]
        if rest and head in table.modules:
            return self._in_module(crate, (*at, head), rest, values, hops + 1)
        for space in (table.values, table.types) if values and not rest else (table.types, table.values):
            if head in space:
                return self._associated(crate, space[head], rest, values, hops)
        if head in table.modules:
            return LocalModule(crate.key, (*at, head))
        guesses: list[Foreign] = []
        for path in table.uses.get(head, ()):
            found = self._import(crate, at, path, rest, values, hops)
            if isinstance(found, Foreign) and not found.certain:
                guesses.append(found)
            elif found is not None:
                return found
        for glob in table.globs:
            found = self._glob(crate, at, glob, names, values, hops)
            if isinstance(found, Foreign) and not found.certain:
                guesses.append(found)
            elif found is not None:
                return found
        return _merged(guesses)

    def _import(
        self, crate: Crate, at: ModulePath, path: Names, rest: Names, values: bool, hops: int
    ) -> Resolved | None:
        """``use path`` followed by ``rest``; what is no module or type of this module must be a crate."""
        if path[0] in ("", "crate", "self", "super"):
            return self._lookup(crate, at, (*path, *rest), values, hops + 1)
        table = self.tables.names(crate, at)
        own = table is not None and (path[0] in table.modules or path[0] in table.types)
        known = None if own else self._extern(crate, (*path, *rest), values, hops + 1)
        if known is not None or (len(path) == 1 and not own):
            return known
        found = self._lookup(crate, at, (*path, *rest), values, hops + 1)
        return found if found is not None or own else Foreign((*path, *rest))

    def _glob(
        self, crate: Crate, at: ModulePath, glob: Names, names: Names, values: bool, hops: int
    ) -> Resolved | None:
        target = self._import(crate, at, glob, (), False, hops) if glob else None
        match target:
            case LocalModule(crate=key, path=path):
                inside = self.workspace.by_key.get(key)
                if inside is None or (key == crate.key and path == at):
                    return None
                return self._in_module(inside, path, names, values, hops + 1)
            case Local(item=ast.Enum(variants=variants)) as local:
                return next((replace(local, variant=v, rest=names[1:]) for v in variants if v.name == names[0]), None)
            case Foreign(path=path):
                full = (*path, *names)
                return Foreign(full, (full,), certain=False)
            case _:
                return None

    def _extern(self, crate: Crate, names: Names, values: bool, hops: int) -> Resolved | None:
        """A path whose first segment is a crate's name."""
        head, rest = names[0], names[1:]
        if head in STD_CRATES:
            return Foreign(("std", *rest))
        package = crate.renames.get(head, head)
        if package in GPU_CRATES:
            return Foreign((package, *rest))
        local = self.workspace.by_key.get(crate.locals.get(head, ""))
        if local is not None:
            return self._in_module(local, (), rest, values, hops + 1)
        if package in crate.dependencies:
            return Foreign((package, *rest))
        return Foreign(names) if crate.manifest is None and rest and not head[0].isupper() else None

    def _associated(self, crate: Crate, found: Local, rest: Names, values: bool, hops: int) -> Resolved | None:
        """Segments after an item: variants, associated functions and constants; aliases are followed."""
        if not rest:
            return found
        name = rest[0]
        match found.item:
            case ast.Enum(variants=variants):
                variant = next((v for v in variants if v.name == name), None)
                if variant is not None:
                    return replace(found, variant=variant, rest=rest[1:])
            case ast.TypeAlias(type=ast.TypePath(path=path)):
                home = self.workspace.by_key.get(found.module.crate, crate)
                return self._lookup(home, found.module.path, (*path.names, *rest), values, hops + 1)
            case ast.Trait(items=items) as trait:
                item = next((item for item in items if item.name == name), None)
                if item is not None:
                    return Local(found.module, item, trait, rest=rest[1:])
        for ref in self._impls_for(crate, found):
            for item in ref.impl.items:
                if item.name == name:
                    return Local(ref.module, item, ref.impl, rest=rest[1:])
        return replace(found, rest=rest)

    def _impls_for(self, crate: Crate, found: Local) -> list[ImplRef]:
        """The impl blocks of an item, inherent ones first, by name in its own crate and in the one that asks."""
        keys = dict.fromkeys((found.module.crate, crate.key, self.crate.key))
        crates = [self.workspace.by_key[key] for key in keys if key in self.workspace.by_key]
        refs = [
            ref for one in crates for ref in self.tables.impls(one, found.item.name) if self._is_for(one, ref, found)
        ]
        return sorted(refs, key=lambda ref: ref.impl.trait is not None)

    def _is_for(self, crate: Crate, ref: ImplRef, found: Local) -> bool:
        """Whether an impl's self type is that item; one that does not resolve counts by its name."""
        given = ref.impl.self_type
        if not isinstance(given, ast.TypePath):
            return False
        target = self._lookup(crate, ref.module.path, given.path.names, False, 0)
        return not isinstance(target, Local) or target.item is found.item


def _merged(guesses: list[Foreign]) -> Foreign | None:
    if not guesses:
        return None
    candidates = tuple(dict.fromkeys(path for guess in guesses for path in guess.candidates))
    return Foreign(candidates[0], candidates, certain=False)


def _joined(inner: Resolved | None, outer: Resolved | None) -> Resolved | None:
    """A guess of an inner scope and what the module says: a certain answer wins."""
    if isinstance(inner, Foreign) and isinstance(outer, Foreign) and not outer.certain:
        return _merged([inner, outer])
    return outer if outer is not None else inner


def module_of(workspace: Workspace, found: LocalModule) -> Module | None:
    """The module that a path leads to."""
    crate = workspace.by_key.get(found.crate)
    return crate.modules.get(found.path) if crate is not None else None
