"""``loop``, ``while``, ``for``, ``break``, ``continue``."""

from __future__ import annotations

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import FALSE
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.device import drops, iterators, patterns, terms
from gpusafe.parse.rust.device.bodies import Body, Join, Nest
from gpusafe.parse.rust.device.coercing import coerce
from gpusafe.parse.rust.device.control import block_value, condition, conjuncts, when
from gpusafe.parse.rust.device.frames import LoopCtx, Scope
from gpusafe.parse.rust.device.lowering import Lowering
from gpusafe.parse.rust.device.merging import meet
from gpusafe.parse.rust.device.types import Ty
from gpusafe.parse.rust.device.values import NEVER, UNIT_VALUE, Diverges, Value


def _enter(lw: Lowering, name: str | None, kind: str) -> LoopCtx:
    ctx = LoopCtx(name, lw.label(name or kind), Join(hint=lw.hint), True, lw.scope)
    ctx.again = ctx.label
    lw.frame.loops.append(ctx)
    lw.hint = None
    return ctx


def loop_value(lw: Lowering, node: ast.Loop, want: Ty | None) -> Value:
    """``loop``: its value is that of its breaks; without one, control does not pass."""
    ctx = _enter(lw, node.label, "loop")
    try:
        with lw.body() as body:
            block_value(lw, node.body, None)
    finally:
        lw.frame.loops.pop()
    lw.emit(Nest("loop", lw.at(node.span), body, label=ctx.label))
    if not ctx.broken:
        lw.dead = True
        return NEVER
    return coerce(lw, meet(lw, ctx.join, node.span), want, node.span)


def while_value(lw: Lowering, node: ast.While) -> Value:
    """``while`` and ``while let``."""
    ctx = _enter(lw, node.label, "while")
    outer = lw.scope
    lw.scope = Scope(outer, outer.module)
    here = lw.at(node.cond.span)
    never = False
    try:
        with lw.body() as body:
            for part in conjuncts(node.cond):
                cond, bind = condition(lw, part)
                leave: Body = [k.Break(here, ctx.label)]
                never = never or cond == FALSE
                when(lw, terms.negate(cond), leave, [], part.span, ends=True)
                bind()
            block_value(lw, node.body, None)
    finally:
        lw.frame.loops.pop()
        lw.scope = outer
    if never and len(body) == 1:
        return UNIT_VALUE
    lw.emit(Nest("loop", lw.at(node.span), body, label=ctx.label))
    return UNIT_VALUE


def for_value(lw: Lowering, node: ast.For) -> Value:
    """``for pat in iterable``."""
    iterable = lw.expr(node.iterable)
    if isinstance(iterable, Diverges):
        return iterable
    source = iterators.into_iterator(lw, iterable, node.iterable.span)
    ctx = _enter(lw, node.label, "for")
    name = node.pat.name if isinstance(node.pat, ast.PatIdent) else None

    def step(item: Value) -> None:
        outer = lw.scope
        lw.scope = Scope(outer, outer.module)
        ctx.again = lw.label("next")
        ctx.again_is_loop = False
        ctx.continued = False
        try:
            with lw.body() as body:
                patterns.let(lw, node.pat, item, node.pat.span)
                block_value(lw, node.body, None)
                dead = lw.dead
        finally:
            lw.scope = outer
        if ctx.continued:
            lw.emit(Nest("block", lw.at(node.body.span), body, label=ctx.again))
        else:
            lw.out.extend(body)
            lw.dead = lw.dead or dead

    try:
        iterators.each(lw, source, step, ctx.label, node.iterable.span, name)
    finally:
        lw.frame.loops.pop()
    return UNIT_VALUE


def _target(lw: Lowering, label: str | None, only_loops: bool) -> LoopCtx | None:
    for ctx in reversed(lw.frame.loops):
        if label is None and (ctx.is_loop or not only_loops):
            return ctx
        if label is not None and ctx.name == label:
            return ctx
    return None


def break_value(lw: Lowering, node: ast.Break) -> Value:
    """``break``, with a label and a value if given."""
    value: Value = UNIT_VALUE
    if node.value is not None:
        value = lw.expr(node.value)
        if isinstance(value, Diverges):
            return value
    ctx = _target(lw, node.label, True)
    if ctx is None:
        return lw.unmodelled("a `break` whose loop is not in sight", node.span)
    drops.drop_until(lw, ctx.scope, node.span)
    if not lw.dead:
        ctx.broken = True
    lw.arrive(ctx.join, value)
    lw.jump(k.Break(lw.at(node.span), ctx.label))
    return NEVER


def continue_value(lw: Lowering, node: ast.Continue) -> Value:
    """``continue``."""
    ctx = _target(lw, node.label, True)
    if ctx is None or ctx.again is None:
        return lw.unmodelled("a `continue` whose loop is not in sight", node.span)
    drops.drop_until(lw, ctx.scope, node.span)
    ctx.continued = True
    here = lw.at(node.span)
    lw.jump(k.Continue(here, ctx.again) if ctx.again_is_loop else k.Break(here, ctx.again))
    return NEVER
