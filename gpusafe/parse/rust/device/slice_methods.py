"""Methods of slices and arrays."""

from __future__ import annotations

from collections.abc import Callable

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import TRUE, Const, Expr, Op
from gpusafe.parse.rust.device import terms
from gpusafe.parse.rust.device.iterator_methods import iterator_method, option_type
from gpusafe.parse.rust.device.iterators import Indexed, into_iterator
from gpusafe.parse.rust.device.lowering import Gap, Lowering
from gpusafe.parse.rust.device.memory import copy_elements, counted, to_memory
from gpusafe.parse.rust.device.places import borrow, deref, element, read, write
from gpusafe.parse.rust.device.scalars import term_of
from gpusafe.parse.rust.device.types import SCALARS, AdtTy, ArrayTy, PtrTy, SliceTy, TupleTy, Ty
from gpusafe.parse.rust.device.values import (
    UNIT_VALUE,
    Agg,
    ArrayMem,
    ArrayVal,
    EnumVal,
    Fat,
    MemPlace,
    Place,
    Scalar,
    Value,
    tuple_value,
)
from gpusafe.span import Span


def as_slice(lw: Lowering, place: Place, span: Span) -> Fat:
    """The whole array or slice in a place as a slice reference."""
    ty = lw.infer.shallow(place.ty)
    if isinstance(place, MemPlace) and isinstance(ty, SliceTy) and place.len is not None:
        return Fat(PtrTy(ty, True, True), place.ptr, place.len)
    if isinstance(ty, ArrayTy):
        to = PtrTy(SliceTy(ty.elem), True, True)
        if isinstance(place, MemPlace):
            return Fat(to, place.ptr, ty.length)
        held = read(lw, place, span)
        made = held if isinstance(held, ArrayMem) else to_memory(lw, "array", held, span)
        if isinstance(made, ArrayMem):
            return Fat(to, made.ptr, ty.length)
    raise Gap("a slice of this value")


def place_of(fat: Fat) -> MemPlace:
    """The elements behind a slice reference."""
    assert isinstance(fat.ty, PtrTy)
    return MemPlace(fat.ty.inner, fat.ptr, fat.len)


def range_ends(lw: Lowering, index: Agg, length: Expr, span: Span) -> tuple[Expr, Expr]:
    """Low and high (exclusive) of a range that indexes a slice of ``length``."""
    assert isinstance(index.ty, AdtTy)
    usize = SCALARS["usize"]

    def end(name: str) -> Expr | None:
        part = index.get(name)
        if part is None:
            return None
        lw.infer.unify(part.ty, usize)
        term = term_of(lw, part, span, usize)
        if term.type.kind == "infer" and isinstance(term, Const):
            return terms.int_const(int(term.value))
        return term

    low, high = end("start"), end("end")
    if high is not None and "Inclusive" in index.ty.adt.name:
        high = terms.binary(Op.ADD, high, terms.int_const(1))
    return low if low is not None else terms.int_const(0), high if high is not None else length


def slice_method(
    lw: Lowering, place: Place, name: str, args: list[Value], span: Span, count: Expr | None = None
) -> Value | None:
    """A method of a slice or array; None when there is none of that name. ``count``: a constant in its turbofish."""
    ty = lw.infer.shallow(place.ty)
    if name in ("as_chunks", "as_chunks_mut") and count is not None and isinstance(ty, SliceTy | ArrayTy):
        return _as_chunks(lw, place, ArrayTy(ty.elem, count), span)
    if name == "len" and isinstance(ty, ArrayTy):
        return lw.scalar(ty.length)
    if name == "map" and isinstance(ty, ArrayTy):
        return _array_map(lw, place, ty, args, span)
    if name in ("clone", "to_owned", "into_iter") and isinstance(ty, ArrayTy):
        held = read(lw, place, span)
        return into_iterator(lw, held, span) if name == "into_iter" else held
    handler = _METHODS.get(name)
    if handler is None:
        return None
    return handler(lw, place, args, span)


