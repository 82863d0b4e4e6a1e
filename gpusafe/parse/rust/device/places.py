"""Reading, writing, borrowing and projecting places: local variables and memory."""

from __future__ import annotations

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import Expr, Op
from gpusafe.parse.rust.device import layout, terms
from gpusafe.parse.rust.device.bodies import Nest
from gpusafe.parse.rust.device.lowering import Gap, Lowering
from gpusafe.parse.rust.device.memory import load, store, to_memory
from gpusafe.parse.rust.device.types import (
    AdtTy,
    ArrayTy,
    PtrTy,
    SliceTy,
    TupleTy,
    VarTy,
    show,
)
from gpusafe.parse.rust.device.values import (
    ArrayMem,
    ArrayVal,
    ChoicePlace,
    Fat,
    LocalPlace,
    LocalRef,
    MemPlace,
    Place,
    RepeatVal,
    Scalar,
    Slot,
    Unknown,
    Value,
    ValuePlace,
)
from gpusafe.parse.rust.device.variables import apart, part_of, to_vars, write_local
from gpusafe.span import Span


def read(lw: Lowering, place: Place, span: Span) -> Value:
    """The value in a place."""
    match place:
        case ChoicePlace():
            return _read_choice(lw, place, span)
        case ValuePlace(value=value):
            return value
        case LocalPlace(slot=slot, path=path):
            if slot.value is None:
                return Unknown(slot.ty, f"`{slot.name}`, which has no value")
            return part_of(lw, slot.value, path)
        case MemPlace(ty=ty, ptr=ptr):
            return load(lw, ptr, ty, span)
        case _:
            raise Gap("a read from this place")


def _read_choice(lw: Lowering, place: ChoicePlace, span: Span) -> Value:
    from gpusafe.parse.rust.device.merging import select

    values = [read(lw, option, span) for option in place.options]
    made = values[-1]
    for number in range(len(values) - 2, -1, -1):
        cond = terms.binary(Op.EQ, place.choice, terms.int_const(number))
        picked = select(lw, cond, values[number], made)
        if picked is None:
            return lw.unmodelled("a read through one of several references", span, syncs=False, ty=place.ty)
        made = picked
    return made


def write(lw: Lowering, place: Place, value: Value, span: Span) -> None:
    """Assign a place."""
    match place:
        case ChoicePlace(choice=choice, options=options):
            value = apart(lw, value, span)
            for number, option in enumerate(options):
                with lw.body() as body:
                    write(lw, option, value, span)
                cond = terms.binary(Op.EQ, choice, terms.int_const(number))
                lw.emit(Nest("if", lw.at(span), body, cond=cond))
        case LocalPlace():
            write_local(lw, place, value, span)
        case MemPlace(ty=ty, ptr=ptr):
            store(lw, ptr, ty, value, span)
        case ValuePlace(value=Unknown(reason=reason)):
            lw.emit(k.Unmodelled(lw.at(span), f"a write to {reason}"))
        case _:
            raise Gap("an assignment to a temporary")


def deref(lw: Lowering, value: Value, span: Span) -> Place:
    """``*value``."""
    match value:
        case LocalRef(place=place):
            return place
        case Fat(ty=PtrTy(inner=inner), ptr=ptr, len=length):
            return MemPlace(inner, ptr, length)
        case Scalar(ty=ty, term=term):
            known = lw.infer.shallow(ty)
            if isinstance(known, VarTy):
                lw.infer.unify(known, PtrTy(lw.infer.fresh(), True, False))
                known = lw.infer.shallow(known)
            if isinstance(known, PtrTy):
                return MemPlace(lw.infer.shallow(known.inner), term)
        case Unknown(ty=PtrTy(inner=inner), reason=reason):
            lw.emit(k.Unmodelled(lw.at(span), f"use of a pointer: {reason}"))
            return ValuePlace(inner, Unknown(inner, reason))
        case Unknown(reason=reason):
            lw.emit(k.Unmodelled(lw.at(span), f"use of a pointer: {reason}"))
            ty = lw.infer.fresh()
            return ValuePlace(ty, Unknown(ty, reason))
    raise Gap(f"dereference of `{show(lw.infer.shallow(value.ty))}`")


