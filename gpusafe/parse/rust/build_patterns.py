"""Patterns."""

from __future__ import annotations

from collections.abc import Callable

from tree_sitter import Node as TsNode

from gpusafe.parse.rust import ast
from gpusafe.parse.rust.build_source import Reader, named
from gpusafe.parse.rust.build_types import build_path


def build_pat(r: Reader, node: TsNode) -> ast.Pat:
    """The pattern at ``node``; what has no node of its own becomes PatOther."""
    build = _PATTERNS.get(node.type)
    return build(r, node) if build is not None else ast.PatOther(r.span(node), r.text(node))


def _identifier(r: Reader, node: TsNode) -> ast.Pat:
    name = r.text(node).removeprefix("r#")
    if name == "_":
        return ast.PatWild(r.span(node))
    if name[:1].isupper():
        return ast.PatPath(r.span(node), build_path(r, node))
    return ast.PatIdent(r.span(node), name)


def _path(r: Reader, node: TsNode) -> ast.Pat:
    return ast.PatPath(r.span(node), build_path(r, node))


def _items(r: Reader, node: TsNode, skip: TsNode | None = None) -> tuple[ast.Pat, ...]:
    """Sub-patterns between delimiters; a lone ``_`` is a token without a name."""
    start = skip.end_byte if skip is not None else node.start_byte
    built: list[ast.Pat] = []
    for child in node.children:
        if child.start_byte < start:
            continue
        if child.type == "_":
            built.append(ast.PatWild(r.span(child)))
        elif child.is_named and child.type not in ("line_comment", "block_comment", "attribute_item"):
            built.append(r.pat(child))
    return tuple(built)


def _tuple(r: Reader, node: TsNode) -> ast.Pat:
    items = _items(r, node)
    if len(items) == 1 and not isinstance(items[0], ast.PatRest) and not any(c.type == "," for c in node.children):
        return items[0]
    return ast.PatTuple(r.span(node), items)


def _slice(r: Reader, node: TsNode) -> ast.Pat:
    return ast.PatSlice(r.span(node), _items(r, node))


def _tuple_struct(r: Reader, node: TsNode) -> ast.Pat:
    path = node.child_by_field_name("type")
    if path is None:
        return ast.PatOther(r.span(node), r.text(node))
    return ast.PatTupleStruct(r.span(node), build_path(r, path), _items(r, node, path))


def _struct(r: Reader, node: TsNode) -> ast.Pat:
    path = node.child_by_field_name("type")
    if path is None:
        return ast.PatOther(r.span(node), r.text(node))
    fields: list[tuple[str, ast.Pat]] = []
    for child in named(node):
        if child.type != "field_pattern":
            continue
        name, sub = child.child_by_field_name("name"), child.child_by_field_name("pattern")
        if name is None:
            continue
        text = r.text(name).removeprefix("r#")
        fields.append((text, r.pat(sub) if sub is not None else _shorthand(r, child, text)))
    return ast.PatStruct(r.span(node), build_path(r, path), tuple(fields))


def _shorthand(r: Reader, node: TsNode, name: str) -> ast.Pat:
    kinds = {child.type for child in node.children}
    return ast.PatIdent(r.span(node), name, "mutable_specifier" in kinds, "ref" in kinds)


def _mut(r: Reader, node: TsNode) -> ast.Pat:
    inner = [child for child in named(node) if child.type != "mutable_specifier"]
    built = r.pat(inner[0]) if inner else ast.PatOther(r.span(node), r.text(node))
    return _marked(built, r, node, mutable=True, by_ref=False)


def _ref(r: Reader, node: TsNode) -> ast.Pat:
    inner = [child for child in named(node) if child.type != "mutable_specifier"]
    built = r.pat(inner[0]) if inner else ast.PatOther(r.span(node), r.text(node))
    mutable = any(child.type == "mutable_specifier" for child in node.children)
    return _marked(built, r, node, mutable=mutable, by_ref=True)


