"""The items that device code may name: modules, functions, types, constants, and the impls that give types methods."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from gpusafe.parse.rust import ast
from gpusafe.parse.syntax_cfg import DEVICE, item_sets
from gpusafe.span import Span

_MAX_HOPS = 32  # chains of `use` that are longer are cyclic


@dataclass(eq=False, slots=True)
class Module:
    """One module.

    ``family`` is set for the parts of the prelude (``core``, ``cuda_std``, ``oxide``). ``transparent``: the items of a
    block, which sees everything around it. ``ambiguous``: names that several items have, as conditional compilation
    that is not decided here picks one of them. ``site``: the macro call that these items are expanded from. ``impls``:
    the impl blocks of this module and those below, once they were looked for.
    """

    path: tuple[str, ...]
    items: tuple[ast.Item, ...]
    parent: Module | None = None
    family: str | None = None
    children: dict[str, Module] = field(default_factory=dict)
    types: dict[str, Def] = field(default_factory=dict)
    values: dict[str, Def] = field(default_factory=dict)
    macros: dict[str, ast.MacroRules] = field(default_factory=dict)
    uses: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)
    globs: list[tuple[str, ...]] = field(default_factory=list)
    transparent: bool = False
    site: Span | None = None
    expanded: list[Module] = field(default_factory=list)
    ambiguous: set[str] = field(default_factory=set)
    impls: tuple[tuple[ast.Impl, Module], ...] | None = None

    @property
    def root(self) -> Module:
        """The crate's root module."""
        here = self
        while here.parent is not None:
            here = here.parent
        return here


@dataclass(frozen=True, eq=False, slots=True)
class Def:
    """Base of definitions; ``module`` is where names in it are looked up."""

    name: str
    module: Module


@dataclass(frozen=True, eq=False, slots=True)
class FnDef(Def):
    item: ast.Fn
    impl: ImplDef | None = None
    trait: TraitDef | None = None


@dataclass(frozen=True, eq=False, slots=True)
class AdtDef(Def):
    item: ast.Struct | ast.Enum


@dataclass(frozen=True, eq=False, slots=True)
class VariantDef(Def):
    adt: AdtDef
    index: int
    item: ast.Variant


@dataclass(frozen=True, eq=False, slots=True)
class ConstDef(Def):
    item: ast.Const
    impl: ImplDef | None = None
    trait: TraitDef | None = None


@dataclass(frozen=True, eq=False, slots=True)
class StaticDef(Def):
    item: ast.Static


@dataclass(frozen=True, eq=False, slots=True)
class AliasDef(Def):
    item: ast.TypeAlias
    impl: ImplDef | None = None


@dataclass(frozen=True, eq=False, slots=True)
class TraitDef(Def):
    item: ast.Trait


@dataclass(frozen=True, eq=False, slots=True)
class ImplDef(Def):
    item: ast.Impl


@dataclass(frozen=True, eq=False, slots=True)
class ModuleDef(Def):
    target: Module


