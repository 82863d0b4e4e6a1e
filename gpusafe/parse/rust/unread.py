"""What is found but not read: kernels in dialects without a front end or made by macros, functions that do not parse.

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
class Unread:
    """A function (or a macro call that makes kernels), where it is, and why it is not read.

    ``kind`` is that of the unit that it would be: ``kernel`` or ``host``.
    """

    kind: str
    name: str
    span: Span
    reason: str


def unread(workspace: Workspace) -> tuple[Unread, ...]:
    """Everything in the workspace that is not read, once each."""
    found: dict[Span, Unread] = {}
    for crate in workspace.crates:
        items = [item for module in crate.all_modules() for item in _all_items(module.items)]
        makers = {i.name for i in items if isinstance(i, ast.MacroRules) and _makes_kernels(i)}
        for item in items:
            what = _unread(item, makers)
            if what is not None:
                found.setdefault(what.span, what)
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


def _unread(item: ast.Item, makers: set[str]) -> Unread | None:
    match item:
        case ast.Fn() if any(a.path in ("cutile::entry", "entry") for a in item.attributes):
            return Unread("kernel", item.name, item.span, "kernels of cutile are not read yet")
        case ast.MacroItem(call=call) if call.path.last in makers:
            name = f"{call.path.last}!"
            return Unread("kernel", name, item.span, f"the kernels that the macro `{name}` makes are not read yet")
        case ast.Fn(problem=str() as problem):
            return Unread("host", item.name, item.span, problem)
    return None
