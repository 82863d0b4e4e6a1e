"""Local variables: trees whose scalars are IR variables, and assignments to them and to their parts."""

from __future__ import annotations

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import PTR, USIZE, Type, Var
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.device import layout, terms
from gpusafe.parse.rust.device.lowering import Gap, Lowering
from gpusafe.parse.rust.device.memory import copy_elements, fill, store, to_memory
from gpusafe.parse.rust.device.scalars import term_of
from gpusafe.parse.rust.device.types import (
    AdtTy,
    PtrTy,
    ScalarTy,
    TupleTy,
    Ty,
    VarTy,
)
from gpusafe.parse.rust.device.values import (
    Agg,
    ArrayMem,
    ArrayVal,
    EnumVal,
    Fat,
    LocalPlace,
    LocalRef,
    RepeatVal,
    Scalar,
    Slot,
    Unknown,
    Value,
)
from gpusafe.span import Span


def skeleton(lw: Lowering, ty: Ty, name: str, span: Span, depth: int = 0) -> Value | None:
    """Variables for a value of a type that is not there yet; None for types that are not trees of scalars."""
    ty = lw.infer.shallow(ty)
    here = lw.at(span)
    if isinstance(ty, ScalarTy) or (isinstance(ty, PtrTy) and lw.infer.term_type(ty) is not None):
        type_ = lw.infer.term_type(ty)
        assert type_ is not None
        made = lw.fresh(name)
        lw.emit(k.Havoc(here, made, type_, "not assigned yet"))
        return Scalar(ty, Var(type_, made))
    match ty:
        case PtrTy():
            first, second = lw.fresh(f"{name}.ptr"), lw.fresh(f"{name}.len")
            lw.emit(k.Havoc(here, first, PTR, "not assigned yet"))
            lw.emit(k.Havoc(here, second, USIZE, "not assigned yet"))
            return Fat(ty, Var(PTR, first), Var(USIZE, second))
        case TupleTy(items=items) if depth < 6:
            parts = [(str(i), skeleton(lw, t, f"{name}.{i}", span, depth + 1)) for i, t in enumerate(items)]
        case AdtTy(adt=adt) if depth < 6 and isinstance(adt.item, ast.Struct) and adt.item.kind == "struct":
            fields = layout.struct_fields(lw, ty)
            parts = [(n, skeleton(lw, t, f"{name}.{n}", span, depth + 1)) for n, t in fields]
        case _:
            return None
    known = tuple((n, v) for n, v in parts if v is not None)
    return Agg(ty, known) if len(known) == len(parts) else None


def _all_payloads(lw: Lowering, name: str, value: EnumVal, span: Span) -> tuple[tuple[int, tuple[Value, ...]], ...]:
    """Variables for the fields of all variants, so that a later assignment finds them."""
    have = {i: tuple(to_vars(lw, f"{name}.{i}", v, span) for v in vs) for i, vs in value.payloads}
    item = value.ty.adt.item
    assert isinstance(item, ast.Enum)
    for index in range(len(item.variants)):
        if index in have:
            continue
        fields = layout.variant_fields(lw, value.ty, index)
        made = [skeleton(lw, t, f"{name}.{index}", span) for _, t in fields]
        known = tuple(m for m in made if m is not None)
        if len(known) == len(made):
            have[index] = known
    return tuple(sorted(have.items()))


def to_vars(lw: Lowering, name: str, value: Value, span: Span) -> Value:
    """The same tree with an IR variable for each scalar: what a mutable variable holds."""
    match value:
        case Scalar(ty=ty, term=term):
            made = lw.fresh(name)
            lw.emit(k.Assign(lw.at(span), made, term))
            return Scalar(ty, Var(term.type, made))
        case Fat(ty=ty, ptr=ptr, len=length):
            first, second = lw.fresh(f"{name}.ptr"), lw.fresh(f"{name}.len")
            lw.emit(k.Assign(lw.at(span), first, ptr))
            lw.emit(k.Assign(lw.at(span), second, length))
            return Fat(ty, Var(PTR, first), Var(USIZE, second))
        case Agg(ty=ty, fields=fields):
            return Agg(ty, tuple((n, to_vars(lw, f"{name}.{n}", v, span)) for n, v in fields))
        case EnumVal(ty=ty, tag=tag):
            made = lw.fresh(f"{name}.tag")
            lw.emit(k.Assign(lw.at(span), made, tag))
            return EnumVal(ty, Var(tag.type, made), _all_payloads(lw, name, value, span))
        case ArrayVal() | RepeatVal() | ArrayMem():
            return to_memory(lw, name, value, span)
        case Unknown(ty=ty):
            type_ = lw.infer.term_type(ty)
            settled = lw.infer.shallow(ty)
            if type_ is None or isinstance(settled, VarTy):
                return value
            made = lw.fresh(name)
            lw.emit(k.Havoc(lw.at(span), made, type_, value.reason))
            return Scalar(ty, Var(type_, made))
        case _:
            return value


