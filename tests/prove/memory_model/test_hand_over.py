"""Hand-overs asked for as short sequences of events."""

from __future__ import annotations

import pytest

from gpusafe.errors import GpusafeError
from gpusafe.ir.kernel import Order, Scope
from gpusafe.prove.memory_model import Step, hand_over

WRITE, READ = Step("write", "data"), Step("read", "data")
DEVICE, BLOCK = Scope.DEVICE, Scope.BLOCK


def fence(order: Order, scope: Scope = DEVICE) -> Step:
    return Step("fence", order=order, scope=scope)


def give(order: Order, scope: Scope = DEVICE) -> Step:
    return Step("exch", "lock", order, scope, (1,))


def take(order: Order, scope: Scope = DEVICE) -> Step:
    return Step("cas", "lock", order, scope, (1, 2))


@pytest.mark.parametrize(("one", "two"), [(WRITE, READ), (READ, WRITE), (WRITE, WRITE)])
def test_a_lock_orders_all_kinds_of_accesses(one: Step, two: Step) -> None:
    held = [one, give(Order.RELEASE)], [take(Order.ACQUIRE), two]
    assert not hand_over(*held, "data", "lock", same_block=False).reachable


def test_a_relaxed_lock_orders_no_write_before_a_read() -> None:
    decision = hand_over([WRITE, give(Order.RELAXED)], [take(Order.RELAXED), READ], "data", "lock", same_block=False)
    assert decision.execution is not None
    assert any("reads from" in line for line in decision.execution.lines())


@pytest.mark.parametrize(("same_block", "stale"), [(True, False), (False, True)])
def test_block_scope_reaches_as_far_as_the_block(same_block: bool, stale: bool) -> None:
    sides = [WRITE, give(Order.RELEASE, BLOCK)], [take(Order.ACQUIRE, BLOCK), READ]
    assert hand_over(*sides, "data", "lock", same_block=same_block).reachable is stale


def test_a_fence_of_warp_scope_orders_nobody_else() -> None:
    warp = fence(Order.SEQ_CST, Scope.WARP)
    sides = [WRITE, warp, give(Order.RELAXED)], [take(Order.RELAXED), warp, READ]
    assert hand_over(*sides, "data", "lock", same_block=True).reachable


def test_a_block_barrier_needs_no_signal() -> None:
    barrier = Step("barrier", scope=BLOCK)
    assert not hand_over([WRITE, barrier], [barrier, READ], "data", "", same_block=True).reachable
    assert hand_over([WRITE, barrier], [barrier, READ], "data", "", same_block=False).reachable


def test_a_counter_passes_through_the_threads_between() -> None:
    count = [fence(Order.SEQ_CST), Step("add", "lock", Order.RELAXED, DEVICE, (1,))]
    last = [*count[1:], fence(Order.SEQ_CST), READ]
    assert not hand_over([WRITE, *count], last, "data", "lock", same_block=False, between=[count]).reachable


def test_what_is_not_modelled_is_refused() -> None:
    with pytest.raises(GpusafeError, match="once"):
        hand_over([WRITE, WRITE], [READ], "data", "lock", same_block=True)
    with pytest.raises(GpusafeError, match="not modelled"):
        hand_over([WRITE, Step("fadd", "lock")], [READ], "data", "lock", same_block=True)
