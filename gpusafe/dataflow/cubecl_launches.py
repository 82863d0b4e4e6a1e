"""Launches of CubeCL (``kernel::launch::<F, R>(&client, count, dim, ..)``), read from the text alone.

The runtime picks the stream and orders what shares a buffer (cubecl-runtime, stream/event.rs), so that host code is not
followed further: what a launch says of its kernel is the number of cubes and of units in each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from gpusafe.dataflow.host.syntax_walk import walk
from gpusafe.ir.kernel import Kernel, LaunchSize
from gpusafe.parse.rust import ast
from gpusafe.parse.workspace_model import Workspace
from gpusafe.span import Span

_FORMS = frozenset({"launch", "launch_unchecked"})
_AXES = 3
_BY_MACRO = "the launch that a macro may make"
_BEFORE_ARGUMENTS = 3  # the client, the count of cubes, the dimension of each
Extent = tuple[int | None, int | None, int | None]
_UNKNOWN: Extent = (None, None, None)


@dataclass(frozen=True, slots=True)
class CubeLaunch:
    """One launch: its kernel (None: none of that name, or several), its sizes, whether the arguments fit."""

    name: str
    function: str
    span: Span
    kernel: str | None
    size: LaunchSize
    sized: bool
    fits: bool


def is_cubecl(text: str) -> bool:
    """Whether a file may launch kernels of CubeCL."""
    return "cubecl" in text and ("launch" in text)


def find_cube_launches(workspace: Workspace, kernels: Sequence[Kernel]) -> tuple[CubeLaunch, ...]:
    """All launches of CubeCL kernels in the sources, in order."""
    cubes = [k for k in kernels if k.dialect == "cubecl"]
    found: dict[Span, CubeLaunch] = {}
    seen: set[str] = set()
    for crate in workspace.crates:
        for module in crate.all_modules():
            if module.file.path in seen or not is_cubecl(module.file.text):
                continue
            seen.add(module.file.path)
            for item in module.file.items:
                for function in (n for n in walk(item) if isinstance(n, ast.Fn) and n.body is not None):
                    for launch in _in_function(function, cubes):
                        found.setdefault(launch.span, launch)
    return tuple(sorted(found.values(), key=lambda launch: launch.span))


def with_cube_launches(workspace: Workspace, kernels: Sequence[Kernel]) -> tuple[Kernel, ...]:
    """The kernels with the sizes of the launches that name them."""
    if not any(k.dialect == "cubecl" for k in kernels):
        return tuple(kernels)
    sizes: dict[str, list[LaunchSize]] = {}
    for launch in find_cube_launches(workspace, kernels):
        if launch.kernel is not None:
            sizes.setdefault(launch.kernel, []).append(launch.size)
    hidden = _macros_launch(workspace)
    return tuple(
        _sized(k, sizes[k.key])
        if k.key in sizes
        else replace(k, unheld=(*k.unheld, _BY_MACRO))
        if hidden and k.dialect == "cubecl"
        else k
        for k in kernels
    )


def _macros_launch(workspace: Workspace) -> bool:
    """Whether a macro of the sources may launch kernels, which the text does not show."""
    return any(
        isinstance(node, ast.MacroRules) and any("::launch" in body.replace(" ", "") for _, body in node.rules)
        for crate in workspace.crates
        for module in crate.all_modules()
        if is_cubecl(module.file.text)
        for item in module.file.items
        for node in walk(item)
    )


def _sized(kernel: Kernel, sizes: Sequence[LaunchSize]) -> Kernel:
    """The kernel with its launches; a size that is not known may rule a counterexample out."""
    open_ = tuple(f"the size of the launch in line {s.span.line}" for s in sizes if None in (*s.grid, *s.block))
    return replace(kernel, launched=tuple(sizes), unheld=(*kernel.unheld, *open_))


def _in_function(function: ast.Fn, kernels: Sequence[Kernel]) -> Iterator[CubeLaunch]:
    assert function.body is not None
    lets: dict[str, ast.Expr | None] = {}
    calls: list[ast.Call] = []
    for node in walk(function.body, into_items=False):
        match node:
            case ast.Let(pat=ast.PatIdent(name=name), value=value):
                lets[name] = value if name not in lets else None
            case ast.Call(func=ast.PathExpr(path=path), args=args) if (
                path.last in _FORMS and len(path.names) > 1 and len(args) >= _BEFORE_ARGUMENTS
            ):
                calls.append(node)
            case _:
                pass
    for call in calls:
        assert isinstance(call.func, ast.PathExpr)
        name = call.func.path.names[-2]
        kernel = _kernel(name, call.span.file, kernels)
        grid, block = (_extent(arg, lets) for arg in call.args[1:_BEFORE_ARGUMENTS])
        size = LaunchSize(grid, block, call.span)
        given = len(call.args) - _BEFORE_ARGUMENTS
        fits = kernel is not None and given >= len(kernel.params)
        key = kernel.key if kernel is not None else None
        yield CubeLaunch(name, function.name, call.span, key, size, _UNKNOWN not in (grid, block), fits)


def _kernel(name: str, file: str, kernels: Sequence[Kernel]) -> Kernel | None:
    """The kernel of that name: the one of the same file, else the only one."""
    named = [k for k in kernels if k.name == name]
    here = [k for k in named if k.span.file == file]
    chosen = here or named
    return chosen[0] if len(chosen) == 1 else None


def _extent(expr: ast.Expr, lets: dict[str, ast.Expr | None]) -> Extent:
    """``CubeCount::Static(x, y, z)``, ``CubeDim::new_2d(x, y)``, ``CubeDim { x, y, z }``, a variable that holds one."""
    expr = _behind(expr, lets)
    match expr:
        case ast.Call(func=ast.PathExpr(path=path), args=args):
            numbers = [_number(a, lets) for a in args]
            match path.last:
                case "Static" | "new_3d" | "new" if len(numbers) == _AXES:
                    return (numbers[0], numbers[1], numbers[2])
                case "new_1d" if len(numbers) == 1:
                    return (numbers[0], 1, 1)
                case "new_2d" if len(numbers) == 2:
                    return (numbers[0], numbers[1], 1)
                case "new_single" if not numbers:
                    return (1, 1, 1)
        case ast.StructLit(fields=fields):
            given = {name: _number(value, lets) for name, value in fields if isinstance(value, ast.Expr)}
            return (given.get("x"), given.get("y"), given.get("z"))
    return _UNKNOWN


def _behind(expr: ast.Expr, lets: dict[str, ast.Expr | None]) -> ast.Expr:
    """The value of a variable that is bound once, clones and references looked through."""
    for _ in range(8):
        match expr:
            case ast.PathExpr(path=path) if len(path.names) == 1 and (value := lets.get(path.last)) is not None:
                expr = value
            case ast.MethodCall(name="clone" | "into", receiver=inner) | ast.Ref(operand=inner):
                expr = inner
            case _:
                break
    return expr


def _number(expr: ast.Expr, lets: dict[str, ast.Expr | None]) -> int | None:
    expr = _behind(expr, lets)
    match expr:
        case ast.Lit(value=int() as value) if not isinstance(value, bool):
            return value
        case ast.Cast(operand=inner):
            return _number(inner, lets)
        case _:
            return None
