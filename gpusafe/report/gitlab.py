"""GitLab's code quality report: a JSON array that merge requests show."""

from __future__ import annotations

import hashlib
import json
import os

from gpusafe.config import Options
from gpusafe.report.fingerprint import Fingerprints
from gpusafe.report.place import from_top
from gpusafe.report.style import Style
from gpusafe.results import Level, Report

_SEVERITIES = {Level.ERROR: "critical", Level.WARNING: "minor", Level.NOTE: "info"}


def render(report: Report, options: Options, style: Style) -> str:
    """One object a finding; the fingerprint tells findings of two branches for the same."""
    top = os.environ.get("CI_PROJECT_DIR")
    prints = Fingerprints(report.sources or {})
    rows = [
        {
            "description": f"{finding.rule}: {finding.message}",
            "check_name": finding.rule,
            "fingerprint": hashlib.blake2b(prints.content(finding).encode(), digest_size=16).hexdigest(),
            "severity": _SEVERITIES[finding.level],
            "location": {
                "path": from_top(finding.primary.span.file, top),
                "lines": {"begin": finding.primary.span.line, "end": finding.primary.span.end_line},
            },
        }
        for finding in report.findings
    ]
    return json.dumps(rows, indent=1, ensure_ascii=False) + "\n"
