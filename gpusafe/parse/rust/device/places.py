"""Reading, writing, borrowing and projecting places: local variables and memory."""

from __future__ import annotations

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import BOOL, FALSE, ISIZE, PTR, TRUE, USIZE, Const, Expr, Op, PtrBase, PtrUnknown, Type, Var
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.device import layout, terms
from gpusafe.parse.rust.device.bodies import Nest
from gpusafe.parse.rust.device.lowering import Gap, Lowering
from gpusafe.parse.rust.device.types import (
    AdtTy,
    ArrayTy,
    AtomicTy,
    FnTy,
    ForeignTy,
    ParamTy,
    PtrTy,
    ScalarTy,
    SliceTy,
    TupleTy,
    Ty,
    VarTy,
    show,
)
from gpusafe.parse.rust.device.values import (
    Agg,
    ArrayMem,
    ArrayVal,
    ChoicePlace,
    EnumVal,
    Fat,
    LocalPlace,
    LocalRef,
    MemPlace,
    Place,
    RepeatVal,
    Scalar,
    Slot,
    Unknown,
    Value,
    ValuePlace,
)
from gpusafe.span import Span

MAX_UNROLLED = 16  # elements of a local array that are initialised one by one
MAX_COPIED = 64  # elements of an array that is loaded as a value


def term_of(lw: Lowering, value: Value, span: Span, want: Ty | None = None) -> Expr:
    """The one term of a scalar value; a value that is not modelled becomes an unknown one of the type ``want``."""
    match value:
        case Scalar(term=term):
            return lw.settled(term)
        case Fat(ptr=ptr):
            return ptr
        case LocalRef():
            return PtrUnknown(PTR, "a pointer to a local variable")
        case ArrayMem(ptr=ptr):
            return ptr
        case EnumVal(tag=tag):
            return tag
        case Agg(fields=((_, inner),)):
            return term_of(lw, inner, span, want)
        case Unknown(reason=reason):
            type_ = lw.infer.term_type(value.ty) if not isinstance(lw.infer.shallow(value.ty), VarTy) else None
            type_ = type_ or (lw.infer.term_type(want) if want is not None else None) or lw.infer.term_type(value.ty)
            return lw.havoc(type_ or lw.infer.term_type(lw.infer.fresh()) or USIZE, reason, span)
        case _:
            type_ = lw.infer.term_type(want or value.ty)
            return lw.havoc(type_ or USIZE, f"a value of type `{show(value.ty)}`", span)


# -- local variables -------------------------------------------------------------------------------------------------


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


def skeleton(lw: Lowering, ty: Ty, name: str, span: Span, depth: int = 0) -> Value | None:
    """Variables for a value of a type that is not there yet; None for types that are not trees of scalars."""
    ty = lw.infer.shallow(ty)
    here = lw.at(span)
    if isinstance(ty, ScalarTy) or (isinstance(ty, PtrTy) and lw.infer.term_type(ty) is not None):
        type_ = lw.infer.term_type(ty)
        assert type_ is not None
        made = lw.fresh(name)
        lw.emit(k.Havoc(here, made, type_, "not assigned yet"))
        return Scalar(ty, Var(type_, made))
    match ty:
        case PtrTy():
            first, second = lw.fresh(f"{name}.ptr"), lw.fresh(f"{name}.len")
            lw.emit(k.Havoc(here, first, PTR, "not assigned yet"))
            lw.emit(k.Havoc(here, second, USIZE, "not assigned yet"))
            return Fat(ty, Var(PTR, first), Var(USIZE, second))
        case TupleTy(items=items) if depth < 6:
            parts = [(str(i), skeleton(lw, t, f"{name}.{i}", span, depth + 1)) for i, t in enumerate(items)]
        case AdtTy(adt=adt) if depth < 6 and isinstance(adt.item, ast.Struct) and adt.item.kind == "struct":
            fields = layout.struct_fields(lw, ty)
            parts = [(n, skeleton(lw, t, f"{name}.{n}", span, depth + 1)) for n, t in fields]
        case _:
            return None
    known = tuple((n, v) for n, v in parts if v is not None)
    return Agg(ty, known) if len(known) == len(parts) else None


