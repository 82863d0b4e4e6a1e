"""Methods of iterators: adapters and the consumers that run a loop."""

from __future__ import annotations

from collections.abc import Callable

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import BOOL, FALSE, TRUE, USIZE, Const, Expr, Op, Var
from gpusafe.parse.rust.device import terms
from gpusafe.parse.rust.device.bodies import Body, Nest
from gpusafe.parse.rust.device.iterators import (
    Adapted,
    Chained,
    Counting,
    Indexed,
    each,
    indexed,
    into_iterator,
    numbered,
)
from gpusafe.parse.rust.device.lowering import Gap, Lowering
from gpusafe.parse.rust.device.operators import arithmetic, compare, plain
from gpusafe.parse.rust.device.places import borrow
from gpusafe.parse.rust.device.scalars import term_of
from gpusafe.parse.rust.device.types import BOOL as BOOL_TY
from gpusafe.parse.rust.device.types import USIZE as USIZE_TY
from gpusafe.parse.rust.device.types import AdtTy, PtrTy, ScalarTy, TupleTy, Ty
from gpusafe.parse.rust.device.values import UNIT_VALUE, EnumVal, Scalar, Slot, Value, ValuePlace, tuple_value
from gpusafe.parse.rust.device.variables import overwrite, skeleton, to_vars
from gpusafe.span import Span

_ADAPTERS = ("map", "filter", "inspect", "take_while", "filter_map")


def iterator_method(lw: Lowering, source: Value, name: str, args: list[Value], span: Span, want: Ty | None) -> Value:
    """A method of an iterator value."""
    if name in _ADAPTERS:
        return Adapted(lw.infer.fresh(), name, source, args[0])
    handler = _METHODS.get(name)
    if handler is None:
        return lw.unmodelled(f"the iterator method `{name}`", span)
    return handler(lw, source, args, span, want)


def _same(lw: Lowering, source: Value, args: list[Value], span: Span, want: Ty | None) -> Value:
    return source


def _copied(lw: Lowering, source: Value, args: list[Value], span: Span, want: Ty | None) -> Value:
    return Adapted(lw.infer.fresh(), "copied", source)


def _enumerate(lw: Lowering, source: Value, args: list[Value], span: Span, want: Ty | None) -> Value:
    known = indexed(lw, source, span)
    return numbered(lw, known) if known is not None else Adapted(lw.infer.fresh(), "enumerate", source)


def _rev(lw: Lowering, source: Value, args: list[Value], span: Span, want: Ty | None) -> Value:
    if isinstance(source, Counting) and source.high is not None:
        return Counting(source.ty, source.low, source.high, source.closed, source.step, not source.down)
    known = indexed(lw, source, span)
    if known is None:
        raise Gap("`rev` of this iterator")
    last = terms.binary(Op.SUB, known.count, terms.int_const(1))
    return Indexed(known.ty, known.count, lambda i: known.get(terms.binary(Op.SUB, last, i)))


def _step_by(lw: Lowering, source: Value, args: list[Value], span: Span, want: Ty | None) -> Value:
    lw.infer.unify(args[0].ty, USIZE_TY)
    step = term_of(lw, args[0], span, USIZE_TY)
    if isinstance(source, Counting) and source.step is None and not source.down:
        return Counting(source.ty, source.low, source.high, source.closed, terms.cast(step, source.low.type))
    known = indexed(lw, source, span)
    if known is None:
        raise Gap("`step_by` of this iterator")
    rounded = terms.binary(Op.ADD, known.count, terms.binary(Op.SUB, step, terms.int_const(1)))
    return Indexed(known.ty, terms.binary(Op.DIV, rounded, step), lambda i: known.get(terms.binary(Op.MUL, i, step)))


def _zip(lw: Lowering, source: Value, args: list[Value], span: Span, want: Ty | None) -> Value:
    other = into_iterator(lw, args[0], span)
    a, b = indexed(lw, source, span), indexed(lw, other, span)
    if isinstance(other, Counting) and other.high is None and a is not None:
        low = other.low
        b = Indexed(other.ty, a.count, lambda i: Scalar(other.ty, terms.binary(Op.ADD, low, terms.cast(i, low.type))))
    if isinstance(source, Counting) and source.high is None and b is not None:
        start = source.low
        a = Indexed(
            source.ty, b.count, lambda i: Scalar(source.ty, terms.binary(Op.ADD, start, terms.cast(i, start.type)))
        )
    if a is None or b is None:
        raise Gap("`zip` of these iterators")
    ty = TupleTy((a.ty, b.ty))
    first, second = a, b
    count = terms.binary(Op.MIN, a.count, b.count) if a.count != b.count else a.count
    return Indexed(ty, count, lambda i: tuple_value(ty, (first.get(i), second.get(i))))


def _take(lw: Lowering, source: Value, args: list[Value], span: Span, want: Ty | None) -> Value:
    lw.infer.unify(args[0].ty, USIZE_TY)
    count = term_of(lw, args[0], span, USIZE_TY)
    if isinstance(source, Counting) and source.high is None:
        return Counting(source.ty, source.low, terms.binary(Op.ADD, source.low, terms.cast(count, source.low.type)))
    known = indexed(lw, source, span)
    if known is None:
        raise Gap("`take` of this iterator")
    return Indexed(known.ty, terms.binary(Op.MIN, known.count, count), known.get)


