"""Syntax trees of the grammar to typed trees: statements."""

from __future__ import annotations

from collections.abc import Callable

from tree_sitter import Node as Tree

from gpusafe.parse.cuda import syntax as s
from gpusafe.parse.cuda.reader import MAX_DEPTH, Reader, TooDeep, brief, named, text


def compound(r: Reader, tree: Tree) -> s.Compound:
    """A block in braces."""
    return s.Compound(r.span(tree), tuple(statement(r, c) for c in named(tree)))


def statement(r: Reader, tree: Tree) -> s.Stmt:
    """Any statement; syntax that is not known becomes BadStmt."""
    r.depth += 1
    if r.depth > MAX_DEPTH:
        raise TooDeep
    try:
        handler = _STATEMENTS.get(tree.type)
        if handler is None:
            return s.BadStmt(r.span(tree), f"`{brief(tree)}`")
        return handler(r, tree)
    finally:
        r.depth -= 1


def variables(r: Reader, tree: Tree) -> tuple[s.Variable, ...]:
    """The variables of a declaration (functions that it declares are left out)."""
    base, flags = r.declared(tree)
    out: list[s.Variable] = []
    children = [c for i, c in enumerate(tree.children) if tree.field_name_for_child(i) == "declarator"]
    default = tree.child_by_field_name("default_value") or tree.child_by_field_name("value")
    for child in children:
        made = variable(r, child, base, flags)
        if made is not None:
            if made.init is None and default is not None and len(children) == 1:
                made = s.Variable(made.span, made.name, made.type, r.expr(default), made.flags, made.direct)
            out.append(made)
    return tuple(out)


def variable(r: Reader, tree: Tree, base: s.TypeNode, flags: frozenset[str]) -> s.Variable | None:
    """One declarator with its initialiser; None when it declares a function."""
    node, kind = r.declarator(tree, base)
    init: s.Expr | None = None
    direct = False
    if tree.type == "init_declarator":
        value = tree.child_by_field_name("value")
        direct = not any(c.type == "=" for c in tree.children)
        if value is not None and value.type == "argument_list":
            items = r.arguments(value)
            init = s.Braces(r.span(value), items) if len(items) != 1 else items[0]
        elif value is not None:
            init = r.expr(value)
    if node is None:
        return None
    if node.type == "function_declarator":
        return _vexing(r, node, kind, flags)
    if node.type == "structured_binding_declarator":
        names = tuple(text(c) for c in node.named_children)
        return s.Variable(r.span(tree), names[0] if names else "?", kind, init, flags, direct, names)
    return s.Variable(r.span(tree), text(node), kind, init, flags, direct)


def _vexing(r: Reader, node: Tree, kind: s.TypeNode, flags: frozenset[str]) -> s.Variable | None:
    """``dim3 grid(x, y)`` reads as a function when the arguments could be types."""
    listed, name = node.child_by_field_name("parameters"), node.child_by_field_name("declarator")
    if listed is None or name is None or name.type != "identifier":
        return None
    items: list[s.Expr] = []
    for child in named(listed):
        type_node = child.child_by_field_name("type")
        if child.type != "parameter_declaration" or type_node is None:
            return None
        if type_node.type not in ("type_identifier", "qualified_identifier", "template_type"):
            return None
        item = _subscripted(r, type_node, child.child_by_field_name("declarator"))
        if item is None:
            return None
        items.append(item)
    if not items:
        return None
    init = items[0] if len(items) == 1 else s.Braces(r.span(listed), tuple(items))
    return s.Variable(r.span(node), text(name), kind, init, flags, True)


def _subscripted(r: Reader, base: Tree, declarator: Tree | None) -> s.Expr | None:
    """``table[i][j]``, which reads as an array type without a name; None when it can be nothing else than a type."""
    if declarator is not None and declarator.type == "pointer_declarator":  # `float square(r * r)`
        other = declarator.child_by_field_name("declarator")
        if other is None or other.type != "identifier":
            return None
        return s.Binary(r.span(base), "*", r.expr(base), r.expr(other))
    sizes: list[Tree] = []
    while declarator is not None:
        size = declarator.child_by_field_name("size")
        if declarator.type != "abstract_array_declarator" or size is None:
            return None
        sizes.append(size)
        declarator = declarator.child_by_field_name("declarator")
    found = r.expr(base)
    for size in reversed(sizes):
        found = s.Index(r.span(base), found, (r.expr(size),))
    return found


def _declaration(r: Reader, tree: Tree) -> s.Stmt:
    return s.Declare(r.span(tree), variables(r, tree))


def _expression(r: Reader, tree: Tree) -> s.Stmt:
    inner = next(named(tree), None)
    declared = _pointer_to_array(r, inner) or _of_template(r, inner) if inner is not None else None
    if declared is not None:
        return s.Declare(r.span(tree), (declared,))
    return s.Evaluate(r.span(tree), r.expr(inner)) if inner is not None else s.Empty(r.span(tree))


