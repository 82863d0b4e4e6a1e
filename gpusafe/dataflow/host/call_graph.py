"""Who may call whom among the program's functions, from names, numbers of arguments and owners.

Rust has no overloading: a call with three arguments reaches only functions with three parameters. What cannot be told
apart so (a method through a trait, a generic type's function) counts as a call of each that fits, so the graph has
every edge that a run may take, except through operators, drops and function values that come from outside.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from gpusafe.dataflow.host.program import Function, Program, nameable
from gpusafe.dataflow.host.syntax_walk import pattern_names, type_name, walk
from gpusafe.parse.rust import ast

_IDENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CALL_IN_TEXT = re.compile(r"([A-Za-z_]\w*)\s*(?:::\s*<[^()]*>\s*)?\(")
_ANY = -1


@dataclass(slots=True)
class _Index:
    """The functions by name."""

    by_name: dict[str, list[Function]] = field(default_factory=lambda: defaultdict(list))
    traits: set[str] = field(default_factory=set)

    def named(self, name: str, arity: int) -> Iterator[Function]:
        """All functions of that name with so many parameters."""
        for function in self.by_name.get(name, ()):
            if arity in (_ANY, len(function.item.params)):
                yield function

    def methods(self, name: str, arity: int, owner: str | None) -> Iterator[Function]:
        """The methods that ``receiver.name(args)`` may mean; ``owner`` is the receiver's type where it is known."""
        found = [f for f in self.named(name, arity) if f.takes_self]
        own = [f for f in found if _belongs(f, owner)]
        return iter(own or found)

    def free(self, name: str, arity: int) -> Iterator[Function]:
        """The functions outside of impls."""
        return (f for f in self.named(name, arity) if f.owner is None)

    def qualified(self, qualifier: str, name: str, arity: int) -> Iterator[Function]:
        """What ``qualifier::name`` may mean."""
        found = list(self.named(name, arity))
        own = [f for f in found if _belongs(f, qualifier)]
        if own:
            return iter(own)
        if qualifier[:1].islower():
            return (f for f in found if f.owner is None)
        return iter(found)


def _belongs(function: Function, owner: str | None) -> bool:
    """Whether it is a type's own function; a trait's default may be overridden by any impl."""
    return function.owner is not None and function.owner == owner and function.owner != function.trait


def callers_of(program: Program, functions: list[Function]) -> dict[str, set[str]]:
    """For the key of each function the keys of those that may call it or mention it as a value."""
    index = _Index()
    for function in functions:
        index.by_name[function.name].append(function)
        if function.trait is not None:
            index.traits.add(function.trait)
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
            case ast.MacroCall(text=text):
                yield from _in_text(index, text, bound)


def _path(program: Program, index: _Index, function: Function, path: ast.Path, arity: int) -> Iterator[Function]:
    names = program.expand(path.names, function.home)
    name = names[-1]
    if path.qself is not None:
        yield from index.qualified(type_name(path.qself) or "", name, arity)
    elif len(path.names) == 1:
        yield from index.free(name, arity)
    elif path.names[-2] == "Self":
        yield from index.qualified(function.owner or "", name, arity)
    elif len(names) > 1 and _may_be_own(program, index, function, path.names, names[-2]):
        yield from index.qualified(names[-2], name, arity)


def _may_be_own(program: Program, index: _Index, function: Function, written: tuple[str, ...], qualifier: str) -> bool:
    """Whether ``qualifier::f`` may lead into the program: not when the qualifier is a type from elsewhere."""
    if qualifier[:1].islower() or "Self" in written or qualifier in program.types or qualifier in index.traits:
        return True
    if any(f.owner == qualifier for f in index.by_name.get(written[-1], ())):
        return True
    if any(g.name == qualifier for g in function.item.generics) or len(qualifier) <= 2:
        return True
    return function.self_type is not None and any(
        isinstance(n, ast.TypePath) and n.path.last == qualifier for n in walk(function.self_type)
    )


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
