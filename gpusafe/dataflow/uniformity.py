"""Which threads certainly agree on a value: all of a block, all of a warp, or none but the thread itself.

By the shape of terms alone: what is made of values that a block (or a warp) shares, in equal iterations of the loops
around, is shared by it. Nothing here asks a solver, so that most barriers cost nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gpusafe.dataflow.intervals import Intervals
from gpusafe.dataflow.linear import linear
from gpusafe.dataflow.terms import Term, postorder

BLOCK, WARP, THREAD = 0, 1, 2
NAMES = ("block", "warp", "thread")
LANES = 32
LAUNCH = frozenset({"const", "param", "length", "sym", "base"})
IN_BLOCK = ("ntid", "nctaid", "ctaid", "dynamic")
UNKNOWN = frozenset({"atomic", "shuffle", "ptrunknown", "head"})


def marked(name: str, level: int) -> str:
    """The name of a number that threads of a level share."""
    return name if level == THREAD else f"{name}@{NAMES[level]}"


def level_of_mark(name: str) -> int:
    """The level that a name was marked with; a number that is not marked is the thread's own."""
    _, at, mark = name.rpartition("@")
    return NAMES.index(mark) if at and mark in NAMES else THREAD


@dataclass(slots=True)
class Uniformity:
    """Levels of terms. ``constant``: regions that the launch does not write; ``heads``: what is taken for granted.

    ``loops``: numbers of iterations in which the threads are that are compared; None: any.
    """

    specials: Mapping[str, Term]
    constant: frozenset[str]
    heads: Mapping[Term, int] = field(default_factory=dict)
    loops: frozenset[Term] | None = None
    _memo: dict[Term, int] = field(default_factory=dict)

    def level(self, root: Term) -> int:
        """Who shares the value of a term."""
        for term in postorder([root]):
            if term not in self._memo:
                self._memo[term] = self._one(term)
        return self._memo[root]

    def _one(self, term: Term) -> int:
        below = max((self._memo[a] for a in term.args), default=BLOCK)
        match term.op:
            case _ if term in self.heads:
                return self.heads[term]
            case _ if term.op in LAUNCH:
                return BLOCK
            case _ if term.op in UNKNOWN:
                return THREAD
            case "special":
                return self._special(str(term.data))
            case "iter":
                return max(below, self._iteration(term))
            case "fresh":
                known = isinstance(term.data, tuple) and term.data[1] in NAMES
                return max(below, NAMES.index(term.data[1])) if known else THREAD
            case "load":
                constant = isinstance(term.data, tuple) and term.data[0] in self.constant
                return self._memo[term.args[0]] if constant else THREAD
            case "/" | ">>" if below == THREAD and self._warp_number(term):
                return WARP
        return below if term.args else THREAD

    def _iteration(self, term: Term) -> int:
        name = str(term.data)
        if "~" in name:
            return level_of_mark(name)
        return BLOCK if self.loops is None or term in self.loops else THREAD

    def _special(self, name: str) -> int:
        if name.startswith(IN_BLOCK):
            return BLOCK
        if name in ("tid.y", "tid.z") and self._whole_rows():
            return WARP
        return THREAD

    def _whole_rows(self) -> bool:
        """Whether the rows of a block are whole warps."""
        width = self.specials.get("ntid.x")
        return width is not None and width.const is not None and width.const % LANES == 0

    def _flat(self) -> bool:
        sizes = [self.specials.get(f"ntid.{axis}") for axis in "yz"]
        return all(s is not None and s.const == 1 for s in sizes)

    def _warp_number(self, term: Term) -> bool:
        """Whether a quotient drops all of an index but its warp: ``(tid.x + a multiple of 32) / 32``."""
        by = term.args[1].const
        if by is None or term.args[0].type.kind != "int":
            return False
        divisor = int(by) if term.op == "/" else 1 << int(by) if 0 <= by < term.type.bits else 0
        ranges = Intervals(dict(self.specials))
        if divisor <= 0 or divisor % LANES or not (self._whole_rows() or self._flat()):
            return False
        if ranges.of(term.args[0])[0] < 0:
            return False
        form, constant = linear(term.args[0], ranges)
        own = [(t, c) for t, c in form.items() if self._within(t) == THREAD]
        rest = [c for t, c in form.items() if self._within(t) != THREAD]
        lanes = len(own) == 1 and own[0][1] == 1 and own[0][0].op == "special" and own[0][0].data == "tid.x"
        return lanes and all(c % LANES == 0 for c in (*rest, constant))

    def _within(self, atom: Term) -> int:
        return self.level(atom)