def _all_payloads(lw: Lowering, name: str, value: EnumVal, span: Span) -> tuple[tuple[int, tuple[Value, ...]], ...]:
    """Variables for the fields of all variants, so that a later assignment finds them."""
    have = {i: tuple(to_vars(lw, f"{name}.{i}", v, span) for v in vs) for i, vs in value.payloads}
    item = value.ty.adt.item
    assert isinstance(item, ast.Enum)
    for index in range(len(item.variants)):
        if index in have:
            continue
        fields = layout.variant_fields(lw, value.ty, index)
        made = [skeleton(lw, t, f"{name}.{index}", span) for _, t in fields]
        known = tuple(m for m in made if m is not None)
        if len(known) == len(made):
            have[index] = known
    return tuple(sorted(have.items()))


def to_vars(lw: Lowering, name: str, value: Value, span: Span) -> Value:
    """The same tree with an IR variable for each scalar: what a mutable variable holds."""
    match value:
        case Scalar(ty=ty, term=term):
            made = lw.fresh(name)
            lw.emit(k.Assign(lw.at(span), made, term))
            return Scalar(ty, Var(term.type, made))
        case Fat(ty=ty, ptr=ptr, len=length):
            first, second = lw.fresh(f"{name}.ptr"), lw.fresh(f"{name}.len")
            lw.emit(k.Assign(lw.at(span), first, ptr))
            lw.emit(k.Assign(lw.at(span), second, length))
            return Fat(ty, Var(PTR, first), Var(USIZE, second))
        case Agg(ty=ty, fields=fields):
            return Agg(ty, tuple((n, to_vars(lw, f"{name}.{n}", v, span)) for n, v in fields))
        case EnumVal(ty=ty, tag=tag):
            made = lw.fresh(f"{name}.tag")
            lw.emit(k.Assign(lw.at(span), made, tag))
            return EnumVal(ty, Var(tag.type, made), _all_payloads(lw, name, value, span))
        case ArrayVal() | RepeatVal() | ArrayMem():
            return to_memory(lw, name, value, span)
        case Unknown(ty=ty):
            type_ = lw.infer.term_type(ty)
            settled = lw.infer.shallow(ty)
            if type_ is None or isinstance(settled, VarTy):
                return value
            made = lw.fresh(name)
            lw.emit(k.Havoc(lw.at(span), made, type_, value.reason))
            return Scalar(ty, Var(type_, made))
        case _:
            return value


def snapshot(lw: Lowering, name: str, value: Value, span: Span) -> Value:
    """The value as it is now, under the user's name: what an immutable binding holds."""
    match value:
        case Scalar(ty=ty, term=term):
            return Scalar(ty, lw.named(name, term, span))
        case Fat(ty=ty, ptr=ptr, len=length):
            return Fat(ty, lw.named(f"{name}.ptr", ptr, span), lw.named(f"{name}.len", length, span))
        case Agg(ty=ty, fields=fields):
            return Agg(ty, tuple((n, snapshot(lw, f"{name}.{n}", v, span)) for n, v in fields))
        case EnumVal(ty=ty, tag=tag, payloads=payloads):
            inner = tuple((i, tuple(snapshot(lw, name, v, span) for v in vs)) for i, vs in payloads)
            return EnumVal(ty, tag if lw.stable(tag) else lw.named(f"{name}.tag", tag, span), inner)
        case ArrayVal(ty=ty, items=items) if len(items) <= 4:
            return ArrayVal(ty, tuple(snapshot(lw, name, v, span) for v in items))
        case ArrayVal() | RepeatVal() | ArrayMem():
            return to_memory(lw, name, value, span)
        case _:
            return value


def declare(lw: Lowering, name: str, ty: Ty, value: Value | None, mutable: bool, span: Span) -> Slot:
    """A new local variable in the present scope."""
    if value is None:
        held: Value | None = None
    elif mutable:
        held = to_vars(lw, name, value, span)
    else:
        held = snapshot(lw, name, value, span)
    slot = Slot(name, ty, held, mutable, lw.level)
    lw.scope.slots[name] = slot
    return slot


