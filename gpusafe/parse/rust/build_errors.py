"""Where a file does not parse."""

from __future__ import annotations

from tree_sitter import Node as TsNode

from gpusafe.parse.rust.build_source import Reader
from gpusafe.span import Span

MAX_ERRORS = 20
"""Places that are reported for one file."""


def problem_of(r: Reader, node: TsNode) -> str | None:
    """What is wrong inside an item, as a half sentence, or None."""
    if not node.has_error:
        return None
    places = error_spans(r, node, 1)
    return f"syntax error in line {places[0].line}" if places else "syntax error"


def error_spans(r: Reader, node: TsNode, limit: int = MAX_ERRORS) -> tuple[Span, ...]:
    """The first places below ``node`` that do not parse, in source order."""
    spans: list[Span] = []
    stack = [node]
    while stack and len(spans) < limit:
        at = stack.pop()
        if at.is_error or at.is_missing:
            spans.append(r.span(at))
        elif at.has_error:
            stack.extend(child for child in reversed(at.children) if child.has_error or child.is_missing)
    return tuple(spans)
