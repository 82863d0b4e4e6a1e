"""Methods of integers and bool."""

from __future__ import annotations

from collections.abc import Callable

from gpusafe.ir.expr import BOOL, U32, Const, Expr, Op, Opaque, Type
from gpusafe.parse.rust.device import terms
from gpusafe.parse.rust.device.bodies import Join, Nest
from gpusafe.parse.rust.device.iterator_methods import option_type
from gpusafe.parse.rust.device.lowering import Gap, Lowering
from gpusafe.parse.rust.device.merging import meet
from gpusafe.parse.rust.device.operators import arithmetic, divisible, plain
from gpusafe.parse.rust.device.scalars import term_of
from gpusafe.parse.rust.device.types import BOOL as BOOL_TY
from gpusafe.parse.rust.device.types import SCALARS, AdtTy, ArrayTy, ScalarTy, TupleTy, Ty, VarTy
from gpusafe.parse.rust.device.values import ArrayVal, EnumVal, Scalar, Value, tuple_value
from gpusafe.span import Span

OWN_TYPES = frozenset(
    {
        "pow",
        "rotate_left",
        "rotate_right",
        "wrapping_shl",
        "wrapping_shr",
        "checked_shl",
        "checked_shr",
        "powi",
        "wrapping_pow",
        "checked_pow",
        "saturating_pow",
        "then",
        "then_some",
    }
)
"""Methods whose arguments have a type of their own (mostly u32)."""

_SIMPLE = {
    "wrapping_add": "+",
    "wrapping_sub": "-",
    "wrapping_mul": "*",
    "wrapping_div": "/",
    "wrapping_rem": "%",
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "rem": "%",
    "bitand": "&",
    "bitor": "|",
    "bitxor": "^",
    "shl": "<<",
    "shr": ">>",
    "wrapping_shl": "<<",
    "wrapping_shr": ">>",
    "unchecked_add": "+",
    "unchecked_sub": "-",
    "unchecked_mul": "*",
    "unchecked_shl": "<<",
    "unchecked_shr": ">>",
}
_COUNTING = {"count_ones": Op.POPC, "leading_zeros": Op.CLZ, "trailing_zeros": Op.CTZ}
_MINMAX = {"min": Op.MIN, "max": Op.MAX}
_BINARY_OPS = {"add": Op.ADD, "sub": Op.SUB, "mul": Op.MUL, "div": Op.DIV, "rem": Op.REM, "shl": Op.SHL, "shr": Op.SHR}
_COMPARE = {"eq": Op.EQ, "ne": Op.NE, "lt": Op.LT, "le": Op.LE, "gt": Op.GT, "ge": Op.GE}
_OPAQUE = frozenset(
    {
        "isqrt",
        "ilog2",
        "ilog10",
        "ilog",
        "swap_bytes",
        "to_be",
        "to_le",
        "from_be",
        "midpoint",
        "rem_euclid",
        "div_euclid",
        "wrapping_rem_euclid",
        "wrapping_pow",
        "saturating_pow",
        "pow",
        "saturating_mul",
        "unsigned_abs",
        "next_power_of_two",
        "next_multiple_of",
        "carrying_mul_add",
        "gcd",
        "count_zeros",
        "leading_ones",
        "trailing_ones",
        "checked_pow",
    }
)


