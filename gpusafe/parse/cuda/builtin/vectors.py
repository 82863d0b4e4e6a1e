"""``make_float4`` and kin, half vectors."""

from __future__ import annotations

from collections.abc import Callable

from gpusafe.ir.expr import Const
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.builtin.site import CallSite
from gpusafe.parse.cuda.context import Context, Unsupported
from gpusafe.parse.cuda.convert import convert
from gpusafe.parse.cuda.operators import GRANTED
from gpusafe.parse.cuda.values import Aggregate, Operand, Term, Value
from gpusafe.span import Span

Builtin = Callable[[Context, CallSite], Operand]
_BASES = [
    "char",
    "uchar",
    "short",
    "ushort",
    "int",
    "uint",
    "long",
    "ulong",
    "longlong",
    "ulonglong",
    "float",
    "double",
]


def _make(kind: t.Struct) -> Builtin:
    def handler(x: Context, site: CallSite) -> Operand:
        if len(site.args) != len(kind.fields):
            return _remade(x, site, kind)
        parts = tuple(site.value(x, i, f.type) for i, f in enumerate(kind.fields))
        return Aggregate(kind, parts)

    return handler


def _remade(x: Context, site: CallSite, kind: t.Struct) -> Operand:
    """``make_float3(s)``, ``make_float4(v3, w)``, ``make_float3(v4)`` of NVIDIA's helper_math.h."""
    parts: list[Value] = []
    for value in site.values(x):
        parts += value.fields if isinstance(value, Aggregate) and value.type.vector else (value,)
    wanted = len(kind.fields)
    if len(site.args) == 1 and len(parts) == 1:
        parts *= wanted
    elif len(site.args) == 1 and len(parts) == wanted - 1:
        parts.append(Term(t.INT, Const(t.INT.type, 0)))
    elif len(site.args) == 1:
        parts = parts[:wanted]
    if len(parts) != wanted or wanted == 1:
        raise Unsupported(f"`{site.last}` with {len(site.args)} arguments")
    x.grant(GRANTED)
    return Aggregate(kind, tuple(convert(x, p, f.type, site.span) for p, f in zip(parts, kind.fields, strict=True)))


def _all_makers() -> dict[str, Builtin]:
    out: dict[str, Builtin] = {}
    for base in _BASES:
        for count in (1, 2, 3, 4):
            kind = t.vector_of(base, count)
            assert kind is not None
            out[f"make_{base}{count}"] = _make(kind)
    return out


def _pair(name: str, copies: bool, element: t.Scalar) -> Builtin:
    """``__floats2half2_rn(a, b)``, ``__half2half2(a)``."""
    kind = t.builtin_type(name)
    assert isinstance(kind, t.Struct)

    def handler(x: Context, site: CallSite) -> Operand:
        first = site.value(x, 0, element)
        second = first if copies else site.value(x, 1, element)
        return Aggregate(kind, (first, second))

    return handler


def _part(index: int, element: t.Scalar) -> Builtin:
    """``__low2float(v)``."""

    def handler(x: Context, site: CallSite) -> Operand:
        value = site.value(x, 0)
        if not isinstance(value, Aggregate):
            raise Unsupported(f"`{site.last}`")
        return convert(x, value.fields[index], element, site.span)

    return handler


def _spread(x: Context, site: CallSite) -> Operand:
    """``__half22float2(v)``."""
    value = site.value(x, 0)
    kind = t.builtin_type("float2")
    if not isinstance(value, Aggregate) or not isinstance(kind, t.Struct):
        raise Unsupported(f"`{site.last}`")
    return Aggregate(kind, tuple(convert(x, f, t.FLOAT, site.span) for f in value.fields))


def _narrow(name: str, element: t.Scalar) -> Builtin:
    kind = t.builtin_type(name)
    assert isinstance(kind, t.Struct)

    def handler(x: Context, site: CallSite) -> Operand:
        value = site.value(x, 0)
        if not isinstance(value, Aggregate):
            raise Unsupported(f"`{site.last}`")
        return Aggregate(kind, tuple(convert(x, f, element, site.span) for f in value.fields))

    return handler


def vector_method(x: Context, base: Operand, name: str, args: tuple[Operand, ...], span: Span) -> Value | None:
    """Methods of built-in vectors: there are none that matter."""
    return None


VECTORS: dict[str, Builtin] = {
    **_all_makers(),
    "make_half2": _pair("half2", False, t.HALF),
    "make_bfloat162": _pair("nv_bfloat162", False, t.BFLOAT),
    "__floats2half2_rn": _pair("half2", False, t.HALF),
    "__halves2half2": _pair("half2", False, t.HALF),
    "__half2half2": _pair("half2", True, t.HALF),
    "__float2half2_rn": _pair("half2", True, t.HALF),
    "__floats2bfloat162_rn": _pair("nv_bfloat162", False, t.BFLOAT),
    "__halves2bfloat162": _pair("nv_bfloat162", False, t.BFLOAT),
    "__bfloat162bfloat162": _pair("nv_bfloat162", True, t.BFLOAT),
    "__float2bfloat162_rn": _pair("nv_bfloat162", True, t.BFLOAT),
    "__low2float": _part(0, t.FLOAT),
    "__high2float": _part(1, t.FLOAT),
    "__low2half": _part(0, t.HALF),
    "__high2half": _part(1, t.HALF),
    "__low2bfloat16": _part(0, t.BFLOAT),
    "__high2bfloat16": _part(1, t.BFLOAT),
    "__half22float2": _spread,
    "__bfloat1622float2": _spread,
    "__float22half2_rn": _narrow("half2", t.HALF),
    "__float22bfloat162_rn": _narrow("nv_bfloat162", t.BFLOAT),
}
