"""Cargo.lock: which version of a package a dependency became."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_NAME = re.compile(r'^name = "([^"\n]*)"', re.MULTILINE)
_VERSION = re.compile(r'^version = "([^"\n]*)"', re.MULTILINE)
_EXACT = re.compile(r'^ "([^" \n]+) ([^" \n]+)[^"\n]*",', re.MULTILINE)
_NUMBERS = re.compile(r"(\d+)(?:\.(\d+|\*))?(?:\.(\d+|\*))?")


@dataclass(frozen=True, slots=True)
class Lock:
    """``versions``: all versions of a package; ``chosen``: for (package, dependency) the version, where it is named."""

    versions: dict[str, tuple[str, ...]]
    chosen: dict[tuple[str, str], str]

    def version(self, package: str, dependency: str, requirement: str) -> str | None:
        """The locked version of ``dependency`` as ``package`` sees it."""
        named = self.chosen.get((package, dependency))
        if named is not None:
            return named
        known = self.versions.get(dependency, ())
        fitting = [version for version in known if satisfies(version, requirement)] or known
        return max(fitting, key=_numbers, default=None)


def read_lock(path: Path) -> Lock | None:
    """The lock file at ``path``; None when there is none or it cannot be read.

    Cargo writes these files, always in one form, and they are long: lines are read instead of TOML.
    """
    try:
        content = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    versions: dict[str, tuple[str, ...]] = {}
    chosen: dict[tuple[str, str], str] = {}
    for block in content.split("[[package]]")[1:]:
        name, version = _NAME.search(block), _VERSION.search(block)
        if name is None or version is None:
            continue
        versions[name[1]] = (*versions.get(name[1], ()), version[1])
        for wanted in _EXACT.finditer(block):
            chosen[name[1], wanted[1]] = wanted[2]
    return Lock(versions, chosen)


def _numbers(version: str) -> tuple[int, int, int]:
    match = _NUMBERS.search(version)
    if match is None:
        return 0, 0, 0
    first, second, third = (int(part) if part and part.isdigit() and len(part) < 12 else 0 for part in match.groups())
    return first, second, third


def satisfies(version: str, requirement: str) -> bool:
    """Whether a version meets a requirement of Cargo.toml (caret, tilde, comparisons, wildcards)."""
    return all(_meets(_numbers(version), part.strip()) for part in requirement.split(",") if part.strip())


def _meets(version: tuple[int, int, int], part: str) -> bool:
    match = re.match(r"(\^|~|=|>=|<=|>|<)?\s*(.*)", part)
    if match is None or match[2] in ("", "*"):
        return True
    wanted, given = _numbers(match[2]), _NUMBERS.search(match[2])
    stated = len([part for part in given.groups() if part and part != "*"]) if given else 0
    match match[1]:
        case ">=":
            return version >= wanted
        case ">":
            return version > wanted
        case "<=":
            return version <= wanted
        case "<":
            return version < wanted
        case "=":
            return version[:stated] == wanted[:stated]
        case "~":
            return version >= wanted and version[: min(stated, 2)] == wanted[: min(stated, 2)]
        case _:
            fixed = next((i + 1 for i, number in enumerate(wanted[:stated]) if number), stated)
            return version >= wanted and version[:fixed] == wanted[:fixed]
