"""Rules of other packages: what they are given, what they return, and what they may not do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from gpusafe import entry_points
from gpusafe.results import Finding, Level
from gpusafe.rules.rule import Rule
from gpusafe.verdict import Unit

if TYPE_CHECKING:  # the catalogue is read by commands that look at no program
    from gpusafe.ir.host import HostProgram
    from gpusafe.ir.kernel import Kernel

_CODE = re.compile(r"[A-Z]{2,8}\d{1,4}\Z")


@dataclass(frozen=True, slots=True)
class Facts:
    """What a run knows: the kernels and host paths that were read, the units with their verdicts, and the text of each
    file by its path."""

    kernels: tuple[Kernel, ...]
    program: HostProgram
    units: tuple[Unit, ...]
    sources: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class PackageRule:
    """A rule with what finds its faults.

    The code is letters and digits and does not begin with ``GS``. What ``check`` returns is told as a warning at most:
    an error is a replayed counterexample. A finding whose rule is another one is left out.
    """

    rule: Rule
    check: Callable[[Facts], Iterable[Finding]]


@cache
def package_rules() -> tuple[dict[str, PackageRule], tuple[str, ...]]:
    """The rules of installed packages by code, and a notice for each that cannot be used."""
    found: dict[str, PackageRule] = {}
    notices: list[str] = []
    for name, value in entry_points.declared(entry_points.RULES):
        try:
            loaded = entry_points.load(value)
        except Exception as problem:
            notices.append(f"rule `{name}` cannot be loaded from {value}: {type(problem).__name__}: {problem}")
            continue
        wrong = _wrong(loaded, found)
        if wrong is not None:
            notices.append(f"rule `{name}` of {value} is left out: {wrong}")
        else:
            found[loaded.rule.code] = loaded
    return found, tuple(notices)


def _wrong(loaded: object, found: Mapping[str, PackageRule]) -> str | None:
    if not isinstance(loaded, PackageRule):
        return f"it is no PackageRule but {type(loaded).__name__}"
    code = loaded.rule.code
    if not _CODE.match(code) or code.startswith("GS"):
        return f"its code is `{code}`, not letters other than GS and digits, such as ACME101"
    return f"there is another rule {code}" if code in found else None


def package_findings(facts: Facts) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    """What the rules of installed packages find, and a notice for each of them that fails."""
    rules, notices = package_rules()
    findings: list[Finding] = []
    failed = list(notices)
    for code, package_rule in rules.items():
        try:
            found = [f for f in package_rule.check(facts) if f.rule == code]
        except Exception as problem:
            failed.append(f"rule {code} failed: {type(problem).__name__}: {problem}")
            continue
        findings += [replace(f, level=Level.WARNING) if f.level is Level.ERROR else f for f in found]
    return tuple(findings), tuple(failed)
