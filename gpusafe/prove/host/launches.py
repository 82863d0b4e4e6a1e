"""What the kernels ask of the launches on the paths: each launch once, whatever path it is on.

Two launches are one where everything that the answer depends on is the same: place, shape, arguments, the sizes of what
they point to, and the conditions of the path that speak of these. What is proved of a launch holds at every other place
where the rest is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import TypeAlias

from gpusafe.dataflow.contracts import KernelSummary
from gpusafe.ir.host import Enqueue, HostPath, LaunchArg, LaunchSite
from gpusafe.prove.host.attribution import Owner
from gpusafe.prove.host.bearing import Bearing, of_launch
from gpusafe.prove.host.feasible import Feasible
from gpusafe.prove.host.ledger import Ledger
from gpusafe.span import Span
from gpusafe.verdict import Obligation, Verdict

LaunchObligations: TypeAlias = Callable[[KernelSummary, LaunchSite], tuple[Obligation, ...]]

DIFFERENT_LIMIT = 16
"""Launches at one place that differ; a place with more is not proved."""


class Launches:
    """Answers by launch. ``obligations`` asks one launch; serves one program."""

    def __init__(self, summaries: Mapping[str, KernelSummary], obligations: LaunchObligations) -> None:
        self.summaries = summaries
        self.obligations = obligations
        self._answers: dict[Hashable, tuple[Obligation, ...]] = {}
        self._proved: dict[Hashable, tuple[Obligation, ...]] = {}
        self._different: dict[tuple[str, Span], int] = {}

    def check(self, path: HostPath, ledger: Ledger) -> None:
        """Notes the obligations of all launches on a path with the functions that they stand in."""
        feasible, bearing = Feasible(path), Bearing(path.assumes)
        for op in path.ops:
            if not isinstance(op, Enqueue) or op.kernel is None or op.kernel not in self.summaries:
                continue
            frame = op.frames[-1]
            owner = Owner(frame.function, frame.function_span, len(op.frames) - 1)
            for number, obligation in enumerate(self._of(op, op.kernel, path, bearing)):
                judged = feasible.judged(obligation)
                if judged is not None:
                    ledger.add(owner, ("launch", number, obligation.rule, op.span), judged)

    def _of(self, op: Enqueue, kernel: str, path: HostPath, bearing: Bearing) -> tuple[Obligation, ...]:
        known = facts(op, path, bearing)
        if known in self._proved:
            return tuple(replace(o, span=op.span) for o in self._proved[known])
        key = known, _places(op, path)
        if key not in self._answers:
            place = (kernel, op.span)
            number = self._different[place] = self._different.get(place, 0) + 1
            if number > DIFFERENT_LIMIT:
                return (_left_out(op),)
            near = replace(path, assumes=bearing.on(of_launch(op, path)))
            found = self._answers[key] = self.obligations(self.summaries[kernel], LaunchSite(op, near))
            if all(o.verdict is Verdict.PROVED and o.span == op.span for o in found):
                self._proved[known] = found
        return self._answers[key]


def _left_out(op: Enqueue) -> Obligation:
    reason = (
        f"`{op.kernel_name}` is launched here in more than {DIFFERENT_LIMIT} different ways, and not all were looked at"
    )
    question = f"every launch of `{op.kernel_name}` here is looked at"
    return Obligation("GS901", question, Verdict.UNKNOWN, op.span, reason)


def facts(op: Enqueue, path: HostPath, bearing: Bearing) -> Hashable:
    """All that the answer to a launch depends on, but for the places that it names."""
    numbers: dict[str, int] = {}
    places = [arg.range.memory for arg in op.args if arg.range is not None]
    apart = len(set(places)) == len(places)
    args = tuple(_argument(arg, path, numbers, apart) for arg in op.args)
    return op.kernel, op.shape, args, bearing.on(of_launch(op, path))


def _places(op: Enqueue, path: HostPath) -> Hashable:
    """What a message about a launch may name."""
    named = (path.memory.get(arg.range.memory) for arg in op.args if arg.range is not None)
    return op.span, tuple((m.name, m.span) if m is not None else None for m in named)


def _argument(arg: LaunchArg, path: HostPath, numbers: dict[str, int], apart: bool) -> Hashable:
    """What there is to know of an argument. ``apart``: no two lie in one allocation, so where they lie is all one."""
    plain = (arg.kind, arg.value, arg.passed, arg.elem_bytes, arg.length, arg.type)
    if arg.range is None:
        return plain
    memory = path.memory.get(arg.range.memory)
    which = numbers.setdefault(arg.range.memory, len(numbers))
    known = (memory.kind, memory.elem_bytes, memory.length) if memory is not None else None
    if apart and arg.range.size is not None:
        return *plain, which, arg.range.size, known[:1] if known is not None else None
    return *plain, which, arg.range.start, arg.range.size, known