def _marked(pat: ast.Pat, r: Reader, node: TsNode, *, mutable: bool, by_ref: bool) -> ast.Pat:
    match pat:
        case ast.PatIdent(name=name, sub=sub):
            return ast.PatIdent(r.span(node), name, mutable or pat.mutable, by_ref, sub)
        case ast.PatPath(path=path) if len(path.names) == 1:
            return ast.PatIdent(r.span(node), path.last, mutable, by_ref)
        case _:
            return pat


def _captured(r: Reader, node: TsNode) -> ast.Pat:
    parts = _items(r, node)
    if len(parts) != 2:
        return ast.PatOther(r.span(node), r.text(node))
    match parts[0]:
        case ast.PatIdent(name=name, mutable=mutable, by_ref=by_ref):
            return ast.PatIdent(r.span(node), name, mutable, by_ref, parts[1])
        case ast.PatPath(path=path) if len(path.names) == 1:
            return ast.PatIdent(r.span(node), path.last, sub=parts[1])
        case _:
            return ast.PatOther(r.span(node), r.text(node))


def _reference(r: Reader, node: TsNode) -> ast.Pat:
    mutable = any(child.type == "mutable_specifier" for child in node.children)
    inner = [p for p in node.children if p.type == "_" or (p.is_named and p.type != "mutable_specifier")]
    if not inner:
        return ast.PatOther(r.span(node), r.text(node))
    sub = ast.PatWild(r.span(inner[-1])) if inner[-1].type == "_" else r.pat(inner[-1])
    return ast.PatRef(r.span(node), sub, mutable)


def _literal(r: Reader, node: TsNode) -> ast.Pat:
    return ast.PatLit(r.span(node), r.expr(node))


def _range(r: Reader, node: TsNode) -> ast.Pat:
    ends: dict[bool, ast.Expr] = {}
    inclusive, after = False, False
    for child in node.children:
        if child.type in ("..", "..=", "..."):
            inclusive, after = child.type != "..", True
        elif child.is_named and child.type not in ("line_comment", "block_comment"):
            ends[after] = r.expr(child)
    return ast.PatRange(r.span(node), ends.get(False), ends.get(True), inclusive)


def _or(r: Reader, node: TsNode) -> ast.Pat:
    """``A | B | C`` nests to the left in the parser; here it is flat."""
    leaves: list[ast.Pat] = []
    stack = [node]
    while stack:
        at = stack.pop()
        if at.type == "or_pattern":
            stack.extend(
                child
                for child in reversed(at.children)
                if child.type == "_" or (child.is_named and child.type not in ("line_comment", "block_comment"))
            )
        elif at.type == "_":
            leaves.append(ast.PatWild(r.span(at)))
        else:
            leaves.append(r.pat(at))
    return ast.PatOr(r.span(node), tuple(leaves))


_PATTERNS: dict[str, Callable[[Reader, TsNode], ast.Pat]] = {
    "identifier": _identifier,
    "shorthand_field_identifier": _identifier,
    "type_identifier": _identifier,
    "self": lambda r, node: ast.PatIdent(r.span(node), "self"),
    "_": lambda r, node: ast.PatWild(r.span(node)),
    "scoped_identifier": _path,
    "generic_pattern": _path,
    "tuple_pattern": _tuple,
    "slice_pattern": _slice,
    "tuple_struct_pattern": _tuple_struct,
    "struct_pattern": _struct,
    "mut_pattern": _mut,
    "ref_pattern": _ref,
    "captured_pattern": _captured,
    "reference_pattern": _reference,
    "remaining_field_pattern": lambda r, node: ast.PatRest(r.span(node)),
    "range_pattern": _range,
    "or_pattern": _or,
    "integer_literal": _literal,
    "float_literal": _literal,
    "char_literal": _literal,
    "string_literal": _literal,
    "raw_string_literal": _literal,
    "boolean_literal": _literal,
    "negative_literal": _literal,
}
