"""Unary and binary operators, compound assignment, casts."""

from __future__ import annotations

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import BOOL, FALSE, ISIZE, PTR, TRUE, U64, USIZE, Const, Expr, Op, Opaque, Type, Var
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.device import layout, terms
from gpusafe.parse.rust.device.bodies import Body, Hole, Nest
from gpusafe.parse.rust.device.coercing import coerce, to_slice
from gpusafe.parse.rust.device.lowering import Gap, Lowering
from gpusafe.parse.rust.device.places import borrow, deref, project, read, write
from gpusafe.parse.rust.device.scalars import term_of
from gpusafe.parse.rust.device.selecting import find_method
from gpusafe.parse.rust.device.tags import is_variant
from gpusafe.parse.rust.device.types import (
    BOOL as BOOL_TY,
)
from gpusafe.parse.rust.device.types import (
    AdtTy,
    ArrayTy,
    ForeignTy,
    PtrTy,
    ScalarTy,
    SliceTy,
    Ty,
    VarTy,
    show,
)
from gpusafe.parse.rust.device.values import (
    UNIT_VALUE,
    Agg,
    ArrayMem,
    ArrayVal,
    Diverges,
    EnumVal,
    Fat,
    LocalRef,
    MemPlace,
    Scalar,
    Unknown,
    Value,
    ValuePlace,
)
from gpusafe.parse.rust.device.variables import apart
from gpusafe.span import Span

ARITHMETIC = {
    "+": Op.ADD,
    "-": Op.SUB,
    "*": Op.MUL,
    "/": Op.DIV,
    "%": Op.REM,
    "&": Op.AND,
    "|": Op.OR,
    "^": Op.XOR,
    "<<": Op.SHL,
    ">>": Op.SHR,
}
COMPARING = {"==": Op.EQ, "!=": Op.NE, "<": Op.LT, "<=": Op.LE, ">": Op.GT, ">=": Op.GE}
_METHODS = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "div",
    "%": "rem",
    "&": "bitand",
    "|": "bitor",
    "^": "bitxor",
    "<<": "shl",
    ">>": "shr",
}


def assigned(body: Body) -> set[str]:
    """The variables that a body may assign."""
    names: set[str] = set()
    todo: list[object] = list(body)
    while todo:
        match todo.pop():
            case Hole(stmts=stmts):
                todo.extend(stmts)
            case Nest(first=first, second=second):
                todo.extend(first)
                todo.extend(second)
            case k.Assign(var=var) | k.Havoc(var=var):
                names.add(var)
    return names


def operands(lw: Lowering, nodes: tuple[ast.Expr, ...], wants: tuple[Ty | None, ...] = ()) -> list[Value]:
    """Evaluate expressions from left to right; what one of them assigns does not change the values before it."""
    values: list[Value] = []
    for number, node in enumerate(nodes):
        start = len(lw.out)
        value = lw.expr(node, wants[number] if number < len(wants) else None)
        changed = assigned(lw.out[start:]) - lw.temps if len(lw.out) > start else set()
        if changed:
            values = [kept(lw, v, changed, start, node.span) for v in values]
        values.append(value)
    return values


def kept(lw: Lowering, value: Value, changed: set[str], start: int, span: Span) -> Value:
    """``value`` with the variables that are assigned after it replaced by copies made before (at ``start``)."""

    def copy(term: Expr) -> Expr:
        if not terms.variables(term) & changed:
            return term
        name = lw.temp("t")
        lw.out.insert(start, k.Assign(lw.at(span), name, term))
        return Var(term.type, name)

    match value:
        case Scalar(ty=ty, term=term):
            return Scalar(ty, copy(term))
        case Fat(ty=ty, ptr=ptr, len=length):
            return Fat(ty, copy(ptr), copy(length))
        case Agg(ty=ty, fields=fields):
            return Agg(ty, tuple((n, kept(lw, v, changed, start, span)) for n, v in fields))
        case EnumVal(ty=ty2, tag=tag, payloads=payloads):
            inner = tuple((i, tuple(kept(lw, v, changed, start, span) for v in vs)) for i, vs in payloads)
            return EnumVal(ty2, copy(tag), inner)
        case _:
            return value


