"""What a launch has to fulfil: buffer sizes, block sizes, dynamic shared memory; and footprints for the host side."""

from dataclasses import replace

import z3
from builder import KernelBuilder, launch
from verdicts import launch_rules, rules, verdict

from gpusafe.ir.kernel import Kernel, LaunchSize, Scope
from gpusafe.prove.footprint import footprint
from gpusafe.prove.kernels import check_kernel
from gpusafe.prove.launch import check_launch
from gpusafe.verdict import Verdict


def scale(guarded: bool = True, factor: int = 1) -> Kernel:
    k = KernelBuilder("scale")
    x, n = k.pointer("x"), k.scalar("n")
    i = k.var("i", k.gid)
    if guarded:
        with k.when(i < n):
            k.store(x, i * factor)
    else:
        k.store(x, i * factor)
    return k.build()


def test_a_guard_that_is_the_length_keeps_the_kernel_inside() -> None:
    kernel = scale()
    site = launch(kernel, 4, 256, {"n": 1000, "x": 1000})
    obligations = check_launch(check_kernel(kernel, [site]).summary, site)
    assert {o.rule for o in obligations} == {"GS113", "GS114"}
    assert all(o.verdict is Verdict.PROVED for o in obligations)


def test_more_threads_than_elements_without_a_guard_leave_the_buffer() -> None:
    kernel = scale(guarded=False)
    assert launch_rules(kernel, launch(kernel, 4, 256, {"x": 1000})) == {"GS114"}
    assert launch_rules(kernel, launch(kernel, 4, 256, {"x": 1024})) == set()


def test_a_guard_that_is_larger_than_the_buffer_leaves_it() -> None:
    kernel = scale()
    assert launch_rules(kernel, launch(kernel, 8, 256, {"n": 1800, "x": 900})) == {"GS114"}


def test_an_access_outside_names_the_first_thread_that_makes_it() -> None:
    kernel = scale(guarded=False)
    site = launch(kernel, 4, 256, {"x": 1000})
    refuted = [o for o in check_launch(check_kernel(kernel, [site]).summary, site) if o.counterexample]
    assert refuted[0].counterexample is not None
    assert "writes `x[1000]`" in refuted[0].counterexample.related[0].label


def test_a_block_of_more_than_1024_threads_cannot_be_launched() -> None:
    kernel = scale()
    assert launch_rules(kernel, launch(kernel, 4, (64, 32, 1), {"n": 10})) == {"GS113"}


def test_two_launches_on_halves_of_a_buffer_touch_no_common_byte() -> None:
    kernel = scale()
    site = launch(kernel, 2, 256, {"n": 500, "x": 1000})
    summary = check_kernel(kernel, [site]).summary
    ctx = z3.Context()
    first, second = (footprint(summary, site, 0, ctx, prefix) for prefix in ("a!", "b!"))
    assert first is not None and second is not None
    assert [a.mode for a in first] == ["write"]
    solver = z3.Solver(ctx=ctx)
    solver.add(*first[0].constraints, *second[0].constraints)
    assert solver.check() == z3.sat
    half = 500 * 4
    solver.add(first[0].offset + first[0].size > second[0].offset + half, second[0].offset + half + 4 > first[0].offset)
    assert solver.check() == z3.unsat


def test_a_block_that_is_larger_than_its_shared_array_leaves_it() -> None:
    k = KernelBuilder("tile")
    s = k.shared("s", 128)
    k.store(s, k.tid)
    kernel = k.build()
    assert rules(kernel, launch(kernel, 4, 256)) == {"GS205"}
    assert verdict(kernel, launch(kernel, 4, 128)) == "proved"
    assert "accesses of `s` stay inside" in check_kernel(kernel).assumptions


def test_dynamic_shared_memory_must_hold_what_the_kernel_uses() -> None:
    k = KernelBuilder("dynamic")
    tile = k.dynamic_shared("tile")
    k.store(tile, k.tid + k.threads)
    kernel = k.build()
    assert launch_rules(kernel, launch(kernel, 4, 128, shared=1024)) == set()
    assert launch_rules(kernel, launch(kernel, 4, 128, shared=512)) == {"GS113"}


def test_a_condition_that_the_kernel_states_is_held_against_the_launch() -> None:
    k = KernelBuilder("stated")
    n = k.scalar("n")
    k.store(k.pointer("x"), k.gid)
    kernel = replace(k.build(), requires=((n <= 100).expr,))
    assert launch_rules(kernel, launch(kernel, 4, 128, {"n": 100})) == set()
    assert launch_rules(kernel, launch(kernel, 4, 128, {"n": 101})) == {"GS113"}


def meets_the_grid(only_some: bool = False) -> Kernel:
    k = KernelBuilder("meets")
    x = k.pointer("x")
    i = k.var("i", k.gid)
    k.store(x, i)
    if only_some:
        with k.when(k.special("ctaid.x") < 1):
            k.sync(Scope.DEVICE)
    else:
        k.sync(Scope.DEVICE)
    return k.build()


def test_a_barrier_of_the_grid_needs_a_cooperative_launch() -> None:
    kernel = meets_the_grid()
    plain = launch(kernel, 2, 64, {"x": 128})
    assert plain.op.shape is not None
    together = replace(plain, op=replace(plain.op, shape=replace(plain.op.shape, cooperative=True)))
    assert launch_rules(kernel, plain) == {"GS113"}
    assert launch_rules(kernel, together) == set()


def test_a_barrier_of_the_grid_behind_a_condition_is_no_error_of_the_launch_but_no_proof() -> None:
    kernel = meets_the_grid(only_some=True)
    site = launch(kernel, 2, 64, {"x": 128})
    found = {o.verdict for o in check_launch(check_kernel(kernel, [site]).summary, site) if o.rule == "GS113"}
    assert Verdict.UNKNOWN in found and Verdict.REFUTED not in found


def test_without_a_launch_a_barrier_of_the_grid_asks_for_a_cooperative_one() -> None:
    result = check_kernel(meets_the_grid())
    assert any("cooperative launch" in words for words in result.assumptions)


def test_three_angle_brackets_launch_no_grid_at_once() -> None:
    kernel = replace(meets_the_grid(), dialect="cuda-c")
    plain = replace(kernel, launched=(LaunchSize((2, 1, 1), (64, 1, 1), kernel.span),))
    assert verdict(kernel) == "proved"
    assert rules(plain) == {"GS113"}