def borrow(lw: Lowering, place: Place, mutable: bool, is_ref: bool, span: Span) -> Value:
    """``&place``, ``&mut place``, ``&raw mut place``."""
    ty = PtrTy(lw.infer.shallow(place.ty), mutable, is_ref)
    match place:
        case ChoicePlace():
            return LocalRef(ty, place)
        case MemPlace(ptr=ptr, len=None):
            return Scalar(ty, ptr)
        case MemPlace(ptr=ptr, len=length) if length is not None:
            return Fat(ty, ptr, length)
        case LocalPlace():
            held = read(lw, place, span)
            if isinstance(held, ArrayMem):
                return Scalar(ty, held.ptr)
            return LocalRef(ty, place)
        case ValuePlace(value=ArrayMem(ptr=ptr)):
            return Scalar(ty, ptr)
        case ValuePlace(value=ArrayVal() | RepeatVal() as array):
            made = to_memory(lw, "array", array, span)
            return Scalar(ty, made.ptr) if isinstance(made, ArrayMem) else made
        case ValuePlace(value=Unknown(reason=reason)):
            return Unknown(ty, reason)
        case ValuePlace(value=value):
            held = to_vars(lw, lw.hint or "t", value, span) if mutable else value
            return LocalRef(ty, LocalPlace(place.ty, Slot("t", place.ty, held, mutable, lw.level)))
        case _:
            raise Gap("a borrow of this place")


def project(lw: Lowering, place: Place, name: str) -> Place:
    """``place.name`` (no dereference)."""
    ty = lw.infer.shallow(place.ty)
    match place:
        case ChoicePlace(choice=choice, options=options):
            parts = tuple(project(lw, option, name) for option in options)
            return ChoicePlace(parts[0].ty, choice, parts)
        case MemPlace(ptr=ptr) if isinstance(ty, AdtTy | TupleTy):
            offset, field_ty = layout.field_offset(lw, ty, name)
            return MemPlace(field_ty, terms.ptr_add(ptr, terms.int_const(offset)))
        case LocalPlace(slot=slot, path=path):
            part = part_of(lw, slot.value, (*path, name)) if slot.value is not None else None
            return LocalPlace(part.ty if part is not None else lw.infer.fresh(), slot, (*path, name))
        case ValuePlace(value=value):
            part = part_of(lw, value, (name,))
            return ValuePlace(part.ty, part)
        case _:
            raise Gap(f"field `{name}` of `{show(ty)}`")


def payload_place(lw: Lowering, place: Place, index: int, number: int) -> Place:
    """A field of a variant of the enum in ``place``."""
    ty = lw.infer.shallow(place.ty)
    match place:
        case MemPlace(ptr=ptr) if isinstance(ty, AdtTy):
            offset, field_ty = layout.payload_offset(lw, ty, index, number)
            return MemPlace(field_ty, terms.ptr_add(ptr, terms.int_const(offset)))
        case LocalPlace() | ValuePlace():
            return project(lw, place, f"v{index}.{number}")
        case _:
            raise Gap("a field of a variant")


def element(lw: Lowering, place: Place, index: Expr, span: Span) -> Place:
    """``place[index]`` without a bounds check."""
    ty = lw.infer.shallow(place.ty)
    match place:
        case ChoicePlace(choice=choice, options=options):
            parts = tuple(element(lw, option, index, span) for option in options)
            return ChoicePlace(parts[0].ty, choice, parts)
        case MemPlace(ptr=ptr) if isinstance(ty, SliceTy | ArrayTy):
            offset = terms.scaled(index, layout.size_term(lw, ty.elem))
            return MemPlace(lw.infer.shallow(ty.elem), terms.ptr_add(ptr, offset))
        case LocalPlace() | ValuePlace() if isinstance(ty, ArrayTy):
            held = read(lw, place, span)
            return _array_element(lw, place, held, ty, index, span)
        case _:
            raise Gap(f"indexing of `{show(ty)}`")


def _array_element(lw: Lowering, place: Place, held: Value, ty: ArrayTy, index: Expr, span: Span) -> Place:
    number = terms.const_int(index)
    match held:
        case ArrayMem(ptr=ptr):
            return element(lw, MemPlace(ty, ptr), index, span)
        case RepeatVal(item=item) if isinstance(place, ValuePlace):
            return ValuePlace(ty.elem, item)
        case ArrayVal(items=items) if number is not None and number < len(items):
            if isinstance(place, LocalPlace):
                return LocalPlace(items[number].ty, place.slot, (*place.path, f"[{number}]"))
            return ValuePlace(items[number].ty, items[number])
        case ArrayVal() | RepeatVal():
            made = to_memory(lw, "array", held, span)
            assert isinstance(made, ArrayMem)
            return element(lw, MemPlace(ty, made.ptr), index, span)
        case Unknown(reason=reason):
            return ValuePlace(ty.elem, Unknown(ty.elem, reason))
        case _:
            raise Gap("indexing of an array that is not modelled")
