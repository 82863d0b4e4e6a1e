"""Members, methods, constructors and operators of structs."""

from __future__ import annotations

from dataclasses import replace

from gpusafe.ir.kernel import Space
from gpusafe.parse.cuda import syntax as s
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.builtin.vectors import vector_method
from gpusafe.parse.cuda.context import ClassInstance, Context, Scope, Unsupported
from gpusafe.parse.cuda.convert import convert, from_list, zero
from gpusafe.parse.cuda.inlining import invoke
from gpusafe.parse.cuda.operands import declare_result
from gpusafe.parse.cuda.overloads import choose
from gpusafe.parse.cuda.places import at, read, taken_apart
from gpusafe.parse.cuda.regions import make_region
from gpusafe.parse.cuda.resolve import class_of, resolve
from gpusafe.parse.cuda.terms import integer
from gpusafe.parse.cuda.values import (
    AddressOf,
    Aggregate,
    FixedPlace,
    HandleValue,
    MemoryPlace,
    Operand,
    Place,
    StructPlace,
    Term,
    UnknownPlace,
    UnknownValue,
    Value,
)
from gpusafe.span import Span


def this_place(x: Context) -> Place | None:
    """The object of the method that is being lowered."""
    return next((scope.this for scope in x.scope.chain() if scope.this is not None), None)


def field_place(x: Context, base: Operand, name: str) -> Operand:
    """The field of a struct, wherever the struct lives; base classes are searched."""
    kind = base.type
    if isinstance(kind, t.Scalar) and name == "__x":  # the storage of the small float types
        return read(x, base, Span("", 1, 1, 1, 1), name)
    if not isinstance(kind, t.Struct):
        raise Unsupported(f"the member `{name}` of a `{t.show(kind)}`")
    field = kind.find(name)
    if field is None:
        for inherited in kind.fields:
            if (inherited.name.startswith("(") or not inherited.name) and isinstance(inherited.type, t.Struct):
                try:
                    return field_place(x, _field(base, kind, inherited), name)
                except Unsupported:
                    continue
        raise Unsupported(f"the member `{name}` of `{t.show(kind)}`")
    return _field(base, kind, field)


def _field(base: Operand, kind: t.Struct, field: t.Field) -> Operand:
    index = kind.fields.index(field)
    match base:
        case StructPlace(fields=fields):
            return fields[index]
        case Aggregate(fields=values) | FixedPlace(value=Aggregate(fields=values)):
            value = values[index]
            return FixedPlace(value.type, value)
        case MemoryPlace(pointer=pointer):
            inner = field.type
            if kind.volatile or kind.const:
                inner = replace(inner, volatile=inner.volatile or kind.volatile, const=inner.const or kind.const)
            return MemoryPlace(inner, at(pointer, field.offset))
        case Term() | FixedPlace(value=Term()):
            return UnknownValue(field.type, f"the member `{field.name}` of a copied `{t.show(kind)}`")
        case UnknownValue(reason=reason) | FixedPlace(value=UnknownValue(reason=reason)) | UnknownPlace(reason=reason):
            return UnknownValue(field.type, reason)
        case _:
            return UnknownPlace(field.type, f"the member `{field.name}` of `{t.show(kind)}`")


def member(x: Context, base: Operand, name: str, expr: s.Member) -> Operand:
    """``base.name`` that is not called."""
    instance = class_of(x, base.type)
    found = base.type.find(name) if isinstance(base.type, t.Struct) else None
    if found is None and instance is not None:
        from gpusafe.parse.cuda.names import member_name

        static = member_name(x, instance, name, None)
        if static is not None:
            return static
    place = field_place(x, base, name)
    if isinstance(place.type, t.Reference) and isinstance(place, FixedPlace) and isinstance(place.value, AddressOf):
        return place.value.place
    return place


def methods(x: Context, kind: t.CType, name: str) -> list[tuple[s.Function, ClassInstance]]:
    """The methods of that name, the class's own before inherited ones."""
    out: list[tuple[s.Function, ClassInstance]] = []
    pending = [kind]
    while pending:
        instance = class_of(x, pending.pop(0))
        if instance is None:
            continue
        for item in instance.record.items:
            if isinstance(item, s.Function) and item.name == name:
                out.append((_with_body(x, item, instance), instance))
        pending.extend(f.type for f in instance.type.fields if f.name.startswith("("))
    return out


def _with_body(x: Context, item: s.Function, instance: ClassInstance) -> s.Function:
    """A method that is defined outside its class."""
    if item.body is not None:
        return item
    for other in x.program.functions.get(item.name, []):
        qualified = f"{instance.record.name}::{item.name}"
        if other.body is not None and other.name == qualified and len(other.params) == len(item.params):
            return other
    return item


def call_method(
    x: Context, base: Operand, name: str, args: tuple[Operand, ...], span: Span, explicit: tuple[object, ...] = ()
) -> Operand | None:
    """Call a method; None when the class has none of that name."""
    found = methods(x, base.type, name)
    if not found:
        return vector_method(x, base, name, args, span)
    scopes = {id(f): _method_scope(base, i) for f, i in found}
    picked = choose(x, [f for f, _ in found], args, explicit, lambda f: scopes[id(f)])
    if picked is None:
        raise Unsupported(f"the call of `{name}`: no overload fits")
    return invoke(x, picked.function, picked.scope, args, span)