def _array_map(lw: Lowering, place: Place, ty: ArrayTy, args: list[Value], span: Span) -> Value:
    count = terms.const_int(ty.length)
    if count is None or count > 64:
        raise Gap("`map` of a large array")
    items = []
    for number in range(count):
        part = read(lw, element(lw, place, terms.int_const(number), span), span)
        items.append(lw.hooks.call(lw, args[0], [part], span, None))
    elem: Ty = items[0].ty if items else lw.infer.fresh()
    return ArrayVal(ArrayTy(elem, ty.length), tuple(items))


_Handler = Callable[[Lowering, Place, list[Value], Span], Value]


def _index(lw: Lowering, value: Value, span: Span) -> Expr:
    lw.infer.unify(value.ty, SCALARS["usize"])
    term = term_of(lw, value, span, SCALARS["usize"])
    if term.type.kind == "infer" and isinstance(term, Const):
        return terms.int_const(int(term.value))
    return term


def _length(lw: Lowering, place: Place, span: Span) -> Expr:
    ty = lw.infer.shallow(place.ty)
    return ty.length if isinstance(ty, ArrayTy) else as_slice(lw, place, span).len


def _len(lw: Lowering, place: Place, args: list[Value], span: Span) -> Value:
    return lw.scalar(_length(lw, place, span))


def _is_empty(lw: Lowering, place: Place, args: list[Value], span: Span) -> Value:
    return lw.scalar(terms.binary(Op.EQ, _length(lw, place, span), terms.int_const(0)))


def _pointer(mutable: bool) -> _Handler:
    def run(lw: Lowering, place: Place, args: list[Value], span: Span) -> Value:
        fat = as_slice(lw, place, span)
        assert isinstance(fat.ty, PtrTy) and isinstance(fat.ty.inner, SliceTy)
        return Scalar(PtrTy(fat.ty.inner.elem, mutable, False), fat.ptr)

    return run


def _whole(lw: Lowering, place: Place, args: list[Value], span: Span) -> Value:
    return as_slice(lw, place, span)


def _unchecked(mutable: bool) -> _Handler:
    def run(lw: Lowering, place: Place, args: list[Value], span: Span) -> Value:
        if isinstance(args[0], Agg):
            return _sub(lw, place, args[0], span)
        return borrow(lw, element(lw, place, _index(lw, args[0], span), span), mutable, True, span)

    return run


def _sub(lw: Lowering, place: Place, index: Agg, span: Span) -> Fat:
    fat = as_slice(lw, place, span)
    low, high = range_ends(lw, index, fat.len, span)
    start = element(lw, place_of(fat), low, span)
    assert isinstance(start, MemPlace)
    return Fat(fat.ty, start.ptr, terms.binary(Op.SUB, high, low))


def _get(mutable: bool) -> _Handler:
    def run(lw: Lowering, place: Place, args: list[Value], span: Span) -> Value:
        length = _length(lw, place, span)
        if isinstance(args[0], Agg):
            part: Value = _sub(lw, place, args[0], span)
            low, high = range_ends(lw, args[0], length, span)
            cond = terms.both(terms.binary(Op.LE, low, high), terms.binary(Op.LE, high, length))
        else:
            index = _index(lw, args[0], span)
            cond = terms.binary(Op.LT, index, length)
            part = borrow(lw, element(lw, place, index, span), mutable, True, span)
        return EnumVal(option_type(lw, part.ty), cond, ((0, ()), (1, (part,))))

    return run


def _iter(mutable: bool) -> _Handler:
    def run(lw: Lowering, place: Place, args: list[Value], span: Span) -> Value:
        fat = as_slice(lw, place, span)
        assert isinstance(fat.ty, PtrTy)
        return into_iterator(lw, Fat(PtrTy(fat.ty.inner, mutable, True), fat.ptr, fat.len), span)

    return run