def _descend(lw: Lowering, value: Value, path: tuple[str, ...]) -> Value:
    for name in path:
        found: Value | None = None
        match value:
            case Agg():
                found = value.get(name)
            case EnumVal() if name.startswith("v"):
                index, _, number = name[1:].partition(".")
                payload = value.payload(int(index))
                found = payload[int(number)] if payload is not None else None
            case ArrayVal(items=items) if name.startswith("["):
                found = items[int(name[1:-1])]
            case RepeatVal(item=item):
                found = item
        if found is None:
            return Unknown(lw.infer.fresh(), f"`{name}` of a value that is not modelled")
        value = found
    return value


def _with_part(value: Value, path: tuple[str, ...], part: Value) -> Value:
    if not path:
        return part
    name, rest = path[0], path[1:]
    match value:
        case Agg():
            inner = value.get(name)
            return value.replace(name, _with_part(inner, rest, part)) if inner is not None else value
        case EnumVal(ty=ty, tag=tag, payloads=payloads):
            index, _, number = name[1:].partition(".")
            made = []
            for i, items in payloads:
                if i == int(index):
                    n = int(number)
                    items = (*items[:n], _with_part(items[n], rest, part), *items[n + 1 :])
                made.append((i, items))
            return EnumVal(ty, tag, tuple(made))
        case ArrayVal(ty=ty, items=items):
            n = int(name[1:-1])
            return ArrayVal(ty, (*items[:n], _with_part(items[n], rest, part), *items[n + 1 :]))
        case _:
            return value


def overwrite(lw: Lowering, old: Value, new: Value, name: str, level: int, span: Span) -> Value:
    """Assign ``new`` to the variables of ``old``; the tree that the variable holds afterwards."""
    here = lw.at(span)
    match old, new:
        case (Scalar(ty=ty, term=Var(name=var, type=type_)), _) if not isinstance(new, LocalRef):
            lw.infer.unify(ty, new.ty)
            term = term_of(lw, new, span, ty)
            lw.emit(k.Assign(here, var, terms.cast(term, type_) if _unlike(term.type, type_) else term))
            return old
        case (Fat(ptr=Var(name=first), len=Var(name=second)), Fat(ptr=ptr, len=length)):
            lw.emit(k.Assign(here, first, ptr))
            lw.emit(k.Assign(here, second, length))
            return old
        case (Agg(ty=ty, fields=fields), Agg()):
            made = []
            for n, v in fields:
                part = new.get(n)
                made.append((n, v if part is None else overwrite(lw, v, part, f"{name}.{n}", level, span)))
            return Agg(ty, tuple(made))
        case (EnumVal(ty=ty, tag=Var(name=tag)), EnumVal()):
            lw.emit(k.Assign(here, tag, new.tag))
            inner = dict(old.payloads)
            for index, items in new.payloads:
                had = inner.get(index)
                if had is None:
                    inner[index] = tuple(to_vars(lw, f"{name}.{index}", v, span) for v in items)
                else:
                    pairs = zip(had, items, strict=True)
                    inner[index] = tuple(overwrite(lw, a, b, f"{name}.{index}", level, span) for a, b in pairs)
            return EnumVal(ty, old.tag, tuple(sorted(inner.items())))
        case (ArrayMem(ty=ty, ptr=ptr), ArrayVal(items=items)):
            size = layout.size_term(lw, ty.elem)
            for i, item in enumerate(items):
                store(lw, terms.ptr_add(ptr, terms.scaled(terms.int_const(i), size)), ty.elem, item, span)
            return old
        case (ArrayMem(ty=ty, ptr=ptr), RepeatVal(item=item)):
            fill(lw, ptr, ty, item, span)
            return old
        case (ArrayMem(ty=ty, ptr=ptr), ArrayMem(ptr=other)):
            copy_elements(lw, ptr, other, ty.elem, ty.length, span)
            return old
        case _:
            return _replace(lw, old, new, name, level, span)


def _unlike(a: Type, b: Type) -> bool:
    return a != b and "infer" not in (a.kind, b.kind)


