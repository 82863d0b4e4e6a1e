"""From Rust text to typed trees."""

from __future__ import annotations

from functools import cache

import tree_sitter_rust
from tree_sitter import Language, Parser
from tree_sitter import Node as TsNode

from gpusafe.parse.rust import ast
from gpusafe.parse.rust.build_blocks import build_block
from gpusafe.parse.rust.build_errors import MAX_ERRORS, error_spans
from gpusafe.parse.rust.build_exprs import build_expr
from gpusafe.parse.rust.build_items import build_items
from gpusafe.parse.rust.build_patterns import build_pat
from gpusafe.parse.rust.build_recover import is_broken, recover, with_attributes
from gpusafe.parse.rust.build_source import Reader
from gpusafe.parse.rust.build_types import build_type
from gpusafe.span import Span


@cache
def _language() -> Language:
    return Language(tree_sitter_rust.language())


def parse_file(path: str, text: str) -> ast.SourceFile:
    """The typed tree of one file; ``path`` is the name that its spans carry.

    Never fails: what does not parse is left out and named in ``errors``, a function with a syntax error inside or with
    too deep nesting says so in ``problem``, and the items around it are there.
    """
    r, root = _parse(path, text)
    items, attributes = _items(r, root)
    errors = error_spans(r, root)
    return ast.SourceFile(path, text, items, attributes, (*errors, *r.too_deep)[:MAX_ERRORS])


def _items(r: Reader, root: TsNode) -> tuple[tuple[ast.Item, ...], tuple[ast.Attribute, ...]]:
    if not root.has_error:
        return build_items(r, root.children)

    def parse_piece(text: str, row: int) -> tuple[Reader, TsNode]:
        return _parse(r.path, text, (row, 0))

    items: list[ast.Item] = []
    inner: list[ast.Attribute] = []
    whole: list[TsNode] = []
    for child in [root] if root.is_error else root.children:
        if not is_broken(r, child):
            whole.append(child)
            continue
        kept = len(whole)
        while kept and whole[kept - 1].type == "attribute_item":
            kept -= 1
        before, found = build_items(r, whole[:kept])
        items += before
        inner += found
        items += with_attributes(recover(r, child, parse_piece), r, whole[kept:])
        whole.clear()
    after, found = build_items(r, whole)
    return (*items, *after), (*inner, *found)


def _parse(path: str, text: str, origin: tuple[int, int] = (0, 0)) -> tuple[Reader, TsNode]:
    r = Reader(path, text, expr=build_expr, type_=build_type, pat=build_pat, block=build_block, origin=origin)
    return r, Parser(_language()).parse(r.data).root_node


def parse_wrapped(before: str, text: str, after: str, at: Span) -> tuple[ast.Item, ...] | None:
    """The items of ``before + text + after``, with the spans of ``text`` as it stands at ``at``.

    ``before`` must be one line. None when the whole does not parse without an error.
    """
    r, root = _parse(at.file, before + text + after, (at.line - 1, at.col - 1 - len(before)))
    if root.has_error:
        return None
    items, _ = build_items(r, root.children)
    return items if not r.too_deep else None
