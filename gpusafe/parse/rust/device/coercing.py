"""Coercions: references to arrays become slices, references become raw pointers, literals take the wanted type."""

from __future__ import annotations

from gpusafe.ir.expr import Expr, Opaque
from gpusafe.parse.rust.device import terms
from gpusafe.parse.rust.device.lowering import Lowering
from gpusafe.parse.rust.device.memory import to_memory
from gpusafe.parse.rust.device.places import borrow, deref, read
from gpusafe.parse.rust.device.types import AdtTy, ArrayTy, FnTy, NeverTy, PtrTy, SliceTy, Ty, VarTy
from gpusafe.parse.rust.device.values import (
    Agg,
    Diverges,
    EnumVal,
    Fat,
    LocalRef,
    Scalar,
    Unknown,
    Value,
)
from gpusafe.span import Span


def coerce(lw: Lowering, value: Value, want: Ty | None, span: Span) -> Value:
    """``value`` where a ``want`` is expected."""
    if want is None or isinstance(value, Diverges):
        return value
    want = lw.infer.shallow(want)
    if isinstance(want, PtrTy):
        return _pointer(lw, value, want, span)
    match value:
        case Unknown(reason=reason):
            return Unknown(want, reason) if not isinstance(want, VarTy) else value
        case Scalar(ty=ty, term=term):
            lw.infer.unify(ty, want)
            type_ = lw.infer.term_type(want)
            if type_ is not None and type_ != term.type and "infer" not in (type_.kind, term.type.kind):
                return value
            return Scalar(want, lw.settled(term)) if not isinstance(want, VarTy | NeverTy | FnTy) else value
        case Agg(fields=fields):
            lw.infer.unify(value.ty, want)
            have = value.ty
            if isinstance(want, AdtTy) and isinstance(have, AdtTy):
                return Agg(with_constants(have, want), fields)
            return Agg(want, fields) if isinstance(want, AdtTy) else value
        case EnumVal(ty=have2, tag=tag, payloads=payloads):
            lw.infer.unify(value.ty, want)
            if isinstance(want, AdtTy):
                return EnumVal(with_constants(have2, want), tag, payloads)
            return value
        case _:
            lw.infer.unify(value.ty, want)
            return value


def with_constants(have: AdtTy, want: AdtTy) -> AdtTy:
    """A type whose constant arguments that are not known are taken from the wanted type."""
    if have.adt is not want.adt or have.args == want.args:
        return have
    pairs = zip(have.args, want.args, strict=False)
    return AdtTy(have.adt, tuple(w if isinstance(h, Opaque) and isinstance(w, Expr) else h for h, w in pairs))


def _pointer(lw: Lowering, value: Value, want: PtrTy, span: Span) -> Value:
    inner = lw.infer.shallow(want.inner)
    have = lw.infer.shallow(value.ty)
    if isinstance(have, PtrTy) and isinstance(inner, SliceTy):
        from_inner = lw.infer.shallow(have.inner)
        if isinstance(from_inner, ArrayTy):
            lw.infer.unify(from_inner.elem, inner.elem)
            return to_slice(lw, value, want, span)
    match value:
        case Scalar(term=term):
            if isinstance(have, PtrTy):
                lw.infer.unify(have.inner, inner)
            else:
                lw.infer.unify(have, want)
            if isinstance(inner, SliceTy):
                return value
            return Scalar(PtrTy(lw.infer.deep(inner), want.mutable, want.is_ref), term)
        case Fat(ptr=ptr, len=length):
            if isinstance(have, PtrTy):
                lw.infer.unify(have.inner, inner)
            return Fat(PtrTy(lw.infer.deep(inner), want.mutable, want.is_ref), ptr, length)
        case LocalRef(place=place):
            if isinstance(have, PtrTy):
                lw.infer.unify(have.inner, inner)
            return LocalRef(PtrTy(place.ty, want.mutable, want.is_ref), place)
        case Unknown(reason=reason):
            return Unknown(want, reason)
        case _:
            return value


def to_slice(lw: Lowering, value: Value, want: PtrTy, span: Span) -> Value:
    """A reference to an array as a slice."""
    have = lw.infer.shallow(value.ty)
    assert isinstance(have, PtrTy)
    array = lw.infer.shallow(have.inner)
    if not isinstance(array, ArrayTy):
        return value
    place = deref(lw, value, span)
    address = borrow(lw, place, want.mutable, want.is_ref, span)
    if isinstance(address, LocalRef):
        made = to_memory(lw, "array", read(lw, address.place, span), span)
        ptr = getattr(made, "ptr", None)
        if ptr is None:
            return value
        return Fat(PtrTy(SliceTy(array.elem), want.mutable, want.is_ref), ptr, array.length)
    if isinstance(address, Scalar):
        length = array.length
        return Fat(PtrTy(SliceTy(array.elem), want.mutable, want.is_ref), address.term, terms.cast(length, length.type))
    return value
