"""The second engine for pairs: with a concrete launch, all threads are simply gone through.

Exact for indices of any kind (bit tricks, remainders of products) as long as they are functions of the thread and of
short loops. Conditions that are not known count as possibly true, so ``unsat`` is a proof.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from gpusafe.dataflow.accesses import Access
from gpusafe.dataflow.intervals import Intervals
from gpusafe.dataflow.numeric import Plan
from gpusafe.dataflow.phases import Phase
from gpusafe.dataflow.terms import Term, postorder
from gpusafe.prove.pairs import Setting, where

WORK_LIMIT = 3_000_000
ITERATIONS_LIMIT = 4096
Triple = tuple[int, int, int]


class _Side:
    """One access, prepared: its offset, its conditions and its phases as functions of the thread."""

    def __init__(self, setting: Setting, access: Access, same_block: bool) -> None:
        self.access = access
        conds = where(setting.trace, access)
        self.phase: Phase = access.context.phases.block if same_block else access.context.phases.grid
        self.points = [(p.barrier, len(p.at)) for _, p in self.phase]
        parts = [t for g, p in self.phase for t in (g, *p.at)]
        self.count = len(conds)
        self.plan = Plan([access.offset, *conds, *parts])
        self.names = {str(t.data) for t in self.plan.order if t.op == "special"}
        ranges = Intervals(setting.specials)
        ranges.assume([*setting.premises, *conds])
        self.iters = [t for t in self.plan.order if t.op == "iter"]
        self.ranges = [ranges.of(t) for t in self.iters]
        self.closed = not any(t.op in ("param", "length", "sym") for t in postorder([access.offset]))

    @property
    def iterations(self) -> int:
        total = 1
        for low, high in self.ranges:
            total *= min(high - low + 1, ITERATIONS_LIMIT + 1)
        return total

    def happen(self, special: dict[str, int]) -> Iterator[tuple[int, tuple[tuple[str, tuple[int, ...]], ...]] | None]:
        """The offsets and phases of a thread; None where one of them is not known."""
        for values in product(*(range(low, high + 1) for low, high in self.ranges)):
            numbers = dict(zip(self.iters, values, strict=True))

            def leaf(term: Term, numbers: dict[Term, int] = numbers) -> Any:
                return (
                    numbers[term]
                    if term.op == "iter"
                    else special.get(str(term.data))
                    if term.op == "special"
                    else None
                )

            offset, *rest = self.plan.evaluate(leaf)
            if False in rest[: self.count]:
                continue
            phases = self._phases(rest[self.count :])
            if offset is None or phases is None:
                yield None
            else:
                yield offset, phases

    def _phases(self, values: list[Any]) -> tuple[tuple[str, tuple[int, ...]], ...] | None:
        out = []
        for barrier, count in self.points:
            guard, *at = values[: 1 + count]
            values = values[1 + count :]
            if guard is False:
                continue
            if None in at:
                return None
            out.append((barrier, tuple(at)))
        return tuple(out)


def _size(setting: Setting, register: str) -> Triple | None:
    bound = [setting.specials.get(f"{register}.{a}") for a in "xyz"]
    numbers = [b.const for b in bound if b is not None]
    if len(numbers) != 3 or any(n is None for n in numbers):
        return None
    return numbers[0] or 0, numbers[1] or 0, numbers[2] or 0


def apart(setting: Setting, a: Access, b: Access, same_block: bool) -> bool:
    """Whether the two accesses are proved apart by going through all threads."""
    grid, block = _size(setting, "nctaid"), _size(setting, "ntid")
    if block is None or (grid is None and not same_block):
        return False
    if a.context.phases.warp != a.context.phases.block or b.context.phases.warp != b.context.phases.block:
        return False
    sides = [_Side(setting, a, same_block)] + ([_Side(setting, b, same_block)] if b is not a else [])
    if not all(s.closed and s.iterations <= ITERATIONS_LIMIT for s in sides):
        return False
    one_block = same_block and not any(n.startswith("ctaid") for s in sides for n in s.names)
    if grid is None:
        if not one_block:
            return False
        grid = (1, 1, 1)
    blocks = [(0, 0, 0)] if one_block else list(_triples(grid, WORK_LIMIT))
    work = len(blocks) * block[0] * block[1] * block[2] * sum(len(s.plan) * s.iterations for s in sides)
    if not blocks or work > WORK_LIMIT:
        return False
    return _no_meeting(sides, grid, block, blocks, same_block)


def _triples(size: Triple, limit: int) -> Iterator[Triple]:
    if size[0] * size[1] * size[2] <= limit:
        yield from ((x, y, z) for z in range(size[2]) for y in range(size[1]) for x in range(size[0]))


def _no_meeting(sides: list[_Side], grid: Triple, block: Triple, blocks: list[Triple], same_block: bool) -> bool:
    """Fills a table of cells; False at the first cell where two threads may meet, or where something is not known."""
    touched: dict[object, dict[int, set[object]]] = {}
    sizes = {f"nctaid.{a}": n for a, n in zip("xyz", grid, strict=True)}
    sizes |= {f"ntid.{a}": n for a, n in zip("xyz", block, strict=True)}
    for cta in blocks:
        for tid in _triples(block, 1 << 12):
            special = {**sizes, **{f"ctaid.{a}": n for a, n in zip("xyz", cta, strict=True)}}
            special |= {f"tid.{a}": n for a, n in zip("xyz", tid, strict=True)}
            who: object = (cta, tid) if same_block else cta
            for number, side in enumerate(sides):
                for found in side.happen(special):
                    if found is None:
                        return False
                    if _hits(touched, (number, len(sides)), side, found, who, cta if same_block else None):
                        return False
    return True


def _hits(
    touched: dict[object, dict[int, set[object]]], place: tuple[int, int], side: _Side,
    found: tuple[int, tuple[tuple[str, tuple[int, ...]], ...]], who: object, cta: object,
) -> bool:  # fmt: skip
    """Records an access; True when another thread made the other access to one of its bytes in the same phase."""
    number, count = place
    offset, phases = found
    other = 1 - number if count == 2 else number
    for byte in range(offset, offset + side.access.size):
        for phase in phases:
            cell = touched.setdefault((cta, byte, phase), {})
            if any(w != who for w in cell.get(other, ())):
                return True
            cell.setdefault(number, set()).add(who)
    return False
