"""The host program as the executor looks things up in it: functions, methods, types, constants by name and place.

Names are resolved through the file's `use` items and by preferring what is nearest (same module, file, crate).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from gpusafe.dataflow.host.std_inherent import is_inherent
from gpusafe.dataflow.host.syntax_walk import type_name, walk
from gpusafe.ir.host import LaunchSeen
from gpusafe.ir.kernel import Kernel
from gpusafe.parse.dialects.extension_model import ApiTable
from gpusafe.parse.rust import ast
from gpusafe.parse.workspace_gpu_text import GPU_CRATES

T = TypeVar("T")

DIALECT_ROOTS = {
    "cudarc": "cudarc",
    "cust": "cust",
    "rustacuda": "rustacuda",
    "cuda_core": "oxide",
    "cuda_host": "oxide",
    "cuda_async": "oxide",
    "cuda_device": "oxide",
    "cutile": "cutile",
}
"""First path segment of each dialect's crates, and the dialect's name."""

_DEVICE_ATTRIBUTES = ("kernel", "device", "gpu_only", "entry", "cube")


@dataclass(frozen=True, slots=True)
class SourceUnit:
    """One source file with the crate that it belongs to and that crate's dependency versions.

    ``sees``: the files whose items its paths can name, those of its crate and of the crates that this depends on (None:
    all).
    """

    file: ast.SourceFile
    crate: str = ""
    module: tuple[str, ...] = ()
    versions: dict[str, tuple[int, ...]] = field(default_factory=dict)
    sees: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Home:
    """Where an item stands: its file, crate and module path."""

    unit: SourceUnit
    module: tuple[str, ...]

    @property
    def file(self) -> str:
        """Path of the file."""
        return self.unit.file.path


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function of the program; ``owner`` is the type of its impl (or trait), ``trait`` what it implements."""

    item: ast.Fn
    home: Home
    owner: str | None = None
    trait: str | None = None
    self_type: ast.Type | None = None
    path: str = field(init=False)  # module path, owner and name
    key: str = field(init=False)  # identifies the function within a run

    def __post_init__(self) -> None:
        parts = (self.home.unit.crate, *self.home.module, self.owner or "", self.item.name)
        path = "::".join(filter(None, parts))
        object.__setattr__(self, "path", path)
        object.__setattr__(self, "key", f"{path}@{self.home.file}:{self.item.span.line}")

    @property
    def name(self) -> str:
        """The function's own name."""
        return self.item.name

    @property
    def takes_self(self) -> bool:
        """Whether the first parameter is ``self``."""
        first = self.item.params[0].pat if self.item.params else None
        return isinstance(first, ast.PatIdent) and first.name == "self"


@dataclass(frozen=True, slots=True, eq=False)
class Definition:
    """A type, constant or macro and where it stands."""

    item: ast.Item
    home: Home


