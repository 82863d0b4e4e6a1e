"""``memcpy`` and ``memset`` in a kernel: what one thread copies."""

from __future__ import annotations

from collections.abc import Callable

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import PTR, U8, U64, Const, Expr, Op, Opaque, Type, Var
from gpusafe.parse.cuda import terms
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.builtin.site import CallSite
from gpusafe.parse.cuda.context import Context, Unsupported
from gpusafe.parse.cuda.places import write
from gpusafe.parse.cuda.values import AddressOf, Operand, Place, StructPlace, Term, UnknownValue, Value, VariablePlace

Builtin = Callable[[Context, CallSite], Operand]
_WHOLE = 256


def _copy(x: Context, site: CallSite) -> Operand:
    """``memcpy(dst, src, n)``: one access of each side where ``n`` is known, else a loop over bytes."""
    dst, src = site.value(x, 0), site.value(x, 1)
    size = site.term(x, 2, t.ULONG)
    count = terms.value_of(size)
    if count is not None and count <= _WHOLE:
        if count:
            _put(x, dst, _take(x, src, count, site), count, site)
    elif isinstance(dst, Term) and isinstance(src, Term):
        _loop(x, site, size, dst.expr, src.expr)
    else:
        raise Unsupported(f"`{site.last}` of a local variable")
    return dst


def _take(x: Context, src: Value, count: int, site: CallSite) -> Expr:
    """The bytes of the source as one number."""
    type_ = Type("int", count * 8)
    if isinstance(src, Term) and src.expr.type == PTR:
        var = x.temporary(f"{site.last} source", type_)
        x.emit(k.Load(site.span, var.name, src.expr, type_))
        return var
    if isinstance(src, AddressOf) and isinstance(src.place, VariablePlace) and isinstance(src.place.type, t.Scalar):
        kind = src.place.type.type
        if kind.bits == count * 8:
            held = Var(kind, src.place.name)
            return held if kind.kind == "int" else Opaque(type_, "bits", (held,))
    if not isinstance(src, AddressOf):
        raise Unsupported(f"`{site.last}` from an unknown place")
    return x.havoc(site.span, f"{site.last} source", type_, "the bytes of a local variable")


def _put(x: Context, dst: Value, value: Expr, count: int, site: CallSite) -> None:
    if isinstance(dst, Term) and dst.expr.type == PTR:
        x.emit(k.Store(site.span, dst.expr, value, count))
    elif isinstance(dst, AddressOf):
        _assign(x, dst.place, value, count, site)
    else:
        raise Unsupported(f"`{site.last}` to an unknown place")


def _assign(x: Context, place: Place, value: Expr, count: int, site: CallSite) -> None:
    match place:
        case VariablePlace(type=t.Scalar(type=type_)) if type_.bits == count * 8:
            made = terms.cast(value, type_) if type_.kind == "int" else Opaque(type_, "bits", (value,))
            write(x, place, Term(place.type, made), site.span)
        case VariablePlace() | StructPlace():
            write(x, place, UnknownValue(place.type, f"what `{site.last}` leaves in a local variable"), site.span)
        case _:
            raise Unsupported(f"`{site.last}` to a local variable")


def _loop(x: Context, site: CallSite, size: Expr, dst: Expr, src: Expr | None) -> None:
    """Byte by byte."""
    index = x.emitter.variable("byte", U64)
    label = x.emitter.fresh(f"{site.last} at line {site.span.line}")
    dst = x.hold(site.span, f"{site.last} target", dst)
    src = x.hold(site.span, f"{site.last} source", src) if src is not None else None
    bound = x.hold(site.span, f"{site.last} size", size)
    x.assign(site.span, index.name, Const(U64, 0))
    with x.emitter.collect() as body:
        x.emit(k.If(site.span, terms.binary(Op.GE, index, bound), (k.Break(site.span, label),)))
        value: Expr = Const(U8, 0)
        if src is not None:
            var = x.temporary(f"{site.last} byte", U8)
            x.emit(k.Load(site.span, var.name, terms.move(src, index), U8))
            value = var
        x.emit(k.Store(site.span, terms.move(dst, index), value, 1))
        x.assign(site.span, index.name, terms.binary(Op.ADD, index, Const(U64, 1)))
    x.emit(k.Loop(site.span, label, tuple(body)))


def _set(x: Context, site: CallSite) -> Operand:
    """``memset(dst, byte, n)``."""
    dst, byte = site.value(x, 0), site.term(x, 1, t.INT)
    size = site.term(x, 2, t.ULONG)
    count = terms.value_of(size)
    if count is not None and count <= _WHOLE:
        type_ = Type("int", max(count, 1) * 8)
        zero = terms.value_of(byte) == 0
        value = terms.integer(0, type_) if zero else Opaque(type_, "repeated byte", (byte,))
        if count:
            _put(x, dst, value, count, site)
    elif isinstance(dst, Term):
        _loop(x, site, size, dst.expr, None)
    else:
        raise Unsupported(f"`{site.last}` of a local variable")
    return dst


BULK: dict[str, Builtin] = {
    "memcpy": _copy,
    "memmove": _copy,
    "__builtin_memcpy": _copy,
    "__builtin_memmove": _copy,
    "memset": _set,
    "__builtin_memset": _set,
}
