"""The value of ``#if`` conditions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gpusafe.parse.cuda.lex import Kind, Token
from gpusafe.parse.cuda.literals import char_value, integer_literal

_LEVELS: dict[str, int] = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip
_BINARY: dict[str, Callable[[int, int], int]] = {
    "||": lambda a, b: int(bool(a) or bool(b)),
    "&&": lambda a, b: int(bool(a) and bool(b)),
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "&": lambda a, b: a & b,
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    ">": lambda a, b: int(a > b),
    "<=": lambda a, b: int(a <= b),
    ">=": lambda a, b: int(a >= b),
    "<<": lambda a, b: a << min(max(b, 0), 64),
    ">>": lambda a, b: a >> min(max(b, 0), 64),
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if b else 0,
    "%": lambda a, b: a - b * (abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)) if b else 0,
}
_UNARY: dict[str, Callable[[int], int]] = {
    "!": lambda a: int(not a),
    "-": lambda a: -a,
    "+": lambda a: a,
    "~": lambda a: ~a,
}
_MAX_DEPTH = 60
_WRAP = 1 << 64


class BadCondition(Exception):
    """The condition cannot be read."""


def evaluate(tokens: Sequence[Token]) -> bool:
    """The truth of a condition whose macros (and ``defined``) are expanded; identifiers that are left count as 0.

    Raises BadCondition when it is not an expression.
    """
    reader = _Reader(tokens)
    value = reader.conditional(0)
    if reader.at != len(tokens):
        raise BadCondition(f"unexpected `{tokens[reader.at].text}`")
    return bool(value)


class _Reader:
    """Precedence climbing over the tokens of one condition."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at].text if self.at < len(self.tokens) else ""

    def conditional(self, depth: int) -> int:
        value = self.binary(0, depth)
        if self.peek() != "?":
            return value
        self.at += 1
        yes = self.conditional(depth + 1)
        if self.peek() != ":":
            raise BadCondition("a `:` is missing")
        self.at += 1
        no = self.conditional(depth + 1)
        return yes if value else no

    def binary(self, level: int, depth: int) -> int:
        value = self.unary(depth)
        while (mine := _LEVELS.get(self.peek(), 0)) > level:
            op = self.peek()
            self.at += 1
            right = self.binary(mine, depth + 1)
            value = _BINARY[op](value, right)
            if not -_WRAP < value < _WRAP:
                value %= _WRAP
        return value

    def unary(self, depth: int) -> int:
        if depth > _MAX_DEPTH:
            raise BadCondition("too deeply nested")
        if self.at >= len(self.tokens):
            raise BadCondition("an operand is missing")
        token = self.tokens[self.at]
        self.at += 1
        if token.text in _UNARY:
            return _UNARY[token.text](self.unary(depth + 1))
        if token.text == "(":
            value = self.conditional(depth + 1)
            if self.peek() != ")":
                raise BadCondition("a `)` is missing")
            self.at += 1
            return value
        return self.operand(token)

    def operand(self, token: Token) -> int:
        if token.kind is Kind.NUMBER:
            literal = integer_literal(token.text)
            if literal is None:
                raise BadCondition(f"`{token.text}` is not an integer")
            return literal.value
        if token.kind is Kind.CHAR:
            return char_value(token.text)
        if token.kind is Kind.IDENT:
            if self.peek() == "(":  # __has_include(..) and kin, of which nothing is known
                self.skip_arguments()
            return int(token.text == "true")
        raise BadCondition(f"unexpected `{token.text}`")

    def skip_arguments(self) -> None:
        depth = 0
        while self.at < len(self.tokens):
            depth += {"(": 1, ")": -1}.get(self.peek(), 0)
            self.at += 1
            if depth == 0:
                return
