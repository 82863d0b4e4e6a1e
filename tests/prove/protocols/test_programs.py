"""Protocols between a few threads, from source to verdict: each beside the one that lacks an order."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusafe.app import check
from gpusafe.config import Options

PROGRAM = """\
use cuda_core::{CudaContext, DeviceBuffer, LaunchConfig};
use cuda_device::atomic::{AtomicOrdering, BlockAtomicU32, DeviceAtomicU32};
use cuda_device::fence::{threadfence, threadfence_block};
use cuda_device::{DisjointSlice, cuda_module, kernel, thread};

#[cuda_module]
mod kernels {
    use super::*;

    #[kernel]
    pub fn protocol(s: &[%ATOMIC%], n: u32, mut data: DisjointSlice<u32>, mut out: DisjointSlice<u32>) {
        let b = thread::blockIdx_x() as usize;
        let t = thread::threadIdx_x() as usize;
        let d = data.as_mut_ptr();
        let o = out.as_mut_ptr();
        unsafe {
%BODY%
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let n: u32 = std::env::args().count() as u32;
    let ctx = CudaContext::new(0)?;
    let stream = ctx.default_stream();
    let module = kernels::load(&ctx)?;
    let s = DeviceBuffer::<u32>::zeroed(&stream, 8)?.cast_elem::<%ATOMIC%>();
    let mut data = DeviceBuffer::<u32>::zeroed(&stream, 64)?;
    let mut out = DeviceBuffer::<u32>::zeroed(&stream, 64)?;
    let config = LaunchConfig { grid_dim: (%BLOCKS%, 1, 1), block_dim: (%THREADS%, 1, 1), shared_mem_bytes: 0 };
    unsafe { module.protocol(&stream, config, &s, n, &mut data, &mut out) }?;
    println!("{:?}", out.to_host_vec(&stream)?);
    Ok(())
}
"""
RELAXED, ACQUIRE, RELEASE = (f"AtomicOrdering::{o}" for o in ("Relaxed", "Acquire", "Release"))

ENTRY = """
            if t != 0 { return; }
            s[b].store(1, AtomicOrdering::Release);
            threadfence();
            if s[1 - b].load(AtomicOrdering::Acquire) == 0 { *d += 1; }
"""
RELAY = """
            if b == 0 && t == 0 { *d = 7; s[0].store(1, AtomicOrdering::Release); }
            if b == 0 && t == 32 {
                while s[0].load(AtomicOrdering::Acquire) != 1 {}
                s[1].store(1, AtomicOrdering::Release);
            }
            if b == 1 && t == 0 { while s[1].load(AtomicOrdering::Acquire) != 1 {} *o = *d; }
"""
LETTERS = """
            if t != 0 { return; }
            if b == 0 {
                *d = 1;
                s[0].store(1, AtomicOrdering::Release);
                while s[1].load(AtomicOrdering::Acquire) != 1 {}
                *d = 2;
                s[0].store(2, AtomicOrdering::Release);
            } else {
                while s[0].load(AtomicOrdering::Acquire) != 1 {}
                *o = *d;
                s[1].store(1, AtomicOrdering::Release);
                while s[0].load(AtomicOrdering::Acquire) != 2 {}
                *o.add(1) = *d;
            }
"""
PETERSON = """
            if t != 0 { return; }
            let other = 1 - b;
            s[b].store(1, AtomicOrdering::Relaxed);
            s[2].swap(other as u32, AtomicOrdering::AcqRel);
            while s[other].load(AtomicOrdering::Acquire) == 1
                && s[2].load(AtomicOrdering::Acquire) == other as u32 {}
            *d += 1;
            s[b].store(0, AtomicOrdering::Release);
"""
RING = """
            if t != 0 { return; }
            let mut k = 0u32;
            while k < 4 {
                if b == 0 {
                    while k >= s[1].load(AtomicOrdering::Acquire) + 2 {}
                    *d.add((k % 2) as usize) = k;
                    s[0].store(k + 1, AtomicOrdering::Release);
                } else {
                    while s[0].load(AtomicOrdering::Acquire) <= k {}
                    *o.add(k as usize) = *d.add((k % 2) as usize);
                    s[1].store(k + 1, AtomicOrdering::Release);
                }
                k += 1;
            }
"""
LOCK = """
            if t != 0 { return; }
            while s[0].compare_exchange(0, 1, AtomicOrdering::Acquire, AtomicOrdering::Relaxed).is_err() {}
            *d += 1;
            s[0].store(0, AtomicOrdering::Release);
"""
TICKETS = """
            if t != 0 { return; }
            let mine = s[0].fetch_add(1, AtomicOrdering::Relaxed);
            while s[1].load(AtomicOrdering::Acquire) != mine {}
            *d += 1;
            s[1].store(mine + 1, AtomicOrdering::Release);
"""
ONE_WAITS_FOR_EVER = """
            if t != 0 { return; }
            if b == 2 { while s[3].load(AtomicOrdering::Acquire) == 0 {} }
            if b < 2 { *d = b as u32; }
"""
DOWNGRADED = """
            if t == 0 { *d = 1; s[0].store(1, AtomicOrdering::Release); }
            if t == 32 { while s[0].load(AtomicOrdering::Acquire) == 0 {} *o = *d; }
"""
CHANCE = """
            if t != 0 { return; }
            if b == 0 { *d = 1; s[0].store(1, AtomicOrdering::Release); }
            else if n == %N% || s[0].load(AtomicOrdering::Acquire) == 1 { *o = *d; }
"""


def outcome(folder: Path, body: str, blocks: int = 2, threads: int = 64, scope: str = "Device") -> tuple[str, set[str]]:
    """The kernel's verdict and the rules of its errors."""
    source = PROGRAM.replace("%BODY%", body).replace("%ATOMIC%", f"{scope}AtomicU32")
    source = source.replace("%BLOCKS%", str(blocks)).replace("%THREADS%", str(threads))
    (folder / "k.rs").write_text(source)
    report = check(Options(paths=(str(folder),), ptx="never"))
    unit = next(u for u in report.units if u.kind == "kernel")
    return unit.verdict.value, {f.rule for f in report.findings if f.level.value == "error"}


def without(body: str, what: str, instead: str = "", count: int = -1) -> str:
    assert what in body
    return body.replace(what, instead, count)


@pytest.mark.parametrize("body", [ENTRY, RELAY, LETTERS, PETERSON, RING, LOCK])
def test_a_protocol_with_its_orders_is_proved(tmp_path: Path, body: str) -> None:
    assert outcome(tmp_path, body) == ("proved", set())


@pytest.mark.parametrize(
    ("body", "rules"),
    [
        pytest.param(without(ENTRY, "threadfence();"), {"GS201"}, id="store buffering"),
        pytest.param(without(ENTRY, "threadfence();", "threadfence_block();"), {"GS301"}, id="a fence of the block"),
        pytest.param(without(RELAY, ACQUIRE, RELAXED, 1), {"GS302"}, id="the first hop does not acquire"),
        pytest.param(without(RELAY, RELEASE, RELAXED, 1), {"GS302"}, id="the first hop does not release"),
        pytest.param(without(LETTERS, ACQUIRE, RELAXED), {"GS302"}, id="letters, no acquire"),
        pytest.param(without(LETTERS, "s[1].store(1", "s[2].store(1"), set(), id="the answer goes elsewhere"),
        pytest.param(without(PETERSON, "AcqRel", "Relaxed"), {"GS201", "GS302"}, id="Peterson in relaxed order"),
        pytest.param(without(RING, "+ 2", "+ 3"), {"GS302", "GS201"}, id="a ring that overwrites"),
        pytest.param(without(RING, RELEASE, RELAXED), {"GS302"}, id="a ring without release"),
        pytest.param(without(LOCK, ACQUIRE, RELAXED), {"GS302"}, id="a lock without acquire"),
        pytest.param(without(LOCK, RELEASE, RELAXED), {"GS302"}, id="a lock without release"),
    ],
)
def test_without_one_of_its_orders_it_races(tmp_path: Path, body: str, rules: set[str]) -> None:
    verdict, found = outcome(tmp_path, body)
    if not rules:  # it never gets to the race
        assert verdict == "proved"
        return
    assert verdict == "refuted"
    assert found and found <= rules


def test_tickets_are_served_in_turn(tmp_path: Path) -> None:
    assert outcome(tmp_path, TICKETS, blocks=3, threads=32) == ("proved", set())


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(without(TICKETS, ACQUIRE, RELAXED), id="without acquire"),
        pytest.param(without(TICKETS, RELEASE, RELAXED), id="without release"),
        pytest.param(without(TICKETS, "fetch_add(1,", "fetch_add(0,"), id="everybody has the first ticket"),
        pytest.param(without(TICKETS, "mine + 1", "mine + 2"), id="one ticket is left out"),
        pytest.param(without(TICKETS, "!= mine", "> mine"), id="served too early"),
    ],
)
def test_tickets_that_do_not_exclude_are_not_proved(tmp_path: Path, body: str) -> None:
    verdict, _ = outcome(tmp_path, body, blocks=3, threads=32)
    assert verdict == ("proved" if "mine + 2" in body else "refuted")  # who is left out waits for ever, and never races