def unary(lw: Lowering, node: ast.Unary, want: Ty | None) -> Value:
    """``-x`` and ``!x`` (``*x`` is a place)."""
    if node.op == "*":
        return read(lw, lw.place(node), node.span)
    value = lw.expr(node.operand, want)
    if isinstance(value, Diverges):
        return value
    if isinstance(value, LocalRef) or isinstance(lw.infer.shallow(value.ty), PtrTy):
        value = read(lw, deref(lw, value, node.span), node.span)
    if isinstance(value, Agg | EnumVal):
        return overloaded(lw, {"-": "neg", "!": "not"}[node.op], [value], node.span)
    term = term_of(lw, value, node.span, want)
    return Scalar(value.ty, terms.unary(Op.NEG if node.op == "-" else Op.NOT, term))


def binary(lw: Lowering, node: ast.Binary, want: Ty | None) -> Value:
    """All binary operators but ``&&`` and ``||``."""
    op = ARITHMETIC.get(node.op)
    hint = want if op is not None else None
    left, right = operands(lw, (node.left, node.right), (hint, None if node.op in ("<<", ">>") else hint))
    for side in (left, right):
        if isinstance(side, Diverges):
            return side
    left, right = plain(lw, left, node.op, node.span), plain(lw, right, node.op, node.span)
    if op is None:
        return compare(lw, COMPARING[node.op], left, right, node.span)
    return arithmetic(lw, node.op, left, right, node.span)


def plain(lw: Lowering, value: Value, op: str, span: Span) -> Value:
    """Operators work on references to numbers as well; comparisons compare what references point to."""
    for _ in range(4):
        ty = lw.infer.shallow(value.ty)
        is_ref = isinstance(ty, PtrTy) and ty.is_ref and not isinstance(value, Fat)
        if isinstance(value, LocalRef) or is_ref:
            place = deref(lw, value, span)
            if isinstance(place, MemPlace) and isinstance(lw.infer.shallow(place.ty), AdtTy | ArrayTy | SliceTy):
                return value
            value = read(lw, place, span)
        else:
            break
    return value


def arithmetic(lw: Lowering, op: str, left: Value, right: Value, span: Span) -> Value:
    """``left op right``."""
    if isinstance(left, Agg | EnumVal | ArrayVal) or (isinstance(right, Agg) and not _is_number(lw, left)):
        return overloaded(lw, _METHODS[op], [left, right], span)
    if _opaque(lw, left) or _opaque(lw, right):
        return Unknown(_result_type(lw, left, right), f"`{op}` on a value that is not modelled")
    if isinstance(right, Agg):
        return overloaded(lw, _METHODS[op], [left, right], span)
    shift = op in ("<<", ">>")
    if not shift:
        lw.infer.unify(left.ty, right.ty)
    a = term_of(lw, left, span, right.ty if not shift else None)
    b = term_of(lw, right, span, left.ty if not shift else None)
    if not shift and a.type != b.type and "infer" not in (a.type.kind, b.type.kind):
        b = terms.cast(b, a.type)
    ty = right.ty if isinstance(lw.infer.shallow(left.ty), VarTy) and not shift else left.ty
    if a.type.kind == "infer" and b.type.kind not in ("infer",) and not shift:
        a = _typed(a, b.type)
    elif b.type.kind == "infer" and a.type.kind != "infer" and not shift:
        b = _typed(b, a.type)
    if BOOL in (a.type, b.type):
        return Scalar(BOOL_TY, terms.binary({"&": Op.LAND, "|": Op.LOR}.get(op, Op.NE), a, b))
    if shift:
        return Scalar(lw.infer.shallow(ty), terms.shift(ARITHMETIC[op], a, b))
    if op in ("/", "%") and a.type.kind != "float" and lw.infer.kind(ty) != "float":
        divisible(lw, b, span)
    return Scalar(lw.infer.shallow(ty), terms.binary(ARITHMETIC[op], a, b))


def divisible(lw: Lowering, divisor: Expr, span: Span) -> None:
    """Division by zero stops the thread."""
    if not isinstance(divisor, Const) and divisor.type.kind in ("int", "infer"):
        zero = Const(divisor.type, 0)
        lw.emit(k.Assume(lw.at(span), terms.binary(Op.NE, divisor, zero), "division by zero"))


