"""Types as written to types as they are: names, templates, records and their layout."""

from __future__ import annotations

from dataclasses import replace

from gpusafe.parse.cuda import syntax as s
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.context import ClassInstance, Context, Pack, Scope, Unsupported
from gpusafe.parse.cuda.handles import handle_type, is_handle
from gpusafe.parse.cuda.program import pick_scoped
from gpusafe.parse.cuda.terms import value_of
from gpusafe.parse.cuda.values import Closure, FixedPlace, FunctionName, HandleValue, Operand, Place, Term, Value

MAX_TYPE_DEPTH = 24
TemplateArg = t.CType | Operand


def resolve(x: Context, node: s.TypeNode | None, depth: int = 0) -> t.CType:
    """The type that a node means in the present scope."""
    if depth > MAX_TYPE_DEPTH:
        return t.Unknown("a type that nests too deeply")
    match node:
        case s.TypeName(name=name, args=args, const=const, volatile=volatile):
            found = named_type(x, name, args, depth + 1)
            return replace(found, const=found.const or const, volatile=found.volatile or volatile)
        case s.TypePointer(inner=inner, const=const, volatile=volatile):
            return t.Pointer(resolve(x, inner, depth + 1), const=const, volatile=volatile)
        case s.TypeReference(inner=inner):
            kind = resolve(x, inner, depth + 1)
            return kind if isinstance(kind, t.Reference) else t.Reference(kind)
        case s.TypeArray(inner=inner, length=length):
            return t.Array(resolve(x, inner, depth + 1), None if length is None else constant(x, length))
        case s.TypeAuto(of=None):
            return t.Auto()
        case s.TypeAuto(of=of) if of is not None:
            return type_of_expression(x, of)
        case s.TypeInline(item=s.Record() as record):
            return instantiate_record(x, record, (), x.scope)
        case s.TypeInline(item=s.Enumeration() as item):
            return enumeration_type(x, item)
        case s.TypeFunction():
            return t.Unknown("a function type")
        case _:
            return t.Unknown("an unknown type")


def constant(x: Context, expr: s.Expr) -> int | None:
    """The value of an integer constant expression, None when it is none."""
    try:
        found = evaluate_constant(x, expr)
    except Unsupported:
        return None
    match found:
        case Term(expr=term) | FixedPlace(value=Term(expr=term)):
            return value_of(term)
        case _:
            return None


def evaluate_constant(x: Context, expr: s.Expr) -> Operand:
    """Evaluate without emitting anything; raises Unsupported where a statement would be needed."""
    with x.without_statements() as made:
        found = x.evaluate(expr)
    value = found.value if isinstance(found, FixedPlace) else found
    if made and not (isinstance(value, Term) and value_of(value.expr) is not None):
        raise Unsupported("not a constant expression")
    return found


def type_of_expression(x: Context, expr: s.Expr) -> t.CType:
    """The type of an expression, evaluated for nothing but its type."""
    with x.emitter.collect():
        before, x.constant_only = x.constant_only, False
        try:
            found = x.evaluate(expr)
        finally:
            x.constant_only = before
    return found.type


def enumeration_type(x: Context, item: s.Enumeration) -> t.CType:
    """The integer type of an enumeration (``int`` unless it says otherwise)."""
    return resolve(x, item.base) if item.base is not None else t.INT


def named_type(x: Context, name: str, args: tuple[s.TypeNode | s.Expr, ...] | None, depth: int = 0) -> t.CType:
    """The type of a name with template arguments."""
    for word in ("struct ", "class ", "union ", "enum ", "typename "):
        name = name.removeprefix(word)
    qualifier, _, last = name.rpartition("::")
    if not qualifier:
        bound = x.scope.find(last)
        if isinstance(bound, t.CType) and args is None:
            return bound
        member = _member_type(x, last, args, depth)
        if member is not None:
            return member
    else:
        inside = _scoped_type(x, qualifier, last, args, depth)
        if inside is not None:
            return inside
    found = program_type(x, qualifier, last, args, depth)
    if found is not None:
        return found
    full = x.program.expand(name)
    builtin = t.builtin_type(full)
    if builtin is not None:
        return builtin
    trait = _trait(x, full, args, depth)
    if trait is not None:
        return trait
    if is_handle(full):
        return handle_type(full, tuple(_loose_arg(x, a, depth) for a in args or ())) or t.Unknown(name)
    return t.Unknown(name)


