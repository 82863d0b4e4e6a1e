"""Generic parameters, with the bounds of simple ``where`` clauses added to them."""

from __future__ import annotations

from collections.abc import Callable

from tree_sitter import Node as TsNode

from gpusafe.parse.rust import ast
from gpusafe.parse.rust.build_source import Reader, named
from gpusafe.parse.rust.build_types import build_bounds


def build_generics(r: Reader, node: TsNode) -> tuple[ast.GenericParam, ...]:
    """The generic parameters of an item."""
    listed = node.child_by_field_name("type_parameters")
    if listed is None:
        return ()
    where = _where_bounds(r, node)
    return tuple(_PARAMS[child.type](r, child, where) for child in named(listed) if child.type in _PARAMS)


def _where_bounds(r: Reader, node: TsNode) -> dict[str, tuple[ast.Type, ...]]:
    clause = next((child for child in node.named_children if child.type == "where_clause"), None)
    found: dict[str, tuple[ast.Type, ...]] = {}
    for predicate in named(clause) if clause is not None else ():
        left = predicate.child_by_field_name("left")
        if left is not None and left.type == "type_identifier":
            bounds = build_bounds(r, predicate.child_by_field_name("bounds"))
            found[r.text(left)] = found.get(r.text(left), ()) + bounds
    return found


_Where = dict[str, tuple[ast.Type, ...]]


def _name(r: Reader, node: TsNode) -> str:
    name = node.child_by_field_name("name")
    return r.text(name) if name is not None else r.text(node)


def _type_param(r: Reader, node: TsNode, where: _Where) -> ast.GenericParam:
    name = _name(r, node)
    default = node.child_by_field_name("default_type")
    bounds = build_bounds(r, node.child_by_field_name("bounds")) + where.get(name, ())
    return ast.GenericParam(r.span(node), name, "type", None, bounds, r.type(default) if default is not None else None)


def _const_param(r: Reader, node: TsNode, where: _Where) -> ast.GenericParam:
    given, value = node.child_by_field_name("type"), node.child_by_field_name("value")
    return ast.GenericParam(
        r.span(node),
        _name(r, node),
        "const",
        r.type(given) if given is not None else None,
        (),
        r.expr(value) if value is not None else None,
    )


def _lifetime_param(r: Reader, node: TsNode, where: _Where) -> ast.GenericParam:
    return ast.GenericParam(r.span(node), _name(r, node), "lifetime")


_PARAMS: dict[str, Callable[[Reader, TsNode, _Where], ast.GenericParam]] = {
    "type_parameter": _type_param,
    "const_parameter": _const_param,
    "lifetime_parameter": _lifetime_param,
}
