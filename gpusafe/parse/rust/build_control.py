"""Expressions that steer control: conditions, loops, blocks, closures, jumps."""

from __future__ import annotations

from collections.abc import Callable

from tree_sitter import Node as TsNode

from gpusafe.parse.rust import ast
from gpusafe.parse.rust.build_attributes import build_attribute
from gpusafe.parse.rust.build_source import COMMENTS, Reader, has_token, named


def _other(r: Reader, node: TsNode) -> ast.Expr:
    return ast.OtherExpr(r.span(node), r.text(node))


def _block_of(r: Reader, node: TsNode, field: str) -> ast.Block:
    child = node.child_by_field_name(field)
    return r.block(child) if child is not None else ast.Block(r.span(node), (), None)


def _label(r: Reader, node: TsNode) -> str | None:
    for child in node.named_children:
        if child.type == "label":
            return r.text(child).rstrip(":").strip().removeprefix("'")
    return None


def _if(r: Reader, node: TsNode) -> ast.Expr:
    condition, alternative = node.child_by_field_name("condition"), node.child_by_field_name("alternative")
    if condition is None:
        return _other(r, node)
    cond = r.expr(condition)
    then = _block_of(r, node, "consequence")
    orelse: ast.Expr | None = None
    if alternative is not None:
        inner = named(alternative)
        orelse = r.expr(inner[0]) if inner else None
    return ast.If(r.span(node), cond, then, orelse)


def _match(r: Reader, node: TsNode) -> ast.Expr:
    value, body = node.child_by_field_name("value"), node.child_by_field_name("body")
    if value is None or body is None:
        return _other(r, node)
    scrutinee = r.expr(value)
    arms = tuple(arm for child in named(body) if child.type == "match_arm" and (arm := _arm(r, child)) is not None)
    return ast.Match(r.span(node), scrutinee, arms)


def _arm(r: Reader, node: TsNode) -> ast.Arm | None:
    pattern, value = node.child_by_field_name("pattern"), node.child_by_field_name("value")
    if pattern is None or value is None:
        return None
    attributes = tuple(a for c in node.named_children if c.type == "attribute_item" for a in build_attribute(r, c))
    condition = pattern.child_by_field_name("condition")
    inner = next((c for c in pattern.children if c.type not in COMMENTS and c.type != "|"), None)
    pat = r.pat(inner) if inner is not None else ast.PatOther(r.span(pattern), r.text(pattern))
    guard = r.expr(condition) if condition is not None else None
    return ast.Arm(r.span(node), pat, guard, r.expr(value), attributes)


def _loop(r: Reader, node: TsNode) -> ast.Expr:
    return ast.Loop(r.span(node), _block_of(r, node, "body"), _label(r, node))


def _while(r: Reader, node: TsNode) -> ast.Expr:
    condition = node.child_by_field_name("condition")
    if condition is None:
        return _other(r, node)
    return ast.While(r.span(node), r.expr(condition), _block_of(r, node, "body"), _label(r, node))


def _for(r: Reader, node: TsNode) -> ast.Expr:
    pattern, value = node.child_by_field_name("pattern"), node.child_by_field_name("value")
    if pattern is None or value is None:
        return _other(r, node)
    return ast.For(r.span(node), r.pat(pattern), r.expr(value), _block_of(r, node, "body"), _label(r, node))


def _block(r: Reader, node: TsNode) -> ast.Expr:
    return ast.BlockExpr(r.span(node), r.block(node), "", _label(r, node))


def _special_block(kind: str) -> Callable[[Reader, TsNode], ast.Expr]:
    def build(r: Reader, node: TsNode) -> ast.Expr:
        body = next((child for child in node.named_children if child.type == "block"), None)
        if body is None:
            return _other(r, node)
        return ast.BlockExpr(r.span(node), r.block(body), kind, _label(r, node), has_token(node, "move"))

    return build


def _closure(r: Reader, node: TsNode) -> ast.Expr:
    parameters, body = node.child_by_field_name("parameters"), node.child_by_field_name("body")
    if body is None:
        return _other(r, node)
    params = tuple(build_params(r, parameters)) if parameters is not None else ()
    kinds = {child.type for child in node.children}
    return ast.Closure(r.span(node), params, r.expr(body), "move" in kinds, "async" in kinds)


def build_params(r: Reader, node: TsNode) -> list[ast.Param]:
    """The parameters of a function or a closure, ``self`` included; a variadic tail is left out."""
    params: list[ast.Param] = []
    for child in node.children:
        match child.type:
            case "parameter":
                params.append(_param(r, child))
            case "self_parameter":
                params.append(_self_param(r, child))
            case "_":
                params.append(ast.Param(r.span(child), ast.PatWild(r.span(child)), None))
            case "line_comment" | "block_comment" | "attribute_item" | "variadic_parameter" | "ERROR":
                pass
            case _ if child.is_named:
                params.append(_bare(r, child, closure=node.type == "closure_parameters"))
    return params


def _param(r: Reader, node: TsNode) -> ast.Param:
    pattern, given = node.child_by_field_name("pattern"), node.child_by_field_name("type")
    pat = r.pat(pattern) if pattern is not None else ast.PatWild(r.span(node))
    if isinstance(pat, ast.PatIdent) and any(c.type == "mutable_specifier" for c in node.named_children):
        pat = ast.PatIdent(pat.span, pat.name, True, pat.by_ref, pat.sub)
    return ast.Param(r.span(node), pat, r.type(given) if given is not None else None)


def _self_param(r: Reader, node: TsNode) -> ast.Param:
    span = r.span(node)
    kinds = {child.type for child in node.children}
    mutable = "mutable_specifier" in kinds
    own: ast.Type = ast.TypePath(span, ast.Path(span, ("Self",)))
    if "&" in kinds:
        return ast.Param(span, ast.PatIdent(span, "self"), ast.TypeRef(span, own, mutable))
    return ast.Param(span, ast.PatIdent(span, "self", mutable), own)


def _bare(r: Reader, node: TsNode, *, closure: bool) -> ast.Param:
    if closure:
        return ast.Param(r.span(node), r.pat(node), None)
    return ast.Param(r.span(node), ast.PatWild(r.span(node)), r.type(node))


def _value(r: Reader, node: TsNode) -> ast.Expr | None:
    values = [child for child in named(node) if child.type not in ("label", "attribute_item")]
    return r.expr(values[0]) if values else None


CONTROL: dict[str, Callable[[Reader, TsNode], ast.Expr]] = {
    "if_expression": _if,
    "match_expression": _match,
    "loop_expression": _loop,
    "while_expression": _while,
    "for_expression": _for,
    "block": _block,
    "unsafe_block": _special_block("unsafe"),
    "async_block": _special_block("async"),
    "const_block": _special_block("const"),
    "try_block": _special_block("try"),
    "closure_expression": _closure,
    "return_expression": lambda r, node: ast.Return(r.span(node), _value(r, node)),
    "break_expression": lambda r, node: ast.Break(r.span(node), _label(r, node), _value(r, node)),
    "continue_expression": lambda r, node: ast.Continue(r.span(node), _label(r, node)),
}
