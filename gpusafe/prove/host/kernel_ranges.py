"""Narrows what a launch may touch to what its kernel really touches.

The range that an argument passes is an upper bound. Where it matters (two ranges overlap, nothing orders the two
operations), the kernel's footprint at this launch, as Z3 terms over its threads, is asked for a common byte.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gpusafe.dataflow.contracts import KernelSummary
from gpusafe.dataflow.effects import Access, atomics_are_wide
from gpusafe.ir.expr import Expr
from gpusafe.ir.host import Enqueue, HostPath, LaunchSite
from gpusafe.prove.footprint import FootAccess, footprint
from gpusafe.prove.host.bearing import Bearing, of_launch
from gpusafe.prove.host.conflicts import Pair
from gpusafe.prove.host.overlap import RLIMIT, Meet, Overlap, covers
from gpusafe.prove.host.terms import Encoder


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes that one side touches, as Z3 terms: ``start`` in the allocation, ``size``, under ``conditions``.

    ``certain`` is False where the kernel's address depends on what is not modelled.
    """

    start: Any
    size: Any
    conditions: tuple[Any, ...] = ()
    certain: bool = True


@dataclass(slots=True)
class KernelRanges:
    """Asks footprints for the launches of one path."""

    path: HostPath
    summaries: Mapping[str, KernelSummary]
    encoder: Encoder | None = None
    known: dict[tuple[object, ...], tuple[FootAccess, ...] | None] = field(default_factory=dict)
    answers: dict[tuple[int, int, Overlap], Overlap] = field(default_factory=dict)
    numbers: dict[Hashable, int] = field(default_factory=dict)
    distinct: dict[Hashable, int] = field(default_factory=dict)
    bearing: Bearing | None = None
    encoded: dict[Expr, Any] = field(default_factory=dict)

    def separate(self, pair: Pair, found: Overlap) -> Overlap:
        """The overlap of a pair whose ranges overlap, given what the kernels touch in them."""
        if pair.first.param is None and pair.second.param is None:
            return found
        key = (self.facts(pair.first), self.facts(pair.second), found)
        if key not in self.answers:
            self.answers[key] = self.asked(pair, found)
        return self.answers[key]

    def facts(self, side: Access) -> int:
        """The number of all that the answer about one side depends on: two launches of one kernel may be alike."""
        access = (side.op, side.arg, side.param, side.mode, side.range if side.arg is None else None)
        if access not in self.numbers:
            self.numbers[access] = self.distinct.setdefault(self.all_of(side), len(self.distinct))
        return self.numbers[access]

    def all_of(self, side: Access) -> Hashable:
        """What :meth:`facts` numbers."""
        op = self.path.ops[side.op]
        launch = (op.kernel, op.kernel_name, op.shape, without_places(op)) if isinstance(op, Enqueue) else None
        memory = self.path.memory.get(side.memory)
        size = (memory.length, memory.elem_bytes) if memory is not None else None
        return (
            launch if side.param is not None else None,
            side.param,
            side.mode,
            side.range.start,
            side.range.size,
            size,
        )

    def asked(self, pair: Pair, found: Overlap) -> Overlap:
        """The answer of :meth:`separate`, from the solver."""
        sides = (pair.first, pair.second)
        encoder = self.encoder = self.encoder or Encoder()
        pieces = [self.pieces(encoder, side, name) for side, name in zip(sides, ("a!", "b!"), strict=True)]
        covered = [
            other.param is None and covers(self.path, other.range, side.range) for side, other in (sides, sides[::-1])
        ]
        for side, known, inside in zip(sides, pieces, covered, strict=True):
            if known is None and not inside:
                return self.open(side)
        if pieces[0] is None or pieces[1] is None:
            return found
        given = self.assumes(encoder, *sides)
        answer = self.common(encoder, given, (pieces[0], pieces[1]), (covered[0], covered[1]))
        return answer if answer is not None else self.open(next(s for s in sides if s.param is not None))

    def happens(self, side: Access) -> bool | None:
        """Whether a launch can make an access at all (its arguments may rule it out); None where that is not known."""
        encoder = self.encoder = self.encoder or Encoder()
        pieces = self.pieces(encoder, side, "a!")
        if pieces is None:
            return None
        everything = Piece(encoder.int_value(0), encoder.int_value(1 << 62))
        given = self.assumes(encoder, side)
        answers = [self.meet(encoder, piece, everything, given) for piece in pieces if piece.certain]
        if any(answer is not None and answer >= 0 for answer in answers):
            return True
        return None if len(answers) < len(pieces) or None in answers else False

    def conditions(self, *sides: Access) -> tuple[Expr, ...]:
        """The conditions of the path that bear on accesses."""
        self.bearing = self.bearing or Bearing(self.path.assumes)
        terms: list[Expr | None] = []
        for side in sides:
            op, memory = self.path.ops[side.op], self.path.memory.get(side.memory)
            terms += [side.range.start, side.range.size, memory.length if memory is not None else None]
            terms += of_launch(op, self.path) if isinstance(op, Enqueue) else ()
        return self.bearing.on(terms)

    def assumes(self, encoder: Encoder, *sides: Access) -> list[Any]:
        """The same for the solver."""
        wanted = self.conditions(*sides)
        for term in wanted:
            if term not in self.encoded:
                self.encoded[term] = encoder.encode(term)
        return [self.encoded[term] for term in wanted]

    def open(self, side: Access) -> Overlap:
        """The answer when it is not known where in its argument a kernel reaches."""
        return Overlap(Meet.DEPENDS, reason=f"which part of its argument {self.kernel(side)} touches is not known")

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
        if summary is None:
            return None
        key = (op.kernel, op.shape, without_places(op), side.param, prefix)
        if key not in self.known:
            near = replace(self.path, assumes=self.conditions(side))
            self.known[key] = footprint(summary, LaunchSite(op, near), side.param, encoder.ctx, prefix)
        parts = self.known[key]
        if parts is None:
            return None
        wanted = modes_of_footprint(side.mode, summary)
        return [Piece(start + p.offset, p.size, p.constraints, p.certain) for p in parts if p.mode in wanted]

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

    def common(
        self,
        encoder: Encoder,
        given: list[Any],
        pieces: tuple[list[Piece], list[Piece]],
        inside: tuple[bool, bool],
    ) -> Overlap | None:
        """A byte that a piece of either side touches; None where only pieces that are not certain may meet.

        ``inside``: the other side covers all that this one can reach, so that it does not matter where it reaches.
        """
        given_up = uncertain = False
        for one in pieces[0]:
            for other in pieces[1]:
                answer = self.meet(encoder, one, other, given)
                if answer is None:
                    given_up = True
                elif answer >= 0:
                    if (one.certain or inside[0]) and (other.certain or inside[1]):
                        return Overlap(Meet.ALWAYS, answer)
                    uncertain = True
        if given_up:
            return Overlap(Meet.DEPENDS, reason="the solver gave up on whether the kernels touch a common byte")
        return None if uncertain else Overlap(Meet.NEVER)

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


def without_places(op: Enqueue) -> Hashable:
    """The arguments of a launch, whatever their places in the text and in memory."""
    return tuple((a.kind, a.value, a.range is None, a.passed, a.elem_bytes, a.length, a.type) for a in op.args)


def modes_of_footprint(mode: str, summary: KernelSummary) -> tuple[str, ...]:
    """The modes of a footprint that make up an access (narrow atomics count as writes)."""
    if mode == "write" and not atomics_are_wide(summary.kernel.body):
        return ("write", "atomic")
    return (mode,)
