"""Which memory of a kernel the host touches while the kernel runs: there, device scope is not enough."""

from __future__ import annotations

from collections.abc import Iterable

from gpusafe.ir.host import HostAccess, LaunchSite, Sync
from gpusafe.ir.kernel import Kernel

_REACHABLE = frozenset({"pinned", "unified"})


def shared_with_host(kernel: Kernel, sites: Iterable[LaunchSite]) -> frozenset[str]:
    """The regions of parameters that some launch gives host-accessible memory which the host uses before it waits."""
    found: set[str] = set()
    for site in sites:
        used = _used_in_flight(site)
        at = 0
        for param in kernel.params:
            argument = site.op.args[at] if at < len(site.op.args) else None
            at += param.slots
            if param.region and argument is not None and argument.range is not None and argument.range.memory in used:
                found.add(param.region)
    return frozenset(found)


def _used_in_flight(site: LaunchSite) -> set[str]:
    """The memory that the host accesses between the launch and the next thing that it waits for."""
    found: set[str] = set()
    launched = False
    for op in site.path.ops:
        match op:
            case HostAccess() if launched:
                memory = site.path.memory.get(op.access.range.memory)
                if memory is not None and memory.kind in _REACHABLE:
                    found.add(memory.ident)
            case Sync() if launched:
                break
            case _:
                launched = launched or op is site.op
    return found
