"""Control flow and divergence of PTX."""

from __future__ import annotations

from gpusafe.codegen_check.ptx import build_flow, read, with_callees
from gpusafe.codegen_check.ptx.divergence import divergent_blocks, thread_dependent
from tests.codegen_check.ptx_texts import kernel_ptx, ptx_text

TWO_ARMS = (
    "mov.u32 %r1, %tid.x;",
    "ld.param.b32 %r2, [k_param_1];",
    "setp.ge.u32 %p1, %r1, %r2;",
    "@%p1 bra $else;",
    "bar.sync 0;",
    "bra.uni $end;",
    "$else:",
    "bar.sync 0;",
    "$end:",
    "ret;",
)


def test_both_arms_are_controlled_by_the_branch_and_the_join_is_not() -> None:
    flow = build_flow(kernel_ptx(*TWO_ARMS)[1])
    first, second, end = flow.block_of(4), flow.block_of(6), flow.block_of(7)
    assert {arm for _, arm in flow.controlling(first)} == {first}
    assert {arm for _, arm in flow.controlling(second)} == {second}
    assert flow.controlling(end) == ()


def test_a_branch_on_the_thread_is_divergent_and_one_on_the_block_is_not() -> None:
    by_thread = build_flow(kernel_ptx(*TWO_ARMS)[1])
    by_block = build_flow(kernel_ptx("mov.u32 %r1, %ctaid.x;", *TWO_ARMS[1:])[1])
    assert divergent_blocks(by_thread) == {0}
    assert divergent_blocks(by_block) == frozenset()


def test_thread_dependence_goes_through_arithmetic_but_not_through_a_vote() -> None:
    _, kernel = kernel_ptx(
        "mov.u32 %r1, %laneid;",
        "add.s32 %r2, %r1, 5;",
        "setp.eq.b32 %p1, %r2, 9;",
        "vote.sync.any.pred %p2, %p1, -1;",
        "ret;",
    )
    assert thread_dependent(kernel) == {"%r1", "%r2", "%p1"}


def test_a_loop_is_a_cycle_and_what_follows_it_is_not() -> None:
    _, kernel = kernel_ptx(
        "$top:", "ld.volatile.b32 %r1, [%rd1];", "setp.eq.b32 %p1, %r1, 0;", "@%p1 bra $top;", "ret;"
    )
    flow = build_flow(kernel)
    assert flow.in_cycle(flow.block_of(0))
    assert not flow.in_cycle(flow.block_of(3))


def test_an_endless_loop_has_no_way_to_the_end_and_does_not_hang_the_analysis() -> None:
    _, kernel = kernel_ptx("@%p1 bra $spin;", "ret;", "$spin:", "bra.uni $spin;")
    flow = build_flow(kernel)
    assert flow.post[flow.block_of(2)] == {flow.block_of(2)}


CALLER = ptx_text("mov.u32 %r1, %tid.x;", "call.uni helper, (%rd1);", "call.uni other, (%rd1);", "ret;")
HELPER = ".visible .func helper(\n\t.param .b64 helper_param_0\n)\n{\n\tfence.sc.gpu;\n\tmov.u32 %r1, 5;\n\tret;\n}\n"


def test_a_function_that_was_not_inlined_is_looked_at_with_its_caller() -> None:
    unit = read(CALLER.replace("\t.file\t1", HELPER + "\t.file\t1", 1))
    kernel = unit.function("k")
    assert kernel is not None
    whole, unknown = with_callees(unit, kernel)
    assert unknown == ("other",)
    assert [i.opcode[0] for i in whole.instrs].count("fence") == 1
    assert thread_dependent(whole) == {"%r1"}  # the helper's own %r1 is another register
    flow = build_flow(whole)
    assert not any(whole.instrs[flow.blocks[b][0]].opcode[0] == "fence" for b in flow.reachable(0))
