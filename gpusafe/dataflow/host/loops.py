"""Loops: short ones are walked exactly, others until what they do repeats."""

from __future__ import annotations

from gpusafe.dataflow.host import terms
from gpusafe.dataflow.host.access import peel
from gpusafe.dataflow.host.blocks import closing, run_scoped, statement
from gpusafe.dataflow.host.drops import drop_cell
from gpusafe.dataflow.host.generalised import generalise
from gpusafe.dataflow.host.iterators import finish, to_iter
from gpusafe.dataflow.host.machine import LoopWatch, Machine
from gpusafe.dataflow.host.passing_over import host_only_key, pass_over
from gpusafe.dataflow.host.polling import asks
from gpusafe.dataflow.host.repetition import MAX_ITERATIONS, Repetition
from gpusafe.dataflow.host.signals import BreakSignal, ContinueSignal, PanicSignal, PruneSignal
from gpusafe.dataflow.host.syntax_walk import walk
from gpusafe.dataflow.host.values import Cell, IterVal, Value, unit
from gpusafe.ir.expr import Op
from gpusafe.parse.rust import ast
from gpusafe.span import Span

EXACT_ITERATIONS = 40
EXACT_OPS = 2_000


def _turn(m: Machine, body: ast.Block, label: str | None) -> BreakSignal | None:
    """One iteration; the signal when it ended the loop."""
    depth = (len(m.call.scopes), len(m.call.temporaries))
    try:
        with statement(m, closing(body.span)) as temporaries:
            temporaries.append(Cell(m.hooks.block(m, body, None)))
    except ContinueSignal as signal:
        if signal.label is not None and signal.label != label:
            raise
    except BreakSignal as signal:
        if signal.label is not None and signal.label != label:
            raise
        return signal
    finally:
        del m.call.scopes[depth[0] :], m.call.temporaries[depth[1] :]
    return None


def for_expr(m: Machine, expr: ast.For, expect: ast.Type | None) -> Value:
    """``for``."""
    source = to_iter(m, m.value(expr.iterable), expr.iterable.span)
    key = host_only_key(m, expr.body, f"loop {expr.span}")
    if key is not None and key in m.program.passed_over:
        pass_over(m, expr.body)
        return unit()
    watch = LoopWatch(host_only=key, start=len(m.ops))
    m.loops.append(watch)
    count = terms.known(source.length)
    try:
        if count is not None and count - source.position <= EXACT_ITERATIONS:
            _exact(m, expr, source, count)
        else:
            _general(m, expr, source, count)
    finally:
        m.loops.remove(watch)
        if source.owner is not None:
            finish(source)
            drop_cell(m, source.owner, closing(expr.body.span))
    return unit()


def _iteration(m: Machine, expr: ast.For, source: IterVal, index: int) -> BreakSignal | None:
    with run_scoped(m, closing(expr.body.span)):
        m.bind(expr.pat, Cell(source.get(index)))
        return _turn(m, expr.body, expr.label)


def _exact(m: Machine, expr: ast.For, source: IterVal, count: int) -> None:
    start = len(m.ops)
    while source.position < count:
        source.position += 1
        if _iteration(m, expr, source, source.position - 1) is not None:
            return
        if len(m.ops) - start > EXACT_OPS:
            _not_summarised(m, expr.span, "it does too many operations")
            return


def _general(m: Machine, expr: ast.For, source: IterVal, count: int | None) -> None:
    """Walks iterations until they repeat; one more path for a loop that does not run at all."""
    if count is None and not source.endless and not _surely_runs(m, expr, source):
        return
    watch = LoopWatch(open=True)
    host_only = m.loops[-1].host_only is not None
    m.loops.append(watch)
    repetition = Repetition(m)
    try:
        for index in range(MAX_ITERATIONS):
            if count is not None and index >= count:
                return
            repetition.begin(m, watch)
            if _iteration(m, expr, source, index) is not None:
                return
            finished = repetition.finished(m)
            if finished == "prune":
                raise PruneSignal
            if finished == "end":
                return
            period = repetition.period(m, watch)
            if period is not None and _may_end(count, index + 1, period):
                rounds = None if count is None else (count - index - 1) // period
                _conclude(m, expr.span, repetition, period, rounds, repetition.has_work or not host_only)
                return
    finally:
        m.loops.remove(watch)
    if repetition.has_work or (watch.reasons and not host_only):
        _not_summarised(m, expr.span, repetition.why)


def _surely_runs(m: Machine, expr: ast.For, source: IterVal) -> bool:
    if source.length is not None:
        runs = terms.binary(Op.GT, source.length, 0)
        if isinstance(runs, bool):
            return runs
        return m.decide(runs, f"{m.source_text(expr.iterable)} yields something", expr.iterable.span, unlikely=1)
    text = f"`{m.source_text(expr.iterable)}`"
    where = f"at {expr.span.file}:{expr.span.line}"
    ways = (f"{text} yields something {where}", f"{text} yields nothing {where}")
    return m.choose(ways, turn=True, unlikely=1) == 0


