"""How long the kernels of some programs take to prove, how many are proved, and whether two runs agree.

usage: figures.py [--once] [PATH...]   (default: the fixtures, and the labelled cases beside the checkout if there are)

A path is a file, a package (a folder with a Cargo.toml), or a folder of these. Everything runs in this one process,
one kernel after the other; times are of the processor, so that what else the machine does counts little. Printed: the
kernels that take longest, median, 90th percentile and maximum of the seconds a kernel takes, the share of kernels that
are proved under their launches, and what differs between two runs. The exit status is 1 where two runs differ or a
kernel takes longer than 10 seconds.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from gpusafe.app import check
from gpusafe.config import Options
from gpusafe.ir.kernel import Kernel
from gpusafe.prove import kernels as prover
from gpusafe.span import Span
from gpusafe.verdict import Unit, Verdict

ROOT = Path(__file__).resolve().parent.parent
DEFAULT = (ROOT / "fixtures", ROOT.parent / "shared" / "cases")
SOURCES = (".rs", ".cu")
SLOW = 10.0
SHOWN = 8
Answer: TypeAlias = tuple[tuple[str, str], ...]


def programs(path: Path) -> Iterator[Path]:
    """The programs under a path: packages as they are, other source files one by one."""
    if path.is_file() or (path / "Cargo.toml").is_file():
        yield path
        return
    for below in sorted(path.iterdir()) if path.is_dir() else ():
        if below.is_dir() or below.suffix in SOURCES:
            yield from programs(below)


def kernels(program: Path) -> list[tuple[Unit, float]]:
    """The kernel units of a program, and the seconds that each proof took."""
    original, took = prover.check_kernel, dict[Span, float]()

    def timed(kernel: Kernel, sites: Sequence[prover.LaunchSite] = ()) -> prover.KernelResult:
        began = time.process_time()
        try:
            return original(kernel, sites)
        finally:
            took[kernel.span] = took.get(kernel.span, 0.0) + time.process_time() - began

    prover.check_kernel = timed
    try:
        report = check(Options(paths=(str(program),), ptx="never", jobs=1))
    finally:
        prover.check_kernel = original
    return [(u, took.get(u.span, 0.0)) for u in report.units if u.kind == "kernel"]


def answer(unit: Unit) -> Answer:
    """What must be the same in every run."""
    return tuple((o.question, f"{o.rule} {o.verdict.value} {o.reason}") for o in unit.obligations)


def main(arguments: Sequence[str]) -> int:
    """Prints the figures."""
    once = "--once" in arguments
    paths = [Path(a) for a in arguments if a != "--once"] or [p for p in DEFAULT if p.exists()]
    times: list[tuple[float, str]] = []
    verdicts: Counter[Verdict] = Counter()
    differ = 0
    for program in (p for path in paths for p in programs(path)):
        units = kernels(program)
        again = units if once or not units else kernels(program)
        for unit, seconds in units:
            times.append((seconds, f"{program.name}:{unit.span.line} {unit.name}"))
            verdicts[unit.verdict] += 1
        if [answer(u) for u, _ in units] != [answer(u) for u, _ in again]:
            differ += 1
            print(f"two runs differ: {program}", flush=True)
    if not times:
        print("no kernels")
        return 1
    times.sort()
    for seconds, name in reversed(times[-SHOWN:]):
        print(f"{seconds:8.2f} s  {name}")
    count = len(times)
    slowest = times[-1][0]
    print(f"{count} kernels: " + ", ".join(f"{verdicts[v]} {v.value} ({verdicts[v] / count:.1%})" for v in Verdict))
    print(
        f"median {times[count // 2][0]:.3f} s, 90 % within {times[count * 9 // 10][0]:.3f} s, slowest {slowest:.2f} s"
    )
    print("one run" if once else f"{differ} programs differ between two runs")
    return 1 if differ or slowest > SLOW else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
