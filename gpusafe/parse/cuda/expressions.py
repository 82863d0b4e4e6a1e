"""Evaluating expressions: statements for what they do, a value or place for what they are."""

from __future__ import annotations

from collections.abc import Callable

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import FALSE, TRUE, U64, Const, Op
from gpusafe.parse.cuda import calls, classes, terms
from gpusafe.parse.cuda import syntax as s
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.context import Context, Pack, Scope, Unsupported
from gpusafe.parse.cuda.convert import convert, designated, expression
from gpusafe.parse.cuda.names import look_up
from gpusafe.parse.cuda.operands import condition_of, declare_result, value_of
from gpusafe.parse.cuda.operators import ALTERNATIVE_SPELLINGS, apply, decayed, negative
from gpusafe.parse.cuda.places import address, dereference, element, held, read, write
from gpusafe.parse.cuda.ptx.statement import inline_assembly
from gpusafe.parse.cuda.render import render
from gpusafe.parse.cuda.resolve import resolve
from gpusafe.parse.cuda.scan import nodes
from gpusafe.parse.cuda.values import (
    Aggregate,
    Closure,
    FixedPlace,
    FunctionName,
    ListValue,
    MemoryPlace,
    NoValue,
    Operand,
    Place,
    StructPlace,
    Term,
    TextValue,
    Value,
    VariablePlace,
)


def evaluate(x: Context, expr: s.Expr) -> Operand:
    """The value or place of an expression."""
    handler = _HANDLERS.get(type(expr))
    if handler is None:
        raise Unsupported(f"`{render(expr)}`")
    return handler(x, expr)


def discard(x: Context, expr: s.Expr) -> None:
    """Evaluate for the effects only."""
    match expr:
        case s.Unary(op="++" | "--", operand=operand):
            step(x, expr, operand)
        case s.Comma(left=left, right=right):
            discard(x, left)
            discard(x, right)
        case s.Cast(type=s.TypeName(name="void"), operand=operand):
            discard(x, operand)
        case s.Conditional(cond=cond, yes=yes, no=no):
            _discard_conditional(x, expr, cond, yes, no)
        case s.Binary(op="&&" | "||" as op, left=left, right=right):
            condition = condition_of(x, left)
            with x.emitter.collect() as made:
                discard(x, right)
            if made:
                x.emit(k.If(expr.span, condition if op == "&&" else terms.negate(condition), tuple(made)))
        case _:
            found = x.evaluate(expr)
            if isinstance(found, MemoryPlace) and not isinstance(expr, (s.Assign, s.Call)):
                read(x, found, expr.span, expr)


def _discard_conditional(x: Context, expr: s.Expr, cond: s.Expr, yes: s.Expr, no: s.Expr) -> None:
    condition = condition_of(x, cond)
    with x.emitter.collect() as first:
        discard(x, yes)
    with x.emitter.collect() as second:
        discard(x, no)
    if first or second:
        x.emit(k.If(expr.span, condition, tuple(first), tuple(second)))


# -- leaves ------------------------------------------------------------------------------------------------------------


def _name(x: Context, expr: s.Name) -> Operand:
    return look_up(x, expr)


def _this(x: Context, expr: s.This) -> Operand:
    place = classes.this_place(x)
    if place is None:
        raise Unsupported("`this`")
    return address(x, place, expr.span, "this")


# -- operators ---------------------------------------------------------------------------------------------------------


def _unary(x: Context, expr: s.Unary) -> Operand:
    match expr.op:
        case "&":
            found = x.evaluate(expr.operand)
            if isinstance(found, FunctionName):
                return found
            return address(x, found, expr.span, expr.operand)
        case "*":
            found = value_of(x, expr.operand)
            if isinstance(found, FunctionName):
                return found
            overloaded = classes.unary_operator(x, "*", found, expr.span)
            return overloaded if overloaded is not None else dereference(x, found, expr.span, expr.operand)
        case "++" | "--":
            if not expr.postfix:
                return step(x, expr, expr.operand)
            return _postfix(x, expr)
        case _:
            found = value_of(x, expr.operand)
            if isinstance(found, Aggregate):
                overloaded = classes.unary_operator(x, expr.op, found, expr.span)
                if overloaded is not None:
                    return overloaded
            return negative(x, expr.op, found, expr.span)


