"""Bodies of ``const fn``: statements, conditions, loops, assignments to variables."""

from __future__ import annotations

from typing import Protocol

from gpusafe.parse.consteval_frame import Frame, StopError
from gpusafe.parse.consteval_methods import binary
from gpusafe.parse.consteval_value import BITS, Const, typed
from gpusafe.parse.rust import ast

UNIT = Const((), "tuple")


class Evaluator(Protocol):
    """What this module needs of ConstEval."""

    def value(self, expr: ast.Expr | None, frame: Frame, expect: str = "") -> Const | None:
        """The value of an expression."""

    def type_name(self, given: ast.Type | None, frame: Frame) -> str:
        """The primitive type behind a type, or ``""``."""


class _ReturnSignal(Exception):
    def __init__(self, value: Const) -> None:
        self.value = value


class _BreakSignal(Exception):
    def __init__(self, label: str | None, value: Const) -> None:
        self.label, self.value = label, value


class _ContinueSignal(Exception):
    def __init__(self, label: str | None) -> None:
        self.label = label


def call_body(e: Evaluator, body: ast.Block, frame: Frame, result: str) -> Const | None:
    """The value that a function body returns; ``result`` is its integer type, if it has one."""
    try:
        value = _block(e, body, frame, result)
    except _ReturnSignal as returned:
        value = returned.value
    except (_BreakSignal, _ContinueSignal):
        return None
    return typed(value, result)


def value_of_control(e: Evaluator, expr: ast.Expr, frame: Frame, expect: str) -> Const | None:
    """``if``, ``match`` and blocks as values; None outside of a function for jumps that lead nowhere."""
    match expr:
        case ast.If(cond=cond, then=then, orelse=orelse):
            if _truth(e, cond, frame):
                return _block(e, then, frame, expect)
            return _need(e, orelse, frame, expect) if orelse is not None else UNIT
        case ast.BlockExpr(block=block, kind=("" | "unsafe" | "const"), label=None):
            return _block(e, block, frame, expect)
        case ast.Match(value=value, arms=arms):
            return _match(e, _need(e, value, frame), arms, frame, expect)
        case _:
            return None


def _need(e: Evaluator, expr: ast.Expr, frame: Frame, expect: str = "") -> Const:
    """A value, or the end of the evaluation. Statement-like expressions are run here."""
    match expr:
        case ast.Assign():
            return _assign(e, expr, frame)
        case ast.Return(value=value):
            raise _ReturnSignal(_need(e, value, frame, expect) if value is not None else UNIT)
        case ast.Break(label=label, value=value):
            raise _BreakSignal(label, _need(e, value, frame, expect) if value is not None else UNIT)
        case ast.Continue(label=label):
            raise _ContinueSignal(label)
        case ast.While(cond=cond, body=body, label=label):
            return _loop(e, cond, body, label, frame)
        case ast.Loop(body=body, label=label):
            return _loop(e, None, body, label, frame)
        case ast.MacroCall() if expr.path.last.startswith(("assert", "debug_assert")):
            return UNIT
    found = e.value(expr, frame, expect)
    if found is None:
        raise StopError
    return found


def _truth(e: Evaluator, expr: ast.Expr, frame: Frame) -> bool:
    value = _need(e, expr, frame).value
    if not isinstance(value, bool):
        raise StopError
    return value


def _loop(e: Evaluator, cond: ast.Expr | None, body: ast.Block, label: str | None, frame: Frame) -> Const:
    while cond is None or _truth(e, cond, frame):
        try:
            _block(e, body, frame, "")
            e.value(_TICK, frame)
        except _BreakSignal as signal:
            if signal.label not in (None, label):
                raise
            return signal.value
        except _ContinueSignal as signal:
            if signal.label not in (None, label):
                raise
            e.value(_TICK, frame)
    return UNIT


_TICK = None
"""Evaluating nothing counts as a step, so that an empty endless loop ends."""


def _block(e: Evaluator, block: ast.Block, frame: Frame, expect: str) -> Const:
    shadowed: list[tuple[str, Const | None]] = []
    try:
        for stmt in block.stmts:
            _statement(e, stmt, frame, shadowed)
        return _need(e, block.tail, frame, expect) if block.tail is not None else UNIT
    finally:
        for name, before in reversed(shadowed):
            if before is None:
                frame.variables.pop(name, None)
            else:
                frame.variables[name] = before


def _statement(e: Evaluator, stmt: ast.Stmt, frame: Frame, shadowed: list[tuple[str, Const | None]]) -> None:
    match stmt:
        case ast.Let(pat=ast.PatIdent(name=name, by_ref=False, sub=None), value=value, orelse=None, attributes=()):
            type_ = e.type_name(stmt.type, frame)
            given = typed(_need(e, value, frame, type_), type_) if value is not None else Const((), "unset")
            if given is None:
                raise StopError
            shadowed.append((name, frame.variables.get(name)))
            frame.variables[name] = given
        case ast.Let(pat=ast.PatWild(), value=value, orelse=None, attributes=()) if value is not None:
            _need(e, value, frame)
        case ast.ExprStmt(expr=expr, attributes=()):
            _need(e, expr, frame)
        case _:
            raise StopError


def _assign(e: Evaluator, expr: ast.Assign, frame: Frame) -> Const:
    if not isinstance(expr.target, ast.PathExpr) or len(expr.target.path.names) != 1:
        raise StopError
    name = expr.target.path.last
    before = frame.variables.get(name)
    if before is None:
        raise StopError
    wanted = before.type if before.type in BITS else ""
    given = _need(e, expr.value, frame, wanted if expr.op not in ("<<=", ">>=") else "")
    after = given if expr.op == "=" else binary(expr.op[:-1], before, given)
    if after is None:
        raise StopError
    frame.variables[name] = after
    return UNIT


def _match(e: Evaluator, value: Const, arms: tuple[ast.Arm, ...], frame: Frame, expect: str) -> Const:
    for arm in arms:
        if arm.attributes:
            raise StopError
        if not _matches(e, arm.pat, value, frame):
            continue
        if arm.guard is None or _truth(e, arm.guard, frame):
            return _need(e, arm.body, frame, expect)
    raise StopError


def _matches(e: Evaluator, pat: ast.Pat, value: Const, frame: Frame) -> bool:
    match pat:
        case ast.PatWild():
            return True
        case ast.PatLit(value=literal):
            return _need(e, literal, frame, value.type).value == value.value
        case ast.PatOr(items=items):
            return any(_matches(e, item, value, frame) for item in items)
        case ast.PatRange(low=low, high=high, inclusive=inclusive):
            number = value.integer
            if number is None:
                raise StopError
            least = _need(e, low, frame, value.type).integer if low is not None else number
            most = _need(e, high, frame, value.type).integer if high is not None else number
            if least is None or most is None:
                raise StopError
            return least <= number and (number <= most if inclusive or high is None else number < most)
        case ast.PatPath(path=path):
            return _need(e, ast.PathExpr(pat.span, path), frame, value.type).value == value.value
        case _:
            raise StopError
