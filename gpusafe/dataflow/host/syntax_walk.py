"""Walks over syntax trees: all nodes under a node, and the names that a piece of code mentions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields

from gpusafe.parse.rust import ast

_IDENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_HOLE = re.compile(r"\{([A-Za-z_]\w*)")
_FIELDS: dict[type, tuple[str, ...]] = {}
_NO_NODES = frozenset(["span", "text_span", "name_span", "names", "text", "name", "op", "mutable", "label"])


def children(node: ast.Node) -> list[ast.Node]:
    """The direct child nodes, in source order of their fields."""
    kind = type(node)
    names = _FIELDS.get(kind)
    if names is None:
        names = tuple(f.name for f in fields(node) if f.name not in _NO_NODES)
        _FIELDS[kind] = names
    found: list[ast.Node] = []
    for name in names:
        part = getattr(node, name)
        if isinstance(part, ast.Node):
            found.append(part)
        elif type(part) is tuple and part:
            _collect(part, found)
    return found


def _collect(part: tuple[object, ...], found: list[ast.Node]) -> None:
    stack: list[object] = list(reversed(part))
    while stack:
        inner = stack.pop()
        if isinstance(inner, ast.Node):
            found.append(inner)
        elif type(inner) is tuple:
            stack.extend(reversed(inner))


def walk(node: ast.Node, into_items: bool = True) -> Iterator[ast.Node]:
    """The node and everything below it, parents first."""
    stack: list[ast.Node] = [node]
    while stack:
        current = stack.pop()
        yield current
        below = children(current)
        below.reverse()
        stack.extend(below if into_items else [c for c in below if not isinstance(c, ast.Item)])


def mentioned(node: ast.Node) -> tuple[str, ...]:
    """Free single-segment names of code, macro arguments included, each once, in order of evaluation."""
    seen: dict[str, None] = {}
    bound: set[str] = set()
    stack: list[ast.Node | frozenset[str]] = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, frozenset):
            bound |= part
            continue
        names: list[str] = []
        match part:
            case ast.PathExpr(path=path) if len(path.names) == 1:
                names = [path.names[0]]
            case ast.MacroCall(text=text):
                names = _IDENT.findall(without_strings(text))
            case ast.Closure(params=params):
                bound |= {n for p in params for n in pattern_names(p.pat)}
            case ast.Let(pat=pat, value=value, orelse=orelse):
                stack.append(pattern_names(pat))
                stack.extend(p for p in (orelse, value) if p is not None)
                continue
            case ast.For(pat=pat, iterable=iterable, body=body):
                stack += [body, pattern_names(pat), iterable]
                continue
            case ast.LetCond(pat=pat, value=value):
                stack += [pattern_names(pat), value]
                continue
            case ast.Arm(pat=pat):
                bound |= pattern_names(pat)
        for name in names:
            if name not in bound:
                seen.setdefault(name)
        stack.extend(reversed(children(part)))
    return tuple(seen)


def without_strings(text: str) -> str:
    """Macro text with its string literals replaced by the names that they capture (``{name}``)."""
    return _STRING.sub(lambda found: f" {' '.join(_HOLE.findall(found[0]))} ", text)


def pattern_names(pat: ast.Pat) -> frozenset[str]:
    """The variables that a pattern binds."""
    return frozenset(n.name for n in walk(pat) if isinstance(n, ast.PatIdent))


def type_name(type_: ast.Type | None) -> str | None:
    """The last name of a type under references, Box and the like (``&mut CudaSlice<f32>`` gives ``CudaSlice``)."""
    current = type_
    for _ in range(16):
        match current:
            case ast.TypeRef(inner=inner) | ast.TypePtr(inner=inner):
                current = inner
            case ast.TypePath(path=path) if path.last in ("Box", "Arc", "Rc", "Pin", "ManuallyDrop") and path.generics:
                argument = path.generics[0]
                if not isinstance(argument, ast.Type):
                    return path.last
                current = argument
            case ast.TypePath(path=path):
                return path.last
            case _:
                return None
    return None


def generic(type_: ast.Type | None, index: int = 0) -> ast.Type | None:
    """The index-th generic argument of a path type that is a type."""
    if isinstance(type_, ast.TypePath):
        types = [g for g in type_.path.generics if isinstance(g, ast.Type)]
        if index < len(types):
            return types[index]
    return None
