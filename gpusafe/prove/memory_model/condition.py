"""Whether a condition holds in a state that may be known in part."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping

from gpusafe.parse.litmus import Condition

Lookup = Callable[[int | str | tuple[int, str]], int | None]
COMPARE: Mapping[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}


def holds(condition: Condition, lookup: Lookup) -> bool | None:
    """True or False where the known part of the state decides it, else None. The reader bounds the nesting."""
    match condition.kind:
        case "not":
            inner = holds(condition.parts[0], lookup)
            return None if inner is None else not inner
        case "and" | "or" as kind:
            answers = [holds(p, lookup) for p in condition.parts]
            decisive = kind == "or"
            if decisive in answers:
                return decisive
            return None if None in answers else not decisive
    left, right = (lookup(t) for t in condition.terms)
    if left is None or right is None:
        return None
    return COMPARE[condition.kind](left, right)


def terms(condition: Condition) -> Iterator[str | tuple[int, str]]:
    """The cells and registers that a condition speaks of."""
    todo = [condition]
    while todo:
        part = todo.pop()
        todo.extend(part.parts)
        yield from (t for t in part.terms if not isinstance(t, int))
