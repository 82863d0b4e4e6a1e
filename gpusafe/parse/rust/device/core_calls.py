"""Functions of ``core``: memory, pointers, slices, fences, hints."""

from __future__ import annotations

from collections.abc import Callable

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import Const, Op, Opaque
from gpusafe.ir.kernel import Order, Scope
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.device import layout, pointer_methods, terms
from gpusafe.parse.rust.device.atomics import order_of
from gpusafe.parse.rust.device.drops import drop_value
from gpusafe.parse.rust.device.lowering import Gap, Lowering
from gpusafe.parse.rust.device.operators import cast_pointer, cast_value, plain, size_of
from gpusafe.parse.rust.device.places import deref, read, write
from gpusafe.parse.rust.device.scalars import term_of
from gpusafe.parse.rust.device.types import BOOL as BOOL_TY
from gpusafe.parse.rust.device.types import (
    SCALARS,
    ArrayTy,
    PtrTy,
    ScalarTy,
    SliceTy,
    Ty,
    VarTy,
)
from gpusafe.parse.rust.device.values import (
    NEVER,
    UNIT_VALUE,
    ArrayVal,
    Fat,
    LocalRef,
    MemPlace,
    Scalar,
    Unknown,
    Value,
)
from gpusafe.parse.rust.device.variables import apart
from gpusafe.span import Span

Given = tuple[ast.Type | ast.Expr, ...]
CoreCall = Callable[[Lowering, Given, list[Value], Span, Ty | None], Value]


def _type_arg(lw: Lowering, given: Given, index: int = 0) -> Ty:
    arg = given[index] if index < len(given) else None
    return lw.type(arg) if isinstance(arg, ast.Type) else lw.infer.fresh()


