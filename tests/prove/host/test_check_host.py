"""Verdicts and findings of host functions, on paths written by hand."""

from __future__ import annotations

import pytest

from gpusafe.dataflow.contracts import KernelSummary
from gpusafe.ir.expr import USIZE, Binary, Op, Sym, const
from gpusafe.prove.host import check_host, shared_borrow_warnings
from gpusafe.verdict import Obligation, Unit, Verdict
from tests.dataflow.hand_paths import HandPath, bytes_of, line, summary


def kernels(*summaries: KernelSummary) -> dict[str, KernelSummary]:
    return {s.kernel.key: s for s in summaries}


FILL, GAIN = summary("fill", "w"), summary("gain", "w", "r")
KERNELS = kernels(
    FILL, GAIN, summary("count", "a"), summary("bump", "rw"), summary("table", "w", globals_=(("t", "r"),))
)


def units(p: HandPath, known: dict[str, KernelSummary] = KERNELS) -> dict[str, Unit]:
    return {u.name: u for u in check_host(p.program(), known)}


def refuted(p: HandPath, function: str = "main") -> list[Obligation]:
    return [o for o in units(p)[function].obligations if o.verdict is Verdict.REFUTED]


def rules(p: HandPath, function: str = "main") -> set[str]:
    return {o.rule for o in refuted(p, function)}


def verdict(p: HandPath, function: str = "main") -> Verdict:
    return units(p)[function].verdict


def start(*buffers: str, kind: str = "nonblocking") -> HandPath:
    p = HandPath()
    p.stream("io", kind)
    p.stream("compute", kind)
    for name in buffers:
        p.buffer(name)
    return p


def test_a_download_beside_the_launch_that_writes_is_refuted() -> None:
    p = start("output", "input")
    p.launch("compute", "gain", "output", "input", at=20)
    p.copy("io", read="output", blocks=True, at=21)
    (found,) = refuted(p)
    assert found.rule == "GS101"
    shown = found.counterexample
    assert shown is not None
    assert shown.message == (
        "`output` is read by the copy on stream `io` while the launch of `gain` on stream `compute` may still write it"
    )
    assert shown.primary.span == line(21)
    assert shown.related[0].span == line(20)
    assert "until that stream gets past it" in shown.related[0].label
    assert any("wait for stream `compute`" in h for h in shown.help)


def test_a_wait_for_an_event_recorded_after_the_launch_proves_it() -> None:
    p = start("output", "input")
    p.launch("compute", "gain", "output", "input")
    p.record("done", "compute")
    p.wait("io", "done")
    p.copy("io", read="output", blocks=True)
    assert verdict(p) is Verdict.PROVED
    assert len(units(p)["main"].obligations) > 0


def test_two_readers_need_no_order() -> None:
    p = start("input", "a", "b")
    p.launch("compute", "gain", "a", "input")
    p.launch("io", "gain", "b", "input")
    assert verdict(p) is Verdict.PROVED


def test_atomics_of_two_launches_exclude_each_other_and_plain_reads_they_do_not() -> None:
    p = start("bins")
    p.launch("compute", "count", "bins")
    p.launch("io", "count", "bins")
    assert verdict(p) is Verdict.PROVED
    p.copy("compute", read="bins")
    assert rules(p) == {"GS101"}


def test_a_copy_on_the_null_stream_beside_a_non_blocking_stream() -> None:
    p = start("x")
    p.stream("null", "legacy")
    p.launch("compute", "fill", "x")
    p.copy("null", read="x", blocks=True)
    assert rules(p) == {"GS102"}


def test_the_same_with_a_blocking_stream_is_proved() -> None:
    p = start("x", kind="blocking")
    p.stream("null", "legacy")
    p.launch("compute", "fill", "x")
    p.copy("null", read="x", blocks=True)
    assert verdict(p) is Verdict.PROVED


def test_a_drop_beside_a_launch() -> None:
    p = start("mask", "values")
    p.launch("compute", "gain", "values", "mask")
    p.free_async("io", "mask")
    assert rules(p) == {"GS103"}


