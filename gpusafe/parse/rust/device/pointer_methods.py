"""Methods of raw pointers, and the functions of ``core::ptr``."""

from __future__ import annotations

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import BOOL, FALSE, ISIZE, PTR, TRUE, U8, U64, USIZE, Const, Expr, Op, Opaque, PtrUnknown
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.device import layout, terms
from gpusafe.parse.rust.device.iterator_methods import option_type
from gpusafe.parse.rust.device.lowering import Gap, Lowering
from gpusafe.parse.rust.device.memory import copy_elements, counted, load, store
from gpusafe.parse.rust.device.operators import cast_pointer
from gpusafe.parse.rust.device.places import deref, read, write
from gpusafe.parse.rust.device.scalars import term_of
from gpusafe.parse.rust.device.types import BOOL as BOOL_TY
from gpusafe.parse.rust.device.types import SCALARS, PtrTy, ScalarTy, SliceTy, Ty, VarTy
from gpusafe.parse.rust.device.values import (
    UNIT_VALUE,
    EnumVal,
    Fat,
    LocalRef,
    MemPlace,
    Scalar,
    Unknown,
    Value,
)
from gpusafe.parse.rust.device.variables import apart
from gpusafe.span import Span

_MOVES = {
    "add": (1, False),
    "wrapping_add": (1, False),
    "sub": (-1, False),
    "wrapping_sub": (-1, False),
    "offset": (1, True),
    "wrapping_offset": (1, True),
}
_BYTE_MOVES = {"byte_add": 1, "wrapping_byte_add": 1, "byte_sub": -1, "wrapping_byte_sub": -1, "byte_offset": 1}
_READS = {"read": False, "read_volatile": True, "read_unaligned": False}
_WRITES = {"write": False, "write_volatile": True, "write_unaligned": False}


def pointer_method(
    lw: Lowering,
    value: Value,
    ty: PtrTy,
    name: str,
    args: list[Value],
    span: Span,
    given: tuple[ast.Type | ast.Expr, ...] = (),
) -> Value | None:
    """A method of a raw pointer; None when there is none of that name."""
    inner = lw.infer.shallow(ty.inner)
    if name in _MOVES:
        sign, signed = _MOVES[name]
        return move(lw, value, ty, args[0], sign, signed, span, name.startswith("wrapping"))
    if name in _BYTE_MOVES:
        offset = term_of(lw, args[0], span, SCALARS["usize"])
        return _moved(value, ty, _signed(offset, _BYTE_MOVES[name]))
    if name in _READS:
        return read_through(lw, value, span, _READS[name])
    if name in _WRITES:
        write_through(lw, value, args[0], span, _WRITES[name])
        return UNIT_VALUE
    match name:
        case "cast" | "cast_mut" | "cast_const":
            to = inner if name != "cast" else (lw.type(given[0]) if _is_type(given) else lw.infer.fresh())  # type: ignore[arg-type]
            mutable = {"cast_mut": True, "cast_const": False}.get(name, ty.mutable)
            if name == "cast" and isinstance(inner, SliceTy):
                return cast_pointer(lw, value, PtrTy(to, mutable, False), span)
            return _retyped(lw, value, PtrTy(to, mutable, False), span, name == "cast")
        case "is_null":
            return Scalar(BOOL_TY, _is_null(value, lw, span))
        case "as_ref" | "as_mut" | "as_ref_unchecked" | "as_mut_unchecked":
            made = _retyped(lw, value, PtrTy(inner, name.startswith("as_mut"), True), span, False)
            if name.endswith("unchecked"):
                return made
            return EnumVal(option_type(lw, made.ty), terms.negate(_is_null(value, lw, span)), ((0, ()), (1, (made,))))
        case "offset_from" | "sub_ptr" | "offset_from_unsigned" | "byte_offset_from":
            return _distance(lw, value, args[0], inner, name, span)
        case "addr" | "expose_provenance" | "expose_addr":
            return Scalar(SCALARS["usize"], terms.cast(term_of(lw, value, span), U64))
        case "replace":
            old = read_through(lw, value, span, False)
            write_through(lw, value, args[0], span, False)
            return old
        case "swap":
            swap(lw, value, args[0], span)
            return UNIT_VALUE
        case "copy_from" | "copy_from_nonoverlapping":
            copy(lw, args[0], value, args[1], span)
            return UNIT_VALUE
        case "copy_to" | "copy_to_nonoverlapping":
            copy(lw, value, args[0], args[1], span)
            return UNIT_VALUE
        case "write_bytes":
            return _write_bytes(lw, value, inner, args, span)
        case "len" if isinstance(value, Fat):
            return lw.scalar(value.len)
        case "as_ptr" | "as_mut_ptr" if isinstance(inner, SliceTy) and isinstance(value, Fat):
            return Scalar(PtrTy(inner.elem, ty.mutable, False), value.ptr)
        case "clone":
            return value
        case _:
            return None


def _is_type(given: tuple[ast.Type | ast.Expr, ...]) -> bool:
    return bool(given) and isinstance(given[0], ast.Type)


def _signed(offset: Expr, sign: int) -> Expr:
    if sign > 0:
        return offset
    return terms.unary(Op.NEG, terms.cast(offset, ISIZE))


