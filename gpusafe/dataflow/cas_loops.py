"""Compare-exchange loops that add: ``loop { if cas(p, x, x + c) { break } x = what was there }`` is one addition.

The loop ends with a compare-exchange that found ``x`` and left ``x + c``: an atomic addition with the order of success.
What the attempts before it read orders nothing more here, so what is proved of the addition holds of the loop.
"""

from __future__ import annotations

from dataclasses import replace

from gpusafe.ir import kernel as ir
from gpusafe.ir.expr import TRUE, Binary, Const, Expr, Op, Var
from gpusafe.ir.terms import variables


def folded(body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
    """Statements with such loops as additions. The depth is that of the source, which front ends bound."""
    out: list[ir.Stmt] = []
    for stmt in body:
        match stmt:
            case ir.If(then=then, orelse=orelse):
                out.append(replace(stmt, then=folded(then), orelse=folded(orelse)))
            case ir.Block(body=inside):
                out.append(replace(stmt, body=folded(inside)))
            case ir.Loop(body=inside):
                addition = _addition(stmt)
                out += addition if addition is not None else [replace(stmt, body=folded(inside))]
            case _:
                out.append(stmt)
    return tuple(out)


def _addition(loop: ir.Loop) -> list[ir.Stmt] | None:
    """The statements that a loop comes to; None where it is no such loop."""
    parts = list(loop.body)
    copies: dict[str, str] = {}
    before: list[ir.Stmt] = []
    checks: list[ir.Assume] = []
    while parts:
        match parts[0]:
            case ir.Assign(var=copy, value=Var(name=original)):
                copies[copy] = original
                before.append(parts.pop(0))
            case ir.Assume() as check:
                checks.append(check)
                parts.pop(0)
            case _:
                break
    match parts:
        case [ir.Atomic() as cas, ir.If(orelse=(ir.Assign() as keeps,)) as test]:
            parts = [cas, replace(test, orelse=()), keeps]
    match parts:
        case [
            ir.Atomic(op="cas", operands=(Var(name=expected), new)) as cas,
            ir.If(cond=Var(name=won), then=then, orelse=()),
            ir.Assign(var=again, value=Var(name=seen)),
        ] if won == cas.success and seen == cas.var:
            pass
        case _:
            return None
    source = copies.get(expected, expected)
    by = _added(new, {expected, source, *(c for c, s in copies.items() if s == source)})
    leaves = bool(then) and isinstance(then[-1], ir.Break) and then[-1].label == loop.label
    straight = all(isinstance(s, ir.Assign) for s in then[:-1])
    if by is None or by.value == 0 or not leaves or not straight or again != source or source in (cas.var, won):
        return None
    changing = {source, cas.var, won, *copies}
    fixed = [cas.ptr, *(c.cond for c in checks)]
    if any(c in (cas.var, won, source) for c in copies) or any(variables(e) & changing for e in fixed):
        return None
    added = replace(cas, op="add", operands=(by,), success=None, failure_order=None)
    found = Var(cas.type, cas.var or "")
    told = ir.Assign(loop.span, source, found)
    succeeded = ir.Assign(loop.span, won, TRUE)
    return [*checks, added, told, *before, succeeded, *then[:-1]]


def _added(new: Expr, names: set[str]) -> Const | None:
    """What an expression adds to one of some variables."""
    match new:
        case Binary(op=Op.ADD, a=Var(name=name), b=Const() as by) if name in names:
            return by
        case Binary(op=Op.ADD, a=Const() as by, b=Var(name=name)) if name in names:
            return by
    return None