FENCED = """
            if t != 0 { return; }
            if b == 0 { *d = 7; %ONE%; s[0].store(1, AtomicOrdering::Relaxed); }
            else { while s[0].load(AtomicOrdering::Relaxed) == 0 {} %TWO%; *o = *d; }
"""


@pytest.mark.parametrize(
    ("one", "two", "verdict"),
    [
        ("Release", "Acquire", "proved"),
        ("AcqRel", "SeqCst", "proved"),
        ("Acquire", "Acquire", "refuted"),
        ("Release", "Release", "refuted"),
    ],
)
def test_fences_order_what_their_kind_says(tmp_path: Path, one: str, two: str, verdict: str) -> None:
    body = FENCED.replace("%ONE%", f"core::sync::atomic::fence(core::sync::atomic::Ordering::{one})")
    body = body.replace("%TWO%", f"core::sync::atomic::fence(core::sync::atomic::Ordering::{two})")
    assert outcome(tmp_path, body)[0] == verdict


def test_a_thread_that_waits_for_ever_hides_no_race(tmp_path: Path) -> None:
    assert outcome(tmp_path, ONE_WAITS_FOR_EVER, blocks=3)[0] == "refuted"


def test_block_scope_orders_within_a_block_only(tmp_path: Path) -> None:
    assert outcome(tmp_path, DOWNGRADED, 1, scope="Block") == ("proved", set())
    assert outcome(tmp_path, without(DOWNGRADED, "t == 32", "b == 1 && t == 0"), 2, 1, "Block")[0] == "refuted"


