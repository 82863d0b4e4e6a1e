"""Where a file does not parse."""

from __future__ import annotations

from tree_sitter import Node as TsNode

from gpusafe.parse.rust.build_source import Reader
from gpusafe.span import Span

MAX_ERRORS = 20
"""Places that are reported for one file."""

_WHOLE = ("_item", "_declaration", "_definition", "_comment", "expression_statement")
_TOKENS = frozenset({"token_tree", "macro_definition"})


def problem_of(r: Reader, node: TsNode) -> str | None:
    """What is wrong inside an item, as a half sentence, or None."""
    places = error_spans(r, node, 1)
    return f"syntax error in line {places[0].line}" if places else None


def error_spans(r: Reader, node: TsNode, limit: int = MAX_ERRORS) -> tuple[Span, ...]:
    """The first places below ``node`` that do not parse, in source order.

    The insides of macros do not count: any balanced tokens are right there.
    """
    spans: list[Span] = []
    stack = [node] if node.has_error else []
    while stack and len(spans) < limit:
        at = stack.pop()
        if at.is_error or at.is_missing:
            spans.append(r.span(_narrow(at)))
        elif at.has_error and at.type not in _TOKENS:
            stack.extend(child for child in reversed(at.children) if child.has_error or child.is_missing)
    return tuple(spans)


def _narrow(error: TsNode) -> TsNode:
    """Of an error over several lines, the first part that is not whole."""
    if error.start_point[0] == error.end_point[0]:
        return error
    return next((child for child in error.children if not child.type.endswith(_WHOLE)), error)