@dataclass(frozen=True, eq=False, slots=True)
class ForeignDef(Def):
    """Something of another crate; ``path`` starts with the crate where that is known."""

    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a path means: a definition, and the segments after it (an associated item, a variant)."""

    target: Def
    rest: tuple[str, ...] = ()


def make_def(item: ast.Item, module: Module) -> Def | None:
    """The definition that an item makes, if any."""
    match item:
        case ast.Fn():
            return FnDef(item.name, module, item)
        case ast.Struct() | ast.Enum():
            return AdtDef(item.name, module, item)
        case ast.Const():
            return ConstDef(item.name, module, item)
        case ast.Static():
            return StaticDef(item.name, module, item)
        case ast.TypeAlias():
            return AliasDef(item.name, module, item)
        case ast.Trait():
            return TraitDef(item.name, module, item)
        case _:
            return None


Expander = Callable[[ast.MacroItem, Module], tuple[ast.Item, ...]]


def build_module(
    path: tuple[str, ...],
    items: tuple[ast.Item, ...],
    parent: Module | None = None,
    family: str | None = None,
    expand: Expander | None = None,
) -> Module:
    """The module tree of a list of items: inline modules included, and what macro calls in item position make."""
    root = Module(path, items, parent, family)
    todo = [root]
    while todo:
        module = todo.pop()
        for item in module.items:
            if DEVICE not in item_sets(item):
                continue
            if isinstance(item, ast.MacroItem) and expand is not None:
                made = expand(item, module)
                if made:
                    child = Module((*module.path, f"{{{item.call.path.last}!}}"), made, module, family)
                    child.transparent, child.site = True, item.call.span
                    module.expanded.append(child)
                    todo.append(child)
                continue
            if isinstance(item, ast.Mod) and item.items is not None:
                child = Module((*module.path, item.name), item.items, module, family)
                module.children[item.name] = child
                todo.append(child)
            else:
                enter(module, item)
    return root


def enter(module: Module, item: ast.Item) -> None:
    """Put one item into its module's tables."""
    match item:
        case ast.Use(leaves=leaves):
            for leaf in leaves:
                if leaf.alias == "*":
                    module.globs.append(leaf.path)
                elif leaf.alias != "_":
                    module.uses.setdefault(leaf.alias, []).append(leaf.path)
        case ast.MacroRules():
            module.macros[item.name] = item
        case ast.ExternBlock(items=items):
            for inner in items:
                enter(module, inner)
        case _:
            made = make_def(item, module)
            if made is None:
                return
            space = module.types if isinstance(made, AdtDef | AliasDef | TraitDef) else module.values
            if item.name in space:
                module.ambiguous.add(item.name)
            space.setdefault(item.name, made)


def _impls_below(root: Module) -> tuple[tuple[ast.Impl, Module], ...]:
    """The impl blocks of a finished module tree, looked for once: many crates see the same trees."""
    if root.impls is None:
        root.impls = tuple(
            (item, module)
            for module in Program.walk(root)
            for item in module.items
            if isinstance(item, ast.Impl) and DEVICE in item_sets(item)
        )
    return root.impls


