"""Directives against findings: what is accepted, what a directive accepts for nothing, what cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from gpusafe.parse.directives import Allow, Directives, Problem, read
from gpusafe.results import Finding, Fix, Suppressed
from gpusafe.rules.catalogue import RULES, code_of
from gpusafe.span import Span
from gpusafe.verdict import Site

_NEVER = frozenset({"GS905", "GS906"})


def apply_directives(
    findings: Iterable[Finding],
    sources: Mapping[str, str],
    forbids: Callable[[Finding], bool] = lambda _: False,
) -> tuple[tuple[Finding, ...], tuple[Suppressed, ...]]:
    """The findings that remain (with GS905 and GS906 for the directives themselves), and those accepted.

    ``forbids`` says which findings no directive may accept.
    """
    directives = {file: read(file, text) for file, text in sources.items() if "gpusafe" in text}
    allows = [(allow, code) for d in directives.values() for allow in d.allows for code in _codes(allow)]
    used: set[tuple[Span, str]] = set()
    kept: list[Finding] = []
    suppressed: list[Suppressed] = []
    for finding in findings:
        allow = next((a for a, code in allows if code == finding.rule and _touches(a, finding)), None)
        if allow is None or finding.rule in _NEVER:
            kept.append(finding)
            continue
        used.add((allow.span, finding.rule))
        if forbids(finding):
            kept += [finding, *directive_findings([_forbidden(allow, finding.rule)])]
        else:
            suppressed.append(Suppressed(finding, allow.reason, allow.span))
    kept += [
        _unused(allow, code, sources.get(allow.span.file, ""))
        for allow, code in allows
        if (allow.span, code) not in used and not allow.quiet
    ]
    kept += [problem for d in directives.values() for problem in _problems(d)]
    return tuple(kept), tuple(suppressed)


def _codes(allow: Allow) -> list[str]:
    return [code for rule in allow.rules if (code := code_of(rule)) is not None]


def _touches(allow: Allow, finding: Finding) -> bool:
    """Whether one side of the finding begins in the lines that the directive covers."""
    return any(
        site.span.file == allow.covers.file and allow.covers.line <= site.span.line <= allow.covers.end_line
        for site in (finding.primary, *finding.related)
    )


def _unused(allow: Allow, code: str, source: str) -> Finding:
    rule = RULES["GS905"]
    message = f"`{allow.verb}({code})` {'is not met' if allow.verb == 'expect' else 'suppresses nothing'}"
    place = Site(allow.span, "no finding of this rule here")
    fixes = _removal(allow.span, source) if len(allow.rules) == 1 else ()
    return Finding("GS905", rule.level, message, place, help=rule.help, fixes=fixes)


def _forbidden(allow: Allow, code: str) -> Problem:
    return Problem(allow.span, f"`{allow.verb}({code})` has no effect: a lint level forbids to accept {code}")


def _removal(span: Span, source: str) -> tuple[Fix, ...]:
    """The edit that takes a comment out, with its line where nothing else stands on it; none for attributes."""
    lines = source.split("\n")
    if span.line != span.end_line or span.line > len(lines):
        return ()
    line = lines[span.line - 1].rstrip("\r")
    if not line[span.col - 1 :].startswith("//") or line[span.end_col - 1 :].strip():
        return ()
    if line[: span.col - 1].strip():
        end = len(line[: span.col - 1].rstrip()) + 1
        return (Fix("remove the directive", Span(span.file, span.line, end, span.line, len(line) + 1), ""),)
    return (Fix("remove the directive", Span(span.file, span.line, 1, span.line + 1, 1), ""),)


def _problems(directives: Directives) -> list[Finding]:
    unknown = [
        Problem(allow.span, f"there is no rule `{name}`")
        for allow in directives.allows
        for name in allow.rules
        if code_of(name) is None and not allow.quiet
    ]
    return [*directive_findings(directives.problems), *directive_findings(unknown)]


def directive_findings(problems: Iterable[Problem]) -> tuple[Finding, ...]:
    """GS906 for each directive that cannot be read or has no effect."""
    rule = RULES["GS906"]
    return tuple(
        Finding("GS906", rule.level, problem.message, Site(problem.span, "no effect"), help=rule.help)
        for problem in problems
    )
