"""The axioms (PTX ISA, 8.10), and the least coherence order that satisfies them."""

from __future__ import annotations

from collections.abc import Iterator

from gpusafe.prove.memory_model import relation as rel
from gpusafe.prove.memory_model.causality import Causes
from gpusafe.prove.memory_model.models import Model
from gpusafe.prove.memory_model.relation import Relation
from gpusafe.prove.memory_model.structure import Structure


def no_thin_air(s: Structure, rf: Relation) -> bool:
    """No value is its own reason."""
    return rel.acyclic(rel.union(rf, s.depends))


def fence_order(sync_fence: Relation, causes: Causes) -> bool:
    """Fence-SC: causality does not go against the order of fence.sc."""
    return not any(sync_fence) or rel.irreflexive(rel.compose(sync_fence, causes.cause))


def coherences(s: Structure, rf: Relation, causes: Causes) -> Iterator[tuple[Relation, Relation]]:
    """Coherence orders with their from-reads that satisfy Coherence, Atomicity, Causality and SC-per-location.

    Coherence need not be total: only morally strong writes must be ordered. Every axiom forbids, so a larger order
    never allows more, and only the least ones are given.
    """
    caused_by = rel.inverse(causes.cause)
    if any(rel.intersection(rf, caused_by)):  # Causality, whatever the order of writes
        return
    todo = [_least(s, causes)]
    readers = rel.inverse(rf)
    seen: set[tuple[int, ...]] = set()
    while todo:
        co = todo.pop()
        if tuple(co) in seen or not rel.irreflexive(co):
            continue
        seen.add(tuple(co))
        fr = rel.compose(readers, co)
        if not consistent(s, rf, co, fr, caused_by):
            continue
        pair = _unordered(s, co)
        if pair is None:
            yield co, fr
            continue
        for a, b in (pair, pair[::-1]):
            wider = list(co)
            wider[a] |= 1 << b
            todo.append(rel.closure(wider))


def viable(s: Structure, rf: Relation, causes: Causes) -> bool:
    """Whether the axioms may hold yet, with some reads and fences not settled: more of them never allow more."""
    caused_by = rel.inverse(causes.cause)
    co = _least(s, causes)
    return rel.irreflexive(co) and consistent(s, rf, co, rel.compose(rel.inverse(rf), co), caused_by)


def _least(s: Structure, causes: Causes) -> Relation:
    """The order of writes that causality asks for."""
    start = rel.empty(len(s.events))
    for write in s.writes:
        mine = s.same_cell[write] & s.write_set
        if s.events[write].thread < 0:
            start[write] = mine & ~(1 << write)
        else:
            start[write] = causes.cause[write] & mine
    return rel.closure(start)


def _unordered(s: Structure, co: Relation) -> tuple[int, int] | None:
    """Two morally strong writes to one cell that the order does not relate yet."""
    for a in s.writes:
        for b in rel.bits(s.ms[a] & s.same_cell[a] & s.write_set & ~co[a] & ~((2 << a) - 1)):
            if not co[b] >> a & 1:
                return a, b
    return None


def consistent(s: Structure, rf: Relation, co: Relation, fr: Relation, caused_by: Relation) -> bool:
    """Causality, Atomicity and SC-per-location; ``caused_by`` is the inverse of causality order."""
    if any(rel.intersection(rel.union(rf, fr), caused_by)):  # Causality
        return False
    if any(s.rmw):  # Atomicity
        between = rel.compose(rel.intersection(s.ms, fr), rel.intersection(s.ms, co))
        if any(rel.intersection(between, s.rmw)):
            return False
    if s.model is Model.PTX_6_0:  # SC-per-location
        communication = rel.intersection(s.ms, rel.union(rf, co, fr))
        return rel.acyclic(rel.union(communication, rel.intersection(s.po, s.same_cell)))
    return True
