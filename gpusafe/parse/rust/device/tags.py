"""Tags of enum values: which variant one is."""

from __future__ import annotations

from gpusafe.ir.expr import BOOL, FALSE, ISIZE, TRUE, Const, Expr, Op
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.device import layout, terms
from gpusafe.parse.rust.device.types import (
    AdtTy,
)


def discriminant(ty: AdtTy, index: int) -> int:
    """The number that the tag of a variant has."""
    item = ty.adt.item
    assert isinstance(item, ast.Enum)
    value = -1
    for variant in item.variants[: index + 1]:
        given = variant.discriminant
        value = given.value if isinstance(given, ast.Lit) and isinstance(given.value, int) else value + 1
    return value


def tag_const(ty: AdtTy, index: int) -> Const:
    """The tag of a variant."""
    if layout.is_flag_enum(ty):
        return TRUE if index else FALSE
    return terms.int_const(discriminant(ty, index), ISIZE)


def is_variant(ty: AdtTy, tag: Expr, index: int) -> Expr:
    """The condition that a tag is that of a variant."""
    if tag.type == BOOL:
        return tag if index else terms.negate(tag)
    item = ty.adt.item
    if isinstance(item, ast.Enum) and len(item.variants) == 1:
        return TRUE
    return terms.binary(Op.EQ, tag, tag_const(ty, index))
