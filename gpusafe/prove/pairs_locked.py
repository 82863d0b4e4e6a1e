"""Accesses that one lock keeps apart: whoever takes it comes after whoever gave it back.

A lock is a cell that is taken by a read-modify-write which finds zero and leaves something else, and freed by storing
zero, which only its holder does. Each zero is found by one such operation only (PTX ISA, atomicity), so the critical
sections of a cell form a chain; where each taking acquires and each freeing releases, at a scope that includes all
threads, each section happens before the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gpusafe.dataflow.accesses import Access, AtomicResult, Trace
from gpusafe.dataflow.terms import Term
from gpusafe.prove.encode import Encoder, Thread
from gpusafe.prove.pairs import Setting, where
from gpusafe.prove.pairs_handed_over import ACQUIRES, RELEASES, WIDE, on_the_way, signals

Z = Any
TAKES = frozenset({"cas", "exch", "or"})
FREES = frozenset({"store", "exch"})


@dataclass(frozen=True, slots=True)
class Hold:
    """A lock that is held at a place: the operation that took it, and what that found, as the place knows it."""

    take: AtomicResult
    found: Term

    @property
    def loops(self) -> tuple[Term, ...]:
        """The iterations of the loops around the taking."""
        return self.found.args[1 + len(self.take.operands) :]


@dataclass(frozen=True, slots=True)
class Lock:
    """The operations on the cells of a region that is used as locks."""

    region: str
    takes: tuple[AtomicResult, ...]
    frees: tuple[Access, ...]


def locks(trace: Trace) -> tuple[Lock, ...]:
    """The regions that are used as locks and as nothing else."""
    out = []
    for region, writes in signals(trace).items():
        results = [r for r in trace.atomics if r.access in writes]
        takes = tuple(r for r in results if _takes(r))
        frees = tuple(r.access for r in results if r.access.op in FREES and r.operands[0].const == 0)
        if not takes or len(takes) + len(frees) != len(results) or any(w.scope not in WIDE for w in writes):
            continue
        lock = Lock(region, takes, frees)
        if all(_frees_its_own(trace, lock, free) for free in frees):
            out.append(lock)
    return tuple(out)


def _takes(result: AtomicResult) -> bool:
    if result.access.op == "cas" and result.operands[0].const != 0:
        return False
    return result.access.op in TAKES and result.operands[-1].const not in (None, 0)


def holds(trace: Trace, lock: Lock, access: Access) -> list[Hold]:
    """The takings of a lock under which an access is made."""
    out = []
    for term in _found_zero(trace, access):
        take = next((t for t in lock.takes if t.access.seq == term.data[1]), None)
        if take is None or take.access.seq >= access.seq:
            continue
        hold = Hold(take, term)
        common = _common(hold.loops, access.context.loops)
        around = take.access.context.loops
        between = [f for f in lock.frees if take.access.seq < f.seq < access.seq]
        inner = [f for f in lock.frees if len(f.context.loops) > common and f.context.loops != around]
        if not between and not inner:
            out.append(hold)
    return out


def _found_zero(trace: Trace, access: Access) -> Iterator[Term]:
    """The atomics that are known to have found zero when an access is made."""
    todo = list(where(trace, access))
    while todo:
        cond = todo.pop()
        if cond.op == "&&":
            todo.extend(cond.args)
        elif cond.op == "==" and cond.args[0].op == "atomic" and cond.args[1].const == 0:
            yield cond.args[0]


def _common(one: tuple[Term, ...], two: tuple[Term, ...]) -> int:
    count = 0
    while count < min(len(one), len(two)) and one[count] is two[count]:
        count += 1
    return count


def _frees_its_own(trace: Trace, lock: Lock, free: Access) -> bool:
    """Whether a lock is freed by its holder alone, in the turn of the loops in which it was taken, and in order."""
    for hold in holds(trace, lock, free):
        take = hold.take.access
        loops = free.context.loops
        if hold.found.args[0] is not free.offset or _common(hold.loops, loops) != len(loops):
            continue
        fences = [f for f in trace.fences if take.seq < f.seq < free.seq]
        acquired = [f.seq for f in fences if on_the_way(f, free, False, ACQUIRES)]
        released = [f.seq for f in fences if on_the_way(f, free, False, RELEASES)]
        acquired += [take.seq] if take.order in ACQUIRES else []
        released += [free.seq] if free.order in RELEASES else []
        if acquired and released and min(acquired) <= max(released):
            return True
    return False


def locked(enc: Encoder, setting: Setting, first: tuple[Access, Thread], second: tuple[Access, Thread]) -> Iterator[Z]:
    """Conditions each of which puts the two accesses into different sections of one lock."""
    (a, one), (b, two) = first, second
    for lock in setting.locks:
        mine = [h for h in holds(setting.trace, lock, a) if _orders(setting.trace, lock, h, a)]
        theirs = [h for h in holds(setting.trace, lock, b) if _orders(setting.trace, lock, h, b)] if mine else []
        for x in mine:
            for y in theirs:
                setting.relied.add(lock.region)
                yield enc.encode(x.found.args[0], one) == enc.encode(y.found.args[0], two)


def _orders(trace: Trace, lock: Lock, hold: Hold, access: Access) -> bool:
    """Whether the section's access comes after what the taking acquires, and is released with the lock."""
    take = hold.take.access
    acquired = take.order in ACQUIRES or any(
        take.seq < f.seq < access.seq and on_the_way(f, access, False, ACQUIRES) for f in trace.fences
    )
    frees = [f for f in lock.frees if f.seq > access.seq]
    return acquired and all(
        free.order in RELEASES
        or any(
            access.seq < f.seq < free.seq and on_the_way(f, free, False, RELEASES, access.context.guard)
            for f in trace.fences
        )
        for free in frees
    )
