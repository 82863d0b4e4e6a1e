"""Expressions without control flow: operators, calls, places, literals of structs and arrays, macro calls."""

from __future__ import annotations

from collections.abc import Callable

from tree_sitter import Node as TsNode

from gpusafe.parse.rust import ast
from gpusafe.parse.rust.build_control import CONTROL
from gpusafe.parse.rust.build_literals import build_literal
from gpusafe.parse.rust.build_source import COMMENTS, Reader, named
from gpusafe.parse.rust.build_types import build_arguments, build_path
from gpusafe.span import Span

_NO_VALUE = COMMENTS | {"attribute_item"}


def build_expr(r: Reader, node: TsNode) -> ast.Expr:
    """The expression at ``node``; what has no node of its own becomes OtherExpr."""
    kind = node.type
    while kind == "parenthesized_expression":
        inner = [child for child in node.named_children if child.type not in _NO_VALUE]
        if len(inner) != 1:
            return _other(r, node)
        node = inner[0]
        kind = node.type
    build = _EXPRESSIONS.get(kind)
    return build(r, node) if build is not None else _other(r, node)


def _other(r: Reader, node: TsNode) -> ast.Expr:
    return ast.OtherExpr(r.span(node), r.text(node))


def _part(r: Reader, node: TsNode, field: str) -> ast.Expr:
    child = node.child_by_field_name(field)
    return r.expr(child) if child is not None else _other(r, node)


def _values(r: Reader, node: TsNode | None) -> tuple[ast.Expr, ...]:
    if node is None:
        return ()
    return tuple([r.expr(child) for child in node.named_children if child.type not in _NO_VALUE])


def _path(r: Reader, node: TsNode) -> ast.Expr:
    path = build_path(r, node)
    return ast.PathExpr(path.span, path)


def _name(r: Reader, node: TsNode) -> ast.Expr:
    span = r.span(node)
    return ast.PathExpr(span, ast.Path(span, (r.text(node).removeprefix("r#"),)))


def _unary(r: Reader, node: TsNode) -> ast.Expr:
    children = [child for child in node.children if child.type not in _NO_VALUE]
    if len(children) != 2:
        return _other(r, node)
    return ast.Unary(r.span(node), children[0].type, r.expr(children[1]))


def _binary(r: Reader, node: TsNode) -> ast.Expr:
    operator, first = node.child_by_field_name("operator"), node.child_by_field_name("left")
    if operator is None or first is None:
        return _other(r, node)
    left, right = r.expr(first), _part(r, node, "right")
    if isinstance(left, ast.Range) and first.type in ("range_expression", "binary_expression"):
        return _range_with_end(r.span(node), left, r.span(operator), operator.type, right)
    return ast.Binary(r.span(node), operator.type, left, right)


def _range_with_end(span: Span, low: ast.Range, at: Span, op: str, right: ast.Expr) -> ast.Expr:
    """``a..*b``: the grammar reads it as a product of ``a..`` and ``b``, and what follows as operators on that."""
    if low.high is not None:
        high: ast.Expr = ast.Binary(low.high.span.to(right.span), op, low.high, right)
    else:
        high = _prefixed(at, op, right)
    return ast.Range(span, low.low, high, low.inclusive)


def _prefixed(at: Span, op: str, operand: ast.Expr) -> ast.Expr:
    """A prefix operator in front of an expression; casts bind less than it does."""
    casts: list[ast.Cast] = []
    while isinstance(operand, ast.Cast):
        casts.append(operand)
        operand = operand.operand
    span = at.to(operand.span)
    built: ast.Expr = operand
    match op:
        case "*" | "-":
            built = ast.Unary(span, op, operand)
        case "&":
            built = ast.Ref(span, operand, False)
        case "&&":
            built = ast.Ref(span, ast.Ref(span, operand, False), False)
        case _:
            built = ast.OtherExpr(span, op)
    for cast in reversed(casts):
        built = ast.Cast(at.to(cast.span), built, cast.type)
    return built


def _let_chain(r: Reader, node: TsNode) -> ast.Expr:
    parts = _values(r, node)
    if not parts:
        return _other(r, node)
    built = parts[0]
    for part in parts[1:]:
        built = ast.Binary(built.span.to(part.span), "&&", built, part)
    return built


def _let_condition(r: Reader, node: TsNode) -> ast.Expr:
    pattern = node.child_by_field_name("pattern")
    if pattern is None:
        return _other(r, node)
    return ast.LetCond(r.span(node), r.pat(pattern), _part(r, node, "value"))


def _assign(r: Reader, node: TsNode) -> ast.Expr:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        return _other(r, node)
    if left.type == "range_expression" and r.data[left.end_byte - 2 : left.end_byte + 1] == b"..=":
        # The grammar reads `..=x` as an assignment to `..`.
        low = named(left)
        return ast.Range(r.span(node), r.expr(low[0]) if low else None, r.expr(right), True)
    return ast.Assign(r.span(node), "=", r.expr(left), r.expr(right))


def _compound_assign(r: Reader, node: TsNode) -> ast.Expr:
    operator = node.child_by_field_name("operator")
    op = operator.type if operator is not None else "?"
    return ast.Assign(r.span(node), op, _part(r, node, "left"), _part(r, node, "right"))


