"""Whether all threads of a barrier's scope reach it: the query behind every divergence obligation."""

from __future__ import annotations

from dataclasses import replace

import z3

from gpusafe.dataflow.accesses import BarrierPoint, conditions
from gpusafe.dataflow.phases import terms_of
from gpusafe.ir.kernel import Scope
from gpusafe.prove.pairs import Answer, Setting, decide, distinct, threads

FULL = 0xFFFF_FFFF


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
    trace, context = setting.trace, barrier.context
    reached = conditions(trace, context, terms_of(context.phases))
    elsewhere = conditions(trace, replace(context, guard=()), context.guard)
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
