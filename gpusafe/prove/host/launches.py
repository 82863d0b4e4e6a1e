"""What the kernels ask of the launches on the paths: each launch once, whatever path it is on.

Two launches are one where everything that the answer depends on is the same: place, shape, arguments, the sizes of what
they point to, and the conditions of the path that speak of these.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TypeAlias

from gpusafe.dataflow.contracts import KernelSummary
from gpusafe.ir.expr import Expr, Sym
from gpusafe.ir.host import Enqueue, HostPath, LaunchArg, LaunchSite
from gpusafe.ir.terms import children
from gpusafe.prove.host.attribution import Owner
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
        self._different: dict[tuple[str, Span], int] = {}

    def check(self, path: HostPath, ledger: Ledger) -> None:
        """Notes the obligations of all launches on a path with the functions that they stand in."""
        feasible = Feasible(path)
        for op in path.ops:
            if not isinstance(op, Enqueue) or op.kernel is None or op.kernel not in self.summaries:
                continue
            frame = op.frames[-1]
            owner = Owner(frame.function, frame.function_span, len(op.frames) - 1)
            for number, obligation in enumerate(self._of(op, op.kernel, path)):
                judged = feasible.judged(obligation)
                if judged is not None:
                    ledger.add(owner, ("launch", number, obligation.rule, op.span), judged)

    def _of(self, op: Enqueue, kernel: str, path: HostPath) -> tuple[Obligation, ...]:
        key = facts(op, path)
        if key not in self._answers:
            place = (kernel, op.span)
            number = self._different[place] = self._different.get(place, 0) + 1
            if number > DIFFERENT_LIMIT:
                return (_left_out(op),)
            self._answers[key] = self.obligations(self.summaries[kernel], LaunchSite(op, path))
        return self._answers[key]


def _left_out(op: Enqueue) -> Obligation:
    reason = (
        f"`{op.kernel_name}` is launched here in more than {DIFFERENT_LIMIT} different ways, and not all were looked at"
    )
    question = f"every launch of `{op.kernel_name}` here is looked at"
    return Obligation("GS901", question, Verdict.UNKNOWN, op.span, reason)


def facts(op: Enqueue, path: HostPath) -> Hashable:
    """All that the obligations of a launch depend on."""
    numbers: dict[str, int] = {}
    args = tuple(_argument(arg, path, numbers) for arg in op.args)
    used: list[Expr | None] = [a.value for a in op.args] + [a.length for a in op.args]
    for arg in op.args:
        if arg.range is not None:
            memory = path.memory.get(arg.range.memory)
            used += [arg.range.start, arg.range.size, memory.length if memory is not None else None]
    if op.shape is not None:
        used += [*op.shape.grid, *op.shape.block, op.shape.shared_bytes]
    return op.kernel, op.span, op.shape, args, _bearing(path.assumes, used)


def _argument(arg: LaunchArg, path: HostPath, numbers: dict[str, int]) -> Hashable:
    plain = (arg.kind, arg.value, arg.passed, arg.elem_bytes, arg.length, arg.type)
    if arg.range is None:
        return plain
    memory = path.memory.get(arg.range.memory)
    which = numbers.setdefault(arg.range.memory, len(numbers))
    known = (memory.kind, memory.elem_bytes, memory.length, memory.name, memory.span) if memory is not None else None
    return *plain, which, arg.range.start, arg.range.size, known


def _bearing(conditions: tuple[Expr, ...], used: list[Expr | None]) -> tuple[Expr, ...]:
    """The conditions that share an unknown, through others perhaps, with the terms in use."""
    reached = frozenset().union(*(_symbols(e) for e in used if e is not None))
    left = [(c, _symbols(c)) for c in conditions]
    kept: set[Expr] = set()
    while True:
        bearing = [(c, names) for c, names in left if names & reached]
        if not bearing:
            return tuple(c for c in dict.fromkeys(conditions) if c in kept)
        kept |= {c for c, _ in bearing}
        reached = reached.union(*(names for _, names in bearing))
        left = [(c, names) for c, names in left if c not in kept]


def _symbols(root: Expr) -> frozenset[str]:
    found: set[str] = set()
    stack = [root]
    while stack:
        e = stack.pop()
        if isinstance(e, Sym):
            found.add(e.name)
        stack.extend(children(e))
    return frozenset(found)
