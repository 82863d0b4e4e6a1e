"""Memory that ``global_asm!`` declares: ``.shared .align 16 .b8 ROW[4096];``."""

from __future__ import annotations

import re

from gpusafe.ir import kernel as k
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.device import terms
from gpusafe.parse.rust.device.lowering import Lowering
from gpusafe.parse.rust.device.program import Module
from gpusafe.parse.rust.macros import parse_args
from gpusafe.span import Span

_DECLARATION = re.compile(
    r"\.(?P<space>shared|global|const)\b(?P<middle>(?:\s*\.(?!b\d|u\d|s\d|f\d)\w+(?:\s+\d+)?)*)"
    r"\s*\.(?P<kind>[busf])(?P<bits>8|16|32|64)\s+(?P<name>[\w$]+)\s*(?:\[(?P<count>\d*)\])?"
)
_SPACES = {"shared": k.Space.SHARED, "global": k.Space.GLOBAL, "const": k.Space.CONSTANT}


def declared(lw: Lowering, name: str, span: Span) -> str | None:
    """The region of a symbol that the crate declares in assembly."""
    if name in lw.asm_regions:
        return lw.asm_regions[name]
    module: Module | None = lw.scope.module
    while module is not None and module.transparent:
        module = module.parent
    if module is None:
        return None
    for here in lw.program.walk(module.root):
        for item in here.items:
            if isinstance(item, ast.MacroItem) and item.call.path.last == "global_asm":
                made = _in(lw, item, name)
                if made is not None:
                    return made
    return None


def _in(lw: Lowering, item: ast.MacroItem, name: str) -> str | None:
    texts = [str(a.value) for a in parse_args(item.call) or () if isinstance(a, ast.Lit)]
    for found in _DECLARATION.finditer("\n".join(texts)):
        if found["name"] != name:
            continue
        space, size = _SPACES[found["space"]], int(found["bits"]) // 8
        count = int(found["count"]) if found["count"] else None
        region = lw.fresh(name)
        if found["count"] == "":
            space = k.Space.DYNAMIC_SHARED if space is k.Space.SHARED else space
        elif count is None:
            count = 1
        lw.regions[region] = k.Region(
            region,
            space,
            size,
            terms.int_const(count) if count is not None else None,
            item.span,
            read_only=space is k.Space.CONSTANT,
            initialized=space not in (k.Space.SHARED, k.Space.DYNAMIC_SHARED),
            nonzero=found.string[found.end() :].lstrip().startswith("="),
        )
        lw.asm_regions[name] = region
        return region
    return None