@pytest.mark.parametrize("tried", [7, 1000, 4099])
def test_a_number_that_the_launch_leaves_open_may_be_any(tmp_path: Path, tried: int) -> None:
    assert outcome(tmp_path, CHANCE.replace("%N%", str(tried)))[0] != "proved"


def test_the_execution_is_told(tmp_path: Path) -> None:
    outcome(tmp_path, without(RELAY, ACQUIRE, RELAXED, 1))
    found = next(f for f in check(Options(paths=(str(tmp_path),), ptx="never")).findings if f.level.value == "error")
    assert any("thread 32 of block 0 reads 1 in `s` from thread 0 of block 0" in note for note in found.notes)
    assert any("with `s` zero at the start" in note for note in found.notes)


def test_a_proof_says_that_signals_start_at_zero(tmp_path: Path) -> None:
    outcome(tmp_path, LETTERS)
    unit = next(u for u in check(Options(paths=(str(tmp_path),), ptx="never")).units if u.kind == "kernel")
    assert any("`s` is zero when the kernel starts" in o.assumptions for o in unit.obligations)


LAZY = """
            if t != 0 { return; }
            if s[0].load(AtomicOrdering::Acquire) != 2 {
                if s[0].compare_exchange(0, 1, AtomicOrdering::Relaxed, AtomicOrdering::Relaxed).is_ok() {
                    *d = 7;
                    s[0].store(2, AtomicOrdering::Release);
                } else {
                    while s[0].load(AtomicOrdering::Acquire) != 2 {}
                }
            }
            *o.add(b) = *d;
"""
FENCED_LOCK = """
            if t != 0 { return; }
            while s[0].swap(1, AtomicOrdering::Relaxed) != 0 {}
            threadfence();
            *d += 1;
            threadfence();
            s[0].store(0, AtomicOrdering::Relaxed);
"""


