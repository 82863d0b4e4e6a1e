"""Loads, stores and arrays: values of any type in memory, scalar by scalar."""

from __future__ import annotations

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import FALSE, ISIZE, PTR, TRUE, USIZE, Expr, Op, PtrBase, Type, Var
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.device import layout, terms
from gpusafe.parse.rust.device.bodies import Nest
from gpusafe.parse.rust.device.lowering import Lowering
from gpusafe.parse.rust.device.scalars import term_of
from gpusafe.parse.rust.device.tags import is_variant
from gpusafe.parse.rust.device.types import (
    AdtTy,
    ArrayTy,
    AtomicTy,
    FnTy,
    ForeignTy,
    ParamTy,
    PtrTy,
    TupleTy,
    Ty,
    VarTy,
    show,
)
from gpusafe.parse.rust.device.values import (
    Agg,
    ArrayMem,
    ArrayVal,
    EnumVal,
    Fat,
    RepeatVal,
    Scalar,
    Unknown,
    Value,
)
from gpusafe.span import Span

MAX_UNROLLED = 16  # elements of a local array that are initialised one by one
MAX_COPIED = 64  # elements of an array that is loaded as a value


def local_region(lw: Lowering, name: str, ty: Ty, count: Expr, span: Span) -> str:
    """A region private to the thread, for an array variable."""
    made = lw.fresh(name)
    elem = ty.elem if isinstance(ty, ArrayTy) else ty
    settled = lw.infer.shallow(elem)
    size = -1 - settled.ident if isinstance(settled, VarTy) else layout.size_align(lw, elem)[0]
    lw.regions[made] = k.Region(made, k.Space.LOCAL, size, count, lw.at(span))
    return made


def to_memory(lw: Lowering, name: str, value: Value, span: Span) -> Value:
    """An array value with a region of its own."""
    match value:
        case ArrayVal(ty=ty, items=items):
            base = PtrBase(PTR, local_region(lw, name, ty, terms.int_const(len(items)), span))
            size = layout.size_term(lw, ty.elem)
            for i, item in enumerate(items):
                store(lw, terms.ptr_add(base, terms.scaled(terms.int_const(i), size)), ty.elem, item, span)
            return ArrayMem(ty, base)
        case RepeatVal(ty=ty, item=item):
            base = PtrBase(PTR, local_region(lw, name, ty, ty.length, span))
            fill(lw, base, ty, item, span)
            return ArrayMem(ty, base)
        case ArrayMem(ty=ty, ptr=ptr):
            base = PtrBase(PTR, local_region(lw, name, ty, ty.length, span))
            copy_elements(lw, base, ptr, ty.elem, ty.length, span)
            return ArrayMem(ty, base)
        case _:
            return value


def fill(lw: Lowering, base: Expr, ty: ArrayTy, item: Value, span: Span) -> None:
    """Store one value into every element of an array."""
    count = terms.const_int(ty.length)
    size = layout.size_term(lw, ty.elem)
    if count is not None and count <= MAX_UNROLLED:
        for i in range(count):
            store(lw, terms.ptr_add(base, terms.scaled(terms.int_const(i), size)), ty.elem, item, span)
        return
    counted(lw, ty.length, span, lambda i: store(lw, terms.ptr_add(base, terms.scaled(i, size)), ty.elem, item, span))


def copy_elements(lw: Lowering, dst: Expr, src: Expr, elem: Ty, count: Expr, span: Span) -> None:
    """Copy ``count`` elements from one place in memory to another."""
    size = layout.size_term(lw, elem)

    def one(i: Expr) -> None:
        offset = terms.scaled(i, size)
        store(lw, terms.ptr_add(dst, offset), elem, load(lw, terms.ptr_add(src, offset), elem, span), span)

    number = terms.const_int(count)
    if number is not None and number <= MAX_UNROLLED:
        for i in range(number):
            one(terms.int_const(i))
    else:
        counted(lw, count, span, one)


