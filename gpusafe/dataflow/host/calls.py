"""Calls: of the program's own functions, of closures, of constructors, of library functions."""

from __future__ import annotations

from gpusafe.dataflow.host import dialects, foreign, std_methods, std_paths
from gpusafe.dataflow.host.access import chain, deref, peel, touch_cell, touch_root
from gpusafe.dataflow.host.callbacks import MUTATING, atomic, may_wait_for_callback
from gpusafe.dataflow.host.capturing import run_closure
from gpusafe.dataflow.host.drops import owns, take
from gpusafe.dataflow.host.inlining import call_function, type_names
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.names import constant
from gpusafe.dataflow.host.naming import christen
from gpusafe.dataflow.host.program import Function
from gpusafe.dataflow.host.scalars import static_type
from gpusafe.dataflow.host.typing_rules import apply_type
from gpusafe.dataflow.host.values import (
    Cell,
    ClosureVal,
    FnVal,
    RefVal,
    SeqVal,
    SharedVal,
    StructVal,
    TypeVal,
    Unknown,
    Value,
    none,
)
from gpusafe.ir.expr import Type
from gpusafe.parse.rust import ast
from gpusafe.span import Span


def call_expr(m: Machine, expr: ast.Call, expect: ast.Type | None) -> Value:
    """``f(args)``."""
    if not isinstance(expr.func, ast.PathExpr):
        callee = m.place(expr.func)
        args = [m.value(a) for a in expr.args]
        return invoke(m, callee.value, args, expr.span)
    path = expr.func.path
    if len(path.names) == 1:
        cell = m.lookup(path.names[0])
        if cell is not None:
            args = [m.value(a) for a in expr.args]
            return invoke(m, deref(cell).value, args, expr.span)
    return _call_path(m, path, expr, expect)


def _call_path(m: Machine, path: ast.Path, expr: ast.Call, expect: ast.Type | None) -> Value:
    names = _concrete(m, path)
    special = std_paths.before_arguments(m, names, expr)
    if special is not None:
        return special.value
    function = m.program.function(names, m.home)
    if function is not None and function.item.body is None:
        function = None
    kinds = _parameter_types(function)
    args = [m.value(a, kinds[i] if i < len(kinds) else None) for i, a in enumerate(expr.args)]
    if function is not None:
        return call_function(m, function, args, expr.span, path, expect)
    return call_named(m, names, args, expr, path, expect)


def call_named(
    m: Machine, names: tuple[str, ...], args: list[Value], expr: ast.Expr, path: ast.Path, expect: ast.Type | None
) -> Value:
    """A call of something that is not a function of the program: constructor, library, or unknown."""
    built = _constructor(m, names, args, expr)
    if built is not None:
        return built
    full = m.program.expand(names, m.home)
    known = dialects.call_path(m, full, args, expr, path, expect)
    if known is not None:
        return known.value
    found = std_paths.call_path(m, full, args, expr, path)
    if found is not None:
        return found.value
    return foreign.unknown_call(m, "::".join(names), full, args, expr.span)


def _concrete(m: Machine, path: ast.Path) -> tuple[str, ...]:
    names = path.names
    if names[0] == "Self" and m.call.owner is not None:
        return (m.call.owner, *names[1:])
    if path.qself is not None and len(names) >= 1:
        from gpusafe.dataflow.host.syntax_walk import type_name

        owner = type_name(path.qself)
        if owner is not None:
            return (owner, names[-1])
    bound = m.call.types.get(names[0]) if len(names) == 2 else None
    if isinstance(bound, ast.TypePath):
        return (*bound.path.names, *names[1:])
    if len(names) == 2:
        alias = m.program.type_item(names[0], m.home)
        if alias is not None and isinstance(alias.item, ast.TypeAlias) and isinstance(alias.item.type, ast.TypePath):
            return (*alias.item.type.path.names, names[1])
    return names


def _parameter_types(function: Function | None) -> tuple[ast.Type | None, ...]:
    if function is None:
        return ()
    return tuple(p.type for p in function.item.params)


def _constructor(m: Machine, names: tuple[str, ...], args: list[Value], expr: ast.Expr) -> Value | None:
    last = names[-1]
    if last in ("Some", "Ok", "Err") and args:
        owner = "Option" if last == "Some" else "Result"
        return StructVal(owner, {"0": Cell(args[0])}, last)
    if len(names) >= 2:
        owner_item = m.program.type_item(names[-2], m.home)
        if owner_item is not None and isinstance(owner_item.item, ast.Enum):
            return StructVal(names[-2], {str(i): Cell(a) for i, a in enumerate(args)}, last)
    if last[:1].isupper():
        item = m.program.type_item(last, m.home)
        if item is not None and isinstance(item.item, ast.Struct):
            fields = {str(i): Cell(a) for i, a in enumerate(args)}
            for (name, kind), cell in zip(item.item.fields, fields.values(), strict=False):
                cell.value = apply_type(m, cell.value, kind)
                del name
            return StructVal(last, fields, None, expr.span)
    return None


