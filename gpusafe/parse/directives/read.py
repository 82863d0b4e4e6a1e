"""Find the directives of a file and read them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from gpusafe.parse.directives.expr import DirectiveError, parse_expr
from gpusafe.parse.directives.extent import closing, enclosing, next_code, statement_end
from gpusafe.parse.directives.model import Allow, Contract, Directives, Problem
from gpusafe.parse.directives.source import Source, scan
from gpusafe.span import Span

_COMMENT = re.compile(r"(?://|/\*)\s*gpusafe\s*:\s*(?P<body>.*?)\s*(?:\*/)?\s*\Z", re.DOTALL)
_CALL = re.compile(r"(?P<verb>\w+)\s*\(")
_CFG_ATTR = re.compile(r"#\s*(?P<inner>!?)\s*\[\s*cfg_attr\s*\(")
_TOOL = re.compile(r"\s*gpusafe\s*::\s*")
_REASON = re.compile(r'reason\s*=\s*"(?P<text>(?:\\.|[^"\\])*)"\s*\Z', re.DOTALL)
_CODE = re.compile(r"[A-Za-z][\w-]*\Z")
_VERBS = ("allow", "expect", "requires", "assume")
_ACCEPTING = ("allow", "expect")


@dataclass(slots=True)
class _Found:
    """What has been found so far; does not leave this module."""

    allows: list[Allow] = field(default_factory=list)
    contracts: list[Contract] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def read(file: str, text: str) -> Directives:
    """All directives of a Rust or CUDA file, those in CUDA source strings of a Rust file included."""
    if "gpusafe" not in text:
        return Directives()
    found = _Found()
    cuda = not file.endswith(".rs")
    source = scan(file, text)
    _comments(source, found, cuda=cuda, quiet=False)
    if not cuda:
        _attributes(source, found)
        for start, end in source.strings:
            if "gpusafe" in text[start:end] and "\n" in text[start:end]:
                _comments(_inside(source, start, end), found, cuda=True, quiet=True)
    return Directives(tuple(found.allows), tuple(found.contracts), tuple(found.problems))


def _inside(source: Source, start: int, end: int) -> Source:
    """The inside of a string as a file of its own, at its place in the outer file."""
    blank = re.sub(r"[^\n]", " ", source.text[:start])
    return scan(source.file, blank + source.text[start:end])


def _comments(source: Source, found: _Found, *, cuda: bool, quiet: bool) -> None:
    for start, end in source.comments:
        match = _COMMENT.match(source.text[start:end])
        if match is None:
            continue
        span = source.span(start, end)
        line_start, line_end = source.line_of(start)
        if source.code[line_start:start].strip():
            covers: Span | None = source.span(line_start, line_end)
        else:
            covers = _next(source, end, cuda=cuda)
        _directive(match["body"], span, covers, found, quiet=quiet)


def _next(source: Source, at: int, *, cuda: bool) -> Span | None:
    start = next_code(source.code, at)
    if start >= len(source.code) or source.code[start] in ")]}":
        return None
    return source.span(start, statement_end(source.code, start, cuda=cuda))


def _attributes(source: Source, found: _Found) -> None:
    for match in _CFG_ATTR.finditer(source.code):
        open_ = match.end() - 1
        close = closing(source.code, open_)
        behind = min(closing(source.code, source.code.index("[", match.start())) + 1, len(source.code))
        span = source.span(match.start(), behind)
        for start, end in _split(source.code, open_ + 1, close):
            tool = _TOOL.match(source.code, start, end)
            if tool is None:
                continue
            if match["inner"]:
                covers: Span | None = source.span(*enclosing(source.code, match.start()))
            else:
                covers = _next(source, behind, cuda=False)
            _directive(source.text[tool.end() : end].strip(), span, covers, found, quiet=False)


def _split(code: str, start: int, end: int) -> list[tuple[int, int]]:
    """The pieces between the commas of one bracket level."""
    pieces: list[tuple[int, int]] = []
    depth = 0
    first = start
    for at in range(start, end):
        char = code[at]
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and depth == 0:
            pieces.append((first, at))
            first = at + 1
    if code[first:end].strip():
        pieces.append((first, end))
    return pieces


def _directive(body: str, span: Span, covers: Span | None, found: _Found, *, quiet: bool) -> None:
    try:
        _read_one(body, span, covers, found, quiet=quiet)
    except DirectiveError as problem:
        if not quiet:
            found.problems.append(Problem(span, str(problem)))


def _read_one(body: str, span: Span, covers: Span | None, found: _Found, *, quiet: bool) -> None:
    call = _CALL.match(body)
    if call is None:
        raise DirectiveError(f"expected {', '.join(f'`{verb}(..)`' for verb in _VERBS)}")
    verb = call["verb"]
    if verb not in _VERBS:
        raise DirectiveError(f"there is no directive `{verb}` (there are {', '.join(_VERBS[:-1])} and {_VERBS[-1]})")
    code = scan("", body).code
    close = closing(code, call.end() - 1)
    if code[close : close + 1] != ")":
        raise DirectiveError("the closing parenthesis is missing")
    pieces = [body[start:end].strip() for start, end in _split(code, call.end(), close)]
    rest = body[close + 1 :].strip()
    if rest and not rest.startswith(":"):
        raise DirectiveError("a reason follows behind a colon, as in `allow(GS101): reason`")
    if covers is None:
        raise DirectiveError("no statement or item follows that it could apply to")
    reason = rest[1:].strip()
    if pieces and (given := _REASON.match(pieces[-1])):
        reason = given["text"]
        pieces.pop()
    if not pieces:
        raise DirectiveError(f"`{verb}()` names nothing")
    if verb in _ACCEPTING:
        if not reason:
            raise DirectiveError(f"an `{verb}` needs its reason, as in `{verb}(GS101): reason`")
        found.allows.append(Allow(span, covers, _rules(pieces), reason, quiet, verb))
    else:
        found.contracts += [Contract(span, covers, verb, parse_expr(piece), piece) for piece in pieces]


def _rules(names: list[str]) -> tuple[str, ...]:
    for name in names:
        if not _CODE.match(name):
            raise DirectiveError(f"`{name}` is no rule")
    return tuple(names)
