"""Assertions of litmus tests: ``P0:r1 == 1 /\\ (x = 2 \\/ ~(y != 0))``."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from gpusafe.errors import GpusafeError
from gpusafe.parse.litmus.program import Condition

_TOKEN = re.compile(
    r"\s*(/\\|\\/|==|!=|>=|<=|=|<|>|~|\(|\)|\[|\]|not\b|P?\d+\s*:\s*\w+|true\b|-?(?:0x[0-9a-fA-F]+|\d+)|\w+)"
)
_COMPARISONS = {"=": "==", "==": "==", "!=": "!=", "<": "<", ">": ">", "<=": "<=", ">=": ">="}
_DEPTH = 60


@dataclass(slots=True)
class _Tokens:
    items: list[str]
    at: int = 0

    def peek(self) -> str:
        return self.items[self.at] if self.at < len(self.items) else ""

    def take(self) -> str:
        token = self.peek()
        self.at += 1
        return token

    def expect(self, token: str) -> None:
        if self.take() != token:
            raise GpusafeError(f"assertion: expected `{token}`")


def parse_condition(text: str, cell_of: Callable[[str], str]) -> Condition:
    """The condition that a text states; ``cell_of`` gives the cell for the name of a location."""
    items, at = [], 0
    text = text.strip().rstrip(";").strip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise GpusafeError(f"assertion: cannot read `{text[at : at + 20]}`")
        items.append(match.group(1))
        at = match.end()
        at += len(text[at:]) - len(text[at:].lstrip())
    tokens = _Tokens(items)
    out = _disjunction(tokens, cell_of, 0)
    if tokens.peek():
        raise GpusafeError(f"assertion: unexpected `{tokens.peek()}`")
    return out


def _disjunction(tokens: _Tokens, cell_of: Callable[[str], str], depth: int) -> Condition:
    parts = [_conjunction(tokens, cell_of, depth)]
    while tokens.peek() == "\\/":
        tokens.take()
        parts.append(_conjunction(tokens, cell_of, depth))
    return parts[0] if len(parts) == 1 else Condition("or", tuple(parts))


def _conjunction(tokens: _Tokens, cell_of: Callable[[str], str], depth: int) -> Condition:
    parts = [_single(tokens, cell_of, depth)]
    while tokens.peek() == "/\\":
        tokens.take()
        parts.append(_single(tokens, cell_of, depth))
    return parts[0] if len(parts) == 1 else Condition("and", tuple(parts))


def _single(tokens: _Tokens, cell_of: Callable[[str], str], depth: int) -> Condition:
    if depth > _DEPTH:
        raise GpusafeError("assertion: nested too deeply")
    match tokens.peek():
        case "(":
            tokens.take()
            inner = _disjunction(tokens, cell_of, depth + 1)
            tokens.expect(")")
            return inner
        case "~" | "not":
            tokens.take()
            return Condition("not", (_single(tokens, cell_of, depth + 1),))
        case "true":
            tokens.take()
            return Condition("and")
    left = _term(tokens, cell_of)
    comparison = _COMPARISONS.get(tokens.take())
    if comparison is None:
        raise GpusafeError("assertion: expected a comparison")
    return Condition(comparison, terms=(left, _term(tokens, cell_of)))


def _term(tokens: _Tokens, cell_of: Callable[[str], str]) -> int | str | tuple[int, str]:
    token = tokens.take()
    if token == "[":
        token = tokens.take()
        tokens.expect("]")
        return cell_of(token)
    if ":" in token:
        thread, register = token.split(":")
        return int(thread.strip().removeprefix("P")), register.strip()
    if re.fullmatch(r"-?(0x[0-9a-fA-F]+|\d+)", token):
        return int(token, 0) if "x" in token else int(token)
    if not token or not re.fullmatch(r"\w+", token):
        raise GpusafeError(f"assertion: expected a value, found `{token or 'the end'}`")
    return cell_of(token)