def _typed(term: Expr, type_: Type) -> Expr:
    """A literal in the type that its context has just given it."""
    if isinstance(term, Const) and type_.kind in ("int", "float"):
        if type_.kind == "float":
            return Const(type_, float(term.value))
        return terms.int_const(int(term.value), type_)
    return term


def _is_number(lw: Lowering, value: Value) -> bool:
    return isinstance(value, Scalar)


def _opaque(lw: Lowering, value: Value) -> bool:
    return isinstance(value, Unknown) and lw.infer.term_type(value.ty) is None


def _result_type(lw: Lowering, left: Value, right: Value) -> Ty:
    return left.ty if isinstance(lw.infer.shallow(left.ty), ForeignTy) else right.ty


def overloaded(lw: Lowering, method: str, args: list[Value], span: Span) -> Value:
    """An operator that a type defines by an impl."""
    found = find_method(lw, args[0].ty, method)
    if found is None:
        return lw.unmodelled(f"`{method}` of `{show(args[0].ty)}`", span, accesses=False, syncs=False)
    fn, env = found
    return lw.hooks.call_fn(lw, fn, env, (), lw.env, args, span, None)


def compare(lw: Lowering, op: Op, left: Value, right: Value, span: Span) -> Value:
    """A comparison; structs and enums are compared part by part where that is what derives do."""
    if isinstance(left, Unknown) and isinstance(right, Unknown):
        return Unknown(BOOL_TY, left.reason)
    match left, right:
        case (EnumVal(), EnumVal()) if op in (Op.EQ, Op.NE):
            equal = _enums_equal(lw, left, right, span)
            return Scalar(BOOL_TY, equal if op is Op.EQ else terms.negate(equal))
        case (EnumVal(tag=a), EnumVal(tag=b)) if a.type == ISIZE and not _has_fields(left.ty):
            return Scalar(BOOL_TY, terms.binary(op, a, b))
        case (Agg(), Agg()) if op in (Op.EQ, Op.NE):
            found = find_method(lw, left.ty, "eq")
            if found is not None and found[0].item.body is not None:
                return overloaded(lw, "eq" if op is Op.EQ else "ne", [_ref(left), _ref(right)], span)
            equal = _parts_equal(lw, [v for _, v in left.fields], [v for _, v in right.fields], span)
            return Scalar(BOOL_TY, equal if op is Op.EQ else terms.negate(equal))
        case (Agg(fields=fs), Agg(fields=gs)):
            return Scalar(BOOL_TY, _lexicographic(lw, op, [v for _, v in fs], [v for _, v in gs], span))
        case (ArrayVal(items=xs), ArrayVal(items=ys)) if op in (Op.EQ, Op.NE):
            equal = _parts_equal(lw, list(xs), list(ys), span)
            return Scalar(BOOL_TY, equal if op is Op.EQ else terms.negate(equal))
    lw.infer.unify(left.ty, right.ty)
    if isinstance(left, Fat) and isinstance(left.ty, PtrTy) and left.ty.is_ref:
        raise Gap("a comparison of slices")
    if isinstance(left, Scalar | Unknown | Fat) and isinstance(right, Scalar | Unknown | Fat):
        a, b = term_of(lw, left, span, right.ty), term_of(lw, right, span, left.ty)
        if a.type.kind == "infer" and b.type.kind != "infer":
            a = _typed(a, b.type)
        elif b.type.kind == "infer" and a.type.kind != "infer":
            b = _typed(b, a.type)
        if PTR in (a.type, b.type):
            if a == b and op in (Op.EQ, Op.NE):
                return Scalar(BOOL_TY, TRUE if op is Op.EQ else FALSE)
            return Scalar(BOOL_TY, terms.binary(op, terms.cast(a, U64), terms.cast(b, U64)))
        if a.type != b.type and "infer" not in (a.type.kind, b.type.kind):
            b = terms.cast(b, a.type)
        return Scalar(BOOL_TY, terms.binary(op, a, b))
    return Unknown(BOOL_TY, f"a comparison of `{show(left.ty)}`")


def _has_fields(ty: Ty) -> bool:
    item = ty.adt.item if isinstance(ty, AdtTy) else None
    return isinstance(item, ast.Enum) and any(v.fields for v in item.variants)


