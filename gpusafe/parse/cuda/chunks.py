"""The top level of a translation unit, cut into pieces that are parsed one by one.

A syntax error then costs one function. Words that say nothing about memory (``__restrict__``, attributes) are left
out, so that the grammar need not know them; what launches need (``__launch_bounds__``) is kept aside.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from gpusafe.parse.cuda.lex import Kind, Token
from gpusafe.span import Span

_DROPPED = frozenset(
    [
        "__restrict__",
        "__restrict",
        "restrict",
        "__forceinline__",
        "__inline__",
        "__inline",
        "__noinline__",
        "__grid_constant__",
        "__host__",
        "__extension__",
        "__nv_pure__",
        "__device_builtin__",
        "_CCCL_DEVICE",
        "_CCCL_HOST",
        "__always_inline__",
        "register",
    ]
)
_DROPPED_CALLS = frozenset(
    [
        "__attribute__",
        "__attribute",
        "__align__",
        "alignas",
        "__declspec",
        "_Pragma",
        "__launch_bounds__",
        "__cluster_dims__",
        "__block_size__",
        "__maxnreg__",
        "__minnctapersm__",
    ]
)
_KEPT_ASIDE = frozenset({"__launch_bounds__", "__cluster_dims__"})
_ALIGNMENTS = frozenset({"__align__", "alignas"})
_SPELLINGS = {
    "__asm__": "asm",
    "__asm": "asm",
    "__volatile__": "volatile",
    "__const__": "const",
    "__typeof__": "decltype",
}
_RECORD_WORDS = frozenset({"struct", "class", "union", "enum"})
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")


@dataclass(frozen=True)
class Chunk:
    """One declaration or definition. ``aside`` holds attribute arguments by their word."""

    tokens: tuple[Token, ...]
    scope: str
    c_linkage: bool
    aside: dict[str, tuple[tuple[Token, ...], ...]]

    @cached_property
    def words(self) -> frozenset[str]:
        """All identifiers in it."""
        return frozenset(t.text for t in self.tokens if t.kind is Kind.IDENT)

    @cached_property
    def span(self) -> Span:
        """From its first to its last token."""
        return cover(self.tokens[0].place, self.tokens[-1].place)

    def source(self) -> Source:
        """The text for the grammar, with the way back to places."""
        return Source.of(self.tokens)


@dataclass(frozen=True, slots=True)
class Source:
    """Text made of tokens; ``starts`` are their byte offsets in it."""

    text: bytes
    starts: tuple[int, ...]
    tokens: tuple[Token, ...]

    @staticmethod
    def of(tokens: Sequence[Token]) -> Source:
        """Join tokens, keeping apart what was apart."""
        parts: list[bytes] = []
        starts: list[int] = []
        size = 0
        for token in tokens:
            gap = b"\n" if token.first else b" " if token.spaced else b""
            raw = token.text.encode("utf-8", "replace")
            starts.append(size + len(gap))
            parts.append(gap + raw)
            size += len(gap) + len(raw)
        return Source(b"".join(parts), tuple(starts), tuple(tokens))

    def span(self, start: int, end: int) -> Span:
        """The place in the user's file of the bytes from ``start`` to ``end``."""
        first = max(bisect_right(self.starts, start) - 1, 0)
        last = max(bisect_right(self.starts, max(end - 1, start)) - 1, first)
        return cover(self.tokens[first].place, self.tokens[last].place)


def cover(a: Span, b: Span) -> Span:
    """The smallest span with both (the first one alone where they stand in different files)."""
    if a is b or a.file != b.file:
        return a
    if (a.line, a.col) <= (b.line, b.col) and (a.end_line, a.end_col) <= (b.end_line, b.end_col):
        return Span(a.file, a.line, a.col, b.end_line, b.end_col)
    line, col = min((a.line, a.col), (b.line, b.col))
    end_line, end_col = max((a.end_line, a.end_col), (b.end_line, b.end_col))
    return Span(a.file, line, col, end_line, end_col)


def split(tokens: Sequence[Token]) -> list[Chunk]:
    """The pieces in order. Unbalanced braces cost what stands before the next ``__global__``."""
    return list(_pieces(tokens))


def _pieces(tokens: Sequence[Token]) -> Iterator[Chunk]:
    scopes: list[tuple[str, bool]] = []
    at = 0
    while at < len(tokens):
        text = tokens[at].text
        if text == "}":
            if scopes:
                scopes.pop()
            at += 1
        elif text == ";":
            at += 1
        elif (opened := _scope(tokens, at)) is not None:
            name, linkage, at = opened
            scopes.append((name, linkage))
        else:
            end = _end(tokens, at)
            scope = "::".join(name for name, _ in scopes if name)
            chunk = _clean(tokens[at:end], scope, any(c for _, c in scopes))
            if chunk.tokens:
                yield chunk
            at = end


