"""Items out of a stretch that did not parse: one open brace must not cost the functions after it."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import replace

from tree_sitter import Node as TsNode

from gpusafe.parse.rust import ast
from gpusafe.parse.rust.build_attributes import build_attribute
from gpusafe.parse.rust.build_items import ITEM_KINDS, build_items
from gpusafe.parse.rust.build_source import COMMENTS, Reader
from gpusafe.span import Span

_START = re.compile(
    rb"^(?:#\[|(?:(?:pub(?:\([^)\n]{0,80}\))?|default|unsafe|async|const|extern(?:[ \t]+\"[^\"\n]{0,40}\")?)[ \t]+)*"
    rb"(?:fn|struct|enum|union|trait|impl|mod|use|const|static|type|extern|macro_rules!)[\s<])",
    re.MULTILINE,
)
_FUNCTION = re.compile(r"^(?:[^\n/]*?\s)?fn\s+(\w+)", re.MULTILINE)
_WHOLE = ITEM_KINDS | {"macro_invocation"}

Parse = Callable[[str, int], tuple[Reader, TsNode]]
"""Parses a text that starts in the given row (from 0)."""


def recover(r: Reader, error: TsNode, parse: Parse) -> tuple[ast.Item, ...]:
    """The items inside of a top-level error, or of a function that swallowed what follows it.

    Those that the parser still made out are taken as they are. Between them the text is cut at lines that begin an item
    in column one, and each piece is parsed alone; a function that is broken itself stays as a Fn with a ``problem``.
    """
    whole = _whole(error.children) if error.is_error else []
    covered = [(child.start_byte, child.end_byte) for child in whole]
    items = list(build_items(r, whole)[0])
    starts = [match.start() for match in _START.finditer(r.data, error.start_byte, error.end_byte)]
    lost = _without_attributes(r, _outside(starts, covered))
    cuts = sorted({*lost, *(start for start, _ in covered), error.end_byte})
    for start in lost:
        end = cuts[bisect_right(cuts, start)]
        items.extend(_piece(r, start, end, parse))
    return tuple(sorted(items, key=lambda item: (item.span.line, item.span.col)))


def _whole(nodes: list[TsNode]) -> list[TsNode]:
    """The whole items among the parts of an error, with the attributes that stand right before them."""
    found: list[TsNode] = []
    attributes: list[TsNode] = []
    for node in nodes:
        if node.type == "attribute_item":
            attributes.append(node)
        elif node.type in _WHOLE:
            found += (*attributes, node)
            attributes.clear()
        elif node.type not in COMMENTS:
            attributes.clear()
    return found


def with_attributes(items: tuple[ast.Item, ...], r: Reader, nodes: list[TsNode]) -> tuple[ast.Item, ...]:
    """The items, the first with the attributes that stand before the broken stretch."""
    attributes = tuple(attribute for node in nodes for attribute in build_attribute(r, node))
    if not items or not attributes:
        return items
    return (replace(items[0], attributes=(*attributes, *items[0].attributes)), *items[1:])


def is_broken(r: Reader, node: TsNode) -> bool:
    """Whether a top-level node is an error, or a function with one whose text goes on over the start of other items."""
    if node.is_error:
        return True
    if node.type != "function_item" or not node.has_error:
        return False
    after = r.data.find(b"\n", node.start_byte, node.end_byte)
    return after >= 0 and _START.search(r.data, after + 1, node.end_byte) is not None


def _outside(starts: list[int], covered: list[tuple[int, int]]) -> list[int]:
    """The starts that lie in none of the stretches (both in order)."""
    found: list[int] = []
    index = 0
    for start in starts:
        while index < len(covered) and covered[index][1] <= start:
            index += 1
        if index == len(covered) or start < covered[index][0]:
            found.append(start)
    return found


def _without_attributes(r: Reader, lost: list[int]) -> list[int]:
    """Starts of pieces; an attribute and the item in the next line are one piece."""
    kept: list[int] = []
    previous = -1
    for start in lost:
        if previous < 0 or not _is_attribute_line(r.data, previous, start):
            kept.append(start)
        previous = start
    return kept


def _is_attribute_line(data: bytes, start: int, end: int) -> bool:
    return data.startswith(b"#[", start) and data.count(b"\n", start, end) == 1


def _piece(r: Reader, start: int, end: int, parse: Parse) -> tuple[ast.Item, ...]:
    text = r.slice(start, end)
    row = r.row(start)
    inner, root = parse(text, row)
    children = [root] if root.is_error else root.children
    items, _ = build_items(inner, [child for child in children if not child.is_error])
    if items:
        return items
    match = _FUNCTION.search(text)
    if match is None:
        return ()
    parts = [part for child in children for part in (child.children if child.is_error else (child,))]
    leading = itertools.takewhile(lambda part: part.type == "attribute_item", parts)
    attributes = tuple(attribute for part in leading for attribute in build_attribute(inner, part))
    line = row + 1 + text.count("\n", 0, match.start(1))
    col = match.start(1) - (text.rfind("\n", 0, match.start(1)) + 1) + 1
    span = Span(r.path, line, 1, line, col + len(match[1]))
    return (ast.Fn(span, match[1], attributes, False, (), (), None, None, problem=f"syntax error in line {line}"),)
