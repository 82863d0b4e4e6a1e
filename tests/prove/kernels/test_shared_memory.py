"""Shared memory and barriers: phases, loops, divergence, warps, asynchronous copies."""

import pytest
from builder import KernelBuilder, launch, select
from verdicts import rules, verdict

from gpusafe.ir import kernel as ir
from gpusafe.ir.expr import F32, I64, PTR, U16, U32, U64, Const, PtrAdd
from gpusafe.ir.kernel import Kernel, Scope


def reduction(barrier: bool = True, guard: str = "<", inside: bool = False) -> Kernel:
    k = KernelBuilder("reduce")
    x, out, s = k.pointer("x"), k.pointer("out"), k.shared("s", 512)
    t = k.tid
    k.store(s, t, k.load(x, k.gid))
    k.sync()
    half = k.var("half", 128)
    with k.loop(half > 0):
        taking_part = {"<": t < half, "<=": t <= half, "none": t < 256}[guard]
        with k.when(taking_part):
            k.store(s, t, k.load(s, t) + k.load(s, t + half))
            if inside:
                k.sync()
        if barrier:
            k.sync()
        k.set(half, half // 2)
    with k.when(t.eq(0)):
        k.store(out, k.block, k.load(s, 0))
    return k.build()


def test_a_tree_reduction_is_proved() -> None:
    assert verdict(reduction()) == "proved"


@pytest.mark.parametrize("guard", ["<=", "none"])
def test_a_tree_reduction_with_too_many_threads_taking_part_races(guard: str) -> None:
    kernel = reduction(guard=guard)
    assert rules(kernel, launch(kernel, 8, 256)) == {"GS202"}


def test_a_tree_reduction_without_the_barrier_in_its_loop_races() -> None:
    kernel = reduction(barrier=False)
    assert rules(kernel, launch(kernel, 8, 256)) == {"GS202"}


def test_a_barrier_inside_the_active_half_diverges() -> None:
    kernel = reduction(barrier=False, inside=True)
    assert "GS203" in rules(kernel, launch(kernel, 8, 256))


@pytest.mark.parametrize(("trailing", "expected"), [(True, "proved"), (False, "refuted")])
def test_a_tile_that_is_reused_needs_a_barrier_after_its_last_read(trailing: bool, expected: str) -> None:
    k = KernelBuilder("tiles")
    x, n, s = k.pointer("x"), k.scalar("n", U64), k.shared("s", 256)
    with k.count("tile", 0, n, 1, U64) as tile:
        k.store(s, k.tid, k.load(x, tile))
        k.sync()
        k.load(s, 255 - k.tid)
        if trailing:
            k.sync()
    kernel = k.build()
    assert verdict(kernel, launch(kernel, 4, 256, {"n": 50})) == expected


@pytest.mark.parametrize(("two_buffers", "expected"), [(True, "proved"), (False, "refuted")])
def test_a_scan_with_one_barrier_a_step_needs_two_buffers(two_buffers: bool, expected: str) -> None:
    k = KernelBuilder("scan")
    s, t = k.shared("s", 512, U32), k.tid
    k.store(s, t, 1)
    k.sync()
    source, target, step = k.var("source", 0), k.var("target", 256 if two_buffers else 0), k.var("step", 1)
    with k.loop(step < 256):
        own = k.load(s, source + t)
        other = k.load(s, select(t >= step, source + t - step, source + t))
        k.store(s, target + t, own + other)
        k.sync()
        swap = k.var("swap", source)
        k.set(source, target)
        k.set(target, swap)
        k.set(step, step * 2)
    kernel = k.build()
    assert verdict(kernel, launch(kernel, 4, 256)) == expected


def test_an_early_return_before_a_barrier_diverges_only_in_a_partial_block() -> None:
    k = KernelBuilder("tail")
    x, n, s = k.pointer("x"), k.scalar("n"), k.shared("s", 256)
    with k.when(k.gid >= n):
        k.stop()
    k.store(s, k.tid, k.load(x, k.gid))
    k.sync()
    k.store(x, k.gid, k.load(s, k.tid))
    kernel = k.build()
    assert rules(kernel, launch(kernel, 4, 256, {"n": 1000})) == {"GS203"}
    assert verdict(kernel, launch(kernel, 4, 256, {"n": 1024})) == "proved"


def test_a_barrier_under_a_uniform_condition_is_reached_by_all() -> None:
    k = KernelBuilder("uniform")
    n, s = k.scalar("n"), k.shared("s", 256)
    k.store(s, k.tid)
    with k.when(n > 5):
        k.sync()
        k.load(s, 255 - k.tid)
    kernel = k.build()
    assert verdict(kernel, launch(kernel, 4, 256)) == "proved"


def test_loops_of_different_length_around_a_barrier_diverge() -> None:
    k = KernelBuilder("lengths")
    n, s = k.scalar("n"), k.shared("s", 256)
    with k.count("i", k.tid, n, 256):
        k.store(s, k.tid)
        k.sync()
    kernel = k.build()
    assert rules(kernel, launch(kernel, 1, 256, {"n": 1000})) == {"GS203"}
    assert verdict(kernel, launch(kernel, 1, 256, {"n": 1024})) == "proved"


def test_a_flag_read_after_a_barrier_is_the_same_for_all_threads() -> None:
    k = KernelBuilder("flag")
    s, flag = k.shared("s", 256), k.shared("flag", 1, U32)
    with k.when(k.tid.eq(0)):
        k.store(flag, 0, 1)
    k.sync()
    with k.when(k.load(flag, 0).ne(0)):
        k.sync()
        k.store(s, k.tid)
    kernel = k.build()
    assert verdict(kernel, launch(kernel, 4, 256)) == "proved"


@pytest.mark.parametrize(("synced", "expected"), [(True, "proved"), (False, "refuted")])
def test_lanes_of_a_warp_do_not_run_in_lockstep(synced: bool, expected: str) -> None:
    k = KernelBuilder("warp")
    s = k.shared("s", 128)
    k.store(s, k.tid)
    if synced:
        k.sync(Scope.WARP)
    k.load(s, k.tid ^ 1)
    kernel = k.build()
    assert verdict(kernel, launch(kernel, 2, 128)) == expected


def test_a_warp_barrier_orders_nothing_across_warps() -> None:
    k = KernelBuilder("warp")
    s = k.shared("s", 128)
    k.store(s, k.tid)
    k.sync(Scope.WARP)
    k.load(s, (k.tid + 32) % 128)
    kernel = k.build()
    assert rules(kernel, launch(kernel, 2, 128)) == {"GS202"}


def test_a_block_barrier_does_not_order_blocks_but_a_grid_barrier_does() -> None:
    def sums(scope: Scope) -> str:
        k = KernelBuilder("sums")
        x = k.pointer("x")
        with k.when(k.tid.eq(0)):
            k.store(x, k.block)
        k.sync(scope)
        k.load(x, (k.block + 1) % 16)
        kernel = k.build()
        return verdict(kernel, launch(kernel, 16, 64))

    assert sums(Scope.BLOCK) == "refuted"
    assert sums(Scope.DEVICE) == "proved"


def staged(trailing: bool) -> Kernel:
    """Two stages filled by cp.async one tile ahead."""
    k = KernelBuilder("staged")
    x, stage, tiles = k.pointer("x"), k.shared("stage", 256), k.scalar("tiles")

    def copy(index: object, source: object) -> None:
        k.emit(ir.AsyncCopy(k._span(), "cp.async", stage.at(index), x.at(source), Const(U32, 4)))  # type: ignore[arg-type]

    def control(action: str, pending: int = 0) -> None:
        k.emit(ir.AsyncControl(k._span(), action, pending))

    copy(k.tid, k.gid)
    control("commit")
    with k.count("i", 0, tiles) as i:
        with k.when(i + 1 < tiles):
            copy((i + 1) % 2 * 128 + k.tid, k.gid + i)
        control("commit")
        control("wait", 1)
        k.sync()
        k.load(stage, i % 2 * 128 + (k.tid + 1) % 128)
        if trailing:
            k.sync()
    return k.build()


def test_a_stage_may_be_refilled_only_after_all_have_read_it() -> None:
    kernel = staged(True)
    assert verdict(kernel, launch(kernel, 2, 128, {"tiles": 9})) == "proved"
    kernel = staged(False)
    assert verdict(kernel, launch(kernel, 2, 128, {"tiles": 9})) == "refuted"


def test_a_copy_that_is_read_before_its_wait_is_refuted() -> None:
    k = KernelBuilder("early")
    x, stage = k.pointer("x"), k.shared("stage", 128, F32)
    k.emit(ir.AsyncCopy(k._span(), "cp.async", stage.at(k.tid), x.at(k.gid), Const(U32, 4)))
    k.emit(ir.AsyncControl(k._span(), "commit"))
    k.load(stage, k.tid)
    kernel = k.build()
    assert rules(kernel, launch(kernel, 2, 128)) == {"GS305"}


def test_what_is_not_modelled_is_never_proved() -> None:
    k = KernelBuilder("gap")
    k.emit(ir.Unmodelled(k._span(), "a call of `mystery`"))
    k.store(k.pointer("x"), k.gid)
    assert verdict(k.build()) == "unknown"


def test_a_narrow_store_leaves_the_rest_of_a_wider_one_written() -> None:
    k = KernelBuilder("halves")
    out, s = k.pointer("out"), k.shared("s", 64, U32)
    k.store(s, k.tid, 0)
    k.emit(ir.Store(k._span(), s.at(k.tid), Const(U16, 7), 2))
    k.emit(ir.Load(k._span(), "rest", PtrAdd(PTR, s.at(k.tid), Const(I64, 2)), U16))
    k.store(out, k.gid, 1)
    kernel = k.build()
    assert verdict(kernel, launch(kernel, 1, 64, {"out": 64})) == "proved"


def test_half_a_word_that_nothing_wrote_is_blank() -> None:
    k = KernelBuilder("halves")
    out, s = k.pointer("out"), k.shared("s", 64, U32)
    k.emit(ir.Store(k._span(), s.at(k.tid), Const(U16, 7), 2))
    k.emit(ir.Load(k._span(), "rest", PtrAdd(PTR, s.at(k.tid), Const(I64, 2)), U16))
    k.store(out, k.gid, 1)
    kernel = k.build()
    assert rules(kernel, launch(kernel, 1, 64, {"out": 64})) == {"GS207"}
