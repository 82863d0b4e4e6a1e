"""All executions of a small host path, one by one: the judge of the happens-before analysis and of the replay."""

from __future__ import annotations

import copy

from gpusafe.dataflow.host_replay import Machine
from gpusafe.ir.host import Free, HostAccess, HostPath


def overlapping_pairs(path: HostPath) -> set[frozenset[int]]:
    """The pairs of operations that are under way at the same time in some execution (both on the host: left out)."""
    found: set[frozenset[int]] = set()
    seen: set[object] = set()
    todo = [Machine(path)]
    while todo:
        machine = todo.pop()
        for successor in _successors(machine):
            key = _state(successor)
            new_over = successor.over - machine.over - machine.running
            for op in new_over:
                if isinstance(path.ops[op], HostAccess | Free):
                    found |= {frozenset({op, other}) for other in successor.running}
            found |= {frozenset({a, b}) for a in successor.running for b in successor.running if a != b}
            if key not in seen:
                seen.add(key)
                todo.append(successor)
    return found


def _successors(machine: Machine) -> list[Machine]:
    found = []
    for name in machine.hosts:
        successor = _copy(machine)
        if successor.host_step(name):
            found.append(successor)
    for name in machine.queues:
        successor = _copy(machine)
        if successor.device_step(name):
            found.append(successor)
    return found


def _copy(machine: Machine) -> Machine:
    path = machine.path
    return copy.deepcopy(machine, {id(path): path, id(machine.steps): []})


def _state(machine: Machine) -> object:
    hosts = tuple((n, h.at, h.blocked_on, h.alive) for n, h in machine.hosts.items())
    queues = tuple(
        (n, q.done, tuple((i.op, i.started, i.needs) for i in q.items[q.done :])) for n, q in machine.queues.items()
    )
    return hosts, queues, tuple(sorted(machine.recorded.items()))