def path_value(m: Machine, expr: ast.PathExpr) -> Value:
    """A path used as a value: constant, unit struct or variant, function."""
    path = expr.path
    if path.last == "None" and len(path.names) <= 2:
        return none()
    cell = constant(m, path)
    if cell is not None:
        return take(m, cell) if not owns(m, cell.value) else RefVal(cell)
    names = _concrete(m, path)
    function = m.program.function(names, m.home)
    if function is not None:
        return FnVal(names, function)
    if len(names) >= 2:
        owner = m.program.type_item(names[-2], m.home)
        if owner is not None and isinstance(owner.item, ast.Enum):
            variant = next((v for v in owner.item.variants if v.name == names[-1]), None)
            if variant is not None and variant.fields:
                return FnVal(names)
            return StructVal(names[-2], {}, names[-1])
    item = m.program.type_item(names[-1], m.home)
    if item is not None and isinstance(item.item, ast.Struct):
        return StructVal(names[-1], {}) if not item.item.fields else FnVal(names)
    if names[-1] in ("Some", "Ok", "Err"):
        return FnVal(names)
    if names[-2:-1] == ("EventStatus",):
        return StructVal("EventStatus", {}, names[-1])
    if names[-1][:1].islower():
        return FnVal(m.program.expand(names, m.home))
    return TypeVal("path", m.program.expand(names, m.home))


def invoke(m: Machine, callee: Value, args: list[Value], span: Span) -> Value:
    """Calls a value."""
    target = peel(callee)
    match target:
        case ClosureVal():
            return run_closure(m, target, args, span)
        case FnVal(item=Function() as function):
            if function.takes_self and args:
                return call_function(m, function, args, span, None, None)
            return call_function(m, function, args, span, None, None)
        case FnVal(path=names):
            if len(names) >= 2 and args and not names[-1][:1].isupper():
                receiver = args[0]
                found = std_methods.call_method(m, Cell(receiver), names[-1], args[1:], _stub(span, names[-1]))
                if found is not None:
                    return found.value
            stub = ast.Path(span, names)
            return call_named(m, names, args, ast.PathExpr(span, stub), stub, None)
    return foreign.unknown_call(m, "a function value", ("?",), args, span, (target,))


def _stub(span: Span, name: str) -> ast.MethodCall:
    return ast.MethodCall(span, ast.Tuple(span, ()), name, (), span)


def method_expr(m: Machine, expr: ast.MethodCall, expect: ast.Type | None) -> Value:
    """``receiver.name(args)``."""
    receiver = m.place(expr.receiver)
    if may_wait_for_callback(m, peel(receiver.value), expr.name):
        m.gap(expr.span, f"the host may wait for a callback in `{expr.name}`, which is not modelled")
    mode = "write" if expr.name in MUTATING and not atomic(expr.args) else "read"
    touch_cell(m, receiver, mode, expr.span)
    touch_root(m, expr.receiver, mode)
    function = find_method(m, receiver, expr.name)
    kinds = _parameter_types(function)[1:] if function is not None else ()
    args = [m.value(a, kinds[i] if i < len(kinds) else None) for i, a in enumerate(expr.args)]
    return call_method(m, receiver, expr.name, args, expr, expect)


def find_method(m: Machine, receiver: Cell, name: str) -> Function | None:
    """The program's method of that name for the receiver's type, looking through references."""
    for cell in chain(receiver):
        for owner in type_names(cell.value):
            found = m.program.method(owner, name, m.home)
            if found is not None and found.takes_self:
                return found
    return None


