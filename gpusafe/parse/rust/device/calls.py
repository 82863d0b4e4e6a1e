"""Calls: functions of the program and the prelude are inlined, closures too; the rest goes to the API models."""

from __future__ import annotations

from gpusafe.ir.expr import Expr, Opaque
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.device import drops, patterns
from gpusafe.parse.rust.device.bodies import Body, Join, Nest
from gpusafe.parse.rust.device.builtins import assoc_call
from gpusafe.parse.rust.device.coercing import coerce
from gpusafe.parse.rust.device.control import block_value
from gpusafe.parse.rust.device.foreign import foreign_call
from gpusafe.parse.rust.device.frames import Frame, Scope, TypeEnv
from gpusafe.parse.rust.device.layout import struct_fields, variant_fields
from gpusafe.parse.rust.device.lowering import MAX_DEPTH, Lowering
from gpusafe.parse.rust.device.merging import meet
from gpusafe.parse.rust.device.operators import operands
from gpusafe.parse.rust.device.paths import path_place
from gpusafe.parse.rust.device.places import read
from gpusafe.parse.rust.device.program import FnDef
from gpusafe.parse.rust.device.selecting import bind_type, find_method, refined
from gpusafe.parse.rust.device.tags import tag_const
from gpusafe.parse.rust.device.types import UNIT, PtrTy, Ty, VarTy
from gpusafe.parse.rust.device.values import (
    NEVER,
    Agg,
    ClosureVal,
    CtorVal,
    Diverges,
    EnumVal,
    FnVal,
    ForeignFn,
    LocalRef,
    Scalar,
    TypeFn,
    Value,
)
from gpusafe.parse.rust.device.written import generic_args, lower_type
from gpusafe.span import Span

_MAX_SAME = 3  # copies of one function inside each other


def call_expr(lw: Lowering, node: ast.Call, want: Ty | None) -> Value:
    """``func(args)``."""
    if isinstance(node.func, ast.PathExpr):
        place = path_place(lw, node.func, None)
        callee = read(lw, place, node.func.span)
    else:
        callee = lw.expr(node.func)
    if isinstance(callee, Diverges):
        return callee
    args = operands(lw, node.args, _wanted(lw, callee, want))
    if any(isinstance(a, Diverges) for a in args) or lw.dead:
        return NEVER
    return call_value(lw, callee, args, node.span, want)


def _wanted(lw: Lowering, callee: Value, want: Ty | None) -> tuple[Ty | None, ...]:
    """The types of the arguments, where they are plain to see: they guide literals."""
    match callee:
        case FnVal(fn=FnDef(item=item)) if not item.generics and callee.fn.impl is None:
            env = TypeEnv(callee.fn.module, callee.env.generics, callee.env.self_ty)
            return tuple(lower_type(lw, p.type, env) if p.type is not None else None for p in item.params)
        case CtorVal(ty=ty, variant=None):
            return tuple(t for _, t in struct_fields(lw, ty))
        case CtorVal(ty=ty, variant=variant) if variant is not None:
            if want is not None:
                lw.infer.unify(ty, want)
            return tuple(t for _, t in variant_fields(lw, ty, variant.index))
        case _:
            return ()


def call_value(lw: Lowering, callee: Value, args: list[Value], span: Span, want: Ty | None) -> Value:
    """Call a value."""
    match callee:
        case FnVal(fn=fn, env=env, given=given, given_env=given_env):
            return call_fn(lw, fn, env, given, given_env or lw.env, args, span, want)
        case CtorVal():
            return construct(lw, callee, args, span, want)
        case ClosureVal():
            return call_closure(lw, callee, args, span, want)
        case ForeignFn(path=path, given=given):
            return foreign_call(lw, path, given, args, span, want)
        case TypeFn():
            return _type_fn(lw, callee, args, span, want)
        case LocalRef() | Scalar() if isinstance(lw.infer.shallow(callee.ty), PtrTy) and isinstance(callee, LocalRef):
            return call_value(lw, read(lw, callee.place, span), args, span, want)
        case _:
            return lw.unmodelled("a call of a function that is not known", span)


def _type_fn(lw: Lowering, callee: TypeFn, args: list[Value], span: Span, want: Ty | None) -> Value:
    """A function of a trait, found by the type of its first argument, or one of a built-in type."""
    if callee.trait is not None and args:
        target = args[0].ty
        for _ in range(3):
            found = find_method(lw, target, callee.name)
            if found is not None:
                return call_fn(lw, found[0], found[1], callee.given, lw.env, args, span, want)
            shallow = lw.infer.shallow(target)
            if not isinstance(shallow, PtrTy):
                break
            target = shallow.inner
    return assoc_call(lw, callee.of, callee.name, callee.given, args, span, want)


def construct(lw: Lowering, ctor: CtorVal, args: list[Value], span: Span, want: Ty | None) -> Value:
    """A tuple struct or variant with its fields."""
    if want is not None:
        lw.infer.unify(ctor.ty, want)
    if ctor.variant is None:
        fields = struct_fields(lw, ctor.ty)
        ty = refined(lw, ctor.ty, [(t, a.ty) for (_, t), a in zip(fields, args, strict=False)])
        made = [(n, coerce(lw, a, t, span)) for (n, t), a in zip(struct_fields(lw, ty), args, strict=False)]
        return Agg(ty, tuple(made))
    index = ctor.variant.index
    types = [t for _, t in variant_fields(lw, ctor.ty, index)]
    items = tuple(coerce(lw, a, t, span) for t, a in zip(types, args, strict=False))
    return EnumVal(ctor.ty, tag_const(ctor.ty, index), ((index, items),))


