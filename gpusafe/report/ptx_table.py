"""The table of ``gpusafe ptx`` as text and as JSON: kernels by targets, and why a kernel is not confirmed."""

from __future__ import annotations

import json
from collections.abc import Sequence

from gpusafe.results import Report
from gpusafe.verdict import PtxStatus, Unit


def as_json(report: Report) -> str:
    """One object for each kernel."""
    table = [
        {
            "kernel": unit.name,
            "file": unit.span.file,
            "line": unit.span.line,
            "verdict": unit.verdict.value,
            "targets": [
                {"target": s.target, "status": word(s), "detail": s.detail, "open": list(s.open)} for s in unit.ptx
            ],
        }
        for unit in _kernels(report)
    ]
    return json.dumps({"kernels": table}, indent=1) + "\n"


def as_text(report: Report) -> str:
    """The table for people; what is the same for several targets is said once."""
    kernels = _kernels(report)
    if not kernels:
        return "no kernels\n"
    targets = list(dict.fromkeys(s.target for unit in kernels for s in unit.ptx))
    rows = [("kernel", "source", *targets)]
    rows += [(unit.name, unit.verdict.value, *(_cell(unit.ptx, target) for target in targets)) for unit in kernels]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    reasons = [line for unit in kernels for line in _reasons(unit)]
    every = [s for unit in kernels for s in unit.ptx]
    confirmed = sum(word(s) == "confirmed" for s in every)
    last = f"{confirmed} of {len(every)} confirmed by every check"
    return "\n".join([*lines, *([""] if reasons else []), *reasons, "", last]) + "\n"


def word(status: PtxStatus) -> str:
    """The status in a word: ``confirmed`` only where every check ran and settled what it asks, else ``partly``."""
    return "partly" if status.status == "confirmed" and status.open else status.status


def _kernels(report: Report) -> list[Unit]:
    return [unit for unit in report.units if unit.kind == "kernel"]


def _cell(statuses: Sequence[PtxStatus], target: str) -> str:
    return next((word(s) for s in statuses if s.target == target), "-")


def _reasons(unit: Unit) -> list[str]:
    found: dict[tuple[str, str], list[str]] = {}
    for status in unit.ptx:
        said = "; ".join(status.open) if word(status) == "partly" else status.detail
        if word(status) != "confirmed":
            found.setdefault((word(status), said), []).append(status.target)
    place = f"{unit.name} ({unit.span.file}:{unit.span.line})"
    if not unit.ptx:
        return [f"{place}: not compiled, since its source is {unit.verdict.value}"]
    return [f"{place}, {', '.join(targets)}: {why}: {said}" for (why, said), targets in found.items()]