def _pointer_to_array(r: Reader, tree: Tree) -> s.Variable | None:
    """``int (*p)[5] = q``, which the grammar takes for an assignment to an element of what a call gives."""
    left, right = tree.child_by_field_name("left"), tree.child_by_field_name("right")
    lengths: list[s.Expr] = []
    while left is not None and left.type == "subscript_expression":
        lengths += r.arguments(left.child_by_field_name("indices"))
        left = left.child_by_field_name("argument")
    if not lengths or right is None or left is None or left.type != "call_expression":
        return None
    func, listed = left.child_by_field_name("function"), left.child_by_field_name("arguments")
    inside = next(named(listed), None) if listed is not None else None
    if func is None or inside is None or inside.type != "pointer_expression" or not text(inside).startswith("*"):
        return None
    if func.type not in ("primitive_type", "identifier", "sized_type_specifier"):
        return None
    span = r.span(tree)
    kind: s.TypeNode = r.base_type(func)
    for length in lengths:
        kind = s.TypeArray(span, kind, length)
    return s.Variable(span, text(inside).lstrip("* "), s.TypePointer(span, kind), r.expr(right), frozenset())


def _of_template(r: Reader, tree: Tree) -> s.Variable | None:
    """``ns::tile<32> t = f()`` and ``ns::tile<32> t(g)``, which the grammar takes for two comparisons."""
    parts = [tree]
    while parts[-1].type == "comma_expression":  # `ns::tile<32, ns::block> t = f()`
        last = parts.pop()
        parts += [x for x in (last.child_by_field_name("left"), last.child_by_field_name("right")) if x is not None]
    above = _sides(parts[-1], ">")
    if above is None:
        return None
    first, declared = above if len(parts) == 1 else (parts[0], above[1])
    below = _sides(first, "<")
    if below is None or below[0].type not in ("identifier", "qualified_identifier"):
        return None
    args = [below[1], *parts[1:-1], *([above[0]] if len(parts) > 1 else [])]
    span = r.span(tree)
    kind = s.TypeName(span, text(below[0]).replace(" ", ""), tuple(r.expr(a) for a in args), False, False)
    name, value = declared, None
    if declared.type == "assignment_expression":
        left, right = declared.child_by_field_name("left"), declared.child_by_field_name("right")
        if left is None or right is None:
            return None
        name, value = left, r.expr(right)
    elif declared.type == "call_expression":
        func, listed = declared.child_by_field_name("function"), declared.child_by_field_name("arguments")
        if func is None:
            return None
        given = r.arguments(listed)
        name, value = func, given[0] if len(given) == 1 else s.Braces(span, given)
    if name.type != "identifier":
        return None
    return s.Variable(span, text(name), kind, value, frozenset(), declared.type == "call_expression")


def _sides(tree: Tree, operator: str) -> tuple[Tree, Tree] | None:
    """Both sides of a comparison by this operator."""
    left, right = tree.child_by_field_name("left"), tree.child_by_field_name("right")
    sign = tree.child_by_field_name("operator")
    if tree.type != "binary_expression" or left is None or right is None or sign is None or text(sign) != operator:
        return None
    return left, right


def _condition(r: Reader, tree: Tree | None) -> tuple[s.Stmt | None, s.Expr | s.Variable]:
    """The init statement and the condition of ``if``/``while``/``switch``."""
    assert tree is not None
    init: s.Stmt | None = None
    first = tree.child_by_field_name("initializer")
    if first is not None:
        inner = next(named(first), None)
        init = statement(r, inner) if inner is not None else None
    value = tree.child_by_field_name("value")
    if tree.type == "parenthesized_expression":
        return init, r.expr(tree)
    if value is None:
        return init, s.BadExpr(r.span(tree), f"`{brief(tree)}`")
    if value.type == "declaration":
        return init, _condition_variable(r, value)
    return init, r.expr(value)


def _condition_variable(r: Reader, tree: Tree) -> s.Expr | s.Variable:
    base, flags = r.declared(tree)
    node, kind = r.declarator(tree.child_by_field_name("declarator"), base)
    value = tree.child_by_field_name("value")
    if node is None or value is None:
        return s.BadExpr(r.span(tree), f"`{brief(tree)}`")
    return s.Variable(r.span(tree), text(node), kind, r.expr(value), flags)


def _child(r: Reader, tree: Tree, name: str) -> s.Stmt:
    node = tree.child_by_field_name(name)
    return statement(r, node) if node is not None else s.BadStmt(r.span(tree), f"`{brief(tree)}`")


def _if(r: Reader, tree: Tree) -> s.Stmt:
    init, cond = _condition(r, tree.child_by_field_name("condition"))
    constexpr = any(c.type == "constexpr" for c in tree.children)
    other = tree.child_by_field_name("alternative")
    orelse: s.Stmt | None = None
    if other is not None:
        inner = next(named(other), None) if other.type == "else_clause" else other
        orelse = statement(r, inner) if inner is not None else None
    return s.If(r.span(tree), init, cond, _child(r, tree, "consequence"), orelse, constexpr)


