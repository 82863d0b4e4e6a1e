"""Who may call whom among the program's functions, from names, numbers of arguments and owners.

Rust has no overloading: a call with three arguments reaches only functions with three parameters. What cannot be told
apart so (a method through a trait, a generic type's function) counts as a call of each that fits, so the graph has
every edge that a run may take, except through operators, drops and function values that come from outside.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from gpusafe.dataflow.host.macro_expansion import texts_of
from gpusafe.dataflow.host.program import Function, Program, nameable
from gpusafe.dataflow.host.syntax_walk import pattern_names, type_name, walk
from gpusafe.dataflow.host.terms import SCALARS
from gpusafe.parse.rust import ast

_IDENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CALL_IN_TEXT = re.compile(r"([A-Za-z_]\w*)\s*(?:::\s*<[^()]*>\s*)?\(")
_ANY = -1
_STD_NAMES = """
    Arc Box BTreeMap BTreeSet Cell CString Duration HashMap HashSet Instant Mutex Option OnceLock PathBuf Rc RefCell
    Result RwLock String Vec VecDeque
"""
_OF_STD = frozenset(_STD_NAMES.split())
"""Types that every crate means when it names them, unless it has its own."""


@dataclass(slots=True)
class _Index:
    """The functions by name."""

    types: Mapping[str, object]
    by_name: dict[str, list[Function]] = field(default_factory=lambda: defaultdict(list))
    by_arity: dict[tuple[str, int], list[Function]] = field(default_factory=lambda: defaultdict(list))

    def named(self, name: str, arity: int) -> Iterator[Function]:
        """All functions of that name with so many parameters."""
        yield from self.by_name.get(name, ()) if arity == _ANY else self.by_arity.get((name, arity), ())

    def methods(self, name: str, arity: int, owner: str | None) -> Iterator[Function]:
        """The methods that ``receiver.name(args)`` may mean; ``owner`` is the receiver's type where it is known."""
        found = [f for f in self.named(name, arity) if f.takes_self]
        own = [f for f in found if self._belongs(f, owner)]
        return iter(own or found)

    def free(self, name: str, arity: int) -> Iterator[Function]:
        """The functions outside of impls."""
        return (f for f in self.named(name, arity) if f.owner is None)

    def qualified(self, qualifier: str, name: str, arity: int) -> Iterator[Function]:
        """What ``qualifier::name`` may mean: a module's function, a type's own, or one that it has from a trait."""
        found = list(self.named(name, arity))
        own = [f for f in found if self._belongs(f, qualifier)]
        if own:
            return iter(own)
        if qualifier[:1].islower() and qualifier not in SCALARS:
            return (f for f in found if f.owner is None)
        return iter(found)

    def through_traits(self, qualifier: str, name: str, arity: int) -> Iterator[Function]:
        """What ``qualifier::name`` may mean where the qualifier is another crate's type."""
        return (f for f in self.named(name, arity) if f.owner is not None and f.owner in (qualifier, f.trait))

    def _belongs(self, function: Function, owner: str | None) -> bool:
        """Whether it is a type's own function; a trait's default may be overridden, and `T` may be any type."""
        owned = function.owner is not None and function.owner == owner and function.owner != function.trait
        return owned and (owner in self.types or owner in SCALARS or function.trait is None)


def callers_of(program: Program, functions: list[Function]) -> dict[str, set[str]]:
    """For the key of each function the keys of those that may call it or mention it as a value."""
    index = _Index(program.types)
    for function in functions:
        index.by_name[function.name].append(function)
        index.by_arity[function.name, len(function.item.params)].append(function)
    callers: dict[str, set[str]] = defaultdict(set)
    for function in functions:
        for callee in _callees(program, index, function):
            if callee.owner is not None or nameable(callee.home, function.home):
                callers[callee.key].add(function.key)
    return callers


def _callees(program: Program, index: _Index, function: Function) -> Iterator[Function]:
    if function.item.body is None:
        return
    bound = _bound(function.item)
    called: set[int] = set()
    for node in walk(function.item.body):
        match node:
            case ast.Call(func=ast.PathExpr(path=path) as callee, args=args):
                called.add(id(callee))
                yield from _path(program, index, function, path, len(args))
            case ast.MethodCall(receiver=receiver, name=name, args=args):
                owner = function.owner if _is_self(receiver) else None
                yield from index.methods(name, len(args) + 1, owner)
            case ast.PathExpr(path=path) if id(node) not in called:
                if len(path.names) > 1 or path.names[0] not in bound:
                    yield from _path(program, index, function, path, _ANY)
            case ast.MacroCall(path=path, text=text):
                yield from _in_text(index, text, bound)
                for own in texts_of(program, path.last):
                    yield from _in_text(index, own, frozenset())


def _path(program: Program, index: _Index, function: Function, path: ast.Path, arity: int) -> Iterator[Function]:
    names = program.expand(path.names, function.home)
    name = names[-1]
    if path.qself is not None:
        yield from index.qualified(type_name(path.qself) or "", name, arity)
    elif len(path.names) == 1:
        yield from index.free(name, arity)
    elif path.names[-2] == "Self":
        yield from index.qualified(function.owner or "", name, arity)
    elif len(names) > 1 and _is_foreign(program, names, function):
        yield from index.through_traits(names[-2], name, arity)
    elif len(names) > 1:
        yield from index.qualified(names[-2], name, arity)


def _is_foreign(program: Program, names: tuple[str, ...], function: Function) -> bool:
    """Whether the expanded path ``...::Type::f`` names a type that another crate has made."""
    qualifier = names[-2]
    if (
        qualifier[:1].islower()
        or qualifier in program.types
        or any(g.name == qualifier for g in function.item.generics)
    ):
        return False
    return qualifier in _OF_STD if len(names) == 2 else names[0] in ("std", "core", "alloc")


def _in_text(index: _Index, text: str, bound: frozenset[str]) -> Iterator[Function]:
    calls = set(_CALL_IN_TEXT.findall(text))
    for name in set(_IDENT.findall(text)):
        if name in calls:
            yield from index.named(name, _ANY)
        elif name not in bound:
            yield from index.free(name, _ANY)


def _bound(item: ast.Fn) -> frozenset[str]:
    """Every name that the function binds anywhere as a variable."""
    found = {n for p in item.params for n in pattern_names(p.pat)}
    if item.body is not None:
        found |= {n.name for n in walk(item.body) if isinstance(n, ast.PatIdent)}
    return frozenset(found)


def _is_self(receiver: ast.Expr) -> bool:
    return isinstance(receiver, ast.PathExpr) and receiver.path.names == ("self",)
