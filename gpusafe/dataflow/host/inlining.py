"""Calls of the program's own functions: their bodies are walked with the caller's values."""

from __future__ import annotations

from gpusafe.dataflow.host.access import peel
from gpusafe.dataflow.host.blocks import closing, run_scoped, statement
from gpusafe.dataflow.host.configuration import alternative
from gpusafe.dataflow.host.foreign import handles_in
from gpusafe.dataflow.host.handles import (
    Buffer,
    Builder,
    Context,
    EventHandle,
    FunctionHandle,
    Graph,
    Lazy,
    ModuleHandle,
    StreamHandle,
    View,
)
from gpusafe.dataflow.host.machine import MAX_DEPTH, Call, LoopWatch, Machine
from gpusafe.dataflow.host.passing_over import leave_by_panic
from gpusafe.dataflow.host.program import Function
from gpusafe.dataflow.host.signals import CutSignal, ReturnSignal
from gpusafe.dataflow.host.syntax_walk import type_name
from gpusafe.dataflow.host.typing_rules import apply_type
from gpusafe.dataflow.host.values import Cell, SeqVal, SharedVal, SliceVal, StructVal, Unknown, Value
from gpusafe.parse.rust import ast
from gpusafe.span import Span

_RECURSION = 3
_TOO_MANY_FORKS = 64


def call_function(
    m: Machine, function: Function, args: list[Value], span: Span, path: ast.Path | None, expect: ast.Type | None
) -> Value:
    """Walks a function of the program; the result has what its declared type says."""
    function = alternative(m, function)
    if sum(1 for c in m.calls if c.key == function.key) >= _RECURSION or len(m.calls) > MAX_DEPTH:
        m.gap(span, f"recursive call of `{function.name}` is not followed")
        return Unknown(f"the result of `{function.name}`", function.item.result, tuple(args))
    if m.hurried and m.program.forks[function.key] >= _TOO_MANY_FORKS:
        raise CutSignal(f"the call of `{function.name}` is not followed: it has too many paths")
    if function.item.is_async:
        return _later(m, function, args, span, path)
    if function.name in m.program.gpu_names or any(handles_in(a) for a in args) or function.item.body is None:
        return enter(m, function, args, span, path)
    key = f"call {function.key}"
    if key in m.program.passed_over:
        leave_by_panic(m, function.item.body)
        return apply_type(m, Unknown(f"the result of `{function.name}`", function.item.result), function.item.result)
    watch = LoopWatch(host_only=key, start=len(m.ops))
    m.loops.append(watch)
    try:
        return enter(m, function, args, span, path)
    finally:
        m.loops.remove(watch)


def enter(m: Machine, function: Function, args: list[Value], span: Span, path: ast.Path | None) -> Value:
    """Walks the body."""
    item = function.item
    m.visited.add(function.key)
    types = _bound_types(m, function, path)
    if m.calls:
        m.call.at = span if m.call.span.contains(span) else m.call.at
    call = Call(
        item.name,
        item.span,
        function.home,
        item.span,
        types=types,
        owner=function.owner,
        key=function.key,
        number=m.next_call(),
    )
    m.calls.append(call)
    if item.body is None or item.problem is not None:
        m.calls.pop()
        m.gap(span, f"the body of `{item.name}` could not be read: {item.problem or 'it has none'}")
        return Unknown(f"the result of `{item.name}`", item.result, tuple(args))
    end = closing(item.body.span)
    try:
        with statement(m, end), run_scoped(m, end):
            _declare_constants(m, function, path, args)
            for param, arg in zip(item.params, args, strict=False):
                m.bind(param.pat, Cell(apply_type(m, arg, param.type)))
            result = m.hooks.block(m, item.body, item.result)
    except ReturnSignal as signal:
        result = signal.value
    finally:
        del m.calls[m.calls.index(call) :]
    return _typed(m, call, result, item.result)


def _declare_constants(m: Machine, function: Function, path: ast.Path | None, args: list[Value]) -> None:
    """Const generic parameters become variables: from the turbofish, else from the lengths of array arguments."""
    given = [g for g in path.generics if isinstance(g, ast.Expr)] if path is not None else []
    for generic_param in (g for g in function.item.generics if g.kind == "const"):
        value: Value = Unknown(f"`{generic_param.name}`")
        if given:
            value = m.value(given.pop(0))
        else:
            for param, arg in zip(function.item.params, args, strict=False):
                found = _array_length(param.type, generic_param.name, peel(arg))
                value = found if found is not None else value
        m.declare(generic_param.name, Cell(apply_type(m, value, generic_param.type), generic_param.name))


def _array_length(type_: ast.Type | None, name: str, arg: Value) -> Value | None:
    while isinstance(type_, ast.TypeRef):
        type_ = type_.inner
    if isinstance(type_, ast.TypeArray) and isinstance(type_.length, ast.PathExpr) and type_.length.path.last == name:
        return arg.length if isinstance(arg, SeqVal) else None
    return None


def _typed(m: Machine, call: Call, result: Value, type_: ast.Type | None) -> Value:
    m.calls.append(call)
    try:
        return apply_type(m, result, type_)
    finally:
        m.calls.pop()


def _later(m: Machine, function: Function, args: list[Value], span: Span, path: ast.Path | None) -> Value:
    from gpusafe.dataflow.host.values import TypeVal

    return Lazy("async_fn", (TypeVal("call", (function, path)), *args), "std", span)


def _bound_types(m: Machine, function: Function, path: ast.Path | None) -> dict[str, ast.Type]:
    types: dict[str, ast.Type] = {}
    if path is not None and path.generics:
        names = [g.name for g in function.item.generics if g.kind == "type"]
        for name, argument in zip(names, path.generics, strict=False):
            if isinstance(argument, ast.Type):
                types[name] = _resolve(m, argument)
    if function.self_type is not None:
        types["Self"] = function.self_type
    return types


def _resolve(m: Machine, type_: ast.Type) -> ast.Type:
    if m.calls and isinstance(type_, ast.TypePath) and len(type_.path.names) == 1:
        return m.call.types.get(type_.path.names[0], type_)
    return type_


_HANDLE_TYPES: dict[type, tuple[str, ...]] = {
    Context: ("CudaContext", "Context", "Device", "CudaDevice"),
    StreamHandle: ("CudaStream", "Stream"),
    EventHandle: ("CudaEvent", "Event"),
    ModuleHandle: ("CudaModule", "Module", "LoadedModule"),
    FunctionHandle: ("CudaFunction", "Function"),
    Builder: ("LaunchArgs",),
    Graph: ("CudaGraph", "Graph"),
    View: ("CudaView", "CudaViewMut", "DeviceSlice"),
    SeqVal: ("Vec",),
    SliceVal: ("Vec",),
    SharedVal: ("Arc", "Rc"),
    Lazy: ("DeviceOperation",),
}

_BUFFER_TYPES: dict[str, tuple[str, ...]] = {
    "device": ("CudaSlice", "DeviceBuffer", "DeviceBox", "Tensor"),
    "pinned": ("PinnedHostSlice", "LockedBuffer", "PinnedHostBuffer"),
    "unified": ("UnifiedSlice", "UnifiedBuffer"),
}


def type_names(value: Value) -> tuple[str, ...]:
    """The names that an impl may have been written for, for a value of this kind."""
    match value:
        case StructVal(name=name):
            return (name,)
        case Buffer(kind=kind):
            return _BUFFER_TYPES.get(kind, ())
        case Unknown(type=type_) if type_ is not None:
            known = type_name(type_)
            return (known,) if known else ()
    return _HANDLE_TYPES.get(type(value), ())
