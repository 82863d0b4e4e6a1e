"""Kernels held against PTX that keeps, or loses, what they ask for."""

from __future__ import annotations

import pytest

from gpusafe.codegen_check.compare import Comparison, compare
from gpusafe.ir.expr import BOOL, U32, Binary, Const, Op, Var
from gpusafe.ir.kernel import Break, If, Kernel, Loop, Order, Region, Scope, Space, Stmt
from tests.codegen_check.hand_kernels import barrier, fence, for_thread_zero, kernel, load, rmw, store, use
from tests.codegen_check.ptx_texts import FILE, kernel_ptx, span


def held(source: Kernel, *ptx: str, module: str = "") -> Comparison:
    """The comparison of a kernel with PTX lines."""
    unit, function = kernel_ptx(*ptx, "ret;", module=module)
    return compare(source, unit, function, {FILE: FILE})


BARE = "atom.global.add.u32 %r1, [%rd1], 1; @ 3950:10 7:5"
FENCE = "fence.acq_rel.sys; @ 4000:1 {}:5"


@pytest.mark.parametrize("order", [Order.ACQUIRE, Order.RELEASE, Order.ACQ_REL, Order.SEQ_CST])
def test_an_atomic_without_its_order_is_weaker(order: Order) -> None:
    (weaker,) = held(kernel(rmw(7, order)), BARE).weaker
    assert weaker.primary.span == span(7)
    assert "drops" in weaker.message
    assert [i.text for i in weaker.instrs] == ["atom.global.add.u32 %r1, [%rd1], 1;"]


def test_a_relaxed_atomic_may_be_bare() -> None:
    comparison = held(kernel(rmw(7, Order.RELAXED)), BARE)
    assert comparison.weaker == ()
    assert "device scope, not system scope" in comparison.notes[0]


@pytest.mark.parametrize("order", ["acq_rel", "release"])
def test_an_order_in_the_instruction_counts_for_what_it_is(order: str) -> None:
    ptx = f"atom.{order}.sys.global.add.u32 %r1, [%rd1], 1; @ 3950:10 7:5"
    assert bool(held(kernel(rmw(7, Order.ACQ_REL)), ptx).weaker) == (order == "release")


def test_fences_right_beside_an_atomic_give_it_its_order() -> None:
    around = (FENCE.format(7), BARE, FENCE.format(7))
    assert held(kernel(rmw(7)), *around).weaker == ()
    assert held(kernel(rmw(7)), *around[:2]).weaker != ()
    assert held(kernel(rmw(7, Order.RELEASE)), *around[:2]).weaker == ()


def test_a_fence_with_another_access_between_does_not_help() -> None:
    ptx = (FENCE.format(7), "st.global.b32 [%rd2], 1; @ 6:5", BARE)
    assert held(kernel(store(6), rmw(7, Order.RELEASE)), *ptx).weaker != ()


def test_a_fence_of_smaller_scope_is_weaker() -> None:
    assert held(kernel(fence(5)), "fence.acq_rel.cta; @ 5:5").weaker != ()
    assert held(kernel(fence(5)), "membar.gl; @ 5:5").weaker == ()
    assert held(kernel(fence(5, Order.SEQ_CST)), "fence.acq_rel.sys; @ 5:5").weaker != ()


def test_a_fence_that_is_gone_is_weaker_when_its_neighbours_are_there() -> None:
    source = kernel(store(4), fence(5), rmw(6, Order.RELAXED))
    ptx = ("st.global.b32 [%rd1], 1; @ 4:5", "atom.global.add.u32 %r1, [%rd1], 1; @ 3950:10 6:5")
    (weaker,) = held(source, *ptx).weaker
    assert weaker.primary.span == span(5)


def test_one_of_two_fences_in_a_row_is_enough() -> None:
    comparison = held(
        kernel(store(4), fence(5), fence(6)), "st.global.b32 [%rd1], 1; @ 4:5", "fence.acq_rel.gpu; @ 6:5"
    )
    assert comparison.weaker == ()


def test_synchronisation_in_code_that_is_gone_is_unclear_and_no_fault() -> None:
    comparison = held(kernel(store(4), for_thread_zero(5, fence(6))), "st.global.b32 [%rd1], 1; @ 4:5")
    assert comparison.weaker == ()
    assert "no PTX instruction for the fence" in comparison.unclear[0]


