"""Functions of values only: integers exactly where the IR can say it, the rest opaque."""

from __future__ import annotations

import re
from collections.abc import Callable

from gpusafe.ir.expr import BOOL, I32, I64, TRUE, U32, U64, Const, Expr, Op, Opaque, Type
from gpusafe.parse.cuda import terms
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.builtin.site import CallSite
from gpusafe.parse.cuda.context import Context, Unsupported
from gpusafe.parse.cuda.convert import convert, expression
from gpusafe.parse.cuda.operators import GRANTED
from gpusafe.parse.cuda.places import dereference, write
from gpusafe.parse.cuda.values import AddressOf, Aggregate, NoValue, Operand, Term, UnknownValue, Value

Builtin = Callable[[Context, CallSite], Operand]


def _extreme(op: Op) -> Builtin:
    """``min`` and ``max`` after the usual conversions."""

    def handler(x: Context, site: CallSite) -> Operand:
        values = site.values(x)
        if any(isinstance(v, Aggregate) for v in values):
            return by_component(x, site, values, lambda parts: _fold(x, op, parts, site))
        kinds = [v.type for v in values]
        found = _fold(x, op, values, site)
        if all(isinstance(k, t.Scalar) and k == kinds[0] for k in kinds):
            return convert(x, found, kinds[0], site.span)  # `std::min<T>` keeps its type
        return found

    return handler


def _fold(x: Context, op: Op, values: tuple[Value, ...], site: CallSite) -> Value:
    found = values[0]
    for value in values[1:]:
        found = _pair(x, op, found, value, site)
    return found


def by_component(
    x: Context, site: CallSite, values: tuple[Value, ...], each: Callable[[tuple[Value, ...]], Value]
) -> Value:
    """A function of numbers on vectors, as NVIDIA's helper_math.h has it: component by component, numbers repeated."""
    kind = next(v.type for v in values if isinstance(v, Aggregate))
    fits = all(t.same(v.type, kind) or (isinstance(v, Term) and isinstance(v.type, t.Scalar)) for v in values)
    if not kind.vector or not fits:
        raise Unsupported(f"the call of `{site.last}` on a `{t.show(kind)}`")
    x.grant(GRANTED)
    made: list[Value] = []
    for index, field in enumerate(kind.fields):
        parts = tuple(v.fields[index] if isinstance(v, Aggregate) else v for v in values)
        made.append(convert(x, each(parts), field.type, site.span))
    return Aggregate(kind, tuple(made))


def _clamp(x: Context, site: CallSite) -> Operand:
    """``clamp(v, low, high)`` of helper_math.h, ``std::clamp``."""
    values = site.values(x)
    if len(values) != 3:
        raise Unsupported(f"`{site.last}` with {len(values)} arguments")

    def each(parts: tuple[Value, ...]) -> Value:
        value, low, high = parts
        return _pair(x, Op.MAX, low, _pair(x, Op.MIN, value, high, site), site)

    if any(isinstance(v, Aggregate) for v in values):
        return by_component(x, site, values, each)
    if site.name == site.last:
        x.grant(GRANTED)
    return convert(x, each(values), values[0].type, site.span)


def _pair(x: Context, op: Op, a: Value, b: Value, site: CallSite) -> Value:
    first, second = expression(x, a), expression(x, b)
    common = t.usual(first.type, second.type)
    kind = a.type if isinstance(a.type, t.Scalar) and a.type.type == common else t.Scalar(common)
    return Term(kind, terms.binary(op, terms.cast(first, common), terms.cast(second, common)))


def _absolute(x: Context, site: CallSite) -> Operand:
    value = site.value(x, 0)
    if isinstance(value, Aggregate):
        return by_component(x, site, (value,), lambda parts: _magnitude(x, parts[0]))
    return _magnitude(x, value)


def _magnitude(x: Context, value: Value) -> Value:
    expr = expression(x, value)
    if expr.type.kind == "float":
        return Term(value.type, terms.unary(Op.ABS, expr))
    wide = t.promoted(expr.type)
    return Term(t.Scalar(wide), terms.unary(Op.ABS, terms.cast(expr, wide)))


def _bits(op: Op, type_: Type) -> Builtin:
    """``__popc``, ``__clz``, ``__brev``: the first two give an ``int``."""

    def handler(x: Context, site: CallSite) -> Operand:
        found = terms.unary(op, site.term(x, 0, t.Scalar(type_)))
        result = type_ if op is Op.BREV else I32
        return Term(t.Scalar(result), terms.cast(found, result))

    return handler