def counted(lw: Lowering, count: Expr, span: Span, body: object) -> None:
    """A loop of ``count`` steps that calls ``body`` with its counter."""
    assert callable(body)
    name = lw.fresh("k")
    here = lw.at(span)
    var = Var(USIZE, name)
    lw.emit(k.Assign(here, name, terms.int_const(0)))
    label = lw.label("copy")
    with lw.body() as inner:
        with lw.body() as leave:
            lw.emit(k.Break(here, label))
        lw.emit(Nest("if", here, leave, cond=terms.negate(terms.binary(Op.LT, var, count))))
        body(var)
        lw.emit(k.Assign(here, name, terms.binary(Op.ADD, var, terms.int_const(1))))
    lw.emit(Nest("loop", here, inner, label=label))


def load(lw: Lowering, ptr: Expr, ty: Ty, span: Span, volatile: bool = False) -> Value:
    """Read a value of a type from memory."""
    ty = lw.infer.shallow(ty)
    here = lw.at(span)
    type_ = lw.infer.term_type(ty)
    if isinstance(ty, ParamTy):
        type_, _ = Type("int", 32), layout.size_align(lw, ty)
    if type_ is not None:
        made = lw.temp()
        lw.emit(k.Load(here, made, ptr, type_, volatile))
        return Scalar(ty, Var(type_, made))
    match ty:
        case PtrTy():
            first, second = lw.temp("t.ptr"), lw.temp("t.len")
            lw.emit(k.Load(here, first, ptr, PTR))
            lw.emit(k.Load(here, second, terms.ptr_add(ptr, terms.int_const(8)), USIZE))
            return Fat(ty, Var(PTR, first), Var(USIZE, second))
        case TupleTy(items=items):
            return Agg(ty, tuple((str(i), _load_field(lw, ptr, ty, str(i), span, volatile)) for i in range(len(items))))
        case AdtTy(adt=adt) if isinstance(adt.item, ast.Struct):
            names = [n for n, _ in adt.item.fields]
            return Agg(ty, tuple((n, _load_field(lw, ptr, ty, n, span, volatile)) for n in names))
        case AdtTy():
            return load_enum(lw, ptr, ty, span)
        case ArrayTy(elem=elem, length=length):
            count = terms.const_int(length)
            if count is None or count > MAX_COPIED:
                base = PtrBase(PTR, local_region(lw, lw.hint or "copy", ty, length, span))
                copy_elements(lw, base, ptr, elem, length, span)
                return ArrayMem(ty, base)
            size = layout.size_term(lw, elem)
            at = [terms.ptr_add(ptr, terms.scaled(terms.int_const(i), size)) for i in range(count)]
            return ArrayVal(ty, tuple(load(lw, p, elem, span, volatile) for p in at))
        case AtomicTy(content=content):
            return load(lw, ptr, content, span, volatile)
        case FnTy():
            return Unknown(ty, "a function pointer from memory")
        case _:
            lw.emit(k.Unmodelled(here, f"a read of type `{show(ty)}`", True, False))
            return Unknown(ty, f"a value of type `{show(ty)}` from memory")


def _load_field(lw: Lowering, ptr: Expr, ty: AdtTy | TupleTy, name: str, span: Span, volatile: bool) -> Value:
    offset, field_ty = layout.field_offset(lw, ty, name)
    return load(lw, terms.ptr_add(ptr, terms.int_const(offset)), field_ty, span, volatile)


def load_tag(lw: Lowering, ptr: Expr, ty: AdtTy, span: Span) -> Expr:
    """Read the tag of an enum in memory."""
    made = lw.temp()
    type_ = layout.tag_memory_type(ty)
    lw.emit(k.Load(lw.at(span), made, ptr, type_))
    tag = Var(type_, made)
    if layout.is_flag_enum(ty):
        return terms.binary(Op.NE, tag, terms.int_const(0, type_))
    return terms.cast(tag, ISIZE)


