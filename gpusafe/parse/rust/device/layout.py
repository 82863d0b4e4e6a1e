"""Sizes and offsets of types in memory.

Structs are laid out as ``repr(C)`` says. Rust may order the fields of other structs differently, but any order gives
each field its own bytes, which is what races depend on.
"""

from __future__ import annotations

from gpusafe.ir.expr import BOOL, ISIZE, USIZE, Const, Expr, Type
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.device import terms
from gpusafe.parse.rust.device.frames import TypeEnv
from gpusafe.parse.rust.device.lowering import Gap, Lowering
from gpusafe.parse.rust.device.types import (
    AdtTy,
    ArrayTy,
    AtomicTy,
    FnTy,
    NeverTy,
    ParamTy,
    PtrTy,
    ScalarTy,
    SliceTy,
    TupleTy,
    Ty,
    VarTy,
    show,
)

SIZE_OF = "sizeof"  # kind of the placeholder type of sizes that inference settles later
GENERIC_SIZE = 4  # of an element whose type is a parameter of the kernel


def adt_env(ty: AdtTy) -> TypeEnv:
    """The names in the field types of an ADT."""
    params = [g for g in ty.adt.item.generics if g.kind != "lifetime"]
    generics = {g.name: a for g, a in zip(params, ty.args, strict=False)}
    return TypeEnv(ty.adt.module, generics, ty)


def struct_fields(lw: Lowering, ty: AdtTy) -> tuple[tuple[str, Ty], ...]:
    """The fields of a struct with their types."""
    item = ty.adt.item
    if not isinstance(item, ast.Struct):
        raise Gap(f"`{ty.adt.name}` is not a struct")
    env = adt_env(ty)
    return tuple((name, lw.type(t, env)) for name, t in item.fields)


def variant_fields(lw: Lowering, ty: AdtTy, index: int) -> tuple[tuple[str, Ty], ...]:
    """The fields of one variant of an enum."""
    item = ty.adt.item
    if not isinstance(item, ast.Enum):
        raise Gap(f"`{ty.adt.name}` is not an enum")
    env = adt_env(ty)
    return tuple((name, lw.type(t, env)) for name, t in item.variants[index].fields)


def is_flag_enum(ty: AdtTy) -> bool:
    """Whether the tag is a BOOL: two variants, at least one with fields."""
    item = ty.adt.item
    return isinstance(item, ast.Enum) and len(item.variants) == 2 and any(v.fields for v in item.variants)


def tag_type(ty: AdtTy) -> Type:
    """The type of the tag of an enum value."""
    return BOOL if is_flag_enum(ty) else ISIZE


def repr_type(adt: ast.Enum | ast.Struct) -> str | None:
    """The integer type in ``#[repr(..)]``."""
    attribute = adt.attribute("repr")
    if attribute is None:
        return None
    return next((w.strip() for w in attribute.text.split(",") if w.strip()[:1] in ("u", "i")), None)


def _tag_size(ty: AdtTy) -> int:
    name = repr_type(ty.adt.item)
    if name is None:
        return 1
    return 8 if name.endswith("size") else int(name[1:]) // 8