def _ends(first: bool, mutable: bool) -> _Handler:
    def run(lw: Lowering, place: Place, args: list[Value], span: Span) -> Value:
        length = _length(lw, place, span)
        last = terms.binary(Op.SUB, length, terms.int_const(1))
        part = borrow(lw, element(lw, place, terms.int_const(0) if first else last, span), mutable, True, span)
        cond = terms.binary(Op.GT, length, terms.int_const(0))
        return EnumVal(option_type(lw, part.ty), cond, ((0, ()), (1, (part,))))

    return run


def _split_at(lw: Lowering, place: Place, args: list[Value], span: Span) -> Value:
    fat = as_slice(lw, place, span)
    middle = _index(lw, args[0], span)
    cond = terms.binary(Op.LE, middle, fat.len)
    if cond != TRUE:
        lw.emit(k.Assume(lw.at(span), cond, "bounds check of a split"))
    start = element(lw, place_of(fat), middle, span)
    assert isinstance(start, MemPlace)
    halves = (Fat(fat.ty, fat.ptr, middle), Fat(fat.ty, start.ptr, terms.binary(Op.SUB, fat.len, middle)))
    return tuple_value(TupleTy((fat.ty, fat.ty)), halves)


def _split_checked(checked: bool) -> _Handler:
    def run(lw: Lowering, place: Place, args: list[Value], span: Span) -> Value:
        fat = as_slice(lw, place, span)
        middle = _index(lw, args[0], span)
        start = element(lw, place_of(fat), middle, span)
        assert isinstance(start, MemPlace)
        halves = tuple_value(
            TupleTy((fat.ty, fat.ty)),
            (Fat(fat.ty, fat.ptr, middle), Fat(fat.ty, start.ptr, terms.binary(Op.SUB, fat.len, middle))),
        )
        if not checked:
            return halves
        cond = terms.binary(Op.LE, middle, fat.len)
        return EnumVal(option_type(lw, halves.ty), cond, ((0, ()), (1, (halves,))))

    return run


def _chunks(exact: bool) -> _Handler:
    def run(lw: Lowering, place: Place, args: list[Value], span: Span) -> Value:
        fat = as_slice(lw, place, span)
        size = _index(lw, args[0], span)
        count = terms.binary(Op.DIV, fat.len, size)
        if not exact:
            one = terms.int_const(1)
            padded = terms.binary(Op.SUB, terms.binary(Op.ADD, fat.len, size), one)
            count = terms.binary(Op.DIV, padded, size)

        def get(number: Expr) -> Value:
            low = terms.binary(Op.MUL, number, size)
            start = element(lw, place_of(fat), low, span)
            assert isinstance(start, MemPlace)
            length = size if exact else terms.binary(Op.MIN, size, terms.binary(Op.SUB, fat.len, low))
            return Fat(fat.ty, start.ptr, length)

        return Indexed(fat.ty, count, get)

    return run


def _as_chunks(lw: Lowering, place: Place, ty: Ty, span: Span) -> Value:
    """``as_chunks::<N>()``: a slice of arrays, and what is left over."""
    fat = as_slice(lw, place, span)
    assert isinstance(fat.ty, PtrTy) and isinstance(ty, ArrayTy)
    count = terms.binary(Op.DIV, fat.len, ty.length)
    rest = terms.binary(Op.REM, fat.len, ty.length)
    start = element(lw, place_of(fat), terms.binary(Op.MUL, count, ty.length), span)
    assert isinstance(start, MemPlace)
    chunks = PtrTy(SliceTy(ty), fat.ty.mutable, True)
    return tuple_value(TupleTy((chunks, fat.ty)), (Fat(chunks, fat.ptr, count), Fat(fat.ty, start.ptr, rest)))