def snapshot(lw: Lowering, name: str, value: Value, span: Span) -> Value:
    """The value as it is now, under the user's name: what an immutable binding holds."""
    match value:
        case Scalar(ty=ty, term=term):
            return Scalar(ty, lw.named(name, term, span))
        case Fat(ty=ty, ptr=ptr, len=length):
            return Fat(ty, lw.named(f"{name}.ptr", ptr, span), lw.named(f"{name}.len", length, span))
        case Agg(ty=ty, fields=fields):
            return Agg(ty, tuple((n, snapshot(lw, f"{name}.{n}", v, span)) for n, v in fields))
        case EnumVal(ty=ty, tag=tag, payloads=payloads):
            inner = tuple((i, tuple(snapshot(lw, name, v, span) for v in vs)) for i, vs in payloads)
            return EnumVal(ty, tag if lw.stable(tag) else lw.named(f"{name}.tag", tag, span), inner)
        case ArrayVal(ty=ty, items=items) if len(items) <= 4:
            return ArrayVal(ty, tuple(snapshot(lw, name, v, span) for v in items))
        case ArrayVal() | RepeatVal() | ArrayMem():
            return to_memory(lw, name, value, span)
        case _:
            return value


def declare(lw: Lowering, name: str, ty: Ty, value: Value | None, mutable: bool, span: Span) -> Slot:
    """A new local variable in the present scope."""
    if value is None:
        held: Value | None = None
    elif mutable:
        held = to_vars(lw, name, value, span)
    else:
        held = snapshot(lw, name, value, span)
    slot = Slot(name, ty, held, mutable, lw.level)
    lw.scope.slots[name] = slot
    return slot


def part_of(lw: Lowering, value: Value, path: tuple[str, ...]) -> Value:
    for name in path:
        found: Value | None = None
        match value:
            case Agg():
                found = value.get(name)
            case EnumVal() if name.startswith("v"):
                index, _, number = name[1:].partition(".")
                payload = value.payload(int(index))
                found = payload[int(number)] if payload is not None else None
            case ArrayVal(items=items) if name.startswith("["):
                found = items[int(name[1:-1])]
            case RepeatVal(item=item):
                found = item
        if found is None:
            return Unknown(lw.infer.fresh(), f"`{name}` of a value that is not modelled")
        value = found
    return value


def _with_part(value: Value, path: tuple[str, ...], part: Value) -> Value:
    if not path:
        return part
    name, rest = path[0], path[1:]
    match value:
        case Agg():
            inner = value.get(name)
            return value.replace(name, _with_part(inner, rest, part)) if inner is not None else value
        case EnumVal(ty=ty, tag=tag, payloads=payloads):
            index, _, number = name[1:].partition(".")
            made = []
            for i, items in payloads:
                if i == int(index):
                    n = int(number)
                    items = (*items[:n], _with_part(items[n], rest, part), *items[n + 1 :])
                made.append((i, items))
            return EnumVal(ty, tag, tuple(made))
        case ArrayVal(ty=ty, items=items):
            n = int(name[1:-1])
            return ArrayVal(ty, (*items[:n], _with_part(items[n], rest, part), *items[n + 1 :]))
        case _:
            return value


