"""All paths through one root: the walk is repeated with other decisions until every alternative was taken."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from gpusafe.dataflow.host import blocks, calls, drops, evaluate, inlining, patterns
from gpusafe.dataflow.host.accounting import note_lost
from gpusafe.dataflow.host.machine import Call, Decision, Hooks, Machine
from gpusafe.dataflow.host.program import Function, Program
from gpusafe.dataflow.host.signals import CutSignal, PanicSignal, PruneSignal, RestartSignal, Signal
from gpusafe.dataflow.host.symbolic import symbolic
from gpusafe.dataflow.host.values import Cell, Value
from gpusafe.ir.host import Frame, Gap, HostOp, HostPath
from gpusafe.parse.rust import ast
from gpusafe.span import Span

MAX_PATHS = 64
MAX_WALKS = 160
MAX_STEPS_OF_A_ROOT = 100_000
MIN_STEPS_OF_A_ROOT = 600  # also when the program has used up its steps
MAX_WALKS_IN_A_HURRY = 8


@dataclass(frozen=True, slots=True)
class Explored:
    """The paths of a root, and the functions that were entered on the way (module paths)."""

    paths: tuple[HostPath, ...]
    visited: frozenset[str]


def _call_method(m: Machine, owner: str, name: str, receiver: Cell, args: list[Value], span: Span) -> Value:
    function = m.program.method(owner, name, m.home)
    if function is None:
        return m.unknown(f"`{name}`")
    return inlining.call_function(m, function, [calls.self_value(m, function, receiver), *args], span, None, None)


def _method(m: Machine, receiver: Cell, name: str, args: list[Value], expr: ast.MethodCall) -> Value:
    return calls.call_method(m, receiver, name, args, expr)


HOOKS = Hooks(
    value=evaluate.value,
    place=evaluate.place,
    block=blocks.run_block,
    bind=patterns.bind,
    invoke=calls.invoke,
    method=_method,
    drop=drops.drop_value,
    call_method=_call_method,
)


def explore(program: Program, root: Function) -> Explored:
    """Walks every path of a root function."""
    decisions: list[Decision] = []
    paths: dict[object, HostPath] = {}
    visited: set[str] = set()
    steps = 0
    budget = max(MIN_STEPS_OF_A_ROOT, min(MAX_STEPS_OF_A_ROOT, program.steps_left))
    hurried = program.steps_left <= 0
    for _ in range(MAX_WALKS_IN_A_HURRY if hurried else MAX_WALKS):
        machine = Machine(program, HOOKS, decisions, hurried=hurried)
        try:
            path = _walk(machine, root)
        except RestartSignal:
            decisions = machine.decisions[: machine.cursor]
            continue
        visited |= machine.visited
        steps += machine.steps
        program.steps_left -= machine.steps
        if path is not None:
            key = (path.ops, path.assumes)
            paths[key] = _either(paths[key], path) if key in paths else path
        decisions = _next(machine.decisions[: machine.cursor])
        if not decisions:
            return Explored(tuple(paths.values()), frozenset(visited))
        if len(paths) >= MAX_PATHS or steps > budget:
            break
    return Explored(_too_many(tuple(paths.values()), root), frozenset(visited))


def _either(one: HostPath, other: HostPath) -> HostPath:
    """Two walks that do the same: what they decide differently does not matter."""
    ways = {t.site: t.taken for t in other.turns}
    return replace(one, turns=tuple(t for t in one.turns if ways.get(t.site) == t.taken))


def _next(decisions: list[Decision]) -> list[Decision]:
    """The decisions of the next walk: the last one that has an alternative left takes it."""
    kept = list(decisions)
    while kept:
        last = kept.pop()
        if last.taken + 1 < last.count:
            return [*kept, Decision(last.taken + 1, last.count)]
    return []


def _too_many(paths: tuple[HostPath, ...], root: Function) -> tuple[HostPath, ...]:
    """The paths that were walked, the last one with a gap for those that were not."""
    reason = f"not all paths through `{root.name}` were walked (more than {MAX_PATHS}, or too long)"
    span = root.item.span
    last = paths[-1] if paths else HostPath(root.name, span, (), {}, {})
    frames = last.ops[-1].frames[:1] if last.ops else (Frame(root.name, span, span),)
    cut = replace(last, ops=(*last.ops, Gap(frames, reason, reason)), complete=False)
    return (*paths[:-1], cut)


def _walk(m: Machine, root: Function) -> HostPath | None:
    item = root.item
    complete, ended, kept = True, True, []
    base = Call(item.name, item.span, root.home, item.span, owner=root.owner, key="", temporaries=[[]])
    m.calls.append(base)
    try:
        if root.self_type is not None:
            base.types["Self"] = root.self_type
        kept = [symbolic(m, p.type, _name(p), p.span) for p in item.params]
        m.calls.pop()
        kept.append(inlining.enter(m, root, list(kept), item.span, None))
        m.calls.append(base)
    except (PruneSignal, RestartSignal) as stop:
        if isinstance(stop, RestartSignal):
            raise
        return None
    except PanicSignal as panic:
        ended = not panic.exits
    except CutSignal as cut:
        complete = False
        m.calls[:] = m.calls or [base]
        m.gap(m.calls[-1].at, cut.reason)
    except Signal:
        pass
    except (RecursionError, Exception) as problem:  # one function costs its own paths only
        complete = False
        m.calls[:] = m.calls or [base]
        m.gap(m.calls[-1].at, f"internal problem of the host executor: {type(problem).__name__}: {problem}")
        if m.program.strict:
            raise
    m.calls[:] = [base]
    if complete and ended:
        note_lost(m, kept, item.span)
    for reason in dict.fromkeys(m.closing_gaps):
        m.gap(item.span, reason)
    return HostPath(
        root=root.name,
        root_span=item.span,
        ops=tuple(_settled(m, op) for op in m.ops),
        streams=dict(m.streams),
        memory={k: v.memory for k, v in m.memory.items()},
        conditions=tuple(dict.fromkeys(m.conditions)),
        assumes=tuple(m.assumes),
        threads=dict(m.op_threads),
        guards={k: m.settled(v) for k, v in m.guards.items()},
        complete=complete,
        generalised=tuple(dict.fromkeys(m.generalised)),
        turns=tuple(m.turns),
    )


def _settled(m: Machine, op: HostOp) -> HostOp:
    texts = {n: getattr(op, n) for n in ("label", "reason", "first", "second") if hasattr(op, n)}
    changed: dict[str, Any] = {n: m.settled(t) for n, t in texts.items() if "\0" in t}
    return replace(op, **changed) if changed else op


def _name(param: ast.Param) -> str:
    return param.pat.name if isinstance(param.pat, ast.PatIdent) else "argument"
