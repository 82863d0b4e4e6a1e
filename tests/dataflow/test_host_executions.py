"""The happens-before analysis and the replay agree with all executions of random small paths."""

from __future__ import annotations

from itertools import combinations

from hypothesis import HealthCheck, Phase, given, settings

from gpusafe.dataflow.happens_before import order
from gpusafe.dataflow.host_replay import replay, replay_after
from gpusafe.ir.host import Enqueue, Free, HostAccess, HostPath
from tests.dataflow.all_executions import overlapping_pairs
from tests.dataflow.hand_paths import HandPath
from tests.dataflow.random_paths import build, steps

quick = settings(max_examples=60, deadline=None, phases=(Phase.generate,), suppress_health_check=list(HealthCheck))


def interesting(path: HostPath) -> list[tuple[int, int]]:
    """Pairs of operations of which at least one runs on the device."""
    work = [i for i, op in enumerate(path.ops) if isinstance(op, Enqueue | HostAccess | Free)]
    return [
        (i, j) for i, j in combinations(work, 2) if isinstance(path.ops[i], Enqueue) or isinstance(path.ops[j], Enqueue)
    ]


@quick
@given(steps)
def test_two_operations_are_ordered_exactly_when_no_execution_overlaps_them(drawn: list) -> None:
    path = build(drawn).path()
    overlapping = overlapping_pairs(path)
    ordering = order(path)
    for i, j in interesting(path):
        assert ordering.orders(i, j) == (frozenset({i, j}) not in overlapping), (i, j)


@quick
@given(steps)
def test_the_replay_finds_an_execution_exactly_when_there_is_one(drawn: list) -> None:
    path = build(drawn).path()
    overlapping = overlapping_pairs(path)
    for i, j in interesting(path):
        assert (replay(path, i, j) is not None) == (frozenset({i, j}) in overlapping), (i, j)


@settings(quick, max_examples=25)
@given(steps)
def test_with_several_host_threads_nothing_is_ordered_that_an_execution_overlaps(drawn: list) -> None:
    path = build(drawn[:3], threads=True).path()
    overlapping = overlapping_pairs(path)
    ordering = order(path)
    for i, j in interesting(path):
        if frozenset({i, j}) in overlapping:
            assert not ordering.either_way(i, j), (i, j)
        elif replay(path, i, j) is not None:
            raise AssertionError(f"{i} and {j} never overlap, but the replay says so")


def test_the_replay_finds_the_order_of_threads_in_which_the_wrong_event_is_last() -> None:
    p = HandPath()
    for name in ("a", "b", "home"):
        p.stream(name)
    p.buffer("x")
    p.spawn("t1")
    p.spawn("t2")
    readers = []
    for thread, stream in (("t1", "a"), ("t2", "b")):
        with p.on_thread(thread):
            readers.append(p.copy(stream, read="x"))
            p.record("read", stream)
    p.join("t1")
    p.join("t2")
    p.wait("home", "read")
    last = p.memset("home", "x")
    assert all(replay(p.path(), reader, last) is not None for reader in readers)


def test_a_use_after_a_free_is_found_although_the_two_never_overlap() -> None:
    p = HandPath()
    p.stream("a")
    p.buffer("x")
    freed = p.free_async("a", "x")
    use = p.copy("a", read="x")
    assert replay(p.path(), freed, use) is None
    assert replay_after(p.path(), freed, use) is not None
