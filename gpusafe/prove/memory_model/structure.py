"""What is fixed once each thread's way is chosen: program order, moral strength, patterns."""

from __future__ import annotations

from dataclasses import dataclass

from gpusafe.parse.litmus import Location
from gpusafe.prove.memory_model import relation as rel
from gpusafe.prove.memory_model.events import Event
from gpusafe.prove.memory_model.models import Model
from gpusafe.prove.memory_model.relation import Relation
from gpusafe.prove.memory_model.unfold import Trace


@dataclass(frozen=True, slots=True)
class Structure:
    """Events of all threads (writes of the initial state first) and the relations that no choice changes.

    ``same_cell`` is over memory events, ``same_address`` over those with one virtual address. ``release`` goes from
    the first event of a release pattern to its strong write, ``acquire`` from a strong read to the last event of its
    acquire pattern (PTX ISA, 8.9).
    """

    model: Model
    events: tuple[Event, ...]
    starts: tuple[int, ...]
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    write_set: int
    po: Relation
    same_cell: Relation
    same_address: Relation
    ms: Relation
    rmw: Relation
    depends: Relation
    release: Relation
    acquire: Relation
    sc_fences: tuple[int, ...]


def structure(model: Model, initial: dict[str, int], traces: tuple[Trace, ...]) -> Structure:
    """The structure of a choice of traces."""
    events: list[Event] = [
        Event("W", -1, location=Location(cell, cell), value=value, text="initial") for cell, value in initial.items()
    ]
    size = len(events) + sum(len(t.events) for t in traces)
    starts, po, rmw, depends = [], rel.empty(size), rel.empty(size), rel.empty(size)
    for trace in traces:
        start = len(events)
        starts.append(start)
        end = start + len(trace.events)
        for at, event in enumerate(trace.events, start):
            po[at] = (1 << end) - (2 << at)
            for source in rel.bits(event.depends):
                depends[start + source] |= 1 << at
            if event.pair is not None:
                rmw[start + event.pair] |= 1 << at
        events.extend(trace.events)
    same_cell, same_address = _sameness(events)
    ms = _morally_strong(model, events, po, same_cell, same_address)
    writes = tuple(i for i, e in enumerate(events) if e.kind == "W")
    near = rel.intersection(po, same_cell if model is Model.PTX_6_0 else same_address)
    return Structure(
        model,
        tuple(events),
        tuple(starts),
        tuple(i for i, e in enumerate(events) if e.kind == "R"),
        writes,
        sum(1 << w for w in writes),
        po,
        same_cell,
        same_address,
        ms,
        rmw,
        depends,
        _release(events, po, near),
        _acquire(events, po, near),
        tuple(i for i, e in enumerate(events) if e.kind == "F" and e.order == "sc"),
    )


def _sameness(events: list[Event]) -> tuple[Relation, Relation]:
    cells: dict[str, int] = {}
    addresses: dict[str, int] = {}
    for i, event in enumerate(events):
        if event.location is not None:
            cells[event.location.cell] = cells.get(event.location.cell, 0) | 1 << i
            addresses[event.location.address] = addresses.get(event.location.address, 0) | 1 << i
    where = [e.location for e in events]
    return (
        [0 if loc is None else cells[loc.cell] for loc in where],
        [0 if loc is None else addresses[loc.address] for loc in where],
    )


def _morally_strong(
    model: Model, events: list[Event], po: Relation, same_cell: Relation, same_address: Relation
) -> Relation:
    """8.6: in program order, or both strong with scopes that include each other; one proxy; full overlap."""
    out = rel.empty(len(events))
    overlap = same_cell if model is Model.PTX_6_0 else same_address
    for i, one in enumerate(events):
        for j in range(i):
            two = events[j]
            if not (po[j] >> i & 1 or _mutually_included(one, two)):
                continue
            if model is not Model.PTX_6_0 and one.proxy != two.proxy:
                continue
            if one.location is not None and two.location is not None and not overlap[i] >> j & 1:
                continue
            out[i] |= 1 << j
            out[j] |= 1 << i
    return out


def _mutually_included(one: Event, two: Event) -> bool:
    if not (one.strong and two.strong) or one.place is None or two.place is None or one.thread == two.thread:
        return False
    return one.place.shares(two.place, one.scope) and two.place.shares(one.place, two.scope)


def _release(events: list[Event], po: Relation, near: Relation) -> Relation:
    """A release write and a later strong write to its cell, or a releasing fence and any later strong write."""
    strong = sum(1 << i for i, e in enumerate(events) if e.kind == "W" and e.strong)
    out = rel.empty(len(events))
    for i, event in enumerate(events):
        if event.kind == "W" and event.order == "release":
            out[i] = 1 << i | near[i] & strong
        elif event.kind == "F" and event.order in ("release", "acq_rel", "sc"):
            out[i] = po[i] & strong
    return out


def _acquire(events: list[Event], po: Relation, near: Relation) -> Relation:
    """A strong read and a later acquire read of its cell (or itself), or a strong read and a later acquiring fence."""
    loads = sum(1 << i for i, e in enumerate(events) if e.kind == "R" and e.order == "acquire" and e.acquires)
    fences = sum(1 << i for i, e in enumerate(events) if e.kind == "F" and e.order in ("acquire", "acq_rel", "sc"))
    out = rel.empty(len(events))
    for i, event in enumerate(events):
        if event.kind == "R" and event.strong and event.acquires:
            out[i] = po[i] & fences | (near[i] | 1 << i) & loads
    return out