def _skip(lw: Lowering, source: Value, args: list[Value], span: Span, want: Ty | None) -> Value:
    lw.infer.unify(args[0].ty, USIZE_TY)
    count = term_of(lw, args[0], span, USIZE_TY)
    known = indexed(lw, source, span)
    if known is None:
        raise Gap("`skip` of this iterator")
    left = terms.binary(Op.SUB, known.count, terms.binary(Op.MIN, count, known.count))
    return Indexed(known.ty, left, lambda i: known.get(terms.binary(Op.ADD, i, count)))


def _chain(lw: Lowering, source: Value, args: list[Value], span: Span, want: Ty | None) -> Value:
    return Chained(source.ty, source, into_iterator(lw, args[0], span))


# -- consumers -------------------------------------------------------------------------------------------------------


def _run(lw: Lowering, source: Value, step: Callable[[Value], None], span: Span) -> str:
    label = lw.label("each")
    each(lw, source, step, label, span)
    return label


def _for_each(lw: Lowering, source: Value, args: list[Value], span: Span, want: Ty | None) -> Value:
    def step(item: Value) -> None:
        lw.hooks.call(lw, args[0], [item], span, None)

    _run(lw, source, step, span)
    return UNIT_VALUE


def _fold(lw: Lowering, source: Value, args: list[Value], span: Span, want: Ty | None) -> Value:
    slot = Slot("acc", args[0].ty, to_vars(lw, lw.hint or "acc", args[0], span), True, lw.level)

    def step(item: Value) -> None:
        assert slot.value is not None
        made = lw.hooks.call(lw, args[1], [slot.value, item], span, slot.ty)
        slot.value = overwrite(lw, slot.value, made, slot.name, slot.level, span)

    _run(lw, source, step, span)
    assert slot.value is not None
    return slot.value


def _accumulate(op: str) -> Callable[[Lowering, Value, list[Value], Span, Ty | None], Value]:
    def run(lw: Lowering, source: Value, args: list[Value], span: Span, want: Ty | None) -> Value:
        ty = want if want is not None else _number_type(lw, source)
        known = lw.infer.term_type(lw.infer.shallow(ty))
        start: Expr = Const(known or USIZE, 0 if op == "+" else 1)
        if start.type.kind == "float":
            start = Const(start.type, float(start.value))  # type: ignore[attr-defined]
        held = to_vars(lw, lw.hint or "sum", Scalar(ty, start), span)

        def step(item: Value) -> None:
            total = arithmetic(lw, op, held, plain(lw, item, op, span), span)
            overwrite(lw, held, total, "sum", lw.level, span)

        _run(lw, source, step, span)
        return held

    return run


def _number_type(lw: Lowering, source: Value) -> Ty:
    ty = lw.infer.shallow(source.ty)
    if isinstance(ty, PtrTy):
        ty = lw.infer.shallow(ty.inner)
    return ty if isinstance(ty, ScalarTy) else lw.infer.fresh()


def _flag(found: bool, negated: bool) -> Callable[[Lowering, Value, list[Value], Span, Ty | None], Value]:
    """``any`` and ``all``: stop at the first item that decides."""

    def run(lw: Lowering, source: Value, args: list[Value], span: Span, want: Ty | None) -> Value:
        name = lw.fresh(lw.hint or "found")
        here = lw.at(span)
        lw.emit(k.Assign(here, name, TRUE if negated else FALSE))
        label = lw.label("each")

        def step(item: Value) -> None:
            cond = term_of(lw, lw.hooks.call(lw, args[0], [item], span, BOOL_TY), span, BOOL_TY)
            stop: Body = [k.Assign(here, name, FALSE if negated else TRUE), k.Break(here, label)]
            lw.emit(Nest("if", here, stop, cond=terms.negate(cond) if negated else cond))

        each(lw, source, step, label, span)
        lw.temps.add(name)
        return Scalar(BOOL_TY, Var(BOOL, name))

    return run


def _counted(lw: Lowering, source: Value, args: list[Value], span: Span, want: Ty | None) -> Value:
    held = to_vars(lw, lw.hint or "count", lw.scalar(terms.int_const(0)), span)

    def step(item: Value) -> None:
        one = lw.scalar(terms.int_const(1))
        overwrite(lw, held, arithmetic(lw, "+", held, one, span), "count", lw.level, span)

    _run(lw, source, step, span)
    return held


