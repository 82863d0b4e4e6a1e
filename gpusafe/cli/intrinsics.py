"""``gpusafe intrinsics CHECKOUT``."""

from __future__ import annotations

from pathlib import Path


def run(checkout: str, format: str) -> int:
    """Print which intrinsics of cuda-oxide's catalogue have no model; 1 when some have none."""
    from gpusafe.parse.dialects.intrinsic_catalogue import compare
    from gpusafe.report.intrinsics import as_json, as_text

    found = compare(Path(checkout))
    print(as_json(found) if format == "json" else as_text(found), end="")
    return 1 if found.missing or found.problems else 0
