"""The table of ``gpusafe ptx``."""

from __future__ import annotations

import json

from gpusafe.report.ptx_table import as_json, as_text
from gpusafe.results import Report
from gpusafe.span import Span
from gpusafe.verdict import Counterexample, Obligation, PtxStatus, Site, Unit, Verdict

AT = Span("k.rs", 3, 1, 3, 9)
PROVED = (Obligation("GS201", "no two threads meet", Verdict.PROVED, AT),)
OPEN = "the race proof on the PTX is open: a loop"


def kernel(name: str, *statuses: PtxStatus, obligations: tuple[Obligation, ...] = PROVED) -> Unit:
    return Unit("kernel", name, AT, obligations, ptx=statuses)


def report(*units: Unit) -> Report:
    return Report(units, (), (), (), {}, 0.0)


def test_a_kernel_is_confirmed_only_where_every_check_ran() -> None:
    whole = kernel("whole", PtxStatus("sm_80", "confirmed", "3 operations"))
    partly = kernel("half", PtxStatus("sm_80", "confirmed", "3 operations", (OPEN,)))
    lines = as_text(report(whole, partly)).splitlines()
    assert [line.split() for line in lines[:3]] == [
        ["kernel", "source", "sm_80"],
        ["whole", "proved", "confirmed"],
        ["half", "proved", "partly"],
    ]
    assert f"half (k.rs:3), sm_80: partly: {OPEN}" in lines
    assert lines[-1] == "1 of 2 confirmed by every check"
    assert [k["targets"][0]["status"] for k in json.loads(as_json(report(whole, partly)))["kernels"]] == [
        "confirmed",
        "partly",
    ]


def test_targets_that_say_the_same_are_told_together() -> None:
    lost = kernel("lost", *(PtxStatus(t, "weaker", "the order is lost") for t in ("sm_80", "sm_90")))
    assert "lost (k.rs:3), sm_80, sm_90: weaker: the order is lost" in as_text(report(lost))


def test_a_kernel_with_an_error_is_not_compiled() -> None:
    example = Counterexample("two threads write `x`", Site(AT, "writes"), (), (), ())
    wrong = kernel("wrong", obligations=(Obligation("GS201", "?", Verdict.REFUTED, AT, counterexample=example),))
    assert "wrong (k.rs:3): not compiled, since its source is refuted" in as_text(report(wrong))


def test_without_kernels_there_is_no_table() -> None:
    assert as_text(report(Unit("host", "main", AT, PROVED))) == "no kernels\n"
