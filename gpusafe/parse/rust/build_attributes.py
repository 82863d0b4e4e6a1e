"""Attributes, with ``unsafe(...)`` and ``cfg_attr(...)`` opened."""

from __future__ import annotations

import re

from tree_sitter import Node as TsNode

from gpusafe.parse.rust import ast
from gpusafe.parse.rust.build_source import Reader
from gpusafe.span import Span

_WRAPPED = re.compile(r"\s*([A-Za-z_][\w:]*)\s*(?:\((.*)\)|=(.*))?\s*\Z", re.DOTALL)


def build_attribute(r: Reader, node: TsNode) -> tuple[ast.Attribute, ...]:
    """The attributes that one ``#[...]`` or ``#![...]`` stands for.

    ``#[unsafe(a)]`` is ``a``; ``#[cfg_attr(p, a, b)]`` is itself followed by ``a`` and ``b``, which may thus be there
    without holding in every configuration.
    """
    inner = node.type == "inner_attribute_item"
    body = next((child for child in node.named_children if child.type == "attribute"), None)
    span = r.span(node)
    if body is None:
        return ()
    text = r.text(body)
    own = _attribute(span, text, inner)
    if own is None:
        return ()
    if own.path == "unsafe":
        wrapped = _attribute(span, own.text, inner)
        return (wrapped,) if wrapped is not None else ()
    if own.path != "cfg_attr":
        return (own,)
    parts = split_commas(own.text)[1:]
    return (own, *(a for part in parts if (a := _attribute(span, part, inner)) is not None and a.path != "cfg"))


def _attribute(span: Span, text: str, inner: bool) -> ast.Attribute | None:
    match = _WRAPPED.match(text)
    if match is None:
        path = re.match(r"\s*([\w:]+)", text)
        if path is None:
            return None
        return ast.Attribute(span, path[1], text[path.end() :].strip(), inner)
    value = match[2] if match[2] is not None else (match[3] or "").strip()
    return ast.Attribute(span, match[1], value, inner)


def split_commas(text: str) -> list[str]:
    """The parts of ``text`` between commas that are outside of brackets and strings, stripped, empty ones left out."""
    parts: list[str] = []
    depth, start = 0, 0
    for match in re.finditer(r"\"(?:\\.|[^\"\\])*\"|[()\[\]{},]", text, re.DOTALL):
        sign = match[0]
        if sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif sign == "," and depth == 0:
            parts.append(text[start : match.start()])
            start = match.end()
    parts.append(text[start:])
    return [stripped for part in parts if (stripped := part.strip())]
