"""Where a kernel stands in the workspace: its crate, its syntax tree, and the files that rustc needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpusafe.ir.kernel import Kernel
from gpusafe.parse.rust import ast
from gpusafe.parse.workspace_model import Crate, Workspace

Modules = Mapping[tuple[str, ...], tuple[ast.SourceFile, tuple[ast.Item, ...]]]


@dataclass(frozen=True, slots=True)
class KernelSource:
    """``modules`` are the crate's modules that have a file of their own, by path (the root is ``()``)."""

    crate: Crate
    modules: Modules
    function: ast.Fn

    @property
    def root_file(self) -> ast.SourceFile:
        """The crate's root file."""
        return self.modules[()][0]


def find_source(workspace: Workspace, kernel: Kernel) -> KernelSource | None:
    """The kernel's function in the syntax trees, or None (a kernel that a macro makes has none)."""
    for crate in (*workspace.crates, *workspace.libraries):
        modules = file_modules(crate)
        for file, items in modules.values():
            if file.path == kernel.span.file:
                function = _function(items, kernel)
                if function is not None and () in modules:
                    return KernelSource(crate, modules, function)
    return None


def meant_shared(source: KernelSource) -> frozenset[str]:
    """Names of statics that an attribute asks to be in shared memory (``link_section`` or ``address_space``)."""
    found: set[str] = set()
    stack = [item for _, items in source.modules.values() for item in items]
    while stack:
        item = stack.pop()
        match item:
            case ast.Mod(items=inner) if inner:
                stack += inner
            case ast.Fn(body=body) if body is not None:
                stack += [s.item for s in body.stmts if isinstance(s, ast.ItemStmt)]
            case ast.Static():
                asked = (item.attribute("link_section"), item.attribute("address_space"))
                if any(attribute is not None and "shared" in attribute.text for attribute in asked):
                    found.add(item.name)
    return frozenset(found)


def file_modules(crate: Crate) -> Modules:
    """The modules with a file of their own; inline modules are inside their parents' items."""
    found: dict[tuple[str, ...], tuple[ast.SourceFile, tuple[ast.Item, ...]]] = {}
    for path, module in sorted(crate.modules.items()):
        if path == () or all(module.file.path != file.path for file, _ in found.values()):
            found[path] = (module.file, module.file.items)
    return found


def _function(items: tuple[ast.Item, ...], kernel: Kernel) -> ast.Fn | None:
    stack = list(items)
    while stack:
        item = stack.pop()
        match item:
            case ast.Mod(items=inner) if inner:
                stack += inner
            case ast.Fn() if item.name == kernel.path.rsplit("::", 1)[-1] or item.name == kernel.name:
                if item.span.line <= kernel.span.end_line and kernel.span.line <= item.span.end_line:
                    return item
    return None