def move(
    lw: Lowering, value: Value, ty: PtrTy, by: Value, sign: int, signed: bool, span: Span, wraps: bool = False
) -> Value:
    """``pointer.add(by)`` and its kin: by elements of the type pointed to."""
    index_ty = SCALARS["isize"] if signed else SCALARS["usize"]
    lw.infer.unify(by.ty, index_ty)
    index = term_of(lw, by, span, index_ty)
    if index.type.kind == "infer" and isinstance(index, Const):
        index = terms.int_const(int(index.value), index_ty.type)
    inner = lw.infer.shallow(ty.inner)
    if isinstance(value, LocalRef):
        if terms.const_int(index) == 0:
            return value
        return Unknown(ty, "a pointer past a local variable")
    scaled = terms.wrapping_scaled if wraps else terms.scaled
    return _moved(value, ty, scaled(_signed(index, sign), layout.size_term(lw, inner)))


def _moved(value: Value, ty: PtrTy, offset: Expr) -> Value:
    match value:
        case Scalar(term=term):
            return Scalar(ty, terms.ptr_add(term, offset))
        case Unknown():
            return value
        case _:
            raise Gap("arithmetic on this pointer")


def _retyped(lw: Lowering, value: Value, ty: PtrTy, span: Span, changed: bool) -> Value:
    match value:
        case Scalar(term=term):
            return Scalar(ty, term)
        case LocalRef(place=place):
            return cast_pointer(lw, value, ty, span) if changed else LocalRef(ty, place)
        case Unknown(reason=reason):
            return Unknown(ty, reason)
        case Fat(ptr=ptr, len=length):
            return Fat(ty, ptr, length)
        case _:
            return value


def _is_null(value: Value, lw: Lowering, span: Span) -> Expr:
    match value:
        case Scalar(term=PtrUnknown(reason=reason)):
            return TRUE if reason == NULL else lw.havoc(BOOL, reason, span)
        case Scalar(term=term):
            return Opaque(BOOL, "is_null", (term,))
        case _:
            return FALSE


NULL = "the null pointer"


def read_through(lw: Lowering, pointer: Value, span: Span, volatile: bool) -> Value:
    """``pointer.read()``."""
    place = deref(lw, pointer, span)
    if isinstance(place, MemPlace):
        return load(lw, place.ptr, place.ty, span, volatile)
    return read(lw, place, span)


def write_through(lw: Lowering, pointer: Value, value: Value, span: Span, volatile: bool) -> None:
    """``pointer.write(value)``."""
    place = deref(lw, pointer, span)
    if isinstance(place, MemPlace):
        if isinstance(lw.infer.shallow(place.ty), VarTy):
            lw.infer.unify(place.ty, value.ty)
        store(lw, place.ptr, place.ty, value, span, volatile)
    else:
        write(lw, place, value, span)


def swap(lw: Lowering, a: Value, b: Value, span: Span) -> None:
    """Exchange what two pointers point to."""
    first, second = deref(lw, a, span), deref(lw, b, span)
    lw.infer.unify(first.ty, second.ty)
    x, y = apart(lw, read(lw, first, span), span), apart(lw, read(lw, second, span), span)
    write(lw, first, y, span)
    write(lw, second, x, span)


def copy(lw: Lowering, src: Value, dst: Value, count: Value, span: Span) -> None:
    """``ptr::copy_nonoverlapping(src, dst, count)``, element by element."""
    lw.infer.unify(count.ty, SCALARS["usize"])
    number = term_of(lw, count, span, SCALARS["usize"])
    source, target = deref(lw, src, span), deref(lw, dst, span)
    lw.infer.unify(source.ty, target.ty)
    if isinstance(source, MemPlace) and isinstance(target, MemPlace):
        copy_elements(lw, target.ptr, source.ptr, target.ty, number, span)
    elif terms.const_int(number) == 1:
        write(lw, target, read(lw, source, span), span)
    else:
        raise Gap("a copy to or from a local variable")


def _write_bytes(lw: Lowering, value: Value, inner: Ty, args: list[Value], span: Span) -> Value:
    if not isinstance(value, Scalar):
        raise Gap("`write_bytes` to a local variable")
    lw.infer.unify(args[1].ty, SCALARS["usize"])
    number = term_of(lw, args[1], span, SCALARS["usize"])
    byte = terms.cast(term_of(lw, args[0], span, SCALARS["u8"]), U8)
    size = layout.size_term(lw, inner)
    zero = terms.const_int(byte) == 0
    base = value.term

    def one(i: Expr) -> None:
        target = terms.ptr_add(base, terms.scaled(i, size))
        type_ = lw.infer.term_type(inner)
        if zero and type_ is not None and type_.kind in ("int", "float"):
            const = Const(type_, 0.0 if type_.kind == "float" else 0)
            lw.emit(k.Store(lw.at(span), target, const, layout.access_size(lw, type_)))
        else:
            store(lw, target, inner, Unknown(inner, "bytes"), span)

    counted(lw, number, span, one)
    return UNIT_VALUE


def _distance(lw: Lowering, value: Value, other: Value, inner: Ty, name: str, span: Span) -> Value:
    a = terms.cast(term_of(lw, value, span), U64)
    b = terms.cast(term_of(lw, other, span), U64)
    size = terms.int_const(1) if name.startswith("byte") else layout.size_term(lw, inner)
    signed = name in ("offset_from", "byte_offset_from")
    to = ISIZE if signed else USIZE
    made = terms.binary(Op.DIV, terms.cast(terms.binary(Op.SUB, a, b), to), terms.cast(size, to))
    return Scalar(ScalarTy(to), made)


def null_pointer(lw: Lowering, mutable: bool) -> Value:
    """``ptr::null()``."""
    return Scalar(PtrTy(lw.infer.fresh(), mutable, False), PtrUnknown(PTR, NULL))
