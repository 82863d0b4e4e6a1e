"""Conversions between types, and building values from initialiser lists."""

from __future__ import annotations

from gpusafe.ir.expr import FALSE, PTR, Const, Expr, PtrUnknown
from gpusafe.parse.cuda import terms
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.context import Context, Unsupported
from gpusafe.parse.cuda.places import ir_type, read, truth
from gpusafe.parse.cuda.values import (
    AddressOf,
    Aggregate,
    Closure,
    FunctionName,
    HandleValue,
    ListValue,
    NoValue,
    Place,
    Term,
    UnknownValue,
    Value,
)
from gpusafe.span import Span


def convert(x: Context, value: Value, to: t.CType, span: Span) -> Value:
    """``value`` as a value of type ``to``; a conversion that is not modelled gives an UnknownValue."""
    match to, value:
        case t.Auto(), Term(type=t.Array(of=of), expr=expr):
            return Term(t.Pointer(of), expr)
        case t.Auto(), _:
            return value
        case t.Void(), _:
            return NoValue(to)
        case _, (Closure() | FunctionName() | HandleValue()):
            return value
        case _, UnknownValue(reason=reason):
            return UnknownValue(to, reason)
        case t.Scalar(type=type_), Term(type=t.Scalar() | t.Pointer() | t.Array(), expr=expr):
            return Term(t.plain(to), truth(value) if type_.kind == "bool" else terms.cast(expr, type_))
        case t.Pointer(), Term(type=t.Pointer() | t.Array(), expr=expr):
            return Term(t.plain(to), expr)
        case t.Pointer(), Term(type=t.Scalar(), expr=expr):
            if terms.value_of(expr) == 0:
                return Term(t.plain(to), terms.NULL)
            return Term(t.plain(to), terms.pointer_at(expr))
        case t.Pointer(to=target), AddressOf(place=place):
            return AddressOf(t.Pointer(target), place)
        case t.Scalar(), AddressOf():
            return UnknownValue(to, "the address of a local variable as a number")
        case t.Struct(), (Aggregate(type=kind) | Term(type=t.Struct() as kind)) if t.same(kind, to):
            return value
        case t.Struct(), Aggregate(type=kind, fields=fields):
            return _related(x, kind, fields, to)
        case _, ListValue(items=items):
            return from_list(x, items, to, span)
        case ((t.Scalar() | t.Pointer()), Aggregate(type=t.Struct(vector=False))):
            return _by_operator(x, value, to, span)
        case t.Scalar(), Aggregate(type=kind):
            return UnknownValue(to, f"a `{t.show(kind)}` as a `{t.show(to)}`")
        case t.Struct(vector=True, fields=fields, key="dim3"), Term(type=t.Scalar()):
            one = Term(t.UINT, Const(t.UINT.type, 1))
            return Aggregate(to, (convert(x, value, t.UINT, span), one, one))
        case t.Reference(to=inner), _:
            return convert(x, value, inner, span)
        case t.Unknown(name=name), _:
            return UnknownValue(to, f"a value of type `{name}`")
        case _:
            return UnknownValue(to, f"a `{t.show(value.type)}` as a `{t.show(to)}`")


def _by_operator(x: Context, value: Value, to: t.CType, span: Span) -> Value:
    """An object as a number or pointer, by its class's conversion operator."""
    from gpusafe.parse.cuda.classes import converted

    found = converted(x, value, to, span)
    if found is None:
        return UnknownValue(to, f"a `{t.show(value.type)}` as a `{t.show(to)}`")
    return read(x, found, span, "conversion")


def _related(x: Context, kind: t.Struct, fields: tuple[Value, ...], to: t.Struct) -> Value:
    """A derived object as its base, or the other way round where nothing else is known."""
    for field, value in zip(kind.fields, fields, strict=True):
        if t.same(field.type, to):
            return value
    return UnknownValue(to, f"a `{t.show(kind)}` as a `{t.show(to)}`")


def from_list(x: Context, items: tuple[Value | Place, ...], to: t.CType, span: Span) -> Value:
    """``{a, b}`` as a value of type ``to``; fields that are not listed are zero."""
    values = tuple(read(x, i, span, "item") for i in items)
    match to:
        case t.Struct(fields=fields):
            if len(values) == 1 and isinstance(values[0], Aggregate) and t.same(values[0].type, to):
                return values[0]
            if len(values) > len(fields):
                raise Unsupported(f"too many values for a `{t.show(to)}`")
            made = [convert(x, v, f.type, span) for v, f in zip(values, fields, strict=False)]
            made += [zero(f.type) for f in fields[len(values) :]]
            return Aggregate(to, tuple(made))
        case t.Scalar() | t.Pointer():
            return convert(x, values[0], to, span) if values else zero(to)
        case _:
            return UnknownValue(to, f"an initialiser list for a `{t.show(to)}`")


def designated(
    x: Context, kind: t.Struct, names: tuple[str, ...], items: tuple[Value | Place, ...], span: Span
) -> Value:
    """``{.x = a, .z = b}``: the named fields, zeros elsewhere."""
    given = dict(zip(names, items, strict=False))
    parts = [
        convert(x, read(x, given[f.name], span, f.name), f.type, span) if f.name in given else zero(f.type)
        for f in kind.fields
    ]
    return Aggregate(kind, tuple(parts))


def zero(to: t.CType) -> Value:
    """The value that ``T{}`` gives."""
    match to:
        case t.Scalar(type=type_):
            return Term(t.plain(to), zero_term(type_.kind, to))
        case t.Pointer():
            return Term(t.plain(to), terms.NULL)
        case t.Struct(fields=fields, union=False):
            return Aggregate(to, tuple(zero(f.type) for f in fields))
        case _:
            return UnknownValue(to, f"an empty `{t.show(to)}`")


def zero_term(kind: str, to: t.CType) -> Expr:
    """Zero of a scalar type."""
    type_ = ir_type(to)
    if kind == "bool":
        return FALSE
    return Const(type_, 0.0) if kind == "float" else Const(type_, 0)


def expression(x: Context, value: Value) -> Expr:
    """The term of a scalar or pointer value."""
    match value:
        case Term(expr=expr):
            return expr
        case UnknownValue(reason=reason, type=kind) if isinstance(kind, (t.Pointer, t.Array)):
            return PtrUnknown(PTR, reason)
        case UnknownValue(reason=reason):
            raise Unsupported(reason)
        case _:
            raise Unsupported(f"a `{t.show(value.type)}` as a number")
