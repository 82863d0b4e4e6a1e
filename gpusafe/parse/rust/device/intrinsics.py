"""The primitives that the models of device APIs are written with (see the ``.rs`` files in ``prelude``).

``__special("tid.x")``, ``__barrier("block")``, ``__warp("shfl_xor", mask, value, lane, width)`` and so on: each makes
one statement or term of the IR. Only code of the prelude can name them.
"""

from __future__ import annotations

from collections.abc import Callable

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import BOOL, FALSE, PTR, TRUE, U32, U64, USIZE, Expr, Opaque, PtrBase, PtrUnknown, Special, Var
from gpusafe.ir.kernel import Order, Scope
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.device import atomics, layout, terms
from gpusafe.parse.rust.device.lowering import Gap, Lowering
from gpusafe.parse.rust.device.places import deref
from gpusafe.parse.rust.device.scalars import term_of
from gpusafe.parse.rust.device.specials import special_register
from gpusafe.parse.rust.device.types import BOOL as BOOL_TY
from gpusafe.parse.rust.device.types import SCALARS, PtrTy, ScalarTy, SliceTy, TupleTy, Ty
from gpusafe.parse.rust.device.values import (
    NEVER,
    UNIT_VALUE,
    EnumVal,
    Fat,
    Scalar,
    Unknown,
    Value,
    tuple_value,
)
from gpusafe.span import Span

Given = tuple[ast.Type | ast.Expr, ...]
Intrinsic = Callable[[Lowering, Given, list[Value], Span, Ty | None], Value]

SCOPES = {s.value: s for s in Scope}
DYNAMIC = "dynamic shared memory"


def _text(value: Value) -> str:
    """A string argument."""
    if isinstance(value, Unknown):
        return value.reason
    raise Gap("a model of an API that names its operation by something else than a string")


def _scope(value: Value) -> Scope:
    return SCOPES[_text(value)]


def _term(lw: Lowering, value: Value, span: Span, ty: Ty | None = None) -> Expr:
    if ty is not None:
        lw.infer.unify(value.ty, ty)
    return term_of(lw, value, span, ty)


def _u32(lw: Lowering, value: Value, span: Span) -> Expr:
    return terms.cast(_term(lw, value, span, SCALARS["u32"]), U32)