def _windows(lw: Lowering, place: Place, args: list[Value], span: Span) -> Value:
    fat = as_slice(lw, place, span)
    size = _index(lw, args[0], span)
    enough = terms.binary(Op.GE, fat.len, size)
    count = terms.binary(Op.ADD, terms.binary(Op.SUB, fat.len, size), terms.int_const(1))

    def get(number: Expr) -> Value:
        start = element(lw, place_of(fat), number, span)
        assert isinstance(start, MemPlace)
        return Fat(fat.ty, start.ptr, size)

    return Indexed(fat.ty, terms.select(enough, count, terms.int_const(0)), get)


def _fill(lw: Lowering, place: Place, args: list[Value], span: Span) -> Value:
    fat = as_slice(lw, place, span)

    def one(index: Expr) -> None:
        target = element(lw, place_of(fat), index, span)
        write(lw, target, args[0], span)

    counted(lw, fat.len, span, one)
    return UNIT_VALUE


def _copy_from(lw: Lowering, place: Place, args: list[Value], span: Span) -> Value:
    fat = as_slice(lw, place, span)
    source = as_slice(lw, deref(lw, args[0], span), span)
    cond = terms.binary(Op.EQ, fat.len, source.len)
    if cond != TRUE:
        lw.emit(k.Assume(lw.at(span), cond, "equal lengths"))
    assert isinstance(fat.ty, PtrTy) and isinstance(fat.ty.inner, SliceTy)
    copy_elements(lw, fat.ptr, source.ptr, fat.ty.inner.elem, fat.len, span)
    return UNIT_VALUE


def _swap(lw: Lowering, place: Place, args: list[Value], span: Span) -> Value:
    length = _length(lw, place, span)
    parts = []
    for arg in args:
        index = _index(lw, arg, span)
        cond = terms.binary(Op.LT, index, length)
        if cond != TRUE:
            lw.emit(k.Assume(lw.at(span), cond, "bounds check"))
        parts.append(element(lw, place, index, span))
    first, second = read(lw, parts[0], span), read(lw, parts[1], span)
    write(lw, parts[0], second, span)
    write(lw, parts[1], first, span)
    return UNIT_VALUE


def _through_iterator(name: str) -> _Handler:
    def run(lw: Lowering, place: Place, args: list[Value], span: Span) -> Value:
        return iterator_method(lw, into_iterator(lw, as_slice(lw, place, span), span), name, args, span, None)

    return run


def _contains(lw: Lowering, place: Place, args: list[Value], span: Span) -> Value:
    raise Gap("`contains` of a slice")


_METHODS: dict[str, _Handler] = {
    "len": _len,
    "is_empty": _is_empty,
    "as_ptr": _pointer(False),
    "as_mut_ptr": _pointer(True),
    "as_slice": _whole,
    "as_mut_slice": _whole,
    "as_ref": _whole,
    "as_mut": _whole,
    "get": _get(False),
    "get_mut": _get(True),
    "get_unchecked": _unchecked(False),
    "get_unchecked_mut": _unchecked(True),
    "iter": _iter(False),
    "iter_mut": _iter(True),
    "first": _ends(True, False),
    "first_mut": _ends(True, True),
    "last": _ends(False, False),
    "last_mut": _ends(False, True),
    "split_at": _split_at,
    "split_at_mut": _split_at,
    "split_at_checked": _split_checked(True),
    "split_at_mut_checked": _split_checked(True),
    "split_at_unchecked": _split_checked(False),
    "split_at_mut_unchecked": _split_checked(False),
    "chunks": _chunks(False),
    "chunks_mut": _chunks(False),
    "chunks_exact": _chunks(True),
    "chunks_exact_mut": _chunks(True),
    "windows": _windows,
    "fill": _fill,
    "copy_from_slice": _copy_from,
    "clone_from_slice": _copy_from,
    "swap": _swap,
    "contains": _contains,
    **{n: _through_iterator(n) for n in ("into_iter",)},
}
