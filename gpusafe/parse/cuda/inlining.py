"""Inlining calls of device functions and lambdas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import Const, Expr
from gpusafe.parse.cuda import syntax as s
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.context import MAX_INLINE, Context, Frame, Pack, Scope, Unsupported
from gpusafe.parse.cuda.convert import convert
from gpusafe.parse.cuda.declarations import pinned
from gpusafe.parse.cuda.operands import declare_result, value_of
from gpusafe.parse.cuda.places import read, write
from gpusafe.parse.cuda.resolve import resolve
from gpusafe.parse.cuda.values import (
    AddressOf,
    Aggregate,
    Closure,
    FixedPlace,
    NoValue,
    Operand,
    Place,
    Term,
    UnknownValue,
    Value,
    VariablePlace,
)
from gpusafe.span import Span


def invoke(x: Context, function: s.Function, scope: Scope, args: Sequence[Operand], span: Span) -> Operand:
    """Inline a call: ``scope`` has the template parameters (and ``this``); ``args`` are evaluated already."""
    if function.body is None or function.problem is not None:
        why = function.problem or "its body is not in this file"
        return _not_inlined(x, function, scope, args, span, f"the call of `{function.name}`: {why}")
    instance = (id(function.body), _instance_key(scope))
    key = (instance, _constants(args))
    if len(x.frames) > MAX_INLINE or sum(f.key == key for f in x.frames) > 0:
        return _not_inlined(x, function, scope, args, span, f"the recursive call of `{function.name}`")
    assigned = x.program.assigned_in(function.body)
    with x.inside(scope):
        result_type = resolve(x, function.result) if function.result is not None else t.VOID
    frame = Frame(function.name, instance, key, None, result_type, assigned=assigned, calls=_calls(x, span))
    inner = scope.inner()
    inner.namespace = function.scope
    x.frames.append(frame)
    loops, x.loops = x.loops, []
    try:
        with x.inside(inner):
            _bind_params(x, function.params, args, assigned, span)
            _initialize(x, function)
            return _body(x, function.body, frame, function.name)
    finally:
        x.frames.pop()
        x.loops = loops


def _instance_key(scope: Scope) -> str:
    """Tells instances of one template apart: the bound parameters, and the class."""
    bound = [(name, b) for name, b in scope.names.items() if not isinstance(b, Place)]
    fixed = [(name, b.value) for name, b in scope.names.items() if isinstance(b, FixedPlace)]
    classes = [s.instance.type.key for s in scope.chain() if s.instance is not None]
    return repr((bound, [(name, v.expr if isinstance(v, Term) else id(v)) for name, v in fixed], classes))


def _calls(x: Context, span: Span) -> tuple[Span, ...]:
    return (*(x.frames[-1].calls if x.frames else ()), span)


def _constants(args: Sequence[Operand]) -> tuple[Expr, ...]:
    """The arguments if all are constants: a call of a function by itself with other constants may end."""
    values = [a.value if isinstance(a, FixedPlace) else a for a in args]
    known = tuple(v.expr for v in values if isinstance(v, Term) and isinstance(v.expr, Const))
    return known if len(known) == len(values) else ()


def call_closure(x: Context, closure: Closure, args: Sequence[Operand], span: Span) -> Operand:
    """Inline a call of a lambda."""
    around = closure.scope
    assert isinstance(around, Scope)
    code = closure.code
    key = (id(code), "lambda")
    if len(x.frames) > MAX_INLINE or sum(f.key == key for f in x.frames) > 1:
        raise Unsupported("a lambda that calls itself")
    assigned = x.program.assigned_in(code.body)
    frame = Frame("the lambda", key, key, None, t.Auto(), assigned=assigned, calls=_calls(x, span))
    x.frames.append(frame)
    loops, x.loops = x.loops, []
    try:
        with x.inside(around.inner()):
            _bind_params(x, code.params, args, assigned, span)
            return _body(x, code.body, frame, "lambda")
    finally:
        x.frames.pop()
        x.loops = loops


def _not_inlined(
    x: Context, function: s.Function, scope: Scope, args: Sequence[Operand], span: Span, what: str
) -> Operand:
    x.unmodelled(span, what)
    with x.inside(scope):
        kind = resolve(x, function.result) if function.result is not None else t.VOID
    return NoValue(kind) if isinstance(kind, t.Void) else UnknownValue(kind, what)


def _bind_params(
    x: Context, params: Sequence[s.Parameter], args: Sequence[Operand], assigned: frozenset[str], span: Span
) -> None:
    for index, param in enumerate(params):
        if param.pack:
            x.bind(param.name, Pack(tuple(_bound(x, param, a, assigned, span) for a in args[index:])))
            return
        if index < len(args):
            x.bind(param.name, _bound(x, param, args[index], assigned, span))
        elif param.default is not None:
            x.bind(param.name, _bound(x, param, x.evaluate(param.default), assigned, span))


def _bound(x: Context, param: s.Parameter, arg: Operand, assigned: frozenset[str], span: Span) -> Operand:
    """What a parameter's name means in the body."""
    kind: t.CType = t.Auto() if param.pack else resolve(x, param.type)
    if isinstance(kind, t.Reference):
        if isinstance(arg, Place):
            same = isinstance(kind.to, (t.Auto, t.Unknown)) or t.same(kind.to, arg.type)
            if same or isinstance(arg.type, (t.Array, t.Struct)):
                return pinned(x, arg, span, param.name)
        kind = kind.to
    value = convert(x, read(x, arg, span, param.name), _decayed(kind), span)
    if param.name not in assigned and _is_stable(x, value):
        return FixedPlace(value.type, value)
    if not isinstance(value, (Term, Aggregate)):
        return FixedPlace(value.type, value)
    place = declare_result(x, value.type, param.name or "argument")
    write(x, place, value, span)
    return place


