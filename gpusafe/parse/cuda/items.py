"""Syntax trees of the grammar to typed trees: functions, types and globals of one chunk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import tree_sitter_cuda
from tree_sitter import Language, Parser
from tree_sitter import Node as Tree

from gpusafe.parse.cuda import syntax as s
from gpusafe.parse.cuda.chunks import Chunk, Source
from gpusafe.parse.cuda.lex import Kind, Token
from gpusafe.parse.cuda.reader import Reader, TooDeep, named, parameters, text
from gpusafe.parse.cuda.statements import compound, variables
from gpusafe.span import Span

_RECORDS = frozenset({"struct_specifier", "class_specifier", "union_specifier"})
_WORDS = frozenset(
    [
        "__global__",
        "__device__",
        "__host__",
        "__shared__",
        "__constant__",
        "__managed__",
        "static",
        "extern",
        "inline",
        "constexpr",
        "consteval",
        "const",
        "volatile",
        "friend",
        "virtual",
        "explicit",
    ]
)
_ERRORS_SHOWN = 4


def parse(text_of: bytes) -> Tree:
    """The grammar's tree of a text."""
    return Parser(Language(tree_sitter_cuda.language())).parse(text_of).root_node


def read_chunk(chunk: Chunk) -> tuple[list[s.Item], list[Span]]:
    """The items of a chunk, and the places in it that do not parse."""
    source = chunk.source()
    root = parse(source.text)
    reader = Reader(source, compound, lambda r, t: record(r, t, chunk.scope, None))
    errors = _errors(reader, root) if root.has_error else []
    try:
        items = [i for child in named(root) for i in items_of(reader, child, chunk.scope)]
    except (TooDeep, RecursionError):
        where = source.span(0, len(source.text))
        return _only_heads(reader, root, chunk, "it nests too deeply"), [where]
    bounds = _aside(chunk, "__launch_bounds__")
    cluster = _aside(chunk, "__cluster_dims__")
    made: list[s.Item] = []
    for item in items:
        if isinstance(item, s.Function):
            item = _completed(item, chunk, bounds, cluster, errors)
        elif isinstance(item, s.Record):
            item = _laid_out(item, chunk, errors)
        made.append(item)
    return made, errors


def _laid_out(item: s.Record, chunk: Chunk, errors: list[Span]) -> s.Record:
    """A record with what its attributes say about its layout."""
    asked = _aside(chunk, "align")
    odd = "it does not parse" if errors else "its layout is packed or aligned by an attribute"
    strange = bool(errors) or "odd layout" in chunk.aside or "inner align" in chunk.aside
    strange = strange or ("align" in chunk.aside and len(asked) != 1)
    return replace(item, align=asked[0] if len(asked) == 1 else None, odd=odd if strange else item.odd)


def _completed(
    item: s.Function, chunk: Chunk, bounds: tuple[s.Expr, ...], cluster: tuple[s.Expr, ...], errors: list[Span]
) -> s.Function:
    problem = item.problem
    if errors and item.body is not None:
        problem = f"syntax error at line {errors[0].line}"
    whole = Source(b"", (), chunk.tokens)
    first, last = whole.tokens[0].place, whole.tokens[-1].place
    span = first.to(last) if first.file == last.file and first <= last else item.span
    flags = item.flags | ({"extern C"} if chunk.c_linkage else frozenset())
    if "__global__" in chunk.words:
        flags |= {"__global__"}
    return replace(item, problem=problem, bounds=bounds, cluster=cluster, span=span, flags=flags)


def _only_heads(r: Reader, root: Tree, chunk: Chunk, problem: str) -> list[s.Item]:
    """Functions whose bodies cannot be read: their names and parameters."""
    out: list[s.Item] = []
    stack = list(reversed(list(named(root))))
    while stack:
        tree = stack.pop()
        if tree.type == "function_definition":
            r.depth = 0
            try:
                made = function(r, tree, chunk.scope, None, with_body=False)
            except (TooDeep, RecursionError):
                continue
            if made is not None:
                out.append(_problem(made, problem))
        elif tree.type in ("linkage_specification", "template_declaration"):
            stack.extend(reversed(list(named(tree))))
    return out


