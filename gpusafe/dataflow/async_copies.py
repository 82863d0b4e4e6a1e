"""Asynchronous copies of one thread (cp.async): which of their writes may still be under way.

A copy writes its target at some time between its issue and the wait that covers its group, so it counts as a write in
every barrier interval from the one to the other. Groups are known by age: a wait for all but N groups completes all
but the N youngest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gpusafe.dataflow.terms import Term, Terms
from gpusafe.span import Span

MOST_GROUPS = 8


@dataclass(frozen=True, slots=True)
class Copy:
    """The write of one copy: ``size`` bytes at ``offset`` of ``region``, issued under ``guard``."""

    region: str
    offset: Term
    size: int
    guard: tuple[Term, ...]
    span: Span

    def under(self, terms: Terms, cond: Term) -> Copy:
        """The same copy, issued only where ``cond`` holds."""
        return self if cond is terms.true or cond in self.guard else replace(self, guard=(*self.guard, cond))

    def mapped(self, where: dict[Term, Term]) -> Copy:
        """The copy after a substitution."""
        guard = tuple(where.get(g, g) for g in self.guard)
        return replace(self, offset=where.get(self.offset, self.offset), guard=guard)


Group = tuple[Copy, ...]


@dataclass(frozen=True, slots=True)
class Pending:
    """Copies under way: committed groups, oldest first, and the copies since the last commit."""

    groups: tuple[Group, ...] = ()
    open: Group = ()

    def issue(self, copy: Copy) -> Pending:
        """A copy starts."""
        return Pending(self.groups, (*self.open, copy))

    def commit(self) -> Pending:
        """The copies since the last commit become a group."""
        return Pending((*self.groups, self.open)[-MOST_GROUPS:], ())

    def wait(self, youngest: int) -> Pending:
        """All groups but the youngest so many are complete."""
        return Pending(self.groups[-youngest:] if youngest else (), self.open)

    def wait_all(self) -> Pending:
        """Everything is complete."""
        return Pending()

    @property
    def copies(self) -> tuple[Copy, ...]:
        """All copies under way."""
        return tuple(c for g in (*self.groups, self.open) for c in g)

    @property
    def shape(self) -> tuple[tuple[Span, ...], ...]:
        """What is pending at which age, without terms."""
        return tuple(tuple(sorted({c.span for c in g})) for g in (*self.groups, self.open))

    def terms(self) -> list[Term]:
        """All terms that occur."""
        return [t for c in self.copies for t in (c.offset, *c.guard)]

    def mapped(self, where: dict[Term, Term], terms: Terms) -> Pending:
        """After a substitution; copies that become impossible are dropped."""

        def one(group: Group) -> Group:
            moved = (c.mapped(where) for c in group)
            return tuple(c for c in moved if terms.false not in c.guard)

        return Pending(tuple(one(g) for g in self.groups), one(self.open))


NOTHING = Pending()


def merge(terms: Terms, cond: Term, a: Pending, b: Pending) -> Pending:
    """What is pending where two ways meet; groups are matched by age."""
    if a == b:
        return a
    other = terms.neg(cond)
    count = max(len(a.groups), len(b.groups))

    def padded(p: Pending, under: Term) -> list[Group]:
        groups = [()] * (count - len(p.groups)) + list(p.groups)
        return [tuple(c.under(terms, under) for c in g) for g in (*groups, p.open)]

    both = [_united(x, y) for x, y in zip(padded(a, cond), padded(b, other), strict=True)]
    return Pending(tuple(both[:-1]), both[-1])


def _united(a: Group, b: Group) -> Group:
    return tuple(dict.fromkeys((*a, *b)))
