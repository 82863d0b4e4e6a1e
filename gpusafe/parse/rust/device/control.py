"""Blocks, ``let``, ``if``, ``match``, and the ways out of a function."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import BOOL as IR_BOOL
from gpusafe.ir.expr import FALSE, TRUE, Expr, Var
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.device import conditional, drops, patterns, terms
from gpusafe.parse.rust.device.bodies import Body, Hole, Join, Nest, is_empty
from gpusafe.parse.rust.device.coercing import coerce
from gpusafe.parse.rust.device.frames import LoopCtx, Scope
from gpusafe.parse.rust.device.lowering import Lowering
from gpusafe.parse.rust.device.macro_rules import expand_items
from gpusafe.parse.rust.device.merging import meet, select
from gpusafe.parse.rust.device.places import read
from gpusafe.parse.rust.device.program import Module, build_module
from gpusafe.parse.rust.device.scalars import term_of
from gpusafe.parse.rust.device.types import BOOL, AdtTy, Ty
from gpusafe.parse.rust.device.values import NEVER, UNIT_VALUE, Diverges, EnumVal, Place, Unknown, Value, ValuePlace
from gpusafe.parse.rust.device.variables import declare
from gpusafe.span import Span


def block_value(lw: Lowering, block: ast.Block, want: Ty | None) -> Value:
    """The value of a block; its variables end with it."""
    outer = lw.scope
    lw.scope = Scope(outer, _block_module(lw, block))
    try:
        for stmt in block.stmts:
            statement(lw, stmt)
        value: Value = UNIT_VALUE
        if block.tail is not None and conditional.compiled(block.tail_attributes) != FALSE:
            value = lw.expr(block.tail, want)
            drops.drop_temporaries(lw, block.tail.span)
        drops.drop_scope(lw, lw.scope, block.span)
        return NEVER if lw.dead else value
    finally:
        lw.scope = outer


def _block_module(lw: Lowering, block: ast.Block) -> Module:
    """The names that the items of a block add (the present module when it has none)."""
    items = tuple(s.item for s in block.stmts if isinstance(s, ast.ItemStmt))
    if not items:
        return lw.scope.module
    key = id(block)
    module = lw.block_modules.get(key)
    if module is None:
        outer = lw.scope.module
        module = build_module((*outer.path, "{block}"), items, outer, outer.family, expand_items)
        module.transparent = True
        for item in items:
            lw.program.index_impls(item, module)
        lw.block_modules[key] = module
    return module


def statement(lw: Lowering, stmt: ast.Stmt) -> None:
    """One statement of a block, if it is compiled."""
    compiled = conditional.compiled(stmt.attributes) if isinstance(stmt, ast.Let | ast.ExprStmt) else TRUE
    if compiled == FALSE:
        return
    if compiled == TRUE:
        _statement(lw, stmt)
        return
    if isinstance(stmt, ast.Let):
        lw.unmodelled("a `let` under a `cfg` that is not decided here", stmt.span)
        _statement(lw, stmt)
        return
    with lw.body() as body:
        _statement(lw, stmt)
    when(lw, compiled, body, [], stmt.span)


def _statement(lw: Lowering, stmt: ast.Stmt) -> None:
    match stmt:
        case ast.Let():
            _let(lw, stmt)
            drops.drop_temporaries(lw, stmt.span)
        case ast.ExprStmt(expr=expr):
            drops.drop_value(lw, lw.expr(expr), stmt.span)
            drops.drop_temporaries(lw, stmt.span)
        case _:
            return


def _let(lw: Lowering, stmt: ast.Let) -> None:
    want = lw.type(stmt.type) if stmt.type is not None else None
    name = stmt.pat.name if isinstance(stmt.pat, ast.PatIdent) else None
    if stmt.value is None:
        if isinstance(stmt.pat, ast.PatIdent):
            declare(lw, stmt.pat.name, want or lw.infer.fresh(), None, stmt.pat.mutable, stmt.span)
        return
    if stmt.orelse is not None:
        _let_else(lw, stmt, want)
        return
    hint, lw.hint = lw.hint, name
    try:
        value = coerce(lw, lw.expr(stmt.value, want), want, stmt.value.span)
    finally:
        lw.hint = hint
    if isinstance(value, Diverges):
        value = Unknown(lw.infer.fresh(), "a value that is never there")
    if isinstance(stmt.pat, ast.PatWild) and not isinstance(stmt.value, ast.PathExpr):
        drops.drop_value(lw, value, stmt.span)
    patterns.let(lw, stmt.pat, value, stmt.value.span)


def _let_else(lw: Lowering, stmt: ast.Let, want: Ty | None) -> None:
    assert stmt.value is not None and stmt.orelse is not None
    value = coerce(lw, lw.expr(stmt.value, want), want, stmt.value.span)
    made = patterns.test(lw, stmt.pat, ValuePlace(value.ty, value))
    with lw.body() as otherwise:
        block_value(lw, stmt.orelse, None)
    when(lw, terms.negate(made.cond), otherwise, [], stmt.span, ends=True)
    patterns.bind(lw, made.bindings)


def when(lw: Lowering, cond: Expr, first: Body, second: Body, span: Span, ends: bool = False) -> None:
    """Emit ``if cond { first } else { second }``; ``ends``: control does not come out of ``first``."""
    if cond == TRUE:
        lw.out.extend(first)
        if ends:
            lw.dead = True
        return
    if cond == FALSE:
        lw.out.extend(second)
        return
    lw.emit(Nest("if", lw.at(span), first, second, cond=cond))


# -- conditions ------------------------------------------------------------------------------------------------------


def conjuncts(node: ast.Expr) -> list[ast.Expr]:
    """``a && b && c`` as a list."""
    todo, out = [node], []
    while todo:
        here = todo.pop()
        if isinstance(here, ast.Binary) and here.op == "&&":
            todo += [here.right, here.left]
        else:
            out.append(here)
    return out


def condition(lw: Lowering, node: ast.Expr) -> tuple[Expr, Callable[[], None]]:
    """One conjunct: its condition, and what binds the variables of its pattern where it holds."""
    if isinstance(node, ast.LetCond):
        place = lw.place(node.value)
        made = patterns.test(lw, node.pat, place)
        return made.cond, lambda: patterns.bind(lw, made.bindings)
    value = lw.expr(node, BOOL)
    if isinstance(value, Diverges):
        return FALSE, lambda: None
    return term_of(lw, value, node.span, BOOL), lambda: None


def logical(lw: Lowering, node: ast.Binary) -> Value:
    """``a && b`` and ``a || b`` as a value; the right side runs only when the left one does not decide."""
    left = term_of(lw, lw.expr(node.left, BOOL), node.left.span, BOOL)
    outer_dead = lw.dead
    with lw.body() as inner:
        value = lw.expr(node.right, BOOL)
        right = FALSE if isinstance(value, Diverges) else term_of(lw, value, node.right.span, BOOL)
    is_and = node.op == "&&"
    if left in (TRUE, FALSE):
        if (left == TRUE) is is_and:
            lw.out.extend(inner)
            return lw.scalar(right)
        return lw.scalar(left)
    if is_empty(inner) or outer_dead:
        return lw.scalar(terms.both(left, right) if is_and else terms.either(left, right))
    name = lw.temp()
    here = lw.at(node.span)
    lw.emit(k.Assign(here, name, FALSE if is_and else TRUE))
    inner.append(k.Assign(here, name, right))
    lw.emit(Nest("if", here, inner, cond=left if is_and else terms.negate(left)))
    return lw.scalar(Var(IR_BOOL, name))


def if_value(lw: Lowering, node: ast.If, want: Ty | None) -> Value:
    """``if``, ``if let`` and chains of both."""
    join = Join(hint=lw.hint)
    outer = lw.scope
    lw.scope = Scope(outer, outer.module)
    try:
        parts = conjuncts(node.cond)
        return _if_parts(lw, node, parts, join, want)
    finally:
        lw.scope = outer


def _branch(lw: Lowering, join: Join, make: Callable[[], Value]) -> tuple[Body, bool]:
    """A branch that ends in ``join``; whether control comes out of it."""
    with lw.body() as body:
        lw.arrive(join, make())
        dead = lw.dead
    return body, dead


def _if_parts(lw: Lowering, node: ast.If, parts: list[ast.Expr], join: Join, want: Ty | None) -> Value:
    def then() -> Value:
        hint, lw.hint = lw.hint, join.hint
        value = coerce(lw, block_value(lw, node.then, want), want, node.then.span)
        lw.hint = hint
        return value

    def otherwise() -> Value:
        if node.orelse is None:
            return UNIT_VALUE
        hint, lw.hint = lw.hint, join.hint
        value = coerce(lw, lw.expr(node.orelse, want), want, node.orelse.span)
        lw.hint = hint
        return value

    cond, bind = condition(lw, parts[0])
    if lw.dead:
        return NEVER
    if len(parts) == 1:
        return _two_way(lw, cond, bind, then, otherwise, join, node.span)
    return _chain(lw, cond, bind, parts[1:], then, otherwise, join, node)


def _two_way(
    lw: Lowering,
    cond: Expr,
    bind: Callable[[], None],
    then: Callable[[], Value],
    otherwise: Callable[[], Value],
    join: Join,
    span: Span,
) -> Value:
    if cond == TRUE:
        bind()
        return then()
    if cond == FALSE:
        return otherwise()

    def bound() -> Value:
        bind()
        return then()

    first, first_dead = _branch(lw, join, bound)
    second, second_dead = _branch(lw, join, otherwise)
    if is_empty(first) and is_empty(second) and len(join.entries) == 2:
        picked = select(lw, cond, join.entries[0][1], join.entries[1][1])
        if picked is not None:
            return picked
    lw.emit(Nest("if", lw.at(span), first, second, cond=cond))
    value = meet(lw, join, span)
    lw.dead = lw.dead or (first_dead and second_dead)
    return NEVER if lw.dead else value


def _chain(
    lw: Lowering,
    cond: Expr,
    bind: Callable[[], None],
    rest: list[ast.Expr],
    then: Callable[[], Value],
    otherwise: Callable[[], Value],
    join: Join,
    node: ast.If,
) -> Value:
    """``if a && b {..} else {..}`` where ``b`` must run only after ``a``."""
    here = lw.at(node.span)
    pending: list[tuple[Expr, Body]] = []  # conditions so far, each with what runs once it holds
    bodies: list[Body] = []
    saved = (lw.out, lw.dead, lw.level)
    try:
        for number, part in enumerate((None, *rest)):
            if part is not None:
                cond, bind = condition(lw, part)
            body: Body = []
            pending.append((cond, body))
            bodies.append(lw.out)
            lw.out = body
            lw.level += 1
            bind()
            if number == len(rest):
                lw.arrive(join, then())
        then_dead = lw.dead
    finally:
        lw.out, lw.dead, lw.level = saved
    plain = all(is_empty(body) for _, body in pending[:-1])
    second, else_dead = _branch(lw, join, otherwise)
    if plain:
        whole: Expr = TRUE
        for one, _ in pending:
            whole = terms.both(whole, one)
        return _joined(lw, whole, pending[-1][1], second, join, node.span, then_dead and else_dead)
    label = ""
    if node.orelse is not None:
        label = lw.label("if")
        if not then_dead:
            pending[-1][1].append(k.Break(here, label))
    for (_, outer_body), (inner_cond, inner_body) in zip(pending[-2::-1], pending[:0:-1], strict=True):
        outer_body.append(Nest("if", here, inner_body, cond=inner_cond))
    whole_body: Body = [Nest("if", here, pending[0][1], cond=pending[0][0])]
    if not label:
        lw.out.extend(whole_body)
    else:
        lw.emit(Nest("block", here, [*whole_body, *second], label=label))
    value = meet(lw, join, node.span)
    lw.dead = lw.dead or (then_dead and else_dead)
    return NEVER if lw.dead else value


def _joined(lw: Lowering, cond: Expr, first: Body, second: Body, join: Join, span: Span, dead: bool) -> Value:
    if is_empty(first) and is_empty(second) and len(join.entries) == 2:
        picked = select(lw, cond, join.entries[0][1], join.entries[1][1])
        if picked is not None:
            return picked
    when(lw, cond, first, second, span)
    value = meet(lw, join, span)
    lw.dead = lw.dead or dead
    return NEVER if lw.dead else value


# -- match -----------------------------------------------------------------------------------------------------------


def match_value(lw: Lowering, node: ast.Match, want: Ty | None) -> Value:
    """``match``: the arms in order, each under the condition that no earlier one matched."""
    place = lw.place(node.value)
    if lw.dead:
        return NEVER
    place = _loaded(lw, place, node)
    arms = tuple(a for a in node.arms if conditional.compiled(a.attributes) != FALSE)
    node = ast.Match(node.span, node.value, arms)
    join = Join(hint=lw.hint)
    if any(arm.guard is not None for arm in node.arms):
        return _guarded_match(lw, node, place, join, want)
    dead = _arms(lw, node, place, join, want)
    value = meet(lw, join, node.span)
    lw.dead = lw.dead or dead
    return NEVER if lw.dead else value


def _loaded(lw: Lowering, place: Place, node: ast.Match) -> Place:
    """A scalar in memory is read once, before the arms."""
    ty = lw.infer.shallow(place.ty)
    if not isinstance(place, ValuePlace) and lw.infer.term_type(ty) is not None:
        value = read(lw, place, node.value.span)
        return ValuePlace(value.ty, value)
    return place


def _arm_value(lw: Lowering, arm: ast.Arm, want: Ty | None, join: Join) -> Value:
    hint, lw.hint = lw.hint, join.hint
    value = coerce(lw, lw.expr(arm.body, want), want, arm.body.span)
    lw.hint = hint
    return value


def _arms(lw: Lowering, node: ast.Match, place: Place, join: Join, want: Ty | None) -> bool:
    """The arms as an if-else chain; whether control never comes out of it."""
    chain: list[Nest] = []
    outer_out, level = lw.out, lw.level
    top: Body = []
    lw.out = top
    dead = True
    last: Body = []
    try:
        for arm in node.arms:
            outer = lw.scope
            lw.scope = Scope(outer, outer.module)
            try:
                made = patterns.test(lw, arm.pat, place)
                if made.cond == FALSE:
                    continue
                with lw.body() as body:
                    patterns.bind(lw, made.bindings)
                    lw.arrive(join, _arm_value(lw, arm, want, join))
                    arm_dead = lw.dead
                dead = dead and arm_dead
            finally:
                lw.scope = outer
            if made.cond == TRUE or arm is node.arms[-1]:  # a match is exhaustive
                last = body
                lw.out.extend(body)
                break
            chain.append(Nest("if", lw.at(arm.span), body, cond=made.cond))
            lw.emit(chain[-1])
            lw.out = chain[-1].second
            lw.level += 1
    finally:
        lw.out, lw.level = outer_out, level
    if not _as_selects(lw, chain, last, top, join):
        lw.out.extend(top)
    return dead


def _as_selects(lw: Lowering, chain: list[Nest], last: Body, top: Body, join: Join) -> bool:
    """Arms that only give values: one value by conditions, instead of branches."""
    bodies = [nest.first for nest in chain]
    plain = all(is_empty(b) for b in (*bodies, last)) and len(join.entries) == len(chain) + 1 and bool(chain)
    nested = top == [chain[0]] if chain else False
    nested = nested and all(a.second == [b] for a, b in itertools.pairwise(chain))
    if not plain or not nested or chain[-1].second != last:
        return False
    value = join.entries[-1][1]
    for nest, (_, other) in zip(reversed(chain), reversed(join.entries[:-1]), strict=True):
        assert nest.cond is not None
        picked = select(lw, nest.cond, other, value)
        if picked is None:
            return False
        value = picked
    join.entries = [(Hole(), value)]
    return True


def _guarded_match(lw: Lowering, node: ast.Match, place: Place, join: Join, want: Ty | None) -> Value:
    label = lw.label("match")
    here = lw.at(node.span)
    with lw.body() as outer_body:
        for arm in node.arms:
            outer = lw.scope
            lw.scope = Scope(outer, outer.module)
            try:
                _guarded_arm(lw, arm, place, join, want, label)
            finally:
                lw.scope = outer
            if lw.dead:
                break
    lw.emit(Nest("block", here, outer_body, label=label))
    value = meet(lw, join, node.span)
    if not join.entries:
        lw.dead = True
    return NEVER if lw.dead else value


def _guarded_arm(lw: Lowering, arm: ast.Arm, place: Place, join: Join, want: Ty | None, label: str) -> None:
    here = lw.at(arm.span)
    made = patterns.test(lw, arm.pat, place)
    if made.cond == FALSE:
        return
    with lw.body() as body:
        patterns.bind(lw, made.bindings)
        if arm.guard is None:
            lw.arrive(join, _arm_value(lw, arm, want, join))
            lw.emit(k.Break(here, label))
        else:
            conds = [condition(lw, c) for c in conjuncts(arm.guard)]
            whole: Expr = TRUE
            for cond, _ in conds:
                whole = terms.both(whole, cond)
            with lw.body() as inner:
                for _, bind in conds:
                    bind()
                lw.arrive(join, _arm_value(lw, arm, want, join))
                lw.emit(k.Break(here, label))
            when(lw, whole, inner, [], arm.span)
    if made.cond == TRUE:
        lw.out.extend(body)
        lw.dead = arm.guard is None
    else:
        lw.emit(Nest("if", here, body, cond=made.cond))


# -- leaving ---------------------------------------------------------------------------------------------------------


def leave_function(lw: Lowering, value: Value, span: Span) -> Value:
    """``return value``."""
    frame = lw.frame
    drops.drop_until(lw, frame.scope, span)
    if frame.returns is None:
        lw.jump(k.Return(lw.at(span)))
        return NEVER
    frame.returned = True
    lw.arrive(frame.returns, coerce(lw, value, frame.result, span))
    lw.jump(k.Break(lw.at(span), frame.label))
    return NEVER


def return_value(lw: Lowering, node: ast.Return) -> Value:
    """A ``return`` expression."""
    value = lw.expr(node.value, lw.frame.result) if node.value is not None else UNIT_VALUE
    if isinstance(value, Diverges):
        return value
    return leave_function(lw, value, node.span)


def try_value(lw: Lowering, node: ast.Try) -> Value:
    """``operand?``: the payload, or an early return of ``None`` or the error."""
    value = lw.expr(node.operand)
    if isinstance(value, Diverges):
        return value
    if not isinstance(value, EnumVal):
        return lw.unmodelled("`?` on a value that is not modelled", node.span)
    is_option = value.ty.adt.name == "Option"
    good = 1 if is_option else 0
    failed = terms.negate(value.tag) if is_option else value.tag
    with lw.body() as early:
        out = EnumVal(value.ty, FALSE, ((0, ()),)) if is_option else _error_of(lw, value)
        leave_function(lw, out, node.span)
    when(lw, failed, early, [], node.span, ends=True)
    payload = value.payload(good)
    if lw.dead or payload is None:
        return NEVER
    return payload[0] if payload else UNIT_VALUE


def _error_of(lw: Lowering, value: EnumVal) -> Value:
    ty = value.ty
    if isinstance(lw.frame.result, AdtTy) and lw.frame.result.adt is ty.adt:
        ty = lw.frame.result
    payload = value.payload(1)
    return EnumVal(ty, TRUE, ((1, payload if payload is not None else ()),))


def labelled_block(lw: Lowering, node: ast.BlockExpr, want: Ty | None) -> Value:
    """``'name: { .. break 'name value; .. }``."""
    join = Join(hint=lw.hint)
    ctx = LoopCtx(node.label, lw.label(node.label or "block"), join, False, lw.scope)
    lw.frame.loops.append(ctx)
    try:
        with lw.body() as body:
            lw.arrive(join, coerce(lw, block_value(lw, node.block, want), want, node.span))
            dead = lw.dead
    finally:
        lw.frame.loops.pop()
    if ctx.broken:
        lw.emit(Nest("block", lw.at(node.span), body, label=ctx.label))
    else:
        lw.out.extend(body)
    value = meet(lw, join, node.span)
    lw.dead = lw.dead or (dead and not ctx.broken)
    return NEVER if lw.dead else value