def _decayed(kind: t.CType) -> t.CType:
    return t.Pointer(kind.of) if isinstance(kind, t.Array) else kind


def _is_stable(x: Context, value: Value) -> bool:
    match value:
        case Term(expr=expr):
            return x.is_settled(expr)
        case Aggregate(fields=fields):
            return all(_is_stable(x, f) for f in fields)
        case _:
            return True


def _initialize(x: Context, function: s.Function) -> None:
    """A constructor's initialisers."""
    from gpusafe.parse.cuda.classes import construct, field_place, this_place

    this = this_place(x)
    if this is None or not function.initializers:
        return
    for name, args in function.initializers:
        place = field_place(x, this, name)
        values = tuple(value_of(x, a) for a in args)
        made = construct(x, place.type, values, function.span, name)
        write(x, place, read(x, made, function.span, name), function.span)


def _body(x: Context, body: s.Compound, frame: Frame, name: str) -> Operand:
    """The statements, and what the call returns."""
    found = x.program.returns_of(body)
    last = body.stmts[-1] if body.stmts else None
    if not found or (len(found) == 1 and found[0] is last):
        for stmt in body.stmts:
            if stmt is not last or not found:
                x.execute(stmt)
        if isinstance(last, s.Return) and found:
            return _returned(x, last, frame)
        return NoValue(t.VOID)
    frame.label = x.emitter.fresh(f"return of {name}")
    with x.emitter.collect() as made:
        for stmt in body.stmts:
            x.execute(stmt)
    match made:
        case [k.Assign(var=var, value=Const() as value), k.Break(label=label)] if (
            label == frame.label and isinstance(frame.result, VariablePlace) and frame.result.name == var
        ):
            return Term(frame.result.type, value)  # all conditions were decided
    if made and isinstance(made[-1], k.Break) and made[-1].label == frame.label and not _leaves(made[:-1], frame.label):
        for inner in made[:-1]:
            x.emit(inner)
    else:
        x.emit(k.Block(body.span, frame.label, tuple(made)))
    if frame.result is None:
        return NoValue(t.VOID)
    return read(x, frame.result, body.span, name)


def _leaves(stmts: Sequence[k.Stmt], label: str) -> bool:
    return any(isinstance(stmt, k.Break) and stmt.label == label for stmt in _nested(stmts))


def _nested(stmts: Sequence[k.Stmt]) -> Iterator[k.Stmt]:
    todo = list(stmts)
    while todo:
        stmt = todo.pop()
        yield stmt
        match stmt:
            case k.If(then=then, orelse=orelse):
                todo.extend(then)
                todo.extend(orelse)
            case k.Block(body=body) | k.Loop(body=body):
                todo.extend(body)
            case _:
                pass


def _returned(x: Context, stmt: s.Return, frame: Frame) -> Operand:
    """The value of the only ``return``, at the end of the body."""
    if stmt.value is None:
        return NoValue(t.VOID)
    if isinstance(frame.result_type, t.Reference):
        return x.evaluate(stmt.value)
    value = value_of(x, stmt.value)
    return convert(x, value, frame.result_type or t.Auto(), stmt.span)


def return_from(x: Context, stmt: s.Return) -> None:
    """A ``return`` somewhere in an inlined body."""
    frame = x.frame
    if stmt.value is not None and not isinstance(frame.result_type, t.Void):
        if isinstance(frame.result_type, t.Reference):
            raise Unsupported("one of several returns of a reference")
        value = convert(x, value_of(x, stmt.value), frame.result_type or t.Auto(), stmt.span)
        if isinstance(value, AddressOf):
            raise Unsupported("the return of a pointer to a local variable")
        if frame.result is None:
            frame.result = declare_result(x, value.type, f"{frame.name}()")
        write(x, frame.result, convert(x, value, frame.result.type, stmt.span), stmt.span)
    elif stmt.value is not None:
        x.evaluate(stmt.value)
    assert frame.label is not None
    x.emit(k.Break(stmt.span, frame.label))
