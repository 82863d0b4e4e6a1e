"""Expressions: their values and the places that they denote."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import FALSE, TRUE, U8, U32, Const, Op, Type
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.device import calls, control, drops, loops, macro_calls, methods, operators, terms
from gpusafe.parse.rust.device.coercing import coerce, with_constants
from gpusafe.parse.rust.device.layout import struct_fields, variant_fields
from gpusafe.parse.rust.device.lowering import Gap, Lowering
from gpusafe.parse.rust.device.paths import path_place
from gpusafe.parse.rust.device.places import borrow, deref, element, project, read
from gpusafe.parse.rust.device.program import AdtDef, AliasDef
from gpusafe.parse.rust.device.scalars import term_of
from gpusafe.parse.rust.device.selecting import find_method, refined
from gpusafe.parse.rust.device.tags import tag_const
from gpusafe.parse.rust.device.types import (
    SCALARS,
    AdtTy,
    ArrayTy,
    ForeignTy,
    PtrTy,
    ScalarTy,
    SliceTy,
    TupleTy,
    Ty,
    VarTy,
    show,
)
from gpusafe.parse.rust.device.values import (
    FN_TY,
    NEVER,
    UNIT_VALUE,
    Agg,
    ArrayMem,
    ArrayVal,
    ClosureVal,
    Diverges,
    EnumVal,
    LocalPlace,
    LocalRef,
    MemPlace,
    Place,
    RepeatVal,
    Scalar,
    Unknown,
    Value,
    ValuePlace,
)
from gpusafe.parse.rust.device.written import adt_type, constant, named_type
from gpusafe.span import Span


def expr_value(lw: Lowering, node: ast.Expr, want: Ty | None) -> Value:
    """The value of an expression; what cannot be lowered becomes an Unmodelled at its place."""
    if lw.dead:
        return NEVER
    handler = _VALUES.get(type(node))
    try:
        if handler is not None:
            return handler(lw, node, want)
        return read(lw, expr_place(lw, node), node.span)
    except Gap as gap:
        return lw.unmodelled(str(gap), node.span)


def expr_place(lw: Lowering, node: ast.Expr) -> Place:
    """The place of an expression (a temporary for one that is a value)."""
    match node:
        case ast.PathExpr():
            return path_place(lw, node)
        case ast.Unary(op="*", operand=operand):
            return _deref(lw, operand, node.span)
        case ast.Field(base=base, name=name):
            return field_place(lw, lw.place(base), name, node.span)
        case ast.Index():
            return _index(lw, node)
        case ast.BlockExpr(block=block, kind="unsafe") if not block.stmts and block.tail is not None:
            return lw.place(block.tail)
        case ast.MethodCall(name="as_mut" | "as_ref" | "by_ref" | "borrow" | "borrow_mut"):
            value = lw.expr(node)
            return ValuePlace(value.ty, value)
        case _:
            value = lw.expr(node)
            return ValuePlace(value.ty, value)


def _deref(lw: Lowering, operand: ast.Expr, span: Span) -> Place:
    value = lw.expr(operand)
    ty = lw.infer.shallow(value.ty)
    if isinstance(value, Agg) and isinstance(ty, AdtTy):
        place = lw.place(operand)
        found = find_method(lw, ty, "deref_mut") or find_method(lw, ty, "deref")
        if found is not None:
            held = borrow(lw, place, True, True, span)
            return deref(lw, lw.hooks.call_fn(lw, found[0], found[1], (), lw.env, [held], span, None), span)
    return deref(lw, value, span)


def field_place(lw: Lowering, place: Place, name: str, span: Span) -> Place:
    """``place.name``, through references."""
    for _ in range(6):
        ty = lw.infer.shallow(place.ty)
        if isinstance(ty, PtrTy):
            place = deref(lw, read(lw, place, span), span)
            continue
        if isinstance(place, MemPlace) or isinstance(ty, AdtTy | TupleTy | VarTy):
            if isinstance(ty, AdtTy) and not _has_field(ty, name):
                found = find_method(lw, ty, "deref")
                if found is not None:
                    held = borrow(lw, place, True, True, span)
                    made = lw.hooks.call_fn(lw, found[0], found[1], (), lw.env, [held], span, None)
                    place = deref(lw, made, span)
                    continue
            return project(lw, place, name)
        break
    held_value = read(lw, place, span)
    if isinstance(held_value, Agg):
        return project(lw, place, name)
    fresh = lw.infer.fresh()
    return ValuePlace(fresh, Unknown(fresh, f"field `{name}` of `{show(lw.infer.shallow(place.ty))}`"))


def _has_field(ty: AdtTy, name: str) -> bool:
    item = ty.adt.item
    return isinstance(item, ast.Struct) and any(n == name for n, _ in item.fields)


def _index(lw: Lowering, node: ast.Index) -> Place:
    place = lw.place(node.base)
    for _ in range(6):
        ty = lw.infer.shallow(place.ty)
        if isinstance(ty, PtrTy):
            place = deref(lw, read(lw, place, node.base.span), node.base.span)
            continue
        if isinstance(ty, AdtTy) and ty.adt.item.attribute("shared") is not None:
            index = term_of(lw, lw.expr(node.index, SCALARS["usize"]), node.index.span, SCALARS["usize"])
            return element(lw, project(lw, place, "data"), index, node.span)
        if isinstance(ty, AdtTy):
            found = find_method(lw, ty, "index_mut") or find_method(lw, ty, "index")
            if found is None:
                break
            held = borrow(lw, place, True, True, node.span)
            index_value = lw.expr(node.index)
            made = lw.hooks.call_fn(lw, found[0], found[1], (), lw.env, [held, index_value], node.span, None)
            return deref(lw, made, node.span)
        return index_place(lw, place, lw.expr(node.index, _index_hint(node.index)), node.span)
    raise Gap(f"indexing of `{show(lw.infer.shallow(place.ty))}`")


def _index_hint(node: ast.Expr) -> Ty | None:
    return None if isinstance(node, ast.Range) else SCALARS["usize"]


def index_place(lw: Lowering, place: Place, index: Value, span: Span) -> Place:
    """``place[index]`` with its bounds check; ranges give a subslice."""
    if isinstance(index, Diverges):
        return ValuePlace(index.ty, index)
    if isinstance(index, Agg) and isinstance(index.ty, AdtTy):
        return methods.subslice(lw, place, index, span)
    if lw.mode is not None and isinstance(lw.infer.shallow(index.ty), ScalarTy):  # any integer may be an index
        given = term_of(lw, index, span)
        if given.type.kind == "int":
            index = Scalar(SCALARS["usize"], terms.cast(given, SCALARS["usize"].type))
    lw.infer.unify(index.ty, SCALARS["usize"])
    term = term_of(lw, index, span, SCALARS["usize"])
    if term.type.kind == "infer" and isinstance(term, Const):
        term = terms.int_const(int(term.value))
    ty = lw.infer.shallow(place.ty)
    length = methods.length_of(lw, place)
    cond = terms.binary(Op.LT, term, length) if length is not None and not lw.unchecked else TRUE
    if cond != TRUE and lw.mode is None:
        lw.emit(k.Assume(lw.at(span), cond, "bounds check"))
    if isinstance(ty, ForeignTy | VarTy):
        raise Gap(f"indexing of `{show(ty)}`")
    made = element(lw, place, term, span)
    if cond != TRUE and lw.mode is not None and isinstance(made, MemPlace):
        lw.guards[made.ptr] = cond
    return made


# -- literals and aggregates -----------------------------------------------------------------------------------------


def _literal(lw: Lowering, node: ast.Lit, want: Ty | None) -> Value:
    value = node.value
    target = lw.infer.shallow(want) if want is not None else None
    match node.kind:
        case "bool":
            return lw.scalar(TRUE if value else FALSE)
        case "int" | "float" if node.suffix in SCALARS:
            ty = SCALARS[node.suffix]
            return Scalar(ty, _number(value, ty.type))
        case "int":
            if isinstance(target, ScalarTy) and target.type.kind in ("int",):
                return Scalar(target, _number(value, target.type))
            var = lw.infer.fresh("int")
            return Scalar(var, Const(Type("infer", var.ident), int(value)))
        case "float":
            if isinstance(target, ScalarTy) and target.type.kind == "float":
                return Scalar(target, _number(value, target.type))
            var = lw.infer.fresh("float")
            return Scalar(var, Const(Type("infer", var.ident), float(value)))
        case "char":
            return lw.scalar(Const(U32, ord(str(value)[:1] or "\0")))
        case "byte":
            raw = value if isinstance(value, int) else ord(value) if isinstance(value, str | bytes) else 0
            return lw.scalar(Const(U8, raw))
        case "bytestr" if isinstance(value, bytes):
            items = tuple(lw.scalar(Const(U8, b)) for b in value)
            ty2 = ArrayTy(SCALARS["u8"], terms.int_const(len(items)))
            return LocalRef(PtrTy(ty2, False, True), ValuePlace(ty2, ArrayVal(ty2, items)))
        case _:
            return Unknown(ForeignTy("&str"), str(value))


def _number(value: Any, type_: Type) -> Const:
    if type_.kind == "float":
        return Const(type_, float(value))
    return terms.int_const(int(value), type_)


def _tuple(lw: Lowering, node: ast.Tuple, want: Ty | None) -> Value:
    target = lw.infer.shallow(want) if want is not None else None
    wants = target.items if isinstance(target, TupleTy) else ()
    items = operators.operands(lw, node.items, tuple(wants))
    if any(isinstance(i, Diverges) for i in items):
        return NEVER
    if not items:
        return UNIT_VALUE
    fields = []
    for number, item in enumerate(items):
        fields.append((str(number), coerce(lw, item, wants[number] if number < len(wants) else None, node.span)))
    return Agg(TupleTy(tuple(v.ty for _, v in fields)), tuple(fields))


def _array(lw: Lowering, node: ast.Array, want: Ty | None) -> Value:
    target = lw.infer.shallow(want) if want is not None else None
    elem: Ty = target.elem if isinstance(target, ArrayTy | SliceTy) else lw.infer.fresh()
    items = operators.operands(lw, node.items, (elem,) * len(node.items))
    if any(isinstance(i, Diverges) for i in items):
        return NEVER
    for item in items:
        lw.infer.unify(elem, item.ty)
    made = tuple(coerce(lw, i, elem, node.span) for i in items)
    inner = lw.infer.shallow(made[0].ty if made and isinstance(made[0].ty, ArrayTy | AdtTy) else elem)
    return ArrayVal(ArrayTy(inner, terms.int_const(len(made))), made)


def _repeat(lw: Lowering, node: ast.ArrayRepeat, want: Ty | None) -> Value:
    target = lw.infer.shallow(want) if want is not None else None
    elem = target.elem if isinstance(target, ArrayTy | SliceTy) else None
    item = lw.expr(node.value, elem)
    length = constant(lw, node.length, lw.env)
    if isinstance(target, ArrayTy) and terms.const_int(length) is None and terms.const_int(target.length) is not None:
        length = target.length
    return RepeatVal(ArrayTy(lw.infer.shallow(item.ty), length), item)


def _struct(lw: Lowering, node: ast.StructLit, want: Ty | None) -> Value:
    made = _struct_type(lw, node, want)
    if made is None:
        operators.operands(lw, tuple(e for _, e in node.fields))
        return Unknown(ForeignTy(str(node.path)), f"a `{node.path}`")
    ty, index = made
    types = dict(struct_fields(lw, ty) if index is None else variant_fields(lw, ty, index))
    names = [n for n, _ in node.fields]
    values = operators.operands(lw, tuple(e for _, e in node.fields), tuple(types.get(n) for n in names))
    if any(isinstance(v, Diverges) for v in values):
        return NEVER
    if index is None:
        ty = refined(lw, ty, [(types[n], v.ty) for n, v in zip(names, values, strict=True) if n in types])
        types = dict(struct_fields(lw, ty))
    given = {n: coerce(lw, v, types.get(n), node.span) for n, v in zip(names, values, strict=True)}
    if node.base is not None:
        base = lw.expr(node.base, ty)
        for name in types:
            part = base.get(name) if isinstance(base, Agg) else None
            given.setdefault(name, part or Unknown(types[name], f"the field `{name}`"))
    for name, field_ty in types.items():
        given.setdefault(name, Unknown(field_ty, f"the field `{name}`"))
    if index is None:
        item = ty.adt.item
        if isinstance(item, ast.Struct) and item.kind == "union":
            return Unknown(ty, f"the union `{ty.adt.name}`")
        return Agg(ty, tuple((n, given[n]) for n in types))
    return EnumVal(ty, tag_const(ty, index), ((index, tuple(given[n] for n in types)),))


def _struct_type(lw: Lowering, node: ast.StructLit, want: Ty | None) -> tuple[AdtTy, int | None] | None:
    env = lw.env
    names = node.path.names
    ty: Ty | None = None
    rest: tuple[str, ...] = ()
    if names[0] == "Self" and env.self_ty is not None:
        ty, rest = env.self_ty, names[1:]
    else:
        found = lw.program.resolve(env.module, names, values=False)
        if found is not None and isinstance(found.target, AdtDef):
            given = node.path.parent_generics if found.rest else node.path.generics
            ty, rest = adt_type(lw, found.target, given, env), found.rest
        elif found is not None and isinstance(found.target, AliasDef):
            ty, rest = named_type(lw, found.target, node.path, env), found.rest
    if not isinstance(ty, AdtTy):
        return None
    if want is not None:
        known = lw.infer.shallow(want)
        if isinstance(known, AdtTy) and known.adt is ty.adt and not (node.path.generics or node.path.parent_generics):
            ty = known  # the defaults of a type's parameters do not count in expressions
        lw.infer.unify(ty, want)
        ty = with_constants(ty, known) if isinstance(known, AdtTy) else ty
    item = ty.adt.item
    if isinstance(item, ast.Enum):
        name = rest[0] if rest else names[-1]
        index = next((i for i, v in enumerate(item.variants) if v.name == name), None)
        return (ty, index) if index is not None else None
    return ty, None


def _range(lw: Lowering, node: ast.Range, want: Ty | None) -> Value:
    ends = [e for e in (node.low, node.high) if e is not None]
    values = operators.operands(lw, tuple(ends))
    if any(isinstance(v, Diverges) for v in values):
        return NEVER
    if len(values) == 2:
        lw.infer.unify(values[0].ty, values[1].ty)
    low = values[0] if node.low is not None else None
    high = values[-1] if node.high is not None else None
    name = {
        (True, True): "RangeInclusive" if node.inclusive else "Range",
        (True, False): "RangeFrom",
        (False, True): "RangeToInclusive" if node.inclusive else "RangeTo",
        (False, False): "RangeFull",
    }[(low is not None, high is not None)]
    adt = lw.program.preludes["core"].types[name]
    assert isinstance(adt, AdtDef)
    fields = [(n, v) for n, v in (("start", low), ("end", high)) if v is not None]
    return Agg(AdtTy(adt, (fields[0][1].ty,) if fields else ()), tuple(fields))


# -- the rest --------------------------------------------------------------------------------------------------------


def _reference(lw: Lowering, node: ast.Ref, want: Ty | None) -> Value:
    inner: Ty | None = None
    target = lw.infer.shallow(want) if want is not None else None
    if isinstance(target, PtrTy):
        inner = lw.infer.shallow(target.inner)
    if isinstance(node.operand, ast.Array | ast.ArrayRepeat | ast.Lit | ast.Tuple | ast.StructLit):
        value = lw.expr(node.operand, inner)
        place: Place = ValuePlace(value.ty, value)
    else:
        place = lw.place(node.operand)
    if isinstance(place, ValuePlace) and isinstance(place.value, Diverges):
        return NEVER
    if isinstance(place, ValuePlace) and isinstance(place.value, ArrayMem):
        return Scalar(PtrTy(place.ty, node.mutable, not node.raw), place.value.ptr)
    return borrow(lw, place, node.mutable, not node.raw, node.span)


def _binary(lw: Lowering, node: ast.Binary, want: Ty | None) -> Value:
    if node.op in ("&&", "||"):
        return control.logical(lw, node)
    return operators.binary(lw, node, want)


def _path_value(lw: Lowering, node: ast.PathExpr, want: Ty | None) -> Value:
    place = path_place(lw, node, want)
    value = read(lw, place, node.span)
    if isinstance(place, LocalPlace):
        drops.moved(lw, place.slot)
    if isinstance(value, EnumVal) and want is not None:
        lw.infer.unify(value.ty, want)
    return value


def _block(lw: Lowering, node: ast.BlockExpr, want: Ty | None) -> Value:
    if node.label is not None:
        return control.labelled_block(lw, node, want)
    if node.kind in ("async", "try"):
        return lw.unmodelled(f"an `{node.kind}` block", node.span)
    return control.block_value(lw, node.block, want)


def _closure(lw: Lowering, node: ast.Closure, want: Ty | None) -> Value:
    return ClosureVal(FN_TY, node, lw.scope, lw.frame)


def _let_cond(lw: Lowering, node: ast.LetCond, want: Ty | None) -> Value:
    cond, bind = control.condition(lw, node)
    bind()
    return lw.scalar(cond)


def _other(lw: Lowering, node: ast.Expr, want: Ty | None) -> Value:
    if isinstance(node, ast.OtherExpr) and node.text.strip() == "_":
        return Unknown(lw.infer.fresh(), "`_`")
    text = getattr(node, "text", type(node).__name__)
    return lw.unmodelled(f"the expression `{str(text)[:40]}`", node.span)


_VALUES: dict[type[ast.Expr], Callable[[Lowering, Any, Ty | None], Value]] = {
    ast.Lit: _literal,
    ast.PathExpr: _path_value,
    ast.Unary: operators.unary,
    ast.Binary: _binary,
    ast.Assign: operators.assign,
    ast.Call: calls.call_expr,
    ast.MethodCall: methods.method_call,
    ast.Ref: _reference,
    ast.Cast: operators.cast,
    ast.Range: _range,
    ast.Tuple: _tuple,
    ast.Array: _array,
    ast.ArrayRepeat: _repeat,
    ast.StructLit: _struct,
    ast.LetCond: _let_cond,
    ast.If: control.if_value,
    ast.Match: control.match_value,
    ast.Loop: loops.loop_value,
    ast.While: lambda lw, node, want: loops.while_value(lw, node),
    ast.For: lambda lw, node, want: loops.for_value(lw, node),
    ast.BlockExpr: _block,
    ast.Closure: _closure,
    ast.Return: lambda lw, node, want: control.return_value(lw, node),
    ast.Break: lambda lw, node, want: loops.break_value(lw, node),
    ast.Continue: lambda lw, node, want: loops.continue_value(lw, node),
    ast.Try: lambda lw, node, want: control.try_value(lw, node),
    ast.Await: _other,
    ast.MacroCall: macro_calls.macro_call,
    ast.OtherExpr: _other,
}
