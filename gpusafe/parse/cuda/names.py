"""What a name means: locals, members, built-in variables, globals, constants, functions."""

from __future__ import annotations

from gpusafe.ir.expr import U32, Const, Opaque, Special
from gpusafe.parse.cuda import syntax as s
from gpusafe.parse.cuda import terms
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.context import Binding, ClassInstance, Context, Pack, Scope, Unsupported
from gpusafe.parse.cuda.convert import convert, from_list
from gpusafe.parse.cuda.operands import value_of
from gpusafe.parse.cuda.program import pick_scoped
from gpusafe.parse.cuda.regions import global_variable
from gpusafe.parse.cuda.resolve import bind_template, class_of, constant, named_type, resolve, template_args
from gpusafe.parse.cuda.traits import type_trait
from gpusafe.parse.cuda.values import (
    Aggregate,
    FixedPlace,
    FunctionName,
    HandleValue,
    ListValue,
    Operand,
    Place,
    Term,
    Value,
)

_INDEX_VARIABLES = {"threadIdx": "tid", "blockIdx": "ctaid", "blockDim": "ntid", "gridDim": "nctaid"}


def look_up(x: Context, name: s.Name) -> Operand:
    """The value or place of a name; raises Unsupported when it is not known."""
    qualifier, _, last = name.name.rpartition("::")
    if not qualifier:
        bound = find_bound(x, last)
        if bound is not None:
            return _operand(bound, last)
        if last in _INDEX_VARIABLES:
            return index_variable(_INDEX_VARIABLES[last])
        if last == "warpSize":
            return Term(t.INT, terms.integer(32, t.INT.type))
        if last.startswith("CUDART_") and last not in x.program.globals:  # math_constants.h: numbers, never indices
            real = t.FLOAT if last.endswith("_F") else t.DOUBLE
            return Term(real, Opaque(real.type, last, ()))
    else:
        found = _scoped(x, qualifier, last, name)
        if found is not None:
            return found
    known = _of_program(x, qualifier, last, name)
    if known is not None:
        return known
    trait = type_trait(x, name.name, name.args if name.args is not None else name.scope_args)
    if trait is not None:
        return trait
    if last in x.program.functions:
        return FunctionName(t.Auto(), name.name, tuple(template_args(x, name.args)) if name.args is not None else None)
    raise Unsupported(f"`{name.name}`, which is not declared here")


def _operand(bound: Binding, name: str) -> Operand:
    if isinstance(bound, (Value, Place)):
        return bound
    if isinstance(bound, Pack) and len(bound.items) == 1 and isinstance(bound.items[0], (Value, Place)):
        return bound.items[0]
    raise Unsupported(f"`{name}` as a value")


def find_bound(x: Context, name: str) -> Binding | None:
    """The binding of an unqualified name in the scopes around, members of the class included."""
    for scope in x.scope.chain():
        if name in scope.names:
            return scope.names[name]
        if scope.instance is not None:
            member = member_name(x, scope.instance, name, scope.this)
            if member is not None:
                return member
    return None


def member_name(x: Context, instance: ClassInstance, name: str, this: Place | None) -> Operand | None:
    """A field of ``this``, a static constant or an enumerator of a class."""
    from gpusafe.parse.cuda.classes import field_place

    if this is not None and instance.type.find(name) is not None:
        return field_place(x, this, name)
    for item in instance.record.items:
        if isinstance(item, s.Globals):
            for variable in item.variables:
                if variable.name == name:
                    return _constant_variable(x, variable, instance.scope, (instance.type.key, name))
        if isinstance(item, s.Enumeration):
            value = _enumerator(x, item, name, instance.scope)
            if value is not None:
                return value
    return None


def index_variable(register: str) -> Operand:
    """``threadIdx`` and kin."""
    kind = t.builtin_type("uint3")
    assert isinstance(kind, t.Struct)
    parts = tuple(Term(t.UINT, Special(U32, f"{register}.{axis}")) for axis in "xyz")
    return FixedPlace(kind, Aggregate(kind, parts))


