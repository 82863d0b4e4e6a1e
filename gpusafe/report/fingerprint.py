"""Fingerprints that survive line shifts: made of source text, not of line numbers."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping

from gpusafe.report.sarif_place import snippet
from gpusafe.results import Finding
from gpusafe.span import Span


class Fingerprints:
    """Gives each finding its fingerprints; equal ones are told apart by their order in the file."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources = sources
        self._seen: Counter[str] = Counter()

    def of(self, finding: Finding) -> dict[str, str]:
        """``primaryLocationLineHash`` (what code scanning services compare) and ``gpusafe/v1`` (rule, unit, accesses).

        Both hold the other side of a race, so that two faults of one rule on one line stay two.
        """
        sides = [finding.primary.span, *(site.span for site in finding.related)]
        lines = self._numbered(_digest(finding.rule, *map(self._line, sides)))
        accesses = self._numbered(_digest(finding.rule, finding.unit or "", *map(self._access, sides)))
        return {"primaryLocationLineHash": lines, "gpusafe/v1": accesses}

    def _line(self, span: Span) -> str:
        source = self._sources.get(span.file, "").split("\n")
        text = source[span.line - 1] if 0 < span.line <= len(source) else ""
        return f"{span.file}:{''.join(text.split())}"

    def _access(self, span: Span) -> str:
        return "".join(snippet(span, self._sources).split())

    def _numbered(self, digest: str) -> str:
        self._seen[digest] += 1
        return f"{digest}:{self._seen[digest]}"


def _digest(*parts: str) -> str:
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()
