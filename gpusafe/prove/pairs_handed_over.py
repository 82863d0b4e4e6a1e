"""Accesses that a flag or a counter orders: one thread releases after its access, the other acquires before its own.

The rule (PTX ISA, memory consistency model, release and acquire patterns): what comes before a fence and then an atomic
write in one thread happens before what comes after an atomic read of it (or of a later read-modify-write) and then a
fence in another thread, where the scopes of all four include both threads. Two kinds of cells tell from the value
alone that the read saw the write:

- a counter that is only ever added to: whoever sees a larger value than another one's addition saw it;
- a value that one thread alone writes, once: whoever sees it saw that write. The flag must be zero at the start.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Any

import z3

from gpusafe.dataflow.accesses import Access, FencePoint, Trace, unknowns
from gpusafe.dataflow.numeric import Plan
from gpusafe.dataflow.terms import Term, postorder
from gpusafe.ir.kernel import Order, Scope
from gpusafe.prove.encode import Encoder, Thread
from gpusafe.prove.handed_round import given, taken
from gpusafe.prove.launch_context import LaunchContext
from gpusafe.prove.pairs import Setting, meet, where

Z = Any
RELEASES = frozenset({Order.RELEASE, Order.ACQ_REL, Order.SEQ_CST})
ACQUIRES = frozenset({Order.ACQUIRE, Order.ACQ_REL, Order.SEQ_CST})
COUNTED = 60_000
WIDE = frozenset({Scope.DEVICE, Scope.SYSTEM})
SETS = frozenset({"store", "exch", "cas"})  # what they write does not depend on what was there


def is_write(trace: Trace, access: Access) -> bool:
    """Whether an atomic can change its cell (adding nothing does not)."""
    if not access.writes or access.op not in ("add", "or", "sub", "xor"):
        return access.writes
    return any(r.access is access and r.operands[0].const != 0 for r in trace.atomics)


def signals(trace: Trace) -> dict[str, list[Access]]:
    """The regions that are accessed by atomics of device scope alone, with the atomics that write them."""
    out: dict[str, list[Access]] = {}
    plain = {a.region for a in trace.accesses if a.mode != "atomic"}
    for access in trace.accesses:
        if access.mode == "atomic" and access.region not in plain and is_write(trace, access):
            out.setdefault(access.region, []).append(access)
    return out


def flags(setting: Setting) -> dict[int, frozenset[int]]:
    """Writes whose value tells that they were made, once and by one thread alone, with the values that do not tell."""
    out = {}
    for writes in signals(setting.trace).values():
        values = {r.access.seq: r.operands[-1].const for r in setting.trace.atomics if r.access in writes}
        if any(v is None for v in values.values()):
            continue
        plain = all(w.op in SETS for w in writes)
        for write in writes:
            others = {0, *(int(v or 0) for seq, v in values.items() if seq != write.seq)}
            if write.context.loops or values[write.seq] in others or not (plain or len(writes) == 1):
                continue
            if all(meet(setting, write, write, same).status == "unsat" for same in (True, False)):
                out[write.seq] = frozenset(others)
    return out


def winners(trace: Trace) -> frozenset[str]:
    """Regions whose cells nobody sets to zero, and that only read-modify-writes and stores of other values write."""
    out = set()
    for region, writes in signals(trace).items():
        results = [r for r in trace.atomics if r.access in writes]
        if all(
            r.access.op in (*SETS, "or") and r.operands[-1].const not in (None, 0) and r.access.scope in WIDE
            for r in results
        ):
            out.add(region)
    return frozenset(out)


def counts(setting: Setting, context: LaunchContext) -> dict[str, int]:
    """For counters that every thread adds one to at most once: how many threads do."""
    out = {}
    for region, writes in signals(setting.trace).items():
        adds = [r for r in setting.trace.atomics if r.access in writes]
        if region not in setting.counters or len(writes) != 1 or writes[0].context.loops:
            continue
        if any(r.operands[0].const != 1 for r in adds):
            continue
        most = at_most(context, setting.trace, writes[0])
        if most is not None:
            out[region] = most
    return out


def at_most(context: LaunchContext, trace: Trace, access: Access) -> int | None:
    """A bound on how many threads of the launch make an access: those whose known conditions do not exclude it."""
    sizes = [context.specials.get(f"{r}.{a}") for r in ("nctaid", "ntid") for a in "zyx"]
    numbers = [int(s.const) for s in sizes if s is not None and s.const is not None]
    if len(numbers) != 6 or prod(numbers) > COUNTED:
        return None
    plan = Plan(where(trace, access))
    names = [f"{r}.{a}" for r in ("ctaid", "tid") for a in "zyx"]
    count = 0
    for values in product(*(range(n) for n in numbers)):
        special = dict(zip(names, values, strict=True))

        def leaf(term: Term, special: dict[str, int] = special) -> Any:
            return special.get(str(term.data)) if term.op == "special" else None

        count += False not in plan.evaluate(leaf)
    return count


def ordered(
    enc: Encoder, setting: Setting, sides: tuple[tuple[Access, Thread], tuple[Access, Thread]], known: list[Term]
) -> list[Z]:
    """Conditions each of which orders the first access before the second; ``known`` holds of the second thread."""
    (first, one), (second, two) = sides
    trace = setting.trace
    takers = [
        (term, two, [enc.encode(g, two) for g in guard])
        for term, guard in _acquired(trace, known, second, enc.same_block)
    ]
    takers += taken(enc, trace, known, second, two)
    if not takers:
        return []
    givers = [
        (write, result, one, [enc.encode(g, one) for g in write.context.guard])
        for write, result in _released(trace, first, enc.same_block)
    ]
    givers += given(enc, trace, first, one, [w for writes in signals(trace).values() for w in writes])
    out = []
    for write, result, giver, gave in givers:
        for read, taker, took in takers:
            if read.data[0] != write.region or not _compatible(setting, write, read):
                continue
            parts = [*gave, *took, enc.encode(write.offset, giver) == enc.encode(read.args[0], taker)]
            parts.append(_sees(enc, setting, (write, result, giver), (read, taker)))
            setting.relied.add(write.region)
            out.append(z3.And(*parts))
    return out


def _released(trace: Trace, access: Access, same_block: bool) -> Iterator[tuple[Access, Term | None]]:
    """Atomic writes after an access in its thread that release it, with the terms of their old values."""
    for writes in signals(trace).values():
        for write in writes:
            loops = write.context.loops
            if (
                write.seq <= access.seq
                or access.context.loops[: len(loops)] != loops
                or not _wide(write.scope, same_block)
            ):
                continue
            fenced = write.order in RELEASES or any(
                access.seq < f.seq < write.seq and on_the_way(f, write, same_block, RELEASES, access.context.guard)
                for f in trace.fences
            )
            if fenced:
                yield write, next((r.term for r in trace.atomics if r.access is write), None)


def on_the_way(
    fence: FencePoint, access: Access, same_block: bool, orders: frozenset[Order], also: tuple[Term, ...] = ()
) -> bool:
    """Whether a fence is passed whenever the access is made and the conditions ``also`` hold."""
    inside = set(fence.context.guard) <= {*access.context.guard, *also}
    loops = fence.context.loops == access.context.loops[: len(fence.context.loops)]
    return inside and loops and fence.order in orders and _wide(fence.scope, same_block)


def _acquired(trace: Trace, known: list[Term], access: Access, same_block: bool) -> list[tuple[Term, tuple[Term, ...]]]:
    """Values of atomics that the second access depends on, with the conditions under which they are acquired."""
    by_seq = {r.access.seq: r.access for r in trace.atomics}
    out = []
    for term in postorder(known):
        if term.op != "atomic":
            continue
        read = by_seq.get(term.data[1])
        if read is None or read.seq >= access.seq or not _wide(read.scope, same_block):
            continue
        guard = _around(trace, read, access)
        if read.order in ACQUIRES or any(
            read.seq < f.seq < access.seq and on_the_way(f, access, same_block, ACQUIRES) for f in trace.fences
        ):
            out.append((term, guard))
    return out


def _around(trace: Trace, read: Access, access: Access) -> tuple[Term, ...]:
    """The conditions of a read without those of the loops that end before the access.

    What is known after a loop speaks of its last iteration, which has been run.
    """
    ended = set(read.context.loops) - set(access.context.loops)
    return tuple(g for g in read.context.guard if not ended & unknowns(g, trace.unknowns))


def _wide(scope: Scope | None, same_block: bool) -> bool:
    return scope in WIDE or (same_block and scope in (Scope.BLOCK, Scope.CLUSTER))


def _compatible(setting: Setting, write: Access, read: Term) -> bool:
    return write.region in setting.counters or write.seq in setting.flags


def _sees(enc: Encoder, setting: Setting, write: tuple[Access, Term | None, Thread], read: tuple[Term, Thread]) -> Z:
    """Whether the value that was read tells that the write came before."""
    access, result, one = write
    term, two = read
    value = enc.encode(term, two)
    if access.seq in setting.flags:
        return z3.And(*[value != other for other in sorted(setting.flags[access.seq])])
    if result is None:
        return z3.BoolVal(False, enc.ctx)
    return enc.encode(result, one) < value
