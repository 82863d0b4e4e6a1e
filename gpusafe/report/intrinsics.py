"""The comparison of cuda-oxide's intrinsic catalogue with the models, as text and as JSON."""

from __future__ import annotations

import json
from collections import Counter

from gpusafe.parse.dialects.intrinsic_catalogue import Comparison


def as_json(found: Comparison) -> str:
    """``known``, ``missing`` (names by file) and ``problems``."""
    missing: dict[str, list[str]] = {}
    for intrinsic in found.missing:
        missing.setdefault(intrinsic.file, []).append(intrinsic.name)
    document = {"known": len(found.known), "missing": missing, "problems": list(found.problems)}
    return json.dumps(document, indent=2) + "\n"


def as_text(found: Comparison) -> str:
    """A line with the counts, then the missing ones by the file that lists them."""
    total = len(found.known) + len(found.missing)
    lines = [f"{len(found.known)} of {total} intrinsics are modelled"]
    counts = Counter(i.file for i in found.missing)
    for file, count in counts.most_common():
        names = [i.name for i in found.missing if i.file == file]
        lines.append(f"  {file}: {count} missing: {', '.join(names)}")
    lines += [f"  not read: {problem}" for problem in found.problems]
    return "\n".join(lines) + "\n"
