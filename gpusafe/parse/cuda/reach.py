"""Which pieces of a unit its kernels can need: a header may bring in thousands of functions that none of them calls."""

from __future__ import annotations

from collections.abc import Sequence

from gpusafe.parse.cuda.chunks import Chunk
from gpusafe.parse.cuda.lex import Kind

_NOT_FUNCTIONS = frozenset({"struct", "class", "union", "enum", "typedef", "using", "namespace", "operator"})
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")


def needed(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Kernels, launches, types and variables, and the functions whose names these mention, directly or not."""
    names = [function_name(chunk) for chunk in chunks]
    by_name: dict[str, list[int]] = {}
    keep: set[int] = set()
    todo: list[int] = []
    for index, (chunk, name) in enumerate(zip(chunks, names, strict=True)):
        if name is None or "__global__" in chunk.words or any(t.text == "<<<" for t in chunk.tokens):
            keep.add(index)
            todo.append(index)
        else:
            by_name.setdefault(name, []).append(index)
    while todo:
        for word in chunks[todo.pop()].words:
            for index in by_name.pop(word, ()):
                keep.add(index)
                todo.append(index)
    return [chunk for index, chunk in enumerate(chunks) if index in keep]


def function_name(chunk: Chunk) -> str | None:
    """The name of the function that a piece defines; None when it defines something else, or an operator."""
    depth = 0
    previous = None
    name: str | None = None
    for token in chunk.tokens:
        if token.kind is Kind.IDENT and depth == 0:
            if name is None and token.text in _NOT_FUNCTIONS:
                return None
        elif token.kind is Kind.PUNCT:
            if token.text == "(" and depth == 0 and name is None:
                if previous is None or previous.kind is not Kind.IDENT:
                    return None
                name = previous.text
            if token.text == "{" and depth == 0:
                return name
            depth += (token.text in _OPEN) - (token.text in _CLOSE)
        if depth == 0 and token.text in ("=", ";"):
            return None
        previous = token
    return None
