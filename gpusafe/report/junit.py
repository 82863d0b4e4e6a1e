"""JUnit XML: each kernel and host function a test case, each finding that no function stands for another."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

from gpusafe.config import Options
from gpusafe.report.place import from_top
from gpusafe.report.style import Style
from gpusafe.report.text import finding_text
from gpusafe.report.verdicts import explanation
from gpusafe.results import Finding, Level, Report
from gpusafe.verdict import Unit, Verdict

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(report: Report, options: Options, style: Style) -> str:
    """Proved is passed, refuted is failed, unknown is skipped with its reason (failed under ``--strict``)."""
    faults = [finding for finding in report.findings if finding.level is not Level.NOTE]
    told = {id(f) for unit in report.units for f in _of(unit, faults)}
    verdicts = [_unit(unit, faults, report, options) for unit in report.units]
    others = [_failed(f.rule, f.primary.span.file, [f], report) for f in faults if id(f) not in told]
    suites = [_suite("verdicts", verdicts), _suite("findings", others)]
    return '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="gpusafe">\n' + "".join(suites) + "</testsuites>\n"


def _suite(name: str, cases: list[str]) -> str:
    failures = sum("<failure" in case for case in cases)
    skipped = sum("<skipped" in case for case in cases)
    counts = f'tests="{len(cases)}" failures="{failures}" errors="0" skipped="{skipped}"'
    return f' <testsuite name="{name}" {counts}>\n{"".join(cases)} </testsuite>\n'


def _of(unit: Unit, faults: Iterable[Finding]) -> list[Finding]:
    """The findings that a unit's refutations made (perhaps found from another unit first)."""
    refuted = [(o.rule, o.counterexample.primary.span) for o in unit.obligations if o.counterexample is not None]
    sides = {(rule, span) for rule, span in refuted}
    return [f for f in faults if any((f.rule, s.span) in sides for s in (f.primary, *f.related))]


def _unit(unit: Unit, faults: list[Finding], report: Report, options: Options) -> str:
    name, file = f"{unit.kind} {unit.name}", unit.span.file
    match unit.verdict:
        case Verdict.PROVED:
            return _case(name, file, "", unit.seconds)
        case Verdict.UNKNOWN:
            tag = "failure" if options.strict else "skipped"
            return _case(name, file, f"<{tag} message={_attribute(explanation(unit))}/>", unit.seconds)
        case Verdict.REFUTED:
            found = _of(unit, faults)
            if found:
                return _failed(name, file, found, report, unit.seconds)
            return _case(name, file, '<skipped message="refuted, and accepted or not selected"/>', unit.seconds)


def _failed(name: str, file: str, found: list[Finding], report: Report, seconds: float = 0.0) -> str:
    text = "\n\n".join(finding_text(f, report.sources or {}, Style(width=120)) for f in found)
    message = "; ".join(f"{f.rule}: {f.message}" for f in found)
    inner = f'<failure type="{found[0].rule}" message={_attribute(message)}>{escape(_clean(text))}</failure>'
    return _case(name, file, inner, seconds)


def _case(name: str, file: str, inner: str, seconds: float) -> str:
    path = from_top(file)
    head = f"  <testcase classname={_attribute(path)} name={_attribute(name)} time={_attribute(f'{seconds:.3f}')}"
    return f"{head}>{inner}</testcase>\n" if inner else f"{head}/>\n"


def _attribute(text: str) -> str:
    return quoteattr(_clean(text))


def _clean(text: str) -> str:
    return _NOT_XML.sub("?", text)
