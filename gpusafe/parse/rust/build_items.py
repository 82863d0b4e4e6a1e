"""Items: functions, types, impls, modules, imports. One broken or too deep item does not cost the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tree_sitter import Node as TsNode

from gpusafe.parse.rust import ast
from gpusafe.parse.rust.build_attributes import build_attribute
from gpusafe.parse.rust.build_control import build_params
from gpusafe.parse.rust.build_errors import problem_of
from gpusafe.parse.rust.build_exprs import build_macro_call
from gpusafe.parse.rust.build_generics import build_generics
from gpusafe.parse.rust.build_source import MAX_DEPTH, Reader, TooDeepError, named
from gpusafe.parse.rust.build_uses import build_use_leaves

Attributes = tuple[ast.Attribute, ...]


def build_item(r: Reader, node: TsNode, attributes: Attributes) -> ast.Item:
    """The item at ``node``."""
    depth = r.depth
    try:
        if depth >= MAX_DEPTH:
            raise TooDeepError
        r.depth = depth + 1
        return _BUILDERS[node.type](r, node, attributes)
    except TooDeepError:
        span = r.span(node)
        if node.type == "function_item":
            problem = f"nested more than {MAX_DEPTH} levels deep"
            return ast.Fn(span, _name(r, node), attributes, _public(node), (), (), None, None, problem=problem)
        r.too_deep.append(span)
        return _other(r, node, attributes)
    finally:
        r.depth = depth


def build_items(r: Reader, nodes: Iterable[TsNode]) -> tuple[tuple[ast.Item, ...], Attributes]:
    """The items of a file or of a braced list, and the inner attributes that stand among them."""
    items: list[ast.Item] = []
    inner: list[ast.Attribute] = []
    pending: list[ast.Attribute] = []
    for child in nodes:
        kind = child.type
        if kind == "attribute_item":
            pending.extend(build_attribute(r, child))
            continue
        if kind == "inner_attribute_item":
            inner.extend(build_attribute(r, child))
        elif kind in ITEM_KINDS:
            items.append(build_item(r, child, tuple(pending)))
        elif kind in ("macro_invocation", "expression_statement"):
            call = child if kind == "macro_invocation" else next(iter(named(child)), None)
            if call is not None and call.type == "macro_invocation":
                built = build_macro_call(r, call)
                items.append(ast.MacroItem(r.span(child), built.path.last, tuple(pending), False, built))
        elif not child.is_named or kind in ("line_comment", "block_comment"):
            continue
        pending.clear()
    return tuple(items), tuple(inner)


def _name(r: Reader, node: TsNode) -> str:
    name = node.child_by_field_name("name")
    return r.text(name).removeprefix("r#") if name is not None else ""


def _public(node: TsNode) -> bool:
    return any(child.type == "visibility_modifier" for child in node.named_children)


def _body_items(r: Reader, node: TsNode) -> tuple[ast.Item, ...] | None:
    body = node.child_by_field_name("body")
    return build_items(r, body.children)[0] if body is not None else None


def _function(r: Reader, node: TsNode, attributes: Attributes) -> ast.Item:
    parameters, returned = node.child_by_field_name("parameters"), node.child_by_field_name("return_type")
    modifiers = next((child for child in node.named_children if child.type == "function_modifiers"), None)
    kinds = {child.type for child in modifiers.children} if modifiers is not None else set()
    body_node = node.child_by_field_name("body")
    problem = problem_of(r, node)
    body: ast.Block | None = None
    depth = r.depth
    generics = build_generics(r, node)
    params = tuple(build_params(r, parameters)) if parameters is not None else ()
    result = r.type(returned) if returned is not None else None
    try:
        body = r.block(body_node) if body_node is not None else None
    except TooDeepError:
        r.depth = depth
        problem = problem or f"nested more than {MAX_DEPTH} levels deep"
    return ast.Fn(
        r.span(node),
        _name(r, node),
        attributes,
        _public(node),
        generics,
        params,
        result,
        body,
        abi=_abi(r, modifiers),
        is_unsafe="unsafe" in kinds,
        is_async="async" in kinds,
        is_const="const" in kinds,
        problem=problem,
    )


def _abi(r: Reader, node: TsNode | None) -> str | None:
    """The string of ``extern "..."`` below ``node``; "C" for a bare ``extern``."""
    if node is None:
        return None
    extern = next((child for child in node.named_children if child.type == "extern_modifier"), None)
    if extern is None:
        return None
    texts = [r.text(child) for child in extern.named_children if child.type.endswith("string_literal")]
    return texts[0].strip('r#"') if texts else "C"


def _fields(r: Reader, body: TsNode | None) -> tuple[tuple[str, ast.Type], ...]:
    if body is None:
        return ()
    if body.type == "ordered_field_declaration_list":
        return tuple((str(i), r.type(child)) for i, child in enumerate(body.children_by_field_name("type")))
    fields: list[tuple[str, ast.Type]] = []
    for child in body.named_children:
        given = child.child_by_field_name("type") if child.type == "field_declaration" else None
        if given is not None:
            fields.append((_name(r, child), r.type(given)))
    return tuple(fields)


def _struct(r: Reader, node: TsNode, attributes: Attributes) -> ast.Item:
    kind = "union" if node.type == "union_item" else "struct"
    fields = _fields(r, node.child_by_field_name("body"))
    return ast.Struct(r.span(node), _name(r, node), attributes, _public(node), build_generics(r, node), fields, kind)


def _enum(r: Reader, node: TsNode, attributes: Attributes) -> ast.Item:
    body = node.child_by_field_name("body")
    variants: list[ast.Variant] = []
    for child in body.named_children if body is not None else ():
        if child.type != "enum_variant":
            continue
        value = child.child_by_field_name("value")
        fields = _fields(r, child.child_by_field_name("body"))
        discriminant = r.expr(value) if value is not None else None
        variants.append(ast.Variant(r.span(child), _name(r, child), fields, discriminant))
    generics = build_generics(r, node)
    return ast.Enum(r.span(node), _name(r, node), attributes, _public(node), generics, tuple(variants))


def _impl(r: Reader, node: TsNode, attributes: Attributes) -> ast.Item:
    target, trait = node.child_by_field_name("type"), node.child_by_field_name("trait")
    self_type = r.type(target) if target is not None else ast.TypeOther(r.span(node), "")
    path: ast.Path | None = None
    if trait is not None:
        built = r.type(trait)
        path = built.path if isinstance(built, ast.TypePath) else ast.Path(r.span(trait), (r.text(trait),))
    items = _body_items(r, node) or ()
    name = type_name(self_type)
    return ast.Impl(r.span(node), name, attributes, False, build_generics(r, node), self_type, path, items)


def type_name(given: ast.Type) -> str:
    """The last segment of a type's path, behind references, pointers and slices; ``""`` when it has none."""
    while True:
        match given:
            case ast.TypePath(path=path):
                return path.last
            case ast.TypeRef(inner=inner) | ast.TypePtr(inner=inner) | ast.TypeSlice(inner=inner):
                given = inner
            case ast.TypeArray(inner=inner):
                given = inner
            case ast.TypeBounds(bounds=(first, *_)):
                given = first
            case _:
                return ""