def _problem(made: s.Function, problem: str) -> s.Function:
    return replace(made, problem=problem, body=s.Compound(made.span, ()))


def _errors(r: Reader, root: Tree) -> list[Span]:
    out: list[Span] = []
    stack = [root]
    while stack and len(out) < _ERRORS_SHOWN:
        tree = stack.pop()
        if tree.is_error or tree.is_missing:
            out.append(r.span(tree))
        elif tree.has_error:
            stack.extend(reversed(tree.children))
    return out


def _aside(chunk: Chunk, word: str) -> tuple[s.Expr, ...]:
    return tuple(e for tokens in chunk.aside.get(word, ()) if (e := read_expression(tokens)) is not None)


def read_expression(tokens: tuple[Token, ...]) -> s.Expr | None:
    """An expression that stands alone."""
    if not tokens:
        return None
    place = tokens[0].place
    wrapped = [
        *(Token(Kind.IDENT, w, place, spaced=True) for w in ("int", "x")),
        Token(Kind.PUNCT, "=", place, spaced=True),
        *tokens,
        Token(Kind.PUNCT, ";", place),
    ]
    source = Source.of(wrapped)
    root = parse(source.text)
    if root.has_error:
        return None
    reader = Reader(source, compound, lambda r, t: record(r, t, "", None))
    try:
        made = [v for child in named(root) for v in variables(reader, child)]
    except (TooDeep, RecursionError):
        return None
    return made[0].init if made else None


def items_of(r: Reader, tree: Tree, scope: str, template: Template = None) -> list[s.Item]:
    """The items that a node declares."""
    span = r.span(tree)
    match tree.type:
        case "function_definition":
            made = function(r, tree, scope, template)
            return [made] if made is not None else []
        case "declaration" | "field_declaration":
            return _declaration(r, tree, scope, template)
        case "linkage_specification" | "declaration_list":
            return [i for c in _inside(tree) for i in items_of(r, c, scope, template)]
        case "namespace_definition":
            name = tree.child_by_field_name("name")
            inner = "::".join(x for x in (scope, text(name).replace(" ", "") if name else "") if x)
            return [i for c in _inside(tree) for i in items_of(r, c, inner, template)]
        case "template_declaration":
            params = _template(r, tree.child_by_field_name("parameters"))
            rest = [c for c in named(tree) if c.type not in ("template_parameter_list", "requires_clause")]
            return [i for c in rest for i in items_of(r, c, scope, params)]
        case "template_instantiation":
            return _instantiation(r, tree, scope)
        case "type_definition":
            return _typedef(r, tree, scope)
        case "alias_declaration":
            name, kind = tree.child_by_field_name("name"), tree.child_by_field_name("type")
            if name is None or kind is None:
                return []
            return [s.Alias(span, text(name), scope, r.type_descriptor(kind), template)]
        case "namespace_alias_definition":
            parts = [text(c).replace(" ", "") for c in tree.named_children]
            return [s.NamespaceAlias(span, parts[0], scope, parts[-1])] if len(parts) == 2 else []
        case "struct_specifier" | "class_specifier" | "union_specifier" | "enum_specifier":
            return [record(r, tree, scope, template)]
        case _:
            return []


Template = tuple[s.TemplateParameter, ...] | None


def _inside(tree: Tree) -> Iterator[Tree]:
    body = tree.child_by_field_name("body")
    return (
        named(body) if body is not None and body.type == "declaration_list" else iter([body] if body else named(tree))
    )