def load_enum(lw: Lowering, ptr: Expr, ty: AdtTy, span: Span) -> EnumVal:
    """Read an enum with the fields of all its variants."""
    item = ty.adt.item
    assert isinstance(item, ast.Enum)
    tag = load_tag(lw, ptr, ty, span)
    payloads = []
    for index, variant in enumerate(item.variants):
        fields = []
        for number in range(len(variant.fields)):
            offset, field_ty = layout.payload_offset(lw, ty, index, number)
            fields.append(load(lw, terms.ptr_add(ptr, terms.int_const(offset)), field_ty, span))
        payloads.append((index, tuple(fields)))
    return EnumVal(ty, tag, tuple(payloads))


def store(lw: Lowering, ptr: Expr, ty: Ty, value: Value, span: Span, volatile: bool = False) -> None:
    """Write a value to memory."""
    ty = lw.infer.shallow(ty)
    lw.infer.unify(ty, value.ty)
    type_ = lw.infer.term_type(ty)
    here = lw.at(span)
    if isinstance(ty, ParamTy):
        type_, _ = Type("int", 32), layout.size_align(lw, ty)
    if type_ is not None:
        term = term_of(lw, value, span, ty)
        lw.emit(k.Store(here, ptr, term, layout.access_size(lw, type_), volatile))
        return
    match ty, value:
        case (PtrTy(), Fat(ptr=first, len=second)):
            lw.emit(k.Store(here, ptr, first, 8))
            lw.emit(k.Store(here, terms.ptr_add(ptr, terms.int_const(8)), second, 8))
        case (TupleTy() | AdtTy(), Agg(fields=fields)):
            for name, part in fields:
                offset, field_ty = layout.field_offset(lw, ty, name)
                store(lw, terms.ptr_add(ptr, terms.int_const(offset)), field_ty, part, span, volatile)
        case (AdtTy(), EnumVal()):
            _store_enum(lw, ptr, ty, value, span)
        case (ArrayTy(elem=elem), ArrayVal(items=items)):
            size = layout.size_term(lw, elem)
            for i, item in enumerate(items):
                store(lw, terms.ptr_add(ptr, terms.scaled(terms.int_const(i), size)), elem, item, span, volatile)
        case (ArrayTy(), RepeatVal(item=item)):
            fill(lw, ptr, ty, item, span)
        case (ArrayTy(elem=elem, length=length), ArrayMem(ptr=source)):
            copy_elements(lw, ptr, source, elem, length, span)
        case (AtomicTy(content=content), _):
            store(lw, ptr, content, value, span, volatile)
        case _:
            _store_unknown(lw, ptr, ty, value, span)


def _store_unknown(lw: Lowering, ptr: Expr, ty: Ty, value: Value, span: Span) -> None:
    """Write bytes whose values are not modelled, where at least their number is known."""
    if not isinstance(ty, ForeignTy):
        size, _ = layout.size_align(lw, ty)
        unknown = lw.havoc(Type("int", 64), f"a value of type `{show(ty)}`", span)
        if size:
            lw.emit(k.Store(lw.at(span), ptr, unknown, size))
        return
    lw.emit(k.Unmodelled(lw.at(span), f"a write of type `{show(ty)}`", True, False))


def _store_enum(lw: Lowering, ptr: Expr, ty: AdtTy, value: EnumVal, span: Span) -> None:
    type_ = layout.tag_memory_type(ty)
    here = lw.at(span)
    lw.emit(k.Store(here, ptr, terms.cast(value.tag, type_), type_.bytes))
    for index, items in value.payloads:
        if not items:
            continue
        with lw.body() as inner:
            for number, item in enumerate(items):
                offset, field_ty = layout.payload_offset(lw, ty, index, number)
                store(lw, terms.ptr_add(ptr, terms.int_const(offset)), field_ty, item, span)
        cond = is_variant(value.ty, value.tag, index)
        if cond == TRUE:
            lw.out.extend(inner)
        elif cond != FALSE:
            lw.emit(Nest("if", here, inner, cond=cond))