def _loose_arg(x: Context, arg: s.TypeNode | s.Expr, depth: int) -> TemplateArg:
    """A template argument of a library type; a name that means nothing here stays a name (``thread_scope_block``)."""
    try:
        found = template_args(x, (arg,), depth)[0]
    except Unsupported:
        found = t.Unknown("?")
    if isinstance(found, t.Unknown) and isinstance(arg, (s.Name, s.TypeName)):
        return FunctionName(t.Auto(), arg.name)
    return found


def _trait(x: Context, name: str, args: tuple[s.TypeNode | s.Expr, ...] | None, depth: int) -> t.CType | None:
    """The type traits that kernels use."""
    last = name.rpartition("::")[2]
    bare = name.removesuffix("::type").rpartition("::")[2]
    kinds = list(template_args(x, args or (), depth))
    first = kinds[0] if kinds and isinstance(kinds[0], t.CType) else None
    match bare if last == "type" else last:
        case "conditional" | "conditional_t" | "enable_if" | "enable_if_t" if kinds:
            cond = kinds[0]
            chosen = value_of(cond.expr) if isinstance(cond, Term) else None
            if "enable_if" in name:
                return kinds[1] if len(kinds) > 1 and isinstance(kinds[1], t.CType) else t.VOID
            if chosen is None or len(kinds) != 3:
                return None
            picked = kinds[1 if chosen else 2]
            return picked if isinstance(picked, t.CType) else None
        case (
            "remove_reference" | "remove_reference_t" | "remove_cvref_t" | "decay_t" | "remove_cv_t" | "remove_const_t"
        ) if first:
            return t.plain(first.to if isinstance(first, t.Reference) else first)
        case "make_unsigned_t" | "make_signed_t" | "make_unsigned" | "make_signed" if isinstance(first, t.Scalar):
            return t.Scalar(replace(first.type, signed="unsigned" not in name), first.name)
        case _:
            return None


def program_type(
    x: Context, qualifier: str, last: str, args: tuple[s.TypeNode | s.Expr, ...] | None, depth: int
) -> t.CType | None:
    """A type that the unit declares outside functions."""
    known = [a for a in x.program.aliases.get(last, ()) if not _names_itself(a)]
    for alias in pick_scoped(known, qualifier, x.scope.namespace) if known else ():
        scope = Scope(None, {}, alias.scope)
        if alias.template:
            bind_template(x, scope, alias.template, tuple(template_args(x, args or (), depth)))
        with x.inside(scope):
            return resolve(x, alias.type, depth + 1)
    defined = x.program.records.get(last)
    records = pick_scoped(defined, qualifier, x.scope.namespace) if defined else []
    if records:
        return choose_record(x, records, tuple(template_args(x, args or (), depth)))
    if last in x.program.enumerations:
        return enumeration_type(x, x.program.enumerations[last])
    return None


def _names_itself(alias: s.Alias) -> bool:
    """``typedef struct Node {..} Node``."""
    match alias.type:
        case s.TypeName(name=name, args=None):
            return name.rpartition(" ")[2] == alias.name
        case _:
            return False


def _member_type(x: Context, name: str, args: tuple[s.TypeNode | s.Expr, ...] | None, depth: int) -> t.CType | None:
    """A type that an enclosing class declares."""
    for scope in x.scope.chain():
        if scope.instance is not None:
            found = _type_in(x, scope.instance, name, args, depth)
            if found is not None:
                return found
    return None


def _type_in(
    x: Context, instance: ClassInstance, name: str, args: tuple[s.TypeNode | s.Expr, ...] | None, depth: int
) -> t.CType | None:
    if name == instance.record.name and args is None:
        return instance.type
    for item in instance.record.items:
        if item.name != name:
            continue
        with x.inside(instance.scope):
            match item:
                case s.Alias(type=kind, template=template):
                    if template:
                        scope = x.scope.inner()
                        bind_template(x, scope, template, tuple(template_args(x, args or (), depth)))
                        with x.inside(scope):
                            return resolve(x, kind, depth + 1)
                    return resolve(x, kind, depth + 1)
                case s.Record():
                    return instantiate_record(x, item, tuple(template_args(x, args or (), depth)), instance.scope)
                case s.Enumeration():
                    return enumeration_type(x, item)
                case _:
                    pass
    return None


