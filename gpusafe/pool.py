"""Independent units of work in forked processes: same results as in one, and a process that dies costs its unit only.

A unit is handed to a process by its number alone (the fork already holds the work), so that only results are pickled.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

W = TypeVar("W")
R = TypeVar("R")


@dataclass(slots=True)
class _Worker:
    process: BaseProcess
    pipe: Connection
    busy: int | None = None  # the number of the unit under way


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(
    work: Sequence[W], run: Callable[[W], R], lost: Callable[[W, str], R], jobs: int, *, least: int = 2
) -> list[R]:
    """``run`` of every unit, in the order of ``work``, by at most ``jobs`` processes.

    With one job, with fewer than ``least`` units or where processes cannot be forked everything runs here. ``run``
    must depend on its unit alone. ``lost`` makes the result of a unit whose process died, of the reason in words. A
    result that cannot be sent is made again here. Ctrl-C ends all processes.
    """
    jobs = min(jobs, len(work))
    if jobs < 2 or len(work) < least or "fork" not in get_all_start_methods():
        return [run(unit) for unit in work]
    results: dict[int, R] = {}
    again: list[int] = []
    waiting = list(range(len(work) - 1, -1, -1))
    workers = [_start(work, run) for _ in range(jobs)]
    try:
        while waiting or any(w.busy is not None for w in workers):
            for i, worker in enumerate(workers):
                if worker.busy is None and waiting:
                    if not worker.process.is_alive():
                        workers[i] = worker = _start(work, run)
                    worker.busy = waiting.pop()
                    _give(worker, worker.busy)
            busy: dict[Any, _Worker] = {w.pipe: w for w in workers if w.busy is not None}
            for pipe in wait(list(busy)):
                worker = busy[pipe]
                number, worker.busy = worker.busy, None
                assert number is not None
                try:
                    sent, result = worker.pipe.recv()
                except (EOFError, OSError, pickle.UnpicklingError):
                    results[number] = lost(work[number], _death(worker.process))
                    continue
                if sent:
                    results[number] = result
                else:
                    again.append(number)
    finally:
        for worker in workers:
            worker.pipe.close()
            worker.process.terminate()
        for worker in workers:
            worker.process.join()
    for number in again:
        results[number] = run(work[number])
    return [results[i] for i in range(len(work))]


def _give(worker: _Worker, number: int) -> None:
    with contextlib.suppress(OSError):  # it died while it waited; reading from it says so
        worker.pipe.send(number)


def _death(process: BaseProcess) -> str:
    process.join(5)
    code = process.exitcode
    if code is not None and code < 0:
        return f"the process that worked on it was ended by {signal.Signals(-code).name}"
    return f"the process that worked on it ended with status {code}"


def _start(work: Sequence[W], run: Callable[[W], R]) -> _Worker:
    context = get_context("fork")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, here, work, run), daemon=True)
    process.start()
    there.close()
    return _Worker(process, here)


def _serve(pipe: Connection, parents: Connection, work: Sequence[W], run: Callable[[W], R]) -> None:
    """Works until the parent closes its end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its processes
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    parents.close()
    while True:
        try:
            number = pipe.recv()
        except (EOFError, OSError):
            return
        result = run(work[number])
        try:
            text = pickle.dumps((True, result))
        except (RecursionError, pickle.PicklingError, TypeError, AttributeError):
            text = pickle.dumps((False, None))
        pipe.send_bytes(text)
