"""Whether an access can leave the memory that a launch passes."""

from __future__ import annotations

import z3

from gpusafe.dataflow.accesses import Access
from gpusafe.dataflow.intervals import Intervals
from gpusafe.dataflow.terms import Term
from gpusafe.prove.pairs import Answer, Setting, decide, threads, where


def leaves(setting: Setting, access: Access, size: Term) -> Answer:
    """Whether some thread's access starts below 0 or ends past ``size`` bytes."""
    conds = where(setting.trace, access)
    ranges = Intervals(setting.specials)
    ranges.assume([*setting.premises, *conds])
    low, high = ranges.of(access.offset)
    if low >= 0 and high + access.size <= ranges.of(size)[0]:
        return Answer("unsat")
    enc, one, two = threads(setting, True, conds, [])
    offset, end = enc.encode(access.offset, one), enc.encode(size, enc.shared)
    goal = [enc.encode(c, one) for c in conds] + [enc.encode(c, enc.shared) for c in setting.premises]
    goal.append(z3.Or(offset < 0, offset + access.size > end))
    return decide(enc, setting, goal, one, two)
