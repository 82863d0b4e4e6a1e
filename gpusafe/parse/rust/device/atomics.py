"""Atomic types: their methods become Atomic statements of the type's scope."""

from __future__ import annotations

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import BOOL, FALSE, TRUE, U8, Const, Expr, Type, Var
from gpusafe.ir.kernel import Order, Scope
from gpusafe.parse.rust.device import terms
from gpusafe.parse.rust.device.bodies import Body, Nest
from gpusafe.parse.rust.device.iterator_methods import option_type
from gpusafe.parse.rust.device.lowering import Gap, Lowering
from gpusafe.parse.rust.device.operators import arithmetic, cast_pointer
from gpusafe.parse.rust.device.places import borrow, read, write
from gpusafe.parse.rust.device.scalars import term_of
from gpusafe.parse.rust.device.types import AdtTy, AtomicTy, PtrTy, Ty
from gpusafe.parse.rust.device.values import (
    UNIT_VALUE,
    EnumVal,
    LocalPlace,
    MemPlace,
    Place,
    Scalar,
    Value,
    ValuePlace,
)
from gpusafe.parse.rust.device.variables import apart
from gpusafe.span import Span

_FETCH = {
    "fetch_add": "add",
    "fetch_sub": "sub",
    "fetch_and": "and",
    "fetch_or": "or",
    "fetch_xor": "xor",
    "fetch_min": "min",
    "fetch_max": "max",
    "fetch_nand": "nand",
    "swap": "exch",
}
_PLAIN = {"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^"}
_CAS = ("compare_exchange", "compare_exchange_weak")
_ORDERS = {
    "Relaxed": Order.RELAXED,
    "Acquire": Order.ACQUIRE,
    "Release": Order.RELEASE,
    "AcqRel": Order.ACQ_REL,
    "SeqCst": Order.SEQ_CST,
}


def order_of(value: Value) -> Order:
    """The memory order that an argument names."""
    if isinstance(value, EnumVal) and value.payloads and isinstance(value.tag, Const):
        variants = getattr(value.ty.adt.item, "variants", ())
        index = value.payloads[0][0]
        if index < len(variants) and variants[index].name in _ORDERS:
            return _ORDERS[variants[index].name]
    raise Gap("a memory order that is not a constant")


def atomic_method(lw: Lowering, place: Place, ty: AtomicTy, name: str, args: list[Value], span: Span) -> Value | None:
    """A method of an atomic; None when there is none of that name."""
    match name:
        case "as_ptr":
            return borrow(lw, _content(place, ty), True, False, span)
        case "get_mut":
            return borrow(lw, _content(place, ty), True, True, span)
        case "into_inner":
            return read(lw, _content(place, ty), span)
        case "load":
            return operate(lw, _content(place, ty), "load", [], order_of(args[0]), ty.scope, span)
        case "store":
            return operate(lw, _content(place, ty), "store", [args[0]], order_of(args[1]), ty.scope, span)
        case "fetch_update" | "update" | "try_update":
            return _update(lw, place, ty, name, args, span)
        case "fetch_not":
            return operate(lw, _content(place, ty), "xor", [lw.scalar(TRUE)], order_of(args[0]), ty.scope, span)
    if name in _FETCH:
        return operate(lw, _content(place, ty), _FETCH[name], [args[0]], order_of(args[1]), ty.scope, span)
    if name in _CAS:
        orders = (order_of(args[2]), order_of(args[3]))
        return exchange(lw, _content(place, ty), args[0], args[1], orders, ty.scope, span)
    if name == "compare_and_swap":
        orders = (order_of(args[2]), Order.RELAXED)
        done = exchange(lw, _content(place, ty), args[0], args[1], orders, ty.scope, span)
        payload = done.payload(0) if isinstance(done, EnumVal) else None
        return payload[0] if payload else done
    return None


def _content(place: Place, ty: AtomicTy) -> Place:
    match place:
        case MemPlace(ptr=ptr):
            return MemPlace(ty.content, ptr)
        case LocalPlace(slot=slot, path=path):
            return LocalPlace(ty.content, slot, path)
        case ValuePlace(value=value):
            return ValuePlace(ty.content, value)
        case _:
            raise Gap("an atomic in this place")


def _scalar_type(lw: Lowering, ty: Ty) -> Type:
    type_ = lw.infer.term_type(ty)
    if type_ is None:
        raise Gap("an atomic of this type")
    return U8 if type_ == BOOL else type_


def _operand(lw: Lowering, value: Value, ty: Ty, type_: Type, span: Span) -> Expr:
    lw.infer.unify(value.ty, ty)
    term = term_of(lw, value, span, ty)
    if term.type.kind == "infer" and isinstance(term, Const):
        return Const(type_, float(term.value)) if type_.kind == "float" else terms.int_const(int(term.value), type_)
    return terms.cast(term, type_) if term.type != type_ and term.type.kind != "infer" else term


