"""Methods of floats: pure functions whose values are not modelled, only their equality."""

from __future__ import annotations

from gpusafe.ir.expr import BOOL, I32, U32, U64, Const, Expr, Op, Opaque, Type
from gpusafe.parse.rust.device import terms
from gpusafe.parse.rust.device.lowering import Lowering
from gpusafe.parse.rust.device.operators import plain
from gpusafe.parse.rust.device.scalars import term_of
from gpusafe.parse.rust.device.types import BOOL as BOOL_TY
from gpusafe.parse.rust.device.types import SCALARS, TupleTy
from gpusafe.parse.rust.device.values import Scalar, Value, tuple_value
from gpusafe.span import Span

_TO_BOOL = frozenset({"is_nan", "is_finite", "is_infinite", "is_normal", "is_sign_negative", "is_sign_positive"})
_COMPARE = {"eq": Op.EQ, "ne": Op.NE, "lt": Op.LT, "le": Op.LE, "gt": Op.GT, "ge": Op.GE}
_SIMPLE = {"add": Op.ADD, "sub": Op.SUB, "mul": Op.MUL, "div": Op.DIV, "rem": Op.REM, "min": Op.MIN, "max": Op.MAX}
_INT_ARGUMENT = frozenset({"powi", "ldexp", "scalbn"})

PURE = frozenset({
    "sqrt", "cbrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh",
    "atanh", "exp", "exp2", "exp_m1", "exp10", "ln", "ln_1p", "log", "log2", "log10", "powf", "powi", "pow", "hypot",
    "floor", "ceil", "round", "trunc", "fract", "abs", "signum", "copysign", "recip", "mul_add", "fma", "clamp",
    "rem_euclid", "div_euclid", "to_degrees", "to_radians", "round_ties_even", "rsqrt", "inverse_sqrt", "abs_sub",
    "erf", "erfc", "gamma", "total_cmp", "maximum", "minimum", "midpoint", "next_up", "next_down", "saturate",
    "fdim", "rint", "nearbyint", "sinpi", "cospi", "to_f16", "fmod",
})  # fmt: skip
"""Names of pure mathematical functions (methods, and free functions of libm and the intrinsics modules)."""


def float_method(lw: Lowering, value: Value, name: str, args: list[Value], span: Span) -> Value | None:
    """A method of a float; None when there is none of that name."""
    args = [plain(lw, a, "+", span) for a in args]
    if name in ("clone", "to_owned", "into", "get") and not args:
        return value
    term = term_of(lw, value, span)
    others: list[Expr] = []
    for arg in args:
        if name in _INT_ARGUMENT:
            lw.infer.unify(arg.ty, SCALARS["i32"])
        else:
            lw.infer.unify(value.ty, arg.ty)
        other = term_of(lw, arg, span, value.ty)
        if isinstance(other, Const) and other.type.kind == "infer" and term.type.kind == "float":
            other = Const(term.type, float(other.value))
        others.append(other)
    if name in _SIMPLE and others:
        return Scalar(value.ty, _float_binary(_SIMPLE[name], term, others[0]))
    if name in _COMPARE:
        return Scalar(BOOL_TY, terms.binary(_COMPARE[name], term, others[0]))
    if name in _TO_BOOL:
        return Scalar(BOOL_TY, Opaque(BOOL, name, (term,)))
    if name == "to_bits":
        to = Type("int", term.type.bits) if term.type.kind == "float" else U32
        return lw.scalar(Opaque(to, "to_bits", (term,)))
    if name in ("to_f32", "to_f64"):
        to_ty = SCALARS[name[3:]]
        return Scalar(to_ty, terms.cast(term, to_ty.type))
    if name == "neg":
        return Scalar(value.ty, terms.unary(Op.NEG, term))
    if name == "sin_cos":
        parts = tuple(Scalar(value.ty, Opaque(term.type, n, (term,))) for n in ("sin", "cos"))
        return tuple_value(TupleTy((value.ty, value.ty)), parts)
    if name == "to_int_unchecked":
        return lw.scalar(Opaque(I32, "to_int_unchecked", (term,)))
    if name in PURE or name.endswith(("_approx", "_fast")):
        return Scalar(value.ty, Opaque(term.type, name, (term, *others)))
    return None


def _float_binary(op: Op, a: Expr, b: Expr) -> Expr:
    if a.type.kind == "infer":  # a literal that becomes a float later
        return Opaque(a.type, {Op.MIN: "fmin", Op.MAX: "fmax"}.get(op, op.name.lower()), (a, b))
    return terms.binary(op, a, b)


def from_bits(to: Type, term: Expr) -> Expr:
    """``f32::from_bits``; undoes ``to_bits``."""
    if isinstance(term, Opaque) and term.name == "to_bits" and term.args[0].type == to:
        return term.args[0]
    return Opaque(to, "from_bits", (term,))


BITS = {"f16": Type("int", 16), "f32": U32, "f64": U64}