def _extreme(op: Op) -> Callable[[Lowering, Value, list[Value], Span, Ty | None], Value]:
    """``max`` and ``min``: an Option with the best item so far."""

    def run(lw: Lowering, source: Value, args: list[Value], span: Span, want: Ty | None) -> Value:
        here = lw.at(span)
        seen, take = lw.fresh("seen"), lw.fresh("take")
        lw.emit(k.Assign(here, seen, FALSE))
        best: list[Value] = []

        def step(item: Value) -> None:
            made = skeleton(lw, item.ty, lw.hint or "best", span)
            if made is None:
                raise Gap("`max` or `min` of these items")
            lw.out.pop() if isinstance(lw.out[-1], k.Havoc) else None
            best.append(made)
            lw.emit(k.Assign(here, take, terms.negate(Var(BOOL, seen))))
            with lw.body() as body:
                better = compare(lw, op, plain(lw, item, "<", span), plain(lw, made, "<", span), span)
                lw.emit(k.Assign(here, take, term_of(lw, better, span, BOOL_TY)))
            lw.emit(Nest("if", here, body, cond=Var(BOOL, seen)))
            with lw.body() as better_body:
                overwrite(lw, made, item, "best", lw.level, span)
                lw.emit(k.Assign(here, seen, TRUE))
            lw.emit(Nest("if", here, better_body, cond=Var(BOOL, take)))

        _run(lw, source, step, span)
        if not best:
            return lw.unmodelled("the largest of no items", span, accesses=False, syncs=False)
        return EnumVal(option_type(lw, best[0].ty), Var(BOOL, seen), ((0, ()), (1, (best[0],))))

    return run


def option_type(lw: Lowering, inner: Ty) -> AdtTy:
    """``Option<inner>``."""
    adt = lw.program.preludes["core"].types["Option"]
    return AdtTy(adt, (inner,))  # type: ignore[arg-type]


def some(lw: Lowering, value: Value) -> EnumVal:
    """``Some(value)``."""
    return EnumVal(option_type(lw, value.ty), TRUE, ((1, (value,)),))


def none(lw: Lowering) -> EnumVal:
    """``None``."""
    return EnumVal(option_type(lw, lw.infer.fresh()), FALSE, ((0, ()),))


def _find(kind: str) -> Callable[[Lowering, Value, list[Value], Span, Ty | None], Value]:
    """``position`` and ``find``."""

    def run(lw: Lowering, source: Value, args: list[Value], span: Span, want: Ty | None) -> Value:
        here = lw.at(span)
        seen, at = lw.fresh("found"), lw.fresh("at")
        number = lw.fresh("n")
        for name, term in ((seen, FALSE), (number, terms.int_const(0)), (at, terms.int_const(0))):
            lw.emit(k.Assign(here, name, term))
        label = lw.label("each")
        kept: list[Value] = []

        def step(item: Value) -> None:
            asked = borrow(lw, ValuePlace(item.ty, item), False, True, span) if kind == "find" else item
            cond = term_of(lw, lw.hooks.call(lw, args[0], [asked], span, BOOL_TY), span, BOOL_TY)
            with lw.body() as stop:
                lw.emit(k.Assign(here, seen, TRUE))
                if kind == "find":
                    kept.append(to_vars(lw, "item", item, span))
                else:
                    lw.emit(k.Assign(here, at, Var(USIZE, number)))
                lw.emit(k.Break(here, label))
            lw.emit(Nest("if", here, stop, cond=cond))
            lw.emit(k.Assign(here, number, terms.binary(Op.ADD, Var(USIZE, number), terms.int_const(1))))

        each(lw, source, step, label, span)
        if kind == "find" and kept:
            return EnumVal(option_type(lw, kept[0].ty), Var(BOOL, seen), ((0, ()), (1, (kept[0],))))
        found = Scalar(USIZE_TY, Var(USIZE, at))
        return EnumVal(option_type(lw, USIZE_TY), Var(BOOL, seen), ((0, ()), (1, (found,))))

    return run


def _last_of(lw: Lowering, source: Value, args: list[Value], span: Span, want: Ty | None) -> Value:
    known = indexed(lw, source, span)
    if known is None:
        raise Gap("`len` of this iterator")
    return lw.scalar(known.count)


def _nth(lw: Lowering, source: Value, args: list[Value], span: Span, want: Ty | None) -> Value:
    known = indexed(lw, source, span)
    if known is None:
        raise Gap("`nth` of this iterator")
    index = term_of(lw, args[0], span, USIZE_TY)
    cond = terms.binary(Op.LT, index, known.count)
    value = known.get(index)
    return EnumVal(option_type(lw, value.ty), cond, ((0, ()), (1, (value,))))


_METHODS: dict[str, Callable[[Lowering, Value, list[Value], Span, Ty | None], Value]] = {
    "iter": _same,
    "into_iter": _same,
    "by_ref": _same,
    "copied": _copied,
    "cloned": _copied,
    "enumerate": _enumerate,
    "rev": _rev,
    "step_by": _step_by,
    "zip": _zip,
    "take": _take,
    "skip": _skip,
    "chain": _chain,
    "for_each": _for_each,
    "fold": _fold,
    "sum": _accumulate("+"),
    "product": _accumulate("*"),
    "any": _flag(True, False),
    "all": _flag(False, True),
    "count": _counted,
    "max": _extreme(Op.GE),
    "min": _extreme(Op.LT),
    "position": _find("position"),
    "find": _find("find"),
    "len": _last_of,
    "nth": _nth,
    "clone": _same,
}
