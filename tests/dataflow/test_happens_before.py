"""Which operations are known to be over before which others start."""

from __future__ import annotations

from gpusafe.dataflow.happens_before import order
from tests.dataflow.hand_paths import HandPath


def two_streams(kind: str = "nonblocking") -> HandPath:
    p = HandPath()
    p.stream("a", kind)
    p.stream("b", kind)
    p.buffer("x")
    return p


def test_operations_of_one_stream_are_ordered() -> None:
    p = two_streams()
    first, second = p.memset("a", "x"), p.copy("a", read="x")
    assert order(p.path()).orders(first, second)
    assert not order(p.path()).orders(second, first)


def test_operations_of_two_streams_are_not() -> None:
    p = two_streams()
    first, second = p.memset("a", "x"), p.copy("b", read="x")
    assert not order(p.path()).either_way(first, second)


def test_a_wait_orders_what_was_enqueued_before_the_record_and_nothing_later() -> None:
    p = two_streams()
    before = p.memset("a", "x")
    p.record("e", "a")
    after = p.memset("a", "x")
    p.wait("b", "e")
    use = p.copy("b", read="x")
    assert order(p.path()).orders(before, use)
    assert not order(p.path()).orders(after, use)


def test_a_wait_for_an_event_that_is_recorded_later_orders_nothing() -> None:
    p = two_streams()
    first = p.memset("a", "x")
    p.wait("b", "e")
    p.record("e", "a")
    use = p.copy("b", read="x")
    assert not order(p.path()).orders(first, use)


def test_a_second_record_replaces_the_first() -> None:
    p = two_streams()
    p.stream("c")
    first = p.memset("a", "x")
    p.record("e", "a")
    p.record("e", "c")
    p.wait("b", "e")
    use = p.copy("b", read="x")
    assert not order(p.path()).orders(first, use)


def test_a_wait_that_is_enqueued_already_keeps_the_record_it_saw() -> None:
    p = two_streams()
    p.stream("c")
    first = p.memset("a", "x")
    p.record("e", "a")
    p.wait("b", "e")
    p.record("e", "c")
    use = p.copy("b", read="x")
    assert order(p.path()).orders(first, use)


def test_order_through_a_third_stream() -> None:
    p = two_streams()
    p.stream("c")
    first = p.memset("a", "x")
    p.record("e", "a")
    p.wait("c", "e")
    p.record("f", "c")
    p.wait("b", "f")
    use = p.copy("b", read="x")
    assert order(p.path()).orders(first, use)


def test_what_the_host_has_waited_for_is_before_all_that_it_enqueues_later() -> None:
    p = two_streams()
    first = p.memset("a", "x")
    p.sync("a")
    use = p.copy("b", read="x")
    assert order(p.path()).orders(first, use)


def test_synchronizing_the_other_stream_does_not_help() -> None:
    p = two_streams()
    first = p.memset("a", "x")
    p.sync("b")
    use = p.host("x")
    assert not order(p.path()).orders(first, use)


def test_synchronizing_the_context_covers_its_streams_only() -> None:
    p = two_streams()
    p.stream("other", context="ctx2")
    near, far = p.memset("a", "x"), p.memset("other", "x")
    p.sync_context("ctx")
    use = p.host("x")
    assert order(p.path()).orders(near, use)
    assert not order(p.path()).orders(far, use)


def test_a_blocking_call_covers_what_its_stream_did_before() -> None:
    p = two_streams()
    first = p.memset("a", "x")
    second = p.copy("a", read="x", blocks=True)
    use = p.memset("b", "x")
    assert order(p.path()).orders(first, use)
    assert order(p.path()).orders(second, use)


def test_the_null_stream_orders_blocking_streams_both_ways() -> None:
    p = two_streams("blocking")
    p.stream("null", "legacy")
    first = p.memset("a", "x")
    middle = p.memset("null", "x")
    last = p.memset("b", "x")
    ordering = order(p.path())
    assert ordering.orders(first, middle) and ordering.orders(middle, last) and ordering.orders(first, last)


def test_the_null_stream_does_not_order_non_blocking_streams() -> None:
    p = two_streams()
    p.stream("null", "legacy")
    first = p.memset("a", "x")
    middle = p.memset("null", "x")
    last = p.memset("b", "x")
    ordering = order(p.path())
    assert not ordering.either_way(first, middle) and not ordering.either_way(middle, last)


def test_the_null_stream_of_another_context_orders_nothing_here() -> None:
    p = two_streams("blocking")
    p.stream("null", "legacy", context="ctx2")
    first = p.memset("a", "x")
    second = p.memset("null", "x")
    assert not order(p.path()).orders(first, second)


def test_the_per_thread_stream_is_a_blocking_stream() -> None:
    p = two_streams("per_thread")
    p.stream("null", "legacy")
    first = p.memset("a", "x")
    second = p.memset("null", "x")
    assert order(p.path()).orders(first, second)


def test_cu_mem_free_waits_for_the_device_and_a_plain_free_does_not() -> None:
    for waits, known in (("context", True), ("none", False)):
        p = two_streams()
        first = p.memset("a", "x")
        freed = p.drop("x", waits)
        assert order(p.path()).orders(first, freed) is known


def test_host_threads_are_ordered_by_spawn_and_join_only() -> None:
    p = two_streams()
    before = p.memset("a", "x", at=20)
    p.sync("a")
    p.spawn("t")
    with p.on_thread("t"):
        inside = p.memset("b", "x")
        p.sync("b")
    beside = p.host("x")
    p.join("t")
    after = p.host("x")
    ordering = order(p.path())
    assert ordering.orders(before, inside)
    assert not ordering.either_way(inside, beside)
    assert ordering.orders(inside, after)


def test_an_event_recorded_by_two_threads_covers_what_both_agree_on() -> None:
    p = two_streams()
    p.stream("home")
    shared = p.memset("home", "x")
    p.sync("home")
    p.spawn("t1")
    p.spawn("t2")
    works = []
    for thread, stream in (("t1", "a"), ("t2", "b")):
        with p.on_thread(thread):
            works.append(p.copy(stream, read="x"))
            p.record("read", stream)
    p.join("t1")
    p.join("t2")
    p.wait("home", "read")
    last = p.memset("home", "x")
    ordering = order(p.path())
    assert ordering.orders(shared, last)
    assert not ordering.orders(works[0], last) and not ordering.orders(works[1], last)


def test_unknown_streams_are_ordered_only_under_the_kind_reading() -> None:
    p = two_streams("unknown")
    first, second = p.memset("a", "x"), p.copy("b", read="x")
    assert not order(p.path()).orders(first, second)
    assert order(p.path(), charitable=True).orders(first, second)


def test_an_unmodelled_call_orders_everything_only_under_the_kind_reading() -> None:
    p = two_streams()
    first = p.memset("a", "x")
    p.gap("`mystery` is not in sight")
    second = p.copy("b", read="x")
    assert not order(p.path()).orders(first, second)
    assert order(p.path(), charitable=True).orders(first, second)


def test_a_stream_from_outside_is_no_stream_that_was_made_here() -> None:
    p = two_streams()
    p.stream("outside", "unknown")
    first, second = p.memset("a", "x"), p.copy("outside", read="x")
    assert not order(p.path(), charitable=True).either_way(first, second)