def _special(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    term = special_register(lw, _text(args[0]))
    if term is None:
        raise Gap(f"the special register `{_text(args[0])}`")
    return lw.scalar(term)


def _barrier(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    lw.emit(k.Barrier(lw.at(span), _scope(args[0])))
    return UNIT_VALUE


def _barrier_warp(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    lw.emit(k.Barrier(lw.at(span), Scope.WARP, mask=_u32(lw, args[0], span)))
    return UNIT_VALUE


def _barrier_reduce(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    var = lw.temp()
    value = _u32(lw, args[1], span)
    lw.emit(k.Barrier(lw.at(span), Scope.BLOCK, var=var, value=value, reduce=_text(args[0])))
    return lw.scalar(Var(U32, var))


def _cluster(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    action, relaxed = _text(args[0]), len(args) > 1 and _text(args[1]) == "relaxed"
    lw.emit(k.Barrier(lw.at(span), Scope.CLUSTER, action=action, relaxed=relaxed))
    return UNIT_VALUE


def _fence(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    order = atomics.order_of(args[0]) if isinstance(args[0], EnumVal) else Order(_text(args[0]))
    if order is not Order.RELAXED:
        lw.emit(k.Fence(lw.at(span), order, _scope(args[1])))
    return UNIT_VALUE


def _proxy_fence(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    lw.emit(k.ProxyFence(lw.at(span), _text(args[0])))
    return UNIT_VALUE


_WARP_RESULTS = {"any": BOOL, "all": BOOL, "ballot": U32, "match_any": U32, "match_all": U32, "activemask": U32}


def _warp(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    """``__warp(op, mask, value, ..)``; shuffles and reductions give the type of their value."""
    op = _text(args[0])
    mask = _u32(lw, args[1], span) if len(args) > 1 else None
    operands: list[Expr] = []
    ty: Ty = SCALARS["u32"]
    if len(args) > 2:
        value = args[2]
        if lw.infer.term_type(value.ty) is None:
            return lw.unmodelled(f"`{op}` of a value that is not a number", span, accesses=False)
        ty = lw.infer.shallow(value.ty)
        operands.append(_term(lw, value, span, BOOL_TY if op in ("any", "all", "ballot") else None))
        operands.extend(_u32(lw, a, span) for a in args[3:])
    known = _WARP_RESULTS.get(op)
    if known is not None:
        ty = BOOL_TY if known == BOOL else SCALARS["u32"]
    if op == "elect":
        ty = BOOL_TY
    type_ = lw.infer.term_type(ty)
    assert type_ is not None
    var = lw.temp()
    lw.emit(k.WarpOp(lw.at(span), var, op, mask, tuple(operands), type_))
    return Scalar(ty, Var(type_, var))


def _atomic(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    """``__atomic(op, pointer, operand.., order, scope)``."""
    op = _text(args[0])
    place = deref(lw, args[1], span)
    return atomics.operate(lw, place, op, args[2:-2], atomics.order_of(args[-2]), _scope(args[-1]), span)


def _cas(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    """``__cas(pointer, expected, new, order, failure order, scope)`` as a Result."""
    place = deref(lw, args[0], span)
    orders = (atomics.order_of(args[3]), atomics.order_of(args[4]))
    return atomics.exchange(lw, place, args[1], args[2], orders, _scope(args[5]), span)


def _async_copy(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    """``__async_copy(kind, dst, src, size, mbarrier)``; the last two may be left out."""
    dst, src = term_of(lw, args[1], span), term_of(lw, args[2], span)
    size = terms.cast(_term(lw, args[3], span, SCALARS["usize"]), USIZE) if len(args) > 3 else None
    mbarrier = term_of(lw, args[4], span) if len(args) > 4 else None
    lw.emit(k.AsyncCopy(lw.at(span), _text(args[0]), dst, src, size, mbarrier))
    return UNIT_VALUE


def _tensor_copy(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    """``__tensor_copy(dst, src, mbarrier)``: a copy of a box of a tensor, whose size is in its descriptor."""
    dst, src = term_of(lw, args[0], span), term_of(lw, args[1], span)
    mbarrier = term_of(lw, args[2], span) if len(args) > 2 else None
    lw.emit(k.AsyncCopy(lw.at(span), "bulk_tensor", dst, src, None, mbarrier))
    return UNIT_VALUE


def _async_control(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    """``__async_control(action, kind, pending)``."""
    pending = 0
    if len(args) > 2:
        number = terms.const_int(_term(lw, args[2], span, SCALARS["u32"]))
        if number is None:
            return lw.unmodelled("a wait for a number of copies that is not constant", span)
        pending = number
    lw.emit(k.AsyncControl(lw.at(span), _text(args[0]), pending, _text(args[1])))
    return UNIT_VALUE


_MBARRIER_RESULTS = {
    "arrive": U64,
    "arrive_expect_tx": U64,
    "arrive_no_complete": None,
    "test_wait": BOOL,
    "try_wait": BOOL,
    "try_wait_parity": BOOL,
}


def _mbarrier(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    """``__mbarrier(op, order, scope, pointer, operands..)``."""
    op = _text(args[0])
    result = _MBARRIER_RESULTS.get(op)
    pointer = term_of(lw, args[3], span)
    operands = tuple(term_of(lw, a, span) for a in args[4:])
    var = lw.temp() if result is not None else None
    order, scope = Order(_text(args[1])), _scope(args[2])
    lw.emit(k.MBarrier(lw.at(span), op, pointer, operands, var, order, scope))
    return lw.scalar(Var(result, var)) if var is not None and result is not None else UNIT_VALUE


def _peer(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    """``__peer(pointer, rank)``: the same place in the shared memory of another block of the cluster."""
    ty = lw.infer.shallow(args[0].ty)
    return Scalar(ty, Opaque(PTR, "mapa", (term_of(lw, args[0], span), _u32(lw, args[1], span))))


def _dynamic_shared(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    inner = lw.type(given[0]) if given and isinstance(given[0], ast.Type) else lw.infer.fresh()
    if DYNAMIC not in lw.regions:
        size = Special(U32, "dynamic_smem_bytes")
        lw.regions[DYNAMIC] = k.Region(
            DYNAMIC,
            k.Space.DYNAMIC_SHARED,
            1,
            terms.cast(size, USIZE),
            lw.at(span),
            initialized=False,
        )
    return Scalar(PtrTy(inner, True, False), PtrBase(PTR, DYNAMIC))


def _shared_array(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    """``__shared_array::<T>(count)``: an array of the block, one for each place that makes one."""
    elem = lw.type(given[0]) if given and isinstance(given[0], ast.Type) else lw.infer.fresh()
    elem = lw.infer.shallow(elem)
    if isinstance(elem, SliceTy):
        elem = lw.infer.shallow(elem.elem)
    count = terms.cast(_term(lw, args[0], span, SCALARS["usize"]), USIZE)
    if terms.const_int(count) is None:
        raise Gap("shared memory whose size is not constant")
    try:
        size, _ = layout.size_align(lw, elem)
    except Gap:
        size = layout.GENERIC_SIZE
    name = lw.fresh(lw.hint or "shared")
    lw.regions[name] = k.Region(name, k.Space.SHARED, max(size, 1), count, lw.at(span), initialized=False)
    return Fat(PtrTy(SliceTy(elem), True, True), PtrBase(PTR, name), count)


def _opaque(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    """``__opaque::<T>(name, args..)``: a pure function that is not modelled."""
    ty = lw.type(given[0]) if given and isinstance(given[0], ast.Type) else lw.infer.fresh()
    type_ = lw.infer.term_type(ty)
    if type_ is None:
        return Unknown(ty, _text(args[0]))
    return Scalar(ty, Opaque(type_, _text(args[0]), tuple(term_of(lw, a, span) for a in args[1:])))


def _havoc(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    """``__havoc::<T>(reason)``: any value."""
    ty = lw.type(given[0]) if given and isinstance(given[0], ast.Type) else lw.infer.fresh()
    return havoc_tree(lw, ty, _text(args[0]), span)


def havoc_tree(lw: Lowering, ty: Ty, reason: str, span: Span) -> Value:
    """A value of a type, all of whose scalars are unknown."""
    ty = lw.infer.shallow(ty)
    type_ = lw.infer.term_type(ty)
    if isinstance(ty, PtrTy):
        return Scalar(ty, PtrUnknown(PTR, reason)) if type_ is not None else Unknown(ty, reason)
    if type_ is not None and isinstance(ty, ScalarTy):
        return Scalar(ty, lw.havoc(type_, reason, span))
    if isinstance(ty, TupleTy):
        return tuple_value(ty, tuple(havoc_tree(lw, t, reason, span) for t in ty.items))
    return Unknown(ty, reason)


def _unmodelled(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    """``__unmodelled(what)``, or ``__unmodelled(what, "pure")`` when it neither accesses memory nor synchronises."""
    pure = len(args) > 1 and _text(args[1]) == "pure"
    return lw.unmodelled(_text(args[0]), span, accesses=not pure, syncs=not pure, ty=want)


def _assume(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    lw.emit(k.Assume(lw.at(span), term_of(lw, args[0], span, BOOL_TY), _text(args[1])))
    return UNIT_VALUE


def _one_dimensional(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    """The highest number of launch axes that the kernel's contract allows (3 without one)."""
    return lw.scalar(terms.int_const(lw.domain or 3, U32))


def _is_zero_sized(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    ty = lw.type(given[0]) if given and isinstance(given[0], ast.Type) else lw.infer.fresh()
    try:
        return lw.scalar(TRUE if layout.size_align(lw, ty)[0] == 0 else FALSE)
    except Gap:
        return lw.scalar(FALSE)


def _trap(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    lw.fail("trap", span)
    return NEVER


INTRINSICS: dict[str, Intrinsic] = {
    "__special": _special,
    "__barrier": _barrier,
    "__barrier_warp": _barrier_warp,
    "__barrier_reduce": _barrier_reduce,
    "__cluster_barrier": _cluster,
    "__fence": _fence,
    "__proxy_fence": _proxy_fence,
    "__warp": _warp,
    "__atomic": _atomic,
    "__cas": _cas,
    "__async_copy": _async_copy,
    "__tensor_copy": _tensor_copy,
    "__async_control": _async_control,
    "__mbarrier": _mbarrier,
    "__peer": _peer,
    "__dynamic_shared": _dynamic_shared,
    "__shared_array": _shared_array,
    "__opaque": _opaque,
    "__havoc": _havoc,
    "__unmodelled": _unmodelled,
    "__assume": _assume,
    "__launch_axes": _one_dimensional,
    "__is_zero_sized": _is_zero_sized,
    "__trap": _trap,
}