def _size_of(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    return size_of(lw, _type_arg(lw, given))


def _align_of(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    return lw.scalar(terms.int_const(layout.size_align(lw, _type_arg(lw, given))[1]))


def _size_of_val(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    ty = lw.infer.shallow(args[0].ty)
    if isinstance(args[0], Fat) and isinstance(ty, PtrTy) and isinstance(ty.inner, SliceTy):
        return lw.scalar(terms.binary(Op.MUL, args[0].len, layout.size_term(lw, ty.inner.elem)))
    return size_of(lw, ty.inner if isinstance(ty, PtrTy) else ty)


def _swap(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    pointer_methods.swap(lw, args[0], args[1], span)
    return UNIT_VALUE


def _replace(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    place = deref(lw, args[0], span)
    old = apart(lw, read(lw, place, span), span)
    write(lw, place, args[1], span)
    return old


def _take(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    from gpusafe.parse.rust.device.builtins import default_value

    place = deref(lw, args[0], span)
    old = apart(lw, read(lw, place, span), span)
    write(lw, place, default_value(lw, place.ty, span), span)
    return old


def _nothing(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    return UNIT_VALUE


def _drop(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    drop_value(lw, args[0], span)
    return UNIT_VALUE


def _identity(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    return args[0]


def _zeroed(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    from gpusafe.parse.rust.device.builtins import default_value

    ty = _type_arg(lw, given)
    if want is not None:
        lw.infer.unify(ty, want)
    return default_value(lw, ty, span)


def _transmute(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    to = _type_arg(lw, given, 1) if len(given) > 1 else lw.infer.shallow(want) if want is not None else None
    value = args[0]
    if to is None or isinstance(to, VarTy):
        return Unknown(lw.infer.fresh(), "a transmuted value")
    have = lw.infer.shallow(value.ty)
    if isinstance(to, PtrTy):
        return cast_pointer(lw, value, to, span)
    if isinstance(to, ScalarTy) and isinstance(have, ScalarTy):
        if to.type.kind == have.type.kind == "int" or isinstance(have, PtrTy):
            return cast_value(lw, value, to, span)
        return Scalar(to, Opaque(to.type, "transmute", (term_of(lw, value, span),)))
    if isinstance(to, ScalarTy) and isinstance(have, PtrTy):
        return cast_value(lw, value, to, span)
    if have == to:
        return value
    return Unknown(to, "a transmuted value")


def _ptr_read(volatile: bool) -> CoreCall:
    return lambda lw, given, args, span, want: pointer_methods.read_through(lw, args[0], span, volatile)


def _ptr_write(volatile: bool) -> CoreCall:
    def run(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
        pointer_methods.write_through(lw, args[0], args[1], span, volatile)
        return UNIT_VALUE

    return run


def _copy(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    pointer_methods.copy(lw, args[0], args[1], args[2], span)
    return UNIT_VALUE


def _write_bytes(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    ty = lw.infer.shallow(args[0].ty)
    if not isinstance(ty, PtrTy):
        raise Gap("`write_bytes`")
    made = pointer_methods.pointer_method(lw, args[0], PtrTy(ty.inner, True, False), "write_bytes", args[1:], span)
    return made or UNIT_VALUE


def _null(mutable: bool) -> CoreCall:
    return lambda lw, given, args, span, want: pointer_methods.null_pointer(lw, mutable)


def _from_ref(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    ty = lw.infer.shallow(args[0].ty)
    if not isinstance(ty, PtrTy):
        return args[0]
    return cast_pointer(lw, args[0], PtrTy(ty.inner, ty.mutable, False), span)


def _raw_parts(mutable: bool, is_ref: bool) -> CoreCall:
    def run(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
        lw.infer.unify(args[1].ty, SCALARS["usize"])
        ty = lw.infer.shallow(args[0].ty)
        inner: Ty = ty.inner if isinstance(ty, PtrTy) else lw.infer.fresh()
        length = term_of(lw, args[1], span, SCALARS["usize"])
        if isinstance(length, Const) and length.type.kind == "infer":
            length = terms.int_const(int(length.value))
        if isinstance(args[0], LocalRef | Unknown):
            raise Gap("a slice made from a pointer to a local variable")
        return Fat(PtrTy(SliceTy(inner), mutable, is_ref), term_of(lw, args[0], span), length)

    return run


def _minmax(op: Op) -> CoreCall:
    def run(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
        a, b = (plain(lw, v, "<", span) for v in args)
        lw.infer.unify(a.ty, b.ty)
        return Scalar(a.ty, terms.binary(op, term_of(lw, a, span), term_of(lw, b, span)))

    return run


def _fence(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    order = order_of(args[0])
    if order is not Order.RELAXED:
        lw.emit(k.Fence(lw.at(span), order, Scope.SYSTEM))
    return UNIT_VALUE


def _stops(reason: str) -> CoreCall:
    def run(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
        lw.fail(reason, span)
        return NEVER

    return run


def _assume(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    lw.emit(k.Assume(lw.at(span), term_of(lw, args[0], span, BOOL_TY), "assert_unchecked"))
    return UNIT_VALUE


def _from_fn(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    target = lw.infer.shallow(want) if want is not None else None
    length = target.length if isinstance(target, ArrayTy) else None
    count = terms.const_int(length) if length is not None else None
    if count is None or count > 64 or length is None:
        raise Gap("`array::from_fn` of an array whose length is not known")
    items = [lw.hooks.call(lw, args[0], [lw.scalar(terms.int_const(i))], span, None) for i in range(count)]
    elem: Ty = items[0].ty if items else lw.infer.fresh()
    return ArrayVal(ArrayTy(elem, length), tuple(items))


def _slice_from_ref(lw: Lowering, given: Given, args: list[Value], span: Span, want: Ty | None) -> Value:
    place = deref(lw, args[0], span)
    if not isinstance(place, MemPlace):
        raise Gap("a slice of one local variable")
    return Fat(PtrTy(SliceTy(place.ty), True, True), place.ptr, terms.int_const(1))


CORE: dict[str, CoreCall] = {
    "mem::size_of": _size_of,
    "size_of": _size_of,
    "mem::align_of": _align_of,
    "align_of": _align_of,
    "mem::size_of_val": _size_of_val,
    "size_of_val": _size_of_val,
    "mem::swap": _swap,
    "mem::replace": _replace,
    "mem::take": _take,
    "mem::drop": _drop,
    "mem::forget": _nothing,
    "drop": _drop,
    "forget": _nothing,
    "mem::zeroed": _zeroed,
    "mem::transmute": _transmute,
    "transmute": _transmute,
    "mem::transmute_copy": _transmute,
    "ptr::read": _ptr_read(False),
    "ptr::read_volatile": _ptr_read(True),
    "read_volatile": _ptr_read(True),
    "ptr::read_unaligned": _ptr_read(False),
    "ptr::write": _ptr_write(False),
    "ptr::write_volatile": _ptr_write(True),
    "write_volatile": _ptr_write(True),
    "ptr::write_unaligned": _ptr_write(False),
    "intrinsics::volatile_load": _ptr_read(True),
    "intrinsics::volatile_store": _ptr_write(True),
    "ptr::copy": _copy,
    "ptr::copy_nonoverlapping": _copy,
    "copy_nonoverlapping": _copy,
    "ptr::swap": _swap,
    "ptr::write_bytes": _write_bytes,
    "ptr::null": _null(False),
    "ptr::null_mut": _null(True),
    "ptr::from_ref": _from_ref,
    "ptr::from_mut": _from_ref,
    "ptr::slice_from_raw_parts": _raw_parts(False, False),
    "ptr::slice_from_raw_parts_mut": _raw_parts(True, False),
    "slice::from_raw_parts": _raw_parts(False, True),
    "slice::from_raw_parts_mut": _raw_parts(True, True),
    "from_raw_parts": _raw_parts(False, True),
    "from_raw_parts_mut": _raw_parts(True, True),
    "slice::from_ref": _slice_from_ref,
    "slice::from_mut": _slice_from_ref,
    "cmp::min": _minmax(Op.MIN),
    "cmp::max": _minmax(Op.MAX),
    "min": _minmax(Op.MIN),
    "max": _minmax(Op.MAX),
    "atomic::fence": _fence,
    "fence": _fence,
    "atomic::compiler_fence": _nothing,
    "compiler_fence": _nothing,
    "hint::spin_loop": _nothing,
    "spin_loop": _nothing,
    "hint::black_box": _identity,
    "black_box": _identity,
    "convert::identity": _identity,
    "hint::likely": _identity,
    "hint::unlikely": _identity,
    "hint::must_use": _identity,
    "hint::assert_unchecked": _assume,
    "assert_unchecked": _assume,
    "intrinsics::assume": _assume,
    "hint::unreachable_unchecked": _stops("unreachable_unchecked"),
    "unreachable_unchecked": _stops("unreachable_unchecked"),
    "intrinsics::abort": _stops("abort"),
    "process::abort": _stops("abort"),
    "nvptx::trap": _stops("trap"),
    "trap": _stops("trap"),
    "array::from_fn": _from_fn,
    "from_fn": _from_fn,
}