def converted(x: Context, value: Value, to: t.CType, span: Span) -> Operand | None:
    """The value by the class's own conversion to a type; None when it has none."""
    for function, instance in methods(x, value.type, s.CONVERSION):
        scope = _method_scope(value, instance)
        with x.inside(scope):
            result = resolve(x, function.result)
        if t.same(result, to):
            return invoke(x, function, scope, (), span)
    return None


def _method_scope(base: Operand, instance: ClassInstance) -> Scope:
    scope = Scope(instance.scope, {}, instance.record.scope, instance)
    scope.this = base if isinstance(base, Place) else FixedPlace(base.type, base)
    return scope


def call_static(
    x: Context, instance: ClassInstance, name: str, args: tuple[Operand, ...], span: Span, explicit: tuple[object, ...]
) -> Operand | None:
    """``Class::name(args)``."""
    found = methods(x, instance.type, name)
    if not found:
        return None
    scopes = {id(f): Scope(i.scope, {}, i.record.scope, i) for f, i in found}
    picked = choose(x, [f for f, _ in found], args, explicit, lambda f: scopes[id(f)])
    if picked is None:
        raise Unsupported(f"the call of `{instance.type.key}::{name}`: no overload fits")
    return invoke(x, picked.function, picked.scope, args, span)


def construct(
    x: Context, kind: t.CType, args: tuple[Value, ...], span: Span, name: str, *, braces: bool = False
) -> Operand:
    """``T(args)`` or ``T{args}``."""
    if not isinstance(kind, t.Struct):
        if not args:
            return zero(kind)
        if len(args) == 1:
            return convert(x, args[0], kind, span)
        if isinstance(kind, t.Handle):
            return HandleValue(kind, {str(i): a for i, a in enumerate(args)})
        return UnknownValue(kind, f"`{name}`")
    if kind.key == "dim3" and kind.vector:
        one = Term(t.UINT, integer(1, t.UINT.type))
        return Aggregate(kind, tuple((*(convert(x, a, t.UINT, span) for a in args), one, one, one)[:3]))
    if len(args) == 1 and isinstance(args[0], Aggregate) and t.same(args[0].type, kind):
        return args[0]
    instance = class_of(x, kind)
    found = [f for f, _ in methods(x, kind, instance.record.name)] if instance is not None else []
    if instance is not None and found and any(f.body is not None for f in found):
        return _constructed(x, kind, instance, found, args, span)
    if len(args) == 1 and not braces and not kind.vector:
        return convert(x, args[0], kind, span)
    return from_list(x, args, kind, span)


def _constructed(
    x: Context, kind: t.Struct, instance: ClassInstance, found: list[s.Function], args: tuple[Value, ...], span: Span
) -> Operand:
    """Run a constructor on a fresh object."""
    place: Place = (
        declare_result(x, kind, instance.record.name)
        if taken_apart(kind)
        else make_region(x, instance.record.name, Space.LOCAL, kind, span, initialized=False)
    )
    scope = _method_scope(place, instance)
    picked = choose(x, found, args, (), lambda _f: scope)
    if picked is None:
        return from_list(x, args, kind, span)
    invoke(x, picked.function, picked.scope, args, span)
    return read(x, place, span, instance.record.name)


# -- operators ---------------------------------------------------------------------------------------------------------


def _operator(x: Context, word: str, operands: tuple[Operand, ...], span: Span) -> Operand | None:
    """A user-defined operator for these operands, as a method or a function; None when there is none."""
    name = f"operator{word}"
    first = operands[0]
    if methods(x, first.type, name):
        return call_method(x, first, name, operands[1:], span)
    found = [f for f in x.program.functions.get(name, []) if len(f.params) == len(operands) and f.body is not None]
    if not found:
        return None
    picked = choose(x, found, operands, (), lambda f: Scope(None, {}, f.scope))
    return invoke(x, picked.function, picked.scope, operands, span) if picked is not None else None


def unary_operator(x: Context, op: str, value: Value, span: Span) -> Operand | None:
    """A user-defined ``op value``."""
    return _operator(x, op, (value,), span) if isinstance(value.type, t.Struct) else None


def binary_operator(x: Context, op: str, left: Value, right: Value, expr: s.Binary) -> Operand | None:
    """A user-defined ``left op right``."""
    return _operator(x, op, (left, right), expr.span)


def assignment(x: Context, op: str, place: Operand, value: Value, expr: s.Assign) -> Operand | None:
    """A user-defined ``place op value``."""
    return _operator(x, op, (place, value), expr.span)


def subscript(x: Context, base: Operand, index: s.Expr, expr: s.Index) -> Operand | None:
    """A user-defined ``base[index]``; None when the class has none."""
    if not isinstance(base.type, t.Struct):
        return None
    if not methods(x, base.type, "operator[]"):
        raise Unsupported(f"`[]` on a `{t.show(base.type)}`")
    return call_method(x, base, "operator[]", (x.evaluate(index),), expr.span)
