"""Which functions are walked from: those with GPU work that no other function in sight calls."""

from __future__ import annotations

import re
from collections import defaultdict

from gpusafe.dataflow.host.program import DIALECT_ROOTS, Function, Program
from gpusafe.dataflow.host.syntax_walk import type_name, walk
from gpusafe.parse.dialects.host_tables import host_table
from gpusafe.parse.rust import ast

_GPU_MACROS = frozenset(["launch", "cuda_launch", "cuda_launch_async", "zip", "unzip"])
_GPU_TYPES = frozenset(
    [
        "CudaContext",
        "CudaDevice",
        "CudaStream",
        "CudaEvent",
        "CudaSlice",
        "CudaView",
        "CudaViewMut",
        "CudaModule",
        "CudaFunction",
        "CudaGraph",
        "Stream",
        "Event",
        "DeviceBuffer",
        "DeviceBox",
        "DeviceSlice",
        "LockedBuffer",
        "UnifiedBuffer",
        "UnifiedBox",
        "LockedBox",
        "PinnedHostBuffer",
        "PinnedHostSlice",
        "UnifiedSlice",
        "DeviceVariable",
        "Module",
        "Context",
        "LoadedModule",
        "DevicePointer",
        "Tensor",
        "Graph",
    ]
)
_GPU_CALLS = frozenset(["quick_init", "init_device_contexts", "sync", "sync_on"])
_PLAIN = frozenset(
    [
        "len",
        "is_empty",
        "context",
        "wait",
        "join",
        "iter",
        "index",
        "get",
        "first",
        "last",
        "contains",
        "fill",
        "swap",
        "add",
        "sub",
        "clone",
        "new",
    ]
)
_IDENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def gpu_functions(program: Program) -> list[Function]:
    """Functions whose own text does GPU work or handles GPU objects, and those that call such functions.

    The raw bindings that a GPU crate itself generates are the API, not uses of it.
    """
    names = _method_names() | {call.name for table in program.apis for call in table.calls}
    types = _GPU_TYPES | {name for table in program.apis for name in table.types}
    direct: set[str] = set()
    functions = [f for f in program.functions if not _is_binding(f)]
    for function in functions:
        works = function.item.body is not None and program.dialects(function.home)
        if works and _does_work(function.item, names, types):
            direct.add(function.key)
    callers: dict[str, set[str]] = defaultdict(set)
    by_name: dict[str, list[Function]] = defaultdict(list)
    for function in functions:
        by_name[function.name].append(function)
    for function in functions:
        for name in called_names(function.item):
            for callee in by_name.get(name, ()):
                callers[callee.key].add(function.key)
    reached, frontier = set(direct), list(direct)
    while frontier:
        for caller in callers[frontier.pop()]:
            if caller not in reached:
                reached.add(caller)
                frontier.append(caller)
    return [f for f in functions if f.key in reached and f.item.body is not None]


def _is_binding(function: Function) -> bool:
    """Whether a function stands in the `sys` module of a GPU crate."""
    return function.home.unit.crate in DIALECT_ROOTS and "sys" in function.home.module


def roots(functions: list[Function]) -> list[Function]:
    """Those that no other of the functions calls by name, in source order."""
    called: set[str] = set()
    for function in functions:
        called |= {n for n in called_names(function.item) if n != function.name}
    return [f for f in functions if f.name == "main" or f.name not in called]


def called_names(item: ast.Fn) -> set[str]:
    """Names that a body calls or mentions as functions, macro arguments included."""
    found: set[str] = set()
    if item.body is None:
        return found
    for node in walk(item.body):
        match node:
            case ast.PathExpr(path=path):
                found.add(path.last)
            case ast.MethodCall(name=name):
                found.add(name)
            case ast.MacroCall(text=text):
                found.update(_IDENT.findall(text))
    return found


def _method_names() -> frozenset[str]:
    names: set[str] = set()
    for dialect in ("cudarc", "cust", "oxide"):
        for methods in host_table(dialect).values():
            names |= set(methods)
    return frozenset(names - _PLAIN)


def _does_work(item: ast.Fn, names: frozenset[str], types: frozenset[str]) -> bool:
    if any(type_name(p.type) in types for p in item.params):
        return True
    assert item.body is not None
    for node in walk(item.body):
        match node:
            case ast.MethodCall(name=name) if name in names or name in _GPU_CALLS:
                return True
            case ast.MacroCall(path=path) if path.last in _GPU_MACROS:
                return True
            case ast.Call(func=ast.PathExpr(path=path)):
                if any(n in types for n in path.names) or path.last in _GPU_CALLS:
                    return True
    return False
