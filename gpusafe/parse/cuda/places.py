"""Reading, writing and addressing places."""

from __future__ import annotations

from dataclasses import replace

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import BOOL, I64, PTR, TRUE, Expr, Op, Opaque, PtrBase, PtrUnknown, Type, Var
from gpusafe.parse.cuda import terms
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.context import Context, Unsupported
from gpusafe.parse.cuda.render import Label, shown
from gpusafe.parse.cuda.tables import element_of
from gpusafe.parse.cuda.values import (
    AddressOf,
    Aggregate,
    ElementPlace,
    FixedPlace,
    MemoryPlace,
    NoValue,
    Operand,
    Place,
    StructPlace,
    Term,
    UnknownPlace,
    UnknownValue,
    Value,
    VariablePlace,
)
from gpusafe.span import Span

_WHOLE_LOADS = (2, 4, 8, 16)


def read(x: Context, operand: Operand, span: Span, name: Label) -> Value:
    """The value of a place (values stay what they are); ``name`` is for the temporary that a load fills."""
    match operand:
        case Value():
            return operand
        case VariablePlace(type=kind, name=var):
            return Term(kind, Var(ir_type(kind), var))
        case FixedPlace(value=value):
            return value
        case StructPlace(type=kind, fields=fields):
            return Aggregate(kind, tuple(read(x, f, span, name) for f in fields))
        case MemoryPlace(type=kind, pointer=pointer):
            return load(x, kind, pointer, span, name)
        case ElementPlace(type=kind, reason=reason):
            return unknown(x, kind, span, name, reason)
        case UnknownPlace(type=kind, reason=reason):
            x.unmodelled(span, reason)
            return unknown(x, kind, span, name, reason)
        case _:
            raise Unsupported(f"`{shown(name)}`")


def ir_type(kind: t.CType) -> Type:
    """The IR type of a scalar or pointer."""
    match kind:
        case t.Scalar(type=type_):
            return type_
        case t.Pointer() | t.Array() | t.Reference():
            return PTR
        case _:
            raise Unsupported(f"a value of type `{t.show(kind)}`")


def load(x: Context, kind: t.CType, pointer: Expr, span: Span, name: Label) -> Value:
    """Load an object; arrays decay to a pointer and are not loaded."""
    match kind:
        case t.Scalar() if (known := element_of(x, kind, pointer)) is not None:
            return Term(t.plain(kind), known)
        case t.Scalar() | t.Pointer():
            return Term(t.plain(kind), _load(x, ir_type(kind), pointer, span, name, kind.volatile))
        case t.Array(of=of):
            return Term(t.Pointer(of), pointer)
        case t.Reference(to=to):
            return load(x, to, _load(x, PTR, pointer, span, name, False), span, name)
        case t.Struct(vector=True, size=size) if size in _WHOLE_LOADS and not _of_integers(kind):
            return _load_vector(x, kind, pointer, span, name)
        case t.Struct() if not taken_apart(kind):
            return Term(t.plain(kind), _load(x, Type("int", kind.size * 8), pointer, span, name, kind.volatile))
        case t.Struct(fields=fields):
            made = tuple(
                load(x, _with(f.type, kind), at(pointer, f.offset), span, f"{shown(name)}.{f.name}") for f in fields
            )
            return Aggregate(kind, made)
        case _:
            raise Unsupported(f"`{shown(name)}`, a value of type `{t.show(kind)}`")


def taken_apart(kind: t.Struct) -> bool:
    """Whether a struct is handled field by field; unions and structs with arrays are handled as their bytes."""
    return not kind.union and all(
        isinstance(f.type, (t.Scalar, t.Pointer)) or (isinstance(f.type, t.Struct) and taken_apart(f.type))
        for f in kind.fields
    )


def _with(kind: t.CType, outer: t.CType) -> t.CType:
    return replace(kind, volatile=True) if outer.volatile else kind


def _load(x: Context, type_: Type, pointer: Expr, span: Span, name: Label, volatile: bool) -> Expr:
    var = x.temporary(shown(name), type_)
    x.emit(k.Load(span, var.name, pointer, type_, volatile))
    if _in_table(x, pointer):  # the source gives the contents: they are not just any
        return x.havoc(span, shown(name), type_, "an element of a table of constants")
    return var


