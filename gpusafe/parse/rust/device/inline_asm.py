"""Inline PTX (``asm!``)."""

from __future__ import annotations

from gpusafe.parse.rust import ast
from gpusafe.parse.rust.device.lowering import Lowering
from gpusafe.parse.rust.device.types import Ty
from gpusafe.parse.rust.device.values import Value


def asm_value(lw: Lowering, node: ast.MacroCall, want: Ty | None) -> Value:
    """``asm!(..)``."""
    return lw.unmodelled("inline assembly", node.span)
