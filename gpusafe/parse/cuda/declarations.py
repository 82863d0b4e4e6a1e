"""Local declarations."""

from __future__ import annotations

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import U64, Const, Expr, Op, PtrAdd, PtrBase, PtrUnknown
from gpusafe.parse.cuda import syntax as s
from gpusafe.parse.cuda import terms
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.builtin.refs import refer
from gpusafe.parse.cuda.context import Context, Unsupported
from gpusafe.parse.cuda.convert import convert, designated, zero
from gpusafe.parse.cuda.operands import declare_result, value_of
from gpusafe.parse.cuda.places import at, element, ir_type, read, store, taken_apart, write
from gpusafe.parse.cuda.regions import element_type, make_region, shared_variable
from gpusafe.parse.cuda.resolve import resolve
from gpusafe.parse.cuda.values import (
    Aggregate,
    FixedPlace,
    HandleValue,
    ListValue,
    MemoryPlace,
    Operand,
    Place,
    StructPlace,
    Term,
    UnknownValue,
    Value,
    VariablePlace,
)
from gpusafe.span import Span

_SPELLED_OUT = 64


def declare(x: Context, variable: s.Variable) -> None:
    """A variable declaration in a body."""
    if "__shared__" in variable.flags:
        _shared(x, variable)
        return
    if variable.bindings:
        _structured(x, variable)
        return
    kind = resolve(x, variable.type)
    if isinstance(kind, t.Reference):
        _reference(x, variable, kind)
        return
    if "static" in variable.flags and not {"const", "constexpr"} & variable.flags:
        raise Unsupported(f"`{variable.name}`, a static variable in a kernel")
    if isinstance(kind, t.Array):
        _array(x, variable, kind)
        return
    if isinstance(kind, t.Handle) and kind.kind in ("atomic_ref", "atomic") and variable.init is not None:
        operand = x.evaluate(variable.init)
        x.bind(variable.name, operand if isinstance(operand, HandleValue) else refer(kind, (operand,)))
        return
    value = _initial(x, variable, kind)
    if value is not None and isinstance(kind, t.Auto):
        kind = value.type
    own_memory = isinstance(kind, (t.Scalar, t.Struct, t.Pointer)) and id(variable) in x.in_memory
    if own_memory or (isinstance(kind, t.Struct) and not taken_apart(kind)):
        _struct_in_memory(x, variable, kind, value)
        return
    x.bind(variable.name, _local(x, variable, kind, value))


def _shared(x: Context, variable: s.Variable) -> None:
    frame = x.frames[-1].instance if x.frames else None
    place = shared_variable(x, variable, ("shared", id(variable), frame))
    x.bind(variable.name, place)
    if variable.init is not None:
        x.unmodelled(variable.span, f"the initialiser of the shared variable `{variable.name}`")


def _initial(x: Context, variable: s.Variable, kind: t.CType) -> Value | None:
    """The converted initial value, None when there is none."""
    if variable.init is None:
        return None
    from gpusafe.parse.cuda.classes import construct

    value = value_of(x, variable.init)
    if isinstance(kind, t.Struct):
        braces = isinstance(variable.init, s.Braces)
        if isinstance(value, ListValue) or (variable.direct and not isinstance(value, Aggregate)):
            if braces and isinstance(variable.init, s.Braces) and variable.init.names:
                assert isinstance(value, ListValue)
                return designated(x, kind, variable.init.names, value.items, variable.span)
            items = value.items if isinstance(value, ListValue) else (value,)
            parts = tuple(read(x, i, variable.span, variable.name) for i in items)
            made = construct(x, kind, parts, variable.span, variable.name, braces=braces and not variable.direct)
            return read(x, made, variable.span, variable.name)
    return convert(x, value, kind, variable.span)


def _local(x: Context, variable: s.Variable, kind: t.CType, value: Value | None) -> Operand:
    """What the name of a scalar, pointer or small struct means."""
    assigned = variable.name in x.frame.assigned
    if value is None:
        if isinstance(kind, t.Struct):
            constructed = _default_constructed(x, kind, variable)
            if constructed is not None:
                return constructed
        return _uninitialized(x, variable, kind)
    if not isinstance(value, (Term, Aggregate, UnknownValue)):
        return FixedPlace(value.type, value)
    if isinstance(value, UnknownValue) and not isinstance(kind, (t.Scalar, t.Pointer, t.Struct)):
        return FixedPlace(value.type, value)
    if not assigned and _is_known(value):
        return FixedPlace(value.type, value)
    if not assigned and isinstance(value, Term) and isinstance(kind, t.Pointer) and _is_short(value.expr):
        return FixedPlace(value.type, value)
    if not assigned and isinstance(value, Term) and isinstance(kind, t.Scalar) and kind.type.kind == "int":
        pointer = terms.pointer_at(value.expr)
        if not isinstance(pointer, PtrUnknown):  # a shared address as a number stays recognisable as the pointer
            held = x.hold(variable.span, variable.name, pointer)
            number = terms.cast(held, kind.type)
            return FixedPlace(value.type, Term(value.type, number))
    place = declare_result(x, kind, variable.name)
    note_declared(x, place, variable)
    write(x, place, value, variable.span)
    if not assigned:
        settle(x, place)
    return place


