"""Patterns: the condition under which one matches, and the variables that it then binds."""

from __future__ import annotations

from dataclasses import dataclass

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import BOOL, FALSE, TRUE, Expr, Op, PtrBase
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.device import layout, terms
from gpusafe.parse.rust.device.lowering import Gap, Lowering
from gpusafe.parse.rust.device.memory import load_tag
from gpusafe.parse.rust.device.operators import compare
from gpusafe.parse.rust.device.paths import resolved_place
from gpusafe.parse.rust.device.places import borrow, deref, element, payload_place, project, read
from gpusafe.parse.rust.device.program import AdtDef
from gpusafe.parse.rust.device.scalars import term_of
from gpusafe.parse.rust.device.tags import is_variant
from gpusafe.parse.rust.device.types import BOOL as BOOL_TY
from gpusafe.parse.rust.device.types import AdtTy, ArrayTy, PtrTy, SliceTy, TupleTy, Ty
from gpusafe.parse.rust.device.values import (
    Agg,
    CtorVal,
    EnumVal,
    Fat,
    LocalPlace,
    MemPlace,
    Place,
    Scalar,
    Unknown,
    Value,
    ValuePlace,
)
from gpusafe.parse.rust.device.variables import declare
from gpusafe.parse.rust.device.written import adt_type
from gpusafe.span import Span


@dataclass(frozen=True, slots=True)
class Binding:
    """A variable that a pattern binds: to what is in ``place``, or (``by_ref``) to a reference to it."""

    pat: ast.PatIdent
    place: Place
    by_ref: bool
    mutable: bool


@dataclass(frozen=True, slots=True)
class Test:
    """The outcome of matching a pattern against a place."""

    cond: Expr
    bindings: tuple[Binding, ...] = ()


_ALWAYS = Test(TRUE)
_RefMode = tuple[bool, bool]  # bind by reference; mutably


def test(lw: Lowering, pat: ast.Pat, place: Place, mode: _RefMode = (False, False)) -> Test:
    """Match ``pat`` against the content of ``place``."""
    if not isinstance(pat, ast.PatIdent | ast.PatWild | ast.PatRef | ast.PatRest | ast.PatOr):
        place, mode = _through_refs(lw, pat, place, mode)
    match pat:
        case ast.PatWild() | ast.PatRest():
            return _ALWAYS
        case ast.PatIdent(sub=sub):
            by_ref = pat.by_ref or mode[0]
            mutable = pat.mutable if pat.by_ref else mode[1]
            inner = test(lw, sub, place, mode) if sub is not None else _ALWAYS
            return Test(inner.cond, (Binding(pat, place, by_ref, mutable), *inner.bindings))
        case ast.PatTuple(items=items):
            return _sequence(lw, items, _tuple_parts(lw, place, pat), mode)
        case ast.PatTupleStruct(path=path, items=items):
            return _variant(lw, path, items, None, place, mode, pat.span)
        case ast.PatStruct(path=path, fields=fields):
            return _variant(lw, path, (), fields, place, mode, pat.span)
        case ast.PatPath(path=path):
            return _path(lw, path, place, pat.span)
        case ast.PatRef(inner=inner_pat):
            return test(lw, inner_pat, deref(lw, read(lw, place, pat.span), pat.span))
        case ast.PatLit(value=value):
            held = read(lw, place, pat.span)
            return Test(_equal(lw, held, lw.expr(value, held.ty), pat.span))
        case ast.PatRange():
            return _range(lw, pat, place)
        case ast.PatOr(items=items):
            return _either(lw, items, place, mode)
        case ast.PatSlice(items=items):
            return _slice(lw, items, place, mode, pat.span)
        case _:
            lw.unmodelled("a pattern that is not modelled", pat.span, accesses=False, syncs=False)
            return Test(lw.havoc(BOOL, "a pattern that is not modelled", pat.span))


def _through_refs(lw: Lowering, pat: ast.Pat, place: Place, mode: _RefMode) -> tuple[Place, _RefMode]:
    """Match through references (Rust's default binding modes)."""
    for _ in range(4):
        ty = lw.infer.shallow(place.ty)
        if not (isinstance(ty, PtrTy) and ty.is_ref) or isinstance(pat, ast.PatLit | ast.PatRange | ast.PatPath):
            break
        place = deref(lw, read(lw, place, pat.span), pat.span)
        mode = (True, ty.mutable)
    if isinstance(pat, ast.PatLit | ast.PatRange | ast.PatPath):
        for _ in range(4):
            ty = lw.infer.shallow(place.ty)
            if not (isinstance(ty, PtrTy) and ty.is_ref):
                break
            place = deref(lw, read(lw, place, pat.span), pat.span)
    return place, mode


