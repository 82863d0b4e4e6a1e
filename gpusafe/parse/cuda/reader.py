"""Syntax trees of the grammar to typed trees: types and expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tree_sitter import Node as Tree

from gpusafe.ir.expr import I8
from gpusafe.parse.cuda import syntax as s
from gpusafe.parse.cuda.chunks import Source
from gpusafe.parse.cuda.literals import char_value, float_literal, integer_literal, string_value
from gpusafe.span import Span

MAX_DEPTH = 140
_FLAG_TYPES = frozenset({"storage_class_specifier", "type_qualifier", "virtual", "explicit_function_specifier"})
_DEVICE_WORDS = frozenset({"__device__", "__global__", "__host__", "__shared__", "__constant__", "__managed__"})
_SIZED = {"signed": 0, "unsigned": 0, "long": 0, "short": 0, "int": 0, "char": 0, "double": 0}


class TooDeep(Exception):
    """The source nests deeper than is worth following."""


@dataclass(slots=True)
class Reader:
    """Reads the nodes of one chunk. ``compound`` reads a statement block (lambda bodies)."""

    source: Source
    compound: Callable[[Reader, Tree], s.Compound]
    record: Callable[[Reader, Tree], s.Record | s.Enumeration]
    depth: int = 0

    def span(self, tree: Tree) -> Span:
        """The place of a node in the user's file."""
        return self.source.span(tree.start_byte, tree.end_byte)

    # -- types -------------------------------------------------------------------------------------------------------

    def declared(self, tree: Tree) -> tuple[s.TypeNode, frozenset[str]]:
        """The base type of a declaration, parameter or type descriptor, and the words before it."""
        words: set[str] = set()
        for child in tree.children:
            if child.type in _FLAG_TYPES or child.type in _DEVICE_WORDS:
                words.add(text(child))
        kind = tree.child_by_field_name("type")
        if kind is None:
            return s.TypeAuto(self.span(tree)), frozenset(words)
        return self.base_type(kind, "const" in words or "constexpr" in words, "volatile" in words), frozenset(words)

    def base_type(self, tree: Tree, const: bool = False, volatile: bool = False) -> s.TypeNode:
        """A type without declarators."""
        span = self.span(tree)
        match tree.type:
            case "primitive_type" | "type_identifier" | "identifier" | "namespace_identifier":
                return s.TypeName(span, text(tree), None, const, volatile)
            case "sized_type_specifier":
                words = [w for w in text(tree).split() if w in _SIZED]
                return s.TypeName(span, _sized_name(words), None, const, volatile)
            case "template_type" | "qualified_identifier" | "dependent_type" | "template_function":
                name, args, scope_args = self.qualified(tree)
                return s.TypeName(span, name, args if args is not None else scope_args, const, volatile)
            case "placeholder_type_specifier" | "auto":
                return s.TypeAuto(span)
            case "decltype":
                inner = next((c for c in tree.named_children if c.type != "auto"), None)
                return s.TypeAuto(span, self.expr(inner) if inner is not None else None)
            case "struct_specifier" | "class_specifier" | "union_specifier" | "enum_specifier":
                if tree.child_by_field_name("body") is not None:
                    return s.TypeInline(span, self.record(self, tree))
                name_node = tree.child_by_field_name("name")
                return s.TypeName(span, text(name_node) if name_node else "?", None, const, volatile)
            case "type_descriptor":
                return self.type_descriptor(tree)
            case _:
                return s.TypeName(span, text(tree), None, const, volatile)

    def type_descriptor(self, tree: Tree) -> s.TypeNode:
        """A type as in casts and template arguments."""
        base, _ = self.declared(tree)
        declarator = tree.child_by_field_name("declarator")
        return self.declarator(declarator, base)[1] if declarator is not None else base

    def declarator(self, tree: Tree | None, base: s.TypeNode) -> tuple[Tree | None, s.TypeNode]:
        """The node that names what is declared (None in abstract ones), and its type."""
        while tree is not None:
            inner = tree.child_by_field_name("declarator")
            span = self.span(tree)
            match tree.type:
                case "pointer_declarator" | "abstract_pointer_declarator" | "pointer_type_declarator":
                    quals = {text(c) for c in tree.children if c.type == "type_qualifier"}
                    base = s.TypePointer(span, base, "const" in quals, "volatile" in quals)
                case "reference_declarator" | "abstract_reference_declarator":
                    base = s.TypeReference(span, base)
                    inner = inner or next(
                        (c for c in tree.named_children if "declarator" in c.type or "identifier" in c.type), None
                    )
                case "array_declarator" | "abstract_array_declarator":
                    base = self.array(tree, base)
                case "parenthesized_declarator" | "abstract_parenthesized_declarator":
                    inner = next(iter(tree.named_children), None)
                case "function_declarator" | "abstract_function_declarator":
                    if inner is None or inner.type not in (
                        "parenthesized_declarator",
                        "abstract_parenthesized_declarator",
                    ):
                        return tree, base
                    base = s.TypeFunction(span, base)
                case "init_declarator" | "attributed_declarator" | "variadic_declarator":
                    inner = inner or next((c for c in tree.named_children if "identifier" in c.type), None)
                    if inner is None:
                        return None, base
                case _:
                    return tree, base
            tree = inner
        return None, base

    def array(self, tree: Tree, base: s.TypeNode) -> s.TypeNode:
        """One array dimension around ``base``."""
        size = tree.child_by_field_name("size")
        return s.TypeArray(self.span(tree), base, self.expr(size) if size is not None else None)

    # -- names -------------------------------------------------------------------------------------------------------

    def qualified(self, tree: Tree) -> tuple[str, Args, Args]:
        """``ns::f<T>``: the name without arguments, the last arguments, those of the scope before it."""
        scope_args: Args = None
        names: list[str] = []
        args: Args = None
        node: Tree | None = tree
        while node is not None:
            match node.type:
                case "qualified_identifier":
                    scope = node.child_by_field_name("scope")
                    if scope is not None:
                        name, found, _ = self.qualified(scope)
                        names.append(name)
                        scope_args = found if found is not None else scope_args
                    node = node.child_by_field_name("name")
                case "template_function" | "template_type" | "template_method":
                    args = self.template_args(node.child_by_field_name("arguments"))
                    node = node.child_by_field_name("name")
                case "dependent_name" | "dependent_type":
                    node = next(iter(node.named_children), None)
                case _:
                    names.append(text(node).replace(" ", ""))
                    node = None
        return "::".join(names), args, scope_args

    def template_args(self, tree: Tree | None) -> Args:
        """The arguments between ``<`` and ``>``."""
        if tree is None:
            return None
        out: list[s.TypeNode | s.Expr] = []
        for child in named(tree):
            out.append(self.type_descriptor(child) if child.type == "type_descriptor" else self.expr(child))
        return tuple(out)

    # -- expressions -------------------------------------------------------------------------------------------------

    def expr(self, tree: Tree) -> s.Expr:
        """Any expression; syntax that is not known becomes BadExpr."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooDeep
        try:
            handler = _EXPRESSIONS.get(tree.type)
            if handler is None or tree.is_missing:
                return s.BadExpr(self.span(tree), f"`{brief(tree)}`")
            return handler(self, tree)
        finally:
            self.depth -= 1

    def field(self, tree: Tree, name: str) -> s.Expr:
        """The expression in a field of a node."""
        child = tree.child_by_field_name(name)
        return self.expr(child) if child is not None else s.BadExpr(self.span(tree), f"`{brief(tree)}`")

    def arguments(self, tree: Tree | None) -> tuple[s.Expr, ...]:
        """The expressions of an argument list or initialiser list."""
        return tuple(self.expr(c) for c in named(tree)) if tree is not None else ()


Args = tuple[s.TypeNode | s.Expr, ...] | None


def text(tree: Tree) -> str:
    """The text of a node."""
    return (tree.text or b"").decode("utf-8", "replace")


def brief(tree: Tree) -> str:
    """The text of a node in one short line, for messages."""
    line = " ".join(text(tree).split())
    return line if len(line) <= 40 else line[:37] + "..."


def named(tree: Tree) -> Iterator[Tree]:
    """The named children that are no comments."""
    return (c for c in tree.named_children if c.type != "comment")


def _sized_name(words: list[str]) -> str:
    unsigned = "unsigned" in words
    rest = [w for w in words if w not in ("unsigned", "signed", "int")]
    if rest == ["double"] or rest == ["long", "double"]:
        return "double"
    if rest == ["char"]:
        return "unsigned char" if unsigned else "signed char"
    name = " ".join(rest) or "int"
    return f"unsigned {name}" if unsigned else name


# -- one function for each kind of expression --------------------------------------------------------------------------


def _number(r: Reader, tree: Tree) -> s.Expr:
    span, word = r.span(tree), text(tree)
    if word[0] in "+-":  # the grammar takes the sign for a part of the number
        plain = _literal(span, word[1:].strip())
        return s.Unary(span, word[0], plain)
    return _literal(span, word)


def _literal(span: Span, word: str) -> s.Expr:
    whole = integer_literal(word)
    if whole is not None:
        return s.Integer(span, whole.value, whole.type)
    real = float_literal(word)
    return s.Floating(span, *real) if real is not None else s.BadExpr(span, f"`{word}`")


def _name(r: Reader, tree: Tree) -> s.Expr:
    if tree.type == "identifier":
        return s.Name(r.span(tree), text(tree))
    return s.Name(r.span(tree), *r.qualified(tree))


def _parenthesized(r: Reader, tree: Tree) -> s.Expr:
    inner = next(named(tree), None)
    return r.expr(inner) if inner is not None else s.BadExpr(r.span(tree), "`()`")


def _binary(r: Reader, tree: Tree) -> s.Expr:
    chain: list[Tree] = []
    node: Tree = tree
    while node.type == "binary_expression":  # `a + b + c ...` leans to the left
        chain.append(node)
        left = node.child_by_field_name("left")
        if left is None:
            return s.BadExpr(r.span(tree), f"`{brief(tree)}`")
        node = left
    if len(chain) > MAX_DEPTH // 2:
        raise TooDeep
    value = r.expr(node)
    for part in reversed(chain):
        op = part.child_by_field_name("operator")
        value = s.Binary(r.span(part), text(op) if op else "?", value, r.field(part, "right"))
    return value


def _unary(r: Reader, tree: Tree) -> s.Expr:
    op = tree.child_by_field_name("operator")
    return s.Unary(r.span(tree), text(op) if op else "?", r.field(tree, "argument"))


def _update(r: Reader, tree: Tree) -> s.Expr:
    op, argument = tree.child_by_field_name("operator"), tree.child_by_field_name("argument")
    postfix = bool(op and argument and op.start_byte > argument.start_byte)
    return s.Unary(r.span(tree), text(op) if op else "?", r.field(tree, "argument"), postfix)


def _assign(r: Reader, tree: Tree) -> s.Expr:
    op = tree.child_by_field_name("operator")
    return s.Assign(r.span(tree), text(op) if op else "=", r.field(tree, "left"), r.field(tree, "right"))


def _conditional(r: Reader, tree: Tree) -> s.Expr:
    return s.Conditional(
        r.span(tree), r.field(tree, "condition"), r.field(tree, "consequence"), r.field(tree, "alternative")
    )


def _comma(r: Reader, tree: Tree) -> s.Expr:
    return s.Comma(r.span(tree), r.field(tree, "left"), r.field(tree, "right"))


def _call(r: Reader, tree: Tree) -> s.Expr:
    func, arguments = tree.child_by_field_name("function"), tree.child_by_field_name("arguments")
    span = r.span(tree)
    config = next((c for c in tree.children if c.type == "kernel_call_syntax"), None)
    if func is None or arguments is None:
        return s.BadExpr(span, f"`{brief(tree)}`")
    if config is not None:
        return s.Launch(span, r.expr(func), r.arguments(config), r.arguments(arguments))
    if func.type == "template_function" and text(func).split("<")[0].strip().endswith("_cast"):
        style = text(func).split("<")[0].strip().removesuffix("_cast")
        kinds = r.template_args(func.child_by_field_name("arguments"))
        operands = r.arguments(arguments)
        if kinds and len(operands) == 1:
            kind = kinds[0]
            node = kind if isinstance(kind, s.TypeNode) else _as_type(kind)
            if node is not None:
                return s.Cast(span, node, operands[0], style)
    if func.type in ("primitive_type", "sized_type_specifier"):
        return s.Construct(span, r.base_type(func), r.arguments(arguments))
    return s.Call(span, r.expr(func), r.arguments(arguments))


def _as_type(value: s.Expr) -> s.TypeNode | None:
    return s.TypeName(value.span, value.name, value.args) if isinstance(value, s.Name) else None


def _subscript(r: Reader, tree: Tree) -> s.Expr:
    return s.Index(r.span(tree), r.field(tree, "argument"), r.arguments(tree.child_by_field_name("indices")))


def _member(r: Reader, tree: Tree) -> s.Expr:
    field, op = tree.child_by_field_name("field"), tree.child_by_field_name("operator")
    name, args, _ = r.qualified(field) if field is not None else ("?", None, None)
    arrow = any(c.type == "->" for c in tree.children) or (op is not None and text(op) == "->")
    return s.Member(r.span(tree), r.field(tree, "argument"), name, arrow, args)


def _cast(r: Reader, tree: Tree) -> s.Expr:
    kind = tree.child_by_field_name("type")
    if kind is None:
        return s.BadExpr(r.span(tree), f"`{brief(tree)}`")
    return s.Cast(r.span(tree), r.base_type(kind), r.field(tree, "value"))


def _compound_literal(r: Reader, tree: Tree) -> s.Expr:
    kind, value = tree.child_by_field_name("type"), tree.child_by_field_name("value")
    if kind is None:
        return s.BadExpr(r.span(tree), f"`{brief(tree)}`")
    listed = _braces(r, value) if value is not None else s.Braces(r.span(tree), ())
    assert isinstance(listed, s.Braces)
    return s.Construct(r.span(tree), r.base_type(kind), listed.items, True, listed.names)


def _braces(r: Reader, tree: Tree) -> s.Expr:
    items: list[s.Expr] = []
    names: list[str] = []
    for child in named(tree):
        if child.type == "initializer_pair":
            designator = child.child_by_field_name("designator")
            names.append(text(designator).lstrip(".") if designator else "?")
            items.append(r.field(child, "value"))
        else:
            items.append(r.expr(child))
    return s.Braces(r.span(tree), tuple(items), tuple(names))


def _sizeof(r: Reader, tree: Tree) -> s.Expr:
    span = r.span(tree)
    word = "alignof" if tree.type == "alignof_expression" else "sizeof"
    kind, value = tree.child_by_field_name("type"), tree.child_by_field_name("value")
    if any(c.type == "..." for c in tree.children):
        inner = next((c for c in tree.named_children if c.type == "identifier"), None)
        return s.PackCount(span, text(inner) if inner else "?")
    if kind is not None:
        return s.SizeOf(span, word, r.type_descriptor(kind) if kind.type == "type_descriptor" else r.base_type(kind))
    return s.SizeOf(span, word, r.expr(value)) if value is not None else s.BadExpr(span, f"`{brief(tree)}`")


def _expansion(r: Reader, tree: Tree) -> s.Expr:
    return s.PackExpansion(r.span(tree), r.field(tree, "pattern"))


def _lambda(r: Reader, tree: Tree) -> s.Expr:
    captures = tree.child_by_field_name("captures")
    default, names, refs = "", [], set()
    for child in captures.children if captures is not None else ():
        word = text(child)
        if child.type == "lambda_default_capture":
            default = word
        elif child.is_named:
            names.append(word.lstrip("&*"))
            if word.startswith("&"):
                refs.add(word.lstrip("&"))
    if captures is not None and "&" in [text(c) for c in captures.children if not c.is_named]:
        refs.update(names)
    declarator = tree.child_by_field_name("declarator")
    listed = declarator.child_by_field_name("parameters") if declarator is not None else None
    body = tree.child_by_field_name("body")
    if body is None:
        return s.BadExpr(r.span(tree), f"`{brief(tree)}`")
    return s.Lambda(r.span(tree), parameters(r, listed), r.compound(r, body), tuple(names), default, frozenset(refs))


def parameters(r: Reader, tree: Tree | None) -> tuple[s.Parameter, ...]:
    """The parameters of a function or lambda (``(void)`` has none)."""
    out: list[s.Parameter] = []
    for child in named(tree) if tree is not None else ():
        if "parameter_declaration" not in child.type:
            continue
        base, _ = r.declared(child)
        node, kind = r.declarator(child.child_by_field_name("declarator"), base)
        default = child.child_by_field_name("default_value")
        if node is None and isinstance(kind, s.TypeName) and kind.name == "void":
            continue
        pack = child.type.startswith("variadic")
        name = text(node).lstrip(".& ") if node is not None else ""
        out.append(s.Parameter(r.span(child), name, kind, r.expr(default) if default is not None else None, pack))
    return tuple(out)


def _asm(r: Reader, tree: Tree) -> s.Expr:
    span = r.span(tree)
    code = tree.child_by_field_name("assembly_code")
    template = _string(code) if code is not None else ""
    outputs = _operands(r, tree.child_by_field_name("output_operands"))
    inputs = _operands(r, tree.child_by_field_name("input_operands"))
    clobbers = tree.child_by_field_name("clobbers")
    words = tuple(_string(c) for c in named(clobbers)) if clobbers is not None else ()
    is_volatile = any(c.type == "gnu_asm_qualifier" for c in tree.children)
    return s.Asm(span, template, outputs, inputs, words, is_volatile)


def _operands(r: Reader, tree: Tree | None) -> tuple[s.AsmOperand, ...]:
    out: list[s.AsmOperand] = []
    for child in named(tree) if tree is not None else ():
        constraint, symbol = child.child_by_field_name("constraint"), child.child_by_field_name("symbol")
        if constraint is not None:
            word = text(symbol) if symbol is not None else ""
            out.append(s.AsmOperand(r.span(child), _string(constraint), r.field(child, "value"), word))
    return tuple(out)


def _string(tree: Tree) -> str:
    if tree.type == "concatenated_string":
        return "".join(_string(c) for c in named(tree) if "string" in c.type)
    try:
        return string_value(text(tree))
    except ValueError:
        return text(tree)


def _char(r: Reader, tree: Tree) -> s.Expr:
    return s.Integer(r.span(tree), char_value(text(tree)), I8)


_EXPRESSIONS: dict[str, Callable[[Reader, Tree], s.Expr]] = {
    "number_literal": _number,
    "identifier": _name,
    "type_identifier": lambda r, t: s.Name(r.span(t), text(t)),
    "field_identifier": lambda r, t: s.Name(r.span(t), text(t)),
    "namespace_identifier": lambda r, t: s.Name(r.span(t), text(t)),
    "qualified_identifier": _name,
    "template_function": _name,
    "template_type": _name,
    "dependent_name": _name,
    "operator_name": lambda r, t: s.Name(r.span(t), text(t).replace(" ", "")),
    "true": lambda r, t: s.Boolean(r.span(t), True),
    "false": lambda r, t: s.Boolean(r.span(t), False),
    "null": lambda r, t: s.NullPointer(r.span(t)),
    "nullptr": lambda r, t: s.NullPointer(r.span(t)),
    "this": lambda r, t: s.This(r.span(t)),
    "string_literal": lambda r, t: s.Text(r.span(t), _string(t)),
    "concatenated_string": lambda r, t: s.Text(r.span(t), _string(t)),
    "raw_string_literal": lambda r, t: s.Text(r.span(t), _string(t)),
    "char_literal": _char,
    "parenthesized_expression": _parenthesized,
    "binary_expression": _binary,
    "unary_expression": _unary,
    "pointer_expression": _unary,
    "update_expression": _update,
    "assignment_expression": _assign,
    "conditional_expression": _conditional,
    "comma_expression": _comma,
    "call_expression": _call,
    "subscript_expression": _subscript,
    "field_expression": _member,
    "cast_expression": _cast,
    "compound_literal_expression": _compound_literal,
    "initializer_list": _braces,
    "sizeof_expression": _sizeof,
    "alignof_expression": _sizeof,
    "parameter_pack_expansion": _expansion,
    "lambda_expression": _lambda,
    "gnu_asm_expression": _asm,
    "condition_clause": lambda r, t: r.field(t, "value"),
    "primitive_type": lambda r, t: s.Name(r.span(t), text(t)),
}