def _ref(value: Value) -> Value:
    place = ValuePlace(value.ty, value)
    return LocalRef(PtrTy(value.ty, False, True), place)


def _parts_equal(lw: Lowering, left: list[Value], right: list[Value], span: Span) -> Expr:
    equal: Expr = TRUE
    for a, b in zip(left, right, strict=False):
        part = compare(lw, Op.EQ, plain(lw, a, "==", span), plain(lw, b, "==", span), span)
        equal = terms.both(equal, term_of(lw, part, span, BOOL_TY))
    return equal


def _lexicographic(lw: Lowering, op: Op, left: list[Value], right: list[Value], span: Span) -> Expr:
    if not left or not right:
        return TRUE if op in (Op.LE, Op.GE, Op.EQ) else FALSE
    strict = {Op.LE: Op.LT, Op.GE: Op.GT}.get(op, op)
    first = term_of(lw, compare(lw, strict, left[0], right[0], span), span, BOOL_TY)
    same = term_of(lw, compare(lw, Op.EQ, left[0], right[0], span), span, BOOL_TY)
    return terms.either(first, terms.both(same, _lexicographic(lw, op, left[1:], right[1:], span)))


def _enums_equal(lw: Lowering, left: EnumVal, right: EnumVal, span: Span) -> Expr:
    lw.infer.unify(left.ty, right.ty)
    equal = terms.binary(Op.EQ, left.tag, right.tag)
    for index, items in left.payloads:
        other = right.payload(index)
        if not items or other is None:
            continue
        other_tag = terms.negate(is_variant(left.ty, left.tag, index))
        equal = terms.both(equal, terms.either(other_tag, _parts_equal(lw, list(items), list(other), span)))
    return equal


def assign(lw: Lowering, node: ast.Assign, want: Ty | None) -> Value:
    """``target = value`` and ``target op= value``."""
    if node.op == "=":
        assign_to(lw, node.target, node.value, node.span)
        return UNIT_VALUE
    op = node.op[:-1]
    right = lw.expr(node.value)
    if isinstance(right, Diverges):
        return right
    place = lw.place(node.target)
    left = read(lw, place, node.target.span)
    right = plain(lw, right, op, node.span)
    if isinstance(left, Agg | EnumVal):
        found = find_method(lw, left.ty, f"{_METHODS[op]}_assign")
        if found is not None:
            target = borrow(lw, place, True, True, node.span)
            lw.hooks.call_fn(lw, found[0], found[1], (), lw.env, [target, right], node.span, None)
            return UNIT_VALUE
    value = arithmetic(lw, op, left, right, node.span)
    write(lw, place, value, node.target.span)
    return UNIT_VALUE


def assign_to(lw: Lowering, target: ast.Expr, node: ast.Expr, span: Span) -> None:
    """``target = node``, destructuring included."""
    match target:
        case ast.Tuple() | ast.Array() | ast.StructLit():
            value = lw.expr(node)
            destructure(lw, target, apart(lw, value, span), span)
        case ast.PathExpr(path=path) if path.names == ("_",):
            lw.expr(node)
        case ast.OtherExpr(text="_"):
            lw.expr(node)
        case _:
            want = _target_type(lw, target)
            value = lw.expr(node, want)
            if isinstance(value, Diverges):
                return
            place = lw.place(target)
            write(lw, place, coerce(lw, value, place.ty, span), target.span)


def _target_type(lw: Lowering, target: ast.Expr) -> Ty | None:
    if isinstance(target, ast.PathExpr) and len(target.path.names) == 1:
        slot = lw.scope.find(target.path.names[0])
        if slot is not None:
            return slot.value.ty if slot.value is not None else slot.ty
    return None


def destructure(lw: Lowering, target: ast.Expr, value: Value, span: Span) -> None:
    """Assign the parts of a value to the parts of a pattern-like expression."""
    match target:
        case ast.Tuple(items=items):
            for number, item in enumerate(items):
                part = value.get(str(number)) if isinstance(value, Agg) else None
                destructure(lw, item, part or Unknown(lw.infer.fresh(), "a part of a tuple"), span)
        case ast.Array(items=items):
            for number, item in enumerate(items):
                have = value.items[number] if isinstance(value, ArrayVal) else None
                destructure(lw, item, have or Unknown(lw.infer.fresh(), "a part of an array"), span)
        case ast.StructLit(fields=fields):
            for name, item in fields:
                part = value.get(name) if isinstance(value, Agg) else None
                destructure(lw, item, part or Unknown(lw.infer.fresh(), "a field"), span)
        case ast.PathExpr(path=path) if path.names == ("_",):
            return
        case ast.OtherExpr(text="_"):
            return
        case _:
            place = lw.place(target)
            write(lw, place, coerce(lw, value, place.ty, span), target.span)