def _scoped_type(
    x: Context, qualifier: str, last: str, args: tuple[s.TypeNode | s.Expr, ...] | None, depth: int
) -> t.CType | None:
    """``Traits<T>::type``: the arguments belong to the class when the name itself takes none."""
    bound = x.scope.find(qualifier)
    holder = bound if isinstance(bound, t.CType) else None
    if holder is None:
        outer, _, name = qualifier.rpartition("::")
        records = pick_scoped(x.program.records.get(name, []), outer, x.scope.namespace)
        if records:
            templated = any(r.template is not None for r in records)
            holder = choose_record(x, records, tuple(template_args(x, args or (), depth)) if templated else ())
        else:
            holder = program_type(x, outer, name, args, depth) if name in x.program.aliases else None
    instance = class_of(x, holder) if holder is not None else None
    return _type_in(x, instance, last, None, depth) if instance is not None else None


def template_args(x: Context, args: tuple[s.TypeNode | s.Expr, ...], depth: int = 0) -> list[TemplateArg]:
    """Template arguments resolved: types, constants, functions."""
    out: list[TemplateArg] = []
    for arg in args:
        if isinstance(arg, s.PackExpansion):
            out.extend(_pack(x, arg))
        elif isinstance(arg, s.TypeNode):
            out.append(_type_or_value(x, arg, depth))
        elif isinstance(arg, s.Name) and _names_type(x, arg):
            out.append(named_type(x, arg.name, arg.args, depth + 1))
        else:
            out.append(_settle(evaluate_constant(x, arg)))
    return out


def _pack(x: Context, arg: s.PackExpansion) -> list[TemplateArg]:
    if isinstance(arg.pattern, s.Name):
        bound = x.scope.find(arg.pattern.name)
        if isinstance(bound, Pack):
            return list(bound.items)
    raise Unsupported("an expansion of a parameter pack")


def _settle(found: Operand) -> Operand:
    return found.value if isinstance(found, FixedPlace) else found


def _type_or_value(x: Context, node: s.TypeNode, depth: int) -> TemplateArg:
    """The grammar cannot tell ``f<N>`` from ``f<T>``."""
    if isinstance(node, s.TypeName):
        bound = x.scope.find(node.name)
        if isinstance(bound, (Value, Place)):
            return _settle(bound)
        name = s.Name(node.span, node.name, node.args)
        if bound is None and not _names_type(x, name):
            try:
                return _settle(evaluate_constant(x, name))
            except Unsupported:
                return resolve(x, node, depth + 1)
    return resolve(x, node, depth + 1)


def _names_type(x: Context, name: s.Name) -> bool:
    bound = x.scope.find(name.name)
    if bound is not None:
        return isinstance(bound, t.CType)
    return not isinstance(named_type(x, name.name, name.args), t.Unknown)


def bind_template(
    x: Context, scope: Scope, params: tuple[s.TemplateParameter, ...], args: tuple[TemplateArg, ...]
) -> bool:
    """Bind template parameters to arguments, defaults filled in; False when some are missing."""
    complete = True
    for index, param in enumerate(params):
        if param.pack:
            scope.names[param.name] = Pack(args[index:])
            continue
        if index < len(args):
            arg: TemplateArg | None = args[index]
        else:
            arg = _default(x, scope, param)
        if arg is None:
            complete = False
        elif param.name:
            scope.names[param.name] = fixed(arg)
    return complete


def fixed(arg: TemplateArg) -> TemplateArg:
    """A template argument as a binding."""
    return FixedPlace(arg.type, arg) if isinstance(arg, Value) else arg


def _default(x: Context, scope: Scope, param: s.TemplateParameter) -> TemplateArg | None:
    with x.inside(scope):
        if isinstance(param.default, s.TypeNode):
            return resolve(x, param.default)
        if param.default is not None:
            return _settle(evaluate_constant(x, param.default))
    return None


# -- records -----------------------------------------------------------------------------------------------------------


def choose_record(x: Context, records: list[s.Record], args: tuple[TemplateArg, ...]) -> t.CType:
    """The primary template or the specialisation for these arguments."""
    for record in records:
        if record.args is not None and not record.template:
            with x.inside(Scope(None, {}, record.scope)):
                wanted = tuple(template_args(x, record.args))
            if _equal_args(wanted, args):
                return instantiate_record(x, record, args, Scope(None, {}, record.scope))
    for record in records:
        if record.args is not None and record.template:
            matched = _partial_match(x, record, args)
            if matched is not None:
                return instantiate_record(x, record, args, matched)
    for record in records:
        if record.args is None:
            return instantiate_record(x, record, args, Scope(None, {}, record.scope))
    return t.Unknown(f"{records[0].name}<...>")