def _replace(lw: Lowering, old: Value, new: Value, name: str, level: int, span: Span) -> Value:
    if old == new:
        return old
    if level == lw.level:
        return to_vars(lw, name, new, span)
    lw.emit(k.Unmodelled(lw.at(span), f"assignment to `{name}` in one of several paths"))
    return Unknown(old.ty, f"`{name}`, which is assigned in one of several paths")


def _is_mutable_tree(value: Value) -> bool:
    match value:
        case Scalar(term=Var()):
            return True
        case Fat(ptr=Var(), len=Var()):
            return True
        case Scalar() | Fat():
            return False
        case Agg(fields=fields):
            return all(_is_mutable_tree(v) for _, v in fields)
        case EnumVal(tag=tag, payloads=payloads):
            return isinstance(tag, Var) and all(_is_mutable_tree(v) for _, vs in payloads for v in vs)
        case ArrayVal() | RepeatVal():
            return False
        case _:
            return True


def write_local(lw: Lowering, place: LocalPlace, value: Value, span: Span) -> None:
    """Assign a local variable or a part of it."""
    slot = place.slot
    if slot.value is None:
        if place.path:
            raise Gap(f"assignment to a part of `{slot.name}`, which has no value yet")
        once = not slot.mutable and slot.level == lw.level
        slot.value = snapshot(lw, slot.name, value, span) if once else to_vars(lw, slot.name, value, span)
        slot.mutable = not once
        return
    if not slot.mutable or not _is_mutable_tree(slot.value):
        slot.value = to_vars(lw, slot.name, slot.value, span)
        slot.mutable = True
    old = _descend(lw, slot.value, place.path)
    name = ".".join((slot.name, *place.path))
    if not isinstance(old, Scalar):
        value = apart(lw, value, span)
    slot.value = _with_part(slot.value, place.path, overwrite(lw, old, value, name, slot.level, span))


def apart(lw: Lowering, value: Value, span: Span) -> Value:
    """The value in terms that the assignment itself does not change (``(a, b) = (b, a)``)."""
    match value:
        case Scalar(ty=ty, term=term) if not lw.stable(term):
            return Scalar(ty, lw.named("t", term, span))
        case Fat(ty=ty, ptr=ptr, len=length):
            return Fat(ty, lw.named("t", ptr, span), lw.named("t", length, span))
        case Agg(ty=ty, fields=fields):
            return Agg(ty, tuple((n, apart(lw, v, span)) for n, v in fields))
        case EnumVal(ty=ty, tag=tag, payloads=payloads):
            inner = tuple((i, tuple(apart(lw, v, span) for v in vs)) for i, vs in payloads)
            return EnumVal(ty, tag if lw.stable(tag) else lw.named("t", tag, span), inner)
        case _:
            return value


# -- memory ----------------------------------------------------------------------------------------------------------


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


def discriminant(ty: AdtTy, index: int) -> int:
    """The number that the tag of a variant has."""
    item = ty.adt.item
    assert isinstance(item, ast.Enum)
    value = -1
    for variant in item.variants[: index + 1]:
        given = variant.discriminant
        value = given.value if isinstance(given, ast.Lit) and isinstance(given.value, int) else value + 1
    return value


def tag_const(ty: AdtTy, index: int) -> Const:
    """The tag of a variant."""
    if layout.is_flag_enum(ty):
        return TRUE if index else FALSE
    return terms.int_const(discriminant(ty, index), ISIZE)


def is_variant(ty: AdtTy, tag: Expr, index: int) -> Expr:
    """The condition that a tag is that of a variant."""
    if tag.type == BOOL:
        return tag if index else terms.negate(tag)
    item = ty.adt.item
    if isinstance(item, ast.Enum) and len(item.variants) == 1:
        return TRUE
    return terms.binary(Op.EQ, tag, tag_const(ty, index))


# -- places in general -----------------------------------------------------------------------------------------------