def fields_layout(lw: Lowering, fields: tuple[tuple[str, Ty], ...], start: int = 0) -> tuple[dict[str, int], int, int]:
    """Offsets of the fields, size and alignment of them all (in bytes)."""
    offsets: dict[str, int] = {}
    at, alignment = start, 1
    for name, ty in fields:
        size, align = size_align(lw, ty)
        at = -(-at // align) * align
        offsets[name] = at
        at += size
        alignment = max(alignment, align)
    return offsets, -(-at // alignment) * alignment, alignment


def size_align(lw: Lowering, ty: Ty) -> tuple[int, int]:
    """Size and alignment in bytes; raises Gap when they are not known."""
    ty = lw.infer.shallow(ty)
    match ty:
        case ScalarTy(type=t):
            return t.bytes, t.bytes
        case PtrTy(inner=inner):
            return (16, 8) if isinstance(lw.infer.shallow(inner), SliceTy) else (8, 8)
        case TupleTy(items=items):
            _, size, align = fields_layout(lw, tuple((str(i), t) for i, t in enumerate(items)))
            return size, align
        case ArrayTy(elem=elem, length=length):
            size, align = size_align(lw, elem)
            count = terms.const_int(length)
            if count is None:
                raise Gap("the length of an array type is not known")
            return size * count, align
        case AtomicTy(content=content):
            return size_align(lw, content)
        case AdtTy(adt=adt):
            return _adt_size(lw, ty, adt.item)
        case VarTy():
            settled = lw.infer.settle(Type("infer", ty.ident))
            return settled.bytes, settled.bytes
        case ParamTy():
            lw.generic = True
            return GENERIC_SIZE, GENERIC_SIZE
        case FnTy() | NeverTy():
            return 0, 1
        case _:
            raise Gap(f"the size of `{show(ty)}` is not known")


def _adt_size(lw: Lowering, ty: AdtTy, item: ast.Struct | ast.Enum) -> tuple[int, int]:
    forced = _forced_align(item)
    if isinstance(item, ast.Struct):
        fields = struct_fields(lw, ty)
        if item.kind == "union":
            parts = [size_align(lw, t) for _, t in fields] or [(0, 1)]
            size, align = max(p[0] for p in parts), max(p[1] for p in parts)
        else:
            _, size, align = fields_layout(lw, fields)
    else:
        tag = _tag_size(ty)
        size, align = tag, tag
        for index in range(len(item.variants)):
            _, end, inner = fields_layout(lw, variant_fields(lw, ty, index), tag)
            size, align = max(size, end), max(align, inner)
    align = max(align, forced)
    return -(-size // align) * align, align


def _forced_align(item: ast.Struct | ast.Enum) -> int:
    attribute = item.attribute("repr")
    if attribute is None or "align" not in attribute.text:
        return 1
    digits = attribute.text.split("align", 1)[1].strip(" ()").split(")")[0]
    return int(digits) if digits.isdigit() else 1


def field_offset(lw: Lowering, ty: AdtTy | TupleTy, name: str) -> tuple[int, Ty]:
    """Offset in bytes and type of a field of a struct or tuple."""
    if isinstance(ty, TupleTy):
        fields = tuple((str(i), t) for i, t in enumerate(ty.items))
    else:
        fields = struct_fields(lw, ty)
        if isinstance(ty.adt.item, ast.Struct) and ty.adt.item.kind == "union":
            return 0, dict(fields)[name]
    offsets, _, _ = fields_layout(lw, fields)
    if name not in offsets:
        raise Gap(f"no field `{name}` in `{show(ty)}`")
    return offsets[name], dict(fields)[name]


def payload_offset(lw: Lowering, ty: AdtTy, index: int, field: int) -> tuple[int, Ty]:
    """Offset and type of a field of a variant."""
    fields = variant_fields(lw, ty, index)
    offsets, _, _ = fields_layout(lw, fields, _tag_size(ty))
    name, field_ty = fields[field]
    return offsets[name], field_ty


def tag_memory_type(ty: AdtTy) -> Type:
    """The type of the tag in memory."""
    name = repr_type(ty.adt.item)
    return Type("int", _tag_size(ty) * 8, bool(name and name.startswith("i")))


def size_term(lw: Lowering, ty: Ty) -> Expr:
    """The size of an element as a USIZE term; a placeholder while inference has not settled a literal's type."""
    ty = lw.infer.shallow(ty)
    if isinstance(ty, VarTy):
        return Const(Type(SIZE_OF, ty.ident), 0)
    return terms.int_const(size_align(lw, ty)[0], USIZE)


def access_size(lw: Lowering, type_: Type) -> int:
    """The size of an access in bytes; ``-1 - n`` for the placeholder type ``n`` (see finish)."""
    return -1 - type_.bits if type_.kind == "infer" else type_.bytes