def _in_table(x: Context, pointer: Expr) -> bool:
    """Whether a pointer may lead into an array whose contents the source gives."""
    if not x.tables:
        return False
    return any(
        part.region in x.tables if isinstance(part, PtrBase) else part.name in x.table_pointers
        for part in terms.walk(pointer)
        if isinstance(part, (PtrBase, Var))
    )


def _of_integers(kind: t.Struct) -> bool:
    """Elements that may be indices: such vectors are accessed element by element, so that their values are exact."""
    return all(isinstance(f.type, t.Scalar) and f.type.type.kind == "int" for f in kind.fields)


def _load_vector(x: Context, kind: t.Struct, pointer: Expr, span: Span, name: Label) -> Aggregate:
    """One access of the whole vector of floats; the elements are opaque parts of it."""
    whole = _load(x, Type("int", kind.size * 8), pointer, span, name, kind.volatile)
    parts = (Term(f.type, Opaque(ir_type(f.type), f"element {f.name}", (whole,))) for f in kind.fields)
    return Aggregate(kind, tuple(parts))


def at(pointer: Expr, offset: int) -> Expr:
    """``pointer`` moved by a known number of bytes."""
    return terms.move(pointer, terms.integer(offset, I64))


def unknown(x: Context, kind: t.CType, span: Span, name: Label, reason: str) -> Value:
    """A value of a type that is not modelled."""
    match kind:
        case t.Scalar(type=type_):
            return Term(t.plain(kind), x.havoc(span, shown(name), type_, reason))
        case t.Pointer() | t.Array():
            return Term(kind, PtrUnknown(PTR, reason))
        case t.Struct() if not taken_apart(kind):
            return UnknownValue(kind, reason)
        case t.Struct(fields=fields):
            return Aggregate(kind, tuple(unknown(x, f.type, span, f"{shown(name)}.{f.name}", reason) for f in fields))
        case t.Void():
            return NoValue(kind)
        case _:
            return UnknownValue(kind, reason)


def write(x: Context, place: Operand, value: Value, span: Span) -> None:
    """Store a value that already has the type of the place."""
    match place, value:
        case VariablePlace(name=name), _ if name in x.settled:
            raise Unsupported(f"an assignment to `{name}` through a reference or pointer")
        case VariablePlace(name=name), Term(expr=expr):
            if expr.type == PTR and _in_table(x, expr):
                x.table_pointers.add(name)
            x.assign(span, name, expr)
        case VariablePlace(name=name, type=kind), UnknownValue(reason=reason):
            x.emit(k.Havoc(span, name, ir_type(kind), reason))
        case StructPlace(fields=fields), Aggregate(fields=values):
            _write_fields(x, fields, values, span)
        case StructPlace(fields=fields), UnknownValue(reason=reason):
            for field in fields:
                write(x, field, UnknownValue(field.type, reason), span)
        case MemoryPlace(type=kind, pointer=pointer), _:
            store(x, kind, pointer, value, span)
        case ElementPlace(whole=whole, reason=reason), _:
            write(x, whole, UnknownValue(whole.type, reason), span)
        case VariablePlace(name=name), AddressOf(place=target):
            want_in_memory(x, target)
            raise Unsupported(f"a pointer to a local variable kept in `{name}`")
        case UnknownPlace(reason=reason), _:
            x.unmodelled(span, reason)
        case FixedPlace(value=AddressOf(place=target)), _:
            want_in_memory(x, target)
            raise Unsupported("a pointer to a local variable that changes")
        case _:
            raise Unsupported(f"this assignment to a `{t.show(place.type)}`")


def want_in_memory(x: Context, place: Place) -> None:
    """Remember that a local variable needs an address of its own; the kernel is lowered again with it in memory."""
    match place:
        case VariablePlace(name=name):
            declared = x.declared.get(name)
            if declared is not None:
                x.wanted_in_memory.add(declared)
        case StructPlace(fields=fields):
            for field in fields:
                want_in_memory(x, field)
        case _:
            pass


