"""Blocks and statements."""

from __future__ import annotations

from tree_sitter import Node as TsNode

from gpusafe.parse.rust import ast
from gpusafe.parse.rust.build_attributes import build_attribute
from gpusafe.parse.rust.build_items import ITEM_KINDS, build_item
from gpusafe.parse.rust.build_source import Reader

_SKIPPED = frozenset(
    {"line_comment", "block_comment", "inner_attribute_item", "empty_statement", "label", "mutable_specifier"}
)


def build_block(r: Reader, node: TsNode) -> ast.Block:
    """The statements of a block; the last expression without a semicolon is its value."""
    stmts: list[ast.Stmt] = []
    tail: ast.Expr | None = None
    pending: list[ast.Attribute] = []
    tail_attributes: tuple[ast.Attribute, ...] = ()
    for child in node.named_children:
        kind = child.type
        if kind in _SKIPPED:
            continue
        if kind == "attribute_item":
            pending.extend(build_attribute(r, child))
            continue
        attributes = tuple(pending)
        pending.clear()
        if tail is not None:  # a block-like expression or macro call that turned out to be a statement
            stmts.append(ast.ExprStmt(tail.span, tail, tail_attributes))
            tail = None
        if kind == "let_declaration":
            stmts.append(_let(r, child, attributes))
        elif kind == "expression_statement":
            inner = child.children
            value = next((c for c in inner if c.is_named and c.type not in _SKIPPED), None)
            if value is not None and inner[-1].type == ";":
                stmts.append(ast.ExprStmt(r.span(child), r.expr(value), attributes))
            elif value is not None:
                tail, tail_attributes = r.expr(value), attributes
        elif kind in ITEM_KINDS:
            item = build_item(r, child, attributes)
            stmts.append(ast.ItemStmt(item.span, item))
        else:
            tail, tail_attributes = r.expr(child), attributes
    if tail is None:
        tail_attributes = ()
    return ast.Block(r.span(node), tuple(stmts), tail, tail_attributes)


def _let(r: Reader, node: TsNode, attributes: tuple[ast.Attribute, ...]) -> ast.Let:
    pattern = node.child_by_field_name("pattern")
    given = node.child_by_field_name("type")
    value = node.child_by_field_name("value")
    orelse = node.child_by_field_name("alternative")
    pat = r.pat(pattern) if pattern is not None else ast.PatWild(r.span(node))
    if isinstance(pat, ast.PatIdent | ast.PatPath) and any(c.type == "mutable_specifier" for c in node.named_children):
        name = pat.name if isinstance(pat, ast.PatIdent) else pat.path.last
        pat = ast.PatIdent(pat.span, name, True, isinstance(pat, ast.PatIdent) and pat.by_ref)
    return ast.Let(
        r.span(node),
        pat,
        r.type(given) if given is not None else None,
        r.expr(value) if value is not None else None,
        r.block(orelse) if orelse is not None else None,
        attributes,
    )