def step(x: Context, expr: s.Unary, operand: s.Expr) -> Operand:
    """``++operand``; the place."""
    place = x.evaluate(operand)
    before = read(x, place, operand.span, operand)
    _step_from(x, expr, place, before)
    return place


def _step_from(x: Context, expr: s.Unary, place: Operand, before: Value) -> None:
    one = Term(t.INT, terms.integer(1, t.INT.type))
    after = apply(x, "+" if expr.op == "++" else "-", before, one, expr.span, expr)
    write(x, place, convert(x, after, place.type, expr.span), expr.span)


def _postfix(x: Context, expr: s.Unary) -> Operand:
    place = x.evaluate(expr.operand)
    before = read(x, place, expr.operand.span, expr.operand)
    if isinstance(before, Term):
        before = Term(before.type, x.hold(expr.span, f"{render(expr.operand)} before", before.expr))
    _step_from(x, expr, place, before)
    return before


def _binary(x: Context, expr: s.Binary) -> Operand:
    op = ALTERNATIVE_SPELLINGS.get(expr.op, expr.op)
    if op in ("&&", "||"):
        return _short_circuit(x, expr, op)
    left = value_of(x, expr.left)
    right = value_of(x, expr.right)
    if isinstance(left, Aggregate) or isinstance(right, Aggregate):
        overloaded = classes.binary_operator(x, op, left, right, expr)
        if overloaded is not None:
            return overloaded
    return apply(x, op, left, right, expr.span, expr)


def _short_circuit(x: Context, expr: s.Binary, op: str) -> Operand:
    left = condition_of(x, expr.left)
    decided = terms.value_of(left)
    if decided is not None and bool(decided) == (op == "||"):
        return Term(t.BOOL, left)
    with x.emitter.collect() as made:
        right = condition_of(x, expr.right)
    if not made:
        kind = Op.LAND if op == "&&" else Op.LOR
        return Term(t.BOOL, terms.binary(kind, left, right))
    result = x.emitter.variable(render(expr), t.BOOL.type)
    x.assign(expr.span, result.name, left)
    made.append(k.Assign(expr.span, result.name, right))
    x.emit(k.If(expr.span, result if op == "&&" else terms.negate(result), tuple(made)))
    x.settled.add(result.name)
    return Term(t.BOOL, result)


def _conditional(x: Context, expr: s.Conditional) -> Operand:
    condition = condition_of(x, expr.cond)
    decided = terms.value_of(condition)
    if decided is not None:
        return x.evaluate(expr.yes if decided else expr.no)
    with x.emitter.collect() as first:
        yes = decayed(value_of(x, expr.yes))
    with x.emitter.collect() as second:
        no = decayed(value_of(x, expr.no))
    kind = _common_type(yes, no)
    yes, no = convert(x, yes, kind, expr.span), convert(x, no, kind, expr.span)
    if not (first or second) and isinstance(yes, Term) and isinstance(no, Term):
        return Term(kind, terms.select(condition, yes.expr, no.expr))
    result = declare_result(x, kind, "chosen")
    with x.emitter.collect() as store_first:
        write(x, result, yes, expr.yes.span)
    with x.emitter.collect() as store_second:
        write(x, result, no, expr.no.span)
    x.emit(k.If(expr.span, condition, (*first, *store_first), (*second, *store_second)))
    return read(x, result, expr.span, "chosen")


