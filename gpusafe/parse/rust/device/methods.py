"""Method calls: which method of which type, through references, and the receiver that it gets."""

from __future__ import annotations

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import TRUE, Expr, Op
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.device import (
    atomics,
    calls,
    drops,
    float_methods,
    int_methods,
    iterator_methods,
    iterators,
    pointer_methods,
    slice_methods,
    terms,
)
from gpusafe.parse.rust.device.frames import TypeEnv
from gpusafe.parse.rust.device.lowering import Gap, Lowering
from gpusafe.parse.rust.device.operators import assigned, compare, kept, operands, plain
from gpusafe.parse.rust.device.paths import lowered_args
from gpusafe.parse.rust.device.places import borrow, deref, element, read
from gpusafe.parse.rust.device.program import FnDef
from gpusafe.parse.rust.device.scalars import term_of
from gpusafe.parse.rust.device.selecting import find_method
from gpusafe.parse.rust.device.types import (
    BOOL,
    SCALARS,
    AdtTy,
    ArrayTy,
    AtomicTy,
    ForeignTy,
    ParamTy,
    PtrTy,
    ScalarTy,
    SliceTy,
    Ty,
    VarTy,
    show,
)
from gpusafe.parse.rust.device.values import (
    NEVER,
    Agg,
    ArrayMem,
    ArrayVal,
    ClosureVal,
    Diverges,
    EnumVal,
    Fat,
    FnVal,
    LocalPlace,
    LocalRef,
    MemPlace,
    Place,
    RepeatVal,
    Scalar,
    Unknown,
    Value,
    ValuePlace,
)
from gpusafe.span import Span

_MAX_DEREFS = 6


def method_call(lw: Lowering, node: ast.MethodCall, want: Ty | None) -> Value:
    """``receiver.name(args)``."""
    place = lw.place(node.receiver)
    if isinstance(place, ValuePlace) and isinstance(place.value, Diverges):
        return NEVER
    start = len(lw.out)
    hints = _hints(lw, place, node)
    args = operands(lw, node.args, hints)
    if any(isinstance(a, Diverges) for a in args) or lw.dead:
        return NEVER
    if isinstance(place, ValuePlace) and len(lw.out) > start:
        place = _settled(lw, place, start, node)
    return method_on(lw, place, node.name, args, node.span, want, node.generics)


def _settled(lw: Lowering, place: ValuePlace, start: int, node: ast.MethodCall) -> ValuePlace:
    changed = assigned(lw.out[start:]) - lw.temps
    if not changed:
        return place
    return ValuePlace(place.ty, kept(lw, place.value, changed, start, node.span))


def _hints(lw: Lowering, place: Place, node: ast.MethodCall) -> tuple[Ty | None, ...]:
    """Types that guide literal arguments: integer methods take their own type, pointer offsets are usize."""
    ty = lw.infer.shallow(place.ty)
    if isinstance(ty, PtrTy) and not ty.is_ref:
        usize = {"offset": "isize", "wrapping_offset": "isize"}.get(node.name, "usize")
        if node.name in ("add", "sub", "offset", "wrapping_add", "wrapping_sub", "wrapping_offset", "byte_add"):
            return (SCALARS[usize],)
        return (ty.inner,) if node.name in ("write", "write_volatile", "write_unaligned", "replace") else ()
    if isinstance(ty, ScalarTy) and node.name not in int_methods.OWN_TYPES:
        return (ty, ty)
    if isinstance(ty, ScalarTy):
        return (SCALARS["u32"],)
    for _ in range(3):
        if isinstance(ty, PtrTy):
            ty = lw.infer.shallow(ty.inner)
    if isinstance(ty, AtomicTy):
        return (ty.content, ty.content)
    if isinstance(ty, SliceTy | ArrayTy) and node.name.startswith("get"):
        return (SCALARS["usize"],)
    return ()


