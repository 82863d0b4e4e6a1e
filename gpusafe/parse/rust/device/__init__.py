"""Device code in Rust: kernels to kernel IR.

The lowering is a partial evaluation of the kernel's body: scalars become IR terms and variables, while tuples, structs,
``Option``, slices, iterators and closures are trees of them that exist only here; calls are inlined.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpusafe.ir.kernel import Kernel
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.device.kernels import kernel_functions, lower_kernel
from gpusafe.parse.rust.device.lowering import Problem
from gpusafe.parse.rust.device.macro_rules import expand_items
from gpusafe.parse.rust.device.preludes import all_preludes
from gpusafe.parse.rust.device.program import Module, Program, build_module, family
from gpusafe.parse.syntax_cfg import DEVICE
from gpusafe.parse.workspace_model import Crate, ModulePath, Workspace

__all__ = ["DeviceKernels", "Problem", "lower_file", "lower_kernels"]


@dataclass(frozen=True, slots=True)
class DeviceKernels:
    """The kernels of a workspace, and what went wrong inside the lowering (for developers)."""

    kernels: tuple[Kernel, ...]
    problems: tuple[Problem, ...] = ()


def lower_kernels(workspace: Workspace) -> DeviceKernels:
    """All kernels of the Rust dialects; a function that several targets share appears once."""
    made: dict[str, Kernel] = {}
    problems: list[Problem] = []
    trees: dict[str, Module] = {}
    for crate in workspace.crates:
        program: Program | None = None
        root = _tree(workspace, crate, trees)
        for found in kernel_functions(Program({}), root):
            if program is None:
                program = _program(workspace, crate, trees)
            item = found.fn.item
            if f"{item.name}@{item.span.file}:{item.span.line}" in made:
                continue
            kernel, trouble = lower_kernel(program, found, crate.name)
            made.setdefault(kernel.key, kernel)
            problems.extend(trouble)
    return DeviceKernels(tuple(made.values()), tuple(problems))


def lower_file(source: ast.SourceFile) -> DeviceKernels:
    """The kernels of one file on its own."""
    root = build_module(("crate",), source.items, expand=expand_items)
    program = Program({"crate": root}, all_preludes())
    done = [lower_kernel(program, found, "crate") for found in kernel_functions(program, root)]
    return DeviceKernels(tuple(kernel for kernel, _ in done), tuple(p for _, ps in done for p in ps))


def _tree(workspace: Workspace, crate: Crate, trees: dict[str, Module]) -> Module:
    """The module tree of a crate, with the crates that its code can name."""
    known = trees.get(crate.key)
    if known is not None:
        return known
    modules = crate.modules
    root = build_module((crate.name,), modules[()].items if () in modules else (), expand=expand_items)
    trees[crate.key] = root
    places: dict[ModulePath, Module] = {(): root}
    for path in sorted(modules, key=len):
        if not path:
            continue
        parent = places.get(path[:-1])
        if parent is None:
            continue
        child = parent.children.get(path[-1])
        if child is None:
            written = modules[path]
            on_device = next((m for m in (written, *written.others) if DEVICE in m.sets), None)
            if on_device is None:
                continue
            child = build_module((crate.name, *path), on_device.items, parent, expand=expand_items)
            parent.children[path[-1]] = child
        places[path] = child
    return root


def _program(workspace: Workspace, crate: Crate, trees: dict[str, Module]) -> Program:
    roots = {crate.name: _tree(workspace, crate, trees)}
    todo = [crate]
    seen = {crate.key}
    while todo:
        here = todo.pop()
        for name, key in here.locals.items():
            other = workspace.by_key.get(key)
            if other is not None and key not in seen and family((name,)) is None:
                seen.add(key)
                todo.append(other)
                roots.setdefault(name, _tree(workspace, other, trees))
    return Program(roots, all_preludes())
