"""Loops are walked exactly or until they repeat; branches are decided, merged or forked."""

from __future__ import annotations

import pytest

from gpusafe.ir.host import Gap
from tests.dataflow.host.walking import CUDARC, line, main_paths, program_of, work

HEAD = (
    "fn main() { let ctx = CudaContext::new(0).unwrap(); unsafe { "
    "ctx.disable_event_tracking() }; let s = ctx.new_stream().unwrap(); "
    "let t = ctx.new_stream().unwrap(); let mut a = s.alloc_zeros::<f32>(64).unwrap(); "
)


def paths(body: str, items: str = "") -> list[list[str]]:
    return [[line(p, op) for op in p.ops][2:] for p in main_paths(CUDARC + items + HEAD + body + " }")]


def test_a_short_loop_is_walked_exactly() -> None:
    (found,) = paths("for _ in 0..7 { s.memset_zeros(&mut a).unwrap(); }")
    assert work(found).count("s memset write a") == 7


def test_a_long_loop_is_walked_until_it_repeats() -> None:
    (path,) = main_paths(CUDARC + HEAD + "for _ in 0..1000 { s.memset_zeros(&mut a).unwrap(); } }")
    assert path.generalised == ("loop at main.rs:5: period 1",)
    assert not [op for op in path.ops if isinstance(op, Gap)]


def test_a_ring_of_three_has_period_three() -> None:
    body = (
        "let mut r = vec![s.alloc_zeros::<f32>(4).unwrap(), s.alloc_zeros(4).unwrap(), s.alloc_zeros(4).unwrap()]; "
        "for i in 0..999 { s.memset_zeros(&mut r[i % 3]).unwrap(); } }"
    )
    (path,) = main_paths(CUDARC + HEAD + body)
    assert path.generalised[0].endswith("period 3")
    assert not [op for op in path.ops if isinstance(op, Gap)]


def test_the_event_of_the_round_before_is_the_same_in_every_round() -> None:
    body = (
        "let mut last: Option<CudaEvent> = None; for _ in 0..999 { if let Some(e) = &last { "
        "t.wait(e).unwrap(); } last = Some(s.record_event(None).unwrap()); } }"
    )
    (path,) = main_paths(CUDARC + HEAD + body)
    assert path.generalised[0].endswith("period 1")


def test_a_counter_that_decides_in_a_long_loop_is_a_gap() -> None:
    (found,) = paths(
        "for i in 0..1000 { if i == 500 { t.memset_zeros(&mut a).unwrap(); } s.memset_zeros(&mut a).unwrap(); }"
    )
    assert [x for x in found if x.startswith("gap loop not summarised")]


def test_a_while_loop_counts_too() -> None:
    (found,) = paths("let mut i = 0; while i < 5 { s.memset_zeros(&mut a).unwrap(); i += 1; }")
    assert found.count("s memset write a") == 5
    (long,) = paths(
        "let mut i = 0; while i < 500 { if i == 400 { t.synchronize().unwrap(); } "
        "s.memset_zeros(&mut a).unwrap(); i += 1; }"
    )
    assert [x for x in long if x.startswith("gap loop not summarised")]


def test_a_loop_over_an_unknown_number_may_not_run() -> None:
    found = paths("for x in std::env::args() { s.memset_zeros(&mut a).unwrap(); }")
    assert sorted(f.count("s memset write a") > 0 for f in found) == [False, True]


def test_lists_that_grow_in_a_long_loop_are_still_a_repetition() -> None:
    body = "let mut v = Vec::new(); for _ in 0..100 { v.push(s.alloc_zeros::<f32>(4).unwrap()); } }"
    (path,) = main_paths(CUDARC + HEAD + body)
    assert path.generalised[0].endswith("period 1")


def test_a_loop_ends_where_its_queue_is_empty() -> None:
    body = (
        "let mut q = std::collections::VecDeque::new(); q.push_back(1); q.push_back(2); "
        "while let Some(x) = q.pop_front() { s.memset_zeros(&mut a).unwrap(); }"
    )
    (found,) = paths(body)
    assert found.count("s memset write a") == 2


