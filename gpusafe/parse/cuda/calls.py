"""Calls: of lambdas, methods, built-in functions, device functions of the unit."""

from __future__ import annotations

from gpusafe.ir.expr import PTR
from gpusafe.parse.cuda import classes, terms
from gpusafe.parse.cuda import syntax as s
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.builtin import find_builtin, find_method
from gpusafe.parse.cuda.builtin.refs import atomic_object, refer
from gpusafe.parse.cuda.builtin.site import CallSite
from gpusafe.parse.cuda.context import Context, Pack, Scope, Unsupported
from gpusafe.parse.cuda.inlining import call_closure, invoke
from gpusafe.parse.cuda.names import find_bound
from gpusafe.parse.cuda.operands import value_of
from gpusafe.parse.cuda.overloads import choose
from gpusafe.parse.cuda.places import dereference, read
from gpusafe.parse.cuda.program import pick_scoped
from gpusafe.parse.cuda.render import render
from gpusafe.parse.cuda.resolve import class_of, named_type, template_args
from gpusafe.parse.cuda.traits import numeric_limit
from gpusafe.parse.cuda.values import (
    AddressOf,
    Aggregate,
    Closure,
    FixedPlace,
    FunctionName,
    HandleValue,
    MemoryPlace,
    NoValue,
    Operand,
    Place,
    Term,
    TextValue,
    UnknownValue,
    Value,
)


def call(x: Context, expr: s.Call) -> Operand:
    """The value of a call."""
    match expr.func:
        case s.Member() as func:
            return _method(x, expr, func)
        case s.Name() as name:
            return _named(x, expr, name)
        case _:
            target = x.evaluate(expr.func)
            return _call_value(x, expr, target)


def arguments(x: Context, exprs: tuple[s.Expr, ...]) -> tuple[Operand, ...]:
    """The arguments in order, packs expanded."""
    out: list[Operand] = []
    for expr in exprs:
        if isinstance(expr, s.PackExpansion):
            out.extend(_expanded(x, expr))
        else:
            out.append(x.evaluate(expr))
    return tuple(out)


def _expanded(x: Context, expr: s.PackExpansion) -> list[Operand]:
    if isinstance(expr.pattern, s.Name):
        bound = x.scope.find(expr.pattern.name)
        if isinstance(bound, Pack):
            return [i for i in bound.items if isinstance(i, (Value, Place))]
    raise Unsupported("an expansion of a parameter pack")


def _call_value(x: Context, expr: s.Call, target: Operand) -> Operand:
    """Call a lambda, a functor, or a function by name."""
    if isinstance(target, FixedPlace):
        target = target.value
    match target:
        case Closure():
            return call_closure(x, target, arguments(x, expr.args), expr.span)
        case FunctionName(name=name, args=args):
            return _function(x, expr, name, args or ())
        case _ if isinstance(target.type, t.Struct):
            found = classes.call_method(x, target, "operator()", arguments(x, expr.args), expr.span)
            if found is not None:
                return found
    raise Unsupported(f"the call of `{render(expr.func)}`")


def _method(x: Context, expr: s.Call, func: s.Member) -> Operand:
    base = x.evaluate(func.base)
    if func.arrow:
        base = dereference(x, read(x, base, func.base.span, render(func.base)), func.base.span, render(func.base))
    explicit = tuple(template_args(x, func.args or ()))
    held = base.value if isinstance(base, FixedPlace) else base
    if isinstance(held, MemoryPlace) and isinstance(held.type, t.Handle):
        held = atomic_object(held)
    if isinstance(held, HandleValue):
        method = find_method(held.type.kind, func.name)
        if method is not None:
            return method(x, CallSite(expr.span, func.name, expr.args, explicit), held)
        return unknown_call(x, expr, f"`{render(func)}`")
    field = base.type.find(func.name) if isinstance(base.type, t.Struct) else None
    if field is not None:
        return _call_value(x, expr, classes.field_place(x, base, func.name))
    found = classes.call_method(x, base, func.name, arguments(x, expr.args), expr.span, explicit)
    if found is not None:
        return found
    return unknown_call(x, expr, f"`{render(func)}`")


