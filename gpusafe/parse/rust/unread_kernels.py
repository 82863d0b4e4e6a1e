"""Kernels that are found but not read: in dialects without a front end, or made by the program's own macros.

Each of them is a unit whose verdict is unknown, so that nobody takes silence for a proof.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gpusafe.parse.rust import ast
from gpusafe.parse.workspace_model import Workspace
from gpusafe.span import Span

_MAKES_KERNELS = re.compile(r'#\s*\[\s*(?:\w+\s*::\s*)*kernel\b|"(?:ptx|gpu)-kernel"')


@dataclass(frozen=True, slots=True)
class UnreadKernel:
    """A kernel (or a macro call that makes some), where it is, and why it is not read."""

    name: str
    span: Span
    reason: str


def unread_kernels(workspace: Workspace) -> tuple[UnreadKernel, ...]:
    """All kernels of the workspace that no front end reads, once each."""
    found: dict[Span, UnreadKernel] = {}
    for crate in workspace.crates:
        items = [item for module in crate.all_modules() for item in _all_items(module.items)]
        makers = {i.name for i in items if isinstance(i, ast.MacroRules) and _makes_kernels(i)}
        for item in items:
            kernel = _unread(item, makers)
            if kernel is not None:
                found.setdefault(kernel.span, kernel)
    return tuple(found.values())


def _all_items(items: Iterable[ast.Item]) -> Iterator[ast.Item]:
    stack = list(items)
    while stack:
        item = stack.pop()
        yield item
        match item:
            case ast.Mod(items=tuple() as inner) | ast.Impl(items=inner) | ast.Trait(items=inner):
                stack.extend(inner)


def _makes_kernels(macro: ast.MacroRules) -> bool:
    return any(_MAKES_KERNELS.search(transcriber) for _, transcriber in macro.rules)


def _unread(item: ast.Item, makers: set[str]) -> UnreadKernel | None:
    match item:
        case ast.Fn() if (cube := item.attribute("cube")) is not None and "launch" in cube.text:
            return UnreadKernel(item.name, item.span, "kernels of CubeCL are not read yet")
        case ast.Fn() if any(a.path in ("cutile::entry", "entry") for a in item.attributes):
            return UnreadKernel(item.name, item.span, "kernels of cutile are not read yet")
        case ast.MacroItem(call=call) if call.path.last in makers:
            name = f"{call.path.last}!"
            return UnreadKernel(name, item.span, f"the kernels that the macro `{name}` makes are not read yet")
    return None