def test_unknown_conditions_fork_and_stay_decided() -> None:
    text = (
        CUDARC
        + """
pub fn run(s: &Arc<CudaStream>, a: &mut CudaSlice<u8>, flush: bool) {
    if flush { s.synchronize().unwrap(); }
    s.memset_zeros(a).unwrap();
    if flush { s.synchronize().unwrap(); }
}
"""
    )
    found = [[line(p, op) for op in p.ops if line(p, op).startswith("sync")] for p in program_of(text).paths]
    assert sorted(len(f) for f in found) == [0, 0, 2, 2]


def test_branches_without_gpu_work_are_joined() -> None:
    text = (
        CUDARC
        + """
pub fn run(s: &Arc<CudaStream>, a: &mut CudaSlice<u8>, big: bool, wide: bool, n: u32) {
    let x = if big { n } else { 2 };
    let mut y = 1;
    if wide { y = x * 2; println!("wide"); }
    unsafe { s.launch_builder(&f()).arg(&y).launch(LaunchConfig::for_num_elems(x)); }
}
"""
    )
    assert len(program_of(text).paths) == 1


def test_an_unknown_result_returns_early_on_a_path_of_its_own() -> None:
    body = (
        "s.memset_zeros(&mut a).unwrap(); "
        'let n: usize = std::fs::read_to_string("n").unwrap().len(); '
        'std::fs::write("x", "y")?; s.synchronize().unwrap();'
    )
    found = paths(body)
    assert sorted(any(x == "sync s" for x in f) for f in found) == [False, True]


def test_api_calls_are_taken_to_succeed() -> None:
    items = "fn go(s: &Arc<CudaStream>) -> Result<(), DriverError> { s.synchronize()?; s.synchronize() }"
    (found,) = paths("if go(&s).is_err() { t.synchronize().unwrap(); }", items)
    assert "sync t" not in found


def test_match_on_a_known_variant_is_decided() -> None:
    items = "enum Mode { One, Two(u32) }"
    (found,) = paths(
        (
            "match Mode::Two(3) { "
            "Mode::One => s.synchronize().unwrap(), Mode::Two(n) if n > 2 => t.synchronize().unwrap(), _ => {} "
            "}"
        ),
        items,
    )
    assert [x for x in found if x.startswith("sync")] == ["sync t"]


@pytest.mark.parametrize(
    ("before", "counting", "decides"),
    [
        ("", "", "i % 10 != 9"),
        ("", "", "i.rem_euclid(7) != 6"),
        ("let mut k = 0;", "k += 1;", "k != 57"),
        ("let mut k = 0u32;", "k = (k + 1) % 10;", "k != 9"),
        ("let mut k = [0u32; 2];", "k[0] += 1;", "k[0] != 57"),
        ("struct R { k: u32 } let mut r = R { k: 0 };", "r.k += 1;", "r.k < 60"),
        ("let mut log = Vec::new();", "log.push(1u8);", "log.len() != 57"),
    ],
)
def test_what_a_loop_counts_may_decide_a_later_round(before: str, counting: str, decides: str) -> None:
    body = f"{before} for i in 0..100i32 {{ {counting} if {decides} {{ s.memset_zeros(&mut a).unwrap(); }} }}"
    assert [x for found in paths(body) for x in found if x.startswith("gap loop not summarised")]


def test_an_index_that_comes_back_to_its_values_is_part_of_the_state() -> None:
    body = "let r = [&s, &t]; let mut k = 0usize; for _ in 0..100 { r[k].memset_zeros(&mut a).unwrap(); k = 1 - k; } }"
    (path,) = main_paths(CUDARC + HEAD + body)
    assert path.generalised[0].endswith("period 2")
    assert not [op for op in path.ops if isinstance(op, Gap)]


def test_an_unknown_left_side_decides_whether_the_right_one_runs() -> None:
    found = paths("let quick = std::env::args().count() > 3; let _done = quick || s.synchronize().is_ok();")
    assert sorted(sum("sync" in x for x in path) for path in found) == [0, 1]