def _find_first(type_: Type) -> Builtin:
    """``__ffs``: one more than the index of the lowest bit, 0 when there is none."""

    def handler(x: Context, site: CallSite) -> Operand:
        value = site.term(x, 0, t.Scalar(type_))
        trailing = terms.cast(terms.unary(Op.CTZ, value), I32)
        none = terms.binary(Op.EQ, value, Const(type_, 0))
        one_more = terms.binary(Op.ADD, trailing, Const(I32, 1))
        return Term(t.INT, terms.select(none, Const(I32, 0), one_more))

    return handler


def _multiply(signed: bool) -> Builtin:
    """``__mul24`` is exact only for 24-bit operands; ``__umul24`` likewise."""

    def handler(x: Context, site: CallSite) -> Operand:
        kind = t.INT if signed else t.UINT
        a, b = site.term(x, 0, kind), site.term(x, 1, kind)
        low, high = (-(1 << 23), (1 << 23) - 1) if signed else (0, (1 << 24) - 1)
        fits: Expr = TRUE
        for value in (a, b):
            if signed:
                fits = terms.binary(Op.LAND, fits, terms.binary(Op.GE, value, Const(kind.type, low)))
            fits = terms.binary(Op.LAND, fits, terms.binary(Op.LE, value, Const(kind.type, high)))
        exact = terms.binary(Op.MUL, a, b)
        return Term(kind, terms.select(fits, exact, Opaque(kind.type, site.last, (a, b))))

    return handler


def _opaque(result: t.Scalar | None) -> Builtin:
    """A function whose value is not modelled; ``result`` None: the type of the (widest) argument."""

    def handler(x: Context, site: CallSite) -> Operand:
        values = site.values(x)
        return opaque_call(site.last, values, result)

    return handler


def opaque_call(name: str, values: tuple[Value, ...], result: t.CType | None) -> Value:
    """``name(values)`` as an opaque term of its arguments."""
    parts: list[Expr] = []
    for value in values:
        parts.extend(_scalars(value))
    if result is None:
        result = _widest(values)
    if isinstance(result, t.Struct):
        fields = tuple(
            Term(f.type, Opaque(f.type.type, f"{name} {f.name}", tuple(parts)))
            for f in result.fields
            if isinstance(f.type, t.Scalar)
        )
        return Aggregate(result, fields)
    if not isinstance(result, t.Scalar):
        return UnknownValue(t.Auto(), f"the result of `{name}`")
    return Term(result, Opaque(result.type, name, tuple(parts)))


def _scalars(value: Value) -> list[Expr]:
    match value:
        case Term(expr=expr):
            return [expr]
        case Aggregate(fields=fields):
            return [e for f in fields for e in _scalars(f)]
        case UnknownValue(reason=reason):
            raise Unsupported(reason)
        case _:
            raise Unsupported(f"a `{t.show(value.type)}` as an argument")


def _widest(values: tuple[Value, ...]) -> t.CType:
    structs = [v.type for v in values if isinstance(v.type, t.Struct)]
    if structs:
        return structs[0]
    scalars = [v.type for v in values if isinstance(v.type, t.Scalar)]
    floats = [k for k in scalars if k.type.kind == "float"]
    if floats:
        return t.plain(max(floats, key=lambda k: k.type.bits))
    return t.DOUBLE


def _predicate(x: Context, site: CallSite) -> Operand:
    values = site.values(x)
    parts = tuple(e for v in values for e in _scalars(v))
    return Term(t.BOOL, Opaque(BOOL, site.last, parts))


def _splits(names: int) -> Builtin:
    """``sincosf(x, &s, &c)``, ``modff``, ``frexpf``: results through pointers to local variables."""

    def handler(x: Context, site: CallSite) -> Operand:
        count = len(site.args)
        value = site.value(x, 0)
        parts = tuple(_scalars(value))
        for index in range(count - names, count):
            pointer = site.value(x, index)
            place = dereference(x, pointer, site.span, site.last)
            kind = place.type
            if isinstance(pointer, AddressOf) or isinstance(kind, t.Scalar):
                assert isinstance(kind, t.Scalar)
                write(x, place, Term(kind, Opaque(kind.type, f"{site.last} {index}", parts)), site.span)
        if site.last.startswith("sincos"):
            return NoValue(t.VOID)
        kind = value.type
        return opaque_call(site.last, (value,), kind if isinstance(kind, t.Scalar) else t.DOUBLE)

    return handler


