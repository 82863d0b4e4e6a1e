"""Calls of functions that have no source here: ``core``, the device APIs' primitives, mathematics, and the unknown."""

from __future__ import annotations

from gpusafe.ir.expr import Opaque
from gpusafe.ir.kernel import Order, Scope
from gpusafe.parse.dialects.device_cuda_std import MidAtomic, mid_atomic
from gpusafe.parse.dialects.device_pure import pure_result
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.device import atomics
from gpusafe.parse.rust.device.core_calls import CORE
from gpusafe.parse.rust.device.float_methods import PURE
from gpusafe.parse.rust.device.intrinsics import INTRINSICS
from gpusafe.parse.rust.device.lowering import Lowering
from gpusafe.parse.rust.device.program import family
from gpusafe.parse.rust.device.scalars import term_of
from gpusafe.parse.rust.device.types import SCALARS, AtomicTy, Ty
from gpusafe.parse.rust.device.values import EnumVal, MemPlace, Scalar, Value
from gpusafe.parse.rust.device.written import atomic_type
from gpusafe.span import Span

_PRELUDE = (("size_of",), ("size_of_val",), ("align_of",), ("drop",))
"""Functions of `core` that need no path."""

Given = tuple[ast.Type | ast.Expr, ...]


def foreign_call(
    lw: Lowering, path: tuple[str, ...], given: Given, args: list[Value], span: Span, want: Ty | None
) -> Value:
    """Call the function at a foreign path."""
    name = path[-1]
    if name in INTRINSICS:
        return INTRINSICS[name](lw, given, args, span, want)
    crate = family(path)
    if crate == "core" or len(path) <= 2:
        for key in ("::".join(path[-2:]), name):
            if key in CORE and (crate == "core" or key != name or path in _PRELUDE):
                return CORE[key](lw, given, args, span, want)
    mid = mid_atomic(name)
    if mid is not None and len(args) >= 2:
        return _mid(lw, mid, args, span)
    if len(path) > 1 and atomic_type(path[-2], None) is not None:
        from gpusafe.parse.rust.device.builtins import assoc_call

        ty = atomic_type(path[-2], None)
        assert isinstance(ty, AtomicTy)
        return assoc_call(lw, ty, name, given, args, span, want)
    made = _pure(lw, path, args, span, want)
    return made if made is not None else _unknown(lw, path, args, span, want)


def _mid(lw: Lowering, mid: MidAtomic, args: list[Value], span: Span) -> Value:
    """A free atomic function of cuda_std on the scalar behind its first argument."""
    ty = SCALARS[mid.type]
    place = MemPlace(ty, term_of(lw, args[0], span))
    scope = Scope(mid.scope)
    if mid.op == "cas":
        order = atomics.order_of(args[3])
        failure = {Order.ACQ_REL: Order.ACQUIRE, Order.RELEASE: Order.RELAXED}.get(order, order)
        made = atomics.exchange(lw, place, args[1], args[2], (order, failure), scope, span)
        payload = made.payload(0) if isinstance(made, EnumVal) else None
        return payload[0] if payload else made
    return atomics.operate(lw, place, mid.op, args[2:], atomics.order_of(args[1]), scope, span)


def _pure(lw: Lowering, path: tuple[str, ...], args: list[Value], span: Span, want: Ty | None) -> Value | None:
    """A function of numbers alone that is known to be pure."""
    name = path[-1]
    result = pure_result(path)
    if result is None and name.rstrip("f") not in PURE and name not in PURE:
        return None
    if result is None and not all(isinstance(a, Scalar) for a in args):
        return None
    parts = tuple(term_of(lw, a, span) for a in args)
    if result is not None and result != "same":
        ty: Ty = SCALARS[result]
    else:
        ty = args[0].ty if args else lw.infer.fresh()
    type_ = lw.infer.term_type(ty)
    return Scalar(ty, Opaque(type_, name, parts)) if type_ is not None else None


def _unknown(lw: Lowering, path: tuple[str, ...], args: list[Value], span: Span, want: Ty | None) -> Value:
    from gpusafe.parse.rust.device.methods import reaches

    harmless = not reaches(lw, None, args) and family(path) not in ("cuda_std", "oxide")
    shown = "::".join(path[-2:]) if len(path) > 1 and path[0] != "gpusafe" else path[-1]
    what = f"the call of `{shown}`, whose source is not here"
    return lw.unmodelled(what, span, accesses=not harmless, syncs=not harmless, ty=want)