def arms(register: str) -> tuple[str, ...]:
    """One barrier of the source in both arms of a branch."""
    return (
        f"mov.u32 %r1, %{register}; @ 3:5",
        "setp.ge.u32 %p1, %r1, %r2; @ 4:5",
        "@%p1 bra $else; @ 4:5",
        "st.global.b32 [%rd1], 1; @ 5:9",
        "bar.sync 0; @ 55:5 6:5",
        "bra.uni $end;",
        "$else:",
        "bar.sync 0; @ 55:5 6:5",
        "$end:",
    )


def test_a_barrier_cloned_into_both_arms_of_a_branch_on_the_thread_is_weaker() -> None:
    (weaker,) = held(kernel(for_thread_zero(4, store(5)), barrier(6)), *arms("tid.x")).weaker
    assert weaker.primary.span == span(6)
    assert "cloned" in weaker.message
    assert len(weaker.instrs) == 3


def test_a_clone_under_a_branch_on_the_block_is_no_fault() -> None:
    assert held(kernel(for_thread_zero(4, store(5)), barrier(6)), *arms("ctaid.x")).weaker == ()


def test_copies_from_two_calls_are_two_barriers_of_the_source() -> None:
    ptx = [line.replace("55:5 6:5", "55:5 6:5 20:1") for line in arms("tid.x")]
    ptx[4] = ptx[4].replace("20:1", "21:1")
    assert held(kernel(for_thread_zero(4, store(5)), barrier(6)), *ptx).weaker == ()


def test_copies_of_an_unrolled_loop_are_no_fault() -> None:
    ptx = ("bar.sync 0; @ 55:5 6:5", "st.global.b32 [%rd1], 1; @ 5:9", "bar.sync 0; @ 55:5 6:5")
    assert held(kernel(store(5), barrier(6)), *ptx).weaker == ()


SHARED_LOAD = (for_thread_zero(4, store(5)), barrier(6), load(7, "v"), use(8, "v"))


def test_a_load_behind_a_barrier_that_runs_before_it_is_weaker() -> None:
    ptx = ("ld.global.b32 %r1, [%rd1]; @ 7:5", "bar.sync 0; @ 55:5 6:5", "st.global.b32 [%rd1+4], %r1; @ 8:5")
    (weaker,) = held(kernel(*SHARED_LOAD), *ptx).weaker
    assert weaker.primary.span == span(7)
    assert "before the synchronisation" in weaker.message


def test_a_load_that_stays_behind_its_barrier_is_kept() -> None:
    ptx = ("bar.sync 0; @ 55:5 6:5", "ld.global.b32 %r1, [%rd1]; @ 7:5", "st.global.b32 [%rd1+4], %r1; @ 8:5")
    assert held(kernel(*SHARED_LOAD), *ptx).weaker == ()


def test_a_load_that_nobody_else_writes_may_move() -> None:
    ptx = ("ld.global.b32 %r1, [%rd1]; @ 7:5", "bar.sync 0; @ 55:5 6:5", "st.global.b32 [%rd1+4], %r1; @ 8:5")
    assert held(kernel(store(5), barrier(6), load(7, "v"), use(8, "v")), *ptx).weaker == ()


def test_a_value_kept_over_a_fence_is_weaker_and_names_the_fence() -> None:
    source = kernel(for_thread_zero(3, store(3)), load(4, "a"), fence(5), load(6, "b"), use(7, "b"))
    ptx = ("ld.global.b32 %r1, [%rd1]; @ 4:5", "fence.acq_rel.gpu; @ 5:5", "st.global.b32 [%rd1+4], %r1; @ 7:5")
    (weaker,) = held(source, *ptx).weaker
    assert weaker.primary.span == span(6)
    assert span(5) in [site.span for site in weaker.related]


