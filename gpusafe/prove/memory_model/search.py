"""All executions of a choice of traces: who reads whom, the order of fence.sc, who meets at barriers, coherence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

from gpusafe.errors import GpusafeError
from gpusafe.parse.litmus import ThreadCode
from gpusafe.prove.memory_model import relation as rel
from gpusafe.prove.memory_model.axioms import coherences, fence_order, no_thin_air, viable
from gpusafe.prove.memory_model.barriers import meetings
from gpusafe.prove.memory_model.causality import Causes, causes
from gpusafe.prove.memory_model.execution import Execution
from gpusafe.prove.memory_model.relation import Relation
from gpusafe.prove.memory_model.structure import Structure, structure
from gpusafe.prove.memory_model.supply import Supply
from gpusafe.prove.memory_model.unfold import Trace

CHOICES = 400_000
CANDIDATES = 60_000


def choices(
    traces: list[list[Trace]], initial: dict[str, int], possible: Callable[[tuple[Trace, ...]], bool]
) -> Iterator[tuple[Trace, ...]]:
    """Choices of one trace a thread whose reads can all be served; ``possible`` prunes choices for some threads."""
    supply = Supply(traces, initial)
    todo: list[tuple[Trace, ...]] = [()]
    count = 0
    while todo:
        chosen = todo.pop()
        count += 1
        if count > CHOICES:
            raise GpusafeError("litmus: too many candidate executions")
        if chosen and not (possible(chosen) and supply.enough(chosen)):
            continue
        if len(chosen) < len(traces):
            todo.extend((*chosen, trace) for trace in traces[len(chosen)])
        else:
            yield chosen


def executions(
    s: Structure, threads: tuple[ThreadCode, ...], traces: tuple[Trace, ...], budget: Budget
) -> Iterator[Execution]:
    """All executions of the chosen traces that the axioms allow, with least coherence.

    Who reads whom, and then the order of fence.sc, are chosen step by step. All axioms forbid: what is forbidden with
    some of the choices made stays so with more of them, and is not followed any further.
    """
    met = meetings(s, threads, traces)
    if met is None:
        return
    for sync_barrier in met:
        for rf in _reads_from(s, sync_barrier, budget):
            for sync_fence, caused in _fences(s, rf, sync_barrier, budget):
                for co, fr in coherences(s, rf, caused):
                    yield Execution(s, traces, rf, co, fr, sync_fence, sync_barrier, caused)


@dataclass(slots=True)
class Budget:
    """How many candidates may be looked at (a count, so that the same test has the same answer everywhere)."""

    left: int = CANDIDATES

    def take(self) -> None:
        """Looks at one; raises GpusafeError when there are no more to be had."""
        self.left -= 1
        if self.left < 0:
            raise GpusafeError("litmus: too many candidate executions")


def _reads_from(s: Structure, sync_barrier: Relation, budget: Budget) -> Iterator[Relation]:
    """Who reads whom, as far as the axioms allow it before fences are ordered."""
    sources = sorted(((_sources(s, read), read) for read in s.reads), key=lambda found: len(found[0]))
    certain = rel.intersection(_in_order(s), s.po)
    todo: list[tuple[int, ...]] = [()]
    while todo:
        chosen = todo.pop()
        budget.take()
        rf = rel.of(len(s.events), ((w, read) for w, (_, read) in zip(chosen, sources, strict=False)))
        if not no_thin_air(s, rf) or not viable(s, rf, causes(s, rf, certain, sync_barrier)):
            continue
        if len(chosen) == len(sources):
            yield rf
            continue
        of_next, read = sources[len(chosen)]
        taken = {w for w, (_, other) in zip(chosen, sources, strict=False) if _exclude_each_other(s, w, read, other)}
        todo.extend((*chosen, w) for w in reversed(of_next) if w not in taken)


def _exclude_each_other(s: Structure, write: int, one: int, two: int) -> bool:
    """Whether two reads cannot both read ``write``: they are of atomics, of which one sees the other (Atomicity)."""
    a, b = (next(rel.bits(s.rmw[read]), None) for read in (one, two))
    if a is None or b is None:
        return False
    together = s.ms[a] >> b & 1 and s.ms[one] >> b & 1 and s.ms[two] >> a & 1
    return bool(together) and (s.events[write].thread < 0 or bool(s.ms[write] >> one & s.ms[write] >> two & 1))


def _fences(s: Structure, rf: Relation, sync_barrier: Relation, budget: Budget) -> Iterator[tuple[Relation, Causes]]:
    """The orders of morally strong fence.sc that the axioms allow, with the causality that follows."""
    possible = _in_order(s)
    todo = [rel.intersection(possible, s.po)]
    pairs = [(a, b) for a in s.sc_fences for b in s.sc_fences if a < b and s.ms[a] >> b & 1]
    while todo:
        order = todo.pop()
        budget.take()
        caused = causes(s, rf, order, sync_barrier)
        if not rel.acyclic(rel.union(order, s.po)) or not viable(s, rf, caused) or not fence_order(order, caused):
            continue
        pair = next(((a, b) for a, b in pairs if not (order[a] >> b & 1 or order[b] >> a & 1)), None)
        if pair is None:
            yield order, caused
            continue
        for a, b in (pair[::-1], pair):
            wider = list(order)
            wider[a] |= 1 << b
            todo.append(wider)


def _in_order(s: Structure) -> Relation:
    """All pairs of morally strong fence.sc."""
    pairs = ((a, b) for a in s.sc_fences for b in s.sc_fences if a != b and s.ms[a] >> b & 1)
    return rel.of(len(s.events), pairs)


def _sources(s: Structure, read: int) -> list[int]:
    value = s.events[read].value
    here = s.same_cell[read]
    # a thread's own later write is no source: no model of this family lets a read see it
    later = s.po[read]
    return [w for w in s.writes if here >> w & 1 and s.events[w].value == value and not later >> w & 1]


def sc_orders(s: Structure) -> list[Relation]:
    """The orders of morally strong fence.sc that agree with program order."""
    fences = s.sc_fences
    pairs = [(a, b) for a in fences for b in fences if a < b and s.ms[a] >> b & 1]
    found: list[Relation] = []
    for turned in product((False, True), repeat=len(pairs)):
        if any(t and s.po[a] >> b & 1 for t, (a, b) in zip(turned, pairs, strict=True)):
            continue
        order = rel.of(len(s.events), ((b, a) if t else (a, b) for t, (a, b) in zip(turned, pairs, strict=True)))
        if rel.acyclic(rel.union(order, s.po)):
            found.append(order)
    return found


__all__ = ["Budget", "choices", "executions", "sc_orders", "structure"]