def _named(x: Context, expr: s.Call, name: s.Name) -> Operand:
    qualifier, _, last = name.name.rpartition("::")
    if not qualifier:
        bound = find_bound(x, last)
        if isinstance(bound, (Value, Place)):
            return _call_value(x, expr, bound)
        if isinstance(bound, t.CType):
            return _construct(x, expr, bound)
        this = classes.this_place(x)
        own = class_of(x, this.type) if this is not None else None
        constructs = own is not None and last == own.record.name
        if this is not None and not constructs and classes.methods(x, this.type, last):
            explicit = tuple(template_args(x, name.args or ()))
            found = classes.call_method(x, this, last, arguments(x, expr.args), expr.span, explicit)
            if found is not None:
                return found
    else:
        static = _static(x, expr, qualifier, last, name)
        if static is not None:
            return static
    explicit = tuple(template_args(x, name.args or ()))
    return _function(x, expr, name.name, explicit)


def _static(x: Context, expr: s.Call, qualifier: str, last: str, name: s.Name) -> Operand | None:
    if qualifier.rpartition("::")[2] == "numeric_limits":
        return numeric_limit(x, last, name.scope_args)
    instance = class_of(x, named_type(x, qualifier, name.scope_args))
    if instance is None:
        return None
    explicit = tuple(template_args(x, name.args or ()))
    return classes.call_static(x, instance, last, arguments(x, expr.args), expr.span, explicit)


def _function(x: Context, expr: s.Call, name: str, explicit: tuple[object, ...]) -> Operand:
    """A function of the unit, a built-in one, or a type used as one."""
    full = x.program.expand(name)
    qualifier, _, last = full.rpartition("::")
    own = pick_scoped(
        [f for f in x.program.functions.get(last, []) if "::" not in f.name], qualifier, x.scope.namespace
    )
    builtin = find_builtin(full)
    site = CallSite(expr.span, full, expr.args, explicit)
    if not own:
        if builtin is not None:
            return builtin(x, site)
        kind = named_type(x, name, None) if not explicit else _type_with(x, expr, name)
        if not isinstance(kind, t.Unknown):
            return _construct(x, expr, kind)
        return unknown_call(x, expr, f"`{name}`, which is not in this file")
    args = arguments(x, expr.args)
    picked = choose(x, own, args, explicit, lambda f: Scope(None, {}, f.scope))
    if picked is not None and (picked.function.body is not None or builtin is None):
        return invoke(x, picked.function, picked.scope, args, expr.span)
    if builtin is not None:
        return builtin(x, CallSite(expr.span, full, expr.args, explicit, args))
    x.unmodelled(expr.span, f"the call of `{name}`: no overload fits")
    return UnknownValue(t.Auto(), f"the result of `{name}`")


def _type_with(x: Context, expr: s.Call, name: str) -> t.CType:
    func = expr.func
    return named_type(x, name, func.args) if isinstance(func, s.Name) else t.Unknown(name)


def _construct(x: Context, expr: s.Call, kind: t.CType) -> Operand:
    if isinstance(kind, t.Handle):
        return refer(kind, arguments(x, expr.args))
    args = tuple(value_of(x, a) for a in expr.args)
    return classes.construct(x, kind, args, expr.span, render(expr))


def unknown_call(x: Context, expr: s.Call, what: str) -> Operand:
    """A call of which nothing is known: it may do anything with the pointers that it is given."""
    args = tuple(read(x, a, expr.span, "argument") for a in arguments(x, expr.args))
    x.unmodelled(expr.span, f"the call of {what}", accesses=any(_has_pointer(a) for a in args), syncs=True)
    for arg in args:
        if isinstance(arg, AddressOf):
            from gpusafe.parse.cuda.places import write

            write(x, arg.place, UnknownValue(arg.place.type, f"what {what} leaves"), expr.span)
    return UnknownValue(t.Auto(), f"the result of {what}")


def _has_pointer(value: Value) -> bool:
    match value:
        case Term(expr=expr):
            return expr.type == PTR or any(o.type == PTR for o in terms.walk(expr))
        case Aggregate(fields=fields):
            return any(_has_pointer(f) for f in fields)
        case NoValue() | TextValue():
            return False
        case _:
            return True
