"""The pure functions on vectors of NVIDIA's sample headers (helper_math.h, cutil_math.h), where no definition is in
sight; that they are those is granted, and listed with the proof."""

from __future__ import annotations

from collections.abc import Callable

from gpusafe.ir.expr import F32, Expr, Opaque
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.builtin.site import CallSite
from gpusafe.parse.cuda.context import Context, Unsupported
from gpusafe.parse.cuda.convert import expression
from gpusafe.parse.cuda.operators import GRANTED
from gpusafe.parse.cuda.values import Aggregate, Operand, Term, UnknownValue, Value

Builtin = Callable[[Context, CallSite], Operand]


def _checked(x: Context, site: CallSite, count: int) -> tuple[Value, ...]:
    """The arguments: numbers and built-in vectors of numbers, nothing through which memory could be reached."""
    values = site.values(x)
    if len(values) != count or not all(_plain(v) for v in values):
        raise Unsupported(f"the call of `{site.last}`, which is not in this file")
    x.grant(GRANTED)
    return values


def _plain(value: Value) -> bool:
    return isinstance(value.type, t.Scalar) or (isinstance(value.type, t.Struct) and value.type.vector)


def _scalar(count: int) -> Builtin:
    """``dot``, ``length``: one number."""

    def handler(x: Context, site: CallSite) -> Operand:
        values = _checked(x, site, count)
        kind = values[0].type
        if not isinstance(kind, t.Struct):
            raise Unsupported(f"the call of `{site.last}`, which is not in this file")
        element = kind.fields[0].type
        assert isinstance(element, t.Scalar)
        parts = tuple(expression(x, part) for v in values for part in _parts(v))
        return Term(element, Opaque(element.type, site.last, parts))

    return handler


def _parts(value: Value) -> tuple[Value, ...]:
    if isinstance(value, UnknownValue):
        raise Unsupported(value.reason)
    return value.fields if isinstance(value, Aggregate) else (value,)


def _vector(count: int) -> Builtin:
    """``normalize``, ``lerp``, ``clamp``: a value of the first argument's type."""

    def handler(x: Context, site: CallSite) -> Operand:
        values = _checked(x, site, count)
        kind = values[0].type
        parts = tuple(expression(x, part) for v in values for part in _parts(v))
        if isinstance(kind, t.Struct):
            made = tuple(_component(site.last, f, parts) for f in kind.fields)
            return Aggregate(kind, made)
        if isinstance(kind, t.Scalar) and kind.type.kind == "float":
            return Term(t.plain(kind), Opaque(kind.type, site.last, parts))
        return Term(t.FLOAT, Opaque(F32, site.last, parts))

    return handler


def _component(name: str, field: t.Field, parts: tuple[Expr, ...]) -> Term:
    assert isinstance(field.type, t.Scalar)
    return Term(field.type, Opaque(field.type.type, f"{name}.{field.name}", parts))


def _sum_of_differences(x: Context, site: CallSite) -> Operand:
    """``__usad4(a, b, c)`` of the samples that sum absolute differences of bytes."""
    values = site.values(x)
    if not all(isinstance(v, Term) and isinstance(v.type, t.Scalar) for v in values):
        raise Unsupported(f"the call of `{site.last}`, which is not in this file")
    x.grant(f"`{site.last}` is a function of its arguments")
    return Term(t.UINT, Opaque(t.UINT.type, site.last, tuple(expression(x, v) for v in values)))


HELPERS: dict[str, Builtin] = {
    "dot": _scalar(2),
    "length": _scalar(1),
    "cross": _vector(2),
    "normalize": _vector(1),
    "reflect": _vector(2),
    "lerp": _vector(3),
    "lerpf": _vector(3),
    "__usad4": _sum_of_differences,
    "smoothstep": _vector(3),
    "fracf": _vector(1),
    "fracs": _vector(1),
}