def _template(r: Reader, tree: Tree | None) -> tuple[s.TemplateParameter, ...]:
    out: list[s.TemplateParameter] = []
    for child in named(tree) if tree is not None else ():
        span, pack = r.span(child), child.type.startswith("variadic")
        if "type_parameter" in child.type or child.type == "template_template_parameter_declaration":
            name = child.child_by_field_name("name") or next(
                (c for c in child.named_children if c.type == "type_identifier"), None
            )
            default = child.child_by_field_name("default_type")
            out.append(
                s.TemplateParameter(
                    span, text(name) if name else "", None, r.base_type(default) if default is not None else None, pack
                )
            )
            continue
        base, _ = r.declared(child)
        node, kind = r.declarator(child.child_by_field_name("declarator"), base)
        value = child.child_by_field_name("default_value")
        name_text = text(node).lstrip(".& ") if node is not None else ""
        out.append(s.TemplateParameter(span, name_text, kind, r.expr(value) if value is not None else None, pack))
    return tuple(out)


def _flags(tree: Tree) -> frozenset[str]:
    """The words before a declaration, looking out to the ``extern "C"`` around it."""
    words = {text(c) for c in tree.children if text(c) in _WORDS}
    if tree.parent is not None and tree.parent.type == "linkage_specification":
        words.add("extern C")
    return frozenset(words)


def function(
    r: Reader, tree: Tree, scope: str, template: Template, *, with_body: bool = True, instantiation: bool = False
) -> s.Function | None:
    """A function definition or declaration; None when the node is none."""
    declared = tree.child_by_field_name("declarator")
    if declared is not None and declared.type == "operator_cast":
        return _conversion(r, tree, declared, scope, with_body)
    base, words = r.declared(tree)
    node, result = r.declarator(declared, base)
    if node is None or node.type != "function_declarator":
        return None
    named_by = node.child_by_field_name("declarator")
    if named_by is None:
        return None
    name, args, _ = r.qualified(named_by)
    trailing = next((c for c in node.named_children if c.type == "trailing_return_type"), None)
    if trailing is not None:
        inner = next(iter(trailing.named_children), None)
        result = r.type_descriptor(inner) if inner is not None else result
    body = tree.child_by_field_name("body")
    read = None
    if body is not None and body.type == "compound_statement":
        read = compound(r, body) if with_body else s.Compound(r.span(body), ())
    inits: list[tuple[str, tuple[s.Expr, ...]]] = []
    for child in tree.named_children:
        if child.type == "field_initializer_list":
            inits.extend(_initializer(r, c) for c in child.named_children if c.type == "field_initializer")
    return s.Function(
        r.span(tree),
        name.replace(" ", ""),
        scope,
        template,
        parameters(r, node.child_by_field_name("parameters")),
        result,
        read,
        _flags(tree) | words,
        args,
        instantiation,
        initializers=tuple(inits),
        is_const=any(c.type == "type_qualifier" and text(c) == "const" for c in node.children),
    )


def _conversion(r: Reader, tree: Tree, declared: Tree, scope: str, with_body: bool) -> s.Function | None:
    """``operator T*()``: the function that converts an object to another type."""
    kind = declared.child_by_field_name("type")
    if kind is None:
        return None
    result: s.TypeNode = r.base_type(kind)
    node = declared.child_by_field_name("declarator")
    while node is not None and node.type == "abstract_pointer_declarator":
        result = s.TypePointer(r.span(declared), result)
        node = node.child_by_field_name("declarator")
    body = tree.child_by_field_name("body")
    if node is None or node.type != "abstract_function_declarator" or body is None:
        return None
    read = compound(r, body) if with_body else s.Compound(r.span(body), ())
    return s.Function(r.span(tree), s.CONVERSION, scope, None, (), result, read, _flags(tree))


def _initializer(r: Reader, tree: Tree) -> tuple[str, tuple[s.Expr, ...]]:
    children = list(named(tree))
    return text(children[0]), r.arguments(children[-1]) if len(children) > 1 else ()


