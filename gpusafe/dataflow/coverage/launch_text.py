"""Every launch expression of the sources, found in the syntax alone: what the executor reached plays no part."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from gpusafe.dataflow.host.loading import parse_version
from gpusafe.dataflow.host.syntax_walk import children, type_name, walk
from gpusafe.parse.rust import ast
from gpusafe.parse.workspace_gpu_text import GPU_CRATES
from gpusafe.parse.workspace_model import Crate, Workspace
from gpusafe.span import Span

_ASYNC_SUFFIXES = ("_async_owned_unchecked", "_async_unchecked", "_async_owned", "_async", "_unchecked")
_RAW = re.compile(r"^(launch_kernel(_ex)?(_cooperative)?(_on_stream)?|cu(da)?Launch(Cooperative)?Kernel(Ex|ExC)?)$")
_IN_MACRO = re.compile(
    r"\.\s*launch(?:_cooperative|_on_stream)?\s*\(|<<<|\bcuda_launch(?:_async)?\s*!|\bcuLaunchKernel\w*\s*\("
)
_BUILDERS = frozenset({"launch_builder", "builder"})
_BUILDER_TYPES = frozenset({"LaunchArgs"})
_OLD_CUDARC = (0, 14)


@dataclass(frozen=True, slots=True)
class LaunchText:
    """One launch expression: where, in which function, and by which form (``launch_builder``, ``launch!``...).

    ``unread`` says why the form is not followed at all (None: it is).
    """

    span: Span
    function: str
    form: str
    unread: str | None = None


@dataclass(frozen=True, slots=True)
class _Names:
    """What the forms are told apart by: kernels with generated launch methods, and types' own ``launch`` methods."""

    generated: dict[str, frozenset[int]]
    own: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an expression stands: its crate, file text and function, and the function's builder variables."""

    crate: Crate
    uses: frozenset[str]
    function: str
    builders: frozenset[str] = field(default_factory=frozenset)


def find_launches(workspace: Workspace) -> tuple[LaunchText, ...]:
    """All launch expressions of the crates with GPU code, once each, in order of the files."""
    names = _names(workspace)
    found: dict[Span, LaunchText] = {}
    seen: set[str] = set()
    for crate in workspace.crates:
        for module in crate.all_modules():
            if module.file.path in seen:
                continue
            seen.add(module.file.path)
            uses = frozenset(c for c in GPU_CRATES if c in module.file.text) | frozenset(crate.dependencies)
            for item in module.file.items:
                for launch in _in_item(item, _Place(crate, uses, ""), names):
                    found.setdefault(launch.span, launch)
    return tuple(sorted(found.values(), key=lambda launch: launch.span))


def _names(workspace: Workspace) -> _Names:
    generated: dict[str, set[int]] = {}
    own: set[str] = set()
    for crate in workspace.crates:
        for module in crate.all_modules():
            for item, in_module in _items(module.file.items):
                match item:
                    case ast.Fn(name=name, params=params) if in_module and item.attribute("kernel") is not None:
                        generated.setdefault(name, set()).add(len(params))
                    case ast.Impl(items=items) if crate.name not in GPU_CRATES:
                        own.update(i.name for i in items if isinstance(i, ast.Fn) and _takes_self(i))
    return _Names({name: frozenset(counts) for name, counts in generated.items()}, frozenset(own))


def _takes_self(item: ast.Fn) -> bool:
    first = item.params[0].pat if item.params else None
    return isinstance(first, ast.PatIdent) and first.name == "self"


def _items(items: tuple[ast.Item, ...]) -> Iterator[tuple[ast.Item, bool]]:
    """All items, those of inner modules too, and whether each stands in a ``#[cuda_module]``."""
    stack = [(item, False) for item in items]
    while stack:
        item, inside = stack.pop()
        yield item, inside
        if isinstance(item, ast.Mod) and item.items is not None:
            inside = inside or item.attribute("cuda_module") is not None
            stack.extend((inner, inside) for inner in item.items)


def _in_item(item: ast.Item, place: _Place, names: _Names) -> Iterator[LaunchText]:
    stack: list[tuple[ast.Node, _Place]] = [(item, place)]
    while stack:
        node, here = stack.pop()
        match node:
            case ast.Fn(name=name, body=body):
                here = _Place(here.crate, here.uses, name, here.builders | _builders(node))
                stack.extend((part, here) for part in (body,) if part is not None)
                continue
            case ast.MacroRules():
                yield from _in_rules(node, here)
                continue
            case ast.MethodCall() | ast.Call() | ast.MacroCall():
                launch = _launch(node, here, names)
                if launch is not None:
                    yield launch
        stack.extend((child, here) for child in children(node))