def method_on(
    lw: Lowering,
    place: Place,
    name: str,
    args: list[Value],
    span: Span,
    want: Ty | None,
    given: tuple[ast.Type | ast.Expr, ...] = (),
) -> Value:
    """Call a method on the content of a place."""
    original = place
    for _ in range(_MAX_DEREFS):
        ty = lw.infer.shallow(place.ty)
        held = place.value if isinstance(place, ValuePlace) else None
        if held is None and not isinstance(place, MemPlace):
            held = read(lw, place, span)
        if isinstance(held, iterators.ITERATORS):
            return _iterator(lw, place, held, name, args, span, want)
        if isinstance(held, ClosureVal | FnVal) and name in ("call", "call_mut", "call_once", "clone"):
            return held if name == "clone" else _call_tuple(lw, held, args, span, want)
        found = find_method(lw, ty, name) if not isinstance(ty, VarTy) or lw.infer.kind(ty) != "any" else None
        if found is not None:
            return _user_method(lw, found, place, args, span, want, given)
        made = _builtin(lw, ty, place, name, args, span, want, given)
        if made is not None:
            return made
        if isinstance(ty, PtrTy):
            place = deref(lw, read(lw, place, span), span)
            continue
        through = _deref_impl(lw, ty, place, span)
        if through is None:
            break
        place = through
    if name == "into" and want is not None and not args:
        made = _converted(lw, original, lw.infer.shallow(want), span)
        if made is not None:
            return made
    return _unknown_method(lw, original, place, name, args, span)


def _converted(lw: Lowering, place: Place, want: Ty, span: Span) -> Value | None:
    """``value.into()`` by the wanted type's ``From``."""
    if lw.infer.shallow(place.ty) == want:
        return read(lw, place, span)
    found = find_method(lw, want, "from") if isinstance(want, AdtTy) else None
    if found is None:
        return None
    return lw.hooks.call_fn(lw, found[0], found[1], (), lw.env, [read(lw, place, span)], span, want)


def _deref_impl(lw: Lowering, ty: Ty, place: Place, span: Span) -> Place | None:
    if not isinstance(ty, AdtTy):
        return None
    found = find_method(lw, ty, "deref_mut") or find_method(lw, ty, "deref")
    if found is None:
        return None
    held = borrow(lw, place, True, True, span)
    return deref(lw, lw.hooks.call_fn(lw, found[0], found[1], (), lw.env, [held], span, None), span)


def _call_tuple(lw: Lowering, callee: Value, args: list[Value], span: Span, want: Ty | None) -> Value:
    inner = [v for _, v in args[0].fields] if args and isinstance(args[0], Agg) else args
    return calls.call_value(lw, callee, inner, span, want)


def _user_method(
    lw: Lowering,
    found: tuple[FnDef, TypeEnv],
    place: Place,
    args: list[Value],
    span: Span,
    want: Ty | None,
    given: tuple[ast.Type | ast.Expr, ...],
) -> Value:
    fn, env = found
    params = fn.item.params
    first = params[0].type if params else None
    if isinstance(first, ast.TypeRef):
        if isinstance(place, ValuePlace) and drops.needs_drop(lw, place.value):
            lw.temporaries.append(place.value)
        receiver = borrow(lw, place, first.mutable, True, span)
    else:
        if isinstance(place, LocalPlace) and not place.path:
            drops.moved(lw, place.slot)
        receiver = read(lw, place, span)
    return lw.hooks.call_fn(lw, fn, env, given, lw.env, [receiver, *args], span, want)


def _builtin(
    lw: Lowering,
    ty: Ty,
    place: Place,
    name: str,
    args: list[Value],
    span: Span,
    want: Ty | None,
    given: tuple[ast.Type | ast.Expr, ...],
) -> Value | None:
    """A method of a built-in type; None when the type has none of that name."""
    match ty:
        case ScalarTy(type=t) if t.kind == "float":
            return float_methods.float_method(lw, read(lw, place, span), name, args, span)
        case ScalarTy() | VarTy() if lw.infer.kind(ty) != "any" or isinstance(ty, ScalarTy):
            if lw.infer.kind(ty) == "float":
                return float_methods.float_method(lw, read(lw, place, span), name, args, span)
            return int_methods.int_method(lw, read(lw, place, span), name, args, span, want)
        case PtrTy(is_ref=False):
            return pointer_methods.pointer_method(lw, read(lw, place, span), ty, name, args, span, given)
        case SliceTy() | ArrayTy():
            numbers = [g for g in lowered_args(lw, given) if isinstance(g, Expr)] if given else []
            return slice_methods.slice_method(lw, place, name, args, span, numbers[0] if numbers else None)
        case AtomicTy():
            return atomics.atomic_method(lw, place, ty, name, args, span)
        case AdtTy(adt=adt) if adt.module.family == "core" and adt.name.startswith("Range"):
            return _range_method(lw, place, name, args, span, want)
        case AdtTy() if name == "clone":
            return read(lw, place, span)
        case AdtTy() if name in ("eq", "ne"):
            return _equality(lw, place, name, args, span)
        case _:
            return None