def _declaration(r: Reader, tree: Tree, scope: str, template: Template) -> list[s.Item]:
    declared = function(r, tree, scope, template)
    if declared is not None:
        return [declared]
    out: list[s.Item] = []
    kind = tree.child_by_field_name("type")
    if kind is not None and kind.type in (*_RECORDS, "enum_specifier") and kind.child_by_field_name("body") is not None:
        out.append(record(r, kind, scope, None))
    made = variables(r, tree)
    if made:
        out.append(s.Globals(r.span(tree), made[0].name, scope, made, template))
    return out


def _instantiation(r: Reader, tree: Tree, scope: str) -> list[s.Item]:
    made = function(r, tree, scope, None, instantiation=True)
    return [made] if made is not None else []


def _typedef(r: Reader, tree: Tree, scope: str) -> list[s.Item]:
    out: list[s.Item] = []
    base, _ = r.declared(tree)
    kind = tree.child_by_field_name("type")
    if isinstance(base, s.TypeInline):
        out.append(base.item)
        base = s.TypeName(base.span, base.item.name)
    for index, child in enumerate(tree.children):
        if tree.field_name_for_child(index) == "declarator":
            node, full = r.declarator(child, base)
            if node is None:
                continue
            if kind is not None and out and out[0].name.startswith("(unnamed"):
                out[0] = _renamed(out[0], text(node))
                base = s.TypeName(base.span, text(node))
                continue
            out.append(s.Alias(r.span(tree), text(node), scope, full))
    return out


def _renamed(item: s.Item, name: str) -> s.Item:
    return replace(item, name=name)


def record(r: Reader, tree: Tree, scope: str, template: Template) -> s.Record | s.Enumeration:
    """A struct, class, union or enum."""
    span = r.span(tree)
    name_node = tree.child_by_field_name("name")
    name, args, _ = r.qualified(name_node) if name_node is not None else (f"(unnamed at line {span.line})", None, None)
    body = tree.child_by_field_name("body")
    if tree.type == "enum_specifier":
        base = tree.child_by_field_name("base")
        members: list[tuple[str, s.Expr | None]] = []
        for child in named(body) if body is not None else ():
            label, value = child.child_by_field_name("name"), child.child_by_field_name("value")
            if label is not None:
                members.append((text(label), r.expr(value) if value is not None else None))
        scoped = any(c.type in ("class", "struct") for c in tree.children)
        base_type = r.base_type(base) if base is not None else None
        return s.Enumeration(span, name, scope, tuple(members), base_type, scoped)
    fields: list[s.Variable] = []
    inner: list[s.Item] = []
    inside = "::".join(x for x in (scope, name) if x)
    for child in named(body) if body is not None else ():
        found = items_of(r, child, inside)
        kind = child.child_by_field_name("type")
        unnamed = kind is not None and kind.type in _RECORDS and kind.child_by_field_name("name") is None
        if kind is not None and unnamed and not any(isinstance(i, s.Globals) for i in found):
            fields.append(s.Variable(r.span(child), "", r.base_type(kind), None, frozenset()))
            continue  # an anonymous struct or union: its members are members of this one
        for item in found:
            if isinstance(item, s.Globals) and "static" not in item.variables[0].flags:
                fields.extend(item.variables)
            else:
                inner.append(item)
    bases = next((c for c in tree.named_children if c.type == "base_class_clause"), None)
    base_types = (
        tuple(r.base_type(c) for c in named(bases) if "identifier" in c.type or c.type == "template_type")
        if bases
        else ()
    )
    word = tree.type.split("_")[0]
    made = s.Record(span, name, scope, word, template, tuple(fields), tuple(inner), base_types, args, body is not None)
    shares = any(c.type == "bitfield_clause" for f in (named(body) if body is not None else ()) for c in named(f))
    return replace(made, odd="its bit-fields share bytes") if shares else made