def read(lw: Lowering, place: Place, span: Span) -> Value:
    """The value in a place."""
    match place:
        case ChoicePlace():
            return _read_choice(lw, place, span)
        case ValuePlace(value=value):
            return value
        case LocalPlace(slot=slot, path=path):
            if slot.value is None:
                return Unknown(slot.ty, f"`{slot.name}`, which has no value")
            return _descend(lw, slot.value, path)
        case MemPlace(ty=ty, ptr=ptr):
            return load(lw, ptr, ty, span)
        case _:
            raise Gap("a read from this place")


def _read_choice(lw: Lowering, place: ChoicePlace, span: Span) -> Value:
    from gpusafe.parse.rust.device.merging import select

    values = [read(lw, option, span) for option in place.options]
    made = values[-1]
    for number in range(len(values) - 2, -1, -1):
        cond = terms.binary(Op.EQ, place.choice, terms.int_const(number))
        picked = select(lw, cond, values[number], made)
        if picked is None:
            return lw.unmodelled("a read through one of several references", span, syncs=False, ty=place.ty)
        made = picked
    return made


def write(lw: Lowering, place: Place, value: Value, span: Span) -> None:
    """Assign a place."""
    match place:
        case ChoicePlace(choice=choice, options=options):
            value = apart(lw, value, span)
            for number, option in enumerate(options):
                with lw.body() as body:
                    write(lw, option, value, span)
                cond = terms.binary(Op.EQ, choice, terms.int_const(number))
                lw.emit(Nest("if", lw.at(span), body, cond=cond))
        case LocalPlace():
            write_local(lw, place, value, span)
        case MemPlace(ty=ty, ptr=ptr):
            store(lw, ptr, ty, value, span)
        case ValuePlace(value=Unknown(reason=reason)):
            lw.emit(k.Unmodelled(lw.at(span), f"a write to {reason}"))
        case _:
            raise Gap("an assignment to a temporary")


def deref(lw: Lowering, value: Value, span: Span) -> Place:
    """``*value``."""
    match value:
        case LocalRef(place=place):
            return place
        case Fat(ty=PtrTy(inner=inner), ptr=ptr, len=length):
            return MemPlace(inner, ptr, length)
        case Scalar(ty=ty, term=term):
            known = lw.infer.shallow(ty)
            if isinstance(known, VarTy):
                lw.infer.unify(known, PtrTy(lw.infer.fresh(), True, False))
                known = lw.infer.shallow(known)
            if isinstance(known, PtrTy):
                return MemPlace(lw.infer.shallow(known.inner), term)
        case Unknown(ty=PtrTy(inner=inner), reason=reason):
            lw.emit(k.Unmodelled(lw.at(span), f"use of a pointer: {reason}"))
            return ValuePlace(inner, Unknown(inner, reason))
        case Unknown(reason=reason):
            lw.emit(k.Unmodelled(lw.at(span), f"use of a pointer: {reason}"))
            ty = lw.infer.fresh()
            return ValuePlace(ty, Unknown(ty, reason))
    raise Gap(f"dereference of `{show(lw.infer.shallow(value.ty))}`")


def borrow(lw: Lowering, place: Place, mutable: bool, is_ref: bool, span: Span) -> Value:
    """``&place``, ``&mut place``, ``&raw mut place``."""
    ty = PtrTy(lw.infer.shallow(place.ty), mutable, is_ref)
    match place:
        case ChoicePlace():
            return LocalRef(ty, place)
        case MemPlace(ptr=ptr, len=None):
            return Scalar(ty, ptr)
        case MemPlace(ptr=ptr, len=length) if length is not None:
            return Fat(ty, ptr, length)
        case LocalPlace():
            held = read(lw, place, span)
            if isinstance(held, ArrayMem):
                return Scalar(ty, held.ptr)
            return LocalRef(ty, place)
        case ValuePlace(value=ArrayMem(ptr=ptr)):
            return Scalar(ty, ptr)
        case ValuePlace(value=ArrayVal() | RepeatVal() as array):
            made = to_memory(lw, "array", array, span)
            return Scalar(ty, made.ptr) if isinstance(made, ArrayMem) else made
        case ValuePlace(value=Unknown(reason=reason)):
            return Unknown(ty, reason)
        case ValuePlace(value=value):
            held = to_vars(lw, lw.hint or "t", value, span) if mutable else value
            return LocalRef(ty, LocalPlace(place.ty, Slot("t", place.ty, held, mutable, lw.level)))
        case _:
            raise Gap("a borrow of this place")


