"""What the rounds of a loop that are not walked may do beyond the walked ones, where the loop is known to repeat.

Numbers that advance from period to period leave the values that were walked. Scalars of launches become unknowns over
all rounds, so that a kernel's conditions are asked for every one; launches whose size advances are not generalised; and
stretches of one memory that advance differently, or that reach each other only many rounds apart, are not either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement

from gpusafe.dataflow.host import terms
from gpusafe.dataflow.host.machine import Machine
from gpusafe.ir.expr import Binary, Const, Expr, Op
from gpusafe.ir.host import Enqueue, HostAccess, HostOp, LaunchArg, LaunchShape, MemRange
from gpusafe.ir.terms import children

WALKED = 2  # periods between two rounds of which the order was seen
BEFORE = 16  # periods that are walked at most
FAR = 1 << 48  # rounds of a loop whose count is not known


@dataclass(frozen=True, slots=True)
class Advance:
    """A stretch in the last walked period: where it starts and ends in bytes, and how far it moves a period."""

    memory: str
    start: int
    end: int
    step: int
    writes: bool
    stream: str


def generalise(m: Machine, last: range, period_before: range, rounds: int | None) -> str | None:
    """Makes the last walked period stand for all later ones; a reason where it cannot.

    ``last`` and ``period_before`` are the indices of the operations of two equal periods, ``rounds`` how many periods
    follow (None: not known).
    """
    if any(_uneven(m.ops[index]) for index in last):
        return "a number that its operations use does not advance evenly"
    for now, before in zip(last, period_before, strict=True):
        op, earlier = m.ops[now], m.ops[before]
        if not isinstance(op, Enqueue) or not isinstance(earlier, Enqueue):
            continue
        if op.shape is not None and any(isinstance(n, terms.Counter) for n in _sizes(op.shape)):
            return "the size of its launches counts the rounds"
        m.ops[now] = replace(op, args=_scalars(m, op.args, earlier.args, rounds))
    moving = [a for now, before in zip(last, period_before, strict=True) for a in _advances(m.ops[now], m.ops[before])]
    if any(_meet_far(a, b, rounds if rounds is not None else FAR) for a, b in combinations_with_replacement(moving, 2)):
        return "stretches of one memory reach each other in rounds that are far apart"
    return None


def _uneven(op: HostOp) -> bool:
    """Whether an operation uses a number that does not advance by the same amount every round."""
    stack: list[Expr | None] = [e for part, _ in _ranges(op) for e in (part.start, part.size)]
    if isinstance(op, Enqueue):
        stack += [e for a in op.args for e in (a.value, a.length)]
    while stack:
        e = stack.pop()
        if isinstance(e, Const) and isinstance(e.value, terms.Bent):
            return True
        stack += children(e) if e is not None else ()
    return False


def _sizes(shape: LaunchShape) -> tuple[int | None, ...]:
    parts = (*shape.grid, *shape.block, shape.shared_bytes)
    return tuple(p.value if isinstance(p, Const) and isinstance(p.value, int) else None for p in parts)


def _scalars(
    m: Machine, now: Sequence[LaunchArg], before: Sequence[LaunchArg], rounds: int | None
) -> tuple[LaunchArg, ...]:
    out = list(now)
    for i, (arg, earlier) in enumerate(zip(now, before, strict=True)):
        match arg, earlier:
            case LaunchArg(value=Const(type=kind, value=int(b)) as last), LaunchArg(value=Const(value=int(a))) if (
                a != b and kind.kind == "int"
            ):
                turn = m.symbol("round", kind, 0, rounds)
                moved: Expr = Binary(kind, Op.MUL, turn, Const(kind, b - a), True)
                out[i] = replace(arg, value=Binary(kind, Op.ADD, last, moved, True))
    return tuple(out)


def _advances(op: HostOp, earlier: HostOp) -> Iterator[Advance]:
    for (now, writes), (before, _) in zip(_ranges(op), _ranges(earlier), strict=False):
        match now, before:
            case (
                MemRange(memory=memory, start=Const(value=int(b)), size=size),
                MemRange(memory=same, start=Const(value=int(a))),
            ):
                if memory == same:
                    end = b + int(size.value) if isinstance(size, Const) else FAR
                    yield Advance(memory, b, end, b - a, writes, op.stream if isinstance(op, Enqueue) else "host")


def _ranges(op: HostOp) -> Iterator[tuple[MemRange, bool]]:
    match op:
        case Enqueue(accesses=accesses, args=args):
            yield from ((a.range, a.mode != "read") for a in accesses)
            yield from ((a.range, a.passed != "ref") for a in args if a.range is not None)
        case HostAccess(access=access):
            yield access.range, access.mode != "read"


def _meet_far(a: Advance, b: Advance, rounds: int) -> bool:
    """Whether two stretches meet in rounds further apart than those that were walked, and not in these."""
    if a.memory != b.memory or a.stream == b.stream or not (a.writes or b.writes) or a.step == b.step == 0:
        return False
    if a.step != b.step:
        first, second = _span(a, rounds), _span(b, rounds)
        return not _overlap((a.start, a.end), (b.start, b.end)) and _overlap(first, second)
    # n periods apart they overlap where n * step lies strictly between these two
    low, high = a.start - b.end, a.end - b.start
    step = abs(a.step)
    nearest, furthest = low // step + 1, -(-high // step) - 1
    if nearest > furthest or (nearest <= WALKED and furthest >= -WALKED):
        return False
    return min(abs(nearest), abs(furthest)) <= rounds


def _overlap(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return a[0] < b[1] and b[0] < a[1]


def _span(a: Advance, rounds: int) -> tuple[int, int]:
    """All that a stretch covers in the rounds before and after."""
    moved, back = a.step * rounds, a.step * BEFORE
    return max(0, min(a.start, a.start + moved, a.start - back)), max(a.end, a.end + moved, a.end - back)
