"""The entry of the host executor."""

from __future__ import annotations

from collections.abc import Sequence

from gpusafe.dataflow.host.explore import explore
from gpusafe.dataflow.host.loading import units_of
from gpusafe.dataflow.host.program import Program, SourceUnit, build_program
from gpusafe.dataflow.host.roots import gpu_functions, roots
from gpusafe.ir.host import Gap, HostFunction, HostPath, HostProgram, key_of
from gpusafe.ir.kernel import Kernel
from gpusafe.parse.dialects.extension_model import ApiTable
from gpusafe.parse.workspace_model import Workspace


def execute(workspace: Workspace, kernels: Sequence[Kernel], apis: tuple[ApiTable, ...] = ()) -> HostProgram:
    """All paths through the host functions of a workspace; never raises for what the code is like.

    ``apis``: what users say of their wrappers.
    """
    return execute_units(units_of(workspace), kernels, apis=apis)


def execute_units(
    units: Sequence[SourceUnit], kernels: Sequence[Kernel], strict: bool = False, apis: tuple[ApiTable, ...] = ()
) -> HostProgram:
    """The same for source files at hand; ``strict`` lets internal errors out (for tests)."""
    program = build_program(units, kernels, apis)
    program.strict = strict
    candidates = gpu_functions(program)
    program.gpu_names = frozenset(f.name for f in candidates)
    first = roots(candidates)
    paths: list[HostPath] = []
    visited: set[str] = set()
    is_root: set[str] = set()
    for function in [*first, *candidates]:
        if function.key in visited:
            continue
        explored = explore(program, function)
        visited |= explored.visited | {function.key}
        if any(path.ops for path in explored.paths):
            is_root.add(function.key)
            paths.extend(p for p in explored.paths if p.ops)
    functions = _units(program, paths, is_root)
    return HostProgram(functions, tuple(paths), _gaps(paths), tuple(program.launches))


def _units(program: Program, paths: list[HostPath], is_root: set[str]) -> tuple[HostFunction, ...]:
    spans = {(f.function, f.function_span) for p in paths for op in p.ops for f in op.frames}
    found: list[HostFunction] = []
    for function in program.functions:
        if (function.name, function.item.span) in spans:
            found.append(HostFunction(function.name, function.path, function.item.span, function.key in is_root))
    return tuple(found)


def _gaps(paths: list[HostPath]) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for path in paths:
        for op in path.ops:
            if isinstance(op, Gap):
                found.setdefault(key_of(path.root, path.root_span), {}).setdefault(op.reason)
    return {root: tuple(reasons) for root, reasons in found.items()}