def project(lw: Lowering, place: Place, name: str) -> Place:
    """``place.name`` (no dereference)."""
    ty = lw.infer.shallow(place.ty)
    match place:
        case ChoicePlace(choice=choice, options=options):
            parts = tuple(project(lw, option, name) for option in options)
            return ChoicePlace(parts[0].ty, choice, parts)
        case MemPlace(ptr=ptr) if isinstance(ty, AdtTy | TupleTy):
            offset, field_ty = layout.field_offset(lw, ty, name)
            return MemPlace(field_ty, terms.ptr_add(ptr, terms.int_const(offset)))
        case LocalPlace(slot=slot, path=path):
            part = _descend(lw, slot.value, (*path, name)) if slot.value is not None else None
            return LocalPlace(part.ty if part is not None else lw.infer.fresh(), slot, (*path, name))
        case ValuePlace(value=value):
            part = _descend(lw, value, (name,))
            return ValuePlace(part.ty, part)
        case _:
            raise Gap(f"field `{name}` of `{show(ty)}`")


def payload_place(lw: Lowering, place: Place, index: int, number: int) -> Place:
    """A field of a variant of the enum in ``place``."""
    ty = lw.infer.shallow(place.ty)
    match place:
        case MemPlace(ptr=ptr) if isinstance(ty, AdtTy):
            offset, field_ty = layout.payload_offset(lw, ty, index, number)
            return MemPlace(field_ty, terms.ptr_add(ptr, terms.int_const(offset)))
        case LocalPlace() | ValuePlace():
            return project(lw, place, f"v{index}.{number}")
        case _:
            raise Gap("a field of a variant")


def element(lw: Lowering, place: Place, index: Expr, span: Span) -> Place:
    """``place[index]`` without a bounds check."""
    ty = lw.infer.shallow(place.ty)
    match place:
        case ChoicePlace(choice=choice, options=options):
            parts = tuple(element(lw, option, index, span) for option in options)
            return ChoicePlace(parts[0].ty, choice, parts)
        case MemPlace(ptr=ptr) if isinstance(ty, SliceTy | ArrayTy):
            offset = terms.scaled(index, layout.size_term(lw, ty.elem))
            return MemPlace(lw.infer.shallow(ty.elem), terms.ptr_add(ptr, offset))
        case LocalPlace() | ValuePlace() if isinstance(ty, ArrayTy):
            held = read(lw, place, span)
            return _array_element(lw, place, held, ty, index, span)
        case _:
            raise Gap(f"indexing of `{show(ty)}`")


def _array_element(lw: Lowering, place: Place, held: Value, ty: ArrayTy, index: Expr, span: Span) -> Place:
    number = terms.const_int(index)
    match held:
        case ArrayMem(ptr=ptr):
            return element(lw, MemPlace(ty, ptr), index, span)
        case RepeatVal(item=item) if isinstance(place, ValuePlace):
            return ValuePlace(ty.elem, item)
        case ArrayVal(items=items) if number is not None and number < len(items):
            if isinstance(place, LocalPlace):
                return LocalPlace(items[number].ty, place.slot, (*place.path, f"[{number}]"))
            return ValuePlace(items[number].ty, items[number])
        case ArrayVal() | RepeatVal():
            made = to_memory(lw, "array", held, span)
            assert isinstance(made, ArrayMem)
            return element(lw, MemPlace(ty, made.ptr), index, span)
        case Unknown(reason=reason):
            return ValuePlace(ty.elem, Unknown(ty.elem, reason))
        case _:
            raise Gap("indexing of an array that is not modelled")


def scalar_type(lw: Lowering, ty: Ty) -> Type | None:
    """The type of the scalars of a settled scalar type."""
    known = lw.infer.shallow(ty)
    return known.type if isinstance(known, ScalarTy) else None
