"""Linear forms of integer terms: what two indices have in common, and which equalities their equality forces."""

from __future__ import annotations

from dataclasses import dataclass

from gpusafe.dataflow.intervals import Intervals, Range
from gpusafe.dataflow.terms import Term

Linear = dict[Term, int]
SIZE_LIMIT = 24


def linear(root: Term, ranges: Intervals) -> tuple[Linear, int]:
    """``root`` as a sum of atoms with whole coefficients and a constant, where nothing on the way overflows."""
    out: Linear = {}
    constant = 0
    stack = [(root, 1)]
    while stack and len(out) < SIZE_LIMIT:
        term, by = stack.pop()
        if term.const is not None:
            constant += by * int(term.const)
            continue
        parts = _parts(term, ranges)
        if parts is None:
            out[term] = out.get(term, 0) + by
        else:
            constant += by * parts[1]
            stack.extend((t, by * c) for t, c in parts[0])
    for term, by in stack:
        out[term] = out.get(term, 0) + by
    return {t: c for t, c in out.items() if c}, constant


def _parts(term: Term, ranges: Intervals) -> tuple[list[tuple[Term, int]], int] | None:
    if term.op == "sum":
        return [(a, 1) for a in term.args], 0
    if not ranges.fits(term) and term.data is not True:
        return None
    match term.op:
        case "+":
            return [(a, 1) for a in term.args], 0
        case "-":
            return [(term.args[0], 1), (term.args[1], -1)], 0
        case "cast" if term.args[0].type.kind == "int":
            return [(term.args[0], 1)], 0
        case "*" if term.args[1].const is not None:
            return [(term.args[0], int(term.args[1].const))], 0
        case "<<" if term.args[1].const is not None and 0 <= term.args[1].const < 64:
            return [(term.args[0], 1 << int(term.args[1].const))], 0
        case "ind" if term.args[1].const is not None:
            step = int(term.args[1].const) * int(str(term.data))
            return [(term.args[0], 1), (term.args[2], step)], 0
        case "ind" if term.args[2].const is not None:
            return [(term.args[0], 1), (term.args[1], int(term.args[2].const) * int(str(term.data)))], 0
    return None


@dataclass(frozen=True, slots=True)
class Forced:
    """Two values that must be equal (None stands for zero)."""

    first: Term | None
    second: Term | None


def forced(a: Term, b: Term, ranges_a: Intervals, ranges_b: Intervals) -> list[Forced]:
    """Equalities that follow from ``a == b`` by mixed radix: where all lower places together are less than a unit."""
    left, ca = linear(a, ranges_a)
    right, cb = linear(b, ranges_b)
    places: list[tuple[int, Term | None, Term | None]] = []
    rest = dict(right)
    for term, by in left.items():
        mate = term if rest.get(term) == by else next((t for t, c in rest.items() if c == by), None)
        if mate is not None:
            del rest[mate]
        places.append((by, term, mate))
    places += [(by, None, term) for term, by in rest.items()]
    places.sort(key=lambda p: -abs(p[0]))
    spans = [_difference(p, ranges_a, ranges_b) for p in places]
    out = []
    for i, (by, first, second) in enumerate(places):
        low = ca - cb + sum(s[0] for s in spans[i + 1 :])
        high = ca - cb + sum(s[1] for s in spans[i + 1 :])
        if low <= -abs(by) or high >= abs(by):
            break
        out.append(Forced(first, second))
    return out


def _difference(place: tuple[int, Term | None, Term | None], ra: Intervals, rb: Intervals) -> Range:
    by, first, second = place
    low_a, high_a = ra.of(first) if first is not None else (0, 0)
    low_b, high_b = rb.of(second) if second is not None else (0, 0)
    ends = (by * (low_a - high_b), by * (high_a - low_b))
    return min(ends), max(ends)
