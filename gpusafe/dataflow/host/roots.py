"""Which functions are walked from: those with GPU work that no other function in sight calls."""

from __future__ import annotations

import re
from collections import defaultdict

from gpusafe.dataflow.host.call_graph import callers_of
from gpusafe.dataflow.host.macro_expansion import texts_of
from gpusafe.dataflow.host.program import DIALECT_ROOTS, Function, Home, Program
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
_OTHERS_TOO = frozenset(["Stream", "Event", "Module", "Context", "Tensor", "Graph"])
"""Types of GPU crates whose names other crates use for other things."""
_STD_TOO = frozenset(
    [
        "alloc",
        "as_mut_ptr",
        "as_mut_slice",
        "as_ptr",
        "as_slice",
        "cast",
        "chunks",
        "clone_from_slice",
        "copy_from",
        "copy_from_slice",
        "copy_to",
        "get_flags",
        "is_null",
        "iter_mut",
        "leak",
        "null",
        "offset",
        "slice",
        "split_at",
        "split_at_mut",
        "stream",
        "to_vec",
        "transmute",
        "wrapping_add",
        "wrapping_offset",
        "wrapping_sub",
    ]
)
"""Methods of GPU types that std has too: they count only where a GPU type, or one that holds such, is named."""
_IDENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TYPE_IN_TEXT = re.compile(r"([A-Za-z_]\w*)\s*::")
_METHOD_IN_TEXT = re.compile(r"\.\s*([A-Za-z_]\w*)\s*(?:::\s*<[^()]*>\s*)?\(")


def gpu_functions(program: Program) -> list[Function]:
    """Functions whose own text does GPU work or handles GPU objects, and those that call such functions.

    The raw bindings that a GPU crate itself generates are the API, not uses of it.
    """
    names = _method_names() | {call.name for table in program.apis for call in table.calls}
    types = _GPU_TYPES | {name for table in program.apis for name in table.types}
    direct: set[str] = set()
    functions = [f for f in program.functions if not _is_binding(f)]
    holders = _holders(program, types)
    for function in functions:
        works = function.item.body is not None and program.dialects(function.home)
        if works and _does_work(program, function, names, types, holders):
            direct.add(function.key)
    callers = callers_of(program, functions)
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


def _does_work(
    program: Program, function: Function, names: frozenset[str], types: frozenset[str], holders: frozenset[str]
) -> bool:
    item, home = function.item, function.home
    if any(_is_gpu_type(program, p.type, home, types) for p in item.params):
        return True
    generic = any(g.kind == "type" for g in item.generics) and program.roots_of.get(home.file)
    if not generic and not _handles_any(function, holders):
        names = names - _STD_TOO - program.own_methods
    assert item.body is not None
    for node in walk(item.body):
        match node:
            case ast.MethodCall(name=name) if name in names or name in _GPU_CALLS:
                return True
            case ast.MacroCall(path=path, text=text):
                whole = "\n".join([text, *texts_of(program, path.last)])
                if path.last in _GPU_MACROS or not names.isdisjoint(_METHOD_IN_TEXT.findall(whole)):
                    return True
                if any(n in types and _is_gpu_name(program, n, home) for n in _TYPE_IN_TEXT.findall(whole)):
                    return True
            case ast.Call(func=ast.PathExpr(path=path)):
                if any(n in types and _is_gpu_name(program, n, home) for n in path.names) or path.last in _GPU_CALLS:
                    return True
    return False


def _is_gpu_type(program: Program, type_: ast.Type | None, home: Home, types: frozenset[str]) -> bool:
    name = type_name(type_)
    return name is not None and name in types and _is_gpu_name(program, name, home)


def _is_gpu_name(program: Program, name: str, home: Home) -> bool:
    """Whether a name of a GPU type means that type here, and not another crate's or the program's own."""
    if name not in _OTHERS_TOO:
        return True
    full = program.expand((name,), home)
    if any(segment in DIALECT_ROOTS for segment in full):
        return True
    own = program.type_item(name, home)
    if own is not None:
        return own.home.unit.crate in DIALECT_ROOTS
    return len(full) == 1 or full[0] in ("crate", "super", "self")


def _holders(program: Program, types: frozenset[str]) -> frozenset[str]:
    """The program's types and statics that mention a GPU type, at any depth, and the GPU types themselves."""
    mentions: dict[str, set[str]] = defaultdict(set)
    for name, definitions in program.types.items():
        for definition in definitions:
            for node in walk(definition.item):
                if isinstance(node, ast.TypePath) and node.path.last != name:
                    mentions[node.path.last].add(name)
    for name, definitions in program.values.items():
        for definition in definitions:
            if isinstance(definition.item, ast.Const | ast.Static) and definition.item.type is not None:
                for node in walk(definition.item.type):
                    if isinstance(node, ast.TypePath):
                        mentions[node.path.last].add(name.rpartition("::")[2])
    found = {t for t in types if t not in _OTHERS_TOO or t not in program.types}
    frontier = list(found)
    while frontier:
        for holder in mentions.get(frontier.pop(), ()):
            if holder not in found:
                found.add(holder)
                frontier.append(holder)
    return frozenset(found)


def _handles_any(function: Function, holders: frozenset[str]) -> bool:
    """Whether the function's signature, body or owner names a type, or a static of one, that holds GPU objects."""
    if function.owner in holders:
        return True
    for node in walk(function.item):
        match node:
            case ast.TypePath(path=path) if path.last in holders:
                return True
            case ast.PathExpr(path=path) | ast.StructLit(path=path) if not holders.isdisjoint(path.names):
                return True
    return False
