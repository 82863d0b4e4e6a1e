"""Verdicts of random paths against all their executions, and against themselves with one order removed."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from hypothesis import HealthCheck, Phase, given, settings

from gpusafe.dataflow.effects import effects
from gpusafe.ir.host import Enqueue, HostPath, HostProgram, Record, Sync, Wait
from gpusafe.prove.host import check_host
from gpusafe.verdict import Verdict
from tests.dataflow.all_executions import overlapping_pairs
from tests.dataflow.hand_paths import HandPath
from tests.dataflow.random_paths import build, steps

quick = settings(max_examples=60, deadline=None, phases=(Phase.generate,), suppress_health_check=list(HealthCheck))


def verdict(path: HostPath) -> Verdict:
    program = HostProgram(HandPath().program().functions, (path,))
    (unit,) = check_host(program, {})
    return unit.verdict


def conflict(path: HostPath) -> bool:
    """Whether some execution overlaps two accesses to one buffer of which one is no read."""
    found = effects(path, {}).accesses
    overlapping = overlapping_pairs(path)
    return any(
        a.memory == b.memory and {a.mode, b.mode} != {"read"} and frozenset({a.op, b.op}) in overlapping
        for a, b in combinations(found, 2)
    )


def waits_for_the_null_stream_or_its_partners(path: HostPath) -> bool:
    """What else a synchronize covers there is not documented beyond doubt, and makes verdicts unknown."""
    return any(isinstance(op, Sync) and op.target == "stream" and op.ident in ("null", "c") for op in path.ops)


@quick
@given(steps)
def test_refuted_exactly_when_an_execution_overlaps_conflicting_accesses(drawn: list) -> None:
    path = build(drawn).path()
    expected = Verdict.REFUTED if conflict(path) else Verdict.PROVED
    found = verdict(path)
    assert found is expected or (found is Verdict.UNKNOWN and waits_for_the_null_stream_or_its_partners(path))


@settings(quick, max_examples=25)
@given(steps)
def test_with_several_host_threads_a_proof_or_an_error_is_never_wrong(drawn: list) -> None:
    path = build(drawn[:3], threads=True).path()
    wrong = Verdict.PROVED if conflict(path) else Verdict.REFUTED
    assert verdict(path) is not wrong


def without(path: HostPath, index: int) -> HostPath:
    """The path without one operation."""
    return replace(path, ops=path.ops[:index] + path.ops[index + 1 :])


def pipeline() -> HandPath:
    """A double-buffered pipeline of copies and kernels in which every event is needed."""
    p = HandPath()
    for name in ("copy", "compute"):
        p.stream(name)
    for name in ("slot0", "slot1"):
        p.buffer(name)
    for i in range(4):
        slot = f"slot{i % 2}"
        if i >= 2:
            p.wait("copy", f"drained{i % 2}")
        p.copy("copy", write=slot)
        p.record(f"filled{i % 2}", "copy")
        p.wait("compute", f"filled{i % 2}")
        p.enqueue("library", "compute", read=slot)
        p.record(f"drained{i % 2}", "compute")
    p.sync("compute")
    for name in ("slot0", "slot1"):
        p.drop(name)
    return p


def test_a_pipeline_with_all_its_events_is_proved() -> None:
    assert verdict(pipeline().path()) is Verdict.PROVED


def test_it_is_not_proved_without_any_one_of_the_waits_or_the_synchronize() -> None:
    path = pipeline().path()
    needed = [i for i, op in enumerate(path.ops) if isinstance(op, Wait | Sync)]
    assert len(needed) == 7
    for index in needed:
        assert verdict(without(path, index)) is Verdict.REFUTED, path.ops[index]


def test_it_is_not_proved_when_a_record_moves_before_its_work() -> None:
    path = pipeline().path()
    records = [i for i, op in enumerate(path.ops) if isinstance(op, Record) and op.event.startswith("filled")]
    for index in records:
        work, record = path.ops[index - 1], path.ops[index]
        assert isinstance(work, Enqueue)
        moved = replace(path, ops=(*path.ops[: index - 1], record, work, *path.ops[index + 1 :]))
        assert verdict(moved) is Verdict.REFUTED


@quick
@given(steps)
def test_more_synchronisation_never_makes_it_worse(drawn: list) -> None:
    path = build(drawn).path()
    context = HandPath()
    context.sync_context()
    synced = tuple(op for each in path.ops for op in (each, context.ops[0]))
    if verdict(path) is Verdict.PROVED:
        assert verdict(replace(path, ops=synced)) is Verdict.PROVED
