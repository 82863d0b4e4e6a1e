"""What lanes of a warp know of each other: ranks among the lanes of a vote, and values that a shuffle hands out.

A vote of the whole warp is one value in it, in which the bit of a lane tells whether the condition held there. So the
number of bits below a lane's own gives lanes that voted yes places of their own, fewer than there are bits. A shuffle
gives what another lane of the warp holds: that lane is a thread of the query, too, in the block of the one that reads.
"""

from __future__ import annotations

from typing import Any

import z3

from gpusafe.dataflow.accesses import Trace
from gpusafe.dataflow.intervals import core
from gpusafe.dataflow.terms import Term
from gpusafe.prove.encode import Encoder, Thread

Z = Any
Rank = tuple[Term, Thread, Term, Term]  # the count of bits, its thread, the vote, the lane below which it counts
ROUNDS = 2  # a shuffled value may itself have been shuffled


def warp_facts(enc: Encoder, trace: Trace) -> list[Z]:
    """The facts about votes and shuffles that occur in a query; brings further threads into it."""
    out: list[Z] = []
    handed = 0
    for _ in range(ROUNDS):
        found = [(s, t) for s, t in enc.fresh[handed:] if s in trace.shuffles]
        handed = len(enc.fresh)
        for shuffle, thread in found:
            out += _source(enc, trace, shuffle, thread)
    handed_out = [(s, t) for s, t in enc.fresh if s in trace.shuffles]
    for i, (s, reader) in enumerate(handed_out):
        out += [_one_source(enc, trace, s, reader, t) for other, t in handed_out[i + 1 :] if s is other]
    ranks: list[Rank] = []
    for term, t in enc.popcounts:
        rank = _rank(trace, term)
        if rank is not None:
            ranks.append((term, t, *rank))
    votes = {(b.id, t.name): (b, t) for _, t, b, _ in ranks}
    votes |= {(f.id, t.name): (f, t) for f, t in enc.fresh if f in trace.ballots}
    for ballot, thread in votes.values():
        mask, count = enc.encode(ballot, thread), _count(enc, ballot, thread)
        out.append((mask == 0) == (count == 0))
        out.append(z3.Implies(enc.encode(trace.ballots[ballot], thread), count >= 1))
    for i, one in enumerate(ranks):
        out += _inside(enc, trace, one)
        for two in ranks[i + 1 :]:
            if one[2] is two[2]:
                out += [*_ordered(enc, trace, one, two), *_ordered(enc, trace, two, one)]
    return out


def _rank(trace: Trace, term: Term) -> tuple[Term, Term] | None:
    """The vote and the lane, where a term counts the bits of a vote below a lane."""
    masked = core(term.args[0])
    if masked.op != "&":
        return None
    for ballot, low in (masked.args, masked.args[::-1]):
        lane = _below(core(low))
        if core(ballot) in trace.ballots and lane is not None:
            return core(ballot), lane
    return None


def _below(mask: Term) -> Term | None:
    """``l`` where a mask has ones in the places below ``l`` and nowhere else: ``(1 << l) - 1``."""
    if mask.op not in ("+", "-"):
        return None
    shifted, one = core(mask.args[0]), mask.args[1].const
    less = one == 1 if mask.op == "-" else one in (-1, (1 << mask.type.bits) - 1)
    if less and shifted.op == "<<" and shifted.args[0].const == 1 and mask.type.bits == 32:
        return shifted.args[1]
    return None


def _count(enc: Encoder, ballot: Term, thread: Thread) -> Z:
    return enc.bits_set(enc.encode(ballot, thread), 32)


def _lane(enc: Encoder, thread: Thread) -> Z:
    return enc.linear(thread) % 32


def _votes(enc: Encoder, trace: Trace, rank: Rank) -> Z:
    """The thread voted yes, and the lane of its rank is its own."""
    _, thread, ballot, below = rank
    return z3.And(enc.encode(trace.ballots[ballot], thread), enc.encode(below, thread) == _lane(enc, thread))


def _inside(enc: Encoder, trace: Trace, rank: Rank) -> list[Z]:
    term, thread, ballot, _ = rank
    value, count = enc.encode(term, thread), _count(enc, ballot, thread)
    return [value <= count, z3.Implies(_votes(enc, trace, rank), value + 1 <= count)]


def _ordered(enc: Encoder, trace: Trace, one: Rank, two: Rank) -> list[Z]:
    """In one warp and one vote, a yes below another lane counts for that lane."""
    same = [_same_warp(enc, one[1], two[1])]
    same += [enc.encode(a, one[1]) == enc.encode(a, two[1]) for a in one[2].args]
    lower = enc.encode(one[3], one[1]) < enc.encode(two[3], two[1])
    counted = enc.encode(one[0], one[1]) + 1 <= enc.encode(two[0], two[1])
    return [z3.Implies(z3.And(*same, lower, _votes(enc, trace, one)), counted)]


def _same_warp(enc: Encoder, one: Thread, two: Thread) -> Z:
    blocks = [one.cta[d] == two.cta[d] for d in "xyz"]
    return z3.And(*blocks, enc.warp(one) == enc.warp(two))


def _one_source(enc: Encoder, trace: Trace, shuffle: Term, one: Thread, two: Thread) -> Z:
    """Two lanes that read from one lane in one shuffle get one value."""
    lane = trace.shuffles[shuffle][1]
    same = [_same_warp(enc, one, two), enc.encode(lane, one) == enc.encode(lane, two)]
    same += [enc.encode(a, one) == enc.encode(a, two) for a in shuffle.args]
    return z3.Implies(z3.And(*same), enc.encode(shuffle, one) == enc.encode(shuffle, two))


def _source(enc: Encoder, trace: Trace, shuffle: Term, thread: Thread) -> list[Z]:
    """The value of a shuffle is what its source lane holds."""
    value, lane = trace.shuffles[shuffle]
    if lane.const != 0 and not enc.whole_warps:
        return []
    source = enc.companion(thread, f"{thread.name}^{shuffle.id}")
    out = [enc.warp(source) == enc.warp(thread), _lane(enc, source) == enc.encode(lane, thread)]
    out += [enc.encode(a, source) == enc.encode(a, thread) for a in shuffle.args]
    out.append(enc.encode(shuffle, thread) == enc.encode(value, source))
    inside = z3.And(enc.encode(lane, thread) >= 0, enc.encode(lane, thread) < 32)
    return [z3.Implies(inside, z3.And(*out))]
