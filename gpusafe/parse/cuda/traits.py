"""Constants that the standard library computes from types: type traits and numeric limits."""

from __future__ import annotations

from collections.abc import Callable

from gpusafe.ir.expr import FALSE, TRUE, Const, Type
from gpusafe.parse.cuda import syntax as s
from gpusafe.parse.cuda import terms
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.context import Context
from gpusafe.parse.cuda.resolve import template_args
from gpusafe.parse.cuda.values import Term

_LARGEST = {16: 65504.0, 32: 3.4028234663852886e38, 64: 1.7976931348623157e308}
_SMALLEST = {16: 6.103515625e-05, 32: 1.1754943508222875e-38, 64: 2.2250738585072014e-308}
_EPSILON = {16: 0.0009765625, 32: 1.1920928955078125e-07, 64: 2.220446049250313e-16}


def _kind(kind: t.CType) -> str:
    return kind.type.kind if isinstance(kind, t.Scalar) else ""


def _signed(kind: t.CType) -> bool:
    return isinstance(kind, t.Scalar) and (kind.type.signed or kind.type.kind == "float")


_ONE: dict[str, Callable[[t.CType], bool]] = {
    "is_integral": lambda k: _kind(k) in ("int", "bool"),
    "is_floating_point": lambda k: _kind(k) == "float" and not (isinstance(k, t.Scalar) and k.name),
    "is_arithmetic": lambda k: _kind(k) in ("int", "bool", "float"),
    "is_signed": _signed,
    "is_unsigned": lambda k: isinstance(k, t.Scalar) and not _signed(k),
    "is_pointer": lambda k: isinstance(k, t.Pointer),
    "is_array": lambda k: isinstance(k, t.Array),
    "is_void": lambda k: isinstance(k, t.Void),
    "is_const": lambda k: k.const,
    "is_class": lambda k: isinstance(k, t.Struct),
    "is_trivially_copyable": lambda k: isinstance(k, (t.Scalar, t.Pointer, t.Struct)),
}


def type_trait(x: Context, name: str, args: tuple[s.TypeNode | s.Expr, ...] | None) -> Term | None:
    """The value of ``std::is_same_v<A, B>`` and kin (also as ``is_same<A, B>::value``), None when it is no trait."""
    bare = name.removesuffix("::value").rpartition("::")[2].removesuffix("_v")
    if args is None or (bare not in _ONE and bare not in ("is_same", "is_convertible")):
        return None
    kinds = [a for a in template_args(x, args) if isinstance(a, t.CType)]
    if not kinds or any(isinstance(k, (t.Unknown, t.Auto)) for k in kinds):
        return None
    if bare in _ONE:
        return Term(t.BOOL, TRUE if _ONE[bare](kinds[0]) else FALSE)
    if bare == "is_same" and len(kinds) == 2:
        a, b = kinds
        equal = t.same(a, b) and (a.const, a.volatile) == (b.const, b.volatile)
        return Term(t.BOOL, TRUE if equal else FALSE)
    return None


def numeric_limit(x: Context, member: str, args: tuple[s.TypeNode | s.Expr, ...] | None) -> Term | None:
    """``std::numeric_limits<T>::member()``; None where it is not known."""
    kinds = template_args(x, args) if args is not None else []
    kind = kinds[0] if kinds else None
    if not isinstance(kind, t.Scalar):
        return None
    value = _limit(kind.type, member)
    if value is None:
        return None
    return Term(t.plain(kind), Const(kind.type, value) if isinstance(value, float) else terms.integer(value, kind.type))


def _limit(type_: Type, member: str) -> int | float | None:
    if type_.kind == "int":
        return {"max": type_.high, "min": type_.low, "lowest": type_.low, "epsilon": 0}.get(member)
    if type_.kind != "float" or type_.bits not in _LARGEST:
        return None
    return {
        "max": _LARGEST[type_.bits],
        "lowest": -_LARGEST[type_.bits],
        "min": _SMALLEST[type_.bits],
        "epsilon": _EPSILON[type_.bits],
        "infinity": float("inf"),
        "quiet_NaN": float("nan"),
    }.get(member)