def test_a_drop_after_the_stream_was_synchronized_is_proved() -> None:
    p = start("mask", "values")
    p.launch("compute", "gain", "values", "mask")
    p.sync("compute")
    p.drop("mask")
    assert verdict(p) is Verdict.PROVED


def test_a_launch_that_uses_freed_memory() -> None:
    p = start("bias", "x")
    p.drop("bias", "context")
    p.launch("compute", "gain", "x", "bias", at=30)
    p.sync("compute")
    (found,) = refuted(p)
    assert found.rule == "GS103" and found.counterexample is not None
    assert "after it was freed" in found.counterexample.message


def test_a_graph_replayed_after_its_memory_is_gone() -> None:
    p = start("scratch")
    p.free_async("io", "scratch")
    p.sync("io")
    p.enqueue("graph", "io", write="scratch")
    assert rules(p) == {"GS109"}


def test_the_host_reads_pinned_memory_too_early() -> None:
    p = start("x")
    p.buffer("pinned", "pinned")
    p.copy("io", read="x", write="pinned")
    p.host("pinned")
    assert rules(p) == {"GS104"}


def test_a_callback_that_borrows_a_local_which_is_dropped() -> None:
    p = start()
    p.buffer("label", "host")
    p.enqueue("callback", "io", read="label")
    p.drop("label")
    assert rules(p) == {"GS103"}


def test_a_guard_dropped_before_the_work_is_enqueued() -> None:
    p = start("buf")
    p.record("buf.write", "compute", guard="guard of `buf`", at=30)
    p.memset("compute", "buf")
    p.wait("io", "buf.write", automatic=True)
    p.copy("io", read="buf")
    (found,) = refuted(p)
    assert found.rule == "GS107" and found.counterexample is not None
    assert line(30) in [site.span for site in found.counterexample.related]


@pytest.mark.parametrize("early", [True, False])
def test_an_event_recorded_too_early_or_not_before_the_wait(early: bool) -> None:
    p = start("x")
    if early:
        p.record("done", "compute")
    p.launch("compute", "fill", "x")
    p.wait("io", "done")
    if not early:
        p.record("done", "compute")
    p.copy("io", read="x")
    assert rules(p) == {"GS108"}


def test_a_fork_before_the_producer_is_a_plain_race() -> None:
    p = start("x")
    p.record("fork", "compute", at=20)
    p.wait("io", "fork", at=20)
    p.launch("compute", "fill", "x")
    p.copy("io", read="x")
    assert rules(p) == {"GS101"}


def test_per_thread_streams_of_two_threads() -> None:
    p = HandPath()
    p.stream("main's", "per_thread")
    p.stream("worker's", "per_thread")
    p.buffer("grid")
    p.launch("main's", "fill", "grid")
    p.spawn("t")
    with p.on_thread("t"):
        p.launch("worker's", "bump", "grid")
    assert rules(p) == {"GS110"}


def test_objects_of_two_contexts() -> None:
    p = start()
    p.foreign("stream `io`", "`shard`")
    assert rules(p) == {"GS115"}


def test_a_launch_reads_what_nothing_wrote() -> None:
    p = start("source")
    p.buffer("sum", initialized=False)
    p.launch("io", "gain", "sum", "source")
    p.copy("io", read="sum")
    assert verdict(p) is Verdict.PROVED
    q = start("out")
    q.buffer("raw", initialized=False)
    q.copy("io", read="raw", write="out")
    assert rules(q) == {"GS112"}
    older = start("out")
    older.buffer("field", initialized=False, born=False)
    older.copy("io", read="field", write="out")
    assert rules(older) == set()