def _equality(lw: Lowering, place: Place, name: str, args: list[Value], span: Span) -> Value:
    op = Op.EQ if name == "eq" else Op.NE
    return compare(lw, op, read(lw, place, span), plain(lw, args[0], "==", span), span)


def _range_method(
    lw: Lowering, place: Place, name: str, args: list[Value], span: Span, want: Ty | None
) -> Value | None:
    held = read(lw, place, span)
    if name == "contains" and isinstance(held, Agg) and isinstance(held.ty, AdtTy):
        item = plain(lw, args[0], "<", span)
        start, end = held.get("start"), held.get("end")
        cond: Expr = TRUE
        if start is not None:
            cond = term_of(lw, compare(lw, Op.GE, item, start, span), span, BOOL)
        if end is not None:
            op = Op.LE if "Inclusive" in held.ty.adt.name else Op.LT
            cond = terms.both(cond, term_of(lw, compare(lw, op, item, end, span), span, BOOL))
        return lw.scalar(cond)
    if name == "is_empty" and isinstance(held, Agg):
        start, end = held.get("start"), held.get("end")
        if start is not None and end is not None:
            a, b = term_of(lw, start, span), term_of(lw, end, span)
            return lw.scalar(terms.binary(Op.GE, a, b))
    if name == "clone":
        return held
    if name == "next" and isinstance(held, Agg):
        return None
    return iterator_methods.iterator_method(lw, iterators.into_iterator(lw, held, span), name, args, span, want)


def _iterator(
    lw: Lowering, place: Place, held: Value, name: str, args: list[Value], span: Span, want: Ty | None
) -> Value:
    if name == "next":
        raise Gap("`next` called by hand on a built-in iterator")
    return iterator_methods.iterator_method(lw, held, name, args, span, want)


def _unknown_method(lw: Lowering, original: Place, place: Place, name: str, args: list[Value], span: Span) -> Value:
    ty = lw.infer.shallow(place.ty)
    if name in ("clone", "to_owned", "as_ref", "as_mut", "borrow", "borrow_mut", "by_ref"):
        return read(lw, original, span)
    harmless = not reaches(lw, read(lw, place, span) if not isinstance(place, MemPlace) else None, args)
    if isinstance(place, MemPlace):
        harmless = False
    what = f"the method `{name}` of `{show(ty)}`" if not isinstance(ty, VarTy) else f"the method `{name}`"
    return lw.unmodelled(what, span, accesses=not harmless, syncs=not harmless)


def reaches(lw: Lowering, receiver: Value | None, args: list[Value]) -> bool:
    """Whether a function that is given these values could touch device memory through them."""
    todo = [*args, *([receiver] if receiver is not None else [])]
    while todo:
        value = todo.pop()
        match value:
            case Scalar(ty=ty) if isinstance(lw.infer.shallow(ty), PtrTy):
                return True
            case Fat() | LocalRef() | ClosureVal() | FnVal() | ArrayMem():
                return True
            case Agg(fields=fields):
                todo.extend(v for _, v in fields)
            case EnumVal(payloads=payloads):
                todo.extend(v for _, vs in payloads for v in vs)
            case ArrayVal(items=items):
                todo.extend(items)
            case RepeatVal(item=item):
                todo.append(item)
            case Unknown(ty=ty) if isinstance(lw.infer.shallow(ty), PtrTy | ForeignTy | ParamTy | VarTy | AdtTy):
                return True
    return False


# -- slices ----------------------------------------------------------------------------------------------------------


def length_of(lw: Lowering, place: Place) -> Expr | None:
    """The number of elements of the slice or array in a place."""
    ty = lw.infer.shallow(place.ty)
    if isinstance(ty, ArrayTy):
        return ty.length
    return place.len if isinstance(place, MemPlace) and isinstance(ty, SliceTy) else None


def subslice(lw: Lowering, place: Place, index: Agg, span: Span) -> Place:
    """``place[low..high]`` with its bounds checks."""
    made = slice_methods.as_slice(lw, place, span)
    length = made.len
    low, high = slice_methods.range_ends(lw, index, length, span)
    if not lw.unchecked:
        cond = terms.both(terms.binary(Op.LE, low, high), terms.binary(Op.LE, high, length))
        if cond != TRUE:
            lw.emit(k.Assume(lw.at(span), cond, "bounds check of a slice"))
    start = element(lw, slice_methods.place_of(made), low, span)
    assert isinstance(start, MemPlace) and isinstance(made.ty, PtrTy)
    return MemPlace(made.ty.inner, start.ptr, terms.binary(Op.SUB, high, low))