class Program:
    """All modules of the workspace with name lookup, and the prelude that stands for the foreign crates."""

    def __init__(self, roots: Mapping[str, Module], preludes: Iterable[Module] = ()) -> None:
        self.roots = dict(roots)
        self.preludes = {m.family: m for m in preludes if m.family}
        self.has_drops = False  # whether any impl of Drop is in sight
        self._impls: dict[str, list[ImplDef]] = defaultdict(list)
        self._known: dict[tuple[int, tuple[str, ...], bool], Resolved | None] = {}
        self._looking: set[tuple[int, str]] = set()  # globs that a lookup is going through: they may lead in circles
        self._tried: set[tuple[int, tuple[str, ...], bool]] = set()  # globs in which this lookup found nothing
        self._targets: dict[tuple[int, tuple[str, ...]], Resolved] = {}
        for root in (*self.roots.values(), *self.preludes.values()):
            for item, module in _impls_below(root):
                self.index_impls(item, module)

    @staticmethod
    def walk(root: Module) -> Iterator[Module]:
        """A module and everything below it."""
        todo = [root]
        while todo:
            module = todo.pop()
            yield module
            todo.extend(module.children.values())
            todo.extend(module.expanded)

    def index_impls(self, item: ast.Item, module: Module) -> None:
        """Register an impl block."""
        if isinstance(item, ast.Impl):
            self.has_drops = self.has_drops or (item.trait is not None and item.trait.last == "Drop")
            generic = any(g.name == item.name and g.kind == "type" for g in item.generics)
            self._impls["*" if generic else item.name].append(ImplDef(item.name, module, item))

    def impls(self, head: str) -> list[ImplDef]:
        """Impl blocks whose self type ends in ``head``, then those for every type."""
        return [*self._impls.get(head, ()), *self._impls.get("*", ())]

    # -- names -------------------------------------------------------------------------------------------------------

    def resolve(self, module: Module, names: tuple[str, ...], values: bool = True) -> Resolved | None:
        """What a path means in a module; ``values`` says which of two like-named items is meant."""
        key = (id(module), names, values)
        if key not in self._known:
            self._known[key] = self._resolve(module, names, values, 0)
        return self._known[key]

    def resolve_in(self, dialect: str, module: Module, names: tuple[str, ...], values: bool = True) -> Resolved | None:
        """As :meth:`resolve`; the names of CubeCL stand for its models wherever its own sources are in sight.

        Its constants and functions have bodies that are only placeholders: `#[cube]` replaces them.
        """
        found = self.resolve(module, names, values)
        prelude = self.preludes.get(dialect) if dialect == "cubecl" else None
        if prelude is None or not (found is None or _is_of(found.target, prelude.family)):
            return found
        if names[-1] in (prelude.values if values else prelude.types):
            return Resolved((prelude.values if values else prelude.types)[names[-1]])
        if len(names) > 1 and names[-2] in prelude.types:
            return Resolved(prelude.types[names[-2]], names[-1:])
        if found is not None and _is_placeholder(found.target):
            return Resolved(ForeignDef(names[-1], module, ("cubecl", *names)))
        return found

    def _resolve(self, module: Module, names: tuple[str, ...], values: bool, hops: int) -> Resolved | None:
        if hops > _MAX_HOPS or not names:
            return None
        start: Module | None = module
        rest = names
        if names[0] == "crate":
            start, rest = module.root, names[1:]
        elif names[0] == "":
            return self._outside(module, names[1:], values, hops)
        elif names[0] in ("self", "super"):
            while rest and rest[0] in ("self", "super"):
                if rest[0] == "super":
                    start = start.parent if start is not None else None
                rest = rest[1:]
            if start is None:
                return None
        if not rest:
            assert start is not None
            return Resolved(ModuleDef(start.path[-1], start, start))
        assert start is not None
        found = self._member(start, rest, values, hops, private=True)
        if found is not None:
            return found
        return self._outside(module, rest, values, hops) if rest is names else None

    def _member(
        self, module: Module, names: tuple[str, ...], values: bool, hops: int, private: bool
    ) -> Resolved | None:
        """Look a path up inside a module: its items, its ``use`` declarations, its globs."""
        name, rest = names[0], names[1:]
        for made in module.expanded:
            if name in made.values or name in made.types or name in made.children:
                return self._member(made, names, values, hops + 1, private)
        spaces = (module.values, module.types) if values and not rest else (module.types, module.values)
        for space in spaces:
            if name in space:
                return Resolved(space[name], rest)
        if name in module.children:
            child = module.children[name]
            return self._member(child, rest, values, hops + 1, False) if rest else self._module(child)
        for path in module.uses.get(name, ()):
            if path != (name,) or module.parent is not None:
                found = self._use(module, (*path, *rest), values, hops, name)
                if found is not None:
                    return found
        found = self._globs(module, names, values, hops)
        if found is None and module.transparent and module.parent is not None:
            return self._member(module.parent, names, values, hops + 1, private)
        return found

    @staticmethod
    def _module(module: Module) -> Resolved:
        return Resolved(ModuleDef(module.path[-1], module, module))

    def _use(self, module: Module, path: tuple[str, ...], values: bool, hops: int, name: str) -> Resolved | None:
        if path[0] == name and name not in module.children and name not in module.types:
            return self._outside(module, path, values, hops + 1)
        return self._resolve(module, path, values, hops + 1)

    def _globs(self, module: Module, names: tuple[str, ...], values: bool, hops: int) -> Resolved | None:
        key = (id(module), names[0])
        tried = (id(module), names, values)
        if not module.globs or key in self._looking or tried in self._tried:
            return None
        self._looking.add(key)
        try:
            found = self._through_globs(module, names, values, hops)
        finally:
            self._looking.discard(key)
        if not self._looking:
            self._tried.clear()
        elif found is None:
            self._tried.add(tried)
        return found

    def _glob_target(self, module: Module, glob: tuple[str, ...], values: bool, hops: int) -> Resolved | None:
        """The module or enum whose names a glob brings in."""
        key = (id(module), glob)
        known = self._targets.get(key)
        if known is None:
            known = self._resolve(module, glob, values, hops + 1)
            if known is not None:
                self._targets[key] = known
        return known

    def _through_globs(self, module: Module, names: tuple[str, ...], values: bool, hops: int) -> Resolved | None:
        foreign: tuple[str, ...] | None = None
        for glob in module.globs:
            target = self._glob_target(module, glob, values, hops)
            if target is None or target.rest:
                continue
            match target.target:
                case ModuleDef(target=inner) if inner is not module:
                    found = self._member(inner, names, values, hops + 1, False)
                    if found is not None and not isinstance(found.target, ForeignDef):
                        return found
                    if found is not None and foreign is None and isinstance(found.target, ForeignDef):
                        foreign = found.target.path
                case AdtDef(item=ast.Enum(variants=variants)) as adt:
                    if any(v.name == names[0] for v in variants):
                        return Resolved(adt, names)
                case ForeignDef(path=path):
                    found = self._in_prelude(module, (*path, *names), values)
                    if found is not None:
                        return found
                    if foreign is None and (family(path) or names[0].startswith("_")):
                        foreign = (*path, *names)
        if foreign is None or self._is_known(names[0], module):
            return None
        return Resolved(ForeignDef(foreign[-1], module, foreign))

    def _is_known(self, name: str, module: Module) -> bool:
        """Whether a name is a crate's or of the standard prelude, which a glob of another crate seldom replaces."""
        core = self.preludes.get("core")
        if name in _FAMILIES or name in self.roots:
            return True
        return core is not None and module.family != "core" and (name in core.types or name in core.uses)

    def _outside(self, module: Module, names: tuple[str, ...], values: bool, hops: int) -> Resolved | None:
        """A path that starts with the name of a crate."""
        if not names:
            return None
        root = self.roots.get(names[0])
        if root is not None and len(names) > 1:
            return self._member(root, names[1:], values, hops + 1, False)
        if root is not None:
            return self._module(root)
        found = self._in_prelude(module, names, values)
        core = self.preludes.get("core")
        if found is None and family(names) is None and core is not None and module.family != "core":
            found = self._member(core, names, values, hops + 1, False)
        return found or Resolved(ForeignDef(names[-1], module, names))

    def _in_prelude(self, module: Module, names: tuple[str, ...], values: bool) -> Resolved | None:
        """A foreign item that the prelude models, found by the tail of its path."""
        prelude = self.preludes.get(family(names) or "")
        if prelude is None or module.family == prelude.family:
            return None
        for split in range(1, len(names) - 1):
            if names[split] in prelude.children:
                found = self._member(prelude.children[names[split]], names[split + 1 :], values, 0, False)
                if found is not None:
                    return found
        for split in range(len(names) - 1, 0, -1):
            name, rest = names[split], names[split + 1 :]
            spaces = (prelude.values, prelude.types) if values and not rest else (prelude.types, prelude.values)
            for space in spaces:
                if name in space:
                    return Resolved(space[name], rest)
        return None


_FAMILIES = {
    "core": "core",
    "std": "core",
    "alloc": "core",
    "cuda_std": "cuda_std",
    "cuda_device": "oxide",
    "cuda_oxide": "oxide",
    "cuda_intrinsics": "oxide",
    "cubecl": "cubecl",
    "cubecl_core": "cubecl",
}


def _is_of(target: Def, wanted: str | None) -> bool:
    """Whether a definition is another crate's, or stands in the sources of a crate of that family."""
    return isinstance(target, ForeignDef) or family(target.module.root.path[:1]) == wanted


def _is_placeholder(target: Def) -> bool:
    """Whether CubeCL's own source of a definition says nothing about what it does on the device."""
    match target:
        case FnDef(item=item, impl=None):
            return item.attribute("cube") is None
        case ConstDef(module=module):
            return "topology" in module.path
        case _:
            return False


def family(path: tuple[str, ...]) -> str | None:
    """Which set of API tables a foreign path belongs to."""
    return _FAMILIES.get(path[0]) if path else None