def operate(lw: Lowering, place: Place, op: str, args: list[Value], order: Order, scope: Scope, span: Span) -> Value:
    """One atomic operation on the scalar in ``place``; gives the old value."""
    if not isinstance(place, MemPlace):
        return _local(lw, place, op, args, span)
    ty = lw.infer.shallow(place.ty)
    type_ = _scalar_type(lw, ty)
    operands = tuple(_operand(lw, a, ty, type_, span) for a in args)
    if type_.kind == "float" and op in ("add", "sub", "min", "max"):
        op = f"f{op}"
    var = None if op == "store" else lw.temp()
    lw.emit(k.Atomic(lw.at(span), var, op, place.ptr, operands, type_, order, scope))
    if var is None:
        return UNIT_VALUE
    return _old(ty, type_, var, lw)


def _old(ty: Ty, type_: Type, var: str, lw: Lowering) -> Scalar:
    term: Expr = Var(type_, var)
    if lw.infer.term_type(ty) == BOOL:
        return Scalar(ty, terms.cast(term, BOOL))
    return Scalar(ty, term)


def _local(lw: Lowering, place: Place, op: str, args: list[Value], span: Span) -> Value:
    """An atomic in a local variable: nobody else sees it."""
    old: Value = Scalar(place.ty, term_of(lw, apart(lw, read(lw, place, span), span), span))
    if op == "load":
        return old
    if op in _PLAIN:
        write(lw, place, arithmetic(lw, _PLAIN[op], old, args[0], span), span)
        return old
    if op in ("store", "exch"):
        write(lw, place, args[0], span)
        return old if op == "exch" else UNIT_VALUE
    raise Gap(f"the atomic operation `{op}` on a local variable")


def exchange(
    lw: Lowering, place: Place, expected: Value, new: Value, orders: tuple[Order, Order], scope: Scope, span: Span
) -> Value:
    """``compare_exchange``: ``Ok(old)`` when the value was the expected one, else ``Err(old)``."""
    if not isinstance(place, MemPlace):
        raise Gap("`compare_exchange` on a local variable")
    ty = lw.infer.shallow(place.ty)
    type_ = _scalar_type(lw, ty)
    operands = (_operand(lw, expected, ty, type_, span), _operand(lw, new, ty, type_, span))
    hint, lw.hint = lw.hint, None
    var, success = lw.temp("old"), lw.temp("swapped")
    lw.hint = hint
    lw.emit(k.Atomic(lw.at(span), var, "cas", place.ptr, operands, type_, orders[0], scope, success, orders[1]))
    old = _old(ty, type_, var, lw)
    return EnumVal(result_type(lw, ty, ty), terms.negate(Var(BOOL, success)), ((0, (old,)), (1, (old,))))


def result_type(lw: Lowering, good: Ty, bad: Ty) -> AdtTy:
    """``Result<good, bad>``."""
    return AdtTy(lw.program.preludes["core"].types["Result"], (good, bad))  # type: ignore[arg-type]


def _update(lw: Lowering, place: Place, ty: AtomicTy, name: str, args: list[Value], span: Span) -> Value:
    """``fetch_update``: load, then compare-exchange until nobody was in between."""
    content = _content(place, ty)
    if not isinstance(content, MemPlace):
        raise Gap(f"`{name}` on a local variable")
    store_order, load_order = order_of(args[0]), order_of(args[1])
    here = lw.at(span)
    first = operate(lw, content, "load", [], load_order, ty.scope, span)
    type_ = _scalar_type(lw, ty.content)
    prev, done = lw.fresh("prev"), lw.fresh("done")
    lw.emit(k.Assign(here, prev, term_of(lw, first, span)))
    lw.emit(k.Assign(here, done, FALSE))
    label = lw.label("update")
    with lw.body() as body:
        old = Scalar(ty.content, Var(lw.infer.term_type(ty.content) or type_, prev))
        made = lw.hooks.call(lw, args[2], [old], span, option_type(lw, ty.content) if name != "update" else None)
        if isinstance(made, EnumVal):
            leave: Body = [k.Break(here, label)]
            lw.emit(Nest("if", here, leave, cond=terms.negate(made.tag)))
            payload = made.payload(1)
            made = payload[0] if payload else old
        result = exchange(lw, content, old, made, (store_order, load_order), ty.scope, span)
        assert isinstance(result, EnumVal)
        good: Body = [k.Assign(here, done, TRUE), k.Break(here, label)]
        lw.emit(Nest("if", here, good, cond=terms.negate(result.tag)))
        held = result.payload(1)
        assert held is not None
        lw.emit(k.Assign(here, prev, term_of(lw, held[0], span)))
    lw.emit(Nest("loop", here, body, label=label))
    if name == "update":
        return old
    return EnumVal(result_type(lw, ty.content, ty.content), terms.negate(Var(BOOL, done)), ((0, (old,)), (1, (old,))))


def pointer_to_atomic(lw: Lowering, ty: AtomicTy, pointer: Value, span: Span) -> Value:
    """``AtomicU32::from_ptr(pointer)``."""
    made = cast_pointer(lw, pointer, PtrTy(ty, False, False), span)
    match made:
        case Scalar(term=term):
            return Scalar(PtrTy(ty, False, True), term)
        case _:
            return made
