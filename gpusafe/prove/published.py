"""What one thread of a block writes to shared memory for the others: a value that is read behind a barrier.

``if threadIdx.x == 0 { start = atomicAdd(count, n) } __syncthreads(); out[start + i] = ..``: the one store to `start`
is the last write that a read behind the barrier can see. What is read is what the writing thread stored in the same
turn of their loops, and so that thread is brought into the query, as the source of a shuffle is (``warp_values``).

Why it is the last one: no other access writes the region, all threads of the block pass the barrier between the two
(asked for apart), and a store of another turn would lie in another barrier interval, or in the interval of the read,
where it would race with it (asked for apart, too).
"""

from __future__ import annotations

from typing import Any

import z3

from gpusafe.dataflow.accesses import Access, Trace
from gpusafe.dataflow.intervals import core
from gpusafe.dataflow.phases import points
from gpusafe.dataflow.terms import Term
from gpusafe.prove.encode import Encoder, Thread

Z = Any
ROUNDS = 2  # what is published may itself have been read from what was published


def published_facts(enc: Encoder, trace: Trace, per_block: frozenset[str]) -> list[Z]:
    """The facts about published values that are read in a query; brings their writers into it."""
    out: list[Z] = []
    done = 0
    for _ in range(ROUNDS):
        found = enc.loads[done:]
        done = len(enc.loads)
        for load, thread in found:
            if load.data[0] in per_block:
                out += _published(enc, trace, load, thread)
    return out


def _published(enc: Encoder, trace: Trace, load: Term, thread: Thread) -> list[Z]:
    found = store_of(trace, load)
    if found is None:
        return []
    store, value, open_ = found
    writer, facts, made = maker(enc, store, thread, load.id, open_)
    made.append(enc.encode(store.offset, writer) == enc.encode(load.args[0], thread))
    same = enc.encode(load, thread) == enc.encode(value, writer)
    return [*facts, z3.Implies(z3.And(*made), same)]


def maker(
    enc: Encoder, access: Access, thread: Thread, name: int, open_: list[Term]
) -> tuple[Thread, list[Z], list[Z]]:
    """The thread of another one's block that its guard names for an access, in the same turn of their loops.

    With what holds of it, and with what must hold so that it makes the access (``open_``: conditions that are not known
    to hold for all of the block).
    """
    made_by = enc.companion(thread, f"{thread.name}~{name}")
    exists, choice = _index(enc, access, thread, made_by)
    turn = [enc.encode(i, made_by) == enc.encode(i, thread) for i in access.context.loops]
    return (
        made_by,
        [*turn, z3.Implies(z3.And(z3.BoolVal(True, enc.ctx), *exists), z3.And(*choice))],
        [*exists, *(enc.encode(g, made_by) for g in open_)],
    )


def store_of(trace: Trace, load: Term) -> tuple[Access, Term, list[Term]] | None:
    """The one store to the region of a load, where a barrier that all pass lies between, with what it stores.

    And its conditions, without those that hold for all who pass the barrier.
    """
    region, seq, _, _ = load.data
    writes = [a for a in trace.accesses if a.region == region and a.writes]
    read = next((a for a in trace.accesses if a.seq == seq), None)
    if len(writes) != 1 or read is None:
        return None
    store = writes[0]
    value = trace.stored.get(store.seq)
    loops = store.context.loops
    if value is None or store.mode != "write" or store.volatile or store.pending or store.size != read.size:
        return None
    if store.seq > seq or value.type != load.type or read.context.loops[: len(loops)] != loops:
        return None
    passed = points(read.context.phases.block)
    if points(store.context.phases.block) & passed:
        return None
    open_ = not_of_all(trace, store, passed)
    return (store, value, open_) if open_ is not None else None


def not_of_all(trace: Trace, access: Access, passed: frozenset[str]) -> list[Term] | None:
    """The conditions of an access that do not hold for all who pass these barriers; None where there is no barrier."""
    guards = [b.context.guard for b in trace.barriers if b.name in passed]
    if not guards:
        return None
    return [g for g in access.context.guard if not all(g in of_barrier for of_barrier in guards)]


def _index(enc: Encoder, access: Access, thread: Thread, made_by: Thread) -> tuple[list[Z], list[Z]]:
    """That there is a thread of the index that a guard names (the first one else), and that it is this one."""
    exists, choice = [], []
    named = {axis: at for g in access.context.guard for axis, at in named_index(g)}
    for axis in "xyz":
        at = enc.num(0)
        if axis in named and enc.uniform(named[axis]):
            at = enc.encode(named[axis], thread)
            exists += [at >= 0, at < enc.extent("ntid", axis)]
        choice.append(made_by.tid[axis] == at)
    return exists, choice


def named_index(guard: Term) -> list[tuple[str, Term]]:
    """``threadIdx.x == t`` as the axis and ``t``; nothing where a condition is another one."""
    if guard.op == "&&":
        return [pair for arg in guard.args for pair in named_index(arg)]
    if guard.op != "==":
        return []
    found = []
    for index, at in (guard.args, guard.args[::-1]):
        special = core(index)
        if special.op == "special" and str(special.data).startswith("tid."):
            found.append((str(special.data)[-1], at))
    return found
