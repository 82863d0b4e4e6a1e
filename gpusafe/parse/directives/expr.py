"""The small language of contracts: comparisons of lengths, scalars and geometry, and named facts.

``n <= out.len()``, ``gridDim.y == 1``, ``blockDim.x * gridDim.x >= n && n % 4 == 0``, ``injective(perm)``,
``same_stream(a, b)``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"\s*(?:(?P<num>0x[0-9a-fA-F_]+|\d[\d_]*)(?:[iu](?:8|16|32|64|128|size))?"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<op><<|>>|<=|>=|==|!=|&&|\|\||=>|[-+*/%<>!().,&|^]))"
)
_BINDING = {
    "=>": 1,
    "||": 2,
    "&&": 3,
    "==": 4,
    "!=": 4,
    "<": 4,
    "<=": 4,
    ">": 4,
    ">=": 4,
    "|": 5,
    "^": 6,
    "&": 7,
    "<<": 8,
    ">>": 8,
    "+": 9,
    "-": 9,
    "*": 10,
    "/": 10,
    "%": 10,
}
_MAX_DEPTH = 50


class DirectiveError(Exception):
    """A contract that cannot be read; the message says why."""


@dataclass(frozen=True, slots=True)
class Number:
    """An integer literal."""

    value: int


@dataclass(frozen=True, slots=True)
class Name:
    """``n``, ``gridDim.y``, ``self.stream``: the segments."""

    parts: tuple[str, ...]

    def __str__(self) -> str:
        return ".".join(self.parts)


@dataclass(frozen=True, slots=True)
class LengthOf:
    """``out.len()``, in elements."""

    base: Name


@dataclass(frozen=True, slots=True)
class Apply:
    """A named fact or function of arguments: ``injective(perm)``, ``min(a, b)``."""

    function: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """``!a`` (``op`` ``!``) or ``-a``."""

    op: str
    a: Expr


@dataclass(frozen=True, slots=True)
class Compound:
    """``a op b``; ``op`` as written (``=>`` is implication)."""

    op: str
    a: Expr
    b: Expr


Expr = Number | Name | LengthOf | Apply | Not | Compound


def parse_expr(text: str) -> Expr:
    """The expression in ``text``; raises DirectiveError."""
    parser = _Parser(_tokens(text))
    expr = parser.expression(0, 0)
    if parser.peek():
        raise DirectiveError(f"unexpected `{parser.peek()}`")
    return expr


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    at = 0
    text = text.strip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise DirectiveError(f"`{text[at:].strip()[:12]}` cannot be read")
        tokens.append(match["num"] or match["name"] or match["op"])
        at = match.end()
    return tokens


class _Parser:
    """Precedence climbing over the tokens; the depth guard bounds its recursion."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.at += 1
        return token

    def expect(self, token: str) -> None:
        got = self.take()
        if got != token:
            raise DirectiveError(f"expected `{token}`" + (f", found `{got}`" if got else ""))

    def expression(self, floor: int, depth: int) -> Expr:
        if depth > _MAX_DEPTH:
            raise DirectiveError("the expression is nested too deeply")
        left = self.operand(depth)
        while _BINDING.get(self.peek(), 0) > floor:
            op = self.take()
            power = _BINDING[op]
            if power == 4 and isinstance(left, Compound) and _BINDING[left.op] == 4 and floor < 4:
                raise DirectiveError("comparisons cannot be chained")
            left = Compound(op, left, self.expression(power, depth + 1))
        return left

    def operand(self, depth: int) -> Expr:
        token = self.take()
        if token in ("!", "-"):
            return Not(token, self.expression(11, depth + 1))
        if token == "(":
            inner = self.expression(0, depth + 1)
            self.expect(")")
            return inner
        if token[:1].isdigit():
            return Number(int(token.replace("_", ""), 0))
        if token[:1].isalpha() or token[:1] == "_":
            return self.named(token, depth)
        raise DirectiveError(f"expected a value, found `{token}`" if token else "the expression ends too early")

    def named(self, first: str, depth: int) -> Expr:
        parts = [first]
        while self.peek() == ".":
            self.take()
            parts.append(self.take())
        if self.peek() != "(":
            return Name(tuple(parts))
        self.take()
        args: list[Expr] = []
        while self.peek() != ")":
            args.append(self.expression(0, depth + 1))
            if self.peek() != ",":
                break
            self.take()
        self.expect(")")
        if parts[-1] == "len" and len(parts) > 1 and not args:
            return LengthOf(Name(tuple(parts[:-1])))
        if len(parts) > 1:
            raise DirectiveError(f"`{'.'.join(parts)}` cannot be called here")
        return Apply(first, tuple(args))