def _high_product(type_: Type, wide: Type) -> Builtin:
    """``__mulhi``, ``__umulhi``: the upper half of the product."""

    def handler(x: Context, site: CallSite) -> Operand:
        a = terms.cast(site.term(x, 0, t.Scalar(type_)), wide)
        b = terms.cast(site.term(x, 1, t.Scalar(type_)), wide)
        product = terms.binary(Op.MUL, a, b)
        return Term(t.Scalar(type_), terms.cast(terms.binary(Op.SHR, product, Const(U32, type_.bits)), type_))

    return handler


_FLOAT_NAMES = [
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "sinpi",
    "cospi",
    "exp",
    "exp2",
    "exp10",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sqrt",
    "rsqrt",
    "cbrt",
    "rcbrt",
    "floor",
    "ceil",
    "trunc",
    "round",
    "rint",
    "nearbyint",
    "erf",
    "erfc",
    "erfinv",
    "erfcinv",
    "erfcx",
    "normcdf",
    "normcdfinv",
    "tgamma",
    "lgamma",
    "j0",
    "j1",
    "y0",
    "y1",
    "pow",
    "powi",
    "fmod",
    "remainder",
    "hypot",
    "rhypot",
    "atan2",
    "copysign",
    "fdim",
    "nextafter",
    "fma",
    "ldexp",
    "scalbn",
    "logb",
    "fdivide",
    "saturate",
    "norm3d",
    "rnorm3d",
    "norm4d",
    "cyl_bessel_i0",
    "cyl_bessel_i1",
]
_SPECIAL_FLOATS = [
    "__expf",
    "__exp10f",
    "__logf",
    "__log2f",
    "__log10f",
    "__sinf",
    "__cosf",
    "__tanf",
    "__powf",
    "__fdividef",
    "__saturatef",
    "__frcp_rn",
    "__fsqrt_rn",
    "__frsqrt_rn",
]
_INTEGERS_FROM_FLOAT = {
    "lrint": t.LONG,
    "lround": t.LONG,
    "llrint": t.LONG,
    "llround": t.LONG,
    "ilogb": t.INT,
}
_PREDICATES = [
    "isnan",
    "isinf",
    "isfinite",
    "signbit",
    "isnormal",
    "__isnan",
    "__isinf",
    "__hisnan",
    "__hisinf",
    "__finite",
    "isgreater",
    "isless",
    "__hgt",
    "__hge",
    "__hlt",
    "__hle",
    "__heq",
    "__hne",
    "__hltu",
    "__hgtu",
    "__hbeq2",
    "__hbgt2",
    "__hbge2",
    "__hblt2",
    "__hble2",
    "__hbne2",
]
_CONVERSIONS: dict[str, t.Scalar] = {
    "half": t.HALF,
    "bfloat16": t.BFLOAT,
    "float": t.FLOAT,
    "double": t.DOUBLE,
    "int": t.INT,
    "uint": t.UINT,
    "ll": t.LONG,
    "ull": t.ULONG,
    "short": t.Scalar(Type("int", 16, True)),
    "ushort": t.Scalar(Type("int", 16)),
    "char": t.Scalar(Type("int", 8, True)),
    "uchar": t.Scalar(Type("int", 8)),
    "longlong": t.LONG,
}

