"""Executes a host path on explicit stream queues, to see whether two operations can really meet.

A machine with host threads, one queue per stream, and events. It shares nothing with the happens-before analysis: that
one reasons about all executions, this one performs one. :func:`replay` looks for an execution in which one operation is
still running (as long as the device likes) when the other starts.

Semantics after the CUDA driver API: items of a stream run one after another; an item put on the legacy stream first
waits for everything that is on the blocking streams of its context at that moment, and theirs for the legacy stream's;
a wait uses the event's most recent record at the time of the call.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice, permutations

from gpusafe.ir.host import Enqueue, Free, HostPath, Join, Record, Spawn, Stream, Sync, Wait

_INTERLEAVINGS = 24
_PARTNERS: dict[str, tuple[str, ...]] = {
    "legacy": ("legacy", "blocking", "per_thread"),
    "blocking": ("legacy",),
    "per_thread": ("legacy",),
}


@dataclass(frozen=True, slots=True)
class Step:
    """``what`` is ``call`` (the host gets past the operation), ``start`` or ``finish`` (on the device)."""

    what: str
    op: int


@dataclass(frozen=True, slots=True)
class Schedule:
    """An execution up to the moment when ``second`` starts: while ``first`` runs, or after it (a use after a free)."""

    steps: tuple[Step, ...]
    first: int
    second: int


@dataclass(slots=True)
class _Item:
    """Something in a stream's queue: ``op`` is work (or a record or wait, which take no time)."""

    op: int
    takes_time: bool
    needs: tuple[tuple[str, int], ...]
    started: bool = False


@dataclass(slots=True)
class _Queue:
    """A stream: ``done`` items at the front are over."""

    stream: Stream
    items: list[_Item] = field(default_factory=list)
    done: int = 0


@dataclass(slots=True)
class _Host:
    """A host thread: the operations that it still has to do, and what it waits for now."""

    ops: list[int]
    alive: bool
    at: int = 0
    blocked_on: tuple[tuple[str, int], ...] | None = None


