"""``atomicAdd`` and kin: relaxed, device scope unless the suffix says otherwise (CUDA C++ Programming Guide)."""

from __future__ import annotations

from collections.abc import Callable

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import BOOL, PTR, Expr, PtrUnknown, Type
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.builtin.site import CallSite
from gpusafe.parse.cuda.context import Context, Unsupported
from gpusafe.parse.cuda.convert import convert, expression
from gpusafe.parse.cuda.places import dereference, read, write
from gpusafe.parse.cuda.values import Aggregate, MemoryPlace, Operand, Place, Term, UnknownValue, Value
from gpusafe.span import Span

Builtin = Callable[[Context, CallSite], Operand]
_SUFFIXES = {"": k.Scope.DEVICE, "_block": k.Scope.BLOCK, "_system": k.Scope.SYSTEM}
_OPS = {
    "Add": "add",
    "Sub": "sub",
    "Exch": "exch",
    "CAS": "cas",
    "Min": "min",
    "Max": "max",
    "And": "and",
    "Or": "or",
    "Xor": "xor",
    "Inc": "inc",
    "Dec": "dec",
}
_FLOAT_OPS = {"add": "fadd", "sub": "fsub"}


def emit_atomic(
    x: Context,
    op: str,
    place: Place,
    operands: tuple[Value, ...],
    order: k.Order,
    scope: k.Scope,
    span: Span,
    name: str,
    *,
    used: bool = True,
) -> tuple[Value, Expr | None]:
    """Emit an atomic on a place; the old value, and for ``cas`` whether it succeeded."""
    if not isinstance(place, MemoryPlace):
        return _on_register(x, op, place, operands, span, name), None
    kind = place.type
    if isinstance(kind, t.Struct) and kind.vector:
        type_ = Type("int", kind.size * 8)
        values: tuple[Expr, ...] = tuple(_whole(x, v, type_, span) for v in operands)
    elif isinstance(kind, (t.Scalar, t.Pointer)):
        type_ = PTR if isinstance(kind, t.Pointer) else kind.type
        values = tuple(expression(x, convert(x, v, t.plain(kind), span)) for v in operands)
    else:
        raise Unsupported(f"`{name}` on a `{t.show(kind)}`")
    word = _FLOAT_OPS.get(op, op) if type_.kind == "float" else op
    var = x.temporary(name, type_) if used else None
    success = x.temporary(f"{name} succeeded", BOOL) if op == "cas" else None
    x.emit(
        k.Atomic(
            span,
            var.name if var is not None else None,
            word,
            place.pointer,
            values,
            type_,
            order,
            scope,
            success.name if success is not None else None,
            _failure(order) if op == "cas" else None,
        )
    )
    if var is None:
        return UnknownValue(kind, "an unused result"), success
    if isinstance(kind, t.Struct):
        return UnknownValue(kind, f"the result of `{name}`"), success
    return Term(t.plain(kind), var), success


def _failure(order: k.Order) -> k.Order:
    return {k.Order.RELEASE: k.Order.RELAXED, k.Order.ACQ_REL: k.Order.ACQUIRE}.get(order, order)


def _whole(x: Context, value: Value, type_: Type, span: Span) -> Expr:
    if isinstance(value, Aggregate):
        return x.havoc(span, "value", type_, "a vector in one atomic operation")
    return expression(x, value)


def _on_register(x: Context, op: str, place: Place, operands: tuple[Value, ...], span: Span, name: str) -> Value:
    """An atomic on a local variable."""
    before = read(x, place, span, name)
    write(x, place, UnknownValue(place.type, f"what `{name}` leaves in a local variable"), span)
    return before


def _target(x: Context, value: Value, site: CallSite) -> Place:
    if isinstance(value, UnknownValue):
        return MemoryPlace(t.UINT, PtrUnknown(PTR, value.reason))
    return dereference(x, value, site.span, site.last)


def _atomic(op: str, scope: k.Scope) -> Builtin:
    def handler(x: Context, site: CallSite) -> Operand:
        place = _target(x, site.value(x, 0), site)
        operands = tuple(site.value(x, i) for i in range(1, 3 if op == "cas" else 2))
        old, _ = emit_atomic(x, op, place, operands, k.Order.RELAXED, scope, site.span, site.last)
        return old

    return handler


ATOMICS: dict[str, Builtin] = {
    f"atomic{word}{suffix}": _atomic(op, scope) for word, op in _OPS.items() for suffix, scope in _SUFFIXES.items()
}