@pytest.mark.parametrize("body", [LAZY, LOCK, FENCED_LOCK])
def test_locks_and_lazy_values_are_proved_for_any_number_of_threads(tmp_path: Path, body: str) -> None:
    assert outcome(tmp_path, body, blocks=50) == ("proved", set())


@pytest.mark.parametrize(
    ("body", "old", "new"),
    [
        (LAZY, ACQUIRE, RELAXED),
        (LAZY, "store(2, AtomicOrdering::Release)", "store(2, AtomicOrdering::Relaxed)"),
        (LAZY, "compare_exchange(0, 1,", "compare_exchange(0, 2,"),
        (FENCED_LOCK, "threadfence();", ""),
        (FENCED_LOCK, "threadfence();", "threadfence_block();"),
        (LOCK, "*d += 1;", "*d += 1; s[0].store(0, AtomicOrdering::Release); *d += 1;"),
        (LOCK, "while s[0]", "while s[b % 2]"),
    ],
)  # fmt: skip
def test_a_lock_that_does_not_hold_is_refuted_for_any_number_of_threads(
    tmp_path: Path, body: str, old: str, new: str
) -> None:
    assert outcome(tmp_path, without(body, old, new), blocks=50)[0] == "refuted"


def test_a_lock_that_others_free_is_not_proved(tmp_path: Path) -> None:
    others = "if t != 0 { return; } if b == 3 { s[0].store(0, AtomicOrdering::Release); }"
    assert outcome(tmp_path, without(FENCED_LOCK, "if t != 0 { return; }", others), blocks=50)[0] != "proved"


BROADCAST = """
            if b == 0 {
                *d.add(t) = t as u32;
                thread::sync_threads();
                if t == 0 { s[0].store(1, AtomicOrdering::Release); }
            } else {
                if t == 0 { while s[0].load(AtomicOrdering::Acquire) == 0 {} }
                thread::sync_threads();
                *o.add(t) = *d.add(31 - t);
            }
"""
ALL_ARRIVE = """
            if t != 0 { return; }
            *d.add(b) = 1;
            s[0].fetch_add(1, AtomicOrdering::AcqRel);
            while s[0].load(AtomicOrdering::Acquire) < 40 {}
            *o.add(b) = *d.add((b + 1) % 40);
"""


def test_a_leader_that_waits_for_its_block_must_acquire(tmp_path: Path) -> None:
    assert outcome(tmp_path, BROADCAST, threads=32)[0] != "refuted"
    assert outcome(tmp_path, without(BROADCAST, ACQUIRE, RELAXED), threads=32)[0] == "refuted"


def test_what_waits_for_all_blocks_is_run_with_all_of_them(tmp_path: Path) -> None:
    assert outcome(tmp_path, ALL_ARRIVE, blocks=40) == ("proved", set())
    assert outcome(tmp_path, without(ALL_ARRIVE, "AcqRel", "Relaxed"), blocks=40) == ("refuted", {"GS302"})


ARRIVALS = """
            if t != 0 { return; }
            if b > 0 {
                *d.add(b) = 1;
                let mut seen = s[0].load(AtomicOrdering::Relaxed);
                loop {
                    match s[0].compare_exchange(seen, seen + 1, AtomicOrdering::Release, AtomicOrdering::Relaxed) {
                        Ok(_) => break,
                        Err(now) => seen = now,
                    }
                }
            } else {
                while s[0].load(AtomicOrdering::Acquire) != 29 {}
                let mut k = 1usize;
                while k < 30 { *o += *d.add(k); k += 1; }
            }
"""


def test_a_compare_exchange_loop_that_counts_is_an_addition(tmp_path: Path) -> None:
    assert outcome(tmp_path, ARRIVALS, blocks=30) == ("proved", set())
    assert outcome(tmp_path, without(ARRIVALS, RELEASE, RELAXED), blocks=30)[0] != "proved"
    assert outcome(tmp_path, without(ARRIVALS, "!= 29", "!= 28"), blocks=30)[0] != "proved"
    assert outcome(tmp_path, without(ARRIVALS, "seen + 1", "seen + 2"), blocks=30)[0] != "proved"
