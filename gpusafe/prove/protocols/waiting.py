"""Loops that wait: which variables of an earlier turn can still matter when a loop starts its next one."""

from __future__ import annotations

from gpusafe.dataflow.taint import expressions, walk
from gpusafe.ir import kernel as ir
from gpusafe.ir.terms import variables

STRAIGHT = (ir.Assign, ir.Havoc, ir.Load, ir.Store, ir.Atomic, ir.Fence, ir.ExclusiveBorrow)


def overwritten(body: tuple[ir.Stmt, ...]) -> frozenset[str]:
    """The variables that each turn of a loop sets before it reads them and before it can be left."""
    used: set[str] = set()
    dead: set[str] = set()
    stack: list[ir.Stmt] = list(reversed(body))
    while stack:
        stmt = stack.pop()
        if isinstance(stmt, ir.Block):
            stack.extend(reversed(stmt.body))
            continue
        inside = walk((stmt,))
        for inner in inside:
            for root in expressions(inner):
                used |= variables(root) if root is not None else set()
        if not isinstance(stmt, STRAIGHT):
            labels = {s.label for s in inside if isinstance(s, ir.Block | ir.Loop)}
            if any(isinstance(s, ir.Break | ir.Continue) and s.label not in labels for s in inside):
                break
            continue
        dead |= {v for v in assigned_by(stmt) if v not in used}
    return frozenset(dead)


def assigned_by(stmt: ir.Stmt) -> tuple[str, ...]:
    """What a single statement sets."""
    match stmt:
        case ir.Assign(var=v) | ir.Havoc(var=v):
            return (v,)
        case ir.Load(var=v) if v is not None:
            return (v,)
        case ir.Atomic(var=v, success=s):
            return tuple(x for x in (v, s) if x is not None)
    return ()
