"""Iterators: ranges, slices and their adapters, and the loops that run through them.

An iterator is a value: a counting range, something indexable, or an adapter around another iterator. :func:`each` makes
the loop and calls back once with the item of a generic step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import USIZE, Const, Expr, Op, Type, Var
from gpusafe.parse.rust.device import terms
from gpusafe.parse.rust.device.bodies import Body, Nest
from gpusafe.parse.rust.device.lowering import Gap, Lowering
from gpusafe.parse.rust.device.memory import to_memory
from gpusafe.parse.rust.device.places import borrow, deref, element, read
from gpusafe.parse.rust.device.scalars import term_of
from gpusafe.parse.rust.device.selecting import find_method
from gpusafe.parse.rust.device.types import BOOL, AdtTy, ArrayTy, PtrTy, SliceTy, TupleTy, Ty, show
from gpusafe.parse.rust.device.types import USIZE as USIZE_TY
from gpusafe.parse.rust.device.values import (
    Agg,
    ArrayMem,
    ArrayVal,
    EnumVal,
    Fat,
    LocalRef,
    MemPlace,
    Place,
    RepeatVal,
    Scalar,
    Value,
    ValuePlace,
    tuple_value,
)
from gpusafe.span import Span

Step = Callable[[Value], None]
ONE = terms.int_const(1)
ZERO = terms.int_const(0)


@dataclass(frozen=True, slots=True)
class Counting(Value):
    """The integers from ``low`` to ``high`` (exclusive unless ``closed``; None: for ever); ``down``: from the end."""

    low: Expr
    high: Expr | None
    closed: bool = False
    step: Expr | None = None
    down: bool = False


@dataclass(frozen=True, slots=True)
class Indexed(Value):
    """``count`` items that can be reached by number; ``get`` reads one."""

    count: Expr
    get: Callable[[Expr], Value]


@dataclass(frozen=True, slots=True)
class Adapted(Value):
    """``kind`` is ``map``, ``filter``, ``enumerate``, ``copied``, ``take_while``, ``inspect``, ``filter_map``."""

    kind: str
    base: Value
    function: Value | None = None


@dataclass(frozen=True, slots=True)
class Chained(Value):
    first: Value
    second: Value


ITERATORS = Counting | Indexed | Adapted | Chained


def into_iterator(lw: Lowering, value: Value, span: Span) -> Value:
    """What ``for`` runs through."""
    ty = lw.infer.shallow(value.ty)
    match value:
        case Counting() | Indexed() | Adapted() | Chained():
            return value
        case Agg(ty=AdtTy(adt=adt)) if adt.module.family == "core" and adt.name.startswith("Range"):
            return _range(lw, value, adt.name, span)
        case Fat():
            return _slice_items(lw, deref(lw, value, span), by_value=False, mutable=_is_mut(ty), span=span)
        case ArrayVal() | ArrayMem() | RepeatVal():
            return _slice_items(lw, ValuePlace(value.ty, value), by_value=True, mutable=False, span=span)
        case Scalar() | LocalRef() if isinstance(ty, PtrTy):
            place = deref(lw, value, span)
            inner = lw.infer.shallow(place.ty)
            if isinstance(inner, ArrayTy | SliceTy):
                return _slice_items(lw, place, by_value=False, mutable=_is_mut(ty), span=span)
            if isinstance(value, LocalRef):
                return value if isinstance(inner, AdtTy) else into_iterator(lw, read(lw, place, span), span)
            return value
        case Agg(ty=AdtTy() as adt_ty) if find_method(lw, adt_ty, "into_iter") is not None:
            fn, env = find_method(lw, adt_ty, "into_iter") or (None, None)
            return lw.hooks.call_fn(lw, fn, env, (), lw.env, [value], span, None)
        case EnumVal(ty=AdtTy(adt=adt)) if adt.name == "Option":
            return Adapted(lw.infer.fresh(), "option", value)
        case _:
            return value


def _is_mut(ty: Ty) -> bool:
    return isinstance(ty, PtrTy) and ty.mutable


def _range(lw: Lowering, value: Agg, name: str, span: Span) -> Value:
    start, end = value.get("start"), value.get("end")
    if start is None:
        raise Gap("iteration over a range without a start")
    if end is not None:
        lw.infer.unify(start.ty, end.ty)
    low = term_of(lw, start, span)
    high = term_of(lw, end, span) if end is not None else None
    if high is not None and "infer" in (low.type.kind, high.type.kind):
        ty = lw.infer.term_type(lw.infer.shallow(start.ty))
        if ty is not None and ty.kind == "int":
            low, high = _as(low, ty), _as(high, ty)
    return Counting(start.ty, low, high, name == "RangeInclusive")


def _as(term: Expr, type_: Type) -> Expr:
    if term.type.kind == "infer" and isinstance(term, Const):
        return terms.int_const(int(term.value), type_)
    return term


def _slice_items(lw: Lowering, place: Place, *, by_value: bool, mutable: bool, span: Span) -> Indexed:
    if isinstance(place, ValuePlace) and isinstance(place.value, ArrayVal | RepeatVal):
        value = to_memory(lw, "array", place.value, span)
        place = ValuePlace(value.ty, value)
    count, elem = slice_shape(lw, place)

    def get(index: Expr) -> Value:
        part = element(lw, place, index, span)
        return read(lw, part, span) if by_value else borrow(lw, part, mutable, True, span)

    return Indexed(elem if by_value else PtrTy(elem, mutable, True), count, get)


def slice_shape(lw: Lowering, place: Place) -> tuple[Expr, Ty]:
    """Length and element type of the slice or array in a place."""
    ty = lw.infer.shallow(place.ty)
    if isinstance(ty, ArrayTy):
        return ty.length, ty.elem
    if isinstance(ty, SliceTy) and isinstance(place, MemPlace) and place.len is not None:
        return place.len, ty.elem
    raise Gap(f"iteration over `{show(ty)}`")


# -- running ---------------------------------------------------------------------------------------------------------


def each(lw: Lowering, source: Value, step: Step, label: str, span: Span, name: str | None = None) -> None:
    """Emit the loop ``label`` over ``source``, with the body that ``step`` emits for an item."""
    match source:
        case Counting():
            _count(lw, source, step, label, span, name)
        case Indexed(count=count, get=get):
            inner = Counting(USIZE_TY, ZERO, count)
            _count(lw, inner, lambda i: step(get(term_of(lw, i, span))), label, span, None)
        case Adapted():
            each(lw, source.base, _through(lw, source, step, label, span), label, span, name)
        case Chained(first=first, second=second):
            with lw.body() as body:
                each(lw, first, step, lw.label("chain"), span, name)
                each(lw, second, step, lw.label("chain"), span, name)
            lw.emit(Nest("block", lw.at(span), body, label=label))
        case _:
            _pull(lw, source, step, label, span)


def _through(lw: Lowering, adapter: Adapted, step: Step, label: str, span: Span) -> Step:
    """The step of an adapter, made of the step behind it."""
    call = lw.hooks.call

    def guarded(cond: Expr, item: Value) -> None:
        with lw.body() as body:
            step(item)
        lw.emit(Nest("if", lw.at(span), body, cond=cond))

    def ask(item: Value) -> Expr:
        assert adapter.function is not None
        reference = borrow(lw, ValuePlace(item.ty, item), False, True, span)
        return term_of(lw, call(lw, adapter.function, [reference], span, BOOL), span, BOOL)

    match adapter.kind:
        case "map":
            return lambda item: step(call(lw, _function(adapter), [item], span, None))
        case "inspect":

            def inspect(item: Value) -> None:
                call(lw, _function(adapter), [borrow(lw, ValuePlace(item.ty, item), False, True, span)], span, None)
                step(item)

            return inspect
        case "filter":
            return lambda item: guarded(ask(item), item)
        case "take_while":

            def take_while(item: Value) -> None:
                leave: Body = [k.Break(lw.at(span), label)]
                lw.emit(Nest("if", lw.at(span), leave, cond=terms.negate(ask(item))))
                step(item)

            return take_while
        case "filter_map":

            def filter_map(item: Value) -> None:
                got = call(lw, _function(adapter), [item], span, None)
                payload = got.payload(1) if isinstance(got, EnumVal) else None
                if not isinstance(got, EnumVal) or payload is None:
                    return
                guarded(got.tag, payload[0])

            return filter_map
        case "copied":
            return lambda item: step(read(lw, deref(lw, item, span), span))
        case "enumerate":
            return _enumerated(lw, step, span)
        case _:
            raise Gap(f"the iterator adapter `{adapter.kind}`")


def _function(adapter: Adapted) -> Value:
    assert adapter.function is not None
    return adapter.function


def _enumerated(lw: Lowering, step: Step, span: Span) -> Step:
    name = lw.fresh("n")
    var = Var(USIZE, name)
    lw.emit(k.Assign(lw.at(span), name, ZERO))

    def numbered(item: Value) -> None:
        current = lw.scalar(lw.named("n", var, span))
        lw.emit(k.Assign(lw.at(span), name, terms.binary(Op.ADD, var, ONE)))
        step(tuple_value(TupleTy((USIZE_TY, item.ty)), (current, item)))

    return numbered


def _count(lw: Lowering, source: Counting, step: Step, label: str, span: Span, name: str | None) -> None:
    here = lw.at(span)
    type_ = source.low.type
    one = source.step if source.step is not None else terms.int_const(1, type_)
    made = lw.fresh(name or "i")
    var = Var(type_, made)
    first = source.low
    if source.down:
        assert source.high is not None
        first = source.high
        if source.closed:
            if terms.const_int(first) == type_.high:
                raise Gap("a downward range from the largest number of its type")
            first = terms.binary(Op.ADD, first, terms.int_const(1, type_))
        if source.step is not None:
            first = _last_step(source, first)
    bound = source.low if source.down else source.high
    if bound is not None and not lw.stable(bound):
        bound = lw.named("end", bound, span)
    lw.emit(k.Assign(here, made, first))
    with lw.body() as body:
        if bound is not None:
            op = Op.GT if source.down else (Op.LE if source.closed else Op.LT)
            leave: Body = [k.Break(here, label)]
            lw.emit(Nest("if", here, leave, cond=terms.negate(terms.binary(op, var, bound))))
        if source.down:
            lw.emit(k.Assign(here, made, terms.binary(Op.SUB, var, one)))
        lw.temps.add(made)  # it keeps its value through the body
        step(Scalar(source.ty, var))
        lw.temps.discard(made)
        if not source.down:
            if source.closed and bound is not None and terms.const_int(bound) == type_.high:
                last: Body = [k.Break(here, label)]  # the increment would wrap around
                lw.emit(Nest("if", here, last, cond=terms.binary(Op.EQ, var, bound)))
            lw.emit(k.Assign(here, made, terms.binary(Op.ADD, var, one)))
    lw.emit(Nest("loop", here, body, label=label))


def _last_step(source: Counting, end: Expr) -> Expr:
    """Where a downward range with a step starts: the smallest ``low + k * step`` that is not below ``end``."""
    assert source.step is not None
    one = terms.int_const(1, end.type)
    span = terms.binary(Op.SUB, end, source.low)
    rounded = terms.binary(Op.SUB, terms.binary(Op.ADD, span, source.step), one)
    count = terms.binary(Op.DIV, rounded, source.step)
    return terms.binary(Op.ADD, source.low, terms.binary(Op.MUL, count, source.step))


def _pull(lw: Lowering, source: Value, step: Step, label: str, span: Span) -> None:
    """A loop over an iterator of the program or the prelude: call ``next`` until it gives ``None``."""
    held = source
    if not isinstance(source, LocalRef):
        held = borrow(lw, ValuePlace(source.ty, source), True, True, span)
    target = held.place.ty if isinstance(held, LocalRef) else held.ty
    found = find_method(lw, target, "next")
    if found is None:
        lw.unmodelled(f"iteration over `{show(lw.infer.shallow(source.ty))}`", span)
        return
    here = lw.at(span)
    with lw.body() as body:
        item = lw.hooks.call_fn(lw, found[0], found[1], (), lw.env, [held], span, None)
        if isinstance(item, EnumVal):
            leave: Body = [k.Break(here, label)]
            lw.emit(Nest("if", here, leave, cond=terms.negate(item.tag)))
            payload = item.payload(1)
            if payload is not None:
                step(payload[0])
        else:
            lw.unmodelled("an iterator whose `next` is not modelled", span)
    lw.emit(Nest("loop", here, body, label=label))


# -- indexable views -------------------------------------------------------------------------------------------------


def indexed(lw: Lowering, source: Value, span: Span) -> Indexed | None:
    """The iterator by number, where its length is known before it runs."""
    match source:
        case Indexed():
            return source
        case Counting(down=False, step=None, high=high, low=low, ty=ty) if high is not None:
            count = terms.binary(Op.SUB, high, low)
            if source.closed:
                count = terms.binary(Op.ADD, count, terms.int_const(1, high.type))
            bounded = terms.select(terms.binary(Op.LE, low, high), count, terms.int_const(0, high.type))

            def number(i: Expr) -> Value:
                return Scalar(ty, terms.binary(Op.ADD, low, terms.cast(i, low.type)))

            return Indexed(ty, terms.cast(bounded, USIZE), number)
        case Adapted(kind="map", base=base, function=function) if function is not None:
            inner = indexed(lw, base, span)
            if inner is None:
                return None
            item, change = inner.get, function
            return Indexed(source.ty, inner.count, lambda i: lw.hooks.call(lw, change, [item(i)], span, None))
        case Adapted(kind="copied", base=base):
            inner = indexed(lw, base, span)
            if inner is None:
                return None
            pointer = inner.get
            return Indexed(source.ty, inner.count, lambda i: read(lw, deref(lw, pointer(i), span), span))
        case Adapted(kind="enumerate", base=base):
            inner = indexed(lw, base, span)
            return None if inner is None else numbered(lw, inner)
        case _:
            return None


def numbered(lw: Lowering, inner: Indexed) -> Indexed:
    """``enumerate`` of an indexable iterator."""
    ty = TupleTy((USIZE_TY, inner.ty))
    return Indexed(ty, inner.count, lambda i: tuple_value(ty, (lw.scalar(i), inner.get(i))))