def _write_fields(x: Context, fields: tuple[Place, ...], values: tuple[Value, ...], span: Span) -> None:
    """Field by field; values that mention variables are read before the first is written (``v = {v.y, v.x}``)."""
    if len(fields) > 1:
        values = tuple(held(x, v, span) for v in values)
    for field, value in zip(fields, values, strict=True):
        write(x, field, value, span)


def held(x: Context, value: Value, span: Span) -> Value:
    """The value as it is now, safe from later assignments."""
    match value:
        case Term(type=kind, expr=expr) if not isinstance(expr, Var) or not x.is_settled(expr):
            return Term(kind, x.hold(span, "part", expr))
        case Aggregate(type=kind, fields=fields):
            return Aggregate(kind, tuple(held(x, f, span) for f in fields))
        case _:
            return value


def store(x: Context, kind: t.CType, pointer: Expr, value: Value, span: Span) -> None:
    """Store an object to memory."""
    match kind, value:
        case ((t.Scalar() | t.Pointer()), Term(expr=expr)):
            x.emit(k.Store(span, pointer, expr, t.size_of(kind) or 1, kind.volatile))
        case ((t.Scalar() | t.Pointer()), (UnknownValue() | AddressOf())):
            reason = value.reason if isinstance(value, UnknownValue) else "the address of a local variable"
            type_ = ir_type(kind)
            held = PtrUnknown(PTR, reason) if type_ == PTR else x.havoc(span, "value", type_, reason)
            x.emit(k.Store(span, pointer, held, t.size_of(kind) or 1, kind.volatile))
        case t.Struct(vector=True, size=size), Aggregate(fields=values) if size in _WHOLE_LOADS and not _of_integers(
            kind
        ):
            parts = tuple(v.expr for v in values if isinstance(v, Term))
            packed = _packed(kind, parts)
            x.emit(k.Store(span, pointer, packed, size, kind.volatile))
        case t.Struct(size=size), Term(type=t.Struct(), expr=expr):
            x.emit(k.Store(span, pointer, expr, size, kind.volatile))
        case t.Struct(fields=fields, union=False), Aggregate(fields=values) if not _has_arrays(kind):
            for field, part in zip(fields, values, strict=True):
                store(x, _with(field.type, kind), at(pointer, field.offset), part, span)
        case t.Struct(size=size), (UnknownValue() | Aggregate()):
            reason = value.reason if isinstance(value, UnknownValue) else "a struct with arrays in it"
            whole = x.havoc(span, "value", Type("int", size * 8), reason)
            x.emit(k.Store(span, pointer, whole, size, kind.volatile))
        case _:
            raise Unsupported(f"a store of a `{t.show(value.type)}` to a `{t.show(kind)}`")


def _has_arrays(kind: t.Struct) -> bool:
    return any(isinstance(f.type, t.Array) for f in kind.fields)


def _packed(kind: t.Struct, parts: tuple[Expr, ...]) -> Expr:
    """The bits of a vector: exact for small integers, else opaque (a vector read back whole is recognised)."""
    whole = Type("int", kind.size * 8)
    first = parts[0] if parts else None
    if isinstance(first, Opaque) and first.name == "element x" and len(first.args) == 1:
        same = all(
            isinstance(p, Opaque) and p.name == f"element {f.name}" and p.args == first.args
            for p, f in zip(parts, kind.fields, strict=True)
        )
        if same and first.args[0].type == whole:
            return first.args[0]
    return Opaque(whole, f"{kind.key} value", parts)


def address(x: Context, operand: Operand, span: Span, name: Label) -> Value:
    """``&place``."""
    match operand:
        case MemoryPlace(type=kind, pointer=pointer):
            return Term(t.Pointer(kind), pointer)
        case FixedPlace(value=Term(type=t.Pointer(to=to), expr=expr), type=t.Array()):
            return Term(t.Pointer(to), expr)
        case Place():
            return AddressOf(t.Pointer(operand.type), operand)
        case _:
            raise Unsupported(f"the address of `{shown(name)}`")


