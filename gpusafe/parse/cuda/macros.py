"""Macro expansion over tokens that remember where they stand.

A token that a macro's body contributes points at the use of the macro when the use lies inside a function, and at its
own line of the definition when whole functions are written by the macro: the reader wants to see the statement that
they wrote. Arguments keep their own place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from gpusafe.parse.cuda.lex import Kind, Token, tokenize
from gpusafe.span import Span

MAX_TOKENS = 1_500_000


class TooManyTokens(Exception):
    """Expansion does not stay within bounds (macros that double each other)."""


@dataclass(frozen=True, slots=True)
class Macro:
    """A macro; ``params`` is None for an object-like one. A variadic one ends in ``__VA_ARGS__`` or a named pack."""

    name: str
    params: tuple[str, ...] | None
    body: tuple[Token, ...]
    variadic: bool = False


@dataclass(slots=True)
class Expander:
    """Expands runs of tokens; ``depth`` counts the braces of functions that are open across runs."""

    macros: Mapping[str, Macro]
    depth: int = 0
    produced: int = 0

    def expand(self, tokens: Iterable[Token], *, track: bool = False) -> list[Token]:
        """The tokens with all macros replaced. ``track`` keeps account of function bodies (main text only)."""
        work = list(tokens)
        work.reverse()
        out: list[Token] = []
        opened: list[bool] = []
        while work:
            token = work.pop()
            if token.kind is Kind.IDENT and token.text in self.macros and token.text not in token.hidden:
                replaced = self._use(token, self.macros[token.text], work)
                if replaced is not None:
                    self._count(len(replaced))
                    work.extend(reversed(replaced))
                    continue
            self._count(1)
            if track:
                self._braces(token, out, opened)
            out.append(token)
        return out

    def _count(self, tokens: int) -> None:
        self.produced += tokens
        if self.produced > MAX_TOKENS:
            raise TooManyTokens

    def _braces(self, token: Token, before: list[Token], opened: list[bool]) -> None:
        if token.text == "{":
            plain = self.depth > 0 or not _opens_scope(before)
            opened.append(plain)
            self.depth += plain
        elif token.text == "}":
            self.depth -= opened.pop() if opened else self.depth > 0

    def _use(self, token: Token, macro: Macro, work: list[Token]) -> list[Token] | None:
        """The replacement of one use (arguments are taken off ``work``), or None when it is not a use."""
        inside = self.depth > 0
        if macro.params is None:
            return self._substitute(token, macro, {}, {}, token.place if inside else None)
        if not work or work[-1].text != "(":
            return None
        arguments, used = _arguments(work)
        if arguments is None:
            return None
        place = token.place.to(work[-used].place) if inside else None
        del work[-used:]
        bound = _bind(macro, arguments)
        if bound is None:
            return None
        expanded = {name: self.expand(argument) for name, argument in bound.items()}
        return self._substitute(token, macro, bound, expanded, place)

    def _substitute(
        self,
        use: Token,
        macro: Macro,
        raw: Mapping[str, list[Token]],
        expanded: Mapping[str, list[Token]],
        place: Span | None,
    ) -> list[Token]:
        hidden = use.hidden | {macro.name}
        out: list[Token] = []
        body = macro.body
        at = 0
        while at < len(body):
            token = body[at]
            if token.text == "#" and at + 1 < len(body) and body[at + 1].text in raw:
                out.append(_stringize(raw[body[at + 1].text], place or token.place))
                at += 2
                continue
            if token.text == "##" and out and at + 1 < len(body):
                following = body[at + 1]
                pieces = raw.get(following.text, [following])
                _paste(out, pieces, place, hidden)
                at += 2
                continue
            pasted_next = at + 1 < len(body) and body[at + 1].text == "##"
            if token.text in raw:
                pieces = raw[token.text] if pasted_next else expanded[token.text]
                if not pieces and pasted_next:  # nothing ## x: x alone
                    at += 2
                    continue
                for index, piece in enumerate(pieces):
                    spaced = token.spaced if index == 0 else piece.spaced
                    held = piece.hidden | hidden if piece.hidden else hidden
                    out.append(Token(piece.kind, piece.text, piece.place, piece.first, spaced or index == 0, held))
            else:
                out.append(Token(token.kind, token.text, place or token.place, False, True, hidden))
            at += 1
        if out:
            out[0] = replace(out[0], spaced=True)
        return out


def _opens_scope(before: list[Token]) -> bool:
    """Whether the brace after these tokens opens a namespace or ``extern "C"``, not a function or a type."""
    if before and before[-1].kind is Kind.STRING:
        return True
    for token in reversed(before[-6:]):
        if token.text == "namespace":
            return True
        if token.text in (";", "}", "{", ")"):
            return False
    return False


def _arguments(work: list[Token]) -> tuple[list[list[Token]] | None, int]:
    """The arguments of a call whose ``(`` is on top of the stack, and how many tokens they take (with parentheses)."""
    arguments: list[list[Token]] = [[]]
    depth = 0
    for used, index in enumerate(range(len(work) - 1, -1, -1), start=1):
        token = work[index]
        if token.text in "([{" and token.kind is Kind.PUNCT:
            depth += 1
            if depth == 1:
                continue
        elif token.text in ")]}" and token.kind is Kind.PUNCT:
            depth -= 1
            if depth == 0:
                return arguments, used
        elif token.text == "," and depth == 1:
            arguments.append([])
            continue
        arguments[-1].append(token)
    return None, 0


def _bind(macro: Macro, arguments: list[list[Token]]) -> dict[str, list[Token]] | None:
    params = macro.params or ()
    if not params:
        return {} if arguments == [[]] else None
    if macro.variadic:
        fixed = len(params) - 1
        if len(arguments) < fixed:
            return None
        rest: list[Token] = []
        for index, argument in enumerate(arguments[fixed:]):
            if index:
                rest.append(
                    Token(Kind.PUNCT, ",", argument[0].place if argument else rest[-1].place if rest else _NOWHERE)
                )
            rest.extend(argument)
        return dict(zip(params, [*arguments[:fixed], rest], strict=True))
    if len(arguments) != len(params):
        return None
    return dict(zip(params, arguments, strict=True))


_NOWHERE = Span("", 1, 1, 1, 1)


def _stringize(tokens: list[Token], place: Span) -> Token:
    text = "".join((" " if t.spaced and i else "") + t.text for i, t in enumerate(tokens))
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return Token(Kind.STRING, f'"{escaped}"', place, spaced=True)


def _paste(out: list[Token], pieces: list[Token], place: Span | None, hidden: frozenset[str]) -> None:
    if not pieces:
        return
    left = out.pop()
    if left.text == "," and len(pieces) >= 1 and pieces[0].kind is not Kind.PUNCT:  # GNU: `, ## __VA_ARGS__`
        out.append(left)
        out.extend(replace(p, hidden=p.hidden | hidden, spaced=True) for p in pieces)
        return
    made = tokenize(left.place.file, left.text + pieces[0].text)
    where = place or left.place
    out.extend(
        replace(t, place=where, hidden=left.hidden | hidden, first=False, spaced=i == 0) for i, t in enumerate(made)
    )
    out.extend(replace(p, hidden=p.hidden | hidden) for p in pieces[1:])
