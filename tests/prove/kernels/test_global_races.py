"""Races in global memory: maps, strides, rows, wraps, and what the host's launch has to do with it."""

from dataclasses import replace

import pytest
from builder import KernelBuilder, V, launch, span
from verdicts import launch_rules, rules, verdict

from gpusafe.ir.expr import F32, I32, U32, U64, Binary, Cast, Const, Op, Sym, Unary
from gpusafe.ir.kernel import Kernel, Scope, Store
from gpusafe.prove.kernels import check_kernel
from gpusafe.verdict import Verdict


def saxpy(offset: int = 0) -> Kernel:
    k = KernelBuilder("saxpy")
    y, x, n = k.pointer("y"), k.pointer("x"), k.scalar("n")
    i = k.var("i", k.gid)
    with k.when(i + offset < n):
        k.store(y, i, k.load(x, i) + k.load(y, i + offset))
    return k.build()


def test_a_guarded_map_is_proved_for_every_one_dimensional_launch() -> None:
    result = check_kernel(saxpy())
    assert [o.verdict for o in result.obligations] == [Verdict.PROVED]
    assert "a one-dimensional launch" in result.summary.in_words
    assert result.summary.params[0].writes
    assert not result.summary.params[1].writes


def test_reading_the_neighbour_in_place_is_a_race() -> None:
    kernel = saxpy(1)
    assert rules(kernel, launch(kernel, 4, 256, {"n": 1000})) == {"GS201"}


def test_a_race_names_both_sides_and_the_threads() -> None:
    kernel = saxpy(1)
    refuted = [o for o in check_kernel(kernel, [launch(kernel, 4, 256, {"n": 1000})]).obligations if o.counterexample]
    example = refuted[0].counterexample
    assert example is not None
    assert "writes `y[1]`" in example.primary.label
    assert "reads `y[1]`" in example.related[0].label
    assert any("`n` = 1000" in note for note in example.notes)


def test_a_one_dimensional_kernel_races_in_a_two_dimensional_block_and_the_launch_is_to_blame() -> None:
    kernel = saxpy()
    flat, square = launch(kernel, 4, 256, {"n": 1000}), launch(kernel, 32, (32, 8, 1), {"n": 1000})
    assert verdict(kernel, flat, square) == "proved"
    assert launch_rules(kernel, flat) == set()
    assert launch_rules(kernel, square) == {"GS113"}


@pytest.mark.parametrize(("stride_of_grid", "expected"), [(True, "proved"), (False, "refuted")])
def test_a_grid_stride_loop_must_step_by_the_whole_grid(stride_of_grid: bool, expected: str) -> None:
    k = KernelBuilder("stride")
    y, n = k.pointer("y"), k.scalar("n", U64)
    step = (k.threads * k.blocks if stride_of_grid else k.threads).to(U64)
    with k.count("i", k.gid.to(U64), n, step) as i:
        k.store(y, i)
    kernel = k.build()
    assert verdict(kernel, launch(kernel, 4, 256, {"n": 10_000})) == expected


def test_a_signed_grid_stride_counter_that_cannot_overflow_is_proved() -> None:
    k = KernelBuilder("stride")
    y, n = k.pointer("y"), k.scalar("n", I32)
    i = k.var("i", k.gid.to(I32))
    with k.loop(i < n):
        k.store(y, i.to(U64))
        k.set(i, V(Cast(I32, Binary(U32, Op.ADD, Cast(U32, i.expr), (k.threads * k.blocks).expr))))
    kernel = k.build()
    assert verdict(kernel, launch(kernel, 4, 256, {"n": 100_000})) == "proved"


def rows(guard: bool) -> Kernel:
    k = KernelBuilder("rows")
    out, width, height = k.pointer("out"), k.scalar("width"), k.scalar("height")
    x = k.var("x", k.gid)
    y = k.var("y", k.special("ctaid.y") * k.special("ntid.y") + k.special("tid.y"))
    inside = (x < width) & (y < height) if guard else y < height
    with k.when(inside):
        k.store(out, y.to(U64) * width.to(U64) + x.to(U64))
    return k.build()


def test_rows_guarded_by_their_width_are_proved_for_any_width() -> None:
    assert verdict(rows(True)) == "proved"


def test_rows_without_a_column_guard_overflow_into_the_next_row() -> None:
    kernel = rows(False)
    site = launch(kernel, (3, 3, 1), (16, 16, 1), {"width": 40, "height": 48})
    assert rules(kernel, site) == {"GS201"}


