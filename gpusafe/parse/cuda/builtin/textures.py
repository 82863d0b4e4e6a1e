"""Texture fetches and surface accesses.

A fetch gives a value that is not known and touches no memory of its own: the texture cache is not coherent with writes
of the same kernel, so a kernel must not write what it fetches. That is granted, and listed with the proof.
A surface is a region of its own, addressed by its coordinates (x in bytes; CUDA C Programming Guide, surface API).
"""

from __future__ import annotations

from collections.abc import Callable

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import I64, PTR, Expr, Op, Param, PtrBase, Type
from gpusafe.parse.cuda import syntax as s
from gpusafe.parse.cuda import terms
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.builtin.site import CallSite
from gpusafe.parse.cuda.context import Context, Unsupported
from gpusafe.parse.cuda.convert import convert, expression
from gpusafe.parse.cuda.places import dereference, read, unknown, write
from gpusafe.parse.cuda.render import render
from gpusafe.parse.cuda.values import AddressOf, FunctionName, HandleValue, NoValue, Operand, Term, Value

Builtin = Callable[[Context, CallSite], Operand]
NOTHING = NoValue(t.VOID)
_NORMALIZED = "cudaReadModeNormalizedFloat"
_SHAPES = {"1D": 1, "2D": 2, "3D": 3, "1DLayered": 2, "2DLayered": 3, "Cubemap": 3, "CubemapLayered": 3}
_EXTENTS = (1 << 24, 1 << 20, 1 << 16)  # above what any surface has: bytes of a row, rows, layers
_SAFE_MODES = frozenset({"cudaBoundaryModeTrap", "cudaBoundaryModeZero"})  # outside nothing is accessed
_WORDS = {"i8": "char", "u8": "uchar", "i16": "short", "u16": "ushort", "i32": "int", "u32": "uint", "f32": "float"}


def _fetch(x: Context, site: CallSite) -> Operand:
    """``tex2D(reference, x, y)``, ``tex2D<T>(object, x, y)``, ``tex2D(&result, object, x, y)``."""
    values = site.values(x)
    target = values[0] if (values and isinstance(values[0], AddressOf)) or _is_pointer(values[0]) else None
    at = 1 if target is not None else 0
    if at >= len(values):
        raise Unsupported(f"`{site.last}` with {len(values)} arguments")
    name = _name(values[at], site.args[at])
    x.grant(f"the kernel does not write what it reads through the texture `{name}`")
    reason = f"what the texture `{name}` holds"
    if target is not None:
        place = dereference(x, target, site.span, site.last)
        write(x, place, unknown(x, place.type, site.span, site.last, reason), site.span)
        return NOTHING
    return unknown(x, _fetched(values[at], site), site.span, site.last, reason)


def _is_pointer(value: Value) -> bool:
    return isinstance(value, Term) and isinstance(value.type, t.Pointer)


def _fetched(texture: Value, site: CallSite) -> t.CType:
    """What a fetch gives: the type that the call names, else the texture's own."""
    if site.explicit:
        return site.explicit[0] if isinstance(site.explicit[0], t.CType) else t.Auto()
    if not isinstance(texture, HandleValue) or texture.type.kind != "texture":
        raise Unsupported(f"`{site.last}` of something that is no texture")
    args = texture.type.args
    kind = args[0] if args and isinstance(args[0], t.CType) else t.Auto()
    if len(args) > 2:
        mode = args[2].name if isinstance(args[2], FunctionName) else ""
        if mode.endswith(_NORMALIZED):
            return _floats(kind)
        if not mode.endswith("cudaReadModeElementType"):
            return t.Auto()
    if site.last.endswith("gather"):
        return _gathered(kind)
    return kind


def _floats(kind: t.CType) -> t.CType:
    """The type of normalised elements."""
    match kind:
        case t.Scalar():
            return t.FLOAT
        case t.Struct(vector=True, fields=fields):
            return t.vector_of("float", len(fields)) or t.Auto()
        case _:
            return t.Auto()


def _gathered(kind: t.CType) -> t.CType:
    """One component of four texels."""
    first = kind.fields[0].type if isinstance(kind, t.Struct) and kind.fields else kind
    if not isinstance(first, t.Scalar):
        return t.Auto()
    word = _WORDS.get(f"{'f' if first.type.kind == 'float' else 'i' if first.type.signed else 'u'}{first.type.bits}")
    return (t.vector_of(word, 4) if word else None) or t.Auto()


def _name(value: Value, arg: s.Expr) -> str:
    found = value.parts.get("name") if isinstance(value, HandleValue) else None
    return found if isinstance(found, str) else render(arg)