def _builders(item: ast.Fn) -> frozenset[str]:
    """The variables of a function that hold a launch builder."""
    found = {p.pat.name for p in item.params if isinstance(p.pat, ast.PatIdent) and type_name(p.type) in _BUILDER_TYPES}
    for node in walk(item.body) if item.body is not None else ():
        match node:
            case ast.Let(pat=ast.PatIdent(name=name), value=ast.Expr() as value) if _makes_builder(value):
                found.add(name)
            case ast.Closure(params=params):
                found |= {
                    p.pat.name for p in params if isinstance(p.pat, ast.PatIdent) and type_name(p.type) == "LaunchArgs"
                }
    return frozenset(found)


def _makes_builder(expr: ast.Expr) -> bool:
    return any(isinstance(node, ast.MethodCall) and node.name in _BUILDERS for node in _chain(expr))


def _chain(expr: ast.Expr) -> Iterator[ast.Expr]:
    """A chain of method calls from its end to its root."""
    current: ast.Expr | None = expr
    while current is not None:
        yield current
        match current:
            case ast.MethodCall(receiver=inner) | ast.Try(operand=inner) | ast.Field(base=inner):
                current = inner
            case ast.Ref(operand=inner):
                current = inner
            case ast.BlockExpr(block=ast.Block(tail=tail)):
                current = tail
            case _:
                current = None


def _launch(node: ast.Node, place: _Place, names: _Names) -> LaunchText | None:
    match node:
        case ast.MethodCall(name="launch" | "launch_cooperative" | "launch_on_stream"):
            return _method(node, place, names)
        case ast.MethodCall(name=name, args=args):
            return _generated(node, name, len(args), place, names)
        case ast.MacroCall(path=path, text=text):
            return _macro(node, path.last, text, place)
        case ast.Call(func=ast.PathExpr(path=path), args=args) if _RAW.match(path.last):
            if place.crate.name in GPU_CRATES or not args:
                return None  # the API's own code
            return LaunchText(node.span, place.function, path.last, f"`{path.last}` is not followed")
        case ast.Call(func=ast.PathExpr(path=path)) if path.last in ("launch", "launch_unchecked"):
            if len(path.names) > 1 and any(name.startswith("cubecl") for name in place.uses):
                return LaunchText(node.span, place.function, "cubecl")
    return None


def _method(call: ast.MethodCall, place: _Place, names: _Names) -> LaunchText | None:
    """``.launch(..)`` of cudarc's builder, of its old functions, and of cust's streams."""
    chain = list(_chain(call.receiver))
    count = len(call.args)
    root = chain[-1]
    if any(isinstance(n, ast.MethodCall) and n.name in _BUILDERS for n in chain) or (
        isinstance(root, ast.PathExpr) and root.path.last in place.builders
    ):
        return LaunchText(call.span, place.function, "launch_builder") if count == 1 else None
    if count == 5 and place.uses & {"cust", "rustacuda"}:
        return LaunchText(call.span, place.function, "Stream::launch", "`Stream::launch` is not followed")
    if "cudarc" not in place.uses and place.crate.name != "cudarc":
        return None
    version = parse_version(place.crate.dependencies.get("cudarc", ""))
    if version and version < _OLD_CUDARC:
        wanted = 3 if call.name == "launch_on_stream" else 2
        return LaunchText(call.span, place.function, "LaunchAsync") if count == wanted else None
    if count == 1 and call.name not in names.own:
        return LaunchText(call.span, place.function, "launch_builder")
    return None


def _generated(call: ast.MethodCall, name: str, count: int, place: _Place, names: _Names) -> LaunchText | None:
    """``module.kernel(&stream, config, ..)`` and its kin, which `#[cuda_module]` generates."""
    if name in names.generated and count - 2 in names.generated[name]:
        return LaunchText(call.span, place.function, "module.kernel")
    for suffix in _ASYNC_SUFFIXES:
        base = name.removesuffix(suffix)
        if base != name and base in names.generated:
            extra = 1 if "async" in suffix else 2
            if count - extra in names.generated[base]:
                return LaunchText(call.span, place.function, f"module.kernel{suffix}")
    return None


def _macro(call: ast.MacroCall, name: str, text: str, place: _Place) -> LaunchText | None:
    if name == "launch" and "<<<" in text:
        return LaunchText(call.span, place.function, "launch!")
    if name in ("cuda_launch", "cuda_launch_async"):
        return LaunchText(call.span, place.function, f"{name}!")
    if name in ("println", "panic", "format") or not _IN_MACRO.search(text):
        return None
    return LaunchText(call.span, place.function, f"inside {name}!", f"a launch inside of `{name}!` is not read")


def _in_rules(item: ast.MacroRules, place: _Place) -> Iterator[LaunchText]:
    if place.crate.name in GPU_CRATES:
        return
    reason = "a launch inside of a `macro_rules!` is not followed"
    at = item.span
    for number, (_, transcriber) in enumerate(item.rules):
        for hit, _found in enumerate(_IN_MACRO.finditer(transcriber)):
            span = Span(at.file, at.line, at.col + 1 + number + hit, at.end_line, at.end_col)
            yield LaunchText(span, place.function, f"inside {item.name}!", reason)
