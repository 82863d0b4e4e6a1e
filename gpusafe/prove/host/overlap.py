"""Whether two stretches of one allocation have a byte in common.

First by comparing the ends as sums, then with Z3 under the path's conditions.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from gpusafe.dataflow.host_sums import Linear, linear
from gpusafe.ir.expr import Const, Expr
from gpusafe.ir.host import HostPath, MemRange
from gpusafe.prove.host.terms import Encoder

RLIMIT = 2_000_000
"""Z3's resource limit for one query."""


class Meet(Enum):
    """``NEVER``: no common byte. ``ALWAYS``: one whatever the unknowns are. ``DEPENDS``: neither is certain."""

    NEVER = "never"
    ALWAYS = "always"
    DEPENDS = "depends"


@dataclass(frozen=True, slots=True)
class Overlap:
    """The answer, with one common byte (an offset in the allocation) where it is known, and the reason for a doubt."""

    meet: Meet
    byte: int | None = None
    reason: str = ""


def overlap(path: HostPath, a: MemRange, b: MemRange) -> Overlap:
    """Compare two ranges of one allocation."""
    quick = _by_sums(path, a, b)
    return quick if quick is not None else _by_solver(path, a, b)


def covers(path: HostPath, outer: MemRange, inner: MemRange) -> bool:
    """Whether ``outer`` surely holds all of ``inner``."""
    start, end = linear(outer.start), end_of(path, outer)
    inner_start, inner_end = linear(inner.start), end_of(path, inner)
    if not inner_start.plus(start, -1).never_negative:
        return False
    if end is None or outer.size is None:
        return True
    if inner_end is None:
        return False
    return end.plus(inner_end, -1).never_negative


def end_of(path: HostPath, stretch: MemRange) -> Linear | None:
    """The first byte past a range; None where it is open."""
    if stretch.size is not None:
        return linear(stretch.start).plus(linear(stretch.size))
    memory = path.memory.get(stretch.memory)
    if memory is None or memory.length is None or memory.elem_bytes is None:
        return None
    return linear(memory.length).times(memory.elem_bytes)


def _by_sums(path: HostPath, a: MemRange, b: MemRange) -> Overlap | None:
    start_a, start_b = linear(a.start), linear(b.start)
    end_a, end_b = end_of(path, a), end_of(path, b)
    for end, start in ((end_a, start_b), (end_b, start_a)):
        if end is not None and start.plus(end, -1).never_negative:
            return Overlap(Meet.NEVER)
    if _empty(a) or _empty(b):
        return Overlap(Meet.NEVER)
    distance = start_b.plus(start_a, -1).number
    if distance is None:
        return None
    if distance == 0:
        return Overlap(Meet.ALWAYS, start_a.number)
    lower, later = (a, start_b) if distance > 0 else (b, start_a)
    if lower.size is None:
        return Overlap(Meet.ALWAYS, later.number)
    room = linear(lower.size).plus(Linear(abs(distance)), -1).number
    if room is not None and room > 0:
        return Overlap(Meet.ALWAYS, later.number)
    return None


def _empty(stretch: MemRange) -> bool:
    return isinstance(stretch.size, Const) and stretch.size.value == 0


def _by_solver(path: HostPath, a: MemRange, b: MemRange) -> Overlap:
    encoder = Encoder()
    z3 = encoder.z3
    start_a, end_a = _encoded(encoder, path, a)
    start_b, end_b = _encoded(encoder, path, b)
    sizes = [end > start for start, end in ((start_a, end_a), (start_b, end_b)) if end is not None]
    common = [start_a < end_b] if end_b is not None else []
    common += [start_b < end_a] if end_a is not None else []
    assumes = [encoder.encode(term) for term in path.assumes if _is_condition(term)]
    base = [*assumes, *sizes]
    meeting = check_together(encoder, [*base, *common])
    if meeting is None:
        return Overlap(Meet.DEPENDS, reason="the solver gave up on whether the two stretches overlap")
    if meeting is False:
        return Overlap(Meet.NEVER)
    apart = check_together(encoder, [*base, z3.Not(z3.And(*common, z3.BoolVal(True, encoder.ctx)))])
    if apart is False:
        return Overlap(Meet.ALWAYS)
    names = sorted(name for name in encoder.symbols)
    on = f" depends on {', '.join(f'`{n}`' for n in names[:4])}" if names else " is not known"
    return Overlap(Meet.DEPENDS, reason=f"whether the two stretches overlap{on}")


def _is_condition(term: Expr) -> bool:
    return term.type.kind == "bool"


def _encoded(encoder: Encoder, path: HostPath, stretch: MemRange) -> tuple[Any, Any]:
    start = encoder.encode(stretch.start)
    if stretch.size is not None:
        return start, start + encoder.encode(stretch.size)
    memory = path.memory.get(stretch.memory)
    if memory is None or memory.length is None or memory.elem_bytes is None:
        return start, None
    return start, encoder.encode(memory.length) * memory.elem_bytes


def check_together(encoder: Encoder, conditions: list[Any]) -> bool | None:
    """Whether the conditions can hold together; None when the solver gives up."""
    solver = encoder.z3.Solver(ctx=encoder.ctx)
    solver.set("rlimit", RLIMIT)
    solver.add(*conditions, *encoder.facts)
    answer = solver.check()
    if answer == encoder.z3.sat:
        return True
    return False if answer == encoder.z3.unsat else None
