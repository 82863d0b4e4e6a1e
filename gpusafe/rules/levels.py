"""Lint levels against findings: which rules are told, as what, and which of them end a run with status 1."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from gpusafe.config import Lint, Options
from gpusafe.errors import UsageError
from gpusafe.results import Finding, Level
from gpusafe.rules.catalogue import find, matching, reported

WARNINGS = "warnings"
"""The group of all that is told as a warning, as in rustc."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What ``--select``, ``--ignore`` and the levels come to for one file: the codes that are told, the level that was
    set for each (and for the group of warnings)."""

    wanted: frozenset[str]
    levels: dict[str, Lint]
    warnings: Lint | None = None

    def told(self, finding: Finding) -> Finding | None:
        """The finding as it is to be told, None when it is not.

        ``deny`` makes no error of what is none, as an error is a replayed counterexample: it makes the run fail.
        """
        if finding.rule not in self.wanted:
            return None
        lint = self.levels.get(finding.rule)
        level = finding.level
        if lint is not None and lint.level == "warn":
            level = Level.WARNING
        if level is Level.WARNING and self.warnings is not None and (lint is None or lint.level == "warn"):
            lint = self.warnings
            if lint.level == "allow":
                return None
        if lint is None or lint.level not in ("deny", "forbid"):
            return finding if level is finding.level else replace(finding, level=level)
        if level is Level.ERROR:
            return replace(finding, denied=True)
        note = f"the run fails because of `{lint.origin} {lint.rule}`" if lint.from_command_line else _by_file(lint)
        return replace(finding, level=Level.WARNING, denied=True, notes=(*finding.notes, note))

    def forbids(self, rule: str) -> bool:
        """Whether no directive may accept findings of the rule."""
        lint = self.levels.get(rule)
        return lint is not None and lint.level == "forbid"


def _by_file(lint: Lint) -> str:
    return f'the run fails because of `{lint.rule} = "{lint.level}"` in {lint.origin}'


def policy(select: Iterable[str], ignore: Iterable[str], lints: Iterable[Lint]) -> Policy:
    """``--select`` and ``--ignore`` first, then each level in its order.

    Raises UsageError for a rule that there is not, and for a level that would take back a ``forbid``.
    """
    wanted = set(reported(select, ignore))
    levels: dict[str, Lint] = {}
    warnings: Lint | None = None
    for lint in lints:
        if lint.rule == WARNINGS:
            warnings = lint
            continue
        for code in _codes(lint):
            held = levels.get(code)
            if held is not None and held.level == "forbid" and lint.level != "forbid":
                raise UsageError(_conflict(code, held, lint))
            levels[code] = lint
            if lint.level == "allow":
                wanted.discard(code)
            else:
                wanted.add(code)
    return Policy(frozenset(wanted), levels, warnings)


def _codes(lint: Lint) -> Iterable[str]:
    found = matching(lint.rule)
    if not found:
        find(lint.rule)  # raises, with the nearest names
    return sorted(found)


def _conflict(code: str, held: Lint, lint: Lint) -> str:
    return f"{code} is forbidden by {held.origin}, so that `{lint.level}` ({lint.origin}) has no effect"


@dataclass(frozen=True, slots=True)
class Policies:
    """The policy of each file: what holds everywhere, what holds under its path, and last what flags say."""

    options: Options
    _known: dict[tuple[Lint, ...], Policy] = field(default_factory=dict)

    def of(self, file: str) -> Policy:
        """The policy for a file by its path."""
        here = tuple(lint for entry in self.options.per_path if entry.covers(file) for lint in entry.lints)
        return self.under(here)

    def under(self, lints: tuple[Lint, ...]) -> Policy:
        """The policy where a path adds ``lints``."""
        if lints not in self._known:
            everywhere = self.options.lints
            files = [lint for lint in everywhere if not lint.from_command_line]
            flags = [lint for lint in everywhere if lint.from_command_line]
            self._known[lints] = policy(self.options.select, self.options.ignore, (*files, *lints, *flags))
        return self._known[lints]

    def forbids(self, finding: Finding) -> bool:
        """Whether no directive may accept the finding."""
        return self.of(finding.primary.span.file).forbids(finding.rule)

    def told(self, finding: Finding) -> Finding | None:
        """The finding as it is to be told."""
        return self.of(finding.primary.span.file).told(finding)


def mentioned(options: Options) -> frozenset[str]:
    """The codes that are told of some file."""
    everywhere = policy(options.select, options.ignore, options.lints).wanted
    return everywhere.union(*(policy((), ("all",), entry.lints).wanted for entry in options.per_path))


def validate(options: Options) -> None:
    """Raises UsageError for what ``Policies`` could not be made of."""
    mentioned(options)
    policies = Policies(options)
    for entry in options.per_path:
        policies.under(entry.lints)
