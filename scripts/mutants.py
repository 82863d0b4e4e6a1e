"""Breaks proved kernels on purpose and prints how many of the broken ones lose `proved`.

usage: mutants.py [PATH...]   (default: fixtures/safe; launches in sight decide, as in `gpusafe check`)

Each mutant differs in one statement: a barrier or a fence is dropped, a store is twice as wide, an atomic has the scope
of a block or no order, a guard is left out. A mutant that stays proved, and of which a run of the interpreter shows
nothing new, is counted as equal to the original; one that stays proved although a run shows a new race is a fault of
gpusafe.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from gpusafe.app import check
from gpusafe.config import Options
from gpusafe.dataflow.concrete import run
from gpusafe.dataflow.concrete.machine import all_blocks
from gpusafe.ir import kernel as ir
from gpusafe.prove import kernels as prover
from gpusafe.prove.launch_context import of_site
from gpusafe.prove.replay import launches
from gpusafe.verdict import Verdict

ROOT = Path(__file__).resolve().parent.parent
WANTED = 0.97
THREADS = 4096
WIDE = frozenset({ir.Scope.DEVICE, ir.Scope.SYSTEM})
Body = tuple[ir.Stmt, ...]
Mutant = tuple[str, int, Body]


def mutants(body: Body) -> Iterator[Mutant]:
    """What each change makes of a body: the name of the change, the line, the new body."""
    for at, stmt in enumerate(body):
        before, after = body[:at], body[at + 1 :]
        for name, new in changes(stmt):
            yield name, stmt.span.line, (*before, *new, *after)
        for name, line, inner in inside(stmt):
            yield name, line, (*before, inner, *after)


def inside(stmt: ir.Stmt) -> Iterator[tuple[str, int, ir.Stmt]]:
    """Mutants of a statement whose change lies in a body of it."""
    match stmt:
        case ir.If(then=then, orelse=orelse):
            yield from ((n, line, replace(stmt, then=b)) for n, line, b in mutants(then))
            yield from ((n, line, replace(stmt, orelse=b)) for n, line, b in mutants(orelse))
        case ir.Block(body=body) | ir.Loop(body=body):
            yield from ((n, line, replace(stmt, body=b)) for n, line, b in mutants(body))


def changes(stmt: ir.Stmt) -> Iterator[tuple[str, Body]]:
    """The changes of one statement."""
    match stmt:
        case ir.Barrier():
            yield "barrier dropped", ()
        case ir.Fence() | ir.ProxyFence():
            yield "fence dropped", ()
        case ir.Store(size=size):
            yield "index widened", (replace(stmt, size=2 * size),)
        case ir.Atomic(scope=scope, order=order):
            if scope in WIDE:
                yield "scope weakened", (replace(stmt, scope=ir.Scope.BLOCK),)
            if order is not ir.Order.RELAXED:
                yield "order weakened", (replace(stmt, order=ir.Order.RELAXED),)
        case ir.If(then=then, orelse=()) if not any(isinstance(s, ir.Break) for s in then):
            yield "guard dropped", then


def proved(kernel: ir.Kernel, sites: Sequence[prover.LaunchSite]) -> bool:
    """Whether everything that is asked of a kernel is proved."""
    return all(o.verdict is Verdict.PROVED for o in prover.check_kernel(kernel, sites).obligations)


def seen(kernel: ir.Kernel, sites: Sequence[prover.LaunchSite]) -> set[object]:
    """What runs of the launches in sight show: pairs of places that meet, barriers that some threads never reach.

    The interpreter takes no order from atomics, so that only what the original does not show as well tells of a race.
    """
    found: set[object] = set()
    for site in sites:
        for launch in launches(of_site(kernel, site), kernel, None):
            blocks = list(all_blocks(launch.grid))
            fit = max(1, THREADS // (launch.block[0] * launch.block[1] * launch.block[2]))
            outcome = run(kernel, launch, blocks[:fit])
            found |= {frozenset((m.first.span, m.second.span)) for m in outcome.meetings}
            found |= {d.span for d in outcome.divergences}
    return found


def kernels_of(path: Path) -> list[tuple[ir.Kernel, Sequence[prover.LaunchSite]]]:
    """The kernels of a program with their launches, as the checker meets them."""
    out: list[tuple[ir.Kernel, Sequence[prover.LaunchSite]]] = []
    original = prover.check_kernel

    def noting(kernel: ir.Kernel, sites: Sequence[prover.LaunchSite] = ()) -> prover.KernelResult:
        out.append((kernel, sites))
        return original(kernel, sites)

    prover.check_kernel = noting
    try:
        check(Options(paths=(str(path),), ptx="never", jobs=1))
    finally:
        prover.check_kernel = original
    return out


def main(paths: Sequence[str]) -> int:
    """Prints the kill rate; the exit status tells whether it is high enough."""
    files = [f for p in paths for f in ([Path(p)] if Path(p).is_file() else sorted(Path(p).glob("*.rs")))]
    tally: Counter[str] = Counter()
    for path in files:
        for kernel, sites in kernels_of(path):
            if not proved(kernel, sites):
                continue
            for name, line, body in mutants(kernel.body):
                mutant = replace(kernel, body=body)
                if not proved(mutant, sites):
                    tally["killed"] += 1
                    continue
                status = "missed" if seen(mutant, sites) - seen(kernel, sites) else "equal"
                tally[status] += 1
                print(f"{status:6} {path.name}:{line} {kernel.name}: {name}", flush=True)
    bad = tally["killed"] + tally["missed"]
    rate = tally["killed"] / bad if bad else 1.0
    print(f"{bad} mutants that matter, {tally['killed']} killed ({rate:.1%}); {tally['equal']} equal to the original")
    return 0 if rate >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or [str(ROOT / "fixtures" / "safe")]))