def test_a_read_only_load_of_memory_that_the_kernel_writes_is_weaker() -> None:
    ptx = ("ld.param.b64 %rd1, [k_param_0];", "cvta.to.global.u64 %rd2, %rd1;", "ld.global.nc.b32 %r1, [%rd2]; @ 4:5")
    (weaker,) = held(kernel(load(4, "a"), store(5)), *ptx, "st.global.b32 [%rd2], 1; @ 5:5").weaker
    assert "read-only cache" in weaker.message
    assert held(kernel(load(4, "a"), use(9, "a")), "ld.global.nc.b32 %r1, [%rd9]; @ 4:5").weaker == ()


def test_a_shared_variable_in_global_memory_is_weaker() -> None:
    tile = Region("TILE", Space.SHARED, 4, None, span(2))
    symbol = ".global .align 4 .b8 _RNvCs1_4crate4TILE_$_0[1024];"
    (weaker,) = held(kernel(regions=(tile,)), module=symbol).weaker
    assert weaker.primary.span == span(2)
    assert held(kernel(regions=(tile,)), module=symbol.replace(".global", ".shared")).weaker == ()


def test_a_call_that_was_not_inlined_is_unclear_and_a_panic_is_not() -> None:
    assert "`helper`" in held(kernel(), "call.uni helper, (%rd1);").unclear[0]
    assert held(kernel(), "call.uni _RNv4core9panicking18panic_bounds_check, (%rd1);").unclear == ()


def test_scopes_of_the_source_are_compared_one_by_one() -> None:
    ptx = "atom.acq_rel.cta.global.add.u32 %r1, [%rd1], 1; @ 3950:10 7:5"
    notes = held(kernel(rmw(7, Order.ACQ_REL, Scope.DEVICE)), ptx).notes
    assert notes == (f"the atomic at {span(7)} is at block scope, not device scope",)


def test_synchronisation_from_another_place_may_be_the_missing_one() -> None:
    source = kernel(store(4), fence(5), rmw(6, Order.RELAXED))
    ptx = ("fence.acq_rel.gpu; @ 90:5", "atom.global.add.u32 %r1, [%rd1], 1; @ 3950:10 6:5")
    comparison = held(source, *ptx)
    assert comparison.weaker == ()
    assert comparison.unclear != ()


def test_an_atomic_that_leaves_out_the_host_is_weaker_where_the_host_takes_part() -> None:
    unit, function = kernel_ptx(BARE, "ret;")
    source = kernel(rmw(7, Order.RELAXED))
    (weaker,) = compare(source, unit, function, {FILE: FILE}, {"p"}).weaker
    assert "leaves out the host" in weaker.message


def poll(*body: Stmt) -> Loop:
    """A loop that ends when the flag is not zero, or after ``body`` says so."""
    leave = If(span(5), Binary(BOOL, Op.NE, Var(U32, "v"), Const(U32, 0)), (Break(span(5), "'w"),))
    return Loop(span(5), "'w", (load(5, "v"), leave, *body))


def test_a_poll_that_is_done_once_is_weaker() -> None:
    ptx = ("ld.global.b32 %r1, [%rd1]; @ 5:5", "setp.eq.b32 %p1, %r1, 0;", "$spin:", "@%p1 bra $spin; @ 5:5")
    (weaker,) = held(kernel(for_thread_zero(4, rmw(4, Order.RELAXED)), poll()), BARE.replace("7:5", "4:5"), *ptx).weaker
    assert "before the loop" in weaker.message


def test_a_poll_inside_of_its_loop_is_kept() -> None:
    ptx = ("$spin:", "ld.global.b32 %r1, [%rd1]; @ 5:5", "setp.eq.b32 %p1, %r1, 0;", "@%p1 bra $spin; @ 5:5")
    source = kernel(for_thread_zero(4, rmw(4, Order.RELAXED)), poll())
    assert held(source, BARE.replace("7:5", "4:5"), *ptx).weaker == ()


def test_a_loop_that_also_counts_may_be_unrolled() -> None:
    counted = If(span(6), Binary(BOOL, Op.GE, Var(U32, "i"), Const(U32, 4)), (Break(span(6), "'w"),))
    source = kernel(for_thread_zero(4, rmw(4, Order.RELAXED)), poll(counted))
    ptx = (BARE.replace("7:5", "4:5"), *(["ld.global.b32 %r1, [%rd1]; @ 5:5"] * 4))
    assert held(source, *ptx).weaker == ()