def _common_type(a: Value, b: Value) -> t.CType:
    if isinstance(a.type, t.Scalar) and isinstance(b.type, t.Scalar):
        if t.same(a.type, b.type):
            return t.plain(a.type)
        return t.Scalar(t.usual(a.type.type, b.type.type))
    if isinstance(a.type, t.Pointer) and isinstance(b.type, t.Scalar):
        return a.type
    if isinstance(b.type, t.Pointer) and isinstance(a.type, t.Scalar):
        return b.type
    return t.plain(a.type)


def _assign(x: Context, expr: s.Assign) -> Operand:
    right = value_of(x, expr.value)
    place = x.evaluate(expr.target)
    if expr.op == "=":
        if isinstance(right, Term) and isinstance(place, Place) and isinstance(place.type, t.Struct):
            overloaded = classes.assignment(x, "=", place, right, expr)
            if overloaded is not None:
                return overloaded
        write(x, place, convert(x, right, place.type, expr.span), expr.span)
        return place
    op = expr.op[:-1]
    if isinstance(place.type, t.Struct):
        overloaded = classes.assignment(x, expr.op, place, right, expr)
        if overloaded is not None:
            return overloaded
    before = read(x, place, expr.target.span, expr.target)
    if isinstance(before, Aggregate):
        result = classes.binary_operator(x, op, before, right, s.Binary(expr.span, op, expr.target, expr.value))
        made = result if result is not None else apply(x, op, before, right, expr.span, expr)
        after = read(x, made, expr.span, expr)
    else:
        after = apply(x, op, before, right, expr.span, expr)
    write(x, place, convert(x, after, place.type, expr.span), expr.span)
    return place


def _comma(x: Context, expr: s.Comma) -> Operand:
    discard(x, expr.left)
    return x.evaluate(expr.right)


def _index(x: Context, expr: s.Index) -> Operand:
    found: Operand = x.evaluate(expr.base)
    for index in expr.indices:
        if isinstance(found.type, t.Struct) or isinstance(found, FixedPlace):
            overloaded = classes.subscript(x, found, index, expr)
            if overloaded is not None:
                found = overloaded
                continue
        base = read(x, found, expr.base.span, expr.base)
        at = value_of(x, index)
        if isinstance(at.type, t.Pointer) and isinstance(base.type, t.Scalar):
            base, at = at, base  # `i[a]`
        found = element(x, base, expression(x, at), expr.span, expr)
    return found


def _member(x: Context, expr: s.Member) -> Operand:
    base = x.evaluate(expr.base)
    if expr.arrow:
        value = read(x, base, expr.base.span, expr.base)
        base = dereference(x, value, expr.base.span, expr.base)
    return classes.member(x, base, expr.name, expr)


def _cast(x: Context, expr: s.Cast) -> Operand:
    kind = resolve(x, expr.type)
    found = x.evaluate(expr.operand)
    if isinstance(kind, t.Reference):
        pointer = address(x, found, expr.span, expr.operand) if isinstance(found, Place) else found
        as_pointer = convert(x, pointer, t.Pointer(kind.to), expr.span)
        return dereference(x, as_pointer, expr.span, expr.operand)
    value = read(x, found, expr.span, expr.operand)
    if isinstance(kind, t.Struct):
        return classes.construct(x, kind, (value,), expr.span, render(expr))
    return convert(x, value, kind, expr.span)


def _construct(x: Context, expr: s.Construct) -> Operand:
    kind = resolve(x, expr.type)
    args = tuple(value_of(x, a) for a in expr.args)
    if expr.names and isinstance(kind, t.Struct):
        return designated(x, kind, expr.names, args, expr.span)
    return classes.construct(x, kind, args, expr.span, render(expr), braces=expr.braces)


def _braces(x: Context, expr: s.Braces) -> Operand:
    return ListValue(t.Auto(), tuple(value_of(x, i) for i in expr.items))


