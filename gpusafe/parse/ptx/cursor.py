"""A place in a list of tokens."""

from __future__ import annotations

from gpusafe.parse.ptx.lex import PtxError, Token

_END = Token("end", "", 0)
OPENING = {"(": ")", "[": "]", "{": "}"}


class Cursor:
    """Reads tokens one after the other."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0

    @property
    def here(self) -> Token:
        """The next token; of kind ``end`` behind the last one."""
        return self.tokens[self.at] if self.at < len(self.tokens) else _END

    @property
    def line(self) -> int:
        """The line of the next token, or of the last one."""
        if self.at < len(self.tokens):
            return self.tokens[self.at].line
        return self.tokens[-1].line if self.tokens else 1

    @property
    def done(self) -> bool:
        """Whether nothing is left."""
        return self.at >= len(self.tokens)

    def peek(self, ahead: int = 1) -> Token:
        """A token further on."""
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else _END

    def take(self) -> Token:
        """The next token."""
        if self.done:
            raise PtxError("the text ends too soon", self.line)
        token = self.tokens[self.at]
        self.at += 1
        return token

    def accept(self, *texts: str) -> bool:
        """Takes the next token if it is one of these."""
        if self.here.text in texts and not self.done and self.here.kind != "string":
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> Token:
        """Takes a token that must be there."""
        token = self.take()
        if token.text != text:
            raise PtxError(f"`{text}` is missing before `{token.text}`", token.line)
        return token

    def word(self) -> Token:
        """Takes a name."""
        token = self.take()
        if token.kind != "word":
            raise PtxError(f"a name is missing before `{token.text}`", token.line)
        return token

    def number(self) -> int:
        """Takes an integer, maybe with a sign."""
        sign = -1 if self.accept("-") else 1
        token = self.take()
        if token.kind != "number":
            raise PtxError(f"a number is missing before `{token.text}`", token.line)
        return sign * integer(token.text)

    def skip_line(self) -> list[Token]:
        """The rest of the line of the token before."""
        line = self.tokens[self.at - 1].line
        start = self.at
        while not self.done and self.here.line == line:
            self.at += 1
        return self.tokens[start : self.at]

    def skip_balanced(self) -> None:
        """Everything from an opening bracket to what closes it."""
        closing = [OPENING[self.take().text]]
        while closing:
            token = self.take()
            if token.kind != "sign":
                continue
            if token.text in OPENING:
                closing.append(OPENING[token.text])
            elif token.text == closing[-1]:
                closing.pop()
            elif token.text in OPENING.values():
                raise PtxError(f"`{token.text}` closes nothing", token.line)

    def skip_statement(self) -> None:
        """Everything up to the next semicolon, brackets and braces in between included."""
        while not self.accept(";"):
            if self.here.text in OPENING and self.here.kind == "sign":
                self.skip_balanced()
            else:
                self.take()


def integer(text: str) -> int:
    """The value of an integer literal; a leading zero makes it octal."""
    text = text.rstrip("U")
    if len(text) > 1 and text[0] == "0" and text.isdigit():
        return int(text, 8) if set(text) <= set("01234567") else int(text)
    return int(text, 0)
