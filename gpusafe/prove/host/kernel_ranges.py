"""Narrows what a launch may touch to what its kernel really touches.

The range that an argument passes is an upper bound. Where it matters (two ranges overlap, nothing orders the two
operations), the kernel's footprint at this launch, as Z3 terms over its threads, is asked for a common byte.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gpusafe.dataflow.contracts import KernelSummary
from gpusafe.dataflow.effects import Access
from gpusafe.ir.host import Enqueue, HostPath, LaunchSite
from gpusafe.prove.host.conflicts import Pair
from gpusafe.prove.host.overlap import RLIMIT, Meet, Overlap, covers
from gpusafe.prove.host.terms import Encoder

_MODES = {"read": ("read",), "write": ("write",), "atomic": ("atomic", "write"), "free": (), "alloc": ()}


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes that one side touches, as Z3 terms: ``start`` in the allocation, ``size``, under ``conditions``."""

    start: Any
    size: Any
    conditions: tuple[Any, ...] = ()


@dataclass(slots=True)
class KernelRanges:
    """Asks footprints for the launches of one path."""

    path: HostPath
    summaries: Mapping[str, KernelSummary]
    footprint: Callable[..., Any] | None = field(default_factory=lambda: _footprint())

    def separate(self, pair: Pair, found: Overlap) -> Overlap:
        """The overlap of a pair whose ranges overlap, given what the kernels touch in them."""
        sides = (pair.first, pair.second)
        if all(side.param is None for side in sides):
            return found
        encoder = Encoder()
        pieces = [self.pieces(encoder, side, name) for side, name in zip(sides, ("a!", "b!"), strict=True)]
        for side, other, known in ((sides[0], sides[1], pieces[0]), (sides[1], sides[0], pieces[1])):
            if known is None and not covers(self.path, other.range, side.range):
                return Overlap(
                    Meet.DEPENDS, reason=f"which part of its argument {self.kernel(side)} touches is not known"
                )
        if pieces[0] is None or pieces[1] is None:
            return found
        return self.common(encoder, pieces[0], pieces[1])

    def kernel(self, side: Access) -> str:
        """The kernel's name in backquotes."""
        op = self.path.ops[side.op]
        return f"`{op.kernel_name}`" if isinstance(op, Enqueue) and op.kernel_name else "the kernel"

    def pieces(self, encoder: Encoder, side: Access, prefix: str) -> list[Piece] | None:
        """What one side touches; None where the kernel's footprint is not known."""
        start = encoder.encode(side.range.start)
        op = self.path.ops[side.op]
        if side.param is None or not isinstance(op, Enqueue):
            return [Piece(start, self.size(encoder, side))]
        summary = self.summaries.get(op.kernel or "")
        if summary is None or self.footprint is None:
            return None
        parts = self.footprint(summary, LaunchSite(op, self.path), side.param, encoder.ctx, prefix)
        if parts is None:
            return None
        wanted = _MODES[side.mode]
        return [Piece(start + part.offset, part.size, tuple(part.constraints)) for part in parts if part.mode in wanted]

    def size(self, encoder: Encoder, side: Access) -> Any:
        """The length of a plain range in bytes (a fresh unknown where it is open)."""
        if side.range.size is not None:
            return encoder.encode(side.range.size)
        memory = self.path.memory.get(side.memory)
        if memory is not None and memory.length is not None and memory.elem_bytes is not None:
            return encoder.encode(memory.length) * memory.elem_bytes - encoder.encode(side.range.start)
        size = encoder.z3.Int("open size", encoder.ctx)
        encoder.facts.append(size > 0)
        return size

    def two_threads(self, op: Enqueue, a: Access, b: Access) -> Overlap:
        """Whether two threads of one launch touch a common byte through two arguments."""
        encoder = Encoder()
        pieces = [self.pieces(encoder, side, name) for side, name in ((a, "a!"), (b, "b!"))]
        if pieces[0] is None or pieces[1] is None:
            return Overlap(Meet.DEPENDS, reason=f"which parts of its arguments {self.kernel(a)} touches is not known")
        found = self.common(encoder, pieces[0], pieces[1])
        if found.meet is not Meet.ALWAYS:
            return found
        return Overlap(Meet.DEPENDS, reason="whether two threads touch the common part is not settled")

    def common(self, encoder: Encoder, a: Iterable[Piece], b: Iterable[Piece], extra: tuple[Any, ...] = ()) -> Overlap:
        """A byte that a piece of either side touches."""
        assumes = [encoder.encode(term) for term in self.path.assumes if term.type.kind == "bool"]
        given_up = False
        for one in a:
            for other in b:
                answer = self.meet(encoder, one, other, [*assumes, *extra])
                if answer is None:
                    given_up = True
                elif answer >= 0:
                    return Overlap(Meet.ALWAYS, answer)
        if given_up:
            return Overlap(Meet.DEPENDS, reason="the solver gave up on whether the kernels touch a common byte")
        return Overlap(Meet.NEVER)

    def meet(self, encoder: Encoder, one: Piece, other: Piece, given: list[Any]) -> int | None:
        """A common byte of two pieces; -1 for none, None when the solver gives up."""
        z3 = encoder.z3
        solver = z3.Solver(ctx=encoder.ctx)
        solver.set("rlimit", RLIMIT)
        byte = z3.Int("common byte", encoder.ctx)
        for piece in (one, other):
            solver.add(byte >= piece.start, byte < piece.start + piece.size, *piece.conditions)
        solver.add(*given, *encoder.facts)
        answer = solver.check()
        if answer == z3.sat:
            return max(0, int(solver.model().eval(byte, model_completion=True).as_long()))
        return -1 if answer == z3.unsat else None


def _footprint() -> Callable[..., Any] | None:
    """The kernel prover's footprints, where that part is installed."""
    try:
        module = importlib.import_module("gpusafe.prove.footprint")
    except ModuleNotFoundError:
        return None
    found: Callable[..., Any] | None = getattr(module, "footprint", None)
    return found