@dataclass(slots=True)
class Program:
    """Everything that can be looked up. Built once, then only read."""

    units: tuple[SourceUnit, ...]
    kernels: tuple[Kernel, ...]
    functions: list[Function] = field(default_factory=list)
    free: dict[str, list[Function]] = field(default_factory=lambda: defaultdict(list))
    methods: dict[tuple[str, str], list[Function]] = field(default_factory=lambda: defaultdict(list))
    types: dict[str, list[Definition]] = field(default_factory=lambda: defaultdict(list))
    values: dict[str, list[Definition]] = field(default_factory=lambda: defaultdict(list))
    macros: dict[str, list[Definition]] = field(default_factory=lambda: defaultdict(list))
    cuda_modules: dict[str, list[tuple[ast.Mod, Home]]] = field(default_factory=lambda: defaultdict(list))
    uses: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    roots_of: dict[str, frozenset[str]] = field(default_factory=dict)
    apis: tuple[ApiTable, ...] = ()
    strict: bool = False
    steps_left: int = 500_000
    gpu_names: frozenset[str] = frozenset()
    passed_over: set[str] = field(default_factory=set)
    forks: Counter[str] = field(default_factory=Counter)  # by function: how many decisions were open in it
    launches: dict[LaunchSeen, None] = field(default_factory=dict)
    memo: dict[tuple[str, int], object] = field(default_factory=dict)
    _lines: dict[str, list[str]] = field(default_factory=dict)
    _own_methods: frozenset[str] | None = None
    _kernel_names: dict[str, frozenset[str]] = field(default_factory=dict)

    @property
    def own_methods(self) -> frozenset[str]:
        """The names of the methods that the program defines itself."""
        if self._own_methods is None:
            self._own_methods = frozenset(f.name for f in self.functions if f.takes_self)
        return self._own_methods

    def kernel_names(self, dialect: str) -> frozenset[str]:
        """The names of all kernels of one dialect."""
        found = self._kernel_names.get(dialect)
        if found is None:
            found = self._kernel_names[dialect] = frozenset(k.name for k in self.kernels if k.dialect == dialect)
        return found

    def lines(self, home: Home) -> list[str]:
        """The lines of a file."""
        found = self._lines.get(home.file)
        if found is None:
            found = self._lines[home.file] = home.unit.file.text.split("\n")
        return found

    def once(self, kind: str, node: ast.Node, make: Callable[[], T]) -> T:
        """What ``make`` gives for a node of the program, made once (nodes live as long as the program)."""
        key = (kind, id(node))
        if key not in self.memo:
            self.memo[key] = (node, make())
        return self.memo[key][1]  # type: ignore[index, no-any-return]

    def expand(self, names: tuple[str, ...], home: Home) -> tuple[str, ...]:
        """A path with its first name replaced by what `use` made of it."""
        expanded = names
        for _ in range(4):
            target = self.uses.get(home.file, {}).get(expanded[0]) if expanded else None
            if target is None or (target[-1:] != expanded[:1] and len(target) == 1):
                break
            if target == expanded[:1]:
                break
            longer = (*target, *expanded[1:])
            if longer[0] == expanded[0]:
                return longer
            expanded = longer
        return expanded

    def function(self, names: tuple[str, ...], home: Home) -> Function | None:
        """The function of the program that a path names."""
        path = self.expand(names, home)
        if len(path) >= 2:
            found = self.method(path[-2], path[-1], home)
            if found is not None and nameable(found.home, home):
                return found
        if (path and path[0] in DIALECT_ROOTS) or path[:1] == ("std",):
            return None
        candidates = self.free.get(path[-1], []) if path else []
        if len(path) >= 2:
            qualifier = path[-2]
            if qualifier not in ("crate", "super", "self"):
                candidates = [
                    f for f in candidates if f.home.module[-1:] == (qualifier,) or f.home.unit.crate == qualifier
                ]
        return _nearest([f for f in candidates if nameable(f.home, home)], home)

    def method(self, owner: str, name: str, home: Home) -> Function | None:
        """The method ``name`` of type or trait ``owner``, inherent ones first; std's own are not in sight."""
        found = self.methods.get((owner, name), [])
        if owner not in self.types:
            found = [f for f in found if not is_inherent(owner, f.item)]
        inherent = [f for f in found if f.trait is None]
        return _nearest(inherent or found, home)

    def type_item(self, name: str, home: Home) -> Definition | None:
        """The struct, enum or alias of that name."""
        return _nearest_definition(self.types.get(name, []), home)

    def value_item(self, name: str, home: Home) -> Definition | None:
        """The const or static of that name."""
        return _nearest_definition(self.values.get(name, []), home)

    def dialects(self, home: Home) -> frozenset[str]:
        """The dialects that a file uses (its own `use` items and paths, else its crate's dependencies)."""
        own = self.roots_of.get(home.file, frozenset())
        if any(t.crate in home.unit.versions or t.crate == home.unit.crate for t in self.apis):
            own |= {"api"}
        if home.unit.crate in DIALECT_ROOTS:
            own |= {DIALECT_ROOTS[home.unit.crate]}
        return own or frozenset(DIALECT_ROOTS[n] for n in home.unit.versions if n in DIALECT_ROOTS)

    def version(self, crate: str, home: Home) -> tuple[int, ...] | None:
        """The version of a dependency where it is known."""
        return home.unit.versions.get(crate)


def _nearest(candidates: list[Function], home: Home) -> Function | None:
    seen = [f for f in candidates if visible(f.home, home)]
    return min(seen, key=lambda f: _distance(f.home, home)) if seen else None


def _nearest_definition(candidates: list[Definition], home: Home) -> Definition | None:
    seen = [d for d in candidates if visible(d.home, home) and nameable(d.home, home)]
    return min(seen, key=lambda d: _distance(d.home, home)) if seen else None


