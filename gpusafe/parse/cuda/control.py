"""Lowering statements."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import FALSE, TRUE, Expr, Op
from gpusafe.parse.cuda import scan, terms
from gpusafe.parse.cuda import syntax as s
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.context import ClassInstance, Context, LoopLabels, Scope, Unsupported
from gpusafe.parse.cuda.declarations import declare, unknown_variable
from gpusafe.parse.cuda.expressions import discard
from gpusafe.parse.cuda.inlining import return_from
from gpusafe.parse.cuda.jumps import goto, sequence
from gpusafe.parse.cuda.operands import condition_of, value_of
from gpusafe.parse.cuda.operators import apply
from gpusafe.parse.cuda.places import truth
from gpusafe.parse.cuda.resolve import enumeration_type, instantiate_record, resolve
from gpusafe.parse.cuda.values import Term, Value
from gpusafe.span import Span


def execute(x: Context, stmt: s.Stmt) -> None:
    """Lower a statement; what is not modelled in it costs that statement."""
    try:
        _HANDLERS[type(stmt)](x, stmt)
    except Unsupported as problem:
        if x.constant_only:
            raise
        x.unmodelled(stmt.span, str(problem))
        if isinstance(stmt, s.Declare):
            for variable in stmt.variables:
                if variable.name not in x.scope.names:
                    unknown_variable(x, variable, str(problem))


def _compound(x: Context, stmt: s.Compound) -> None:
    with x.inside(x.scope.inner()):
        sequence(x, stmt.stmts)


def _declare(x: Context, stmt: s.Declare) -> None:
    for variable in stmt.variables:
        declare(x, variable)


def _define(x: Context, stmt: s.Define) -> None:
    match stmt.item:
        case s.Alias(name=name, type=node, template=None):
            x.bind(name, resolve(x, node))
        case s.Record() as record:
            if record.template is None:
                x.bind(record.name, instantiate_record(x, record, (), x.scope))
        case s.Enumeration() as item:
            x.bind(item.name, enumeration_type(x, item))
            holder = s.Record(item.span, item.name, "", "struct", None, (), (item,))
            kind = t.Struct(f"enum {item.name} at line {item.span.line}", (), 1, 1)
            x.scope.instance = x.scope.instance or ClassInstance(holder, (), kind, x.scope.parent or Scope())
        case s.NamespaceAlias(name=name, target=target):
            x.program.namespaces[name] = target
        case _:
            pass


def _evaluate(x: Context, stmt: s.Evaluate) -> None:
    discard(x, stmt.expr)


# -- conditions --------------------------------------------------------------------------------------------------------


def _if(x: Context, stmt: s.If) -> None:
    with x.inside(x.scope.inner()):
        if stmt.init is not None:
            x.execute(stmt.init)
        if isinstance(stmt.cond, s.Variable):
            declare(x, stmt.cond)
            _branch(x, stmt, condition_of(x, s.Name(stmt.cond.span, stmt.cond.name)))
        elif stmt.orelse is None:
            _guarded(x, stmt, _conjuncts(stmt.cond), 0)
        else:
            _branch(x, stmt, condition_of(x, stmt.cond))


def _conjuncts(cond: s.Expr) -> list[s.Expr]:
    """``a && b && c`` as its parts, in order."""
    parts: list[s.Expr] = []
    todo = [cond]
    while todo:
        here = todo.pop()
        if isinstance(here, s.Binary) and here.op in ("&&", "and"):
            todo.extend((here.right, here.left))
        else:
            parts.append(here)
    return parts


def _guarded(x: Context, stmt: s.If, parts: Sequence[s.Expr], start: int) -> None:
    """``if (a && b) s`` without else: the parts that need statements (loads) stand under the ones before them."""
    condition: Expr = TRUE
    at = start
    while at < len(parts):
        if condition == FALSE:
            return
        with x.emitter.collect() as made:
            part = condition_of(x, parts[at])
        if made and condition != TRUE:
            break
        for inner in made:
            x.emit(inner)
        condition = terms.binary(Op.LAND, condition, part)
        at += 1
    if condition == FALSE:
        return
    with x.emitter.collect() as body:
        if at < len(parts):
            for inner in made:
                x.emit(inner)
            _nested(x, stmt, part, parts, at + 1)
        else:
            x.execute(stmt.then)
    _emit_if(x, stmt.span, condition, body, [])


def _nested(x: Context, stmt: s.If, first: Expr, parts: Sequence[s.Expr], start: int) -> None:
    with x.emitter.collect() as body:
        if start < len(parts):
            _guarded(x, stmt, parts, start)
        else:
            x.execute(stmt.then)
    _emit_if(x, stmt.span, first, body, [])


def _emit_if(x: Context, span: Span, condition: Expr, then: list[k.Stmt], orelse: list[k.Stmt]) -> None:
    decided = terms.value_of(condition)
    if decided is not None:
        for stmt in then if decided else orelse:
            x.emit(stmt)
    elif then or orelse:
        x.emit(k.If(span, condition, tuple(then), tuple(orelse)))


def _branch(x: Context, stmt: s.If, condition: Expr) -> None:
    decided = terms.value_of(condition)
    if decided is not None:
        chosen = stmt.then if decided else stmt.orelse
        if chosen is not None:
            x.execute(chosen)
        return
    with x.emitter.collect() as then:
        x.execute(stmt.then)
    with x.emitter.collect() as orelse:
        if stmt.orelse is not None:
            x.execute(stmt.orelse)
    _emit_if(x, stmt.span, condition, then, orelse)


# -- loops -------------------------------------------------------------------------------------------------------------


def _leave_unless(x: Context, cond: s.Expr, label: str) -> None:
    """``if (!cond) break``, part by part, so that loads of later parts happen only when they do."""
    for part in _conjuncts(cond):
        condition = condition_of(x, part)
        if condition != TRUE:
            x.emit(k.If(cond.span, terms.negate(condition), (k.Break(cond.span, label),)))


def _loop(
    x: Context,
    span: Span,
    before: Callable[[str], None],
    body: s.Stmt,
    after: Callable[[str], None],
) -> None:
    label = x.emitter.fresh(f"loop at line {span.line}")
    has_continue = scan.continues(body)
    skip = x.emitter.fresh(f"body at line {span.line}") if has_continue else None
    with x.emitter.collect() as made:
        before(label)
        x.loops.append(LoopLabels(label, skip))
        try:
            if skip is not None:
                with x.emitter.collect() as inner:
                    x.execute(body)
                x.emit(k.Block(body.span, skip, tuple(inner)))
            else:
                x.execute(body)
        finally:
            x.loops.pop()
        after(label)
    x.emit(k.Loop(span, label, tuple(made)))


def _while(x: Context, stmt: s.While) -> None:
    with x.inside(x.scope.inner()):

        def test(label: str) -> None:
            if isinstance(stmt.cond, s.Variable):
                declare(x, stmt.cond)
                _leave_unless(x, s.Name(stmt.cond.span, stmt.cond.name), label)
            else:
                _leave_unless(x, stmt.cond, label)

        _loop(x, stmt.span, test, stmt.body, lambda _label: None)


def _do(x: Context, stmt: s.DoWhile) -> None:
    if isinstance(stmt.cond, (s.Boolean, s.Integer)) and not stmt.cond.value and not _leaves_loop(stmt.body):
        x.execute(stmt.body)  # `do { .. } while (0)` of macros
        return
    _loop(x, stmt.span, lambda _label: None, stmt.body, lambda label: _leave_unless(x, stmt.cond, label))


def _leaves_loop(body: s.Stmt) -> bool:
    return scan.continues(body) or scan.breaks(body)


def _for(x: Context, stmt: s.For) -> None:
    with x.inside(x.scope.inner()):
        if stmt.init is not None:
            x.execute(stmt.init)

        def test(label: str) -> None:
            if stmt.cond is not None:
                _leave_unless(x, stmt.cond, label)

        def step(_label: str) -> None:
            if stmt.step is not None:
                discard(x, stmt.step)

        _loop(x, stmt.span, test, stmt.body, step)


def _range_for(x: Context, stmt: s.RangeFor) -> None:
    raise Unsupported("a loop over a container")


def _break(x: Context, stmt: s.Break) -> None:
    if not x.loops:
        raise Unsupported("a `break` outside a loop")
    x.emit(k.Break(stmt.span, x.loops[-1].on_break))


def _continue(x: Context, stmt: s.Continue) -> None:
    target = next((labels for labels in reversed(x.loops) if labels.on_continue != ""), None)
    if target is None or target.on_continue is None:
        raise Unsupported("a `continue` outside a loop")
    x.emit(k.Break(stmt.span, target.on_continue))


def _return(x: Context, stmt: s.Return) -> None:
    if x.frame.label is None:
        if stmt.value is not None:
            discard(x, stmt.value)
        x.emit(k.Return(stmt.span))
    else:
        return_from(x, stmt)


# -- switch ------------------------------------------------------------------------------------------------------------


def _switch(x: Context, stmt: s.Switch) -> None:
    value = value_of(x, stmt.value)
    if isinstance(value, Term):
        kind = t.promoted(value.expr.type)
        value = Term(t.Scalar(kind), x.hold(stmt.span, "switch", terms.cast(value.expr, kind)))
    groups = _groups(stmt)
    label = x.emitter.fresh(f"switch at line {stmt.span.line}")
    x.loops.append(LoopLabels(label, ""))
    try:
        with x.inside(x.scope.inner()):
            if all(_ends(stmts) for _, stmts in groups[:-1]):
                made = _chain(x, stmt, value, groups)
            else:
                made = _blocks(x, stmt, value, groups, label)
    finally:
        x.loops.pop()
    needed = any(isinstance(n, k.Break) and n.label == label for n in _all(made))
    if needed:
        x.emit(k.Block(stmt.span, label, tuple(made)))
    else:
        for inner in made:
            x.emit(inner)


Group = tuple[list[s.Expr | None], list[s.Stmt]]


def _groups(stmt: s.Switch) -> list[Group]:
    """Cases with their labels: `case 1: case 2: body` is one."""
    out: list[Group] = []
    labels: list[s.Expr | None] = []
    for case in stmt.cases:
        labels.append(case.value)
        if case.stmts:
            out.append((labels, list(case.stmts)))
            labels = []
    if labels:
        out.append((labels, []))
    return out


def _ends(stmts: list[s.Stmt]) -> bool:
    """Whether control cannot fall out of the end."""
    last: s.Stmt | None = stmts[-1] if stmts else None
    while isinstance(last, s.Compound):
        last = last.stmts[-1] if last.stmts else None
    if isinstance(last, s.If) and last.orelse is not None:
        return _ends([last.then]) and _ends([last.orelse])
    return isinstance(last, (s.Break, s.Return, s.Continue))


def _matches(x: Context, value: Value, labels: list[s.Expr | None], span: Span) -> Expr:
    condition: Expr = FALSE
    for label in labels:
        if label is not None:
            same = truth(apply(x, "==", value, value_of(x, label), span, "case"))
            condition = terms.binary(Op.LOR, condition, same)
    return condition


def _case_body(x: Context, stmts: list[s.Stmt]) -> list[k.Stmt]:
    with x.emitter.collect() as made:
        inner = stmts
        if inner and isinstance(inner[-1], s.Break):
            inner = inner[:-1]
        elif len(inner) == 1 and isinstance(inner[0], s.Compound) and inner[0].stmts:
            block = inner[0]
            if isinstance(block.stmts[-1], s.Break):
                inner = [s.Compound(block.span, block.stmts[:-1])]
        for stmt in inner:
            x.execute(stmt)
    return made


def _chain(x: Context, stmt: s.Switch, value: Value, groups: list[Group]) -> list[k.Stmt]:
    """No case falls through: if, else if, else."""
    with x.emitter.collect() as orelse:
        for labels, stmts in groups:
            if None in labels:
                for inner in _case_body(x, stmts):
                    x.emit(inner)
    for labels, stmts in reversed([g for g in groups if None not in g[0]]):
        condition = _matches(x, value, labels, stmt.span)
        body = _case_body(x, stmts)
        with x.emitter.collect() as made:
            _emit_if(x, stmts[0].span if stmts else stmt.span, condition, body, orelse)
        orelse = made
    return orelse


def _blocks(x: Context, stmt: s.Switch, value: Value, groups: list[Group], label: str) -> list[k.Stmt]:
    """Cases fall through: nested blocks, each case's body after the block that selects it."""
    inner = [x.emitter.fresh(f"case at line {stmt.span.line}") for _ in groups]
    with x.emitter.collect() as made:
        for index, (labels, _) in enumerate(groups):
            condition = _matches(x, value, labels, stmt.span)
            if condition != FALSE:
                x.emit(k.If(stmt.span, condition, (k.Break(stmt.span, inner[index]),)))
        default = next((i for i, (labels, _) in enumerate(groups) if None in labels), None)
        x.emit(k.Break(stmt.span, label if default is None else inner[default]))
    for index, (_, stmts) in enumerate(groups):
        with x.emitter.collect() as outer:
            x.emit(k.Block(stmt.span, inner[index], tuple(made)))
            for body in stmts:
                x.execute(body)
        made = outer
    return made


def _all(stmts: Sequence[k.Stmt]) -> list[k.Stmt]:
    out: list[k.Stmt] = []
    todo = list(stmts)
    while todo:
        stmt = todo.pop()
        out.append(stmt)
        match stmt:
            case k.If(then=then, orelse=orelse):
                todo.extend(then)
                todo.extend(orelse)
            case k.Block(body=body) | k.Loop(body=body):
                todo.extend(body)
            case _:
                pass
    return out


def _bad(x: Context, stmt: s.BadStmt) -> None:
    raise Unsupported(f"{stmt.what}, which is not understood")


_HANDLERS: dict[type[s.Stmt], Callable[..., None]] = {
    s.Compound: _compound,
    s.Goto: goto,
    s.Labelled: lambda x, stmt: sequence(x, (stmt,)),
    s.Declare: _declare,
    s.Define: _define,
    s.Evaluate: _evaluate,
    s.If: _if,
    s.While: _while,
    s.DoWhile: _do,
    s.For: _for,
    s.RangeFor: _range_for,
    s.Switch: _switch,
    s.Break: _break,
    s.Continue: _continue,
    s.Return: _return,
    s.Empty: lambda _x, _s: None,
    s.BadStmt: _bad,
}
