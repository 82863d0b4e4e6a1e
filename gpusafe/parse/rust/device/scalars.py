"""The one term of a scalar value."""

from __future__ import annotations

from gpusafe.ir.expr import PTR, USIZE, Expr, PtrUnknown
from gpusafe.parse.rust.device.lowering import Lowering
from gpusafe.parse.rust.device.types import (
    Ty,
    VarTy,
    show,
)
from gpusafe.parse.rust.device.values import (
    Agg,
    ArrayMem,
    EnumVal,
    Fat,
    LocalRef,
    Scalar,
    Unknown,
    Value,
)
from gpusafe.span import Span


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