# -- surfaces ----------------------------------------------------------------------------------------------------------


def _surface(x: Context, site: CallSite, value: Value, arg: s.Expr) -> Expr:
    """The start of the region that a surface is."""
    match value:
        case HandleValue(type=t.Handle(kind="surface"), parts={"name": str(name)}):
            pass
        case Term(expr=Param(name=name)):
            pass
        case _:
            raise Unsupported(f"`{render(arg)}`, a surface that is not known")
    key = ("surface", name)
    known = x.statics.get(key)
    if known is None:
        region = x.add_region(k.Region(name, k.Space.GLOBAL, 1, None, site.span))
        known = x.statics[key] = Term(t.Pointer(t.VOID), PtrBase(PTR, region.name))
        if sum(1 for each in x.statics if isinstance(each, tuple) and each[0] == "surface") > 1:
            x.grant("surfaces of different names are different memory")
    assert isinstance(known, Term)
    return known.expr


def _coordinates(x: Context, site: CallSite, first: int, count: int) -> tuple[Expr, Expr]:
    """The bytes from the start of the surface, and the condition that the place may lie inside it."""
    _check_mode(site, first + count)
    inside: Expr | None = None
    total: Expr = terms.integer(0, I64)
    step = 1
    for index in range(count):
        at = terms.cast(expression(x, convert(x, site.value(x, first + index), t.INT, site.span)), I64)
        extent = _EXTENTS[index]
        low = terms.binary(Op.GE, at, terms.integer(0, I64))
        high = terms.binary(Op.LT, at, terms.integer(extent, I64))
        both = terms.binary(Op.LAND, low, high)
        inside = both if inside is None else terms.binary(Op.LAND, inside, both)
        total = terms.binary(Op.ADD, total, terms.binary(Op.MUL, at, terms.integer(step, I64)))
        step *= extent
    assert inside is not None
    return total, inside


def _check_mode(site: CallSite, index: int) -> None:
    if index >= len(site.args):
        return
    mode = site.args[index]
    if not isinstance(mode, s.Name) or mode.name.rpartition("::")[2] not in _SAFE_MODES:
        raise Unsupported(f"`{site.last}` with the boundary mode `{render(mode)}`")


def _write(count: int) -> Builtin:
    def handler(x: Context, site: CallSite) -> Operand:
        value = site.value(x, 0)
        base = _surface(x, site, site.value(x, 1), site.args[1])
        offset, inside = _coordinates(x, site, 2, count)
        size = t.size_of(value.type)
        if size is None:
            raise Unsupported(f"`{site.last}` of a `{t.show(value.type)}`")
        data = x.havoc(site.span, site.last, k_bits(size), "what a surface holds")
        x.emit(k.If(site.span, inside, (k.Store(site.span, terms.move(base, offset), data, size),)))
        return NOTHING

    return handler


def _read(count: int) -> Builtin:
    def handler(x: Context, site: CallSite) -> Operand:
        target = None if site.explicit and len(site.args) < count + 2 else site.value(x, 0)
        if target is not None and not (isinstance(target, AddressOf) or _is_pointer(target)):
            target = None
        first = 0 if target is None else 1
        base = _surface(x, site, site.value(x, first), site.args[first])
        offset, inside = _coordinates(x, site, first + 1, count)
        place = dereference(x, target, site.span, site.last) if target is not None else None
        kind = place.type if place is not None else site.explicit[0] if site.explicit else None
        size = t.size_of(kind) if isinstance(kind, t.CType) else None
        if size is None or not isinstance(kind, t.CType):
            raise Unsupported(f"`{site.last}` of a type that is not known")
        x.emit(k.If(site.span, inside, (k.Load(site.span, None, terms.move(base, offset), k_bits(size)),)))
        found = unknown(x, kind, site.span, site.last, "what a surface holds")
        if place is None:
            return found
        write(x, place, read(x, found, site.span, site.last), site.span)
        return NOTHING

    return handler


def k_bits(size: int) -> Type:
    """So many bytes as one number."""
    return Type("int", size * 8, False)


_FETCHES = (
    "tex1Dfetch", "tex2Dgather",
    *(f"tex{shape}{how}" for shape in _SHAPES for how in ("", "Lod", "Grad")),
)  # fmt: skip

TEXTURES: dict[str, Builtin] = {
    **dict.fromkeys(_FETCHES, _fetch),
    **{f"surf{shape}write": _write(count) for shape, count in _SHAPES.items()},
    **{f"surf{shape}read": _read(count) for shape, count in _SHAPES.items()},
}