MATHS: dict[str, Builtin] = {
    **{name: _opaque(None) for name in _FLOAT_NAMES},
    **{f"{name}f": _opaque(t.FLOAT) for name in _FLOAT_NAMES},
    **{name: _opaque(t.FLOAT) for name in _SPECIAL_FLOATS},
    **dict.fromkeys(_PREDICATES, _predicate),
    **{name: _opaque(kind) for base, kind in _INTEGERS_FROM_FLOAT.items() for name in (base, f"{base}f")},
    **{name: _extreme(Op.MIN) for name in ("min", "umin", "llmin", "ullmin", "fmin", "fminf", "__hmin", "__hmin_nan")},
    **{name: _extreme(Op.MAX) for name in ("max", "umax", "llmax", "ullmax", "fmax", "fmaxf", "__hmax", "__hmax_nan")},
    **dict.fromkeys(("abs", "labs", "llabs", "fabs", "fabsf", "__habs"), _absolute),
    "clamp": _clamp,
    "__popc": _bits(Op.POPC, U32),
    "__popcll": _bits(Op.POPC, U64),
    "__clz": _bits(Op.CLZ, U32),
    "__clzll": _bits(Op.CLZ, U64),
    "__brev": _bits(Op.BREV, U32),
    "__brevll": _bits(Op.BREV, U64),
    "__ffs": _find_first(U32),
    "__ffsll": _find_first(U64),
    "__mul24": _multiply(True),
    "__umul24": _multiply(False),
    "__mulhi": _high_product(I32, I64),
    "__umulhi": _high_product(U32, U64),
    "__umul64hi": _opaque(t.ULONG),
    "__mul64hi": _opaque(t.LONG),
    "__float_as_int": _opaque(t.INT),
    "__float_as_uint": _opaque(t.UINT),
    "__int_as_float": _opaque(t.FLOAT),
    "__uint_as_float": _opaque(t.FLOAT),
    "__double_as_longlong": _opaque(t.LONG),
    "__longlong_as_double": _opaque(t.DOUBLE),
    "__hiloint2double": _opaque(t.DOUBLE),
    "__double2hiint": _opaque(t.INT),
    "__double2loint": _opaque(t.INT),
    "__half_as_short": _opaque(_CONVERSIONS["short"]),
    "__half_as_ushort": _opaque(_CONVERSIONS["ushort"]),
    "__short_as_half": _opaque(t.HALF),
    "__ushort_as_half": _opaque(t.HALF),
    "__bfloat16_as_ushort": _opaque(_CONVERSIONS["ushort"]),
    "__bfloat16_as_short": _opaque(_CONVERSIONS["short"]),
    "__ushort_as_bfloat16": _opaque(t.BFLOAT),
    "__byte_perm": _opaque(t.UINT),
    "__funnelshift_l": _opaque(t.UINT),
    "__funnelshift_r": _opaque(t.UINT),
    "__funnelshift_lc": _opaque(t.UINT),
    "__funnelshift_rc": _opaque(t.UINT),
    "__dp4a": _opaque(t.INT),
    "__dp2a_lo": _opaque(t.INT),
    "__dp2a_hi": _opaque(t.INT),
    "__sad": _opaque(t.UINT),
    "__usad": _opaque(t.UINT),
    "__hadd": _opaque(None),
    "__rhadd": _opaque(t.INT),
    "__fns": _opaque(t.UINT),
    "sincos": _splits(2),
    "sincosf": _splits(2),
    "__sincosf": _splits(2),
    "sincospi": _splits(2),
    "sincospif": _splits(2),
    "modf": _splits(1),
    "modff": _splits(1),
    "frexp": _splits(1),
    "frexpf": _splits(1),
}

_CONVERSION = re.compile(
    r"__(half|bfloat16|float|double|int|uint|ll|ull|short|ushort|char|uchar|longlong)2"
    r"(half|bfloat16|float|double|int|uint|ll|ull|short|ushort|char|uchar|longlong)(?:_(?:r[nzud]|sat))*\Z"
)
_HALF = re.compile(
    r"__h(?:add|sub|mul|div|fma|neg|abs|max|min|max_nan|min_nan|fma_relu|mul_rn|add_rn|sub_rn)(?:2)?(?:_sat|_rn)?\Z"
    r"|h(?:exp|exp2|exp10|log|log2|log10|sin|cos|sqrt|rsqrt|rcp|tanh|floor|ceil|trunc|rint)\Z"
    r"|h2(?:exp|exp2|exp10|log|log2|log10|sin|cos|sqrt|rsqrt|rcp|tanh|floor|ceil|trunc|rint)\Z"
)
_ROUNDED = re.compile(r"__(f|d)(add|sub|mul|div|maf|ma|rcp|sqrt|rsqrt)_r[nzud]\Z")
_SIMD = re.compile(r"__v[a-z]+[24]\Z")


def math_by_pattern(name: str) -> Builtin | None:
    """Families of intrinsics that follow a naming scheme."""
    found = _CONVERSION.match(name)
    if found is not None:
        return _conversion(_CONVERSIONS[found.group(2)])
    if _HALF.match(name):
        return _opaque(None)
    rounded = _ROUNDED.match(name)
    if rounded is not None:
        return _opaque(t.FLOAT if rounded.group(1) == "f" else t.DOUBLE)
    return _opaque(t.UINT) if _SIMD.match(name) else None


def _conversion(kind: t.Scalar) -> Builtin:
    """``__float2half`` and kin: an ordinary conversion (the rounding of floats is opaque anyway)."""

    def handler(x: Context, site: CallSite) -> Operand:
        return convert(x, site.value(x, 0), kind, site.span)

    return handler
