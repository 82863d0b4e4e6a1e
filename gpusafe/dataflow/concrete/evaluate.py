"""Expressions of the kernel IR as Python functions of a thread's environment."""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable
from typing import Any

from gpusafe.dataflow.arith import clip, fold
from gpusafe.dataflow.concrete.floats import SAME_BITS, function, reinterpret
from gpusafe.ir import expr as ir
from gpusafe.ir.expr import Op, Type

Env = dict[str, Any]
Fn = Callable[[Env], Any]


class Unknowable(Exception):
    """A value that the interpreter does not know decides a branch or an address."""


class Unknown:
    """A value that is not known; everything computed from it is not known either."""

    def _same(self, *_: object) -> Unknown:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __and__ = __rand__ = __or__ = __ror__ = _same
    __xor__ = __rxor__ = __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = __neg__ = __invert__ = _same
    __lt__ = __le__ = __gt__ = __ge__ = __getitem__ = __truediv__ = __rtruediv__ = __mod__ = __rmod__ = _same

    def __eq__(self, other: object) -> Any:
        return self

    def __ne__(self, other: object) -> Any:
        return self

    def __hash__(self) -> int:
        return 0

    def __bool__(self) -> bool:
        raise Unknowable("a value that is not known decides a branch")


UNKNOWN: Any = Unknown()
COMPARISONS: dict[Op, Callable[[Any, Any], Any]] = {
    Op.EQ: operator.eq,
    Op.NE: operator.ne,
    Op.LT: operator.lt,
    Op.LE: operator.le,
    Op.GT: operator.gt,
    Op.GE: operator.ge,
}
FLOATS: dict[Op, Callable[[Any, Any], Any]] = {
    Op.ADD: operator.add, Op.SUB: operator.sub, Op.MUL: operator.mul,
    Op.DIV: lambda a, b: a / b if b else UNKNOWN, Op.MIN: min, Op.MAX: max,
}  # fmt: skip


def compile_expr(expr: ir.Expr) -> Fn:
    """A function that computes an expression. Depth is bounded by the depth of the source, which callers limit."""
    match expr:
        case ir.Const(value=value):
            return lambda env: value
        case ir.Var(name=name):
            return lambda env: env.get(name, UNKNOWN)
        case ir.Param(name=name, type=t):
            key = f"param {name}"
            return lambda env: _typed(env.get(key, UNKNOWN), t)
        case ir.Length(region=region):
            key = f"length {region}"
            return lambda env: env.get(key, UNKNOWN)
        case ir.Special(name=name):
            return lambda env: env.get(f"%{name}", UNKNOWN)
        case ir.Select(cond=c, a=a, b=b):
            fc, fa, fb = compile_expr(c), compile_expr(a), compile_expr(b)
            return lambda env: _select(fc(env), fa, fb, env)
        case ir.Cast(type=t, a=a):
            return _cast(t, a.type, compile_expr(a))
        case ir.Unary(op=op, a=a):
            return _unary(op, a.type, compile_expr(a))
        case ir.Binary(op=op, a=a, b=b):
            return _binary(op, a.type, compile_expr(a), compile_expr(b))
        case ir.PtrBase(region=region):
            return lambda env: (region, 0)
        case ir.PtrAdd(ptr=p, offset=o):
            return _moved(compile_expr(p), compile_expr(o))
        case ir.Opaque(name="mapa", args=(p, rank)):
            return _peer(compile_expr(p), compile_expr(rank))
        case ir.Opaque(name=name, args=args) if (known := function(name)) is not None:
            return _function(known, [compile_expr(a) for a in args])
        case ir.Opaque(name=name, args=(a,), type=t) if name in SAME_BITS:
            return _same_bits(a.type, t, compile_expr(a))
        case ir.Opaque(name=name, args=(a,), type=t) if name.startswith("int_to_f") or name.endswith("_to_int"):
            return _cast(t, a.type, compile_expr(a))
    return lambda env: UNKNOWN


def _function(compute: Callable[..., Any], args: list[Fn]) -> Fn:
    def call(env: Env) -> Any:
        values = [a(env) for a in args]
        if any(v is UNKNOWN for v in values):
            return UNKNOWN
        try:
            return compute(*values)
        except (ArithmeticError, ValueError, TypeError):
            return UNKNOWN

    return call


def _same_bits(was: Type, to: Type, a: Fn) -> Fn:
    def read(env: Env) -> Any:
        value = a(env)
        if value is UNKNOWN:
            return UNKNOWN
        try:
            return reinterpret(value, was, to)
        except (struct.error, KeyError, OverflowError, TypeError):
            return UNKNOWN

    return read


