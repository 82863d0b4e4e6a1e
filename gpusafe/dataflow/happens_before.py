"""Which operations of a host path are complete before which others start.

One pass over the path with bit sets: per host thread, what the thread knows to be complete (synchronize, blocking
calls) and, per stream, what is complete when the stream gets past everything that the thread has put on it so far.
Works for any interleaving of the host threads: an edge counts only where spawn, join and program order give it.

Sources: CUDA driver API, "Stream synchronization behavior" (the legacy stream waits for all blocking streams of its
context when an action is taken in it, and they wait for it; the per-thread default stream is a blocking stream),
cuEventRecord (a later record replaces an earlier one), cuStreamWaitEvent (uses the most recent record at the time of
the call; none: no effect).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import TypeAlias

from gpusafe.ir.host import Enqueue, Free, Gap, HostOp, HostPath, Join, Record, Spawn, Stream, Sync, Wait

MAIN = "main"
_BLOCKING = frozenset({"blocking", "per_thread"})


@dataclass(frozen=True, slots=True)
class Ordering:
    """``before[j]`` has bit ``i`` set when op ``i`` is complete before op ``j`` starts, in every execution.

    For an enqueued operation "starts" means on its stream, not the call; ``called_before[j]`` has the ops whose *call*
    comes before that of ``j`` (program order, spawn, join).
    """

    before: tuple[int, ...]
    called_before: tuple[int, ...]

    def orders(self, first: int, second: int) -> bool:
        """Whether ``first`` is complete before ``second`` starts."""
        return bool(self.before[second] >> first & 1)

    def either_way(self, a: int, b: int) -> bool:
        """Whether the two never overlap because one always completes before the other starts."""
        return self.orders(a, b) or self.orders(b, a)


_Kind: TypeAlias = tuple[str | None, str]
"""The context and the kind of a stream: all that it depends on whether it waits for another by itself."""


@dataclass(slots=True)
class _Thread:
    """What one host thread knows: ``known`` is complete for it, ``tails`` per stream, ``events`` their last records.

    ``kinds`` has the tails of all streams of one context and kind together.
    """

    known: int = 0
    tails: dict[str, int] = field(default_factory=dict)
    events: dict[str, frozenset[int]] = field(default_factory=dict)
    kinds: dict[_Kind, int] = field(default_factory=dict)

    def copy(self) -> _Thread:
        return _Thread(self.known, dict(self.tails), dict(self.events), dict(self.kinds))

    def reach(self, stream: Stream, done: int) -> None:
        """A stream has got so far; its tail only grows."""
        self.tails[stream.ident] = self.tails.get(stream.ident, 0) | done
        kind = (stream.context, stream.kind)
        self.kinds[kind] = self.kinds.get(kind, 0) | done

    def merge(self, other: _Thread) -> None:
        """Take over what a joined thread knows."""
        self.known |= other.known
        for stream, tail in other.tails.items():
            self.tails[stream] = self.tails.get(stream, 0) | tail
        for kind, tail in other.kinds.items():
            self.kinds[kind] = self.kinds.get(kind, 0) | tail
        for event, records in other.events.items():
            self.events[event] = self.events.get(event, frozenset()) | records


def order(path: HostPath, charitable: bool = False) -> Ordering:
    """The order of a path's operations.

    ``charitable`` False gives what is certain. True gives what may be so for some reading of what is not known: unknown
    streams may be one stream or the NULL stream, unknown contexts may be equal, an unmodelled call may synchronise. Two
    operations that are unordered even then are unordered under every reading.
    """
    return _Pass(path, charitable).run()


def call_order(path: HostPath) -> tuple[int, ...]:
    """Per operation, the operations whose calls come before its own in every interleaving of the host threads."""
    if not path.threads:
        return tuple((1 << index) - 1 for index in range(len(path.ops)))
    past: dict[str, int] = {}
    called: list[int] = []
    for index, op in enumerate(path.ops):
        thread = path.threads.get(index, MAIN)
        if isinstance(op, Join):
            past[thread] = past.get(thread, 0) | past.get(op.thread, 0)
        called.append(past.get(thread, 0))
        past[thread] = called[-1] | 1 << index
        if isinstance(op, Spawn):
            past[op.thread] = past[thread]
    return tuple(called)


def stream_of(path: HostPath, ident: str) -> Stream:
    """A stream of the path; one that the path does not describe is unknown."""
    return path.streams.get(ident) or Stream(ident, "unknown", None, ident, path.root_span)


def same_context(a: str | None, b: str | None, charitable: bool) -> bool:
    """Whether two contexts are (``charitable``: may be) one."""
    if a is None or b is None:
        return charitable or a is b
    return a == b


def may_serialise(a: Stream, b: Stream, charitable: bool) -> bool:
    """Whether work on two different streams waits for each other by the streams' kinds alone.

    An unknown stream comes from outside: it may be another unknown one, the NULL stream or a blocking stream, but not a
    non-blocking stream that was made on this path.
    """
    if not same_context(a.context, b.context, charitable):
        return False
    kinds = {a.kind, b.kind}
    if charitable and "unknown" in kinds:
        return "nonblocking" not in kinds
    return "legacy" in kinds and (a.kind == b.kind or bool(kinds & _BLOCKING))


class _Pass:
    """The state of one pass; does not escape :func:`order`."""

    def __init__(self, path: HostPath, charitable: bool) -> None:
        self.path = path
        self.charitable = charitable
        self.threads: dict[str, _Thread] = {MAIN: _Thread()}
        self.before: list[int] = []
        self.called = call_order(path)
        self.coverage: dict[int, int] = {}
        self.peers: dict[_Kind, tuple[_Kind, ...]] = {}
        self.kinds = {(s.context, s.kind): s for s in path.streams.values()}
        self.records = _records_by_event(path) if path.threads else {}

    def run(self) -> Ordering:
        for index, op in enumerate(self.path.ops):
            thread = self.threads.setdefault(self.path.threads.get(index, MAIN), _Thread())
            self.before.append(thread.known)
            self.step(index, op, thread)
            if not isinstance(op, Enqueue) or op.blocks_host:
                thread.known |= 1 << index
        return Ordering(tuple(self.before), self.called)

    def step(self, index: int, op: HostOp, thread: _Thread) -> None:
        match op:
            case Enqueue():
                self.before[index] = self.advance(thread, op.stream)
                thread.reach(stream_of(self.path, op.stream), self.before[index] | 1 << index)
                if op.blocks_host:
                    thread.known |= self.before[index]
            case Record():
                self.coverage[index] = self.advance(thread, op.stream)
                thread.events[op.event] = frozenset({index})
            case Wait():
                reached = self.advance(thread, op.stream)
                thread.reach(stream_of(self.path, op.stream), reached | self.covered(index, op.event, thread))
            case Sync():
                thread.known |= self.synchronised(index, op, thread)
                self.before[index] = thread.known
            case Free(waits="context"):
                memory = self.path.memory.get(op.memory)
                thread.known |= self.context_tail(thread, memory.context if memory else None)
                self.before[index] = thread.known
            case Spawn():
                self.threads[op.thread] = thread.copy()
            case Join():
                thread.merge(self.threads.get(op.thread, _Thread()))
                self.before[index] = thread.known
            case Gap(memory=()) if self.charitable:
                thread.known |= (1 << index) - 1
            case _:
                pass

    def advance(self, thread: _Thread, stream: str) -> int:
        """An action on a stream: what is complete when the stream gets to it. Becomes the stream's tail."""
        own = stream_of(self.path, stream)
        reached = thread.known | thread.tails.get(stream, 0)
        for kind in self.peers_of(own):
            reached |= thread.kinds.get(kind, 0)
        thread.reach(own, reached)
        return reached

    def peers_of(self, stream: Stream) -> tuple[_Kind, ...]:
        """The kinds of streams that an action on ``stream`` waits for by itself (its own may be one of them)."""
        own = (stream.context, stream.kind)
        if own not in self.peers:
            self.peers[own] = tuple(k for k, s in self.kinds.items() if may_serialise(stream, s, self.charitable))
        return self.peers[own]

    def covered(self, index: int, event: str, thread: _Thread) -> int:
        """What a wait for ``event`` waits for in every execution: all records that may be the last one agree on it."""
        last = thread.events.get(event, frozenset())
        last = frozenset(r for r in last if not any(self.called[other] >> r & 1 for other in last))
        candidates = [*last, *self.racing_records(index, event)] if last else []
        covered = self.coverage.get(candidates[0], 0) if candidates else 0
        for record in candidates[1:]:
            covered &= self.coverage.get(record, 0)
        return covered

    def racing_records(self, index: int, event: str) -> list[int]:
        """Records of ``event`` by threads that run beside this wait, so that any of them may be the last."""
        return [
            record
            for record in self.records.get(event, ())
            if not self.called[index] >> record & 1 and not self.called[record] >> index & 1
        ]

    def synchronised(self, index: int, op: Sync, thread: _Thread) -> int:
        match op.target:
            case "stream":
                if self.charitable:
                    return self.advance(thread, op.ident)
                return thread.tails.get(op.ident, 0)
            case "event":
                return self.covered(index, op.ident, thread)
            case _:
                return self.context_tail(thread, op.ident)

    def context_tail(self, thread: _Thread, context: str | None) -> int:
        """Everything that the thread has put on streams of a context."""
        tail = 0
        for (owner, _), reached in thread.kinds.items():
            if same_context(owner, context, self.charitable):
                tail |= reached
        return tail


def _records_by_event(path: HostPath) -> dict[str, list[int]]:
    records = sorted((op.event, i) for i, op in enumerate(path.ops) if isinstance(op, Record))
    return {event: [i for _, i in group] for event, group in groupby(records, key=lambda pair: pair[0])}
