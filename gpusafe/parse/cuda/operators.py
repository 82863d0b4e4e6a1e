"""Arithmetic, comparison and pointer operators with C's conversions."""

from __future__ import annotations

from gpusafe.ir.expr import BOOL, COMPARISONS, I64, PTR, Binary, Expr, Op, Opaque, PtrAdd, PtrUnknown
from gpusafe.parse.cuda import terms
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.context import Context, Unsupported
from gpusafe.parse.cuda.convert import convert, expression
from gpusafe.parse.cuda.places import moved, truth
from gpusafe.parse.cuda.render import Label, shown
from gpusafe.parse.cuda.values import AddressOf, Aggregate, Term, UnknownValue, Value
from gpusafe.span import Span

BINARY: dict[str, Op] = {
    "+": Op.ADD,
    "-": Op.SUB,
    "*": Op.MUL,
    "/": Op.DIV,
    "%": Op.REM,
    "&": Op.AND,
    "|": Op.OR,
    "^": Op.XOR,
    "<<": Op.SHL,
    ">>": Op.SHR,
    "==": Op.EQ,
    "!=": Op.NE,
    "<": Op.LT,
    "<=": Op.LE,
    ">": Op.GT,
    ">=": Op.GE,
}
ALTERNATIVE_SPELLINGS = {"and": "&&", "or": "||", "bitand": "&", "bitor": "|", "xor": "^", "not_eq": "!="}
_HELPER_OPERATORS = frozenset("+-*/")
GRANTED = "the functions and operators on vectors that are not in sight are those of NVIDIA's helper_math.h"
_SHIFTS = frozenset({Op.SHL, Op.SHR})


def apply(x: Context, op: str, a: Value, b: Value, span: Span, name: Label) -> Value:
    """``a op b`` on built-in types (``&&`` and ``||`` are not operators in this sense)."""
    kind = BINARY.get(op)
    if kind is None:
        raise Unsupported(f"the operator `{op}`")
    if isinstance(a, UnknownValue) or isinstance(b, UnknownValue):
        unknown = a if isinstance(a, UnknownValue) else b
        assert isinstance(unknown, UnknownValue)
        return UnknownValue(t.BOOL if kind in COMPARISONS else unknown.type, unknown.reason)
    if _is_pointer(a) or _is_pointer(b):
        return _pointers(x, kind, a, b, span, name)
    if isinstance(a, Aggregate) or isinstance(b, Aggregate):
        return _vectors(x, op, a, b, span, name)
    return arithmetic(kind, expression(x, a), expression(x, b), a.type, b.type)


def arithmetic(op: Op, a: Expr, b: Expr, a_type: t.CType, b_type: t.CType) -> Term:
    """``a op b`` on scalars after the usual conversions."""
    if op in _SHIFTS:
        kind = t.Scalar(t.promoted(a.type))
        left = terms.cast(a, kind.type)
        return Term(kind, terms.binary(op, left, terms.cast(b, t.promoted(b.type))))
    common = t.usual(a.type, b.type)
    if common.kind == "float" and common.bits == 16:
        named = a_type if isinstance(a_type, t.Scalar) and a_type.type == common else b_type
        kind = named if isinstance(named, t.Scalar) else t.HALF
    else:
        kind = t.Scalar(common)
    made = terms.binary(op, terms.cast(a, common), terms.cast(b, common))
    return Term(t.BOOL if op in COMPARISONS else t.Scalar(kind.type, kind.name), made)


def _is_pointer(value: Value) -> bool:
    return isinstance(value, AddressOf) or (isinstance(value, Term) and isinstance(value.type, (t.Pointer, t.Array)))


def _pointers(x: Context, op: Op, a: Value, b: Value, span: Span, name: Label) -> Value:
    a, b = decayed(a), decayed(b)
    if op in (Op.ADD, Op.SUB) and _is_pointer(a) != _is_pointer(b):
        base, other = (a, b) if _is_pointer(a) else (b, a)
        index = expression(x, other)
        if op is Op.SUB:
            wide = terms.cast(index, I64)
            index = terms.unary(Op.NEG, wide)
        return moved(x, base, index, span, name)
    if op in COMPARISONS:
        return Term(t.BOOL, _compare(x, op, a, b, span))
    if op is Op.SUB and isinstance(a, Term) and isinstance(b, Term):
        return Term(t.LONG, _difference(a, b))
    raise Unsupported(f"`{shown(name)}` on pointers")


def decayed(value: Value) -> Value:
    """An array as the pointer to its first element."""
    if isinstance(value, Term) and isinstance(value.type, t.Array):
        return Term(t.Pointer(value.type.of), value.expr)
    return value


