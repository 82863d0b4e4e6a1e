"""Which items of a crate one kernel needs: a closure over the names that the kept text mentions.

Names are matched without regard to modules, so the closure errs by keeping too much. Code of the host side that
slips in makes the extract fail to compile, which is reported as "not confirmed" and never as a fault of the program.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from gpusafe.codegen_check.extract.lex import Lines, Names, names_in, words
from gpusafe.parse.rust import ast

SHIMS = frozenset({"core", "std", "alloc", "cuda_std", "cuda_device", "cuda_host", "cuda_core"})
"""Crates whose names resolve in an extract (``std`` and ``alloc`` as far as ``core`` has the same)."""

_ATTRIBUTE_MACROS = words(
    "kernel device cuda_module launch_bounds launch_contract cluster_launch cooperative_launch constant convergent "
    "pure readonly address_space gpu_only externally_visible"
)
_LANGUAGE_TRAITS = words(
    "Add Sub Mul Div Rem Neg Not BitAnd BitOr BitXor Shl Shr AddAssign SubAssign MulAssign DivAssign RemAssign "
    "BitAndAssign BitOrAssign BitXorAssign ShlAssign ShrAssign Index IndexMut Deref DerefMut Default Clone Copy "
    "PartialEq Eq PartialOrd Ord Iterator IntoIterator From Into AsRef Sum Product Send Sync Drop Fn FnMut FnOnce"
)


@dataclass(frozen=True, slots=True)
class Source:
    """One file of the crate with its text, ``module`` its path in the crate."""

    file: ast.SourceFile
    module: tuple[str, ...]
    lines: Lines

    def start(self, node: ast.Node) -> int:
        """The offset of a node's first character."""
        return self.lines.offset(node.span.line, node.span.col)

    def end(self, node: ast.Node) -> int:
        """The offset behind a node."""
        return self.lines.offset(node.span.end_line, node.span.end_col)

    def text(self, node: ast.Node) -> str:
        """A node's text."""
        return self.file.text[self.start(node) : self.end(node)]


@dataclass(frozen=True, slots=True)
class Entry:
    """An item with the file that it is written in."""

    source: Source
    item: ast.Item


@dataclass(slots=True)
class Needed:
    """What to keep. ``kept`` holds identities of items (``id``); for impls, ``methods`` says which of their items."""

    kept: set[int] = field(default_factory=set)
    methods: dict[int, set[int]] = field(default_factory=dict)
    free: set[str] = field(default_factory=set)
    members: set[str] = field(default_factory=set)
    foreign: set[str] = field(default_factory=set)
    traits: set[str] = field(default_factory=set)

    def mention(self, names: Names) -> None:
        """Add the names of a kept text."""
        self.free |= names.free
        self.members |= names.members


def flatten(source: Source, items: Iterable[ast.Item]) -> list[Entry]:
    """All items of a file, those of inline modules included (the modules too)."""
    found: list[Entry] = []
    stack = list(items)
    while stack:
        item = stack.pop()
        found.append(Entry(source, item))
        if isinstance(item, ast.Mod) and item.items:
            stack += item.items
    return found


def closure(entries: list[Entry], kernel: Entry) -> Needed:
    """Everything that ``kernel`` needs."""
    needed = Needed()
    needed.kept.add(id(kernel.item))
    needed.mention(names_in(kernel.source.text(kernel.item)))
    changed = True
    while changed:
        changed = False
        for entry in entries:
            if _take(entry, needed):
                changed = True
    return needed


def _take(entry: Entry, needed: Needed) -> bool:
    """Keep the item, or more of it, if it is needed now; whether that added anything."""
    item = entry.item
    match item:
        case ast.Mod():
            return False
        case ast.Impl():
            return _take_impl(entry, item, needed)
        case ast.Use():
            return _take_use(item, needed)
        case _:
            if id(item) in needed.kept or not _wanted(item, needed):
                return False
    needed.kept.add(id(item))
    needed.mention(names_in(entry.source.text(item)))
    if isinstance(item, ast.Trait):
        needed.traits.add(item.name)
    return True


def _wanted(item: ast.Item, needed: Needed) -> bool:
    match item:
        case ast.Fn():
            return item.name in needed.free and item.name != "main" and not _is_kernel(item)
        case ast.Trait():
            return item.name in needed.free or any(i.name in needed.members for i in item.items)
        case ast.ExternBlock():
            return any(i.name in needed.free for i in item.items)
        case ast.MacroItem():
            return item.call.path.last == "global_asm" or item.call.path.last in needed.free
        case ast.OtherItem():
            return False
        case _:
            return item.name in needed.free


def _is_kernel(item: ast.Fn) -> bool:
    return item.abi == "ptx-kernel" or item.attribute("kernel") is not None


def _take_impl(entry: Entry, item: ast.Impl, needed: Needed) -> bool:
    if item.name not in needed.free and item.trait is None:
        return False
    if item.trait is not None and item.trait.last not in needed.free | _LANGUAGE_TRAITS:
        return False
    if item.trait is not None and item.name not in needed.free | _PRIMITIVES:
        return False
    chosen = needed.methods.setdefault(id(item), set())
    before = len(chosen), id(item) in needed.kept
    needed.kept.add(id(item))
    for inner in item.items:
        wanted = item.trait is not None or not isinstance(inner, ast.Fn) or inner.name in needed.members
        if wanted and id(inner) not in chosen:
            chosen.add(id(inner))
            needed.mention(names_in(entry.source.text(inner)))
    if (len(chosen), True) == before:
        return False
    body = min((entry.source.start(i) for i in item.items), default=entry.source.end(item))
    needed.mention(names_in(entry.source.file.text[entry.source.start(item) : body]))
    return True


_PRIMITIVES = words("u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 bool char")


def _take_use(item: ast.Use, needed: Needed) -> bool:
    """A renamed import makes the name behind it needed; imports themselves are chosen when the text is written."""
    added = False
    for leaf in item.leaves:
        if leaf.alias in needed.free and leaf.path and leaf.path[-1] not in needed.free:
            needed.free.add(leaf.path[-1])
            added = True
    return added


def keeps_leaf(leaf: ast.UseLeaf, needed: Needed, local: frozenset[str], known: frozenset[str]) -> bool:
    """Whether an import stays. ``local``: names of the crate's modules; ``known``: names of kept items and modules."""
    first = leaf.path[0] if leaf.path else ""
    first = leaf.path[1] if first == "" and len(leaf.path) > 1 else first
    if leaf.alias in _ATTRIBUTE_MACROS and first not in ("crate", "self", "super"):
        return leaf.alias in _MODULE_LIKE and leaf.alias in needed.free
    if leaf.alias == "*":
        return first in SHIMS or first in ("crate", "self", "super") or first in local or first in known
    if leaf.alias == "_":
        return first in SHIMS
    if leaf.alias not in needed.free | needed.members | _SHIM_TRAITS | needed.traits:
        return False
    if first in ("crate", "self", "super") or first in local or first in known:
        return leaf.path[-1] in known or leaf.path[-1] in ("self", "super", "crate") or first in known
    if first not in SHIMS:
        needed.foreign.add("::".join(leaf.path))
        return False
    return True


_MODULE_LIKE = frozenset({"constant"})
_SHIM_TRAITS = frozenset({"ThreadGroup", "WarpCollective", "GpuFloat"})  # imported for their methods alone
