"""What a launch has to fulfil: buffer sizes, block sizes, dynamic shared memory; and footprints for the host side."""

import z3
from builder import KernelBuilder, launch
from verdicts import launch_rules

from gpusafe.ir.kernel import Kernel
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