def _call(r: Reader, node: TsNode) -> ast.Expr:
    func = node.child_by_field_name("function")
    if func is None:
        return _other(r, node)
    generics: tuple[ast.Type | ast.Expr, ...] = ()
    target = func
    if func.type == "generic_function":
        inner = func.child_by_field_name("function")
        if inner is not None and inner.type == "field_expression":
            target = inner
            generics = build_arguments(r, func.child_by_field_name("type_arguments"))
    arguments = node.child_by_field_name("arguments")
    if target.type != "field_expression":
        callee = r.expr(func)
        return ast.Call(r.span(node), callee, _values(r, arguments))
    name = target.child_by_field_name("field")
    if name is None:
        return _other(r, node)
    receiver = _part(r, target, "value")
    method = r.text(name).removeprefix("r#")
    return ast.MethodCall(r.span(node), receiver, method, _values(r, arguments), r.span(name), generics)


def _field(r: Reader, node: TsNode) -> ast.Expr:
    name = node.child_by_field_name("field")
    text = r.text(name).removeprefix("r#") if name is not None else ""
    return ast.Field(r.span(node), _part(r, node, "value"), text)


def _index(r: Reader, node: TsNode) -> ast.Expr:
    parts = _values(r, node)
    if len(parts) != 2:
        return _other(r, node)
    return ast.Index(r.span(node), parts[0], parts[1])


def _reference(r: Reader, node: TsNode) -> ast.Expr:
    kinds = {child.type for child in node.children}
    return ast.Ref(r.span(node), _part(r, node, "value"), "mutable_specifier" in kinds, "raw" in kinds)


def _cast(r: Reader, node: TsNode) -> ast.Expr:
    target = node.child_by_field_name("type")
    if target is None:
        return _other(r, node)
    return ast.Cast(r.span(node), _part(r, node, "value"), r.type(target))


def _range(r: Reader, node: TsNode) -> ast.Expr:
    low: ast.Expr | None = None
    high: ast.Expr | None = None
    inclusive, after = False, False
    for child in node.children:
        if child.type in ("..", "..=", "..."):
            inclusive, after = child.type != "..", True
        elif child.type not in _NO_VALUE:
            if after:
                high = r.expr(child)
            else:
                low = r.expr(child)
    return ast.Range(r.span(node), low, high, inclusive)


def _array(r: Reader, node: TsNode) -> ast.Expr:
    length = node.child_by_field_name("length")
    items = _values(r, node)
    if length is not None and len(items) == 2:
        return ast.ArrayRepeat(r.span(node), items[0], items[1])
    return ast.Array(r.span(node), items)


def _struct(r: Reader, node: TsNode) -> ast.Expr:
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is None or body is None:
        return _other(r, node)
    fields: list[tuple[str, ast.Expr]] = []
    base: ast.Expr | None = None
    for child in named(body):
        match child.type:
            case "shorthand_field_initializer":
                inner = next((c for c in named(child) if c.type == "identifier"), None)
                if inner is not None:
                    fields.append((r.text(inner).removeprefix("r#"), r.expr(inner)))
            case "field_initializer":
                key = child.child_by_field_name("field")
                if key is not None:
                    fields.append((r.text(key).removeprefix("r#"), _part(r, child, "value")))
            case "base_field_initializer":
                values = _values(r, child)
                base = values[0] if values else None
    return ast.StructLit(r.span(node), build_path(r, name), tuple(fields), base)


def build_macro_call(r: Reader, node: TsNode) -> ast.MacroCall:
    """A macro invocation with its raw argument text."""
    name = node.child_by_field_name("macro")
    span = r.span(node)
    path = build_path(r, name) if name is not None else ast.Path(span, ("",))
    tree = next((child for child in node.children if child.type == "token_tree"), None)
    if tree is None or tree.end_byte - tree.start_byte < 2:
        return ast.MacroCall(span, path, "", r.span_of_bytes(node.end_byte, node.end_byte))
    start, end = tree.start_byte + 1, tree.end_byte - 1
    return ast.MacroCall(span, path, r.slice(start, end), r.span_of_bytes(start, end))


def _one(make: Callable[[Span, ast.Expr], ast.Expr]) -> Callable[[Reader, TsNode], ast.Expr]:
    def build(r: Reader, node: TsNode) -> ast.Expr:
        parts = _values(r, node)
        return make(r.span(node), parts[0]) if len(parts) == 1 else _other(r, node)

    return build


_EXPRESSIONS: dict[str, Callable[[Reader, TsNode], ast.Expr]] = {
    "identifier": _name,
    "self": _name,
    "super": _name,
    "crate": _name,
    "metavariable": _name,
    "scoped_identifier": _path,
    "generic_function": _path,
    "integer_literal": build_literal,
    "float_literal": build_literal,
    "string_literal": build_literal,
    "raw_string_literal": build_literal,
    "char_literal": build_literal,
    "boolean_literal": build_literal,
    "unary_expression": _unary,
    "negative_literal": _unary,
    "binary_expression": _binary,
    "let_chain": _let_chain,
    "let_condition": _let_condition,
    "assignment_expression": _assign,
    "compound_assignment_expr": _compound_assign,
    "call_expression": _call,
    "field_expression": _field,
    "index_expression": _index,
    "reference_expression": _reference,
    "type_cast_expression": _cast,
    "range_expression": _range,
    "array_expression": _array,
    "tuple_expression": lambda r, node: ast.Tuple(r.span(node), _values(r, node)),
    "unit_expression": lambda r, node: ast.Tuple(r.span(node), ()),
    "struct_expression": _struct,
    "macro_invocation": build_macro_call,
    "try_expression": _one(ast.Try),
    "await_expression": _one(ast.Await),
    **CONTROL,
}