def _may_end(count: int | None, done: int, period: int) -> bool:
    """A known count must leave the loop in the same phase as the iterations that were walked."""
    return count is None or (count - done) % period == 0


def _conclude(m: Machine, span: Span, repetition: Repetition, period: int, rounds: int | None, has_work: bool) -> None:
    """The last ``period`` rounds stand for all later ones (``rounds`` of them, None: not known)."""
    if not has_work:
        return
    why = generalise(m, *repetition.last(period), rounds)
    if why is not None:
        _not_summarised(m, span, why)
        return
    m.generalised.append(f"loop at {span.file}:{span.line}: period {period}")


def _not_summarised(m: Machine, span: Span, why: str) -> None:
    m.gap(span, f"loop not summarised: {why}")


def while_expr(m: Machine, expr: ast.While, expect: ast.Type | None) -> Value:
    """``while`` and ``while let``."""
    _until(m, expr, expr.cond, expr.body, expr.label)
    return unit()


def loop_expr(m: Machine, expr: ast.Loop, expect: ast.Type | None) -> Value:
    """``loop``."""
    ended = _until(m, expr, None, expr.body, expr.label)
    return ended.value if ended is not None else unit()


def _until(m: Machine, expr: ast.Expr, cond: ast.Expr | None, body: ast.Block, label: str | None) -> BreakSignal | None:
    """Iterates while the condition holds; where it is not known, the loop ends after zero rounds or when it repeats."""
    key = host_only_key(m, body, f"loop {expr.span}") if not asks(cond) else None
    if key is not None and cond is not None and key in m.program.passed_over:
        pass_over(m, body)
        return None
    watch = LoopWatch(host_only=key if cond is not None else None, start=len(m.ops))
    m.loops.append(watch)
    repetition = Repetition(m)
    start = len(m.ops)
    index = 0
    try:
        while True:
            repetition.begin(m, watch)
            with run_scoped(m, closing(body.span)):
                goes_on = _condition(m, cond, watch, index)
                if not goes_on:
                    return None
                ended = _turn(m, body, label)
            if ended is not None:
                return ended
            index += 1
            if not watch.open and index <= EXACT_ITERATIONS and len(m.ops) - start <= EXACT_OPS:
                if cond is None and not _may_exit(body):
                    watch.open = True
                continue
            if not watch.open:
                _mark_counters(m, body)
            watch.open = True
            finished = repetition.finished(m)
            if finished == "prune":
                raise PruneSignal
            if finished == "end":
                return _leave(m, cond, body)
            period = repetition.period(m, watch)
            if period is not None:
                _conclude(m, expr.span, repetition, period, None, repetition.has_work)
                return _leave(m, cond, body)
            if index >= MAX_ITERATIONS + EXACT_ITERATIONS or (
                repetition.rounds >= MAX_ITERATIONS and index > MAX_ITERATIONS
            ):
                if key is not None and not repetition.has_work:
                    pass_over(m, body)
                    return None
                _not_summarised(m, expr.span, repetition.why)
                return None
    finally:
        m.loops.remove(watch)


def _condition(m: Machine, cond: ast.Expr | None, watch: LoopWatch, index: int) -> bool:
    if cond is None:
        return True
    if isinstance(cond, ast.LetCond):
        return _let_condition(m, cond, watch, index)
    was_open, watch.open = watch.open, False
    with statement(m, cond.span):
        found = peel(m.value(cond))
    watch.open = was_open
    if isinstance(found, bool):
        return found
    watch.open = True
    if index == 0:
        return m.decide(found, m.source_text(cond), cond.span, unlikely=1)
    return True


def _mark_counters(m: Machine, body: ast.Block) -> None:
    """Known integers that the body assigns to are counters from now on."""
    for node in walk(body):
        if isinstance(node, ast.Assign) and isinstance(node.target, ast.PathExpr) and len(node.target.path.names) == 1:
            cell = m.lookup(node.target.path.names[0])
            if cell is not None and terms.is_int(cell.value):
                cell.value = terms.Counter(cell.value)  # type: ignore[call-overload]


def _let_condition(m: Machine, cond: ast.LetCond, watch: LoopWatch, index: int) -> bool:
    from gpusafe.dataflow.host.patterns import matches

    cell = m.place(cond.value)
    matched = matches(m, cond.pat, cell)
    if matched is None:
        watch.open = True
        matched = True
        if index == 0:
            text = f"`{m.source_text(cond)}`"
            matched = m.choose((f"{text} matches", f"{text} does not match"), turn=True, unlikely=1) == 0
    if matched:
        m.bind(cond.pat, cell)
    return matched


def _may_exit(body: ast.Block) -> bool:
    return any(isinstance(n, (ast.Break, ast.Return, ast.Try, ast.MacroCall)) for n in walk(body))


def _leave(m: Machine, cond: ast.Expr | None, body: ast.Block) -> BreakSignal | None:
    """A repeating loop ends: by its condition, or (for ``loop``) only through a break that other paths take."""
    if cond is not None:
        return None
    if _may_exit(body):
        raise PruneSignal
    raise PanicSignal(exits=True)
