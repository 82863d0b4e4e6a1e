"""The text of one file under construction: node text, spans in characters, and the guard against deep nesting."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable

from tree_sitter import Node as TsNode

from gpusafe.parse.rust import ast
from gpusafe.span import Span

MAX_DEPTH = 150
"""Levels of nested syntax that are built; Python's own stack would end at about twice as many."""

COMMENTS = frozenset({"line_comment", "block_comment"})


class TooDeepError(Exception):
    """An item nests deeper than MAX_DEPTH; never leaves gpusafe.parse.rust."""


class Reader:
    """Builds trees for one file. The ``build_*`` modules fill in the four entries for the kinds of syntax."""

    def __init__(
        self,
        path: str,
        text: str,
        *,
        expr: Callable[[Reader, TsNode], ast.Expr],
        type_: Callable[[Reader, TsNode], ast.Type],
        pat: Callable[[Reader, TsNode], ast.Pat],
        block: Callable[[Reader, TsNode], ast.Block],
        origin: tuple[int, int] = (0, 0),
    ) -> None:
        """``origin`` shifts the spans of a text that stands inside another: lines, and columns of the first line."""
        self.path = path
        self.data = text.encode("utf-8", "replace")
        self.depth = 0
        self.too_deep: list[Span] = []
        self._row0, self._col0 = origin
        self._expr = expr
        self._type = type_
        self._pat = pat
        self._block = block
        self._ascii = self.data.isascii()
        self._plain = self._ascii and origin == (0, 0)
        self._line_starts = [0, *(match.end() for match in re.finditer(rb"\n", self.data))]
        self._columns: dict[int, array[int] | None] = {}

    # -- text and places ---------------------------------------------------------------------------------------------

    def text(self, node: TsNode) -> str:
        """The source text of a node."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def slice(self, start: int, end: int) -> str:
        """The text between two byte offsets."""
        return self.data[start:end].decode("utf-8", "replace")

    def span(self, node: TsNode) -> Span:
        """The place of a node."""
        row, col = node.start_point
        end_row, end_col = node.end_point
        if self._plain:
            return Span(self.path, row + 1, col + 1, end_row + 1, end_col + 1)
        return self._span(row, col, end_row, end_col)

    def _span(self, row: int, col: int, end_row: int, end_col: int) -> Span:
        """The span of byte columns within this text."""
        if not self._ascii:
            col, end_col = self._char(row, col), self._char(end_row, end_col)
        if row == 0:
            col += self._col0
        if end_row == 0:
            end_col += self._col0
        first = self._row0 + 1
        return Span(self.path, row + first, col + 1, end_row + first, end_col + 1)

    def span_of_bytes(self, start: int, end: int) -> Span:
        """The place of a byte range that is no node (the inside of a macro call)."""
        row = self.row(start)
        end_row = self.row(end)
        return self._span(row, start - self._line_starts[row], end_row, end - self._line_starts[end_row])

    def row(self, offset: int) -> int:
        """The line of a byte offset, from 0."""
        return bisect_right(self._line_starts, offset) - 1

    def _char(self, row: int, col: int) -> int:
        """The character column of a byte column (both from 0)."""
        if row not in self._columns:
            self._columns[row] = self._column_map(row)
        columns = self._columns[row]
        return col if columns is None else columns[min(col, len(columns) - 1)]

    def _column_map(self, row: int) -> array[int] | None:
        """For a line that is not ASCII, how many characters start before each of its bytes."""
        starts = self._line_starts
        if row >= len(starts):
            return None
        end = starts[row + 1] if row + 1 < len(starts) else len(self.data)
        line = self.data[starts[row] : end]
        if line.isascii():
            return None
        columns, count = array("l"), 0
        for byte in line:
            columns.append(count)
            count += byte & 0xC0 != 0x80
        columns.append(count)
        return columns

    # -- nesting -----------------------------------------------------------------------------------------------------

    def _enter(self) -> None:
        if self.depth >= MAX_DEPTH:
            raise TooDeepError
        self.depth += 1

    def expr(self, node: TsNode) -> ast.Expr:
        """The expression at ``node``, without its parentheses."""
        self._enter()
        built = self._expr(self, node)
        self.depth -= 1
        return built

    def type(self, node: TsNode) -> ast.Type:
        """The type at ``node``."""
        self._enter()
        built = self._type(self, node)
        self.depth -= 1
        return built

    def pat(self, node: TsNode) -> ast.Pat:
        """The pattern at ``node``."""
        self._enter()
        built = self._pat(self, node)
        self.depth -= 1
        return built

    def block(self, node: TsNode) -> ast.Block:
        """The block at ``node``."""
        self._enter()
        built = self._block(self, node)
        self.depth -= 1
        return built


def named(node: TsNode) -> list[TsNode]:
    """The named children of a node without comments."""
    return [child for child in node.named_children if child.type not in COMMENTS]


def has_token(node: TsNode, token: str) -> bool:
    """Whether one of the direct children is that keyword or sign."""
    return any(child.type == token for child in node.children)
