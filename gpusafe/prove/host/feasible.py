"""Whether a path can be taken at all: whether its conditions hold together for some values."""

from __future__ import annotations

from functools import cached_property

from gpusafe.ir.host import HostPath
from gpusafe.prove.host.overlap import check_together
from gpusafe.prove.host.terms import Encoder
from gpusafe.verdict import Obligation, Verdict

UNSETTLED = "whether the conditions on the way to it can hold together was not settled"


class Feasible:
    """The question about one path; it is asked when first something is refuted there."""

    def __init__(self, path: HostPath) -> None:
        self.path = path

    @cached_property
    def answer(self) -> bool | None:
        """None: the solver gave up."""
        conditions = [term for term in self.path.assumes if term.type.kind == "bool"]
        if not conditions:
            return True
        encoder = Encoder()
        return check_together(encoder, [encoder.encode(term) for term in conditions])

    def judged(self, obligation: Obligation) -> Obligation | None:
        """An obligation as far as the path can be taken: a refutation needs that; None where it cannot."""
        if obligation.verdict is not Verdict.REFUTED or self.answer:
            return obligation
        if self.answer is False:
            return None
        return Obligation(obligation.rule, obligation.question, Verdict.UNKNOWN, obligation.span, UNSETTLED)
