"""SARIF 2.1.0: what code scanning services and editors read. The same report gives the same bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gpusafe import __version__
from gpusafe.config import Options
from gpusafe.report import sarif_proofs, sarif_rules
from gpusafe.report.fingerprint import Fingerprints
from gpusafe.report.open_notes import OPEN
from gpusafe.report.sarif_place import artifact, location
from gpusafe.report.style import Style
from gpusafe.results import FileRecord, FileStatus, Finding, Fix, Report, Suppressed
from gpusafe.rules import mentioned
from gpusafe.verdict import Site, Unit

_MOST_RESULTS = 25_000
"""GitHub refuses runs with more."""

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def render(report: Report, options: Options, style: Style) -> str:
    """One SARIF log with one run."""
    accepted = [finding for taken in report.accepted for finding in taken.findings]
    found = [*report.findings, *(item.finding for item in report.suppressed), *accepted]
    proved = {o.rule for unit in report.units for o in unit.obligations} if options.verbose else set()
    codes = sorted(mentioned(options) | {finding.rule for finding in found} | proved)
    run = _run(report, options, codes)
    results = run["results"]
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [{**run, "results": []}]}
    head, here, rest = json.dumps(log, indent=1, ensure_ascii=False).partition('"results": [')
    if not results:
        return head + here + rest + "\n"
    lines = ",\n".join(json.dumps(result, ensure_ascii=False) for result in results)  # one a line: small, and fast
    return f"{head}{here}\n{lines}\n{rest}\n"


def _run(report: Report, options: Options, codes: list[str]) -> dict[str, Any]:
    sources = report.sources or {}
    index = {code: place for place, code in enumerate(codes)}
    results = _results(report, index, sources)
    if options.verbose:
        results += [result for unit in report.units for result in sarif_proofs.proofs(unit, index, sources)]
    return {
        "tool": {
            "driver": {
                "name": "gpusafe",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": [sarif_rules.descriptor(code) for code in codes],
                "notifications": sarif_rules.NOTIFICATIONS,
            }
        },
        "automationDetails": {"id": "gpusafe/default/"},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"SRCROOT": {"description": {"text": "the folder in which gpusafe ran"}}},
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": _notifications(report)}],
        "results": results,
        "properties": {"units": [_unit(unit) for unit in report.units]},
    }


def _results(report: Report, index: Mapping[str, int], sources: Mapping[str, str]) -> list[dict[str, Any]]:
    """What is found, what directives and baselines accept, and whether a baseline knew it; the most serious first."""
    prints = Fingerprints(sources)
    state = {"baselineState": "new"} if report.accepted else {}
    results = [{**_result(finding, index, prints, sources), **state} for finding in report.findings]
    for item in report.suppressed:
        results.append({**_result(item.finding, index, prints, sources), "suppressions": [_suppression(item)], **state})
    for taken in report.accepted:
        held = {"kind": "external", "status": "accepted", "justification": f"accepted by {taken.where}"}
        results += [
            {**_result(f, index, prints, sources), "suppressions": [held], "baselineState": "unchanged"}
            for f in taken.findings
        ]
    return results[:_MOST_RESULTS]


def _result(
    finding: Finding, index: Mapping[str, int], prints: Fingerprints, sources: Mapping[str, str]
) -> dict[str, Any]:
    is_open = finding.rule in OPEN
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": index[finding.rule],
        "kind": "open" if is_open else "fail",
        "level": "none" if is_open else finding.level.value,
        "message": _message(finding),
        "locations": [location(finding.primary.span, finding.primary.label, sources)],
        "partialFingerprints": prints.of(finding),
    }
    if finding.related:
        result["relatedLocations"] = [
            {"id": number, **location(site.span, site.label, sources)} for number, site in enumerate(finding.related, 1)
        ]
        if not is_open:
            result["codeFlows"] = [_code_flow(finding, sources)]
    if finding.fixes:
        result["fixes"] = [_fix(fix) for fix in finding.fixes]
    if finding.unit is not None:
        result["properties"] = {"unit": finding.unit}
    return result


def _message(finding: Finding) -> dict[str, str]:
    """The headline as first sentence, then links to the related places, the notes and the help."""
    links = [f"[{_link_text(site)}]({number})" for number, site in enumerate(finding.related, 1)]
    headline = f"{_escaped(finding.message)}."
    text = [headline, *([f"See: {'; '.join(links)}."] if links else [])]
    markdown = [*text]
    for kind, remarks in (("note", finding.notes), ("help", finding.help)):
        text += [f"{kind}: {_escaped(remark)}" for remark in remarks]
        markdown += [f"**{kind}**: {_escaped(remark)}" for remark in remarks]
    return {"text": "\n".join(text), "markdown": "\n\n".join(markdown)}


def _link_text(site: Site) -> str:
    return _escaped(site.label or f"line {site.span.line}")


def _escaped(text: str) -> str:
    """Square brackets would start a link."""
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")


def _code_flow(finding: Finding, sources: Mapping[str, str]) -> dict[str, Any]:
    """The steps to the fault, in one thread flow (viewers show the first one only): related places, then the fault."""
    steps = [(site, "important") for site in finding.related] + [(finding.primary, "essential")]
    depth = {"important": 1, "essential": 0}
    return {
        "message": {"text": finding.message},
        "threadFlows": [
            {
                "locations": [
                    {
                        "location": location(site.span, site.label, sources),
                        "importance": importance,
                        "nestingLevel": depth[importance],
                        "executionOrder": number,
                    }
                    for number, (site, importance) in enumerate(steps, 1)
                ]
            }
        ],
    }


def _fix(fix: Fix) -> dict[str, Any]:
    region = location(fix.span, "", {})["physicalLocation"]["region"]
    replacement = {"deletedRegion": region, "insertedContent": {"text": fix.text}}
    return {
        "description": {"text": fix.title},
        "artifactChanges": [{"artifactLocation": artifact(fix.span.file), "replacements": [replacement]}],
    }


def _suppression(item: Suppressed) -> dict[str, Any]:
    return {
        "kind": "inSource",
        "status": "accepted",
        "justification": item.reason,
        "location": location(item.directive, "", {}),
    }


def _notifications(report: Report) -> list[dict[str, Any]]:
    notes = [_file_note(record) for record in report.files if record.status in sarif_rules.FILE_NOTES]
    return notes + [
        {"descriptor": {"id": "notice"}, "level": "note", "message": {"text": notice}} for notice in report.notices
    ]


def _file_note(record: FileRecord) -> dict[str, Any]:
    name, level = sarif_rules.FILE_NOTES[record.status]
    physical: dict[str, Any] = {"artifactLocation": artifact(record.path)}
    if record.span is not None and record.status is FileStatus.SYNTAX_ERROR:
        physical["region"] = {"startLine": record.span.line, "startColumn": record.span.col}
    why = f": {record.detail}" if record.detail else ""
    return {
        "descriptor": {"id": name},
        "level": level,
        "message": {"text": f"{record.path}: {record.status.value}{why}"},
        "locations": [{"physicalLocation": physical}],
    }


def _unit(unit: Unit) -> dict[str, Any]:
    return {
        "kind": unit.kind,
        "name": unit.name,
        "uri": artifact(unit.span.file)["uri"],
        "startLine": unit.span.line,
        "endLine": unit.span.end_line,
        "verdict": unit.verdict.value,
        "assumptions": list(unit.assumptions),
        "ptx": [{"target": p.target, "status": p.status, "detail": p.detail} for p in unit.ptx],
    }
