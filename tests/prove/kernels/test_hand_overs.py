"""Data handed from one thread to another through a flag or a counter."""

import pytest
from builder import KernelBuilder, launch
from verdicts import verdict

from gpusafe.ir.expr import U32
from gpusafe.ir.kernel import Kernel, Scope
from gpusafe.prove.kernels import check_kernel


def carry(release: Scope | None, acquire: Scope | None, flag: Scope = Scope.DEVICE) -> Kernel:
    """Block b waits for block b - 1, reads its total and hands on its own."""
    k = KernelBuilder("carry")
    total, ready = k.pointer("total"), k.pointer("ready", U32)
    with k.when(k.tid.ne(0)):
        k.stop()
    with k.when(k.block > 0):
        k.wait_for(ready, k.block - 1)
        if acquire is not None:
            k.fence(acquire)
        k.load(total, k.block - 1)
    k.store(total, k.block)
    if release is not None:
        k.fence(release)
    k.exchange(ready, k.block, 1, flag)
    return k.build()


def test_a_flag_between_two_device_fences_hands_over() -> None:
    kernel = carry(Scope.DEVICE, Scope.DEVICE)
    site = launch(kernel, 8, 32)
    assert verdict(kernel, site) == "proved"
    assert "`ready` is zero when the kernel starts" in check_kernel(kernel, [site]).assumptions


@pytest.mark.parametrize(("release", "acquire"), [(None, None), (Scope.BLOCK, Scope.BLOCK)])
def test_without_fences_that_include_the_other_block_the_data_race(
    release: Scope | None, acquire: Scope | None
) -> None:
    kernel = carry(release, acquire)
    assert verdict(kernel, launch(kernel, 8, 32)) == "refuted"


@pytest.mark.parametrize(
    ("release", "acquire"), [(Scope.DEVICE, None), (None, Scope.DEVICE), (Scope.DEVICE, Scope.BLOCK)]
)
def test_half_a_hand_over_is_not_proved(release: Scope | None, acquire: Scope | None) -> None:
    kernel = carry(release, acquire)
    assert verdict(kernel, launch(kernel, 8, 32)) != "proved"


def last_block(fences: bool, last: int = 7) -> Kernel:
    """The block that draws the last ticket adds up what all have stored."""
    k = KernelBuilder("total")
    partial, tickets, out = k.pointer("partial"), k.pointer("tickets", U32), k.pointer("out")
    with k.when(k.tid.eq(0)):
        k.store(partial, k.block)
        if fences:
            k.fence()
        ticket = k.atomic_add(tickets, 0)
        with k.when(ticket.eq(last)):
            if fences:
                k.fence()
            with k.count("b", 0, k.blocks) as b:
                k.load(partial, b)
            k.store(out, 0)
    return k.build()


def test_the_last_ticket_is_drawn_after_all_others() -> None:
    kernel = last_block(True)
    assert verdict(kernel, launch(kernel, 8, 32)) == "proved"


def test_a_ticket_that_is_not_the_last_one_proves_nothing() -> None:
    kernel = last_block(True, last=5)
    assert verdict(kernel, launch(kernel, 8, 32)) != "proved"


def test_a_last_block_without_fences_races() -> None:
    kernel = last_block(False)
    assert verdict(kernel, launch(kernel, 8, 32)) == "refuted"


def test_a_flag_that_two_threads_set_hands_over_nothing() -> None:
    k = KernelBuilder("two")
    data, ready = k.pointer("data"), k.pointer("ready", U32)
    with k.when(k.block < 2):
        k.store(data, k.block)
        k.fence()
        k.exchange(ready, 0, 1)
        k.stop()
    k.wait_for(ready, 0)
    k.fence()
    k.load(data, 0)
    kernel = k.build()
    assert verdict(kernel, launch(kernel, 4, 1)) != "proved"
