"""The table of ``gpusafe coverage`` as text and as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict

from gpusafe.dataflow.coverage import Coverage

_SHOWN = 20


def as_json(coverage: Coverage) -> str:
    """One object: files, kernels, launches, and what is missing, the most frequent reason first."""
    launches = coverage.launches
    table = {
        "files": coverage.files,
        "kernels": {"found": coverage.kernels_found, "lowered": coverage.kernels_lowered},
        "launches": {
            "found": launches.found,
            "recognised": launches.seen,
            "kernel_resolved": launches.kernel_resolved,
            "stream_resolved": launches.stream_resolved,
            "geometry_resolved": launches.geometry_resolved,
            "arguments_resolved": launches.arguments_resolved,
            "wholly_resolved": launches.whole,
        },
        "missing": [asdict(missing) for missing in coverage.missing],
        "notices": list(coverage.notices),
    }
    return json.dumps(table, indent=1) + "\n"


def as_text(coverage: Coverage) -> str:
    """The table for people."""
    files, launches = coverage.files, coverage.launches
    rows = [
        ("files", "analysed", files["analysed"], sum(files.values())),
        ("", "without GPU code", files["no_gpu"], sum(files.values())),
        ("", "with syntax errors", files["syntax_error"], sum(files.values())),
        ("", "skipped", files["skipped"], sum(files.values())),
        ("kernels", "lowered", coverage.kernels_lowered, coverage.kernels_found),
        ("launches", "recognised", launches.seen, launches.found),
        ("", "kernel resolved", launches.kernel_resolved, launches.found),
        ("", "stream resolved", launches.stream_resolved, launches.found),
        ("", "geometry resolved", launches.geometry_resolved, launches.found),
        ("", "arguments resolved", launches.arguments_resolved, launches.found),
        ("", "wholly resolved", launches.whole, launches.found),
    ]
    lines = [f"{group:9} {what:19} {count:6} of {total:6}{_share(count, total)}" for group, what, count, total in rows]
    if coverage.missing:
        lines += ["", "missing, most frequent first"]
    for missing in coverage.missing[:_SHOWN]:
        lines.append(f"{missing.count:6}  {missing.reason}")
        lines += [f"        {example}" for example in missing.examples[:1]]
    left = len(coverage.missing) - _SHOWN
    if left > 0:
        lines.append(f"        {left} more reasons: --format json lists them all")
    lines += [f"note: {notice}" for notice in coverage.notices]
    return "\n".join(lines) + "\n"


def _share(count: int, total: int) -> str:
    return f"  {100 * count / total:5.1f} %" if total else ""
