"""Lint levels, as rustc has them: for all files, and for those under some paths."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

LEVELS = ("allow", "warn", "deny", "forbid")
"""From quiet to strict; ``forbid`` cannot be taken back, neither by what follows nor by a directive."""

_RULE = re.compile(r"[A-Za-z][\w-]*\Z")


@dataclass(frozen=True, slots=True)
class Lint:
    """``rule`` (a code, a name, a prefix such as ``GS1``, ``all`` or ``warnings``) at ``level``; ``origin``: the flag
    or the file that says so."""

    rule: str
    level: str
    origin: str

    @property
    def from_command_line(self) -> bool:
        """Whether a flag sets it, which goes before what files say."""
        return self.origin.startswith("-")


@dataclass(frozen=True, slots=True)
class PathSettings:
    """What holds for the files that ``pattern`` names below ``folder`` (relative to the working folder)."""

    folder: str
    pattern: str
    lints: tuple[Lint, ...]

    def covers(self, file: str) -> bool:
        """Whether ``file`` (relative to the working folder, or absolute), or a folder above it, matches."""
        inside = os.path.relpath(os.path.abspath(file), os.path.abspath(self.folder)).replace(os.sep, "/")
        parts = inside.split("/")
        if parts[0] == "..":
            return False
        regex = _regex(self.pattern)
        return any(regex.fullmatch("/".join(parts[:count])) for count in range(1, len(parts) + 1))


def _regex(pattern: str) -> re.Pattern[str]:
    """``*`` and ``?`` stay within a name, ``**`` does not; ``**/`` may be nothing."""
    out = ""
    for token in re.findall(r"\*\*/|\*\*|\*|\?|[^*?]+", pattern.strip("/").removeprefix("./")):
        out += {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(token) or re.escape(token)
    return re.compile(out)


def read_lints(value: Any, where: str) -> tuple[Lint, ...]:
    """A table of rules and levels; raises ValueError. Wide patterns come first, so that narrow ones prevail."""
    if not isinstance(value, Mapping):
        raise ValueError('must be a table such as { stream-race = "deny" }')
    found = []
    for rule, level in value.items():
        if not _RULE.match(rule):
            raise ValueError(f"`{rule}` is no rule")
        if level not in LEVELS:
            raise ValueError(f"the level of `{rule}` must be one of {', '.join(LEVELS)}, not {level!r}")
        found.append(Lint(rule, level, where))
    return tuple(sorted(found, key=lambda lint: _width(lint.rule)))


def _width(rule: str) -> int:
    if rule in ("all", "warnings"):
        return 0
    return len(rule) if re.fullmatch(r"(?i)gs\d{0,2}", rule) else 9


def read_paths(value: Any, where: str) -> tuple[PathSettings, ...]:
    """A table from path patterns to ``lints`` and ``ignore``; raises ValueError."""
    if not isinstance(value, Mapping):
        raise ValueError('must be a table such as { "benches/**" = { ignore = ["GS101"] } }')
    folder = os.path.dirname(where.partition(" [")[0]) or "."
    return tuple(_read_path(pattern, table, folder, where) for pattern, table in value.items())


def _read_path(pattern: str, table: Any, folder: str, where: str) -> PathSettings:
    if not isinstance(table, Mapping) or not pattern.strip("/"):
        raise ValueError(f'`{pattern}` must be a path with a table such as {{ ignore = ["GS101"] }}')
    unknown = [key for key in table if key not in ("lints", "ignore")]
    if unknown:
        raise ValueError(f"unknown key `{unknown[0]}` for `{pattern}` (known: ignore, lints)")
    ignored = _words(table.get("ignore", []), pattern)
    allowed = read_lints(dict.fromkeys(ignored, "allow"), where)
    return PathSettings(folder, pattern, (*allowed, *read_lints(table.get("lints", {}), where)))


def _words(value: Any, pattern: str) -> Iterable[str]:
    words = [value] if isinstance(value, str) else value
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ValueError(f"`ignore` of `{pattern}` must be a list of rules")
    return words
