"""What signals hold when a launch in sight starts: what a counterexample takes for zeros must be able to be zeros."""

from __future__ import annotations

from collections.abc import Collection

from gpusafe.ir.host import Enqueue, HostAccess, HostPath, LaunchSite
from gpusafe.ir.kernel import Kernel
from gpusafe.prove.launch_context import paired


def not_zero(kernel: Kernel, site: LaunchSite | None, signals: Collection[str]) -> tuple[str, ...]:
    """Those of the signals of which it is known that they start as something else, or left to what ran before."""
    regions = {r.name: r for r in kernel.regions}
    found = [name for name in signals if name in regions and regions[name].nonzero]
    if site is not None:
        behind = {p.region: a.range.memory for p, a, _ in paired(kernel, site.op.args) if a.range is not None}
        found += [name for name in signals if name in behind and _otherwise(site.path, site.op, behind[name])]
    return tuple(dict.fromkeys(found))


def _otherwise(path: HostPath, launch: Enqueue, memory: str) -> bool:
    """Whether what wrote the memory last before a launch left there something else than zeros, for all that is known.

    A copy of contents that are not known may have left zeros. Earlier launches of the same kernel are looked through:
    the first of them started with what was there before.
    """
    until = next((i for i, op in enumerate(path.ops) if op is launch), len(path.ops))
    for op in reversed(path.ops[:until]):
        match op:
            case Enqueue(what="launch" | "graph", kernel=kernel) if kernel == launch.kernel:
                continue
            case Enqueue(what="launch", args=args):
                if any(a.range is not None and a.range.memory == memory and a.passed != "ref" for a in args):
                    return True
            case Enqueue(what="alloc"):
                continue
            case Enqueue(accesses=accesses) if any(a.range.memory == memory and a.mode == "write" for a in accesses):
                return op.nonzero or op.what not in ("memset", "copy")
            case HostAccess(access=access) if access.range.memory == memory and access.mode == "write":
                return True
    found = path.memory.get(memory)
    return found is not None and found.nonzero
