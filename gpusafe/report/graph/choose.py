"""Which paths are drawn: for each root function the one that shows most of what was found."""

from __future__ import annotations

from collections.abc import Sequence

from gpusafe.ir.host import Enqueue, HostPath, HostProgram
from gpusafe.report.graph.model import Picture
from gpusafe.report.graph.picture import Fault, picture
from gpusafe.span import Span
from gpusafe.verdict import Unit, Verdict


def of_program(program: HostProgram, units: Sequence[Unit], function: str | None = None) -> tuple[Picture, ...]:
    """One picture for each root function with GPU work, in source order; ``function`` names the only one wanted."""
    verdicts = {(u.name, u.span): u.verdict.value for u in units if u.kind == "host"}
    faults = _faults(units)
    grouped: dict[tuple[str, Span], list[HostPath]] = {}
    for path in program.paths:
        if function in (None, path.root) or _passes_through(path, function):
            grouped.setdefault((path.root, path.root_span), []).append(path)
    found = []
    for key, paths in sorted(grouped.items(), key=lambda item: item[0][1]):
        best = max(paths, key=lambda path: _weight(path, faults))
        if any(isinstance(op, Enqueue) for op in best.ops):
            found.append(picture(best, verdicts.get(key, Verdict.UNKNOWN.value), faults, len(paths)))
    return tuple(found)


def _faults(units: Sequence[Unit]) -> tuple[Fault, ...]:
    found: dict[Fault, None] = {}
    for unit in units:
        for obligation in unit.obligations:
            seen = obligation.counterexample
            if unit.kind == "host" and seen is not None:
                others = tuple(site.span for site in seen.related)
                found.setdefault(Fault(obligation.rule, seen.message, seen.primary.span, others))
    return tuple(found)


def _passes_through(path: HostPath, function: str | None) -> bool:
    return any(frame.function == function for op in path.ops for frame in op.frames)


def _weight(path: HostPath, faults: Sequence[Fault]) -> tuple[int, int]:
    """How many faults a path shows with both sides, then how much work it does."""
    places = {op.span for op in path.ops}
    shown = sum(f.primary in places and not places.isdisjoint(f.others) for f in faults)
    return shown, sum(isinstance(op, Enqueue) for op in path.ops)
