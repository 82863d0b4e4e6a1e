"""Types and paths."""

from __future__ import annotations

from collections.abc import Callable

from tree_sitter import Node as TsNode

from gpusafe.parse.rust import ast
from gpusafe.parse.rust.build_source import Reader, named

_VALUE_ARGUMENTS = frozenset(
    {
        "integer_literal",
        "boolean_literal",
        "char_literal",
        "negative_literal",
        "block",
        "string_literal",
        "float_literal",
    }
)


def build_type(r: Reader, node: TsNode) -> ast.Type:
    """The type at ``node``; what has no node of its own becomes TypeOther."""
    build = _TYPES.get(node.type)
    return build(r, node) if build is not None else ast.TypeOther(r.span(node), r.text(node))


def build_path(r: Reader, node: TsNode) -> ast.Path:
    """A path: identifiers, scoped identifiers, and generic forms of both."""
    names: list[str] = []
    arguments: list[tuple[ast.Type | ast.Expr, ...]] = []
    qself: ast.Type | None = None
    own: tuple[ast.Type | ast.Expr, ...] = ()
    at: TsNode | None = node
    while at is not None:
        match at.type:
            case "generic_type" | "generic_function" | "generic_type_with_turbofish" | "generic_pattern":
                own = build_arguments(r, at.child_by_field_name("type_arguments"))
                at = at.child_by_field_name("type") or at.child_by_field_name("function") or named(at)[0]
            case "scoped_identifier" | "scoped_type_identifier":
                name = at.child_by_field_name("name")
                names.append(r.text(name) if name is not None else "")
                arguments.append(own)
                own = ()
                prefix = at.child_by_field_name("path")
                if prefix is None:
                    names.append("")
                    arguments.append(())
                at = prefix
            case "bracketed_type":
                qself, trait = _qualified(r, at)
                for segment, args in reversed(trait):
                    names.append(segment)
                    arguments.append(args)
                at = None
            case _:
                names.append(r.text(at))
                arguments.append(own)
                at = None
    names.reverse()
    arguments.reverse()
    given = [index for index, args in enumerate(arguments) if args]
    last = given[-1] if given else -1
    return ast.Path(
        r.span(node),
        tuple(name.removeprefix("r#") for name in names),
        arguments[last] if given else (),
        qself,
        arguments[-2] if len(arguments) > 1 else (),
    )


def _qualified(r: Reader, node: TsNode) -> tuple[ast.Type | None, list[tuple[str, tuple[ast.Type | ast.Expr, ...]]]]:
    """``<T as Trait>`` and ``<T>`` in front of a path."""
    inside = named(node)
    if not inside:
        return None, []
    if inside[0].type != "qualified_type":
        return r.type(inside[0]), []
    self_type = inside[0].child_by_field_name("type")
    trait = inside[0].child_by_field_name("alias")
    segments: list[tuple[str, tuple[ast.Type | ast.Expr, ...]]] = []
    if trait is not None:
        built = r.type(trait)
        if isinstance(built, ast.TypePath):
            path = built.path
            segments = [(name, ()) for name in path.names]
            segments[-1] = (path.names[-1], path.generics)
    return (r.type(self_type) if self_type is not None else None), segments


def build_arguments(r: Reader, node: TsNode | None) -> tuple[ast.Type | ast.Expr, ...]:
    """The arguments between ``<`` and ``>``; lifetimes are dropped, ``A = T`` gives a TypeOther."""
    if node is None:
        return ()
    built: list[ast.Type | ast.Expr] = []
    for child in named(node):
        if child.type in _VALUE_ARGUMENTS:
            built.append(r.expr(child))
        elif child.type not in ("lifetime", "ERROR"):
            built.append(r.type(child))
    return tuple(built)


def build_bounds(r: Reader, node: TsNode | None) -> tuple[ast.Type, ...]:
    """``: A + B`` without lifetimes."""
    if node is None:
        return ()
    return tuple(r.type(child) for child in named(node) if child.type != "lifetime")


def _name(r: Reader, node: TsNode) -> ast.Type:
    span, text = r.span(node), r.text(node)
    if text == "_":
        return ast.TypeOther(span, text)
    return ast.TypePath(span, ast.Path(span, (text.removeprefix("r#"),)))


def _path(r: Reader, node: TsNode) -> ast.Type:
    return ast.TypePath(r.span(node), build_path(r, node))


