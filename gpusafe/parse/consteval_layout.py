"""Sizes and alignments of types on 64-bit targets.

Structs without ``repr(C)`` are laid out as rustc does (fields by falling alignment, so the size is the sum rounded up);
the reference promises no order, but the size follows. What is not sure gives None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gpusafe.parse.consteval_value import BITS
from gpusafe.parse.resolve_model import Foreign, Local, Resolved
from gpusafe.parse.rust import ast

_MAX_NESTING = 24
_NAMED: dict[tuple[str, ...], tuple[int, int]] = {
    **{("half", name): (2, 2) for name in ("f16", "bf16")},
    **{("std", "num", f"NonZero{t.capitalize()}"): (BITS[t][0] // 8,) * 2 for t in BITS},
    **{("std", "sync", "atomic", f"Atomic{t.capitalize()}"): (BITS[t][0] // 8,) * 2 for t in BITS if "128" not in t},
    ("std", "sync", "atomic", "AtomicBool"): (1, 1),
    ("std", "marker", "PhantomData"): (0, 1),
}
_WRAPPERS = frozenset({"UnsafeCell", "Cell", "MaybeUninit", "ManuallyDrop", "Wrapping", "SyncUnsafeCell"})


@dataclass(frozen=True, slots=True)
class Layout:
    """Size and alignment in bytes."""

    size: int
    align: int


Lookup = Callable[[ast.Type], Resolved | None]
Length = Callable[[ast.Expr], int | None]


def primitive_layout(name: str) -> Layout | None:
    """The layout of a primitive type."""
    if name in BITS:
        size = BITS[name][0] // 8
        return Layout(size, size)
    fixed = {"bool": 1, "char": 4, "f16": 2, "f32": 4, "f64": 8}.get(name)
    return Layout(fixed, fixed) if fixed is not None else None


def layout_of(
    given: ast.Type, lookup: Lookup, length: Length, known: dict[str, Layout] | None = None, depth: int = 0
) -> Layout | None:
    """The layout of a type; ``known`` gives that of type parameters."""
    if depth > _MAX_NESTING:
        return None
    match given:
        case ast.TypeTuple(items=items):
            return _fields([layout_of(item, lookup, length, known, depth + 1) for item in items], ordered=False)
        case ast.TypeArray(inner=inner, length=count):
            one, number = layout_of(inner, lookup, length, known, depth + 1), length(count)
            return Layout(one.size * number, one.align) if one is not None and number is not None else None
        case ast.TypeRef(inner=inner) | ast.TypePtr(inner=inner):
            return _pointer(inner)
        case ast.TypeFn():
            return Layout(8, 8)
        case ast.TypePath(path=path):
            if len(path.names) == 1 and known and path.last in known:
                return known[path.last]
            return _named(given, path, lookup, length, known, depth)
        case _:
            return None


def _pointer(inner: ast.Type) -> Layout | None:
    match inner:
        case ast.TypeSlice() | ast.TypeBounds(kind="dyn"):
            return Layout(16, 8)
        case ast.TypePath(path=path) if path.names == ("str",):
            return Layout(16, 8)
        case ast.TypePath(path=path) if not path.generics and len(path.names) == 1 and len(path.last) == 1:
            return None  # a type parameter may be unsized
        case _:
            return Layout(8, 8)


def _named(
    given: ast.TypePath,
    path: ast.Path,
    lookup: Lookup,
    length: Length,
    known: dict[str, Layout] | None,
    depth: int,
) -> Layout | None:
    match lookup(given):
        case Foreign(path=(name,)):
            return primitive_layout(name)
        case Foreign(path=names) if names in _NAMED:
            return Layout(*_NAMED[names])
        case Foreign(path=names) if names[-1] in _WRAPPERS and len(path.generics) == 1:
            inner = path.generics[0]
            return layout_of(inner, lookup, length, known, depth + 1) if isinstance(inner, ast.Type) else None
        case Local(item=ast.Struct() as item):
            return _struct(item, path, lookup, length, known, depth)
        case Local(item=ast.Enum() as item):
            return _enum(item)
        case Local(item=ast.TypeAlias(type=aliased, generics=())) if aliased is not None:
            return layout_of(aliased, lookup, length, known, depth + 1)
        case _:
            return None


def _struct(
    item: ast.Struct, path: ast.Path, lookup: Lookup, length: Length, known: dict[str, Layout] | None, depth: int
) -> Layout | None:
    parameters = [generic for generic in item.generics if generic.kind != "lifetime"]
    inside: dict[str, Layout] = {}
    for parameter, argument in zip(parameters, path.generics, strict=False):
        if parameter.kind != "type" or not isinstance(argument, ast.Type):
            return None
        layout = layout_of(argument, lookup, length, known, depth + 1)
        if layout is not None:
            inside[parameter.name] = layout
    fields = [layout_of(field, lookup, length, inside, depth + 1) for _, field in item.fields]
    texts = [attribute.text for attribute in item.attributes if attribute.path == "repr"]
    words = {word.strip() for text in texts for word in text.split(",")}
    if any(word.startswith(("packed", "align")) for word in words) or item.attribute("cfg_attr") is not None:
        return None
    if item.kind == "union":
        whole = [field for field in fields if field is not None]
        align = max((field.align for field in whole), default=1)
        return (
            Layout(_round(max((f.size for f in whole), default=0), align), align) if len(whole) == len(fields) else None
        )
    return _fields(fields, ordered="C" in words)


def _enum(item: ast.Enum) -> Layout | None:
    if any(variant.fields for variant in item.variants):
        return None
    repr_ = item.attribute("repr")
    words = [word.strip() for word in repr_.text.split(",")] if repr_ is not None else []
    named = next((word for word in words if word in BITS), None)
    if named is not None:
        return primitive_layout(named)
    if words:
        return Layout(4, 4) if words == ["C"] else None
    if any(variant.discriminant is not None for variant in item.variants) or len(item.variants) > 256:
        return None
    return Layout(0 if len(item.variants) < 2 else 1, 1)


def _fields(fields: Sequence[Layout | None], *, ordered: bool) -> Layout | None:
    whole = [field for field in fields if field is not None]
    if len(whole) != len(fields):
        return None
    align = max((field.align for field in whole), default=1)
    if not ordered:
        whole.sort(key=lambda field: -field.align)
    at = 0
    for field in whole:
        at = _round(at, field.align) + field.size
    return Layout(_round(at, align), align)


def _round(size: int, align: int) -> int:
    return -(-size // align) * align
