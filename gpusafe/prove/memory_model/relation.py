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
    """The transitive closure."""
    out = list(relation)
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
    """Whether there is no cycle."""
    return irreflexive(closure(relation))