def call_fn(
    lw: Lowering,
    fn: FnDef,
    env: TypeEnv,
    given: tuple[ast.Type | ast.Expr, ...],
    given_env: TypeEnv,
    args: list[Value],
    span: Span,
    want: Ty | None,
) -> Value:
    """Inline a call; ``env`` binds the generic parameters of the function's impl or trait."""
    item = fn.item
    if item.body is None:
        path = (*fn.module.path, fn.name)
        return foreign_call(lw, path if fn.module.family is None else (fn.name,), given, args, span, want)
    if fn.name in fn.module.ambiguous and fn.impl is None and fn.trait is None:
        lw.unmodelled(f"which `{fn.name}` conditional compilation picks", span)
    same = sum(1 for f in lw.active if f.item is item)
    if lw.frame.depth >= MAX_DEPTH or same >= _MAX_SAME:
        return lw.unmodelled(f"the recursive call of `{fn.name}`", span)
    inner = TypeEnv(fn.module, env.generics, env.self_ty)
    bound = generic_args(lw, item.generics, given, given_env, inner)
    inner = TypeEnv(fn.module, {**env.generics, **bound}, env.self_ty)
    inner = _bind_params(lw, item, inner, args)
    result = lower_type(lw, item.result, inner) if item.result is not None else UNIT
    if want is not None and not isinstance(lw.infer.shallow(want), PtrTy):
        lw.infer.unify(result, want)
    lw.active.append(fn)
    try:
        return _inline(lw, fn, inner, args, result, span)
    finally:
        lw.active.pop()


def _bind_params(lw: Lowering, item: ast.Fn, env: TypeEnv, args: list[Value]) -> TypeEnv:
    """Generic parameters that follow from the arguments."""
    generics: dict[str, Ty | Expr] = dict(env.generics)
    names = {g.name for g in item.generics if g.kind != "lifetime"} | {
        n for n, g in env.generics.items() if isinstance(g, Opaque | VarTy)
    }
    if not names:
        return env
    for param, arg in zip(item.params, args, strict=False):
        if param.type is not None:
            pattern = lower_type(lw, param.type, TypeEnv(env.module, generics, env.self_ty))
            bind_type(lw, pattern, arg.ty, generics, names)
    return TypeEnv(env.module, generics, env.self_ty)


def _inline(lw: Lowering, fn: FnDef, env: TypeEnv, args: list[Value], result: Ty, span: Span) -> Value:
    outer_frame, outer_scope, outer_hint = lw.frame, lw.scope, lw.hint
    site = outer_frame.site
    if site is None and fn.module.family is not None:
        site = span
    site = site or fn.module.site
    join = Join(hint=outer_hint)
    frame = Frame(
        fn.name,
        env,
        fn,
        join,
        result,
        lw.label(fn.name),
        depth=outer_frame.depth + 1,
        parent=outer_frame,
        site=site,
    )
    with lw.body() as body:
        lw.frame, lw.scope, lw.hint = frame, Scope(None, fn.module), None
        try:
            for param, arg in zip(fn.item.params, args, strict=False):
                ty = lower_type(lw, param.type, env) if param.type is not None else None
                patterns.let(lw, param.pat, coerce(lw, arg, ty, span), param.span)
            assert fn.item.body is not None
            value = coerce(lw, block_value(lw, fn.item.body, result), result, span)
            drops.drop_scope(lw, lw.scope, span)
            lw.arrive(join, value)
            dead = lw.dead
        finally:
            lw.frame, lw.scope, lw.hint = outer_frame, outer_scope, outer_hint
    return _after(lw, frame, join, body, dead, span)


def _after(lw: Lowering, frame: Frame, join: Join, body: Body, dead: bool, span: Span) -> Value:
    if frame.returned:
        lw.emit(Nest("block", lw.at(span), body, label=frame.label))
    else:
        lw.out.extend(body)
    value = meet(lw, join, span)
    if dead and not join.entries:
        lw.dead = True
        return NEVER
    return value


def call_closure(lw: Lowering, closure: ClosureVal, args: list[Value], span: Span, want: Ty | None) -> Value:
    """Inline a closure in the scope that it captures."""
    if lw.frame.depth >= MAX_DEPTH:
        return lw.unmodelled("a closure that calls itself", span)
    node = closure.closure
    outer_frame, outer_scope, outer_hint = lw.frame, lw.scope, lw.hint
    join = Join(hint=outer_hint)
    captured = closure.frame
    frame = Frame(
        "closure",
        captured.env,
        captured.fn,
        join,
        want,
        lw.label("closure"),
        depth=outer_frame.depth + 1,
        parent=outer_frame,
        site=captured.site,
    )
    with lw.body() as body:
        lw.frame, lw.scope, lw.hint = frame, Scope(closure.scope, closure.scope.module), None
        try:
            for param, arg in zip(node.params, args, strict=False):
                ty = lw.type(param.type) if param.type is not None else None
                patterns.let(lw, param.pat, coerce(lw, arg, ty, span), param.span)
            lw.arrive(join, lw.expr(node.body, want))
            dead = lw.dead
        finally:
            lw.frame, lw.scope, lw.hint = outer_frame, outer_scope, outer_hint
    return _after(lw, frame, join, body, dead, span)
