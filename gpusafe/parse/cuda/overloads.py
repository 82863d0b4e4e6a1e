"""Choosing among overloads, and deducing template arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gpusafe.parse.cuda import syntax as s
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.context import Context, Pack, Scope, Unsupported
from gpusafe.parse.cuda.resolve import constant, fixed, resolve, same_arg, template_args
from gpusafe.parse.cuda.terms import integer
from gpusafe.parse.cuda.values import FixedPlace, Operand, Term, Value

_EXACT, _PROMOTED, _CONVERTED, _WRONG = 0, 1, 3, 1000


@dataclass(frozen=True, slots=True)
class Picked:
    """A function with its template parameters bound in ``scope``; ``key`` identifies the instance."""

    function: s.Function
    scope: Scope
    key: object


def choose(
    x: Context,
    candidates: Sequence[s.Function],
    args: Sequence[Operand],
    explicit: tuple[object, ...],
    scope_of: Callable[[s.Function], Scope],
) -> Picked | None:
    """The candidate that fits best, None when none does."""
    best: tuple[tuple[int, int, int], Picked] | None = None
    for function in candidates:
        least = sum(p.default is None and not p.pack for p in function.params)
        pack = any(p.pack for p in function.params)
        if len(args) < least or (len(args) > len(function.params) and not pack):
            continue
        scope = Scope(scope_of(function), {}, function.scope)
        scope.this = None
        bound = _bind(x, function, scope, args, explicit)
        if bound is None:
            continue
        cost = _cost(x, function, scope, args)
        if cost >= _WRONG:
            continue
        rank = (cost, int(function.template is not None) - int(function.args is not None), 0 if function.body else 1)
        if best is None or rank < best[0]:
            best = rank, Picked(function, scope, (id(function.body or function), bound))
    return best[1] if best is not None else None


def _bind(
    x: Context, function: s.Function, scope: Scope, args: Sequence[Operand], explicit: tuple[object, ...]
) -> str | None:
    """Bind template parameters; the instance's key, or None when they cannot be found."""
    if function.args is not None and function.template is not None and not function.template:
        return _specialised(x, function, scope, args, explicit)
    if not function.template:
        return "" if not explicit or function.template is not None else None
    given = tuple(a for a in explicit if isinstance(a, (t.CType, Value)))
    for param, arg in zip(function.template, given, strict=False):
        if param.pack:
            scope.names[param.name] = Pack(given[function.template.index(param) :])
            break
        scope.names[param.name] = fixed(arg)
    wanted = {p.name: p for p in function.template}
    _deduce_all(x, function, scope, args, wanted)
    missing = [p for p in function.template if p.name and p.name not in scope.names]
    for param in missing:
        if param.pack:
            scope.names[param.name] = Pack(())
        elif not _default(x, scope, function, param):
            return None
    return repr([scope.names.get(p.name) for p in function.template])


def _default(x: Context, scope: Scope, function: s.Function, param: s.TemplateParameter) -> bool:
    if param.default is None:
        return False
    with x.inside(scope):
        if isinstance(param.default, s.TypeNode):
            scope.names[param.name] = resolve(x, param.default)
            return True
        value = constant(x, param.default)
    if value is None:
        return False
    term = Term(t.INT, integer(value, t.INT.type))
    scope.names[param.name] = FixedPlace(t.INT, term)
    return True


def _specialised(
    x: Context, function: s.Function, scope: Scope, args: Sequence[Operand], explicit: tuple[object, ...]
) -> str | None:
    """An explicit specialisation fits when its own arguments are the ones asked for."""
    with x.inside(scope):
        mine = template_args(x, function.args or ())
    for wanted, given in zip(explicit, mine, strict=False):
        if isinstance(wanted, (t.CType, Value)) and not same_arg(wanted, given):
            return None
    return repr(mine)


def _deduce_all(
    x: Context, function: s.Function, scope: Scope, args: Sequence[Operand], wanted: dict[str, s.TemplateParameter]
) -> None:
    for index, param in enumerate(function.params):
        if param.pack:
            rest = tuple(t.plain(_decayed(a.type)) for a in args[index:])
            if isinstance(param.type, s.TypeName) and param.type.name in wanted:
                scope.names[param.type.name] = Pack(rest)
            elif isinstance(param.type, s.TypeReference) and isinstance(param.type.inner, s.TypeName):
                scope.names[param.type.inner.name] = Pack(rest)
            return
        if index < len(args):
            deduce(x, param.type, args[index], wanted, scope)


