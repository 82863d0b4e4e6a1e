"""Decisions: if, match, let conditions and `?`."""

from __future__ import annotations

from gpusafe.dataflow.host.access import peel, touch
from gpusafe.dataflow.host.blocks import closing, run_block, run_scoped, statement
from gpusafe.dataflow.host.drops import parts, take
from gpusafe.dataflow.host.leaving import leaves
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.merging import merge_branches
from gpusafe.dataflow.host.patterns import matches
from gpusafe.dataflow.host.signals import PruneSignal, ReturnSignal
from gpusafe.dataflow.host.values import Cell, StructVal, Unknown, Value, err, none, unit
from gpusafe.ir.expr import BOOL, Expr
from gpusafe.parse.rust import ast


def if_expr(m: Machine, expr: ast.If, expect: ast.Type | None) -> Value:
    """``if``: decided, merged when neither side matters here, else one path for each side."""
    end = closing(expr.then.span)
    with run_scoped(m, end):
        with statement(m, expr.cond.span) as temporaries:
            condition = peel(m.value(expr.cond))
            if _has_let(expr.cond):
                for cell in temporaries:
                    m.declare("", cell)
                temporaries.clear()
        if not isinstance(condition, bool):
            merged = merge_branches(m, expr, condition, expect) if not _has_let(expr.cond) else None
            if merged is not None:
                return merged.value
        if m.decide(condition, m.source_text(expr.cond), expr.cond.span, late=leaves(expr.then)):
            return run_block(m, expr.then, expect)
    if expr.orelse is None:
        return unit()
    return m.value(expr.orelse, expect)


def _has_let(cond: ast.Expr) -> bool:
    stack = [cond]
    while stack:
        match stack.pop():
            case ast.LetCond():
                return True
            case ast.Binary(op="&&", left=left, right=right):
                stack += [left, right]
    return False


def let_matches(m: Machine, expr: ast.LetCond) -> Value:
    """``let PAT = e`` as a condition: binds when it matches."""
    cell = m.place(expr.value)
    matched = matches(m, expr.pat, cell)
    if matched is None:
        words = f"`{m.source_text(expr)}`"
        where = f"at {expr.span.file}:{expr.span.line}"
        matched = m.choose((f"{words} matches {where}", f"{words} does not match {where}"), turn=True) == 0
    if matched:
        m.bind(expr.pat, cell)
    return matched


def match_expr(m: Machine, expr: ast.Match, expect: ast.Type | None) -> Value:
    """``match``: the first arm that matches; where that is not known, one path for each that may."""
    scrutinee = m.place(expr.value)
    touch(m, scrutinee.value, "read", expr.value.span)
    for index, arm in enumerate(expr.arms):
        matched = matches(m, arm.pat, scrutinee)
        if matched is False:
            continue
        if matched is None and index + 1 < len(expr.arms):
            words = f"`{m.source_text(expr.value)}` is `{m.source_text(arm)}`".split("=>")[0].strip()
            labels = (f"{words} at {arm.span.file}:{arm.span.line}", "")
            if m.choose(labels, turn=True, late=leaves(arm.body)) == 1:
                continue
        if arm.guard is not None and not _guard_holds(m, arm.pat, arm.guard, scrutinee):
            continue
        with run_scoped(m, closing(arm.body.span)):
            m.bind(arm.pat, scrutinee)
            with statement(m, arm.body.span):
                return m.value(arm.body, expect)
    if not expr.arms:
        return Unknown("a match without arms")
    raise PruneSignal


def _guard_holds(m: Machine, pat: ast.Pat, guard: ast.Expr, scrutinee: Cell) -> bool:
    with run_scoped(m, closing(guard.span)):
        m.bind(pat, scrutinee, True)
        return m.decide(peel(m.value(guard)), m.source_text(guard), guard.span)


def try_expr(m: Machine, expr: ast.Try, expect: ast.Type | None) -> Value:
    """``e?``: known results decide; on an unknown one both ways are walked."""
    operand = m.value(expr.operand, expect)
    return attempt(m, operand, expr)


def attempt(m: Machine, operand: Value, expr: ast.Expr) -> Value:
    """What ``?`` does with a value."""
    operand = peel(operand)
    match operand:
        case StructVal(variant="Ok" | "Some", fields=fields):
            return take(m, fields["0"])
        case StructVal(variant="Err", fields=fields):
            raise ReturnSignal(err(take(m, fields["0"])))
        case StructVal(variant="None"):
            raise ReturnSignal(none())
    if quiet(m):
        return inside(operand)
    text = m.source_text(expr)
    where = f"at {expr.span.file}:{expr.span.line}"
    if m.choose((f"`{text}` succeeds {where}", f"`{text}` returns early {where}")) == 1:
        raise ReturnSignal(Unknown("an error", ERROR_TYPE))
    return inside(operand)


ERROR_TYPE: ast.Type | None = None


def quiet(m: Machine) -> bool:
    """Whether leaving the root function now cannot matter: nothing on any stream is unfinished."""
    return len(m.calls) == 1 and not m.pending


def inside(operand: Value) -> Value:
    """The success value of an unknown result."""
    if isinstance(operand, Unknown):
        return Unknown(operand.why or "the value of a result", None, operand.holds)
    if isinstance(operand, Expr) and operand.type == BOOL:
        return operand
    return Unknown("the value of a result", None, tuple(parts(operand)))