def _while(r: Reader, tree: Tree) -> s.Stmt:
    _, cond = _condition(r, tree.child_by_field_name("condition"))
    return s.While(r.span(tree), cond, _child(r, tree, "body"))


def _do(r: Reader, tree: Tree) -> s.Stmt:
    return s.DoWhile(r.span(tree), _child(r, tree, "body"), r.field(tree, "condition"))


def _for(r: Reader, tree: Tree) -> s.Stmt:
    init = tree.child_by_field_name("initializer")
    first: s.Stmt | None = None
    if init is not None:
        first = statement(r, init) if init.type in _STATEMENTS else s.Evaluate(r.span(init), r.expr(init))
    cond, step = tree.child_by_field_name("condition"), tree.child_by_field_name("update")
    return s.For(
        r.span(tree),
        first,
        r.expr(cond) if cond is not None else None,
        r.expr(step) if step is not None else None,
        _child(r, tree, "body"),
    )


def _range_for(r: Reader, tree: Tree) -> s.Stmt:
    base, flags = r.declared(tree)
    node, kind = r.declarator(tree.child_by_field_name("declarator"), base)
    name = text(node) if node is not None else "?"
    made = s.Variable(r.span(node) if node is not None else r.span(tree), name, kind, None, flags)
    return s.RangeFor(r.span(tree), made, r.field(tree, "right"), _child(r, tree, "body"))


def _switch(r: Reader, tree: Tree) -> s.Stmt:
    init, value = _condition(r, tree.child_by_field_name("condition"))
    body = tree.child_by_field_name("body")
    cases: list[s.Case] = []
    for child in named(body) if body is not None else ():
        if child.type != "case_statement":
            return s.BadStmt(r.span(child), "a statement before the first `case`")
        label = child.child_by_field_name("value")
        rest = [c for c in named(child) if label is None or c.start_byte > label.start_byte]
        stmts = tuple(statement(r, c) for c in rest)
        cases.append(s.Case(r.span(child), r.expr(label) if label is not None else None, stmts))
    if init is not None or isinstance(value, s.Variable):
        return s.BadStmt(r.span(tree), "a `switch` that declares a variable")
    return s.Switch(r.span(tree), value, tuple(cases))


def _return(r: Reader, tree: Tree) -> s.Stmt:
    inner = next(named(tree), None)
    return s.Return(r.span(tree), r.expr(inner) if inner is not None else None)


def _define(r: Reader, tree: Tree) -> s.Stmt:
    from gpusafe.parse.cuda.items import items_of  # items read function bodies, which are statements

    made = items_of(r, tree, "")
    if not made:
        return s.Empty(r.span(tree))
    if len(made) == 1:
        return s.Define(r.span(tree), made[0])
    return s.Compound(r.span(tree), tuple(s.Define(i.span, i) for i in made))


_STATEMENTS: dict[str, Callable[[Reader, Tree], s.Stmt]] = {
    "compound_statement": compound,
    "declaration": _declaration,
    "expression_statement": _expression,
    "if_statement": _if,
    "while_statement": _while,
    "do_statement": _do,
    "for_statement": _for,
    "for_range_loop": _range_for,
    "switch_statement": _switch,
    "return_statement": _return,
    "break_statement": lambda r, t: s.Break(r.span(t)),
    "continue_statement": lambda r, t: s.Continue(r.span(t)),
    "goto_statement": lambda r, t: _goto(r, t),
    "labeled_statement": lambda r, t: _labelled(r, t),
    "static_assert_declaration": lambda r, t: s.Empty(r.span(t)),
    "using_declaration": _define,
    "namespace_alias_definition": _define,
    "alias_declaration": _define,
    "type_definition": _define,
    "struct_specifier": _define,
    "class_specifier": _define,
    "union_specifier": _define,
    "enum_specifier": _define,
    "attributed_statement": lambda r, t: _child_last(r, t),
    ";": lambda r, t: s.Empty(r.span(t)),
}


def _goto(r: Reader, tree: Tree) -> s.Stmt:
    label = tree.child_by_field_name("label")
    return s.Goto(r.span(tree), text(label)) if label is not None else s.BadStmt(r.span(tree), f"`{brief(tree)}`")


def _labelled(r: Reader, tree: Tree) -> s.Stmt:
    label = tree.child_by_field_name("label")
    if label is None:
        return s.BadStmt(r.span(tree), "a label for `goto`")
    rest = [c for c in named(tree) if c.start_byte > label.start_byte]
    return s.Labelled(r.span(tree), text(label), statement(r, rest[-1]) if rest else s.Empty(r.span(tree)))


def _child_last(r: Reader, tree: Tree) -> s.Stmt:
    children = list(named(tree))
    return statement(r, children[-1]) if children else s.Empty(r.span(tree))