def _partial_match(x: Context, record: s.Record, args: tuple[TemplateArg, ...]) -> Scope | None:
    """A scope in which a partial specialisation's parameters are bound, None when it does not fit."""
    from gpusafe.parse.cuda.overloads import deduce

    assert record.args is not None and record.template is not None
    scope = Scope(None, {}, record.scope)
    wanted = {p.name: p for p in record.template}
    for pattern, arg in zip(record.args, args, strict=False):
        if isinstance(pattern, (s.Name, s.TypeName)) and pattern.args is None and pattern.name in wanted:
            scope.names.setdefault(pattern.name, fixed(arg))
        elif isinstance(pattern, s.TypeNode) and isinstance(arg, t.CType):
            deduce(x, pattern, arg, wanted, scope)
    if any(name not in scope.names for name in wanted):
        return None
    try:
        with x.inside(scope):
            mine = tuple(template_args(x, record.args))
    except Unsupported:
        return None
    return scope if _equal_args(mine, args) else None


def _equal_args(a: tuple[TemplateArg, ...], b: tuple[TemplateArg, ...]) -> bool:
    return len(a) == len(b) and all(same_arg(p, q) for p, q in zip(a, b, strict=True))


def same_arg(a: TemplateArg, b: TemplateArg) -> bool:
    """Whether two template arguments are the same."""
    if isinstance(a, t.CType) and isinstance(b, t.CType):
        return t.same(a, b)
    if isinstance(a, Term) and isinstance(b, Term):
        x, y = value_of(a.expr), value_of(b.expr)
        return x == y if x is not None else a.expr == b.expr
    return a == b


def show_arg(arg: TemplateArg) -> str:
    """A template argument as a user would write it."""
    match arg:
        case t.CType():
            return t.show(arg)
        case Term(expr=expr) if (value := value_of(expr)) is not None:
            return ("false", "true")[value] if expr.type.kind == "bool" else str(value)
        case Closure(code=code):
            return f"lambda at line {code.span.line}"
        case HandleValue(type=kind):
            return t.show(kind)
        case _:
            return getattr(arg, "name", "?")


def instantiate_record(x: Context, record: s.Record, args: tuple[TemplateArg, ...], around: Scope) -> t.CType:
    """The layout of a record with its template arguments."""
    key = f"{record.name}<{', '.join(show_arg(a) for a in args)}>" if args else record.name
    known = x.classes.get(key)
    if known is not None and known.record is record:
        return known.type
    if known is not None:
        key = f"{key} (line {record.span.line})"
        if key in x.classes:
            return x.classes[key].type
    scope = Scope(around, {}, record.scope)
    if record.args is None and record.template and not bind_template(x, scope, record.template, args):
        return t.Unknown(f"{key} (arguments missing)")
    if record.odd is not None:
        return t.Unknown(f"{key} ({record.odd})")
    placeholder = t.Struct(key, (), 1, 1, record.kind == "union")
    instance = ClassInstance(record, args, placeholder, scope)
    scope.instance = instance
    x.classes[key] = instance
    members: list[tuple[str, t.CType]] = []
    with x.inside(scope):
        for base in record.bases:
            kind = resolve(x, base)
            members.append((f"({t.show(kind)})", kind))
        for field in record.fields:
            members.append((field.name, resolve(x, field.type)))
        align = constant(x, record.align) if record.align is not None else 1
    made = t.struct(key, members, record.kind == "union", align) if align is not None else None
    if made is None:
        del x.classes[key]
        bad = next((m for m in members if t.size_of(m[1]) is None), ("", t.VOID))
        return t.Unknown(f"{key} (field `{bad[0]}` of type `{t.show(bad[1])}`)")
    instance = ClassInstance(record, args, made, scope)
    scope.instance = instance
    x.classes[key] = instance
    return made


def class_of(x: Context, kind: t.CType) -> ClassInstance | None:
    """The class behind a type, if the unit defines it."""
    return x.classes.get(kind.key) if isinstance(kind, t.Struct) else None
