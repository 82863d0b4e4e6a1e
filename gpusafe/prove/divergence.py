"""Whether all threads of a barrier's scope reach it: the query behind every divergence obligation."""

from __future__ import annotations

from dataclasses import replace

import z3

from gpusafe.dataflow.accesses import BarrierPoint, conditions
from gpusafe.dataflow.phases import terms_of
from gpusafe.dataflow.terms import Term, postorder
from gpusafe.dataflow.uniformity import BLOCK, WARP, Uniformity
from gpusafe.ir.kernel import Scope
from gpusafe.prove.pairs import Answer, Setting, decide, distinct, threads

FULL = 0xFFFF_FFFF
UNIFORM = frozenset({"const", "param", "length", "sym"})
SAME_IN_GRID = ("ntid.", "nctaid.")
SAME_IN_BLOCK = (*SAME_IN_GRID, "ctaid.")
PURE = frozenset(
    {"==", "!=", "<", "<=", ">", ">=", "&&", "||", "not", "+", "-", "*", "/", "%", "select", "cast", "ind"}
)


def diverges(setting: Setting, barrier: BarrierPoint) -> Answer:
    """Whether one thread can reach the barrier while another of its scope does not, in the same loop iterations.

    By induction over the iterations it is enough that the two differ for the first time here.
    """
    context = barrier.context
    if barrier.scope is Scope.WARP and not _named(setting, barrier):
        return Answer("unknown")
    if not context.guard:
        return Answer("unsat")
    levels = (True, False) if barrier.scope in (Scope.DEVICE, Scope.SYSTEM) else (True,)
    answer = Answer("unsat")
    for same_block in levels:
        answer = _diverges(setting, barrier, same_block)
        if answer.status != "unsat":
            break
    return answer


def _named(setting: Setting, barrier: BarrierPoint) -> bool:
    """Whether each lane that gets to a warp barrier is one of those that its mask names."""
    mask = barrier.mask.const if barrier.mask is not None else None
    if mask is None or mask & FULL == FULL:
        return True
    reached = conditions(setting.trace, barrier.context)
    enc, one, two = threads(setting, True, reached, [])
    lane = enc.linear(one) % 32
    goal = [enc.encode(c, one) for c in reached] + [enc.encode(c, enc.shared) for c in setting.premises]
    goal += [lane != i for i in range(32) if mask >> i & 1]
    return decide(enc, setting, goal, one, two).status == "unsat"


def _diverges(setting: Setting, barrier: BarrierPoint, same_block: bool) -> Answer:
    """The query at one level, asked once for barriers whose queries are equal.

    The key holds all that the formulas below are made of: the scope, the mask, the level, the conditions of both
    threads, the guard and the loops. The rest (trace, premises, budget) belongs to the setting, which owns the memo.
    """
    trace, context = setting.trace, barrier.context
    if all(_shared(g, frozenset(context.loops), same_block) for g in context.guard):
        return Answer("unsat")
    if same_block and _agreed(setting, barrier):
        return Answer("unsat")
    reached = conditions(trace, context, terms_of(context.phases))
    elsewhere = conditions(trace, replace(context, guard=()), context.guard)
    key = (barrier.scope, barrier.mask, same_block, *map(tuple, (reached, elsewhere, context.guard, context.loops)))
    if key not in setting.memo:
        setting.memo[key] = _ask(setting, barrier, same_block, reached, elsewhere)
    return setting.memo[key]


def _agreed(setting: Setting, barrier: BarrierPoint) -> bool:
    """Whether each condition says the same to all threads of the block or warp: to all or to none of them."""
    context = barrier.context
    read = {str(t.data[0]) for t in postorder(list(context.guard)) if t.op == "load" and isinstance(t.data, tuple)}
    levels = Uniformity(setting.specials, frozenset(read - setting.written), loops=frozenset(context.loops))
    who = WARP if barrier.scope is Scope.WARP else BLOCK
    return all(levels.level(g) <= who for g in context.guard)


def _shared(cond: Term, loops: frozenset[Term], same_block: bool) -> bool:
    """Whether a condition says the same to both threads: the launch, the block and equal iterations fix it."""
    registers = SAME_IN_BLOCK if same_block else SAME_IN_GRID
    for t in postorder([cond]):
        if t in loops or t.op in UNIFORM or (t.op == "special" and str(t.data).startswith(registers)):
            continue
        if not t.args or t.op not in PURE:
            return False
    return True


def _ask(
    setting: Setting, barrier: BarrierPoint, same_block: bool, reached: list[Term], elsewhere: list[Term]
) -> Answer:
    context = barrier.context
    enc, one, two = threads(setting, same_block, reached, [])
    goal = [distinct(enc, one, two)]
    goal += [enc.encode(c, one) for c in reached] + [enc.encode(c, two) for c in elsewhere]
    goal.append(z3.Not(z3.And(*[enc.encode(g, two) for g in context.guard])))
    goal += [enc.encode(k, one) == enc.encode(k, two) for k in context.loops]
    goal += [enc.encode(c, enc.shared) for c in setting.premises]
    if barrier.scope is Scope.WARP:
        goal.append(enc.warp(one) == enc.warp(two))
        mask = barrier.mask.const if barrier.mask is not None else None
        if mask is not None:
            lane = enc.linear(two) % 32
            goal.append(z3.Or(*[lane == i for i in range(32) if mask >> i & 1]))
    return decide(enc, setting, goal, one, two)
