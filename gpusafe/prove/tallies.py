"""Counters in shared memory that a block sets, adds to atomically, and then reads: barriers lie between the three.

Who adds finds a value of its own, and what is read behind the last barrier is more than anybody found: the elements
that a block keeps have places below the total, by which it may reserve its part of an output.
"""

from __future__ import annotations

from math import prod
from typing import Any

import z3

from gpusafe.dataflow.accesses import Access, Trace
from gpusafe.dataflow.intervals import core
from gpusafe.dataflow.phases import points
from gpusafe.dataflow.terms import Term
from gpusafe.prove.encode import Encoder, Thread
from gpusafe.prove.published import named_index

Z = Any
MAX_THREADS = 1024  # of a block (CUDA C programming guide, compute capabilities)


def tallies(trace: Trace, per_block: frozenset[str], specials: dict[str, Term]) -> dict[str, int]:
    """The shared regions that are used so, with what their cells may come to at most."""
    found = {r.access.region for r in trace.atomics} & per_block
    most = {region: _most(trace, region, specials) for region in found}
    return {region: value for region, value in most.items() if value is not None}


def _most(trace: Trace, region: str, specials: dict[str, Term]) -> int | None:
    accesses = [a for a in trace.accesses if a.region == region]
    adds = [r for r in trace.atomics if r.access.region == region]
    sets = [a for a in accesses if a.mode == "write"]
    reads = [a for a in accesses if a.mode == "read"]
    if len(sets) + len(reads) + len(adds) != len(accesses) or not sets or any(a.context.loops for a in accesses):
        return None
    if len({a.offset.const for a in accesses}) != 1 or accesses[0].offset.const is None:
        return None  # one cell, so that the one that is set is the one that counts
    if not all(_certain(a) for a in sets):
        return None
    given = [trace.stored[a.seq].const if a.seq in trace.stored else None for a in sets]
    by = [r.operands[0].const if r.access.op == "add" else None for r in adds]
    amounts = [int(x) for x in (*given, *by) if x is not None and x >= 0]
    if len(amounts) < len(given) + len(by) or any(r.type != adds[0].type for r in adds):
        return None
    added = [r.access for r in adds]
    if not (_before(sets, added) and _before(added, reads) and _before(sets, reads)):
        return None
    sizes = [specials[f"ntid.{axis}"].const if f"ntid.{axis}" in specials else None for axis in "xyz"]
    threads = prod(int(n) for n in sizes if n is not None) if None not in sizes else MAX_THREADS
    total = max(int(g or 0) for g in given) + threads * sum(int(b or 0) for b in by)
    return total if total <= adds[0].type.high else None


def _certain(access: Access) -> bool:
    """Whether some thread of every block makes an access: one that its guard names by its index, or all do."""
    return all(at.const == 0 for g in access.context.guard for _, at in named_index(g) or [("", g)])


def _before(first: list[Access], second: list[Access]) -> bool:
    """Whether a barrier of the block lies between all of two groups."""
    return all(
        a.seq < b.seq and not points(a.context.phases.block) & points(b.context.phases.block)
        for a in first
        for b in second
    )


def is_total(load: Term, known: dict[str, int]) -> str | None:
    """The region whose total a term is."""
    inner = core(load)
    return str(inner.data[0]) if inner.op == "load" and inner.data[0] in known else None


def tally_facts(enc: Encoder, trace: Trace, known: dict[str, int]) -> list[Z]:
    """What is found in such counters is their own and at least zero, and lies below the total."""
    out: list[Z] = []
    found = [(t, who) for t, who in enc.atomics if t.data[0] in known]
    guards = {r.term: r.access.context.guard for r in trace.atomics}
    for term, who in found:
        value = enc.encode(term, who)
        out += [value >= 0, value + enc.encode(term.args[1], who) <= known[str(term.data[0])]]
    for load, reader in [(x, who) for x, who in enc.loads if x.data[0] in known]:
        total = enc.encode(load, reader)
        out += [total >= 0, total <= known[str(load.data[0])]]
        for term, who in found:
            if term.data[0] == load.data[0] and not who.home:  # a thread of the query gets past what it is asked about
                added = [enc.encode(g, who) for g in guards[term]] + [_one_block(enc, who, reader)]
                added.append(enc.encode(term.args[0], who) == enc.encode(load.args[0], reader))
                below = enc.encode(term, who) + enc.encode(term.args[1], who) <= total
                out.append(z3.Implies(z3.And(*added), below))
    return out


def _one_block(enc: Encoder, one: Thread, two: Thread) -> Z:
    return z3.And(*[one.cta[axis] == two.cta[axis] for axis in "xyz"])
