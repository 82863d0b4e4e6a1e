"""Fingerprints that survive line shifts: made of source text, not of line numbers."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping

from gpusafe.report.line_hash import line_hashes
from gpusafe.report.sarif_place import snippet
from gpusafe.results import Finding
from gpusafe.span import Span

_AT_LINE = re.compile(r"(?<=\bline )\d+")
_TRAILING_COMMA = re.compile(r",(?=[)\]}])")


class Fingerprints:
    """Gives each finding its fingerprints; equal ones are told apart by their order in the file."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._lines: dict[str, list[str]] = {}
        self._sources = sources
        self._seen: Counter[str] = Counter()
        self._told: set[tuple[str, str, str]] = set()

    def of(self, finding: Finding) -> dict[str, str]:
        """``primaryLocationLineHash`` (what code scanning services compare) and ``gpusafe/v1`` (see ``content``).

        The first is GitHub's own hash of the line, but only for the first finding of a rule on a line: services take
        two with one value for the same, and so the next ones mix in their other places.
        """
        return {"primaryLocationLineHash": self._line_hash(finding), "gpusafe/v1": self.content(finding)}

    def content(self, finding: Finding) -> str:
        """Made of the rule, the function and the accesses: no file names, no lines, no layout.

        What is open has its reason instead of its accesses, which may be a whole function.
        """
        if finding.reason is not None:
            told = [_AT_LINE.sub("", finding.reason)]
        else:
            told = [self._access(span) for span in (finding.primary.span, *(s.span for s in finding.related))]
        return self._numbered(_digest(finding.rule, finding.unit or "", *told))

    def _line_hash(self, finding: Finding) -> str:
        span = finding.primary.span
        own = self._line(span)
        if (finding.rule, span.file, own) not in self._told:
            self._told.add((finding.rule, span.file, own))
            return own
        others = [f"{site.span.file}:{self._line(site.span)}" for site in finding.related]
        return self._numbered(_digest("line", finding.rule, span.file, own, *others))

    def _line(self, span: Span) -> str:
        if span.file not in self._lines:
            self._lines[span.file] = line_hashes(self._sources.get(span.file, ""))
        hashes = self._lines[span.file]
        return hashes[min(max(span.line, 1), len(hashes)) - 1]

    def _access(self, span: Span) -> str:
        return _TRAILING_COMMA.sub("", "".join(snippet(span, self._sources, limit=None).split()))

    def _numbered(self, digest: str) -> str:
        self._seen[digest] += 1
        return f"{digest}:{self._seen[digest]}"


def _digest(*parts: str) -> str:
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()
