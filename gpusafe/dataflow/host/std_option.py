"""Methods of Option and Result."""

from __future__ import annotations

from gpusafe.dataflow.host.branches import inside, quiet
from gpusafe.dataflow.host.drops import take
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.results import Found
from gpusafe.dataflow.host.signals import PanicSignal
from gpusafe.dataflow.host.values import Cell, IterVal, RefVal, StructVal, Unknown, Value, none, ok, some
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
_SAME = frozenset(
    [
        "context",
        "with_context",
        "map_err",
        "or",
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
        return Found(_unwrap(m, value, name, args, expr, by_ref))
    match name:
        case "is_some" | "is_ok":
            return Found(good)
        case "is_none" | "is_err":
            return Found(not good)
        case "ok":
            return Found(some(take(m, payload)) if good and payload else none())
        case "err":
            return Found(none() if good or not payload else some(take(m, payload)))
        case "ok_or" | "ok_or_else":
            if good and payload:
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
        case "and":
            return Found(args[0] if good else value)
        case "flatten":
            return Found(take(m, payload) if good and payload else value)
        case "unzip" | "zip" | "xor" | "filter":
            return Found(Unknown(f"the result of `{name}`"))
    if name in _SAME:
        if name in ("copied", "cloned") and good and payload:
            from gpusafe.dataflow.host.std_methods import clone_value

            return Found(StructVal(value.name, {"0": Cell(clone_value(m, payload.value))}, value.variant))
        if not good and name == "or_else" and args:
            return Found(m.invoke(args[0], [take(m, c) for c in value.fields.values()], expr.span))
        return Found(take(m, target) if not by_ref else value)
    return None


def _unwrap(m: Machine, value: StructVal, name: str, args: list[Value], expr: ast.MethodCall, by_ref: bool) -> Value:
    good = value.variant in ("Some", "Ok")
    wanted = good != name.endswith("_err")
    payload = value.fields.get("0")
    if wanted and payload is not None:
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


def _mapped(m: Machine, value: StructVal, name: str, args: list[Value], expr: ast.MethodCall) -> Value:
    good = value.variant in ("Some", "Ok")
    payload = value.fields.get("0")
    if not good or payload is None:
        match name:
            case "is_some_and" | "is_ok_and":
                return False
            case "map_or":
                return args[0]
            case "map_or_else":
                return m.invoke(args[0], [], expr.span)
        return value
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
    filled = target.value
    assert isinstance(filled, StructVal)
    return RefVal(filled.fields["0"], True)
