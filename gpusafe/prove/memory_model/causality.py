"""Observation, synchronisation and causality order (PTX ISA, 8.9.2 to 8.9.5), and the proxy rules of 8.9.5 in v7.5."""

from __future__ import annotations

from dataclasses import dataclass

from gpusafe.prove.memory_model import relation as rel
from gpusafe.prove.memory_model.models import Model
from gpusafe.prove.memory_model.relation import Relation
from gpusafe.prove.memory_model.structure import Structure


@dataclass(frozen=True, slots=True)
class Causes:
    """The orders that follow from who reads whom and from the order of fence.sc and barriers."""

    observation: Relation
    sync: Relation
    base: Relation
    cause: Relation


def observation(s: Structure, rf: Relation) -> Relation:
    """What a morally strong read observes, also through chains of read-modify-writes."""
    out = rel.intersection(s.ms, rf)
    if not any(s.rmw):
        return out
    while True:
        wider = rel.union(out, rel.compose(rel.compose(out, s.rmw), out))
        if wider == out:
            return out
        out = wider


def causes(s: Structure, rf: Relation, sync_fence: Relation, sync_barrier: Relation) -> Causes:
    """All of them, for one candidate execution."""
    observed = observation(s, rf)
    sync = rel.intersection(s.ms, rel.compose(rel.compose(s.release, observed), s.acquire))
    synchronised = rel.union(sync, sync_fence, sync_barrier)
    everything = rel.closure(rel.union(s.po, synchronised))
    if s.model is Model.PTX_6_0:
        starts = rel.union(synchronised, rel.compose(s.po, synchronised))
        base = rel.union(starts, rel.compose(starts, everything))
        near = rel.intersection(s.po, s.same_cell)
        return Causes(observed, sync, base, rel.union(base, rel.compose(observed, rel.union(base, near))))
    preserved = proxy_preserved(s, everything)
    return Causes(observed, sync, everything, rel.union(preserved, rel.compose(observed, preserved)))


def proxy_preserved(s: Structure, base: Relation) -> Relation:
    """Base causality that also holds across proxies and aliases.

    A generic access needs no fence. Another one needs a proxy fence of its proxy in its own CTA between it and the
    other side, unless both sides use one proxy in one CTA; accesses by different virtual addresses need an alias fence.
    """
    near = rel.intersection(base, s.same_address)
    if all(e.kind != "P" and (e.location is None or e.proxy == "generic") for e in s.events):
        return near
    generic = sum(1 << i for i, e in enumerate(s.events) if e.location is not None and e.proxy == "generic")
    out = rel.from_set(generic, rel.to_set(near, generic))
    alias = 0
    acts_on = rel.empty(len(s.events))  # proxy fence to the accesses of its proxy in its CTA
    for i, event in enumerate(s.events):
        if event.kind == "P":
            alias |= (event.proxy == "alias") << i
            acts_on[i] = sum(
                1 << j
                for j, other in enumerate(s.events)
                if other.location is not None and other.proxy == event.proxy and _one_cta(s, i, j)
            )
        elif event.location is not None:
            for j in rel.bits(near[i]):
                if s.events[j].proxy == event.proxy and _one_cta(s, i, j):
                    out[i] |= 1 << j
    if not any(e.kind == "P" for e in s.events):
        return out
    leave = rel.intersection(base, rel.inverse(acts_on))  # access, then a fence that acts on it
    enter = rel.intersection(base, acts_on)  # fence, then an access that it acts on
    reach_generic = rel.to_set(base, generic)
    from_generic = rel.from_set(generic, base)
    both = rel.union(
        rel.compose(leave, reach_generic),
        rel.compose(from_generic, enter),
        rel.compose(leave, enter),
        rel.compose(rel.compose(leave, base), enter),
    )
    out = rel.union(out, rel.intersection(s.same_address, both))
    if alias:
        before = rel.to_set(rel.union(from_generic, rel.compose(leave, base), leave), alias)
        after = rel.from_set(alias, rel.union(reach_generic, rel.compose(base, enter), enter))
        out = rel.union(out, rel.intersection(s.same_cell, rel.compose(before, after)))
    return out


def _one_cta(s: Structure, i: int, j: int) -> bool:
    one, two = s.events[i].place, s.events[j].place
    return one is not None and two is not None and one.shares(two, "cta")
