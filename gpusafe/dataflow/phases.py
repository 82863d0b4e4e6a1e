"""Barrier intervals as values: which barrier a thread passed last, and in which iterations of its loops.

Two threads of one block that are both in the interval after barrier ``b`` of iterations ``(k1, ..)`` may run at the
same time; threads in different intervals are separated by a barrier. After a branch or at a loop head the last barrier
depends on the way taken: a phase is a list of alternatives with their conditions, of which exactly one holds.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpusafe.dataflow.terms import Term, Terms


@dataclass(frozen=True, slots=True)
class PhasePoint:
    """The interval that starts at a barrier (``start``: at the kernel's start) in these loop iterations."""

    barrier: str
    at: tuple[Term, ...] = ()


Phase = tuple[tuple[Term, PhasePoint], ...]


@dataclass(frozen=True, slots=True)
class Phases:
    """The phases of the three scopes: ``grid`` counts grid barriers, ``block`` also block barriers, ``warp`` all."""

    block: Phase
    warp: Phase
    grid: Phase

    def after(self, terms: Terms, point: PhasePoint, scope: str) -> Phases:
        """The phases after a barrier of a scope (``warp``, ``block``, ``cluster`` or ``grid``)."""
        now: Phase = ((terms.true, point),)
        return Phases(
            self.block if scope == "warp" else now,
            now,
            now if scope == "grid" else self.grid,
        )


def start(terms: Terms) -> Phases:
    """The phases at the start of a kernel."""
    first: Phase = ((terms.true, PhasePoint("start")),)
    return Phases(first, first, first)


def merge(terms: Terms, cond: Term, a: Phases, b: Phases) -> Phases:
    """The phases where two ways meet: those of ``a`` where ``cond`` holds, else those of ``b``."""

    def one(left: Phase, right: Phase) -> Phase:
        if left == right:
            return left
        return guarded(terms, cond, left) + guarded(terms, terms.neg(cond), right)

    return Phases(one(a.block, b.block), one(a.warp, b.warp), one(a.grid, b.grid))


def guarded(terms: Terms, cond: Term, phase: Phase) -> Phase:
    """The alternatives, each only under ``cond``."""
    kept = ((terms.binary("&&", cond, g), p) for g, p in phase)
    return tuple((g, p) for g, p in kept if g is not terms.false)


def terms_of(phases: Phases) -> list[Term]:
    """All terms that occur."""
    return [t for phase in (phases.block, phases.warp, phases.grid) for g, p in phase for t in (g, *p.at)]


def mapped(phases: Phases, where: dict[Term, Term], terms: Terms) -> Phases:
    """The phases after a substitution."""

    def one(phase: Phase) -> Phase:
        moved = ((where.get(g, g), PhasePoint(p.barrier, tuple(where.get(t, t) for t in p.at))) for g, p in phase)
        return tuple((g, p) for g, p in moved if g is not terms.false)

    return Phases(one(phases.block), one(phases.warp), one(phases.grid))


def points(phase: Phase) -> frozenset[str]:
    """The barriers that may have been passed last."""
    return frozenset(p.barrier for _, p in phase)
