"""The JSON report that tools rely on."""

from __future__ import annotations

import json
from typing import Any

from gpusafe import __version__
from gpusafe.config import Options
from gpusafe.report.style import Style
from gpusafe.results import FileRecord, Finding, Report, Suppressed
from gpusafe.span import Span
from gpusafe.verdict import Counterexample, Obligation, Site, Unit

FORMAT = 1
"""Changes when a key changes its meaning or goes; new keys leave it."""


def render(report: Report, options: Options, style: Style) -> str:
    """One JSON document."""
    document = {
        "version": __version__,
        "format": FORMAT,
        "units": [_unit(unit) for unit in report.units],
        "findings": [_finding(finding) for finding in report.findings],
        "suppressed": [_suppressed(item) for item in report.suppressed],
        "left_out": report.left_out,
        "accepted": [
            {"where": a.where, "gone": a.gone, "findings": [_finding(finding) for finding in a.findings]}
            for a in report.accepted
        ],
        "files": [_file(record) for record in report.files],
        "notices": list(report.notices),
        "seconds": round(report.seconds, 3),
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _place(span: Span) -> dict[str, Any]:
    return {
        "file": span.file,
        "line": span.line,
        "column": span.col,
        "end_line": span.end_line,
        "end_column": span.end_col,
    }


def _site(site: Site) -> dict[str, Any]:
    return {**_place(site.span), "message": site.label}


def _unit(unit: Unit) -> dict[str, Any]:
    return {
        "kind": unit.kind,
        "name": unit.name,
        **_place(unit.span),
        "verdict": unit.verdict.value,
        "obligations": [_obligation(o) for o in unit.obligations],
        "assumptions": list(unit.assumptions),
        "ptx": [{"target": p.target, "status": p.status, "detail": p.detail} for p in unit.ptx],
        "seconds": round(unit.seconds, 3),
    }


def _obligation(o: Obligation) -> dict[str, Any]:
    return {
        "rule": o.rule,
        "question": o.question,
        "verdict": o.verdict.value,
        **_place(o.span),
        "reason": o.reason,
        "assumptions": list(o.assumptions),
        "counterexample": _counterexample(o.counterexample) if o.counterexample else None,
    }


def _counterexample(c: Counterexample) -> dict[str, Any]:
    return {
        "message": c.message,
        "primary": _site(c.primary),
        "related": [_site(site) for site in c.related],
        "notes": list(c.notes),
        "help": list(c.help),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "level": finding.level.value,
        **({"denied": True} if finding.denied else {}),
        **_place(finding.primary.span),
        "message": finding.message,
        "label": finding.primary.label,
        "related": [_site(site) for site in finding.related],
        "notes": list(finding.notes),
        "help": list(finding.help),
        "unit": finding.unit,
    }


def _suppressed(item: Suppressed) -> dict[str, Any]:
    return {**_finding(item.finding), "reason": item.reason, "directive": _place(item.directive)}


def _file(record: FileRecord) -> dict[str, Any]:
    place = {"line": record.span.line, "column": record.span.col} if record.span else {}
    return {"file": record.path, "status": record.status.value, "detail": record.detail, **place}