def _equal(lw: Lowering, a: Value, b: Value, span: Span) -> Expr:
    return term_of(lw, compare(lw, Op.EQ, a, b, span), span, BOOL_TY)


def _tuple_parts(lw: Lowering, place: Place, pat: ast.PatTuple) -> list[Place]:
    ty = lw.infer.shallow(place.ty)
    if isinstance(ty, TupleTy):
        return [project(lw, place, str(i)) for i in range(len(ty.items))]
    held = read(lw, place, pat.span)
    if isinstance(held, Agg):
        return [project(lw, place, n) for n, _ in held.fields]
    return [_unknown(lw, "a part of a tuple that is not modelled") for _ in pat.items]


def _unknown(lw: Lowering, reason: str) -> Place:
    ty = lw.infer.fresh()
    return ValuePlace(ty, Unknown(ty, reason))


def _sequence(lw: Lowering, pats: tuple[ast.Pat, ...], parts: list[Place], mode: _RefMode) -> Test:
    """Match patterns with at most one ``..`` against a list of places."""
    rest = next((i for i, p in enumerate(pats) if isinstance(p, ast.PatRest)), None)
    if rest is None:
        pairs = list(zip(pats, parts, strict=False))
    else:
        after = len(pats) - rest - 1
        pairs = list(zip(pats[:rest], parts, strict=False))
        pairs += list(zip(pats[rest + 1 :], parts[len(parts) - after :], strict=False))
    return _all(lw, pairs, mode)


def _all(lw: Lowering, pairs: list[tuple[ast.Pat, Place]], mode: _RefMode) -> Test:
    cond: Expr = TRUE
    bindings: list[Binding] = []
    for pat, part in pairs:
        made = test(lw, pat, part, mode)
        cond = terms.both(cond, made.cond)
        bindings.extend(made.bindings)
    return Test(cond, tuple(bindings))


def _variant_of(lw: Lowering, path: ast.Path, ty: Ty) -> tuple[AdtTy, int | None] | None:
    """Which variant (None: a struct) a path in a pattern names, for a value of type ``ty``."""
    name = path.last
    if isinstance(ty, AdtTy) and isinstance(ty.adt.item, ast.Enum):
        index = next((i for i, v in enumerate(ty.adt.item.variants) if v.name == name), None)
        if index is not None:
            return ty, index
    if isinstance(ty, AdtTy):
        return ty, None
    found = lw.program.resolve(lw.env.module, path.names)
    if found is not None and isinstance(found.target, AdtDef):
        made = adt_type(lw, found.target, (), lw.env)
        lw.infer.unify(ty, made)
        item = found.target.item
        if isinstance(item, ast.Enum) and found.rest:
            return made, next((i for i, v in enumerate(item.variants) if v.name == found.rest[0]), None)
        return made, None
    return None


def _variant(
    lw: Lowering,
    path: ast.Path,
    items: tuple[ast.Pat, ...],
    fields: tuple[tuple[str, ast.Pat], ...] | None,
    place: Place,
    mode: _RefMode,
    span: Span,
) -> Test:
    ty = lw.infer.shallow(place.ty)
    known = _variant_of(lw, path, ty)
    if known is None:
        pats = items if fields is None else tuple(p for _, p in fields)
        inner = _all(lw, [(p, _unknown(lw, f"a part of `{path}`")) for p in pats], mode)
        return Test(lw.havoc(BOOL, f"whether a value is `{path}`", span), inner.bindings)
    adt, index = known
    if index is None:
        names = [n for n, _ in layout.struct_fields(lw, adt)]
        if fields is not None:
            return _all(lw, [(p, project(lw, place, n)) for n, p in fields], mode)
        return _sequence(lw, items, [project(lw, place, n) for n in names], mode)
    cond = tag_test(lw, place, adt, index, span)
    if cond == FALSE:
        return Test(cond, tuple(_dead_bindings(lw, items, fields)))
    item = adt.adt.item
    assert isinstance(item, ast.Enum)
    variant = item.variants[index]
    if fields is None:
        parts = [payload_place(lw, place, index, n) for n in range(len(variant.fields))]
        inner = _sequence(lw, items, parts, mode)
    else:
        numbers = {n: i for i, (n, _) in enumerate(variant.fields)}
        inner = _all(lw, [(p, payload_place(lw, place, index, numbers[n])) for n, p in fields if n in numbers], mode)
    return Test(terms.both(cond, inner.cond), inner.bindings)