def visible(there: Home, here: Home) -> bool:
    """Whether what stands in one place is looked up from another.

    GPU crates are known by their API, not their code, also from inside: only their own tests see what the tests define.
    """
    crate = there.unit.crate
    if crate not in DIALECT_ROOTS and crate not in GPU_CRATES:
        return True
    return crate == here.unit.crate and any("test" in part for part in there.module)


def nameable(there: Home, here: Home) -> bool:
    """Whether a path in one place can lead to another: into the own crate or a dependency."""
    return here.unit.sees is None or there.file in here.unit.sees


def _distance(there: Home, here: Home) -> tuple[int, int]:
    if there.file == here.file:
        return (0, 0 if there.module == here.module else 1)
    if there.unit.crate == here.unit.crate:
        return (1, 0)
    return (2 if nameable(there, here) else 3, 0)


def build_program(units: Iterable[SourceUnit], kernels: Iterable[Kernel], apis: tuple[ApiTable, ...] = ()) -> Program:
    """Indexes all items of all files, those inside function bodies too."""
    program = Program(tuple(units), tuple(kernels), apis=apis)
    for unit in program.units:
        program.uses[unit.file.path] = {}
        stack: list[tuple[ast.Item, tuple[str, ...]]] = [(i, unit.module) for i in reversed(unit.file.items)]
        while stack:
            item, module = stack.pop()
            home = Home(unit, module)
            stack.extend((inner, module) for inner in _nested_items(item))
            if isinstance(item, ast.Mod) and item.items is not None:
                inner_module = (*module, item.name)
                if item.attribute("cuda_module") is not None:
                    program.cuda_modules[item.name].append((item, home))
                stack.extend((i, inner_module) for i in reversed(item.items))
            _index(program, item, home)
        program.roots_of[unit.file.path] = _dialects_in(unit.file, program.uses[unit.file.path])
    return program


def _nested_items(item: ast.Item) -> list[ast.Item]:
    body = item.body if isinstance(item, ast.Fn) else None
    if body is None:
        return []
    return [node.item for node in walk(body, into_items=False) if isinstance(node, ast.ItemStmt)]


def _index(program: Program, item: ast.Item, home: Home) -> None:
    match item:
        case ast.Fn():
            _add(program, Function(item, home))
        case ast.Impl(self_type=self_type, trait=trait, items=items):
            owner = type_name(self_type)
            if owner is not None:
                for inner in items:
                    if isinstance(inner, ast.Fn):
                        _add(program, Function(inner, home, owner, trait.last if trait else None, self_type))
                    elif isinstance(inner, ast.Const):
                        program.values[f"{owner}::{inner.name}"].append(Definition(inner, home))
        case ast.Trait(name=name, items=items):
            for inner in items:
                if isinstance(inner, ast.Fn) and inner.body is not None:
                    _add(program, Function(inner, home, name, name))
        case ast.Struct() | ast.Enum() | ast.TypeAlias():
            program.types[item.name].append(Definition(item, home))
        case ast.Const() | ast.Static():
            program.values[item.name].append(Definition(item, home))
        case ast.MacroRules():
            program.macros[item.name].append(Definition(item, home))
        case ast.Use(leaves=leaves):
            table = program.uses[home.file]
            for leaf in leaves:
                if leaf.alias not in ("*", "_") and leaf.path:
                    table.setdefault(leaf.alias, leaf.path)


def _add(program: Program, function: Function) -> None:
    if is_device(function.item):
        return
    program.functions.append(function)
    if any(t.crate == function.home.unit.crate and t.describes(function.owner, function.name) for t in program.apis):
        return  # its table is believed, not its body
    if function.owner is None:
        program.free[function.name].append(function)
    else:
        program.methods[(function.owner, function.name)].append(function)


def is_device(item: ast.Fn) -> bool:
    """Whether a function is device code by its own marks."""
    return item.abi in ("ptx-kernel", "gpu-kernel") or any(
        a.path.rsplit("::", 1)[-1] in _DEVICE_ATTRIBUTES for a in item.attributes
    )


def _dialects_in(file: ast.SourceFile, uses: dict[str, tuple[str, ...]]) -> frozenset[str]:
    found = {DIALECT_ROOTS[p[0]] for p in uses.values() if p and p[0] in DIALECT_ROOTS}
    found |= {DIALECT_ROOTS[root] for root in DIALECT_ROOTS if f"{root}::" in file.text}
    return frozenset(found)