def deduce(
    x: Context, pattern: s.TypeNode, arg: Operand | t.CType, wanted: dict[str, s.TemplateParameter], scope: Scope
) -> None:
    """Match the type of a parameter against the type of its argument, binding what is found."""
    kind = arg if isinstance(arg, t.CType) else arg.type
    todo: list[tuple[s.TypeNode, t.CType, bool]] = [(pattern, kind, False)]
    while todo:
        node, have, inside = todo.pop()
        match node, have:
            case s.TypeReference(inner=inner), _:
                todo.append((inner, have.to if isinstance(have, t.Reference) else have, True))
            case s.TypePointer(inner=inner), (t.Pointer(to=to) | t.Array(of=to)):
                todo.append((inner, to, True))
            case s.TypeArray(inner=inner, length=length), t.Array(of=of, length=count):
                _bind_number(length, count, wanted, scope)
                todo.append((inner, of, True))
            case s.TypeArray(inner=inner), t.Pointer(to=to):
                todo.append((inner, to, True))
            case s.TypeName(name=name, args=None, const=const), _ if name in wanted and name not in scope.names:
                found = have if inside else _decayed(have)
                if isinstance(arg, Value) and not inside and isinstance(found, t.Auto):
                    scope.names[name] = FixedPlace(found, arg)
                elif const or not inside:
                    scope.names[name] = t.plain(found)
                else:
                    scope.names[name] = found
            case s.TypeName(args=tuple() as args), _ if args:
                _deduce_arguments(x, args, have, wanted, scope, todo)
            case _:
                pass


def _deduce_arguments(
    x: Context,
    args: tuple[s.TypeNode | s.Expr, ...],
    have: t.CType,
    wanted: dict[str, s.TemplateParameter],
    scope: Scope,
    todo: list[tuple[s.TypeNode, t.CType, bool]],
) -> None:
    """``Vec<T, N>`` against an instance of a class template."""
    instance = x.classes.get(have.key) if isinstance(have, t.Struct) else None
    given = instance.args if instance is not None else have.args if isinstance(have, t.Handle) else ()
    for node, value in zip(args, given, strict=False):
        if isinstance(node, s.TypeNode) and isinstance(value, t.CType):
            todo.append((node, value, True))
        elif isinstance(value, Value):
            name = node.name if isinstance(node, (s.Name, s.TypeName)) else ""
            if name in wanted and name not in scope.names:
                scope.names[name] = FixedPlace(value.type, value)


def _bind_number(
    length: s.Expr | None, count: int | None, wanted: dict[str, s.TemplateParameter], scope: Scope
) -> None:
    if isinstance(length, s.Name) and length.name in wanted and length.name not in scope.names and count is not None:
        term = Term(t.INT, integer(count, t.INT.type))
        scope.names[length.name] = FixedPlace(t.INT, term)


def _decayed(kind: t.CType) -> t.CType:
    if isinstance(kind, t.Reference):
        kind = kind.to
    return t.Pointer(kind.of) if isinstance(kind, t.Array) else kind


def _cost(x: Context, function: s.Function, scope: Scope, args: Sequence[Operand]) -> int:
    """How well the arguments fit; _WRONG or more when they do not."""
    total = 0
    with x.inside(scope):
        for param, arg in zip(function.params, args, strict=False):
            if param.pack:
                break
            try:
                total += _fit(resolve(x, param.type), arg.type)
            except Unsupported:
                return _WRONG
    return total


def _fit(to: t.CType, have: t.CType) -> int:
    if isinstance(to, t.Reference):
        if t.same(to.to, have):
            return _EXACT
        to = to.to
    have = _decayed(have) if not isinstance(to, t.Array) else have
    if isinstance(to, (t.Auto, t.Unknown)) or isinstance(have, (t.Auto, t.Unknown)):
        return _PROMOTED
    if t.same(to, have):
        return _EXACT
    match to, have:
        case t.Scalar(type=a), t.Scalar(type=b):
            if t.promoted(b) == a:
                return _PROMOTED
            return _CONVERTED - (a.kind == b.kind)
        case t.Pointer(to=a), t.Pointer(to=b):
            if t.same(a, b):
                return _EXACT
            if isinstance(a, t.Void):
                return _PROMOTED
            return _WRONG if isinstance(a, (t.Scalar, t.Struct)) and isinstance(b, (t.Scalar, t.Struct)) else _CONVERTED
        case (t.Array(), t.Array()) | (t.Array(), t.Pointer()) | (t.Pointer(), t.Array()):
            return _EXACT
        case t.Pointer(), t.Scalar():
            return _CONVERTED
        case t.Struct(), t.Struct():
            return _CONVERTED if any(t.same(f.type, to) for f in have.fields) else _WRONG
        case (t.Struct(), t.Scalar()) | (t.Scalar(), t.Struct()):
            return _WRONG // 10
        case t.Handle(kind=a), t.Handle(kind=b):
            return _EXACT if a == b else _WRONG
        case _:
            return _WRONG
