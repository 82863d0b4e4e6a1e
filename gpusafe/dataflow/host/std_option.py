"""Methods of Option and Result."""

from __future__ import annotations

from gpusafe.dataflow.host.access import peel
from gpusafe.dataflow.host.branches import inside, quiet
from gpusafe.dataflow.host.drops import take
from gpusafe.dataflow.host.foreign import handles_in, not_followed
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.results import Found
from gpusafe.dataflow.host.signals import PanicSignal
from gpusafe.dataflow.host.syntax_walk import walk
from gpusafe.dataflow.host.values import (
    Cell,
    ClosureVal,
    FnVal,
    IterVal,
    RefVal,
    StructVal,
    TupleVal,
    Unknown,
    Value,
    is_scalar,
    none,
    ok,
    some,
)
from gpusafe.parse.rust import ast

UNWRAPPERS = frozenset(
    [
        "unwrap",
        "expect",
        "unwrap_or",
        "unwrap_or_else",
        "unwrap_or_default",
        "unwrap_unchecked",
        "unwrap_err",
        "expect_err",
    ]
)
ON_ONE_SIDE = frozenset(
    [
        "unwrap_or_else",
        "and_then",
        "or_else",
        "map_or",
        "map_or_else",
        "is_some_and",
        "is_ok_and",
        "is_none_or",
        "map_err",
        "ok_or_else",
        "inspect_err",
        "get_or_insert_with",
    ]
)
"""Methods of Option and Result whose closures are called for one variant only (the last argument comes for the good one
where there are two)."""
_SAME = frozenset(
    [
        "context",
        "with_context",
        "map_err",
        "or_else",
        "inspect",
        "inspect_err",
        "copied",
        "cloned",
        "as_deref",
        "as_deref_mut",
    ]
)


def call(m: Machine, target: Cell, receiver: Cell, name: str, args: list[Value], expr: ast.MethodCall) -> Found | None:
    """A method on a known Option or Result."""
    value = target.value
    assert isinstance(value, StructVal)
    good = value.variant in ("Some", "Ok")
    payload = value.fields.get("0")
    by_ref = isinstance(receiver.value, RefVal)
    if name in UNWRAPPERS:
        return Found(_unwrap(m, value, name, args, expr))
    match name:
        case "is_some" | "is_ok":
            return Found(good)
        case "is_none" | "is_err":
            return Found(not good)
        case "ok":
            return Found(_half(m, payload, good, expr))
        case "err":
            return Found(_half(m, payload, not good, expr))
        case "ok_or" | "ok_or_else":
            if good and payload:
                if name == "ok_or":
                    m.drop(args[0], expr.span)
                return Found(ok(take(m, payload)))
            error = args[0] if name == "ok_or" else m.invoke(args[0], [], expr.span)
            return Found(StructVal("Result", {"0": Cell(error)}, "Err"))
        case "map" | "and_then" | "is_some_and" | "is_ok_and" | "map_or" | "map_or_else":
            return Found(_mapped(m, value, name, args, expr))
        case "take":
            target.value = none()
            return Found(value)
        case "replace" | "insert" | "get_or_insert" | "get_or_insert_with":
            return Found(_fill(m, target, name, args, expr))
        case "iter" | "into_iter" | "iter_mut":
            cells = list(value.fields.values()) if good else []
            return Found(IterVal(len(cells), lambda i: take(m, cells[i]) if name == "into_iter" else RefVal(cells[i])))
        case "and" | "or" | "xor" | "zip":
            return Found(_two(m, target, name, args[0], expr))
        case "filter":
            return Found(_filtered(m, target, args[0], expr))
        case "inspect" | "inspect_err":
            if payload and good == (name == "inspect"):
                m.invoke(args[0], [RefVal(payload)], expr.span)
        case "map_err":
            if payload and not good:
                failed = m.invoke(args[0], [take(m, payload)], expr.span)
                return Found(StructVal("Result", {"0": Cell(failed)}, "Err"))
        case "flatten":
            return Found(take(m, payload) if good and payload else value)
        case "unzip":
            not_followed(m, name, [value], expr.span)
            return Found(Unknown(f"the result of `{name}`"))
    if name in _SAME:
        if name in ("copied", "cloned") and good and payload:
            from gpusafe.dataflow.host.std_methods import clone_value

            return Found(StructVal(value.name, {"0": Cell(clone_value(m, payload.value))}, value.variant))
        if not good and name == "or_else" and args:
            return Found(m.invoke(args[0], [take(m, c) for c in value.fields.values()], expr.span))
        return Found(take(m, target) if not by_ref else value)
    return None


def _half(m: Machine, payload: Cell | None, wanted: bool, expr: ast.MethodCall) -> Value:
    """``ok()`` and ``err()``: the one side of a Result; what is on the other is dropped."""
    if payload is None:
        return none()
    inner = take(m, payload)
    if wanted:
        return some(inner)
    m.drop(inner, expr.span)
    return none()


def _two(m: Machine, target: Cell, name: str, other: Value, expr: ast.MethodCall) -> Value:
    """``and``, ``or``, ``xor``, ``zip``: one of two values comes out, or both, and the rest is dropped."""
    first = take(m, target)
    one = isinstance(first, StructVal) and first.variant in ("Some", "Ok")
    if name in ("and", "or"):
        kept, gone = (other, first) if one == (name == "and") else (first, other)
        m.drop(gone, expr.span)
        return kept
    second = peel(other)
    if not isinstance(second, StructVal) or not isinstance(first, StructVal):
        not_followed(m, name, [first, other], expr.span)
        return Unknown(f"the result of `{name}`")
    two = second.variant == "Some"
    if name == "zip" and one and two:
        return some(TupleVal([Cell(take(m, first.fields["0"])), Cell(take(m, second.fields["0"]))]))
    kept, gone = (first, other) if one else (other, first)
    if name == "xor" and one != two:
        m.drop(gone, expr.span)
        return kept
    m.drop(first, expr.span)
    m.drop(other, expr.span)
    return none()