def int_method(lw: Lowering, value: Value, name: str, args: list[Value], span: Span, want: Ty | None) -> Value | None:
    """A method of an integer or bool; None when there is none of that name."""
    args = [plain(lw, a, "+", span) for a in args] if name not in ("then", "then_some") else args
    if name in ("clone", "to_owned", "get", "into_inner") and not args:
        return value
    if name in ("into", "try_into", "to_usize", "as_usize") and not args:
        return _into(lw, value, name, want, span)
    term = term_of(lw, value, span)
    if term.type == BOOL:
        return _bool_method(lw, term, name, args, span)
    if name in _SIMPLE:
        return arithmetic(lw, _SIMPLE[name], value, args[0], span)
    shift = name.endswith(("_shl", "_shr")) or name in ("pow", "rotate_left", "rotate_right")
    others: list[Expr] = []
    for arg in args:
        if shift or name.endswith("_pow"):
            lw.infer.unify(arg.ty, SCALARS["u32"])
            others.append(term_of(lw, arg, span, SCALARS["u32"]))
        else:
            lw.infer.unify(value.ty, arg.ty)
            others.append(_as(term_of(lw, arg, span, value.ty), term.type))
    handler = _TABLE.get(name)
    if handler is not None:
        return handler(lw, value, term, others, span)
    if name in _COUNTING:
        return Scalar(SCALARS["u32"], terms.cast(terms.unary(_COUNTING[name], term), U32))
    if name in _MINMAX:
        return Scalar(value.ty, terms.binary(_MINMAX[name], term, others[0]))
    if name in _COMPARE:
        return Scalar(BOOL_TY, terms.binary(_COMPARE[name], term, others[0]))
    prefix, _, op = name.partition("_")
    if prefix in ("checked", "overflowing", "saturating") and op in _BINARY_OPS:
        return _checked(lw, value, term, others[0], prefix, _BINARY_OPS[op])
    if name in _OPAQUE:
        return Scalar(value.ty, _opaque(name, term, others))
    return None


def _as(term: Expr, type_: Type) -> Expr:
    if term.type.kind == "infer" and isinstance(term, Const) and type_.kind == "int":
        return terms.int_const(int(term.value), type_)
    return term if "infer" in (term.type.kind, type_.kind) else terms.cast(term, type_)


def _into(lw: Lowering, value: Value, name: str, want: Ty | None, span: Span) -> Value:
    target = lw.infer.shallow(want) if want is not None else None
    if isinstance(target, ScalarTy) and name == "into":
        return Scalar(target, terms.cast(term_of(lw, value, span), target.type))
    raise Gap(f"`{name}` to a type that is not known here")


def _opaque(name: str, term: Expr, others: list[Expr]) -> Expr:
    if name == "pow" and isinstance(term, Const) and isinstance(others[0], Const) and term.type.kind == "int":
        return terms.int_const(int(term.value) ** int(others[0].value), term.type)
    if name in ("pow", "wrapping_pow") and isinstance(others[0], Const) and int(others[0].value) <= 8:
        made: Expr = Const(term.type, 1)
        for _ in range(int(others[0].value)):
            made = terms.binary(Op.MUL, made, term) if made != Const(term.type, 1) else term
        return made
    return Opaque(term.type, name, (term, *others))


def _bool_method(lw: Lowering, term: Expr, name: str, args: list[Value], span: Span) -> Value | None:
    match name:
        case "then_some":
            return EnumVal(option_type(lw, args[0].ty), term, ((0, ()), (1, (args[0],))))
        case "then":
            join = Join(hint=lw.hint)
            with lw.body() as body:
                lw.arrive(join, lw.hooks.call(lw, args[0], [], span, None))
            lw.emit(Nest("if", lw.at(span), body, cond=term))
            inner = meet(lw, join, span)
            return EnumVal(option_type(lw, inner.ty), term, ((0, ()), (1, (inner,))))
        case "not":
            return lw.scalar(terms.negate(term))
        case _:
            return None


def _checked(lw: Lowering, value: Value, a: Expr, b: Expr, prefix: str, op: Op) -> Value:
    """``checked_*``, ``overflowing_*`` and ``saturating_*``: whether the exact result fits."""
    known = lw.infer.shallow(value.ty)
    if not isinstance(known, ScalarTy) or known.type.bits > 64:
        if isinstance(known, VarTy):
            raise Gap("a checked operation on a number whose type is not known yet")
        raise Gap("a checked operation on 128 bits")
    result = terms.binary(op, a, b)
    bad = _overflows(known.type, op, a, b)
    if prefix == "checked":
        return EnumVal(option_type(lw, value.ty), terms.negate(bad), ((0, ()), (1, (Scalar(value.ty, result),))))
    if prefix == "overflowing":
        ty = TupleTy((value.ty, BOOL_TY))
        return tuple_value(ty, (Scalar(value.ty, result), Scalar(BOOL_TY, bad)))
    return Scalar(value.ty, terms.select(bad, _saturated(known.type, op, a), result))