def test_one_buffer_passed_twice_to_a_kernel_that_writes_it() -> None:
    p = start("x")
    p.launch("io", "shift", "x", "x")
    found = check_host(p.program(), kernels(summary("shift", "w", "R")))[0]
    assert [o.rule for o in found.obligations if o.verdict is Verdict.REFUTED] == ["GS105"]
    q = start("x")
    q.launch("io", "gain", "x", "x", blocks=1)
    assert verdict(q) is Verdict.PROVED


def test_halves_of_one_buffer_are_disjoint() -> None:
    p = start("x")
    p.memset("io", bytes_of("x", 0, 2048))
    p.memset("compute", bytes_of("x", 2048, 2048))
    assert verdict(p) is Verdict.PROVED
    p.memset("compute", bytes_of("x", 2044, 4))
    assert rules(p) == {"GS101"}


def test_chunks_by_a_symbolic_index_are_disjoint() -> None:
    p = start("x")
    i = Sym(USIZE, "i", 0, 100)

    def at(index: Binary | Sym) -> Binary:
        return Binary(USIZE, Op.MUL, index, const(512))

    p.memset("io", bytes_of("x", at(i), 512))
    p.memset("compute", bytes_of("x", at(Binary(USIZE, Op.ADD, i, const(1))), 512))
    assert verdict(p) is Verdict.PROVED


def test_whether_ranges_overlap_is_unknown_when_it_depends_on_an_argument() -> None:
    p = start("x")
    p.memset("io", bytes_of("x", Sym(USIZE, "from"), 16))
    p.memset("compute", bytes_of("x", 0, 16))
    assert verdict(p) is Verdict.UNKNOWN
    reason = units(p)["main"].obligations[0].reason
    assert reason is not None and "`from`" in reason
    p.assumes = (Binary(Sym(USIZE, "b").type, Op.GE, Sym(USIZE, "from"), const(16)),)


def test_unknown_streams_are_never_an_error_and_never_a_proof() -> None:
    p = start("x", kind="unknown")
    p.launch("io", "fill", "x")
    p.copy("compute", read="x")
    assert verdict(p) is Verdict.UNKNOWN
    p = start("x", kind="unknown")
    p.launch("io", "fill", "x")
    p.copy("io", read="x")
    assert verdict(p) is Verdict.PROVED


def test_a_kernel_out_of_sight_makes_unordered_uses_unknown() -> None:
    p = start("x")
    p.launch("io", "elsewhere", "x")
    p.copy("compute", read="x")
    assert verdict(p) is Verdict.UNKNOWN


def test_an_unmodelled_call_on_memory_makes_its_uses_unknown() -> None:
    p = start("x", "y")
    p.gap("`mystery` is not in sight", "x")
    p.memset("io", "x")
    p.sync("io")
    assert verdict(p) is Verdict.UNKNOWN


def test_a_call_that_may_do_anything_spoils_what_follows_and_spares_what_came_before() -> None:
    p = start("x", "y")
    with p.call("early"):
        p.memset("io", "x")
        p.copy("io", read="x")
    with p.call("late"):
        p.gap("`mystery` is not in sight")
        p.memset("io", "y")
        p.copy("io", read="y")
    found = units(p)
    assert found["early"].verdict is Verdict.PROVED
    assert found["late"].verdict is Verdict.UNKNOWN


def test_the_function_that_holds_both_sides_is_to_blame() -> None:
    p = start("output", "input")
    with p.call("run", at=20):
        p.launch("compute", "gain", "output", "input")
    with p.call("download", at=21):
        p.copy("io", read="output", blocks=True)
    found = units(p)
    assert found["main"].verdict is Verdict.REFUTED
    assert found["run"].verdict is Verdict.PROVED and found["download"].verdict is Verdict.PROVED
    (wrong,) = refuted(p)
    assert wrong.counterexample is not None
    assert wrong.counterexample.primary.span == line(21)
    assert {line(p.ops[i].span.line) for i in (0, 1)} <= {s.span for s in wrong.counterexample.related}


def test_two_calls_of_one_function_meet_in_the_caller() -> None:
    p = start("x")
    for stream in ("io", "compute"):
        with p.call("step", at=20):
            p.memset(stream, "x")
    found = units(p)
    assert found["main"].verdict is Verdict.REFUTED
    assert found["step"].verdict is Verdict.PROVED