def _filtered(m: Machine, target: Cell, predicate: Value, expr: ast.MethodCall) -> Value:
    """``filter``: what is not kept is dropped."""
    value = take(m, target)
    if not isinstance(value, StructVal) or not value.fields:
        return value
    verdict = m.invoke(predicate, [RefVal(value.fields["0"])], expr.span)
    if m.decide(verdict, m.source_text(expr), expr.span):
        return value
    m.drop(value, expr.span)
    return none()


def _unwrap(m: Machine, value: StructVal, name: str, args: list[Value], expr: ast.MethodCall) -> Value:
    good = value.variant in ("Some", "Ok")
    wanted = good != name.endswith("_err")
    payload = value.fields.get("0")
    if wanted and payload is not None:
        if name == "unwrap_or":
            m.drop(args[0], expr.span)
        return take(m, payload)
    if name == "unwrap_or":
        return args[0]
    if name == "unwrap_or_else":
        return m.invoke(args[0], [take(m, c) for c in value.fields.values()], expr.span)
    if name == "unwrap_or_default":
        return Unknown("a default value")
    raise PanicSignal


def unwrap_unknown(m: Machine, value: Unknown, name: str, expr: ast.MethodCall) -> Value:
    """``unwrap`` and kin on a result that is not known: the panic is a path of its own when work is in flight."""
    if name in ("unwrap", "expect") and not quiet(m) and m.pending:
        text = m.source_text(expr)
        where = f"at {expr.span.file}:{expr.span.line}"
        if m.choose((f"`{text}` succeeds {where}", f"`{text}` panics {where}")) == 1:
            raise PanicSignal
    return inside(value)


def maybe_called(m: Machine, value: Unknown, name: str, args: list[Value], expr: ast.MethodCall) -> Value:
    """A method that calls a closure for one variant, where the variant is not known: both ways are walked.

    Where nothing is in flight and the closure reaches nothing that matters, they are one.
    """
    closures = [a for a in args if not is_scalar(a)]
    if not any(handles_in(a) for a in closures) and (quiet(m) or not _leaves(args[0])):
        return inside(value) if name in UNWRAPPERS else Unknown(f"the result of `{name}`", None, value.holds)
    text, where = m.source_text(expr), f"at {expr.span.file}:{expr.span.line}"
    labels = (f"`{text}` does not call its closure {where}", f"`{text}` calls its closure {where}")
    called = m.choose(labels, turn=True) == 1
    function = args[0] if called or name != "map_or_else" else args[1]
    if not called and name != "map_or_else":
        return inside(value) if name in UNWRAPPERS else Unknown(f"the result of `{name}`", None, value.holds)
    if name == "map_or":
        function = args[1]
    given: list[Value] = [Unknown("the content of a value that is not known", None, value.holds)]
    found = m.invoke(function, given[: _arity(function)], expr.span)
    return found if name != "ok_or_else" else Unknown(f"the result of `{name}`")


def _arity(function: Value) -> int:
    target = peel(function)
    return len(target.node.params) if isinstance(target, ClosureVal) else 1


def _leaves(function: Value) -> bool:
    """Whether a closure may panic or end the program, by its text."""
    target = peel(function)
    if not isinstance(target, ClosureVal):
        return isinstance(target, FnVal)
    for node in walk(target.block or target.node.body):
        match node:
            case ast.MacroCall(path=path) if path.last in ("panic", "unreachable", "todo", "unimplemented"):
                return True
            case ast.Call(func=ast.PathExpr(path=path)) if path.last[:1].islower():
                return True
            case ast.MethodCall(name="unwrap" | "expect"):
                return True
    return False


def _mapped(m: Machine, value: StructVal, name: str, args: list[Value], expr: ast.MethodCall) -> Value:
    good = value.variant in ("Some", "Ok")
    payload = value.fields.get("0")
    if not good or payload is None:
        match name:
            case "is_some_and" | "is_ok_and":
                return False
            case "map_or":
                return args[0]
            case "map":
                return StructVal(value.name, {n: Cell(take(m, c)) for n, c in value.fields.items()}, value.variant)
            case "map_or_else":
                return m.invoke(args[0], [], expr.span)
        return value
    if name == "map_or":
        m.drop(args[0], expr.span)
    function = args[1] if name in ("map_or", "map_or_else") else args[0]
    result = m.invoke(function, [take(m, payload)], expr.span)
    return StructVal(value.name, {"0": Cell(result)}, value.variant) if name == "map" else result


def _fill(m: Machine, target: Cell, name: str, args: list[Value], expr: ast.MethodCall) -> Value:
    value = target.value
    assert isinstance(value, StructVal)
    if name == "replace":
        target.value = some(args[0])
        return value
    if name == "insert" or value.variant == "None":
        if name == "insert":
            m.drop(value, expr.span)
        new = m.invoke(args[0], [], expr.span) if name.endswith("with") else args[0]
        target.value = some(new)
    elif args and not name.endswith("with"):
        m.drop(args[0], expr.span)
    filled = target.value
    assert isinstance(filled, StructVal)
    return RefVal(filled.fields["0"], True)