def note_declared(x: Context, place: Place, variable: s.Variable) -> None:
    """Remember which declaration the variables of a place come from."""
    match place:
        case VariablePlace(name=name):
            x.declared[name] = id(variable)
        case StructPlace(fields=fields):
            for field in fields:
                note_declared(x, field, variable)
        case _:
            pass


def _is_known(value: Value) -> bool:
    """A value that needs no variable: a constant, or a pointer that came from a constant place."""
    match value:
        case Term(expr=expr):
            return isinstance(expr, Const)
        case Aggregate(fields=fields):
            return all(_is_known(f) for f in fields)
        case _:
            return False


def _is_short(pointer: Expr) -> bool:
    """A pointer that needs no name of its own: an object, or a known distance from its start."""
    while isinstance(pointer, PtrAdd) and terms.value_of(pointer.offset) is not None:
        pointer = pointer.ptr
    return isinstance(pointer, PtrBase)


def settle(x: Context, place: Place) -> None:
    """Remember that the variables of a place are not assigned again."""
    match place:
        case VariablePlace(name=name):
            x.settled.add(name)
        case StructPlace(fields=fields):
            for field in fields:
                settle(x, field)
        case _:
            pass


def _default_constructed(x: Context, kind: t.Struct, variable: s.Variable) -> Operand | None:
    from gpusafe.parse.cuda.classes import construct, methods
    from gpusafe.parse.cuda.resolve import class_of

    instance = class_of(x, kind)
    if instance is None:
        return None
    found = [f for f, _ in methods(x, kind, instance.record.name) if f.body is not None and not f.params]
    if not found:
        return None
    value = read(x, construct(x, kind, (), variable.span, variable.name), variable.span, variable.name)
    place = declare_result(x, kind, variable.name)
    write(x, place, value, variable.span)
    return place


def _uninitialized(x: Context, variable: s.Variable, kind: t.CType) -> Operand:
    if isinstance(kind, (t.Handle, t.Unknown, t.Auto)):
        value: Value = HandleValue(kind) if isinstance(kind, t.Handle) else UnknownValue(kind, f"`{variable.name}`")
        return FixedPlace(kind, value)
    place = declare_result(x, kind, variable.name)
    note_declared(x, place, variable)
    _havoc(x, place, variable.span, f"`{variable.name}` has no initial value")
    return place


def _havoc(x: Context, place: Place, span: Span, reason: str) -> None:
    match place:
        case VariablePlace(name=name, type=kind):
            x.emit(k.Havoc(span, name, ir_type(kind), reason))
        case StructPlace(fields=fields):
            for field in fields:
                _havoc(x, field, span, reason)
        case _:
            pass


def _struct_in_memory(x: Context, variable: s.Variable, kind: t.CType, value: Value | None) -> None:
    """A struct with arrays in it, a union, a variable whose address is kept: bytes of the thread's own."""
    place = make_region(x, variable.name, k.Space.LOCAL, kind, variable.span, initialized=value is not None)
    x.bind(variable.name, place)
    if value is not None:
        write(x, place, value, variable.span)


def _array(x: Context, variable: s.Variable, kind: t.Array) -> None:
    init = variable.init
    if kind.length is None and isinstance(init, s.Braces):
        kind = t.Array(kind.of, len(init.items), const=kind.const, volatile=kind.volatile)
    if kind.length is None and isinstance(init, s.Text):
        kind = t.Array(kind.of, len(init.value) + 1)
    if kind.length is None and isinstance(variable.type, s.TypeArray) and variable.type.length is not None:
        raise Unsupported(f"the length of the array `{variable.name}`")
    place = make_region(x, variable.name, k.Space.LOCAL, kind, variable.span, initialized=init is not None)
    x.bind(variable.name, place)
    if isinstance(init, s.Braces):
        _fill(x, place, kind, init, variable)