def call_method(
    m: Machine, receiver: Cell, name: str, args: list[Value], expr: ast.MethodCall, expect: ast.Type | None = None
) -> Value:
    """A method call on a place: the program's own method, the dialect's, the standard library's, or unknown."""
    if name == "clone" and not args and any(isinstance(c.value, SharedVal) for c in chain(receiver)):
        return std_methods.clone_shared(m, receiver)
    function = find_method(m, receiver, name)
    if function is not None and function.item.body is not None:
        path = ast.Path(expr.span, (name,), expr.generics)
        return call_function(m, function, [self_value(m, function, receiver), *args], expr.span, path, expect)
    known = dialects.call_method(m, receiver, name, [coerced(m, a, expr.span) for a in args], expr, expect)
    if known is not None:
        return known.value
    found = std_methods.call_method(m, receiver, name, args, expr, expect)
    if found is not None:
        return found.value
    target = deref(receiver).value
    if isinstance(target, StructVal) and m.program.methods.get((target.name, "deref")) and name != "deref":
        inner = m.hooks.call_method(m, target.name, "deref", deref(receiver), [], expr.span)
        return call_method(m, Cell(inner), name, args, expr, expect)
    if isinstance(target, StructVal) and name in target.fields:
        return invoke(m, target.fields[name].value, args, expr.span)
    return foreign.unknown_method(m, receiver, name, args, expr)


def coerced(m: Machine, arg: Value, span: Span) -> Value:
    """A reference to a type with its own ``Deref`` as the API sees it: what it derefs to."""
    target = peel(arg)
    if isinstance(arg, RefVal) and isinstance(target, StructVal) and m.program.methods.get((target.name, "deref")):
        return m.hooks.call_method(m, target.name, "deref", deref(arg.cell), [], span)
    return arg


def self_value(m: Machine, function: Function, receiver: Cell) -> Value:
    """What the ``self`` parameter receives."""
    kind = function.item.params[0].type
    target = deref(receiver)
    if isinstance(kind, ast.TypeRef):
        return RefVal(target, kind.mutable)
    if isinstance(kind, ast.TypePath) and kind.path.last in ("Arc", "Rc"):
        for cell in chain(receiver):
            if isinstance(cell.value, SharedVal):
                return take(m, cell)
    if isinstance(receiver.value, RefVal) and target is not receiver and not owns(m, target.value):
        return take(m, target)
    return take(m, target)


def struct_literal(m: Machine, expr: ast.StructLit) -> Value:
    """``Name { fields }``."""
    name = expr.path.last
    if name == "Self" and m.call.owner is not None:
        name = m.call.owner
    item = m.program.type_item(name, m.home)
    declared: dict[str, ast.Type] = {}
    if item is not None and isinstance(item.item, ast.TypeAlias) and isinstance(item.item.type, ast.TypePath):
        name = item.item.type.path.last
        item = m.program.type_item(name, m.home)
    variant = None
    if item is not None and isinstance(item.item, ast.Struct):
        declared = dict(item.item.fields)
    elif len(expr.path.names) >= 2:
        variant, name = name, expr.path.names[-2]
    values: dict[str, Value] = {}
    for field, init in expr.fields:
        value = apply_type(m, m.value(init, declared.get(field)), declared.get(field))
        christen(m, value, field)
        values[field] = value
    rest = m.place(expr.base) if expr.base is not None else None
    if item is None:
        base = take(m, rest) if rest is not None else None
        config = dialects.struct_literal(m, expr.path, values, base)
        if config is not None:
            return config
        rest = Cell(base) if rest is not None else None
    if rest is not None:
        _fill_from(m, values, rest, expr)
    order = list(declared) or list(values)
    fields = {f: Cell(values[f], f) for f in order if f in values}
    fields.update({f: Cell(v, f) for f, v in values.items() if f not in fields})
    return StructVal(name, fields, variant, expr.span)


def _fill_from(m: Machine, values: dict[str, Value], rest: Cell, expr: ast.StructLit) -> None:
    """``..base``: the fields that were not given move out of the base; the others stay in it."""
    base = deref(rest).value
    if isinstance(base, StructVal):
        for field, cell in base.fields.items():
            if field not in values:
                values[field] = take(m, cell)
    elif owns(m, base):
        foreign.not_followed(m, "..", [base], expr.span)


def repeated(m: Machine, item: ast.Expr, length: Value, kind: str) -> Value:
    """``[item; length]`` or ``vec![item; length]``."""
    elem: Type | ast.Type | None = static_type(m, item)
    first = m.value(item)
    count = length if isinstance(length, int) else None
    if (
        count is not None
        and count <= 64
        and (owns(m, first) or count <= 8 or isinstance(peel(first), (SeqVal, StructVal)))
    ):
        cells = [Cell(std_methods.clone_value(m, first)) for _ in range(max(0, count - 1))]
        if count:
            cells.append(Cell(first))
        return SeqVal(kind, cells, length, elem)
    if isinstance(length, Unknown):
        from gpusafe.ir.expr import USIZE

        length = m.symbol("length", USIZE)
    from gpusafe.dataflow.host.drops import copy_value

    sample = (lambda: copy_value(first)) if isinstance(first, SeqVal) else None
    return SeqVal(kind, None, length, elem, None, sample, first)