def dereference(x: Context, value: Value, span: Span, name: Label) -> Place:
    """``*value``."""
    match value:
        case Term(type=t.Pointer(to=to), expr=expr):
            return MemoryPlace(to, expr)
        case Term(type=t.Array(of=of), expr=expr):
            return MemoryPlace(of, expr)
        case AddressOf(type=kind, place=place):
            return seen_as(place, kind.to, name)
        case _:
            raise Unsupported(f"`*{shown(name)}`")


def seen_as(place: Place, kind: t.CType, name: Label) -> Place:
    """A place in registers accessed as another type (``*(int*)&f``)."""
    if t.same(place.type, kind):
        return place
    match place, kind:
        case ElementPlace(whole=whole, reason=reason), _:
            return ElementPlace(kind, whole, reason)
        case StructPlace(fields=(first, *_)), _ if t.same(first.type, kind):
            return first
        case StructPlace(), _:
            return ElementPlace(kind, place, f"`{shown(name)}`, part of a local struct seen as another type")
        case VariablePlace(type=t.Scalar()), (t.Scalar() | t.Struct()):
            return ElementPlace(
                kind, StructPlace(t.Struct("?", (), 1, 1), (place,)), f"`{shown(name)}`, seen as another type"
            )
        case _:
            return UnknownPlace(kind, f"a local variable seen as `{t.show(kind)}`")


def element(x: Context, base: Value, index: Expr, span: Span, name: Label) -> Place:
    """``base[index]``."""
    match base:
        case Term(type=t.Pointer(to=to) | t.Array(of=to), expr=expr):
            size = t.size_of(to)
            if size is None:
                return UnknownPlace(to, f"`{shown(name)}`, an element of type `{t.show(to)}`")
            return MemoryPlace(to, terms.move(expr, terms.scaled(index, size)))
        case AddressOf(type=kind, place=place):
            return _register_element(place, kind.to, terms.value_of(index), name)
        case _:
            raise Unsupported(f"`{shown(name)}`")


def _register_element(place: Place, kind: t.CType, index: int | None, name: Label) -> Place:
    if index == 0:
        return seen_as(place, kind, name)
    if isinstance(place, ElementPlace):
        return ElementPlace(kind, place.whole, place.reason)
    if isinstance(place, StructPlace):
        if index is not None:
            offset = index * (t.size_of(kind) or 0)
            for field, inner in zip(place.type.fields, place.fields, strict=False):
                if field.offset == offset and t.same(inner.type, kind):
                    return inner
        return ElementPlace(kind, place, f"`{shown(name)}`, an element of a local struct")
    return UnknownPlace(kind, f"`{shown(name)}`, reached from the address of a local variable")


def moved(x: Context, base: Value, index: Expr, span: Span, name: Label) -> Value:
    """``base + index`` on pointers."""
    match base:
        case Term(type=t.Pointer(to=to) as kind, expr=expr):
            size = t.size_of(to)
            if size is None:
                return Term(kind, PtrUnknown(PTR, f"`{shown(name)}`, a pointer to `{t.show(to)}`"))
            return Term(t.plain(kind), terms.move(expr, terms.scaled(index, size)))
        case AddressOf(type=kind, place=place):
            return AddressOf(kind, _register_element(place, kind.to, terms.value_of(index), name))
        case _:
            raise Unsupported(f"`{shown(name)}`")


def truth(value: Value) -> Expr:
    """The value as a condition."""
    match value:
        case Term(type=t.Pointer() | t.Array(), expr=expr):
            return terms.not_null(expr)
        case Term(expr=expr):
            return to_bool(expr)
        case AddressOf():
            return TRUE
        case UnknownValue(reason=reason):
            raise Unsupported(reason)
        case _:
            raise Unsupported(f"a `{t.show(value.type)}` as a condition")


def to_bool(expr: Expr) -> Expr:
    """``expr != 0``."""
    if expr.type == BOOL:
        return expr
    if expr.type.kind == "float":
        return terms.cast(expr, BOOL)
    zero = terms.integer(0, expr.type)
    return terms.binary(Op.NE, expr, zero)