def test_a_batch_stride_that_is_too_small_is_a_race() -> None:
    def batch(stride: int) -> str:
        k = KernelBuilder("batch")
        m, r, c, s = k.pointer("m"), k.scalar("rows"), k.scalar("cols"), k.scalar("stride")
        x, y = k.var("x", k.gid), k.var("y", k.special("ctaid.y") * k.special("ntid.y") + k.special("tid.y"))
        with k.when((x < c) & (y < r)):
            k.store(m, (k.special("ctaid.z") * s + y * c + x).to(U64))
        kernel = k.build()
        return verdict(kernel, launch(kernel, (3, 3, 6), (16, 8, 1), {"rows": 24, "cols": 40, "stride": stride}))

    assert batch(24 * 40) == "proved"
    assert batch(24 * 24) == "refuted"


def test_an_index_that_wraps_at_32_bits_is_not_proved() -> None:
    k = KernelBuilder("wraps")
    y, n = k.pointer("y"), k.scalar("n")
    i = k.var("i", k.gid * 4)
    with k.when(k.gid < n):
        k.store(y, i.to(U64))
    kernel = k.build()
    assert verdict(kernel, launch(kernel, 2**22, 512, {"n": 2**31})) != "proved"
    assert verdict(kernel, launch(kernel, 4, 256, {"n": 1000})) == "proved"


def test_reversal_in_place_races_and_into_another_buffer_does_not() -> None:
    def reverse(in_place: bool) -> str:
        k = KernelBuilder("reverse")
        a, n = k.pointer("a"), k.scalar("n")
        source = a if in_place else k.pointer("b")
        i = k.var("i", k.gid)
        with k.when(i < n):
            k.store(a, i, k.load(source, n - 1 - i))
        kernel = k.build()
        n_of_host = Sym(U32, "n", 1, 1 << 24)
        blocks = Binary(U32, Op.DIV, Binary(U32, Op.ADD, n_of_host, Const(U32, 255)), Const(U32, 256))
        return verdict(kernel, launch(kernel, (blocks, 1, 1), 256, {"n": n_of_host}))  # type: ignore[arg-type]

    assert reverse(True) == "refuted"
    assert reverse(False) == "proved"


@pytest.mark.parametrize(("smaller_only", "expected"), [(True, "proved"), (False, "refuted")])
def test_a_bit_reversal_in_place_needs_one_thread_of_each_pair(smaller_only: bool, expected: str) -> None:
    k = KernelBuilder("shuffle")
    data = k.pointer("data")
    i = k.var("i", k.gid)
    with k.when(i >= 512):
        k.stop()
    j = k.var("j", V(Unary(U32, Op.BREV, i.expr)) >> 23)
    with k.when(i < j if smaller_only else i.ne(j)):
        a, b = k.load(data, i), k.load(data, j)
        k.store(data, i, b)
        k.store(data, j, a)
    kernel = k.build()
    assert verdict(kernel, launch(kernel, 2, 256)) == expected


def test_an_index_read_from_memory_is_neither_proved_nor_called_an_error() -> None:
    k = KernelBuilder("scatter")
    out, to, n = k.pointer("out"), k.pointer("to", U32, read_only=True), k.scalar("n")
    with k.when(k.gid < n):
        k.store(out, k.load(to, k.gid))
    kernel = k.build()
    result = check_kernel(kernel, [launch(kernel, 4, 256, {"n": 1000})])
    assert [o.verdict for o in result.obligations] == [Verdict.UNKNOWN]
    assert "values read from memory" in (result.obligations[0].reason or "")


def test_a_kernel_that_never_asks_which_thread_it_is_waits_for_its_launch() -> None:
    k = KernelBuilder("total")
    k.store(k.pointer("out"), 0)
    kernel = k.build()
    alone = check_kernel(kernel)
    assert {o.verdict for o in alone.obligations} == {Verdict.PROVED, Verdict.UNKNOWN}
    assert rules(kernel, launch(kernel, 1, 32)) == {"GS201"}
    assert {o.verdict for o in check_kernel(kernel, [launch(kernel, 1, 1)]).obligations} == {Verdict.PROVED}


def test_a_scalar_that_no_launch_fixes_decides_nothing() -> None:
    k = KernelBuilder("pitch")
    out, pitch, width = k.pointer("out"), k.scalar("pitch"), k.scalar("width")
    x, y = k.var("x", k.gid), k.var("y", k.special("ctaid.y") * k.special("ntid.y") + k.special("tid.y"))
    with k.when(x < width):
        k.store(out, y.to(U64) * pitch.to(U64) + x.to(U64))
    assert verdict(k.build()) == "unknown"


