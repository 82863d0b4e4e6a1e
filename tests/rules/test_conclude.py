"""From obligations to what is told."""

from __future__ import annotations

from dataclasses import replace

from gpusafe.config import Options
from gpusafe.results import FileRecord, FileStatus, Finding, Level
from gpusafe.rules import RULES, conclude, findings
from gpusafe.span import Span
from gpusafe.verdict import Counterexample, Obligation, Site, Unit, Verdict


def at(line: int) -> Span:
    return Span("a.rs", line, 5, line, 9)


def refuted(rule: str, first: int, second: int, message: str = "a race", help: tuple[str, ...] = ()) -> Obligation:
    example = Counterexample(message, Site(at(first), "one side"), (Site(at(second), "the other"),), help=help)
    return Obligation(rule, "they are ordered", Verdict.REFUTED, at(first), counterexample=example)


def unknown(reason: str, line: int = 1, rule: str = "GS201", question: str = "no race") -> Obligation:
    return Obligation(rule, question, Verdict.UNKNOWN, at(line), reason)


def kernel(*obligations: Obligation, name: str = "k") -> Unit:
    return Unit("kernel", name, Span("a.rs", 1, 1, 90, 2), obligations)


def told(source: str, *units: Unit, options: Options | None = None) -> tuple[list[tuple[str, int]], list[str]]:
    """Rule and line of what is told, and the reasons of what is accepted."""
    conclusion = conclude(units, (), {"a.rs": source}, options or Options())
    return [(f.rule, f.primary.span.line) for f in conclusion.findings], [s.reason for s in conclusion.suppressed]


def test_a_refutation_is_an_error_with_the_rules_help() -> None:
    (finding,) = findings([kernel(refuted("GS201", 3, 4))])
    assert (finding.rule, finding.level, finding.help) == ("GS201", Level.ERROR, RULES["GS201"].help)
    assert finding.unit == "k"


def test_help_of_the_counterexample_is_better_than_that_of_the_rule() -> None:
    (finding,) = findings([kernel(refuted("GS201", 3, 4, help=("do this",)))])
    assert finding.help == ("do this",)


def test_one_fault_found_from_both_sides_or_in_two_units_is_told_once() -> None:
    one, other = refuted("GS201", 3, 4), refuted("GS201", 4, 3)
    assert len(findings([kernel(one, other), kernel(one, name="caller")])) == 1


def test_one_place_with_two_partners_is_two_faults() -> None:
    assert len(findings([kernel(refuted("GS201", 3, 4), refuted("GS201", 3, 5))])) == 2


def test_unknowns_with_one_reason_are_one_note() -> None:
    same = [unknown("a loop that is not modelled", line, question=f"question {line}") for line in range(1, 8)]
    notes = findings([kernel(*same, unknown("another reason"))])
    assert [(n.rule, n.level) for n in notes] == [("GS901", Level.NOTE)] * 2
    assert notes[0].message == "kernel `k` is neither proved nor refuted: a loop that is not modelled"
    assert notes[0].notes[-1] == "not proved: 4 more questions about this kernel"


def test_what_is_open_beside_a_fault_is_not_called_unrefuted() -> None:
    _, note = findings([kernel(refuted("GS201", 3, 4), unknown("a loop"))])
    assert note.message == "not all of kernel `k` is settled: a loop"


def test_reasons_with_a_rule_of_their_own_get_it() -> None:
    notes = findings([kernel(unknown("call of `sort`, which is not in this crate"), unknown("solver limit reached"))])
    assert [n.rule for n in notes] == ["GS902", "GS904"]


def test_a_proved_unit_says_nothing() -> None:
    assert findings([kernel(Obligation("GS201", "no race", Verdict.PROVED, at(1)))]) == ()


def test_files_that_do_not_parse_are_told() -> None:
    record = FileRecord("b.rs", FileStatus.SYNTAX_ERROR, "expected `)`", Span("b.rs", 2, 3, 2, 4))
    (finding,) = conclude((), (record,), {}, Options()).findings
    assert (finding.rule, finding.level, finding.message) == ("GS903", Level.WARNING, "expected `)`")


def test_errors_come_first_then_the_order_of_the_source() -> None:
    rules, _ = told("", kernel(unknown("why"), refuted("GS202", 9, 2), refuted("GS201", 3, 4)))
    assert rules == [("GS201", 3), ("GS202", 9), ("GS901", 1)]


def test_ignored_rules_are_left_out() -> None:
    options = replace(Options(), ignore=("GS9",))
    assert told("", kernel(unknown("why"), refuted("GS201", 3, 4)), options=options) == ([("GS201", 3)], [])


def test_an_allow_at_either_side_accepts_the_finding_with_its_reason() -> None:
    for line in (3, 4):
        source = "\n" * (line - 1) + "    store(); // gpusafe: allow(GS201): one block only\n"
        assert told(source, kernel(refuted("GS201", 3, 4))) == ([], ["one block only"])


def test_an_allow_of_another_rule_accepts_nothing_and_is_told() -> None:
    source = "\n\n    store(); // gpusafe: allow(GS202): one block only\n"
    assert told(source, kernel(refuted("GS201", 3, 4))) == ([("GS201", 3), ("GS905", 3)], [])


def test_an_allow_by_name_works() -> None:
    source = "\n\n    store(); // gpusafe: allow(global-race): one block only\n"
    assert told(source, kernel(refuted("GS201", 3, 4)))[1] == ["one block only"]


def test_an_allow_without_reason_accepts_nothing_and_is_told() -> None:
    source = "\n\n    store(); // gpusafe: allow(GS201)\n"
    assert told(source, kernel(refuted("GS201", 3, 4))) == ([("GS201", 3), ("GS906", 3)], [])


def test_an_allow_of_no_rule_is_told() -> None:
    conclusion = conclude((), (), {"a.rs": "// gpusafe: allow(GS999): why\nf();\n"}, Options())
    assert [(f.rule, f.message) for f in conclusion.findings] == [("GS906", "there is no rule `GS999`")]


def test_findings_are_values() -> None:
    unit = kernel(refuted("GS201", 3, 4), unknown("why"))
    first: tuple[Finding, ...] = findings([unit])
    assert first == findings([unit])


def test_what_select_and_ignore_leave_out_is_counted_without_notes() -> None:
    units = [kernel(refuted("GS201", 3, 4), unknown("a loop"))]
    conclusion = conclude(units, (), {}, Options(ignore=("GS2", "GS9")))
    assert (conclusion.findings, conclusion.left_out) == ((), 1)


def test_a_reason_that_another_note_tells_in_full_is_told_once() -> None:
    notes = findings(
        [kernel(unknown("the macro `f!` is not known"), unknown("the macro `f!` is not known; what it does"))]
    )
    assert [n.message.rpartition(": ")[2] for n in notes] == ["the macro `f!` is not known; what it does"]
