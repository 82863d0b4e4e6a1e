"""When an address that depends on contents of memory may be taken to collide.

A scatter through an index array may well be a permutation, so that contents which make two threads meet prove nothing.
But no contents can give more threads than there are elements a place of their own.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, product
from math import prod
from typing import Any

from gpusafe.dataflow.accesses import Access, Trace
from gpusafe.dataflow.concrete.machine import Triple, all_blocks
from gpusafe.dataflow.numeric import Plan
from gpusafe.dataflow.terms import Term, postorder
from gpusafe.ir.expr import Const
from gpusafe.ir.kernel import Kernel, Space
from gpusafe.prove.launch_context import LaunchContext, argument_bytes
from gpusafe.prove.pairs import where
from gpusafe.prove.replay import EXTREMES, SCALARS, THREADS_LIMIT, Replayer, concrete, memory_of

COUNTED_LIMIT = 16_384


def elements(kernel: Kernel, context: LaunchContext, access: Access) -> int | None:
    """How many places of the access's size its region has, where known."""
    if context.site is None:
        return None
    region = next((r for r in kernel.regions if r.name == access.region), None)
    if region is not None and region.space is Space.SHARED and isinstance(region.length, Const):
        return int(region.length.value) * region.elem_bytes // access.size
    size = argument_bytes(kernel, context.site, context).get(access.region)
    return None if size is None or size.const is None else int(size.const) // access.size


def threads_at(context: LaunchContext, trace: Trace, access: Access, enough: int) -> int:
    """How many threads surely get to an access as far as the launch decides; counts up to ``enough``.

    A branch on other contents of memory may be taken by few; a check of the index itself takes no thread away, and a
    loop that memory bounds has a turn for most threads.
    """
    sizes = [context.specials.get(f"{r}.{a}") for r in ("nctaid", "ntid") for a in "zyx"]
    numbers = [s.const for s in sizes if s is not None]
    if len(numbers) != 6 or any(n is None for n in numbers):
        return 0
    if prod(int(n or 0) for n in numbers) < enough:
        return 0
    own = _loads([access.offset])
    branches = [g for g in access.context.guard if not (_counts_turns(g) or (_loads([g]) and _loads([g]) <= own))]
    plan = Plan([*branches, *where(trace, access)])
    names = [f"{r}.{a}" for r in ("ctaid", "tid") for a in "zyx"]
    count = 0
    for tried, values in enumerate(product(*(range(int(n or 0)) for n in numbers))):
        if count >= enough or tried > COUNTED_LIMIT:
            break
        special = dict(zip(names, values, strict=True))

        def leaf(term: Term, special: dict[str, int] = special) -> Any:
            return special.get(str(term.data)) if term.op == "special" else None

        seen = plan.evaluate(leaf)
        count += all(v is True for v in seen[: len(branches)]) and False not in seen
    return count


def _loads(roots: list[Term]) -> frozenset[Term]:
    """The values read from memory that terms are made of."""
    return frozenset(t for t in postorder(roots) if t.op in ("load", "atomic", "fresh"))


def _counts_turns(guard: Term) -> bool:
    """Whether a condition speaks of the number of a loop's turn itself, not only of what is read at its place."""
    stack = [guard]
    while stack:
        term = stack.pop()
        if term.op in ("iter", "ind"):
            return True
        if term.op != "load":
            stack.extend(term.args)
    return False


def crowded_in_runs(replayer: Replayer, context: LaunchContext, access: Access) -> bool:
    """Whether in runs with contents of very different kinds more threads make an access than its region has places."""
    kernel = replayer.kernel
    places = elements(kernel, context, access)
    if places is None or places > COUNTED_LIMIT:
        return False
    launch = concrete(context, kernel, {}, SCALARS[0])
    if launch is None:
        return False
    fit = THREADS_LIMIT // prod(launch.block)
    blocks = list(islice(all_blocks(launch.grid), max(1, fit)))
    if len(blocks) * prod(launch.block) <= places:
        return False
    for seed in EXTREMES:
        outcome = replayer.run(replace(launch, contents=memory_of(kernel, seed)), blocks, watch=access.span)
        if outcome.touchers <= places:
            return False
    return True


def crowded(kernel: Kernel, context: LaunchContext, trace: Trace, access: Access) -> bool:
    """Whether more threads can make an access than its region has places."""
    places = elements(kernel, context, access)
    return places is not None and threads_at(context, trace, access, places + 1) > places


def covers(replayer: Replayer, context: LaunchContext, access: Access) -> bool:
    """Whether the threads that share a region touch all of it with an access, in a run with some contents.

    Of a launch too large to run, the first blocks must go over the start without a hole, the last ones over the end.
    """
    kernel = replayer.kernel
    places = elements(kernel, context, access)
    launch = concrete(context, kernel, {}, SCALARS[0])
    if not places or launch is None:
        return False
    launch = replace(launch, contents=memory_of(kernel, EXTREMES[0]))
    grid = launch.grid
    if any(r.name == access.region and r.space is Space.SHARED for r in kernel.regions):
        grid = (1, 1, 1)
    whole, fit = prod(grid), max(1, THREADS_LIMIT // prod(launch.block))
    blocks = list(islice(all_blocks(grid), fit))
    if whole > fit:
        blocks = [*blocks[: fit // 2], *_last_blocks(grid, fit - fit // 2)]
    touched = {at // access.size for at in replayer.run(launch, blocks, watch=access.span).touched}
    if whole <= fit:
        return len(touched) >= places
    start = next(n for n in range(len(touched) + 1) if n not in touched)
    end = next(n for n in range(len(touched) + 1) if places - 1 - n not in touched)
    return start > 0 and end > 0 and start + end >= len(touched)


def _last_blocks(grid: Triple, number: int) -> list[Triple]:
    """The last blocks of a grid, counted as ``all_blocks`` does."""
    x, y, z = grid
    return [(n % x, n // x % y, n // (x * y)) for n in range(max(0, x * y * z - number), x * y * z)]


def memory_decides(access: Access) -> bool:
    """Whether an address depends on the thread only through values read from memory."""
    stack = [access.offset]
    while stack:
        term = stack.pop()
        if term.op in ("special", "iter", "ind"):
            return False
        if term.op not in ("load", "atomic", "fresh"):
            stack.extend(term.args)
    return True