def test_atomics_on_one_cell_are_no_race_but_a_plain_store_beside_them_is() -> None:
    def count(reset: bool) -> Kernel:
        k = KernelBuilder("count")
        counter = k.pointer("counter", U32)
        if reset:
            with k.when(k.gid.eq(0)):
                k.store(counter, 0, 0)
        k.atomic_add(counter, 0)
        return k.build()

    assert verdict(count(False)) == "proved"
    assert rules(count(True), launch(count(True), 4, 256)) == {"GS206"}


def test_block_scope_atomics_do_not_include_the_other_blocks() -> None:
    k = KernelBuilder("count")
    k.atomic_add(k.pointer("counter", U32), 0, scope=Scope.BLOCK)
    kernel = k.build()
    assert rules(kernel, launch(kernel, 4, 256)) == {"GS301"}
    assert verdict(kernel, launch(kernel, 1, 256)) == "proved"


def test_tickets_of_an_atomic_counter_are_places_of_their_own() -> None:
    k = KernelBuilder("append")
    list_, counter = k.pointer("list", U32), k.pointer("counter", U32)
    k.store(list_, k.atomic_add(counter, 0), 1)
    kernel = k.build()
    assert verdict(kernel, launch(kernel, 4, 256)) == "proved"


def test_two_exclusive_borrows_of_one_element_are_refuted() -> None:
    k = KernelBuilder("borrow")
    out = k.pointer("out")
    k.borrow(out, k.gid // 2)
    kernel = k.build()
    assert rules(kernel, launch(kernel, 4, 256)) == {"GS208"}


def test_two_arguments_that_overlap_are_one_object() -> None:
    kernel = saxpy(0)
    site = launch(kernel, 4, 256, {"n": 1000})
    assert verdict(kernel, site) == "proved"


@pytest.mark.parametrize(("stated", "expected"), [(True, "proved"), (False, "unknown")])
def test_a_scatter_is_proved_when_the_user_states_that_the_index_repeats_nothing(stated: bool, expected: str) -> None:
    k = KernelBuilder("scatter")
    out, to, n = k.pointer("out"), k.pointer("to", U32, read_only=True), k.scalar("n")
    with k.when(k.gid < n):
        k.store(out, k.load(to, k.gid))
    kernel = replace(k.build(), injective=("to",) if stated else ())
    assert verdict(kernel, launch(kernel, 4, 256, {"n": 1000})) == expected
    if stated:
        assert "`to` holds no value twice" in check_kernel(kernel).assumptions


def test_more_threads_than_counters_race_whatever_the_contents_are() -> None:
    def degrees(nodes: int) -> Kernel:
        k = KernelBuilder("degrees")
        targets, degree, n = k.pointer("targets", U32, read_only=True), k.pointer("degree", U32), k.scalar("n")
        with k.when(k.gid < n):
            v = k.load(targets, k.gid)
            with k.when(v < nodes):
                k.store(degree, v, k.load(degree, v) + 1)
        return k.build()

    crowded, roomy = degrees(500), degrees(5000)
    assert rules(crowded, launch(crowded, 4, 256, {"n": 1000, "degree": 500})) == {"GS201"}
    assert verdict(roomy, launch(roomy, 4, 256, {"n": 1000, "degree": 5000})) == "unknown"


def test_threads_that_a_flag_in_memory_chooses_are_not_counted() -> None:
    k = KernelBuilder("compact")
    flags, places, out = (k.pointer(n, U32, read_only=n != "out") for n in ("flags", "places", "out"))
    with k.when(k.load(flags, k.gid) < 1):
        k.store(out, k.load(places, k.gid), k.gid)
    kernel = k.build()
    assert verdict(kernel, launch(kernel, 4, 256, {"flags": 1024, "places": 1024, "out": 10})) == "unknown"


def test_a_race_inside_an_inlined_function_names_the_call() -> None:
    call = span(77)
    k = KernelBuilder("total")
    out = k.pointer("out")
    k.emit(Store(span(5), out.at(0), Const(F32, 0.0), 4, calls=(call,)))
    kernel = k.build()
    refuted = [o.counterexample for o in check_kernel(kernel, [launch(kernel, 4, 64)]).obligations if o.counterexample]
    assert [site.span for site in refuted[0].related] == [span(5), call]
