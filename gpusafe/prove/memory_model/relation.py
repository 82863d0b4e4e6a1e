"""Binary relations over a small set of events: row ``i`` is the bit set of the events that ``i`` is related to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

Relation = list[int]


def empty(size: int) -> Relation:
    """The relation without pairs."""
    return [0] * size


def of(size: int, pairs: Iterable[tuple[int, int]]) -> Relation:
    """The relation of the given pairs."""
    out = [0] * size
    for a, b in pairs:
        out[a] |= 1 << b
    return out


def bits(row: int) -> Iterator[int]:
    """The members of a bit set, ascending."""
    while row:
        low = row & -row
        yield low.bit_length() - 1
        row ^= low


def pairs(relation: Relation) -> list[tuple[int, int]]:
    """All pairs, in order."""
    return [(a, b) for a, row in enumerate(relation) for b in bits(row)]


def union(*relations: Relation) -> Relation:
    """The pairs of any."""
    out = list(relations[0])
    for relation in relations[1:]:
        for i, row in enumerate(relation):
            out[i] |= row
    return out


def intersection(left: Relation, right: Relation) -> Relation:
    """The pairs of both."""
    return [a & b for a, b in zip(left, right, strict=True)]


def compose(left: Relation, right: Relation) -> Relation:
    """``left ; right``."""
    out = []
    for row in left:
        reached = 0
        while row:
            low = row & -row
            reached |= right[low.bit_length() - 1]
            row ^= low
        out.append(reached)
    return out


def inverse(relation: Relation) -> Relation:
    """The pairs turned round."""
    out = [0] * len(relation)
    for a, row in enumerate(relation):
        mark = 1 << a
        for b in bits(row):
            out[b] |= mark
    return out


def closure(relation: Relation) -> Relation:
    """The transitive closure.

    Events whose successors are all done are done next, and an event takes over what a successor reaches as a whole;
    cycles are left to Warshall's algorithm.
    """
    out = list(relation)
    open_ = (1 << len(out)) - 1
    while open_:
        before = open_
        for i in range(len(out) - 1, -1, -1):
            if open_ >> i & 1 and not out[i] & open_:
                row = rest = out[i]
                while rest:
                    low = rest & -rest
                    beyond = out[low.bit_length() - 1]
                    row |= beyond
                    rest &= ~(beyond | low)
                out[i] = row
                open_ ^= 1 << i
        if open_ == before:
            return _closure_with_cycles(out)
    return out


def _closure_with_cycles(out: Relation) -> Relation:
    for k in range(len(out)):
        mark, row = 1 << k, out[k]
        if row:
            for i, other in enumerate(out):
                if other & mark:
                    out[i] = other | row
    return out


def from_set(members: int, relation: Relation) -> Relation:
    """``[members] ; relation``."""
    return [row if members >> i & 1 else 0 for i, row in enumerate(relation)]


def to_set(relation: Relation, members: int) -> Relation:
    """``relation ; [members]``."""
    return [row & members for row in relation]


def irreflexive(relation: Relation) -> bool:
    """Whether nothing is related to itself."""
    return not any(row >> i & 1 for i, row in enumerate(relation))


def acyclic(relation: Relation) -> bool:
    """Whether there is no cycle: whether all can be taken away, those that lead nowhere first."""
    left = (1 << len(relation)) - 1
    while left:
        before = left
        for i in range(len(relation) - 1, -1, -1):
            if left >> i & 1 and not relation[i] & left:
                left ^= 1 << i
        if left == before:
            return False
    return True