class Machine:
    """The state of one execution; :meth:`host_step` and :meth:`device_step` advance it."""

    def __init__(self, path: HostPath) -> None:
        self.path = path
        self.steps: list[Step] = []
        self.queues: dict[str, _Queue] = {ident: _Queue(stream) for ident, stream in path.streams.items()}
        self.recorded: dict[str, tuple[str, int]] = {}
        self.running: set[int] = set()
        self.over: set[int] = set()
        self.hosts: dict[str, _Host] = {"main": _Host([], True)}
        spawned = {op.thread for op in path.ops if isinstance(op, Spawn)}
        for index in range(len(path.ops)):
            name = path.threads.get(index, "main")
            self.hosts.setdefault(name, _Host([], name not in spawned)).ops.append(index)

    def host_step(self, name: str) -> bool:
        """Let a host thread make its next call, or get past the one it is in. False where it can do neither."""
        host = self.hosts[name]
        if not host.alive or host.at >= len(host.ops):
            return False
        index = host.ops[host.at]
        called = host.blocked_on is None
        if host.blocked_on is None:
            host.blocked_on = self._call(index)
        op = self.path.ops[index]
        if not self._satisfied(host.blocked_on) or (isinstance(op, Join) and not self._ended(op.thread)):
            return called
        host.blocked_on = None
        host.at += 1
        self.steps.append(Step("call", index))
        if not isinstance(op, Enqueue):
            self.over.add(index)
        return True

    def device_step(self, name: str, held: int | None = None) -> bool:
        """Advance one stream by one start or finish; ``held`` is never finished. False where nothing can happen."""
        queue = self.queues[name]
        if queue.done >= len(queue.items):
            return False
        item = queue.items[queue.done]
        if not item.started:
            if not self._satisfied(item.needs):
                return False
            item.started = True
            if item.takes_time:
                self.running.add(item.op)
                self.steps.append(Step("start", item.op))
                return True
        if item.takes_time:
            if item.op == held:
                return False
            self.running.discard(item.op)
            self.over.add(item.op)
            self.steps.append(Step("finish", item.op))
        queue.done += 1
        return True

    def _call(self, index: int) -> tuple[tuple[str, int], ...]:
        """What the call of an operation does at once, and what it then waits for (stream, number of items done)."""
        op = self.path.ops[index]
        match op:
            case Enqueue():
                position = self._put(op.stream, index, takes_time=True)
                return ((op.stream, position),) if op.blocks_host else ()
            case Record():
                self.recorded[op.event] = (op.stream, self._put(op.stream, index, takes_time=False))
            case Wait():
                mark = self.recorded.get(op.event)
                self._put(op.stream, index, takes_time=False, needs=(mark,) if mark else ())
            case Sync(target="stream"):
                return self._present(op.ident)
            case Sync(target="event"):
                mark = self.recorded.get(op.ident)
                return (mark,) if mark else ()
            case Sync():
                return self._present_in(op.ident)
            case Free(waits="context"):
                memory = self.path.memory.get(op.memory)
                return self._present_in(memory.context if memory else None)
            case Spawn():
                if op.thread in self.hosts:
                    self.hosts[op.thread].alive = True
            case _:
                pass
        return ()

    def _put(self, stream: str, index: int, takes_time: bool, needs: tuple[tuple[str, int], ...] = ()) -> int:
        """Append to a stream's queue; the number of items that are done once this one is."""
        queue = self._queue(stream)
        partners = _PARTNERS.get(queue.stream.kind, ())
        implicit = tuple(
            (other.stream.ident, len(other.items))
            for other in self.queues.values()
            if other is not queue and other.stream.kind in partners and other.stream.context == queue.stream.context
        )
        queue.items.append(_Item(index, takes_time, needs + implicit))
        return len(queue.items)

    def _queue(self, stream: str) -> _Queue:
        if stream not in self.queues:
            self.queues[stream] = _Queue(Stream(stream, "unknown", None, stream, self.path.root_span))
        return self.queues[stream]

    def _present(self, stream: str) -> tuple[tuple[str, int], ...]:
        return ((stream, len(self._queue(stream).items)),)

    def _present_in(self, context: str | None) -> tuple[tuple[str, int], ...]:
        return tuple((name, len(q.items)) for name, q in self.queues.items() if q.stream.context == context)

    def _satisfied(self, needs: tuple[tuple[str, int], ...]) -> bool:
        return all(self._queue(stream).done >= count for stream, count in needs)

    def _ended(self, thread: str) -> bool:
        host = self.hosts.get(thread)
        return host is None or (host.alive and host.at >= len(host.ops))


def replay(path: HostPath, first: int, second: int) -> Schedule | None:
    """An execution in which one of the two operations starts while the other is running; None where none is found.

    Holds one of them on the device for as long as it takes, lets everything else run, and tries several interleavings
    of the host threads.
    """
    for held, other in ((first, second), (second, first)):
        if not isinstance(path.ops[held], Enqueue):
            continue
        for threads in _interleavings(path):
            machine = Machine(path)
            if _meet(machine, held, other, threads):
                return Schedule(tuple(machine.steps), held, other)
    return None


def replay_after(path: HostPath, first: int, second: int) -> Schedule | None:
    """An execution in which ``second`` starts when ``first`` is already over (a use after a free)."""
    for threads in _interleavings(path):
        machine = Machine(path)
        while second not in machine.running | machine.over and _advance(machine, None, threads):
            pass
        if first in machine.over and second in machine.running | machine.over:
            position = {step.op: n for n, step in enumerate(machine.steps)}
            if position[first] < position[second]:
                return Schedule(tuple(machine.steps), first, second)
    return None


def _interleavings(path: HostPath) -> Iterator[tuple[str, ...]]:
    """Orders of priority of the host threads, the order of the path first."""
    names = tuple(dict.fromkeys(path.threads.get(index, "main") for index in range(len(path.ops))))
    return islice(permutations(names), _INTERLEAVINGS)


def _meet(machine: Machine, held: int, other: int, threads: tuple[str, ...]) -> bool:
    """Run with ``held`` never finishing; whether ``other`` starts (or happens) while it runs."""
    while other not in machine.running and other not in machine.over:
        if not _advance(machine, held, threads):
            return False
    return held in machine.running


def _advance(machine: Machine, held: int | None, threads: tuple[str, ...]) -> bool:
    """One step of the device if it can take one, else of the first host thread that can."""
    if any(machine.device_step(name, held) for name in machine.queues):
        return True
    return any(machine.host_step(name) for name in threads)
