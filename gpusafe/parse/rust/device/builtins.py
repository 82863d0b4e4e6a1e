"""Associated functions of built-in types: ``u32::from``, ``f32::from_bits``, ``AtomicU32::new``, ``u32::max(a, b)``."""

from __future__ import annotations

from gpusafe.ir.expr import BOOL, FALSE, Const, Expr, Op, Type
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.device import atomics, float_methods, terms
from gpusafe.parse.rust.device.iterator_methods import option_type
from gpusafe.parse.rust.device.layout import struct_fields
from gpusafe.parse.rust.device.lowering import Lowering
from gpusafe.parse.rust.device.operators import cast_value, plain
from gpusafe.parse.rust.device.scalars import term_of
from gpusafe.parse.rust.device.types import (
    AdtTy,
    ArrayTy,
    AtomicTy,
    ForeignTy,
    ParamTy,
    PtrTy,
    ScalarTy,
    TupleTy,
    Ty,
    VarTy,
    show,
)
from gpusafe.parse.rust.device.values import (
    Agg,
    ArrayVal,
    EnumVal,
    LocalRef,
    Place,
    RepeatVal,
    Scalar,
    Unknown,
    Value,
    ValuePlace,
    tuple_value,
)
from gpusafe.span import Span


def assoc_call(
    lw: Lowering,
    of: Ty,
    name: str,
    given: tuple[ast.Type | ast.Expr, ...],
    args: list[Value],
    span: Span,
    want: Ty | None,
) -> Value:
    """``of::name(args)``."""
    of = lw.infer.shallow(of)
    if isinstance(of, VarTy) and want is not None and name in ("default", "from", "new", "zero", "one"):
        of = lw.infer.shallow(want)
    match of, name:
        case (AtomicTy(), "from_ptr"):
            return atomics.pointer_to_atomic(lw, of, args[0], span)
        case (AtomicTy(), "new"):
            lw.infer.unify(of.content, args[0].ty)
            return Scalar(of, term_of(lw, args[0], span, of.content))
        case (ScalarTy(), "from" | "from_u32" | "from_i32") if args:
            return cast_value(lw, args[0], of, span)
        case (ScalarTy(), "cast_from" | "new" | "from_int") if args and lw.mode is not None:
            return cast_value(lw, args[0], of, span)
        case (ScalarTy(type=t), "try_from") if args:
            return _try_from(lw, of, args[0], span)
        case (ScalarTy(type=t), "from_bits" | "from_ne_bytes" | "from_le_bytes") if t.kind == "float" and args:
            term = term_of(lw, args[0], span)
            return Scalar(of, float_methods.from_bits(t, term))
        case (ScalarTy(type=t), "from_ne_bytes" | "from_le_bytes" | "from_be_bytes") if args:
            return _from_bytes(lw, of, args[0], name, span)
        case (_, "default") if not args:
            return default_value(lw, of, span)
    if args:
        return _as_method(lw, of, name, given, args, span, want)
    return lw.unmodelled(f"`{show(of)}::{name}`", span, accesses=False, syncs=False, ty=want)


def _as_method(
    lw: Lowering,
    of: Ty,
    name: str,
    given: tuple[ast.Type | ast.Expr, ...],
    args: list[Value],
    span: Span,
    want: Ty | None,
) -> Value:
    """``u32::max(a, b)`` is ``a.max(b)``."""
    from gpusafe.parse.rust.device.methods import method_on, reaches

    receiver = args[0]
    place: Place = ValuePlace(receiver.ty, receiver)
    if isinstance(receiver, LocalRef):
        place = receiver.place
    if isinstance(of, ScalarTy):
        receiver = plain(lw, receiver, "+", span)
        lw.infer.unify(receiver.ty, of)
        place = ValuePlace(of, Scalar(of, _typed(term_of(lw, receiver, span, of), of)))
    elif isinstance(of, ForeignTy | ParamTy) and not isinstance(lw.infer.shallow(receiver.ty), PtrTy):
        harmless = not reaches(lw, None, args)
        return lw.unmodelled(f"`{show(of)}::{name}`", span, accesses=not harmless, syncs=not harmless, ty=want)
    return method_on(lw, place, name, args[1:], span, want, given)


def _typed(term: Expr, of: ScalarTy) -> Expr:
    if isinstance(term, Const) and term.type.kind == "infer":
        if of.type.kind == "float":
            return Const(of.type, float(term.value))
        return terms.int_const(int(term.value), of.type)
    return term


def _try_from(lw: Lowering, of: ScalarTy, value: Value, span: Span) -> Value:
    term = term_of(lw, value, span)
    made = Scalar(of, terms.cast(term, of.type))
    back = terms.cast(made.term, term.type)
    good = terms.binary(Op.EQ, back, term)
    if term.type.kind == "int" and term.type.signed != of.type.signed:
        signed = term if term.type.signed else made.term
        good = terms.both(good, terms.binary(Op.GE, signed, terms.int_const(0, signed.type)))
    error = lw.infer.fresh()
    return EnumVal(
        atomics.result_type(lw, of, error),
        terms.negate(good),
        ((0, (made,)), (1, (Unknown(error, "a conversion error"),))),
    )


def _from_bytes(lw: Lowering, of: ScalarTy, value: Value, name: str, span: Span) -> Value:
    if not isinstance(value, ArrayVal):
        return Unknown(of, "an integer from bytes")
    items = list(value.items)
    if name == "from_be_bytes":
        items.reverse()
    made: Expr = terms.int_const(0, of.type)
    for number, item in enumerate(items):
        part = terms.cast(term_of(lw, item, span), of.type)
        shifted = terms.binary(Op.SHL, part, terms.int_const(8 * number, Type("int", 32)))
        made = terms.binary(Op.OR, made, shifted)
    return Scalar(of, made)


def default_value(lw: Lowering, ty: Ty, span: Span) -> Value:
    """``Default::default()``, zero for the built-in types."""
    ty = lw.infer.shallow(ty)
    match ty:
        case ScalarTy(type=t):
            value: int | bool | float = False if t == BOOL else 0.0 if t.kind == "float" else 0
            return Scalar(ty, Const(t, value))
        case TupleTy(items=items):
            return tuple_value(ty, tuple(default_value(lw, i, span) for i in items))
        case ArrayTy(elem=elem):
            return RepeatVal(ty, default_value(lw, elem, span))
        case AdtTy(adt=adt) if adt.name == "Option":
            return EnumVal(option_type(lw, lw.infer.fresh()), FALSE, ((0, ()),))
        case AdtTy(adt=adt) if isinstance(adt.item, ast.Struct):
            return Agg(ty, tuple((n, default_value(lw, t, span)) for n, t in struct_fields(lw, ty)))
        case _:
            return lw.unmodelled(f"the default of `{show(ty)}`", span, accesses=False, syncs=False, ty=ty)
