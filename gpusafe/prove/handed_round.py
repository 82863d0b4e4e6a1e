"""Signals that one thread of a block gives or takes for the others, with barriers of the block between.

``if threadIdx.x == 0 { ticket = atomicAdd(count, 1); __threadfence(); last = ticket == n - 1 } __syncthreads();`` takes
the signal for all who read `last` behind the barrier; what all wrote before a barrier, the thread that adds behind it
gives. Causality passes through barriers (PTX ISA, memory consistency model, causality order), so that the fence of that
one thread counts for the block.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gpusafe.dataflow.accesses import Access, FencePoint, Trace
from gpusafe.dataflow.phases import points
from gpusafe.dataflow.terms import Term, postorder
from gpusafe.ir.kernel import Order, Scope
from gpusafe.prove.encode import Encoder, Thread
from gpusafe.prove.published import maker, not_of_all, store_of

Z = Any
WIDE = frozenset({Scope.DEVICE, Scope.SYSTEM})
BOTH = frozenset({Order.ACQ_REL, Order.SEQ_CST})
ACQUIRES = BOTH | {Order.ACQUIRE}
RELEASES = BOTH | {Order.RELEASE}


def taken(
    enc: Encoder, trace: Trace, known: list[Term], second: Access, two: Thread
) -> Iterator[tuple[Term, Thread, list[Z]]]:
    """Values of atomics that another thread of the block acquired and published, with that thread and conditions."""
    for load in postorder(known):
        found = store_of(trace, load) if load.op == "load" else None
        if found is None or load.data[1] >= second.seq:
            continue
        store, value, open_ = found
        for term in postorder([value]):
            read = _access(trace, term) if term.op == "atomic" else None
            if read is None or read.scope not in WIDE or not set(read.context.guard) <= set(store.context.guard):
                continue
            taker, facts, made = maker(enc, store, two, load.id, open_)
            made.append(enc.encode(store.offset, taker) == enc.encode(load.args[0], two))
            if not _acquired(trace, read, store, load):
                if not _later(trace, load, second):
                    continue
                made += [taker.tid[axis] == two.tid[axis] for axis in "xyz"]  # who took it goes on itself
            enc.facts += facts
            yield term, taker, made


def _access(trace: Trace, term: Term) -> Access | None:
    return next((r.access for r in trace.atomics if r.term is term), None)


def _acquired(trace: Trace, read: Access, store: Access, load: Term) -> bool:
    """Whether the thread that takes a signal acquires it before the barrier."""
    behind = next((points(a.context.phases.block) for a in trace.accesses if a.seq == load.data[1]), frozenset[str]())
    return read.order in ACQUIRES or any(
        read.seq < f.seq < load.data[1] and _passed(f, store, ACQUIRES) and not points(f.context.phases.block) & behind
        for f in trace.fences
    )


def _later(trace: Trace, load: Term, second: Access) -> bool:
    return any(load.data[1] < f.seq < second.seq and _passed(f, second, ACQUIRES) for f in trace.fences)


def _passed(fence: FencePoint, access: Access, orders: frozenset[Order]) -> bool:
    """Whether who makes an access passes a fence, too."""
    loops = fence.context.loops
    inside = set(fence.context.guard) <= set(access.context.guard)
    return inside and access.context.loops[: len(loops)] == loops and fence.order in orders and fence.scope in WIDE


def given(
    enc: Encoder, trace: Trace, first: Access, one: Thread, writes: list[Access]
) -> Iterator[tuple[Access, Term | None, Thread, list[Z]]]:
    """Atomic writes by which another thread of the block releases an access that lies before a barrier."""
    before = points(first.context.phases.block)
    for write in writes:
        passed, loops = points(write.context.phases.block), write.context.loops
        if write.seq <= first.seq or before & passed or first.context.loops[: len(loops)] != loops:
            continue
        open_ = not_of_all(trace, write, passed) if write.scope in WIDE else None
        released = write.order in RELEASES or any(
            first.seq < f.seq < write.seq
            and _passed(f, write, RELEASES)
            and not points(f.context.phases.block) & before
            for f in trace.fences
        )
        if open_ is None or not released:
            continue
        giver, facts, made = maker(enc, write, one, write.seq, open_)
        enc.facts += facts
        yield write, next((r.term for r in trace.atomics if r.access is write), None), giver, made