def test_one_obligation_for_each_two_places_however_often_they_meet() -> None:
    p = start("x")
    for _ in range(20):
        p.launch("compute", "fill", "x", at=20)
        p.copy("io", read="x", at=21)
    assert len(refuted(p)) == 1


def test_a_path_that_was_cut_proves_nothing() -> None:
    p = start("x")
    p.memset("io", "x")
    p.complete = False
    assert verdict(p) is Verdict.UNKNOWN


def test_a_function_that_no_path_reaches_is_unknown() -> None:
    p = start("x")
    p.memset("io", "x")
    p.functions["lonely"] = line(700, 710)
    assert units(p)["lonely"].verdict is Verdict.UNKNOWN


def test_a_shared_borrow_that_the_kernel_writes_is_told_in_the_race_and_warned_of_alone() -> None:
    p = start("out", "inp")
    p.launch("compute", "gain", "out", "inp", passed="ref")
    assert [w.rule for w in shared_borrow_warnings(p.program(), KERNELS)] == ["GS106"]
    assert verdict(p) is Verdict.PROVED
    p.copy("io", read="out")
    (found,) = refuted(p)
    assert found.counterexample is not None
    assert any("GS106" in note for note in found.counterexample.notes)


def test_a_constant_updated_while_a_kernel_reads_it() -> None:
    p = start("out")
    p.buffer("t", "constant")
    p.launch("compute", "table", "out")
    p.copy("io", write="t")
    assert rules(p) == {"GS101"}


def test_memory_allocated_in_the_order_of_another_stream() -> None:
    p = start("work")
    p.alloc_async("io", "work")
    p.launch("compute", "fill", "work")
    assert rules(p) == {"GS101"}
    q = start("work")
    q.alloc_async("io", "work")
    q.launch("io", "fill", "work")
    assert verdict(q) is Verdict.PROVED


def test_a_wait_of_an_earlier_round_is_no_misuse_of_the_event() -> None:
    p = start("x")
    for late in (False, True):
        p.launch("compute", "fill", "x", at=20)
        p.record("done", "compute", at=21)
        if not late:
            p.wait("io", "done", at=22)
        p.copy("io", read="x", blocks=True, at=23)
    assert rules(p) == {"GS101"}


def test_memory_used_before_it_is_allocated_is_told_once() -> None:
    p = start("work")
    p.alloc_async("io", "work")
    p.launch("io", "fill", "work")
    p.copy("compute", read="work")
    assert len(refuted(p)) == 1


def test_memory_used_before_it_is_allocated_is_told_although_no_use_meets_it() -> None:
    p = start("work")
    p.alloc_async("io", "work")
    p.memset("io", bytes_of("work", 0, 16))
    p.copy("compute", read=bytes_of("work", 64, 16))
    (found,) = refuted(p)
    assert found.counterexample is not None and "has allocated it" in found.counterexample.message


def test_a_failure_costs_the_functions_of_its_path_their_proof_only() -> None:
    def broken(*_: object) -> tuple[Obligation, ...]:
        raise KeyError("nothing")

    p = start("x")
    p.launch("io", "fill", "x")
    (unit,) = check_host(p.program(), KERNELS, broken)
    assert unit.verdict is Verdict.UNKNOWN
    assert any("gpusafe failed here" in (o.reason or "") for o in unit.obligations)


def test_obligations_of_launches_belong_to_the_function_of_the_launch() -> None:
    p = start("x")
    with p.call("step"):
        p.launch("io", "fill", "x", at=250)
    asked = Obligation("GS113", "the shape fits", Verdict.UNKNOWN, line(250), "the block size is not known")
    found = {u.name: u for u in check_host(p.program(), KERNELS, lambda *_: (asked,))}
    assert asked in found["step"].obligations and asked not in found["main"].obligations
