"""All executions of a choice of traces: who reads whom, the order of fence.sc, who meets at barriers, coherence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from gpusafe.errors import GpusafeError
from gpusafe.parse.litmus import ThreadCode
from gpusafe.prove.memory_model import relation as rel
from gpusafe.prove.memory_model.axioms import coherences, fence_order, no_thin_air
from gpusafe.prove.memory_model.barriers import meetings
from gpusafe.prove.memory_model.causality import causes
from gpusafe.prove.memory_model.execution import Execution
from gpusafe.prove.memory_model.relation import Relation
from gpusafe.prove.memory_model.structure import Structure, structure
from gpusafe.prove.memory_model.unfold import Trace

CANDIDATES = 400_000


def choices(
    traces: list[list[Trace]], initial: dict[str, int], possible: Callable[[tuple[Trace, ...]], bool]
) -> Iterator[tuple[Trace, ...]]:
    """Choices of one trace a thread whose reads can all be served; ``possible`` prunes choices for some threads."""
    todo: list[tuple[Trace, ...]] = [()]
    count = 0
    while todo:
        chosen = todo.pop()
        if chosen and not possible(chosen):
            continue
        count += 1
        if count > CANDIDATES:
            raise GpusafeError("litmus: too many candidate executions")
        if len(chosen) < len(traces):
            todo.extend((*chosen, trace) for trace in traces[len(chosen)])
        elif _served(chosen, initial):
            yield chosen


def _served(chosen: tuple[Trace, ...], initial: dict[str, int]) -> bool:
    written = set(initial.items())
    events = [e for t in chosen for e in t.events if e.location is not None]
    written.update((e.location.cell, e.value) for e in events if e.kind == "W" and e.location is not None)
    return all(e.location is not None and (e.location.cell, e.value) in written for e in events if e.kind == "R")


def executions(
    s: Structure, threads: tuple[ThreadCode, ...], traces: tuple[Trace, ...], *, limit: int = CANDIDATES
) -> Iterator[Execution]:
    """All executions of the chosen traces that the axioms allow, with least coherence."""
    met = meetings(s, threads, traces)
    if met is None:
        return
    fences = sc_orders(s)
    sources = [_sources(s, read) for read in s.reads]
    count = 0
    for chosen in product(*sources):
        count += 1
        if count > limit:
            raise GpusafeError("litmus: too many candidate executions")
        rf = rel.of(len(s.events), zip(chosen, s.reads, strict=True))
        if not no_thin_air(s, rf):
            continue
        for sync_barrier in met:
            for sync_fence in fences:
                caused = causes(s, rf, sync_fence, sync_barrier)
                if not fence_order(sync_fence, caused):
                    continue
                for co, fr in coherences(s, rf, caused):
                    yield Execution(s, traces, rf, co, fr, sync_fence, sync_barrier, caused)


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


__all__ = ["CANDIDATES", "choices", "executions", "sc_orders", "structure"]
