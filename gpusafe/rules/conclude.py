"""From obligations to findings: what is told at which level, once, and what the user's directives accept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gpusafe.config import Options
from gpusafe.results import FileRecord, FileStatus, Finding, Level, Suppressed
from gpusafe.rules.catalogue import RULES
from gpusafe.rules.levels import Policies
from gpusafe.rules.suppress import apply_directives
from gpusafe.rules.unproved import unproved
from gpusafe.span import Span
from gpusafe.verdict import Counterexample, Obligation, Site, Unit

_RANK = {Level.ERROR: 0, Level.WARNING: 1, Level.NOTE: 2}


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What to tell: the findings in order, those that directives accept, and how many errors and warnings were not
    asked for."""

    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...] = ()
    left_out: int = 0


def conclude(
    units: Iterable[Unit],
    files: Iterable[FileRecord],
    sources: Mapping[str, str],
    options: Options,
    warnings: Iterable[Finding] = (),
) -> Conclusion:
    """All findings of a run after directives, ``--select``, ``--ignore`` and lint levels.

    ``warnings`` are findings that no obligation stands behind; they are left out where an error tells the same place.
    """
    told = findings(units)
    errors = {site.span for f in told if f.level is Level.ERROR for site in (f.primary, *f.related)}
    quiet = [w for w in warnings if w.primary.span not in errors]
    everything = (*told, *quiet, *syntax_findings(files))
    policies = Policies(options)
    kept, suppressed = apply_directives(everything, sources, policies.forbids)
    asked = [(f, policies.told(f)) for f in kept]
    return Conclusion(
        tuple(sorted((shown for _, shown in asked if shown is not None), key=_order)),
        tuple(s for s in suppressed if policies.told(s.finding) is not None),
        sum(shown is None and f.level is not Level.NOTE for f, shown in asked),
    )


def findings(units: Iterable[Unit]) -> tuple[Finding, ...]:
    """One finding for each fault, and one note for each reason why a unit is not proved."""
    out: list[Finding] = []
    seen: set[object] = set()
    for unit in units:
        for obligation in unit.obligations:
            example = obligation.counterexample
            if example is None:
                continue
            key = _identity(obligation, example)
            if key not in seen:
                seen.add(key)
                out.append(_refuted(unit, obligation, example))
        out += unproved(unit)
    return tuple(out)


def syntax_findings(files: Iterable[FileRecord]) -> tuple[Finding, ...]:
    """GS903 for each file that does not (wholly) parse."""
    rule = RULES["GS903"]
    return tuple(
        Finding(
            "GS903",
            rule.level,
            record.detail or "this file does not parse",
            Site(record.span or Span(record.path, 1, 1, 1, 1), "does not parse from here"),
            help=rule.help,
        )
        for record in files
        if record.status is FileStatus.SYNTAX_ERROR
    )


def _refuted(unit: Unit, obligation: Obligation, example: Counterexample) -> Finding:
    rule = RULES[obligation.rule]
    return Finding(
        obligation.rule,
        rule.level,
        example.message,
        example.primary,
        example.related,
        example.notes,
        example.help or rule.help,
        unit.name,
    )


def _identity(obligation: Obligation, example: Counterexample) -> object:
    """The same places under the same rule are one fault, whichever side or unit it was found from."""
    return obligation.rule, frozenset((example.primary.span, *(site.span for site in example.related)))


def _order(finding: Finding) -> tuple[object, ...]:
    return _RANK[finding.level], finding.primary.span, finding.rule, finding.message