def _overflows(type_: Type, op: Op, a: Expr, b: Expr) -> Expr:
    zero = terms.int_const(0, type_)
    if op in (Op.DIV, Op.REM):
        bad = terms.binary(Op.EQ, b, zero)
        if type_.signed:
            low = terms.binary(Op.EQ, a, terms.int_const(type_.low, type_))
            minus = terms.binary(Op.EQ, b, terms.int_const(-1, type_))
            bad = terms.either(bad, terms.both(low, minus))
        return bad
    if op in (Op.SHL, Op.SHR):
        return terms.binary(Op.GE, b, terms.int_const(type_.bits, b.type))
    if not type_.signed and op is Op.ADD:
        return terms.binary(Op.GT, a, terms.binary(Op.SUB, terms.int_const(type_.high, type_), b))
    if not type_.signed and op is Op.SUB:
        return terms.binary(Op.LT, a, b)
    if not type_.signed and op is Op.MUL:
        nonzero = terms.binary(Op.NE, b, zero)
        limit = terms.binary(Op.DIV, terms.int_const(type_.high, type_), b)
        return terms.both(nonzero, terms.binary(Op.GT, a, limit))
    wide = Type("int", type_.bits * 2, True)
    exact = terms.binary(op, terms.cast(a, wide), terms.cast(b, wide))
    below = terms.binary(Op.LT, exact, terms.int_const(type_.low, wide))
    return terms.either(below, terms.binary(Op.GT, exact, terms.int_const(type_.high, wide)))


def _saturated(type_: Type, op: Op, a: Expr) -> Expr:
    high, low = terms.int_const(type_.high, type_), terms.int_const(type_.low, type_)
    if not type_.signed:
        return low if op is Op.SUB else high
    return terms.select(terms.binary(Op.LT, a, terms.int_const(0, type_)), low, high)


_Handler = Callable[[Lowering, Value, Expr, list[Expr], Span], Value]


def _clamp(lw: Lowering, value: Value, term: Expr, others: list[Expr], span: Span) -> Value:
    return Scalar(value.ty, terms.binary(Op.MIN, terms.binary(Op.MAX, term, others[0]), others[1]))


def _abs_diff(lw: Lowering, value: Value, term: Expr, others: list[Expr], span: Span) -> Value:
    less = terms.binary(Op.LT, term, others[0])
    a, b = terms.binary(Op.SUB, others[0], term), terms.binary(Op.SUB, term, others[0])
    made = terms.select(less, a, b)
    if term.type.signed:
        to = Type("int", term.type.bits)
        return Scalar(ScalarTy(to), terms.cast(made, to))
    return Scalar(value.ty, made)


def _div_ceil(lw: Lowering, value: Value, term: Expr, others: list[Expr], span: Span) -> Value:
    divisible(lw, others[0], span)
    quotient = terms.binary(Op.DIV, term, others[0])
    rest = terms.binary(Op.NE, terms.binary(Op.REM, term, others[0]), Const(term.type, 0))
    more = terms.binary(Op.ADD, quotient, Const(term.type, 1))
    return Scalar(value.ty, terms.select(rest, more, quotient))


def _power_of_two(lw: Lowering, value: Value, term: Expr, others: list[Expr], span: Span) -> Value:
    one = terms.int_const(1, term.type)
    return Scalar(BOOL_TY, terms.binary(Op.EQ, terms.unary(Op.POPC, term), one))


def _rotate(left: bool) -> _Handler:
    def run(lw: Lowering, value: Value, term: Expr, others: list[Expr], span: Span) -> Value:
        if term.type.kind != "int" or term.type.signed:
            return Scalar(value.ty, Opaque(term.type, "rotate_left" if left else "rotate_right", (term, others[0])))
        bits = terms.int_const(term.type.bits, U32)
        amount = terms.binary(Op.REM, others[0], bits)
        back = terms.binary(Op.REM, terms.binary(Op.SUB, bits, amount), bits)
        first, second = (Op.SHL, Op.SHR) if left else (Op.SHR, Op.SHL)
        return Scalar(
            value.ty, terms.binary(Op.OR, terms.binary(first, term, amount), terms.binary(second, term, back))
        )

    return run