def _compare(x: Context, op: Op, a: Value, b: Value, span: Span) -> Expr:
    if not isinstance(a, Term) or not isinstance(b, Term):
        return x.havoc(span, "pointer comparison", BOOL, "a comparison of a pointer to a local variable")
    for pointer, other in ((a, b), (b, a)):
        null = other.expr == terms.NULL or terms.value_of(other.expr) == 0
        if null and op in (Op.EQ, Op.NE):
            known = terms.not_null(pointer.expr)
            return known if op is Op.NE else terms.negate(known)
    left, right = offsets(a.expr), offsets(b.expr)
    if left[0] == right[0] and not isinstance(left[0], PtrUnknown):
        return terms.binary(op, left[1], right[1])
    if isinstance(left[0], PtrUnknown) or isinstance(right[0], PtrUnknown):
        return Opaque(BOOL, "pointer comparison", (a.expr, b.expr))
    return Binary(BOOL, op, a.expr, b.expr)


def _difference(a: Term, b: Term) -> Expr:
    left, right = offsets(a.expr), offsets(b.expr)
    size = t.size_of(a.type.to) if isinstance(a.type, t.Pointer) else None
    if left[0] == right[0] and not isinstance(left[0], PtrUnknown) and size:
        bytes_apart = terms.binary(Op.SUB, left[1], right[1])
        return terms.binary(Op.DIV, bytes_apart, terms.integer(size, I64))
    return Opaque(I64, "pointer difference", (a.expr, b.expr))


def offsets(pointer: Expr) -> tuple[Expr, Expr]:
    """A pointer as its base and the bytes from it (I64)."""
    total: Expr = terms.integer(0, I64)
    while isinstance(pointer, PtrAdd):
        total = terms.binary(Op.ADD, total, terms.cast(pointer.offset, I64))
        pointer = pointer.ptr
    return pointer, total


def _vectors(x: Context, op: str, a: Value, b: Value, span: Span, name: Label) -> Value:
    """Half vectors have operators; other vectors only where the unit defines them."""
    kind = next(v.type for v in (a, b) if isinstance(v, Aggregate))
    first = a if isinstance(a, Aggregate) else b
    assert isinstance(first, Aggregate)
    if not (isinstance(kind, t.Struct) and kind.vector and kind.key in ("half2", "nv_bfloat162")):
        return _of_helper_math(x, op, first, a, b, span, name)
    left, right = (v.fields if isinstance(v, Aggregate) else (v,) * len(first.fields) for v in (a, b))
    parts = tuple(apply(x, op, p, q, span, name) for p, q in zip(left, right, strict=True))
    return Aggregate(first.type, parts)


def _of_helper_math(x: Context, op: str, first: Aggregate, a: Value, b: Value, span: Span, name: Label) -> Value:
    """The operators of NVIDIA's sample header: element by element, with a number for all elements."""
    kind = first.type
    fits = all(t.same(v.type, kind) or isinstance(v.type, t.Scalar) for v in (a, b))
    if not kind.vector or len(kind.fields) < 2 or kind.key == "dim3" or op not in _HELPER_OPERATORS or not fits:
        raise Unsupported(f"the operator `{op}` on a `{t.show(kind)}`")
    x.grant(GRANTED)
    parts: list[Value] = []
    for index, field in enumerate(kind.fields):
        left, right = (v.fields[index] if isinstance(v, Aggregate) else convert(x, v, field.type, span) for v in (a, b))
        parts.append(convert(x, apply(x, op, left, right, span, name), field.type, span))
    return Aggregate(kind, tuple(parts))


def negative(x: Context, op: str, value: Value, span: Span) -> Value:
    """The unary operators ``- + ~ !``."""
    if isinstance(value, UnknownValue):
        return value
    if op in ("!", "not"):
        return Term(t.BOOL, terms.negate(truth(value)))
    if isinstance(value, Aggregate) and value.type.vector:
        return Aggregate(value.type, tuple(negative(x, op, f, span) for f in value.fields))
    expr = expression(x, value)
    if expr.type == PTR:
        raise Unsupported(f"`{op}` on a pointer")
    promoted = t.promoted(expr.type)
    name = value.type.name if isinstance(value.type, t.Scalar) and promoted == expr.type else ""
    kind = t.Scalar(promoted, name)
    wide = terms.cast(expr, promoted)
    match op:
        case "+":
            return Term(kind, wide)
        case "-":
            return Term(kind, terms.unary(Op.NEG, wide))
        case "~" | "compl":
            return Term(kind, terms.unary(Op.NOT, wide))
        case _:
            raise Unsupported(f"the operator `{op}`")
