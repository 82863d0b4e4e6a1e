"""Loops that do nothing but ask an mbarrier whether a phase has ended, until it has."""

from __future__ import annotations

from typing import Any

from gpusafe.dataflow.concrete.evaluate import UNKNOWN, compile_expr
from gpusafe.dataflow.taint import walk
from gpusafe.ir import kernel as ir

_TESTS = frozenset({"test_wait", "try_wait", "test_wait_parity", "try_wait_parity"})
_QUIET = (ir.Assign, ir.If, ir.Block, ir.Break, ir.Havoc, ir.Continue)
_STAYS = ""


def polls(loop: ir.Loop) -> ir.MBarrier | None:
    """The one test in a loop that is left only when the test has succeeded; None for any other loop.

    The body is run once with a test that fails and nothing else known: it must come round to the next turn.
    """
    tests = [s for s in walk(loop.body) if isinstance(s, ir.MBarrier)]
    if len(tests) != 1 or tests[0].op not in _TESTS:
        return None
    if not all(isinstance(s, _QUIET) or s is tests[0] for s in walk(loop.body)):
        return None
    ends = _run(loop.body, {})
    return tests[0] if ends in (_STAYS, f"again {loop.label}") else None


def _run(body: tuple[ir.Stmt, ...], env: dict[str, Any]) -> str | None:
    """How a body ends: at its end, with a jump (``again`` or ``leave`` and the label), None where that is not known."""
    for stmt in body:
        match stmt:
            case ir.Assign(var=var, value=value):
                env[var] = compile_expr(value)(env)
            case ir.Havoc(var=var):
                env[var] = UNKNOWN
            case ir.MBarrier(var=var):
                if var is not None:
                    env[var] = False
            case ir.Break(label=label):
                return f"leave {label}"
            case ir.Continue(label=label):
                return f"again {label}"
            case _:
                ends = _inside(stmt, env)
                if ends != _STAYS:
                    return ends
    return _STAYS


def _inside(stmt: ir.Stmt, env: dict[str, Any]) -> str | None:
    match stmt:
        case ir.If(cond=cond, then=then, orelse=orelse):
            taken = compile_expr(cond)(env)
            return None if taken is UNKNOWN else _run(then if taken else orelse, env)
        case ir.Block(label=label, body=body):
            ends = _run(body, env)
            return _STAYS if ends == f"leave {label}" else ends
    return None
