"""Places as SARIF writes them: relative URIs and regions."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from gpusafe.span import Span

_MAX_SNIPPET = 400


def artifact(path: str) -> dict[str, Any]:
    """The artifact location of a file: relative to the folder in which gpusafe ran, wherever that is possible."""
    relative = os.path.relpath(path) if os.path.isabs(path) else os.path.normpath(path)
    if relative.startswith("..") and os.path.isabs(path):
        return {"uri": "file://" + quote(path.replace(os.sep, "/"))}
    return {"uri": quote(relative.replace(os.sep, "/")), "uriBaseId": "SRCROOT"}


def location(span: Span, label: str, sources: Mapping[str, str]) -> dict[str, Any]:
    """A location with its region, its label as message, and the first line of its source as snippet."""
    region: dict[str, Any] = {
        "startLine": span.line,
        "startColumn": span.col,
        "endLine": span.end_line,
        "endColumn": span.end_col,
    }
    text = snippet(span, sources)
    if text:
        region["snippet"] = {"text": text}
    place: dict[str, Any] = {"physicalLocation": {"artifactLocation": artifact(span.file), "region": region}}
    if label:
        place["message"] = {"text": label}
    return place


def snippet(span: Span, sources: Mapping[str, str], *, limit: int | None = _MAX_SNIPPET) -> str:
    """The source text of a span, cut to ``limit`` characters; empty where the source is not at hand."""
    source = sources.get(span.file)
    if source is None:
        return ""
    lines = source.split("\n")[span.line - 1 : span.end_line]
    if not lines:
        return ""
    if len(lines) == 1:
        lines[0] = lines[0][span.col - 1 : span.end_col - 1]
    else:
        lines[0] = lines[0][span.col - 1 :]
        lines[-1] = lines[-1][: span.end_col - 1]
    return "\n".join(lines)[:limit]
