"""``use`` declarations, flattened to one leaf for each imported name."""

from __future__ import annotations

from tree_sitter import Node as TsNode

from gpusafe.parse.rust import ast
from gpusafe.parse.rust.build_source import Reader, named
from gpusafe.parse.rust.build_types import build_path


def build_use_leaves(r: Reader, node: TsNode) -> tuple[ast.UseLeaf, ...]:
    """The leaves of one declaration, in source order."""
    leaves: list[ast.UseLeaf] = []
    argument = node.child_by_field_name("argument")
    stack: list[tuple[TsNode, tuple[str, ...]]] = [(argument, ())] if argument is not None else []
    while stack:
        at, prefix = stack.pop()
        match at.type:
            case "use_list":
                stack.extend((child, prefix) for child in reversed(named(at)))
            case "scoped_use_list":
                path, inner = at.child_by_field_name("path"), at.child_by_field_name("list")
                names = prefix + (_names(r, path) if path is not None else ("",) if not prefix else ())
                if inner is not None:
                    stack.append((inner, names))
            case "use_wildcard":
                path = next(iter(named(at)), None)
                names = prefix + (_names(r, path) if path is not None else ())
                leaves.append(ast.UseLeaf(r.span(at), names, "*"))
            case "use_as_clause":
                path, alias = at.child_by_field_name("path"), at.child_by_field_name("alias")
                if path is not None and alias is not None:
                    names = _whole(prefix, _names(r, path))
                    leaves.append(ast.UseLeaf(r.span(at), names, r.text(alias).removeprefix("r#")))
            case "identifier" | "self" | "super" | "crate" | "scoped_identifier" | "metavariable":
                names = _whole(prefix, _names(r, at))
                leaves.append(ast.UseLeaf(r.span(at), names, names[-1]))
    return tuple(leaves)


def _names(r: Reader, node: TsNode) -> tuple[str, ...]:
    return build_path(r, node).names


def _whole(prefix: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    """``a::{self}`` names ``a`` itself."""
    return prefix if prefix and names == ("self",) else prefix + names