def overwrite(lw: Lowering, old: Value, new: Value, name: str, level: int, span: Span) -> Value:
    """Assign ``new`` to the variables of ``old``; the tree that the variable holds afterwards."""
    here = lw.at(span)
    match old, new:
        case (Scalar(ty=ty, term=Var(name=var, type=type_)), _) if not isinstance(new, LocalRef):
            lw.infer.unify(ty, new.ty)
            term = term_of(lw, new, span, ty)
            lw.emit(k.Assign(here, var, terms.cast(term, type_) if _unlike(term.type, type_) else term))
            return old
        case (Fat(ptr=Var(name=first), len=Var(name=second)), Fat(ptr=ptr, len=length)):
            lw.emit(k.Assign(here, first, ptr))
            lw.emit(k.Assign(here, second, length))
            return old
        case (Agg(ty=ty, fields=fields), Agg()):
            made = []
            for n, v in fields:
                part = new.get(n)
                made.append((n, v if part is None else overwrite(lw, v, part, f"{name}.{n}", level, span)))
            return Agg(ty, tuple(made))
        case (EnumVal(ty=ty, tag=Var(name=tag)), EnumVal()):
            lw.emit(k.Assign(here, tag, new.tag))
            inner = dict(old.payloads)
            for index, items in new.payloads:
                had = inner.get(index)
                if had is None:
                    inner[index] = tuple(to_vars(lw, f"{name}.{index}", v, span) for v in items)
                else:
                    pairs = zip(had, items, strict=True)
                    inner[index] = tuple(overwrite(lw, a, b, f"{name}.{index}", level, span) for a, b in pairs)
            return EnumVal(ty, old.tag, tuple(sorted(inner.items())))
        case (ArrayMem(ty=ty, ptr=ptr), ArrayVal(items=items)):
            size = layout.size_term(lw, ty.elem)
            for i, item in enumerate(items):
                store(lw, terms.ptr_add(ptr, terms.scaled(terms.int_const(i), size)), ty.elem, item, span)
            return old
        case (ArrayMem(ty=ty, ptr=ptr), RepeatVal(item=item)):
            fill(lw, ptr, ty, item, span)
            return old
        case (ArrayMem(ty=ty, ptr=ptr), ArrayMem(ptr=other)):
            copy_elements(lw, ptr, other, ty.elem, ty.length, span)
            return old
        case _:
            return _replace(lw, old, new, name, level, span)


def _unlike(a: Type, b: Type) -> bool:
    return a != b and "infer" not in (a.kind, b.kind)


def _replace(lw: Lowering, old: Value, new: Value, name: str, level: int, span: Span) -> Value:
    if old == new:
        return old
    if level == lw.level:
        return to_vars(lw, name, new, span)
    lw.emit(k.Unmodelled(lw.at(span), f"assignment to `{name}` in one of several paths"))
    return Unknown(old.ty, f"`{name}`, which is assigned in one of several paths")


def _is_mutable_tree(value: Value) -> bool:
    match value:
        case Scalar(term=Var()):
            return True
        case Fat(ptr=Var(), len=Var()):
            return True
        case Scalar() | Fat():
            return False
        case Agg(fields=fields):
            return all(_is_mutable_tree(v) for _, v in fields)
        case EnumVal(tag=tag, payloads=payloads):
            return isinstance(tag, Var) and all(_is_mutable_tree(v) for _, vs in payloads for v in vs)
        case ArrayVal() | RepeatVal():
            return False
        case _:
            return True


def write_local(lw: Lowering, place: LocalPlace, value: Value, span: Span) -> None:
    """Assign a local variable or a part of it."""
    slot = place.slot
    if slot.value is None:
        if place.path:
            raise Gap(f"assignment to a part of `{slot.name}`, which has no value yet")
        once = not slot.mutable and slot.level == lw.level
        slot.value = snapshot(lw, slot.name, value, span) if once else to_vars(lw, slot.name, value, span)
        slot.mutable = not once
        return
    if not slot.mutable or not _is_mutable_tree(slot.value):
        slot.value = to_vars(lw, slot.name, slot.value, span)
        slot.mutable = True
    old = part_of(lw, slot.value, place.path)
    name = ".".join((slot.name, *place.path))
    if not isinstance(old, Scalar):
        value = apart(lw, value, span)
    slot.value = _with_part(slot.value, place.path, overwrite(lw, old, value, name, slot.level, span))


def apart(lw: Lowering, value: Value, span: Span) -> Value:
    """The value in terms that the assignment itself does not change (``(a, b) = (b, a)``)."""
    match value:
        case Scalar(ty=ty, term=term) if not lw.stable(term):
            return Scalar(ty, lw.named("t", term, span))
        case Fat(ty=ty, ptr=ptr, len=length):
            return Fat(ty, lw.named("t", ptr, span), lw.named("t", length, span))
        case Agg(ty=ty, fields=fields):
            return Agg(ty, tuple((n, apart(lw, v, span)) for n, v in fields))
        case EnumVal(ty=ty, tag=tag, payloads=payloads):
            inner = tuple((i, tuple(apart(lw, v, span) for v in vs)) for i, vs in payloads)
            return EnumVal(ty, tag if lw.stable(tag) else lw.named("t", tag, span), inner)
        case _:
            return value