def _trait(r: Reader, node: TsNode, attributes: Attributes) -> ast.Item:
    items = _body_items(r, node) or ()
    return ast.Trait(r.span(node), _name(r, node), attributes, _public(node), build_generics(r, node), items)


def _mod(r: Reader, node: TsNode, attributes: Attributes) -> ast.Item:
    body = node.child_by_field_name("body")
    if body is None:
        return ast.Mod(r.span(node), _name(r, node), attributes, _public(node), None)
    items, inner = build_items(r, body.children)
    return ast.Mod(r.span(node), _name(r, node), attributes + inner, _public(node), items)


def _use(r: Reader, node: TsNode, attributes: Attributes) -> ast.Item:
    leaves = build_use_leaves(r, node)
    name = leaves[0].alias if leaves else ""
    return ast.Use(r.span(node), name, attributes, _public(node), leaves)


def _const(r: Reader, node: TsNode, attributes: Attributes) -> ast.Item:
    given, value = node.child_by_field_name("type"), node.child_by_field_name("value")
    return ast.Const(
        r.span(node),
        _name(r, node),
        attributes,
        _public(node),
        r.type(given) if given is not None else None,
        r.expr(value) if value is not None else None,
    )


def _static(r: Reader, node: TsNode, attributes: Attributes) -> ast.Item:
    given, value = node.child_by_field_name("type"), node.child_by_field_name("value")
    return ast.Static(
        r.span(node),
        _name(r, node),
        attributes,
        _public(node),
        r.type(given) if given is not None else None,
        r.expr(value) if value is not None else None,
        any(child.type == "mutable_specifier" for child in node.named_children),
    )


def _alias(r: Reader, node: TsNode, attributes: Attributes) -> ast.Item:
    given = node.child_by_field_name("type") or node.child_by_field_name("default_type")
    return ast.TypeAlias(
        r.span(node),
        _name(r, node),
        attributes,
        _public(node),
        build_generics(r, node),
        r.type(given) if given is not None else None,
    )


def _macro_rules(r: Reader, node: TsNode, attributes: Attributes) -> ast.Item:
    rules: list[tuple[str, str]] = []
    for child in node.named_children:
        left, right = child.child_by_field_name("left"), child.child_by_field_name("right")
        if child.type == "macro_rule" and left is not None and right is not None:
            rules.append(
                (r.slice(left.start_byte + 1, left.end_byte - 1), r.slice(right.start_byte + 1, right.end_byte - 1))
            )
    return ast.MacroRules(r.span(node), _name(r, node), attributes, False, tuple(rules))


def _extern_block(r: Reader, node: TsNode, attributes: Attributes) -> ast.Item:
    abi = _abi(r, node) or "C"
    items = _body_items(r, node) or ()
    return ast.ExternBlock(r.span(node), "", attributes, False, abi, items)


def _macro_item(r: Reader, node: TsNode, attributes: Attributes) -> ast.Item:
    built = build_macro_call(r, node)
    return ast.MacroItem(r.span(node), built.path.last, attributes, False, built)


def _other(r: Reader, node: TsNode, attributes: Attributes) -> ast.Item:
    return ast.OtherItem(r.span(node), _name(r, node), attributes, _public(node), r.text(node)[:200])


_BUILDERS: dict[str, Callable[[Reader, TsNode, Attributes], ast.Item]] = {
    "function_item": _function,
    "function_signature_item": _function,
    "struct_item": _struct,
    "union_item": _struct,
    "enum_item": _enum,
    "impl_item": _impl,
    "trait_item": _trait,
    "mod_item": _mod,
    "use_declaration": _use,
    "const_item": _const,
    "static_item": _static,
    "type_item": _alias,
    "associated_type": _alias,
    "macro_definition": _macro_rules,
    "foreign_mod_item": _extern_block,
    "extern_crate_declaration": _other,
}

ITEM_KINDS = frozenset(_BUILDERS)
"""The kinds of tree-sitter nodes that are items."""
