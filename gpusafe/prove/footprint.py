"""Which bytes of one argument a launch touches, as Z3 terms over one generic thread of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gpusafe.dataflow.contracts import KernelSummary
from gpusafe.dataflow.intervals import Intervals
from gpusafe.dataflow.taint import Taints, taints
from gpusafe.ir.host import LaunchSite
from gpusafe.prove.encode import Encoder
from gpusafe.prove.launch_context import of_site
from gpusafe.prove.pairs import where
from gpusafe.prove.pairs_of_kernel import execute
from gpusafe.span import Span

Z = Any
ACCESS_LIMIT = 64


@dataclass(frozen=True, slots=True)
class FootAccess:
    """One access of some thread: ``size`` bytes at ``offset`` bytes from the start of the argument's range.

    ``mode`` is ``read``, ``write`` or ``atomic``; the access happens for the values of the launch's own symbols (those
    with the prefix) that satisfy ``constraints``. Host symbols are Z3 integers under their own names. ``certain`` is
    False where the address or the condition depends on values that are not modelled, so that a model may be of no run.
    """

    mode: str
    constraints: tuple[Z, ...]
    offset: Z
    size: int
    certain: bool = True


def footprint(
    summary: KernelSummary, site: LaunchSite, param_index: int, ctx: Z, prefix: str
) -> tuple[FootAccess, ...] | None:
    """The accesses of a launch through one parameter, or None where they are not known."""
    kernel = summary.kernel
    if not summary.complete or param_index >= len(kernel.params):
        return None
    region = kernel.params[param_index].region
    if region is None:
        return ()
    context = of_site(kernel, site, aliases=False)
    trace = execute(kernel, context)
    accesses = [a for a in trace.accesses if a.region == region]
    if any(g.accesses for g in trace.gaps) or len(accesses) > ACCESS_LIMIT:
        return None
    out: dict[tuple[object, ...], FootAccess] = {}
    written = frozenset(a.region for a in trace.accesses if a.writes)
    depends = taints(kernel)
    for access in accesses:
        conds = where(trace, access)
        mode = {"borrow": "write"}.get(access.mode, access.mode)
        key = (mode, access.offset.id, access.size, tuple(c.id for c in conds))
        if key in out:
            continue
        enc = Encoder(context.specials, written, False, ctx, prefix)
        ranges = Intervals(context.specials)
        ranges.assume([*context.premises, *conds])
        thread = enc.thread("", ranges)
        offset = enc.encode(access.offset, thread)
        wanted = [enc.encode(c, thread) for c in conds]
        certain = _certain(depends, access.span)
        out[key] = FootAccess(mode, (*wanted, *enc.facts, *enc.spread(), *enc.meanings), offset, access.size, certain)
    return tuple(out.values())


def _certain(depends: Taints, span: Span) -> bool:
    """Whether an access happens at an address that is known (a condition on contents of memory may hold or not)."""
    address = depends.address.get(span, frozenset())
    return not address & {"data", "opaque", "sync"} and not depends.control.get(span, frozenset()) & {"opaque", "sync"}
