"""Contracts as terms of the IR."""

from __future__ import annotations

import pytest

from gpusafe.ir import expr as ir
from gpusafe.parse.directives import DirectiveError, parse_expr, to_term

N = ir.Param(ir.U32, "n")
OUT = ir.Length(ir.USIZE, "out")


def term(text: str) -> ir.Expr:
    return to_term(parse_expr(text), {"n": N}.get, {"out": OUT}.get)


def test_operands_of_different_widths_meet_in_one_that_holds_both() -> None:
    assert term("n <= out.len()") == ir.Binary(ir.BOOL, ir.Op.LE, ir.Cast(ir.I128, N), ir.Cast(ir.I128, OUT))


def test_geometry_is_what_cuda_calls_it() -> None:
    assert term("gridDim.y == 1") == ir.Binary(
        ir.BOOL, ir.Op.EQ, ir.Cast(ir.I128, ir.Special(ir.U32, "nctaid.y")), ir.Const(ir.I128, 1)
    )


@pytest.mark.parametrize("text", ["m < 3", "x.len() == 2", "injective(perm)", "n && n", "(n < 3) + 1"])
def test_what_is_no_condition_on_known_names_is_refused(text: str) -> None:
    with pytest.raises(DirectiveError):
        term(text)
