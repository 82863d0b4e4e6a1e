"""Integer methods that ask whether a result fits its type: ``checked_*``, ``saturating_*``, ``wrapping_*``.

The type is what an expression says of itself (a suffix, a cast, a term). Where it says nothing, a known result counts
as fitting only if it fits every type that the file could mean: at least 32 bits, unless the file names a narrower one.
"""

from __future__ import annotations

import re

from gpusafe.dataflow.host import terms
from gpusafe.dataflow.host.branches import quiet
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.scalars import static_type
from gpusafe.dataflow.host.values import Unknown, Value, none, some
from gpusafe.ir.expr import Expr, Op, Type
from gpusafe.parse.rust import ast

_OPERATIONS = {"add": Op.ADD, "sub": Op.SUB, "mul": Op.MUL, "div": Op.DIV, "rem": Op.REM}
_NARROW = re.compile(r"(?<![A-Za-z])[ui](8|16)\b")
_SIGNED = r"i(?:8|16|32|64|128|size)\b"


def ranged(m: Machine, name: str, value: Value, other: Value, expr: ast.MethodCall) -> Value | None:
    """The value of such a method, None when ``name`` is none of these."""
    how, _, what = name.partition("_")
    if how not in ("checked", "saturating", "wrapping") or what not in _OPERATIONS:
        return None
    type_ = _type(m, value, other, expr)
    a, b = terms.known(value), terms.known(other)
    if a is not None and b is not None:
        counts = isinstance(value, terms.Counter) or isinstance(other, terms.Counter)
        return _known(m, how, what, (a, b), type_, counts, expr)
    if how == "checked":
        return _checked(m, what, value, other, type_, expr)
    if how == "saturating" and (what == "sub" or (type_ is not None and type_.bits < 64)):
        return None
    return terms.binary(_OPERATIONS[what], value, other)


def _type(m: Machine, value: Value, other: Value, expr: ast.MethodCall) -> Type | None:
    """The integer type that a method works in, None when nothing says it."""
    for side, node in ((value, expr.receiver), (other, expr.args[0] if expr.args else None)):
        if isinstance(side, Expr) and side.type.kind == "int":
            return side.type
        said = static_type(m, node) if node is not None else None
        if isinstance(said, Type) and said.kind == "int":
            return said
    return None


def _known(
    m: Machine, how: str, what: str, sides: tuple[int, int], type_: Type | None, counts: bool, expr: ast.MethodCall
) -> Value | None:
    a, b = sides
    if what in ("div", "rem"):
        exact = None if b == 0 else (abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if what == "div" else a % b)
    else:
        exact = {"add": a + b, "sub": a - b, "mul": a * b}[what]
    if exact is None:
        return none() if how == "checked" else Unknown("a division by zero")
    low, high, sure, unsigned = _bounds(m, type_, min(a, b), max(abs(a), abs(b)), expr)
    fits = low <= exact <= high
    if counts and (not fits or what == "sub"):
        m.note_counter(f"the loop's counter goes through `{how}_{what}`")
    if fits:
        found: Value = terms.Counter(exact) if counts else exact
        return some(found) if how == "checked" else found
    if not sure and not (exact < 0 and unsigned):
        return Unknown(f"whether the result of `{how}_{what}` fits its type")
    if how == "checked":
        return none()
    if how == "saturating":
        return low if exact < low else high
    return (exact - low) % (high - low + 1) + low if sure else Unknown("a result that wraps around")


def _bounds(
    m: Machine, type_: Type | None, least: int, largest: int, expr: ast.MethodCall
) -> tuple[int, int, bool, bool]:
    """The least and the greatest value that surely fits, whether the type is known, and whether it has no sign."""
    if type_ is not None:
        return type_.low, type_.high, True, not type_.signed
    text = m.program.once("file text", expr, lambda: "\n".join(m.program.lines(m.home)))
    widths = {int(found) for found in _NARROW.findall(text) if largest < 1 << int(found)}
    high = (1 << (min(widths, default=32) - 1)) - 1
    unsigned = least >= 0 and not _declared_signed(text, expr.receiver)
    return (0 if unsigned else -127), high, False, unsigned


def _declared_signed(text: str, receiver: ast.Expr) -> bool:
    """Whether a variable of this name gets a signed integer somewhere in the file."""
    if not isinstance(receiver, ast.PathExpr):
        return False
    name = re.escape(receiver.path.last)
    return re.search(rf"\b{name}\s*(?::\s*&?\s*(?:mut\s+)?|=[^;=]*[\d\s]){_SIGNED}", text) is not None


def _checked(m: Machine, what: str, value: Value, other: Value, type_: Type | None, expr: ast.MethodCall) -> Value:
    """``checked_*`` on numbers that are not known: both ways, with the condition where there is one."""
    result = terms.binary(_OPERATIONS[what], value, other)
    unknown = Unknown("whether a result fits its type")
    if result is None:
        return unknown
    words = f"{m.source_text(expr)} is Some"
    if what == "sub" and type_ is not None and not type_.signed:
        fits = terms.binary(Op.GE, value, other)
        return some(result) if m.decide(fits if fits is not None else unknown, words, expr.span) else none()
    if what in ("div", "rem"):
        fits = terms.binary(Op.NE, other, 0)
        return some(result) if m.decide(fits if fits is not None else unknown, words, expr.span) else none()
    if quiet(m):
        return some(result)
    return some(result) if m.decide(unknown, words, expr.span) else none()