def _dead_bindings(
    lw: Lowering, items: tuple[ast.Pat, ...], fields: tuple[tuple[str, ast.Pat], ...] | None
) -> list[Binding]:
    pats = list(items) if fields is None else [p for _, p in fields]
    return [b for p in pats for b in test(lw, p, _unknown(lw, "a variant that is not there")).bindings] if pats else []


def tag_test(lw: Lowering, place: Place, adt: AdtTy, index: int, span: Span) -> Expr:
    """The condition that the enum in ``place`` is a variant."""
    if isinstance(place, MemPlace):
        return is_variant(adt, load_tag(lw, place.ptr, adt, span), index)
    held = read(lw, place, span)
    if isinstance(held, EnumVal):
        return is_variant(held.ty, held.tag, index)
    return lw.havoc(BOOL, f"which variant of `{adt.adt.name}` a value is", span)


def _path(lw: Lowering, path: ast.Path, place: Place, span: Span) -> Test:
    ty = lw.infer.shallow(place.ty)
    if isinstance(ty, AdtTy) and isinstance(ty.adt.item, ast.Enum):
        index = next((i for i, v in enumerate(ty.adt.item.variants) if v.name == path.last), None)
        if index is not None:
            return Test(tag_test(lw, place, ty, index, span))
    if path.names[0] in ("Self", *lw.env.generics):
        from gpusafe.parse.rust.device.paths import path_place

        value = read(lw, path_place(lw, ast.PathExpr(span, path)), span)
        return Test(_equal(lw, read(lw, place, span), value, span))
    found = lw.program.resolve(lw.env.module, path.names)
    if found is None:
        return Test(lw.havoc(BOOL, f"whether a value is `{path}`", span))
    value = read(lw, resolved_place(lw, found, path, span, ty), span)
    if isinstance(value, CtorVal | Agg):
        return _ALWAYS
    if isinstance(value, EnumVal):
        lw.infer.unify(ty, value.ty)
        variant = value.payloads[0][0] if value.payloads else 0
        return Test(tag_test(lw, place, value.ty, variant, span))
    return Test(_equal(lw, read(lw, place, span), value, span))


def _range(lw: Lowering, pat: ast.PatRange, place: Place) -> Test:
    held = read(lw, place, pat.span)
    cond: Expr = TRUE
    if pat.low is not None:
        low = compare(lw, Op.GE, held, lw.expr(pat.low, held.ty), pat.span)
        cond = term_of(lw, low, pat.span, BOOL_TY)
    if pat.high is not None:
        high = compare(lw, Op.LE if pat.inclusive else Op.LT, held, lw.expr(pat.high, held.ty), pat.span)
        cond = terms.both(cond, term_of(lw, high, pat.span, BOOL_TY))
    return Test(cond)


def _either(lw: Lowering, items: tuple[ast.Pat, ...], place: Place, mode: _RefMode) -> Test:
    made = [test(lw, p, place, mode) for p in items]
    cond: Expr = FALSE
    for one in made:
        cond = terms.either(cond, one.cond)
    names = [tuple(b.pat.name for b in one.bindings) for one in made]
    if not any(names):
        return Test(cond)
    bindings: list[Binding] = []
    for binding in made[0].bindings:  # the same names in every alternative: their values by the first that matches
        value: Value = read(lw, binding.place, binding.pat.span)
        for one in reversed(made):
            other = next((b for b in one.bindings if b.pat.name == binding.pat.name), None)
            if other is None:
                continue
            from gpusafe.parse.rust.device.merging import select

            picked = select(lw, one.cond, read(lw, other.place, binding.pat.span), value)
            value = picked if picked is not None else Unknown(value.ty, f"`{binding.pat.name}`")
        bindings.append(Binding(binding.pat, ValuePlace(value.ty, value), False, False))
    return Test(cond, tuple(bindings))


