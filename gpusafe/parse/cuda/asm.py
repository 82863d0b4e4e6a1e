"""Inline PTX: the instructions that order or touch memory; anything else is not modelled."""

from __future__ import annotations

from gpusafe.parse.cuda import syntax as s
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.context import Context, Unsupported
from gpusafe.parse.cuda.values import NoValue, Operand


def inline_assembly(x: Context, expr: s.Asm) -> Operand:
    """One ``asm`` statement."""
    if not expr.template.strip():
        return NoValue(t.VOID)
    raise Unsupported(f"inline assembly `{' '.join(expr.template.split())}`")