def _sizeof(x: Context, expr: s.SizeOf) -> Operand:
    if isinstance(expr.of, s.TypeNode):
        kind = resolve(x, expr.of)
        if isinstance(kind, t.Unknown) and isinstance(expr.of, s.TypeName):
            kind = evaluate_type(x, s.Name(expr.of.span, expr.of.name, expr.of.args))
    else:
        kind = evaluate_type(x, expr.of)
    if isinstance(kind, t.Reference):
        kind = kind.to
    size = t.align_of(kind) if expr.kind == "alignof" else t.size_of(kind)
    if size is None:
        raise Unsupported(f"the size of `{t.show(kind)}`")
    return Term(t.ULONG, Const(U64, size))


def evaluate_type(x: Context, expr: s.Expr) -> t.CType:
    """The type of an operand that is not evaluated."""
    if isinstance(expr, s.Name):
        bound = x.scope.find(expr.name)
        if isinstance(bound, t.CType):
            return bound
        named = s.TypeName(expr.span, expr.name, expr.args if expr.args is not None else expr.scope_args)
        kind = resolve(x, named) if bound is None else t.Auto()
        if not isinstance(kind, (t.Unknown, t.Auto)):
            return kind
    with x.emitter.collect():
        found = x.evaluate(expr)
    return found.type


def _pack_count(x: Context, expr: s.PackCount) -> Operand:
    bound = x.scope.find(expr.name)
    if not isinstance(bound, Pack):
        raise Unsupported(f"`sizeof...({expr.name})`")
    return Term(t.ULONG, Const(U64, len(bound.items)))


def _lambda(x: Context, expr: s.Lambda) -> Operand:
    return Closure(t.Auto(), expr, _captured(x, expr))


def _captured(x: Context, expr: s.Lambda) -> Scope:
    """The scope that the body sees: variables that are captured by value and change later are copied now."""
    scope = x.scope.inner()
    for node in nodes(expr.body):
        if not isinstance(node, s.Name) or node.name in scope.names or node.name not in x.frame.assigned:
            continue
        by_value = node.name in expr.captures if expr.default != "=" else True
        if not by_value or node.name in expr.by_reference:
            continue
        bound = x.scope.find(node.name)
        if isinstance(bound, (VariablePlace, StructPlace)):
            value = held(x, read(x, bound, expr.span, node.name), expr.span)
            scope.names[node.name] = FixedPlace(bound.type, value)
    return scope


def _launch(x: Context, expr: s.Launch) -> Operand:
    x.unmodelled(expr.span, "a kernel launch inside a kernel")
    return NoValue(t.VOID)


def _bad(x: Context, expr: s.BadExpr) -> Operand:
    raise Unsupported(f"{expr.what}, which is not understood")


_HANDLERS: dict[type[s.Expr], Callable[..., Operand]] = {
    s.Integer: lambda x, e: Term(t.Scalar(e.type), Const(e.type, e.value)),
    s.Floating: lambda x, e: Term(t.Scalar(e.type), Const(e.type, e.value)),
    s.Boolean: lambda x, e: Term(t.BOOL, TRUE if e.value else FALSE),
    s.NullPointer: lambda x, e: Term(t.Pointer(t.VOID), terms.NULL),
    s.Text: lambda x, e: TextValue(t.Pointer(t.Scalar(t.INT.type, "char")), e.value),
    s.This: _this,
    s.Name: _name,
    s.Unary: _unary,
    s.Binary: _binary,
    s.Assign: _assign,
    s.Conditional: _conditional,
    s.Comma: _comma,
    s.Call: calls.call,
    s.Launch: _launch,
    s.Index: _index,
    s.Member: _member,
    s.Cast: _cast,
    s.Construct: _construct,
    s.Braces: _braces,
    s.SizeOf: _sizeof,
    s.PackCount: _pack_count,
    s.Lambda: _lambda,
    s.Asm: inline_assembly,
    s.BadExpr: _bad,
}