def _simple(op: Op) -> _Handler:
    return lambda lw, value, term, others, span: Scalar(value.ty, terms.unary(op, term))


def _is_multiple_of(lw: Lowering, value: Value, term: Expr, others: list[Expr], span: Span) -> Value:
    zero = terms.int_const(0, term.type)
    rest = terms.binary(Op.EQ, terms.binary(Op.REM, term, others[0]), zero)
    return Scalar(BOOL_TY, terms.select(terms.binary(Op.EQ, others[0], zero), terms.binary(Op.EQ, term, zero), rest))


def _bytes(order: str) -> _Handler:
    def run(lw: Lowering, value: Value, term: Expr, others: list[Expr], span: Span) -> Value:
        count = term.type.bytes
        u8 = SCALARS["u8"]
        parts = [
            Scalar(u8, terms.cast(terms.binary(Op.SHR, term, terms.int_const(8 * i, U32)), u8.type))
            for i in range(count)
        ]
        if order == "be":
            parts.reverse()
        return ArrayVal(ArrayTy(u8, terms.int_const(count)), tuple(parts))

    return run


def _checked_neg(lw: Lowering, value: Value, term: Expr, others: list[Expr], span: Span) -> Value:
    made = terms.unary(Op.NEG, term)
    good = terms.binary(Op.EQ, term, terms.int_const(0, term.type))
    if term.type.signed:
        good = terms.binary(Op.NE, term, terms.int_const(term.type.low, term.type))
    return EnumVal(option_type(lw, value.ty), good, ((0, ()), (1, (Scalar(value.ty, made),))))


def _cmp(lw: Lowering, value: Value, term: Expr, others: list[Expr], span: Span) -> Value:
    adt = lw.program.preludes["core"].children["cmp"].types["Ordering"]
    less, more = terms.binary(Op.LT, term, others[0]), terms.binary(Op.GT, term, others[0])
    i64 = Type("int", 64, True)
    tag = terms.select(
        less, terms.int_const(-1, i64), terms.select(more, terms.int_const(1, i64), terms.int_const(0, i64))
    )
    return EnumVal(AdtTy(adt), tag, ((0, ()), (1, ()), (2, ())))  # type: ignore[arg-type]


def _unsigned(lw: Lowering, value: Value, term: Expr, others: list[Expr], span: Span) -> Value:
    to = Type("int", term.type.bits, not term.type.signed)
    return Scalar(ScalarTy(to), terms.cast(term, to))


def _signum(lw: Lowering, value: Value, term: Expr, others: list[Expr], span: Span) -> Value:
    zero = terms.int_const(0, term.type)
    below = terms.binary(Op.LT, term, zero)
    made = terms.select(terms.binary(Op.EQ, term, zero), zero, terms.int_const(1, term.type))
    return Scalar(value.ty, terms.select(below, terms.int_const(-1, term.type), made))


_TABLE: dict[str, _Handler] = {
    "signum": _signum,
    "clamp": _clamp,
    "abs_diff": _abs_diff,
    "div_ceil": _div_ceil,
    "is_power_of_two": _power_of_two,
    "rotate_left": _rotate(True),
    "rotate_right": _rotate(False),
    "reverse_bits": _simple(Op.BREV),
    "abs": _simple(Op.ABS),
    "wrapping_abs": _simple(Op.ABS),
    "wrapping_neg": _simple(Op.NEG),
    "neg": _simple(Op.NEG),
    "not": _simple(Op.NOT),
    "is_multiple_of": _is_multiple_of,
    "to_ne_bytes": _bytes("le"),
    "to_le_bytes": _bytes("le"),
    "to_be_bytes": _bytes("be"),
    "checked_neg": _checked_neg,
    "cmp": _cmp,
    "cast_signed": _unsigned,
    "cast_unsigned": _unsigned,
}