def _typed(value: Any, type_: Type) -> Any:
    return clip(value, type_) if type_.kind == "int" and isinstance(value, int) else value


def _select(cond: Any, a: Fn, b: Fn, env: Env) -> Any:
    if cond is UNKNOWN:
        left, right = a(env), b(env)
        return left if left is right else UNKNOWN
    return a(env) if cond else b(env)


def _moved(ptr: Fn, offset: Fn) -> Fn:
    def move(env: Env) -> Any:
        base, by = ptr(env), offset(env)
        if base is UNKNOWN or by is UNKNOWN:
            return UNKNOWN
        if by >= 1 << 63:
            by -= 1 << 64
        return base[0], base[1] + by

    return move


def _peer(ptr: Fn, rank: Fn) -> Fn:
    """The same place in the shared memory of another block of the cluster: the region's name and the block's rank."""

    def move(env: Env) -> Any:
        base, block = ptr(env), rank(env)
        if base is UNKNOWN or block is UNKNOWN or not isinstance(base[0], str):
            return UNKNOWN
        return (base[0], block), base[1]

    return move


def _cast(to: Type, source: Type, fn: Fn) -> Fn:
    if to.kind == "int" and source.kind in ("int", "bool"):
        return lambda env: _wrapped(fn(env), to)
    if to.kind == "bool":
        return lambda env: fn(env) != 0
    if to.kind == "float":
        return lambda env: _float(fn(env))
    if to.kind == "int" and source.kind == "float":
        return lambda env: _truncated(fn(env), to)
    return lambda env: UNKNOWN


def _wrapped(value: Any, to: Type) -> Any:
    return value if value is UNKNOWN else clip(int(value), to)


def _float(value: Any) -> Any:
    return value if value is UNKNOWN else float(value)


def _truncated(value: Any, to: Type) -> Any:
    if value is UNKNOWN or value != value:
        return UNKNOWN
    return int(max(float(to.low), min(float(to.high), value)))


def _unary(op: Op, type_: Type, fn: Fn) -> Fn:
    if op is Op.NOT and type_.kind == "bool":
        return lambda env: _not(fn(env))
    if type_.kind == "float":
        return {Op.NEG: lambda env: -fn(env), Op.ABS: lambda env: _abs(fn(env))}.get(op, lambda env: UNKNOWN)
    sign = "~" if op is Op.NOT else op.value

    def apply(env: Env) -> Any:
        value = fn(env)
        return value if value is UNKNOWN else fold(sign, (value,), type_)

    return apply


def _not(value: Any) -> Any:
    return value if value is UNKNOWN else not value


def _abs(value: Any) -> Any:
    return value if value is UNKNOWN else abs(value)


def _binary(op: Op, type_: Type, fa: Fn, fb: Fn) -> Fn:
    if op is Op.LAND:
        return lambda env: _both(fa(env), fb, env)
    if op is Op.LOR:
        return lambda env: _either(fa(env), fb, env)
    if op in COMPARISONS:
        compare = COMPARISONS[op]
        return lambda env: compare(fa(env), fb(env))
    if type_.kind == "float":
        apply = FLOATS.get(op)
        return (lambda env: _on_floats(apply, fa(env), fb(env))) if apply else (lambda env: UNKNOWN)
    if type_.kind == "bool":
        logic = {Op.AND: operator.and_, Op.OR: operator.or_, Op.XOR: operator.xor}[op]
        return lambda env: logic(fa(env), fb(env))
    if type_.kind != "int":
        return lambda env: UNKNOWN
    mask = (1 << type_.bits) - 1
    if not type_.signed and op in (Op.ADD, Op.SUB, Op.MUL):
        plain = {Op.ADD: operator.add, Op.SUB: operator.sub, Op.MUL: operator.mul}[op]
        return lambda env: plain(fa(env), fb(env)) & mask
    sign = op.value

    def integers(env: Env) -> Any:
        a, b = fa(env), fb(env)
        return UNKNOWN if a is UNKNOWN or b is UNKNOWN else fold(sign, (a, b), type_)

    return integers


def _on_floats(apply: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    return UNKNOWN if a is UNKNOWN or b is UNKNOWN else apply(a, b)


def _both(a: Any, fb: Fn, env: Env) -> Any:
    if a is UNKNOWN:
        return False if fb(env) is False else UNKNOWN
    return fb(env) if a else False


def _either(a: Any, fb: Fn, env: Env) -> Any:
    if a is UNKNOWN:
        return True if fb(env) is True else UNKNOWN
    return True if a else fb(env)