def _fill(x: Context, place: MemoryPlace, kind: t.Array, init: s.Braces, variable: s.Variable) -> None:
    """``T a[n] = {..}``: the listed elements, and zeros after them."""
    size = t.size_of(kind.of)
    if size is None or kind.length is None:
        raise Unsupported(f"the initialiser of `{variable.name}`")
    for index, item in enumerate(init.items):
        spot = MemoryPlace(kind.of, at(place.pointer, index * size))
        if isinstance(kind.of, t.Array):
            if isinstance(item, s.Braces):
                _fill(x, spot, kind.of, item, variable)
            continue
        store(x, kind.of, spot.pointer, convert(x, value_of(x, item), kind.of, item.span), item.span)
    rest = kind.length - len(init.items)
    inner, per = element_type(kind.of)
    if rest <= 0 or per is None:
        return
    start, count = len(init.items) * per, rest * per
    if count <= _SPELLED_OUT:
        for index in range(start, start + count):
            pointer = at(place.pointer, index * (t.size_of(inner) or 1))
            store(x, inner, pointer, zero(inner), variable.span)
    else:
        _zero_loop(x, place, inner, start, start + count, variable.span)


def _zero_loop(x: Context, place: MemoryPlace, inner: t.CType, start: int, end: int, span: Span) -> None:
    index = x.emitter.variable("index", U64)
    label = x.emitter.fresh("zeros")
    x.assign(span, index.name, Const(U64, start))
    with x.emitter.collect() as body:
        done = terms.binary(Op.GE, index, Const(U64, end))
        x.emit(k.If(span, done, (k.Break(span, label),)))
        base = Term(t.Pointer(inner), place.pointer)
        spot = element(x, base, index, span, "zeros")
        write(x, spot, zero(inner), span)
        x.assign(span, index.name, terms.binary(Op.ADD, index, Const(U64, 1)))
    x.emit(k.Loop(span, label, tuple(body)))


def _reference(x: Context, variable: s.Variable, kind: t.Reference) -> None:
    if variable.init is None:
        raise Unsupported(f"the reference `{variable.name}`")
    found = x.evaluate(variable.init)
    if isinstance(found, Place):
        same = isinstance(kind.to, t.Auto) or t.same(kind.to, found.type)
        if same or isinstance(found.type, t.Struct):
            x.bind(variable.name, pinned(x, found, variable.span, variable.name))
            return
    value = read(x, found, variable.span, variable.name)
    made = value if isinstance(kind.to, t.Auto) else convert(x, value, kind.to, variable.span)
    if isinstance(made, Term):
        made = Term(made.type, x.hold(variable.span, variable.name, made.expr))
    x.bind(variable.name, FixedPlace(made.type, made))


def pinned(x: Context, place: Place, span: Span, name: str) -> Place:
    """The place as it is now, even when the variables in its address change later."""
    if isinstance(place, MemoryPlace) and not x.is_settled(place.pointer):
        held = x.hold(span, f"&{name}", place.pointer)
        return MemoryPlace(place.type, held)
    return place


def _structured(x: Context, variable: s.Variable) -> None:
    """``auto [a, b] = value``."""
    if variable.init is None:
        raise Unsupported("a structured binding")
    found = x.evaluate(variable.init)
    value = read(x, found, variable.span, variable.name)
    if not isinstance(value, Aggregate) or len(value.fields) != len(variable.bindings):
        raise Unsupported("a structured binding")
    for name, part in zip(variable.bindings, value.fields, strict=True):
        if isinstance(part, Term):
            place = declare_result(x, part.type, name)
            write(x, place, part, variable.span)
            x.bind(name, place)
        else:
            x.bind(name, FixedPlace(part.type, part))


def unknown_variable(x: Context, variable: s.Variable, reason: str) -> None:
    """A declaration that is not modelled: its name is known, its value is not."""
    try:
        kind = resolve(x, variable.type)
    except Unsupported:
        kind = t.Auto()
    match kind:
        case t.Scalar(type=type_):
            var = x.emitter.variable(variable.name, type_)
            x.emit(k.Havoc(variable.span, var.name, type_, reason))
            x.bind(variable.name, VariablePlace(t.plain(kind), var.name))
        case t.Pointer():
            name = x.emitter.fresh(variable.name)
            x.assign(variable.span, name, PtrUnknown(ir_type(kind), reason))
            x.bind(variable.name, VariablePlace(t.plain(kind), name))
        case _:
            x.bind(variable.name, FixedPlace(kind, UnknownValue(kind, reason)))