def _scope(tokens: Sequence[Token], at: int) -> tuple[str, bool, int] | None:
    """``namespace a::b {`` and ``extern "C" {``: name, C linkage, where the inside starts."""
    if tokens[at].text == "extern" and at + 2 < len(tokens):
        if tokens[at + 1].kind is Kind.STRING and tokens[at + 2].text == "{":
            return "", True, at + 3
        return None
    if tokens[at].text == "inline" and at + 1 < len(tokens) and tokens[at + 1].text == "namespace":
        at += 1
    if tokens[at].text != "namespace":
        return None
    end = at + 1
    while end < len(tokens) and tokens[end].text not in ("{", ";", "="):
        end += 1
    if end >= len(tokens) or tokens[end].text != "{":
        return None
    name = "".join(t.text for t in tokens[at + 1 : end] if t.kind is Kind.IDENT or t.text == "::")
    return name, False, end + 1


def _end(tokens: Sequence[Token], start: int) -> int:
    """One past the last token of the declaration that starts at ``start``."""
    depth = 0
    parens = assigned = False
    head = _after_template(tokens, start)
    record = any(t.text in _RECORD_WORDS or t.text == "typedef" for t in tokens[head : head + 3])
    at = start
    while at < len(tokens):
        token = tokens[at]
        if token.text == "__global__" and depth > 0 and at > start:
            return _declaration_start(tokens, start, at)
        if token.text in _DROPPED_CALLS:
            at = max(_call_end(tokens, at + 1), at + 1)  # the parentheses of an attribute make no function
            continue
        if token.kind is Kind.PUNCT:
            if token.text in _OPEN:
                if depth == 0 and token.text == "(":
                    parens = True
                depth += 1
            elif token.text in _CLOSE:
                depth -= 1
                if depth < 0:
                    return max(at, start + 1)
                if depth == 0 and token.text == "}" and not assigned and (parens or not record):
                    return at + 1
            elif depth == 0 and token.text == ";":
                return at + 1
            elif depth == 0 and token.text == "=":
                assigned = True
        at += 1
    return at


def _after_template(tokens: Sequence[Token], at: int) -> int:
    """Where the declaration proper starts after ``template <...>``."""
    while at + 1 < len(tokens) and tokens[at].text == "template" and tokens[at + 1].text == "<":
        depth = 0
        at += 1
        while at < len(tokens):
            depth += {"<": 1, ">": -1, ">>": -2, ">>>": -3}.get(tokens[at].text, 0)
            at += 1
            if depth <= 0:
                break
    return at


def _declaration_start(tokens: Sequence[Token], low: int, at: int) -> int:
    """Where the kernel starts whose ``__global__`` stands at ``at`` (its ``extern "C"``, ``template`` before it)."""
    start = at
    while start - 1 > low and tokens[start - 1].text not in (";", "}", "{"):
        start -= 1
    return start


def _clean(tokens: Sequence[Token], scope: str, c_linkage: bool) -> Chunk:
    kept: list[Token] = []
    aside: dict[str, tuple[tuple[Token, ...], ...]] = {}
    at = 0
    pending = False  # a line break before dropped tokens
    while at < len(tokens):
        token = tokens[at]
        if token.kind is Kind.IDENT and token.text in _DROPPED:
            at, pending = at + 1, True
            continue
        if token.kind is Kind.IDENT and token.text in _DROPPED_CALLS:
            end = max(_call_end(tokens, at + 1), at + 1)
            name = _meaning(token, tokens[at + 1 : end], kept)
            if name is not None and name not in aside:
                aside[name] = _split_arguments(tokens[at + 2 : end - 1])
            at, pending = end, True
            continue
        if token.text == "[" and at + 1 < len(tokens) and tokens[at + 1].text == "[" and _is_attribute(tokens, at):
            at, pending = _call_end(tokens, at), True
            continue
        if token.text in _SPELLINGS:
            token = replace(token, text=_SPELLINGS[token.text])
        kept.append(replace(token, spaced=True) if pending else token)
        pending = False
        at += 1
    return Chunk(tuple(kept), scope, c_linkage, aside)


def _meaning(token: Token, arguments: Sequence[Token], before: Sequence[Token]) -> str | None:
    """Under which name an attribute is kept, None when it says nothing that matters."""
    if token.text in _KEPT_ASIDE:
        return token.text
    words = {t.text for t in arguments}
    if token.text in _ALIGNMENTS:
        head = [t.text for t in before[-3:]]
        return "align" if head and head[-1] in _RECORD_WORDS else "inner align"
    return "odd layout" if words & {"packed", "aligned", "__packed__", "__aligned__"} else None


def _is_attribute(tokens: Sequence[Token], at: int) -> bool:
    """``[[`` opens an attribute, not a lambda inside an index."""
    end = _call_end(tokens, at)
    return end - at >= 4 and tokens[end - 2].text == "]" and not tokens[at + 1].spaced


def _call_end(tokens: Sequence[Token], at: int) -> int:
    """One past the bracket that closes the one at ``at`` (``at`` itself when there is none)."""
    if at >= len(tokens) or tokens[at].text not in _OPEN:
        return at
    depth = 0
    while at < len(tokens):
        text = tokens[at].text
        depth += (text in _OPEN) - (text in _CLOSE)
        at += 1
        if depth == 0:
            break
    return at


def _split_arguments(tokens: Sequence[Token]) -> tuple[tuple[Token, ...], ...]:
    arguments: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.text in _OPEN) - (token.text in _CLOSE)
        if token.text == "," and depth == 0:
            arguments.append([])
        else:
            arguments[-1].append(token)
    return tuple(tuple(a) for a in arguments if a)
