"""All comparisons of one kernel with one PTX function."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from gpusafe.codegen_check.compare.clones import cloned
from gpusafe.codegen_check.compare.findings import Weaker
from gpusafe.codegen_check.compare.matching import match
from gpusafe.codegen_check.compare.missing import missing
from gpusafe.codegen_check.compare.motion import Context, dropped_stores, hoisted_polls, moved_loads
from gpusafe.codegen_check.compare.operations import operations, statements
from gpusafe.codegen_check.compare.orders import narrow_scopes, weak_atomics, weak_fences, without_host
from gpusafe.codegen_check.compare.spaces import shared_in_global, stale_loads
from gpusafe.codegen_check.compare.strength import SCOPE_WORDS
from gpusafe.codegen_check.compare.values import values_of
from gpusafe.codegen_check.ptx import Function, Unit, build_flow, with_callees
from gpusafe.ir.kernel import Kernel, Unmodelled


@dataclass(frozen=True, slots=True)
class Comparison:
    """``weaker``: where the PTX does less. ``unclear``: what could not be held against the PTX, in words.

    ``notes`` are true of the PTX without being a fault by themselves. ``checked`` counts the source operations that
    synchronise and were found.
    """

    weaker: tuple[Weaker, ...]
    unclear: tuple[str, ...]
    notes: tuple[str, ...]
    checked: int


def compare(
    kernel: Kernel,
    unit: Unit,
    function: Function,
    files: Mapping[str, str],
    with_host: Collection[str] = (),
    meant_shared: Collection[str] = (),
) -> Comparison:
    """Hold ``function`` against ``kernel``; ``files`` maps file names in the PTX to those of the kernel's spans.

    ``with_host`` are the regions that the host uses while the kernel runs, ``meant_shared`` the statics that an
    attribute asks to be in shared memory.
    """
    asked = operations(kernel.body)
    function, unknown = with_callees(unit, function)
    flow = build_flow(function)
    matching = match(function, asked, files)
    context = Context(kernel, asked, matching, flow, values_of(kernel))
    left_out, unclear = missing(context)
    found = [
        *weak_atomics(matching, flow),
        *weak_fences(matching),
        *left_out,
        *cloned(matching, flow, files),
        *moved_loads(context),
        *hoisted_polls(context),
        *dropped_stores(context),
        *stale_loads(context),
        *shared_in_global(context, (*unit.symbols, *function.symbols), meant_shared),
    ]
    faulty = {w.primary.span for w in found}
    found += (w for w in without_host(context, with_host) if w.primary.span not in faulty)
    notes = tuple(
        f"the atomic at {group.span} is at {SCOPE_WORDS[has]} scope, not {SCOPE_WORDS[wanted]} scope"
        for group, wanted, has in narrow_scopes(matching)
    )
    outside = (f"the kernel calls `{name}`, whose code is not here" for name in sorted(unknown))
    problems = [*unclear, *_unmodelled(kernel), *outside]
    checked = sum(1 for g in matching.groups.values() if g.instrs and g.kind not in ("load", "store"))
    return Comparison(_distinct(found), tuple(dict.fromkeys(problems)), notes, checked)


def _unmodelled(kernel: Kernel) -> Iterable[str]:
    """What the kernel's IR does not say: nothing can be held against the PTX there."""
    for stmt in statements(kernel.body):
        if isinstance(stmt, Unmodelled) and stmt.syncs:
            yield f"not modelled: {stmt.what} at {stmt.span}"


def _distinct(found: Iterable[Weaker]) -> tuple[Weaker, ...]:
    return tuple({(w.message, w.primary.span): w for w in found}.values())