def _scoped(x: Context, qualifier: str, last: str, name: s.Name) -> Operand | None:
    """``Class<T>::member``."""
    kind = named_type(x, qualifier, name.scope_args)
    instance = class_of(x, kind)
    if instance is not None:
        found = member_name(x, instance, last, None)
        if found is not None:
            return found
        if any(isinstance(i, s.Function) and i.name == last for i in instance.record.items):
            args = tuple(template_args(x, name.args)) if name.args is not None else None
            return FunctionName(kind, last, args)
    return None


def _of_program(x: Context, qualifier: str, last: str, name: s.Name) -> Operand | None:
    variables = x.program.globals.get(last, [])
    items = pick_scoped([item for _, item in variables], qualifier, x.scope.namespace)
    if items:
        item = items[0]
        variable = next(v for v, owner in variables if owner is item)
        if item.template:
            scope = Scope(None, {}, item.scope)
            args = tuple(template_args(x, name.args or ()))
            bind_template(x, scope, item.template, args)
            return _constant_variable(x, variable, scope, (id(variable), repr(args)))
        return _global(x, variable, Scope(None, {}, item.scope))
    if last in x.program.enumerators:
        enumeration, _ = x.program.enumerators[last]
        return _enumerator(x, enumeration, last, Scope(None, {}, enumeration.scope))
    return None


def _global(x: Context, variable: s.Variable, scope: Scope) -> Operand:
    memory = {"__device__", "__constant__", "__managed__", "__shared__"} & variable.flags
    if not memory or ("__shared__" not in memory and {"constexpr"} & variable.flags):
        return _constant_variable(x, variable, scope, id(variable))
    with x.inside(scope):
        return global_variable(x, variable)


def _constant_variable(x: Context, variable: s.Variable, scope: Scope, key: object) -> Operand:
    """A constant that is known when compiling (memory that is only read where it is not)."""
    if key in x.constants:
        known = x.constants[key]
        if known is None:
            raise Unsupported(f"`{variable.name}`, which is defined by itself")
        return known
    x.constants[key] = None
    try:
        with x.inside(scope):
            made = _made(x, variable)
    except Unsupported:
        del x.constants[key]
        raise
    x.constants[key] = made
    return made


def _made(x: Context, variable: s.Variable) -> Operand:
    kind = resolve(x, variable.type)
    if isinstance(kind, t.Handle) and kind.kind in ("texture", "surface"):
        return HandleValue(kind, {"name": variable.name})
    if isinstance(kind, t.Array):
        return global_variable(x, variable)
    return _constant_value(x, variable, kind)


def _constant_value(x: Context, variable: s.Variable, kind: t.CType) -> Operand:
    if variable.init is None or not {"const", "constexpr", "static"} & variable.flags:
        raise Unsupported(f"`{variable.name}`, a variable of the host")
    with x.without_statements() as emitted:
        value = value_of(x, variable.init)
        made = convert(x, value, kind, variable.span)
        if isinstance(value, ListValue):
            made = from_list(x, value.items, kind, variable.span)
    if emitted and not _is_constant(made):
        raise Unsupported(f"the value of `{variable.name}`")
    return FixedPlace(made.type, made)


def _is_constant(value: Value) -> bool:
    match value:
        case Term(expr=Const()):
            return True
        case Aggregate(fields=fields):
            return all(_is_constant(f) for f in fields)
        case _:
            return False


def _enumerator(x: Context, item: s.Enumeration, name: str, scope: Scope) -> Operand | None:
    """The value of an enumerator: given, or one more than the one before it."""
    names = [n for n, _ in item.members]
    if name not in names:
        return None
    index = names.index(name)
    kind = resolve(x, item.base) if item.base is not None else t.INT
    distance = 0
    while index - distance >= 0:
        given = item.members[index - distance][1]
        if given is not None:
            with x.inside(scope):
                base = constant(x, given)
            if base is None:
                raise Unsupported(f"`{name}`, an enumerator whose value is not known")
            break
        distance += 1
    else:
        base, distance = 0, index
    type_ = kind.type if isinstance(kind, t.Scalar) else t.INT.type
    return Term(kind, terms.integer(base + distance, type_))
