"""Baselines: findings that are accepted for now, known by their content, so that only new ones count.

The file is JSON with one finding a line in a fixed order, so that versions of it merge well. Lines and columns are not
in it: an entry survives moved lines, renamed files and reformatting (see ``fingerprint``).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gpusafe.errors import UsageError
from gpusafe.report.fingerprint import Fingerprints
from gpusafe.results import Accepted, Finding, Report

NAME = "gpusafe-baseline.json"
"""The file that is used without being asked for, at or above the first checked path."""

_VERSION = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """One accepted finding: ``fingerprint`` decides, the rest is for people. ``file`` is relative to the baseline."""

    fingerprint: str
    rule: str
    file: str
    unit: str
    message: str


@dataclass(frozen=True, slots=True)
class Baseline:
    """The entries of a baseline, and its name in messages; ``folder`` is what their files are relative to."""

    where: str
    folder: Path
    entries: tuple[Entry, ...]


def of_report(report: Report, where: str, folder: Path) -> Baseline:
    """All findings of a report as a baseline; those that an earlier baseline took out are among them."""
    accepted = [finding for taken in report.accepted for finding in taken.findings]
    entries = [
        Entry(print_, f.rule, _relative(f.primary.span.file, folder), f.unit or "", f.message)
        for print_, f in fingerprinted((*report.findings, *accepted), report.sources or {})
    ]
    return Baseline(where, folder, tuple(sorted(entries, key=lambda e: (e.file, e.rule, e.unit, e.fingerprint))))


def fingerprinted(findings: Iterable[Finding], sources: Mapping[str, str]) -> list[tuple[str, Finding]]:
    """Each finding with the fingerprint that baselines compare."""
    prints = Fingerprints(sources)
    in_order = sorted(findings, key=lambda f: (f.primary.span, f.rule, f.message))
    return [(prints.content(finding), finding) for finding in in_order]


def apply(report: Report, baseline: Baseline) -> Report:
    """The report without the findings that the baseline holds, which go to ``accepted``."""
    held = {entry.fingerprint for entry in baseline.entries}
    told = fingerprinted(report.findings, report.sources or {})
    accepted = {id(finding) for print_, finding in told if print_ in held}
    occurring = {print_ for print_, _ in told}
    looked_at = {_relative(record.path, baseline.folder) for record in report.files}
    gone = [
        entry
        for entry in baseline.entries
        if entry.fingerprint not in occurring
        and (entry.file in looked_at or not (baseline.folder / entry.file).exists())
    ]
    return replace(
        report,
        findings=tuple(f for f in report.findings if id(f) not in accepted),
        accepted=(
            *report.accepted,
            Accepted(baseline.where, tuple(f for f in report.findings if id(f) in accepted), len(gone)),
        ),
    )


def pruned(baseline: Baseline, report: Report) -> Baseline:
    """The entries that still occur; ``report`` is the outcome of a whole run, without this baseline."""
    occurring = {print_ for print_, _ in fingerprinted(report.findings, report.sources or {})}
    return replace(baseline, entries=tuple(e for e in baseline.entries if e.fingerprint in occurring))


def dumps(baseline: Baseline) -> str:
    """The text of the file."""
    rows = [
        json.dumps(
            {"fingerprint": e.fingerprint, "rule": e.rule, "file": e.file, "unit": e.unit, "message": e.message},
            ensure_ascii=False,
        )
        for e in baseline.entries
    ]
    body = ",\n".join(f"  {row}" for row in rows)
    return f'{{\n "version": {_VERSION},\n "findings": [\n{body}\n ]\n}}\n'


def load(file: Path) -> Baseline:
    """The baseline of a file; raises UsageError when it cannot be read."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        if document["version"] != _VERSION:
            raise UsageError(f"{file}: version {document['version']!r} of the baseline is not known")
        entries = tuple(_entry(row) for row in document["findings"])
    except OSError as problem:
        raise UsageError(f"cannot read {file}: {problem.strerror}") from None
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        raise UsageError(f"{file} is no baseline of gpusafe: {type(problem).__name__}: {problem}") from None
    return Baseline(os.path.relpath(file), file.resolve().parent, entries)


def _entry(row: Any) -> Entry:
    fields = [row[key] for key in ("fingerprint", "rule", "file", "unit", "message")]
    if not all(isinstance(field, str) for field in fields):
        raise TypeError("an entry holds something that is no text")
    return Entry(*fields)


def _relative(file: str, folder: Path) -> str:
    """``file`` (relative to the working folder) as seen from ``folder``."""
    return Path(os.path.relpath(os.path.realpath(file), os.path.realpath(folder))).as_posix()
