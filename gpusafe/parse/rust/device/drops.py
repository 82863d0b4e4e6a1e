"""Drops: what ``impl Drop`` of the program does when a variable's scope ends (a lock guard that unlocks)."""

from __future__ import annotations

from gpusafe.ir import kernel as k
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.device.frames import Scope, TypeEnv
from gpusafe.parse.rust.device.lowering import Lowering
from gpusafe.parse.rust.device.places import borrow, read
from gpusafe.parse.rust.device.program import FnDef, ImplDef
from gpusafe.parse.rust.device.selecting import matching_impls
from gpusafe.parse.rust.device.types import AdtTy, Ty
from gpusafe.parse.rust.device.values import Agg, EnumVal, LocalPlace, LocalRef, Place, Slot, Value, ValuePlace
from gpusafe.span import Span


def drop_method(lw: Lowering, ty: Ty) -> tuple[FnDef, TypeEnv] | None:
    """The ``drop`` of a type that has one."""
    if not lw.program.has_drops or not isinstance(ty, AdtTy):
        return None
    for impl, env in matching_impls(lw, ty, _is_drop):
        for item in impl.item.items:
            if isinstance(item, ast.Fn) and item.name == "drop":
                return FnDef("drop", impl.module, item, impl), env
    return None


def _is_drop(impl: ImplDef) -> bool:
    return impl.item.trait is not None and impl.item.trait.last == "Drop"


def needs_drop(lw: Lowering, value: Value | None) -> bool:
    """Whether a value's end runs code of the program."""
    if value is None or not lw.program.has_drops:
        return False
    todo = [value]
    while todo:
        here = todo.pop()
        if drop_method(lw, lw.infer.shallow(here.ty)) is not None:
            return True
        match here:
            case Agg(fields=fields):
                todo.extend(v for _, v in fields)
            case EnumVal(payloads=payloads):
                todo.extend(v for _, vs in payloads for v in vs)
    return False


def drop_value(lw: Lowering, value: Value, span: Span) -> None:
    """Run the drop of a value, then those of its fields."""
    if lw.dead or not needs_drop(lw, value):
        return
    _drop_place(lw, ValuePlace(value.ty, value), span)


def _drop_place(lw: Lowering, place: Place, span: Span) -> None:
    held = read(lw, place, span)
    found = drop_method(lw, lw.infer.shallow(held.ty))
    if found is not None:
        reference = borrow(lw, place, True, True, span)
        lw.hooks.call_fn(lw, found[0], found[1], (), lw.env, [reference], span, None)
    match held:
        case Agg(fields=fields):
            for name, part in fields:
                if needs_drop(lw, part):
                    inner: Place = ValuePlace(part.ty, part)
                    if isinstance(place, LocalPlace):
                        inner = LocalPlace(part.ty, place.slot, (*place.path, name))
                    _drop_place(lw, inner, span)
        case EnumVal() if any(needs_drop(lw, v) for _, vs in held.payloads for v in vs):
            lw.emit(k.Unmodelled(lw.at(span), "the drop of an enum's content"))


def moved(lw: Lowering, slot: Slot) -> None:
    """A variable is moved out of: its scope's end does not drop it."""
    if not lw.program.has_drops or not needs_drop(lw, slot.value):
        return
    slot.moved = True
    slot.moved_level = lw.level


def drop_scope(lw: Lowering, scope: Scope, span: Span) -> None:
    """The end of one scope: its variables are dropped, the last first."""
    if lw.dead or not lw.program.has_drops:
        return
    for slot in reversed(list(scope.slots.values())):
        if isinstance(slot.value, LocalRef) or not needs_drop(lw, slot.value):
            continue
        if not slot.moved:
            _drop_place(lw, LocalPlace(slot.ty, slot), span)
        elif slot.moved_level > slot.level:
            lw.emit(k.Unmodelled(lw.at(span), f"the drop of `{slot.name}`, which is moved on some paths only"))


def drop_until(lw: Lowering, outer: Scope | None, span: Span) -> None:
    """A jump out of all scopes inside of ``outer``."""
    here: Scope | None = lw.scope
    while here is not None and here is not outer:
        drop_scope(lw, here, span)
        here = here.parent


def drop_temporaries(lw: Lowering, span: Span) -> None:
    """The end of a statement: its temporaries are dropped."""
    while lw.temporaries:
        drop_value(lw, lw.temporaries.pop(), span)
