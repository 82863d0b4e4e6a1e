"""The table of units: what was proved, what was refuted, and what is open and why."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence

from gpusafe.report.style import Style
from gpusafe.verdict import Obligation, Unit, Verdict

_REASON_WIDTH = 110
_LONG = 30
"""A table of more units than this is cut to what people need to see of it, unless they ask for all."""

_MANY_FILES = 40
_MAX_ASSUMPTIONS = 12


def verdict_table(units: Sequence[Unit], style: Style, *, verbose: bool = False) -> list[str]:
    """One line a unit; with ``verbose`` its obligations and assumptions below it.

    Of many units each file (of many files each folder) gets one line with its counts, and each assumption is told
    once for all.
    """
    if len(units) > _LONG and not verbose:
        return _by_file(units, style)
    names = max((len(unit.name) for unit in units), default=0)
    places = max((len(_place(unit)) for unit in units), default=0)
    lines: list[str] = []
    for unit in units:
        verdict = unit.verdict
        word = style.paint(verdict.value, f"{verdict.value:8}")
        head = f"{unit.kind:6} {unit.name:{names}}  {_place(unit):{places}}  {word}"
        lines.append(f"{head} {explanation(unit)}{_ptx(unit)}".rstrip())
        if verbose:
            lines += _details(unit, style)
        elif verdict is Verdict.PROVED:
            lines += [f"{'':7}assuming {assumption}" for assumption in unit.assumptions]
    return lines


def _by_file(units: Sequence[Unit], style: Style) -> list[str]:
    files: dict[str, list[Unit]] = {}
    many = len({unit.span.file for unit in units}) > _MANY_FILES
    for unit in units:
        file = unit.span.file
        files.setdefault((os.path.dirname(file) or ".") + os.sep if many else file, []).append(unit)
    width = max(map(len, files))
    lines = [f"{file:{width}}  {_tally(found, style)}" for file, found in files.items()]
    assumed = Counter(a for unit in units if unit.verdict is Verdict.PROVED for a in dict.fromkeys(unit.assumptions))
    if assumed:
        lines += ["", "the proofs assume (each is checked at the launches in sight; `-v` tells which proof which)"]
        shown = assumed.most_common(_MAX_ASSUMPTIONS)
        lines += [f"{times:6} x {assumption}" for assumption, times in shown]
        if len(assumed) > len(shown):
            lines.append(f"{'':9}and {len(assumed) - len(shown)} more")
    return lines


def _tally(units: Sequence[Unit], style: Style) -> str:
    counts = Counter(unit.verdict for unit in units)
    words = [f"{counts[v]} {v.value}" if counts[v] else "" for v in (Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN)]
    painted = [style.paint(word.rpartition(" ")[2] or "dim", f"{word:12}") if word else " " * 12 for word in words]
    refuted = [unit.name for unit in units if unit.verdict is Verdict.REFUTED]
    return ("".join(painted) + ("refuted: " + ", ".join(refuted) if refuted else "")).rstrip()


def explanation(unit: Unit) -> str:
    """In a few words: the rules refuted, the first reason for unknown, or how many obligations were proved."""
    match unit.verdict:
        case Verdict.REFUTED:
            rules = sorted({o.rule for o in unit.obligations if o.verdict is Verdict.REFUTED})
            return ", ".join(rules)
        case Verdict.UNKNOWN:
            reasons = list(dict.fromkeys(o.reason or "" for o in unit.obligations if o.verdict is Verdict.UNKNOWN))
            more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
            return _shorten(reasons[0]) + more
        case Verdict.PROVED:
            count = len(unit.obligations)
            return f"{count} {'obligation' if count == 1 else 'obligations'}" if count else "nothing to prove"


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _REASON_WIDTH else line[: _REASON_WIDTH - 3] + "..."


def _place(unit: Unit) -> str:
    return f"{unit.span.file}:{unit.span.line}"


def _ptx(unit: Unit) -> str:
    if not unit.ptx:
        return ""
    told: dict[str, list[str]] = {}
    for status in unit.ptx:
        why = f" ({status.detail})" if status.detail and status.status != "confirmed" else ""
        told.setdefault(f"{status.status}{why}", []).append(status.target)
    return "; ptx " + ", ".join(
        f"{what} on {', '.join(targets)}" if any(targets) else what for what, targets in told.items()
    )


def _details(unit: Unit, style: Style) -> list[str]:
    lines = [f"{'':7}assuming {assumption}" for assumption in unit.assumptions]
    lines += [line for o in unit.obligations for line in _obligation(o, style)]
    return lines


def _obligation(o: Obligation, style: Style) -> list[str]:
    word = style.paint(o.verdict.value, o.verdict.value)
    why = f": {o.reason}" if o.reason else ""
    lines = [f"{'':7}{o.span.line}:{o.span.col} {o.rule} {o.question}: {word}{why}"]
    return lines + [f"{'':9}assuming {assumption}" for assumption in o.assumptions]