def _slice(lw: Lowering, items: tuple[ast.Pat, ...], place: Place, mode: _RefMode, span: Span) -> Test:
    ty = lw.infer.shallow(place.ty)
    rest = next((i for i, p in enumerate(items) if _is_rest(p)), None)
    fixed = len(items) - (rest is not None)
    length: Expr
    if isinstance(ty, ArrayTy):
        length = ty.length
    elif isinstance(ty, SliceTy) and isinstance(place, MemPlace) and place.len is not None:
        length = place.len
    else:
        raise Gap("a slice pattern on this value")
    op = Op.EQ if rest is None else Op.GE
    cond = TRUE if isinstance(ty, ArrayTy) else terms.binary(op, length, terms.int_const(fixed))
    pairs: list[tuple[ast.Pat, Place]] = []
    for number, item in enumerate(items):
        if number == rest:
            if isinstance(item, ast.PatIdent) and isinstance(place, MemPlace):
                start, count = terms.int_const(number), terms.binary(Op.SUB, length, terms.int_const(fixed))
                part = element(lw, place, start, span)
                assert isinstance(part, MemPlace)
                pairs.append((ast.PatIdent(item.span, item.name), MemPlace(SliceTy(part.ty), part.ptr, count)))
            continue
        if rest is None or number < rest:
            index: Expr = terms.int_const(number)
        else:
            index = terms.binary(Op.SUB, length, terms.int_const(len(items) - number))
        pairs.append((item, element(lw, place, index, span)))
    inner = _all(lw, pairs, mode)
    return Test(terms.both(cond, inner.cond), inner.bindings)


def _is_rest(pat: ast.Pat) -> bool:
    return isinstance(pat, ast.PatRest) or (isinstance(pat, ast.PatIdent) and isinstance(pat.sub, ast.PatRest))


# -- binding ---------------------------------------------------------------------------------------------------------


def bind(lw: Lowering, bindings: tuple[Binding, ...]) -> None:
    """Declare the variables of a pattern that matched."""
    for binding in bindings:
        span = binding.pat.span
        if binding.by_ref:
            value = borrow(lw, binding.place, binding.mutable, True, span)
        else:
            value = read(lw, binding.place, span)
        declare(lw, binding.pat.name, value.ty, value, binding.pat.mutable and not binding.pat.by_ref, span)
        note_exclusive(lw, value, span)


def note_exclusive(lw: Lowering, value: Value, span: Span) -> None:
    """A ``&mut`` to one element that is kept in a variable: nobody else may touch the element meanwhile."""
    ty = lw.infer.shallow(value.ty)
    if not (isinstance(ty, PtrTy) and ty.is_ref and ty.mutable) or lw.frame.site is not None:
        return
    if not isinstance(value, Scalar) or _base_region(lw, value.term) is k.Space.LOCAL:
        return
    inner = lw.infer.shallow(ty.inner)
    if (isinstance(inner, AdtTy) and inner.adt.module.family is not None) or isinstance(inner, ArrayTy):
        return
    try:
        size, _ = layout.size_align(lw, inner)
    except Gap:
        return
    if size:
        lw.emit(k.ExclusiveBorrow(lw.at(span), value.term, size))


def _base_region(lw: Lowering, term: Expr) -> k.Space | None:
    for part in terms.walk(term):
        if isinstance(part, PtrBase) and part.region in lw.regions:
            return lw.regions[part.region].space
    return None


def let(lw: Lowering, pat: ast.Pat, value: Value, span: Span) -> None:
    """Bind a pattern that always matches (``let``, a parameter, ``for``)."""
    match pat:
        case ast.PatIdent(name=name, mutable=mutable, sub=None, by_ref=False):
            declare(lw, name, value.ty, value, mutable, pat.span)
            note_exclusive(lw, value, span)
        case ast.PatWild():
            return
        case _:
            bind(lw, test(lw, pat, ValuePlace(value.ty, value)).bindings)


def fat_place(value: Fat) -> MemPlace:
    """The slice behind a slice reference."""
    assert isinstance(value.ty, PtrTy)
    return MemPlace(value.ty.inner, value.ptr, value.len)


def local(place: Place) -> bool:
    """Whether a place is a local variable."""
    return isinstance(place, LocalPlace)
