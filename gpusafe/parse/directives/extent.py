"""Which statement or item follows a place, found by its brackets alone."""

from __future__ import annotations

import re

_ATTRIBUTE = re.compile(r"#\s*!?\s*\[")
_BLOCK_START = re.compile(
    r"""(?:pub\s*(?:\([^)]*\)\s*)?|default\s+|unsafe\s+|async\s+|const\s+(?=fn|unsafe|async|extern|\{)|safe\s+
          |extern\s*(?:"[^"]*")?\s*|'\w+\s*:\s*)*
        (?:fn|impl|mod|trait|struct|enum|union|if|while|for|loop|match|macro_rules)\b
        |(?:unsafe|const|async|async\s+move)?\s*\{
        |(?:extern\s*"[^"]*"\s*)\{""",
    re.VERBOSE,
)
_DECLARES = re.compile(r"(?:pub\b[^;]{0,20}?\s)?(?:let|static|const|type|use|return)\b")  # generics may hold commas
_BRACKET = re.compile(r"[()\[\]{};,]")
_CONTINUES = re.compile(r"\s*(?:else\b|\.|\?|while\b)")
_OPEN = frozenset("([{")


def next_code(code: str, at: int) -> int:
    """The first character of code at or after ``at`` that is no attribute; the length of ``code`` if there is none."""
    while True:
        while at < len(code) and code[at].isspace():
            at += 1
        match = _ATTRIBUTE.match(code, at)
        if match is None:
            return at
        at = min(closing(code, match.end() - 1) + 1, len(code))


def closing(code: str, at: int) -> int:
    """The offset of the bracket that closes the one at ``at``; the length of ``code`` when none does."""
    depth = 0
    for match in _BRACKET.finditer(code, at):
        char = match[0]
        if char in _OPEN:
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth == 0:
                return match.start()
    return len(code)


def statement_end(code: str, start: int, *, cuda: bool) -> int:
    """The offset behind the statement or item that starts at ``start``.

    It ends with a ``;`` or ``,``, with the ``}`` of a block for what is made of blocks, or before the bracket that
    closes what it stands in.
    """
    blocks = cuda or _BLOCK_START.match(code, start) is not None
    commas = not blocks and _DECLARES.match(code, start) is None
    depth = 0
    brace_ends = False
    for match in _BRACKET.finditer(code, start):
        char, at = match[0], match.start()
        if char in _OPEN:
            if char == "{" and depth == 0:
                brace_ends = blocks and not (cuda and _initialiser(code, at))
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth < 0:
                return len(code[:at].rstrip())
            if depth == 0 and char == "}" and brace_ends and not _CONTINUES.match(code, at + 1):
                return at + 1
        elif depth == 0 and (char == ";" or (char == "," and commas)):
            return at + 1
    return len(code.rstrip())


def _initialiser(code: str, brace: int) -> bool:
    before = code[max(0, brace - 200) : brace].rstrip()
    return before.endswith(("=", ",", "(", "return"))


def enclosing(code: str, at: int) -> tuple[int, int]:
    """The block that holds ``at``, as offsets; the whole file outside of all blocks."""
    depth = 0
    for place in range(at - 1, -1, -1):
        char = code[place]
        if char == "}":
            depth += 1
        elif char == "{":
            if depth == 0:
                return place, min(closing(code, place) + 1, len(code))
            depth -= 1
    return 0, len(code)