def _reference(r: Reader, node: TsNode) -> ast.Type:
    return ast.TypeRef(r.span(node), _inner(r, node), _mutable(node))


def _pointer(r: Reader, node: TsNode) -> ast.Type:
    return ast.TypePtr(r.span(node), _inner(r, node), _mutable(node))


def _mutable(node: TsNode) -> bool:
    return any(child.type == "mutable_specifier" for child in node.named_children)


def _inner(r: Reader, node: TsNode) -> ast.Type:
    inner = node.child_by_field_name("type")
    return r.type(inner) if inner is not None else ast.TypeOther(r.span(node), r.text(node))


def _array(r: Reader, node: TsNode) -> ast.Type:
    element, length = node.child_by_field_name("element"), node.child_by_field_name("length")
    inner = r.type(element) if element is not None else ast.TypeOther(r.span(node), r.text(node))
    if length is None:
        return ast.TypeSlice(r.span(node), inner)
    return ast.TypeArray(r.span(node), inner, r.expr(length))


def _tuple(r: Reader, node: TsNode) -> ast.Type:
    items = tuple(r.type(child) for child in named(node))
    if len(items) == 1 and not any(child.type == "," for child in node.children):
        return items[0]
    return ast.TypeTuple(r.span(node), items)


def _function(r: Reader, node: TsNode) -> ast.Type:
    """``fn(A) -> B``; ``Fn(A) -> B`` is a path whose arguments are the parameter tuple and the result."""
    parameters, returned = node.child_by_field_name("parameters"), node.child_by_field_name("return_type")
    params: list[ast.Type] = []
    for child in named(parameters) if parameters is not None else ():
        given = child.child_by_field_name("type") if child.type == "parameter" else child
        if given is not None and child.type not in ("attribute_item", "variadic_parameter"):
            params.append(r.type(given))
    result = r.type(returned) if returned is not None else None
    trait = node.child_by_field_name("trait")
    if trait is None:
        return ast.TypeFn(r.span(node), tuple(params), result)
    span = r.span(node)
    arguments: tuple[ast.Type, ...] = (ast.TypeTuple(span, tuple(params)),)
    if result is not None:
        arguments += (result,)
    return ast.TypePath(span, ast.Path(span, build_path(r, trait).names, arguments))


def _bounds(kind: str) -> Callable[[Reader, TsNode], ast.Type]:
    def build(r: Reader, node: TsNode) -> ast.Type:
        trait = node.child_by_field_name("trait")
        if trait is None:
            return ast.TypeOther(r.span(node), r.text(node))
        bound = r.type(trait)
        bounds = bound.bounds if isinstance(bound, ast.TypeBounds) and not bound.kind else (bound,)
        return ast.TypeBounds(r.span(node), kind, bounds)

    return build


def _bounded(r: Reader, node: TsNode) -> ast.Type:
    """``A + B``; when the first is ``impl A`` or ``dyn A`` the whole is of that kind."""
    kind = ""
    bounds: list[ast.Type] = []
    for child in named(node):
        if child.type in ("lifetime", "use_bounds"):
            continue
        built = r.type(child)
        if isinstance(built, ast.TypeBounds):
            kind = kind or built.kind
            bounds.extend(built.bounds)
        else:
            bounds.append(built)
    return ast.TypeBounds(r.span(node), kind, tuple(bounds))


def _higher_ranked(r: Reader, node: TsNode) -> ast.Type:
    return _inner(r, node)


_TYPES: dict[str, Callable[[Reader, TsNode], ast.Type]] = {
    "type_identifier": _name,
    "identifier": _name,
    "primitive_type": _name,
    "self": _name,
    "crate": _name,
    "super": _name,
    "scoped_type_identifier": _path,
    "scoped_identifier": _path,
    "generic_type": _path,
    "generic_type_with_turbofish": _path,
    "reference_type": _reference,
    "pointer_type": _pointer,
    "array_type": _array,
    "tuple_type": _tuple,
    "unit_type": lambda r, node: ast.TypeTuple(r.span(node), ()),
    "function_type": _function,
    "abstract_type": _bounds("impl"),
    "dynamic_type": _bounds("dyn"),
    "bounded_type": _bounded,
    "higher_ranked_trait_bound": _higher_ranked,
}