# -- casts -----------------------------------------------------------------------------------------------------------


def cast(lw: Lowering, node: ast.Cast, want: Ty | None) -> Value:
    """``operand as type``."""
    to = lw.type(node.type)
    value = lw.expr(node.operand, to if _guides(lw, node.operand, to) else None)
    if isinstance(value, Diverges):
        return value
    return cast_value(lw, value, to, node.span)


def _guides(lw: Lowering, operand: ast.Expr, to: Ty) -> bool:
    """Whether a literal below the cast may simply take the cast's type."""
    if not isinstance(operand, ast.Lit) or operand.suffix or not isinstance(to, ScalarTy):
        return False
    return (
        operand.kind == "int"
        and to.type.kind == "int"
        and isinstance(operand.value, int)
        and (operand.value <= to.type.high)
    )


def cast_value(lw: Lowering, value: Value, to: Ty, span: Span) -> Value:
    """``value as to``."""
    to = lw.infer.shallow(to)
    if isinstance(to, PtrTy):
        return cast_pointer(lw, value, to, span)
    if isinstance(to, VarTy):
        return value
    type_ = lw.infer.term_type(to)
    if type_ is None:
        return Unknown(to, f"a cast to `{show(to)}`")
    match value:
        case EnumVal(tag=tag) if tag.type != BOOL:
            return Scalar(to, terms.cast(tag, type_))
        case Unknown():
            return Scalar(to, term_of(lw, value, span, to))
        case _:
            return Scalar(to, terms.cast(term_of(lw, value, span), type_))


def cast_pointer(lw: Lowering, value: Value, to: PtrTy, span: Span) -> Value:
    """A pointer seen as one to another type."""
    inner = lw.infer.shallow(to.inner)
    have = lw.infer.shallow(value.ty)
    source = lw.infer.shallow(have.inner) if isinstance(have, PtrTy) else None
    if isinstance(inner, VarTy) and source is not None:
        lw.infer.unify(inner, source.elem if isinstance(source, SliceTy) and isinstance(value, Fat) else source)
        inner = lw.infer.shallow(inner)
    if isinstance(inner, SliceTy):
        if isinstance(source, ArrayTy):
            return to_slice(lw, value, to, span)
        return value
    match value:
        case Fat(ptr=ptr):
            return Scalar(to, ptr)
        case LocalRef(place=place):
            return _local_pointer(lw, value, inner, to, span) if place.ty != inner else LocalRef(to, place)
        case Unknown(reason=reason):
            return Unknown(to, reason)
        case Scalar(term=term):
            return Scalar(to, terms.cast(term, PTR) if term.type != PTR else term)
        case ArrayMem(ptr=ptr):
            return Scalar(to, ptr)
        case _:
            return Unknown(to, f"a cast to `{show(to)}`")


def _local_pointer(lw: Lowering, value: LocalRef, inner: Ty, to: PtrTy, span: Span) -> Value:
    """A pointer to a local variable seen as another type: fine while it only leads to the first part of it."""
    place = value.place
    for _ in range(8):
        if lw.infer.unify(place.ty, inner):
            return LocalRef(to, place)
        held = read(lw, place, span)
        if isinstance(held, Agg) and held.fields:
            place = project(lw, place, held.fields[0][0])
        elif isinstance(held, ArrayMem):
            return Scalar(to, held.ptr)
        else:
            break
    return Unknown(to, "a pointer to a local variable, seen as another type")


def size_of(lw: Lowering, ty: Ty) -> Value:
    """``size_of::<ty>()``."""
    try:
        return Scalar(ScalarTy(USIZE), layout.size_term(lw, ty))
    except Gap:
        return Scalar(ScalarTy(USIZE), Opaque(USIZE, f"the size of {show(ty)}", ()))
