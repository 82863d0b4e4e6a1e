"""CUDA C inside Rust files: string literals that contain a kernel, with the place of every line of their text.

Escapes are replaced by text of the same width, so that columns stay what the user sees.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

KERNEL_WORD = "__global__"
_PIECE = re.compile(
    r"""
      (?P<comment>//[^\n]*|/\*)
    | (?P<raw>\b(?:br|cr|r)(?P<hashes>\#*)".*?"(?P=hashes))
    | (?P<text>(?:\b[bc])?"(?:[^"\\]|\\.)*")
    | (?P<char>b?'(?:[^'\\\n]|\\(?:x..|u\{[^}]*\}|.))')
    """,
    re.VERBOSE | re.DOTALL,
)
_BLOCK_EDGE = re.compile(r"/\*|\*/")
_NAME = re.compile(r"\b(?:const|static(?:\s+mut)?|let(?:\s+mut)?)\s+(\w+)\b[^;]*\Z", re.DOTALL)
_FORMAT = re.compile(r"\b(?:format|format_args|write|writeln|print|println|formatdoc)!\s*[(\[{][^\"]*\Z", re.DOTALL)
_LOOK_BACK = 400


@dataclass(frozen=True, slots=True)
class Literal:
    """The C text of one literal; ``line_starts`` gives line and column in the file of each line of the text."""

    text: str
    line: int
    col: int
    name: str
    line_starts: tuple[tuple[int, int], ...]


def kernel_literals(text: str) -> Iterator[Literal]:
    """All string literals of a Rust file that contain a kernel, in order; comments are skipped."""
    at = 0
    while (match := _PIECE.search(text, at)) is not None:
        if match.group() == "/*":
            at = _after_block_comment(text, match.end())
            continue
        at = match.end()
        if KERNEL_WORD in match.group() and match.lastgroup != "comment":
            yield _literal(text, match)


def _after_block_comment(text: str, at: int) -> int:
    depth = 1
    while depth:
        edge = _BLOCK_EDGE.search(text, at)
        if edge is None:
            return len(text)
        depth += 1 if edge.group() == "/*" else -1
        at = edge.end()
    return at


def _literal(text: str, match: re.Match[str]) -> Literal:
    whole = match.group()
    start = whole.index('"') + 1
    raw = match.group("raw") is not None
    end = len(whole) - 1 - len(match.group("hashes") or "")
    begin = match.start() + start
    before = text[max(0, match.start() - _LOOK_BACK) : match.start()]
    body = whole[start:end]
    breaks: list[int] = []
    if not raw:
        body, breaks = _unescaped(body)
    if _FORMAT.search(before):
        body = _filled(body)
    line = text.count("\n", 0, begin) + 1
    col = begin - (text.rfind("\n", 0, begin) + 1) + 1
    named = _NAME.search(before)
    name = named.group(1) if named is not None else f"the string at line {line}"
    return Literal(body, line, col, name, _starts(body, line, col, frozenset(breaks)))


_CONTINUED = re.compile(r"(?:\\n)?\\\r?\n|\\(x[0-9a-fA-F]{2}|u\{[0-9a-fA-F_]*\}|.)", re.DOTALL)


def _unescaped(body: str) -> tuple[str, list[int]]:
    """The text with escapes replaced by as many characters; the offsets of newlines that are not in the source."""
    out: list[str] = []
    breaks: list[int] = []
    at = size = 0
    for match in _CONTINUED.finditer(body):
        out.append(body[at : match.start()])
        size += match.start() - at
        code, width = match.group(1), match.end() - match.start()
        if code is None:  # the source line ends here; `\n\` ends the line of the text as well
            ends = match.group().startswith("\\n")
            made = (" " * (width - 1) + "\n") if ends else (" " * (width - 2) + "\\\n")
        elif code == "n":
            made = " \n"
            breaks.append(size + 1)
        else:
            made = _character(code).rjust(width)
        out.append(made)
        size += width
        at = match.end()
    out.append(body[at:])
    return "".join(out), breaks


def _character(code: str) -> str:
    if code in ("t", "r", "0"):
        return " "
    if code[0] in "xu" and len(code) > 1:
        digits = code[1:].strip("{}").replace("_", "")
        value = int(digits, 16) if digits else 32
        return chr(value) if value <= 0x10FFFF and chr(value).isprintable() else " "
    return code


def _filled(body: str) -> str:
    """A format string: doubled braces become single ones, holes become names that nothing declares."""

    def one(match: re.Match[str]) -> str:
        word = match.group()
        if word in ("{{", "}}"):
            return f"{word[0]} "
        name = re.match(r"\w+", word[1:-1])
        held = name.group() if name is not None and not name.group()[0].isdigit() else "_"
        return held.ljust(len(word))

    return re.sub(r"\{\{|\}\}|\{[^{}\n]*\}", one, body)


def _starts(body: str, line: int, col: int, added: frozenset[int]) -> tuple[tuple[int, int], ...]:
    """Where each line of the text starts in the file."""
    out = [(line, col)]
    begin = 0
    while (newline := body.find("\n", begin)) >= 0:
        here_line, here_col = out[-1]
        if newline in added:
            out.append((here_line, here_col + newline + 1 - begin))
        else:
            out.append((here_line + 1, 1))
        begin = newline + 1
    return tuple(out)
