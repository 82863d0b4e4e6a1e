"""Whole programs through the stage: ``//~ GS307`` marks the line that a refutation must name (needs rustc and core)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpusafe.codegen_check import Confirmation, confirm
from gpusafe.codegen_check.core_library import ready_sysroot
from gpusafe.codegen_check.toolchain import find
from gpusafe.parse.rust.device import lower_kernels
from gpusafe.parse.workspace import load

TOOLS = find()
READY = TOOLS.rustc is not None and ready_sysroot(TOOLS.rustc) is not None
OLD_LLVM = TOOLS.rustc is not None and TOOLS.rustc.release < (1, 97, 0)
pytestmark = pytest.mark.skipif(not READY, reason="no rustc with core for nvptx64")

HEAD = """\
#![no_std]
#![feature(abi_ptx, stdarch_nvptx, asm_experimental_arch)]
use core::arch::{asm, global_asm, nvptx::*};
use core::sync::atomic::{compiler_fence, fence, AtomicU32, Ordering};
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! { loop {} }
"""

BARRIER_BETWEEN_GUARDS = """\
global_asm!(".shared .align 16 .b8 ROW[4096];");
unsafe fn row() -> *mut u32 {
    let p: u64;
    asm!("cvta.shared.u64 {p}, ROW;", p = out(reg64) p, options(pure, nomem, nostack, preserves_flags));
    p as *mut u32
}
#[no_mangle]
pub unsafe extern "ptx-kernel" fn k(input: *const u32, out: *mut u32, n: u32) {
    let t = _thread_idx_x() as usize;
    let g = _block_idx_x() as usize * _block_dim_x() as usize + t;
    let inside = g < n as usize;
    row().add(t).write(if inside { input.add(g).read() } else { 0 });
    _syncthreads(); MARK
    if inside {
        out.add(g).write(row().add(t ^ 1).read());
    }
}
"""

WEAKER = {
    "an ordered swap of a lock": """
pub struct Lock(AtomicU32);
impl Lock {
    fn with<R>(&self, body: impl FnOnce() -> R) -> R {
        while self.0.swap(1, Ordering::Acquire) == 1 {} //~ GS307
        let r = body();
        self.0.store(0, Ordering::Release);
        r
    }
}
#[no_mangle]
pub unsafe extern "ptx-kernel" fn k(x: *mut u32, lock: &Lock) {
    if _thread_idx_x() != 0 { return; }
    lock.with(|| x.write(x.read() + 1));
}
""",
    "an ordered add in a helper, reached twice": """
fn announce(done: &AtomicU32) {
    done.fetch_add(1, Ordering::AcqRel); //~ GS307
}
#[no_mangle]
pub unsafe extern "ptx-kernel" fn k(x: *mut u32, done: &AtomicU32) {
    let t = _thread_idx_x() as usize;
    x.add(t).write(1);
    announce(done);
    x.add(t + 1024).write(2);
    announce(done);
}
""",
    "a barrier between two guards": BARRIER_BETWEEN_GUARDS.replace("MARK", "//~ GS307"),
    "a shuffle in assembly between two guards": """
unsafe fn next(v: u32) -> u32 {
    let r: u32;
    asm!("shfl.sync.down.b32 {r}, {v}, 1, 31, -1;", r = out(reg32) r, v = in(reg32) v, options(nostack)); //~ GS307
    r
}
#[no_mangle]
pub unsafe extern "ptx-kernel" fn k(input: *const u32, out: *mut u32, n: u32) {
    let g = _block_idx_x() * _block_dim_x() + _thread_idx_x();
    let mine = if g < n { input.add(g as usize).read() } else { 0 };
    let other = next(mine);
    if g < n { out.add(g as usize).write(mine ^ other); }
}
""",
    "a poll that the compiler may take out of its loop": """
unsafe fn is_up(flag: *const u32) -> bool {
    let v: u32;
    asm!("ld.acquire.gpu.u32 {v}, [{f}];", v = out(reg32) v, f = in(reg64) flag, options(pure, readonly)); //~ GS307
    v == 1
}
#[no_mangle]
pub unsafe extern "ptx-kernel" fn k(x: *mut u32, flag: *mut u32, out: *mut u32) {
    if _thread_idx_x() != 0 { return; }
    if _block_idx_x() == 0 {
        x.write(1);
        asm!("st.release.gpu.u32 [{f}], {v};", f = in(reg64) flag, v = in(reg32) 1u32, options(nostack));
    } else {
        while !is_up(flag) {}
        out.write(x.read());
    }
}
""",
    "a static that wants to be shared": """
#[link_section = ".shared"]
static mut STAGE: [u32; 64] = [0; 64]; //~ GS307
#[no_mangle]
pub unsafe extern "ptx-kernel" fn k(out: *mut u32) {
    let t = _thread_idx_x() as usize;
    let stage = &raw mut STAGE as *mut u32;
    stage.add(t).write(t as u32);
    _syncthreads();
    out.add(t).write(stage.add(63 - t).read());
}
""",
}  # fmt: skip

REJECTED = {
    "a compiler fence": """
#[no_mangle]
pub unsafe extern "ptx-kernel" fn k(x: *mut u32, flag: &AtomicU32) {
    x.write(1);
    compiler_fence(Ordering::Release); //~ GS308
    flag.store(1, Ordering::Release);
}
""",
    "an instruction that is none": """
#[no_mangle]
pub unsafe extern "ptx-kernel" fn k(x: *mut u32) {
    asm!("bar.synch 0;", options(nostack)); //~ GS308
    x.write(1);
}
""",
}  # fmt: skip

KEPT = {
    "a fence on both sides of a relaxed add": """
#[no_mangle]
pub unsafe extern "ptx-kernel" fn k(x: *mut u32, done: &AtomicU32) {
    if _thread_idx_x() != 0 { return; }
    x.add(_block_idx_x() as usize).write(1);
    fence(Ordering::Release);
    let before = done.fetch_add(1, Ordering::Relaxed);
    fence(Ordering::Acquire);
    if before + 1 == _grid_dim_x() { x.write(x.add(1).read()); }
}
""",
    "an update by compare-exchange": """
#[no_mangle]
pub unsafe extern "ptx-kernel" fn k(x: *mut u32, done: &AtomicU32) {
    x.add(_thread_idx_x() as usize).write(1);
    let _ = done.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |d| Some(d + 1));
}
""",
    "a barrier in a loop that is unrolled": """
#[no_mangle]
pub unsafe extern "ptx-kernel" fn k(x: *mut u32) {
    let t = _thread_idx_x() as usize;
    let mut step = 16;
    while step > 0 {
        if t < step { x.add(t).write(x.add(t).read() + x.add(t + step).read()); }
        _syncthreads();
        step /= 2;
    }
}
""",
}  # fmt: skip


def confirmed(tmp_path: Path, program: str, targets: tuple[str, ...] = ()) -> tuple[Confirmation, dict[int, str]]:
    """What the stage says about the only kernel of a program, and the marked lines."""
    path = tmp_path / "program.rs"
    path.write_text(program)
    workspace = load([path])
    (kernel,) = lower_kernels(workspace).kernels
    marks = {n: m[1] for n, line in enumerate(program.splitlines(), 1) if (m := re.search(r"//~ (GS\d+)", line))}
    return confirm([kernel], workspace, targets)[kernel.key], marks


def named_lines(confirmation: Confirmation) -> dict[int, str]:
    """The primary and related lines of all refutations, with their rules."""
    found = {}
    for obligation in confirmation.obligations:
        assert obligation.counterexample is not None
        for site in (obligation.counterexample.primary, *obligation.counterexample.related):
            found[site.span.line] = obligation.rule
    return found


@pytest.mark.skipif(not OLD_LLVM, reason="this rustc no longer does that")
@pytest.mark.parametrize("name", WEAKER)
def test_ptx_that_is_weaker_is_refuted_at_its_place(tmp_path: Path, name: str) -> None:
    confirmation, marks = confirmed(tmp_path, HEAD + WEAKER[name])
    assert {s.status for s in confirmation.statuses} == {"weaker"}
    assert marks.items() <= named_lines(confirmation).items()
    for obligation in confirmation.obligations:
        assert obligation.counterexample is not None
        assert any("of the PTX" in note for note in obligation.counterexample.notes)


@pytest.mark.skipif(TOOLS.ptxas is None, reason="no ptxas")
@pytest.mark.parametrize("name", REJECTED)
def test_what_does_not_compile_or_assemble_is_rejected_at_its_place(tmp_path: Path, name: str) -> None:
    confirmation, marks = confirmed(tmp_path, HEAD + REJECTED[name])
    assert {s.status for s in confirmation.statuses} == {"rejected"}
    assert marks.items() <= named_lines(confirmation).items()


@pytest.mark.parametrize("name", KEPT)
def test_ptx_that_keeps_everything_is_confirmed(tmp_path: Path, name: str) -> None:
    confirmation, _ = confirmed(tmp_path, HEAD + KEPT[name])
    assert confirmation.obligations == ()
    assert {s.status for s in confirmation.statuses} == {"confirmed"}


def test_a_flag_of_the_program_can_keep_its_barrier_whole(tmp_path: Path) -> None:
    flags = "//! rustc-flags: -Z mir-enable-passes=-JumpThreading\n"
    confirmation, _ = confirmed(tmp_path, flags + HEAD + BARRIER_BETWEEN_GUARDS.replace("MARK", ""))
    assert {s.status for s in confirmation.statuses} == {"confirmed"}


NEEDS_SM_90 = HEAD + """
#[no_mangle]
pub unsafe extern "ptx-kernel" fn k(x: *mut u32) {
    asm!("barrier.cluster.arrive.aligned;", options(nostack));
    asm!("barrier.cluster.wait.aligned;", options(nostack));
    x.write(1);
}
"""  # fmt: skip


@pytest.mark.skipif(TOOLS.ptxas is None, reason="no ptxas")
def test_a_target_that_nobody_asked_for_may_be_too_old(tmp_path: Path) -> None:
    confirmation, _ = confirmed(tmp_path, NEEDS_SM_90)
    assert [(s.target, s.status) for s in confirmation.statuses] == [("sm_80", "skipped"), ("sm_90", "confirmed")]
    assert confirmation.obligations == ()


@pytest.mark.skipif(TOOLS.ptxas is None, reason="no ptxas")
def test_a_target_that_was_asked_for_must_do(tmp_path: Path) -> None:
    confirmation, _ = confirmed(tmp_path, NEEDS_SM_90, ("sm_80",))
    assert [o.rule for o in confirmation.obligations] == ["GS308", "GS308"]


OXIDE = """\
use cuda_core::CudaContext;
use cuda_device::atomic::{AtomicOrdering, DeviceAtomicU32};
use cuda_device::{DisjointSlice, SharedArray, cuda_module, kernel, thread, warp};

#[cuda_module]
mod kernels {
    use super::*;

    #[kernel]
    pub fn k(data: &[u32], done: &[DeviceAtomicU32], mut out: DisjointSlice<u32>) {
        static mut STAGE: SharedArray<u32, 64> = SharedArray::UNINIT;
        let t = thread::threadIdx_x() as usize;
        unsafe { STAGE[t] = warp::shuffle_xor(data[t], 1) };
        thread::sync_threads();
        let i = thread::index_1d();
        if let Some(v) = out.get_mut(i) { *v = unsafe { STAGE[63 - t] }; }
        done[0].fetch_add(1, AtomicOrdering::AcqRel);
    }
}

fn main() { let _ = CudaContext::new(0); }
"""

CUDA_STD = """\
use cuda_std::prelude::*;
use cuda_std::{shared_array, warp};
use cuda_std::atomic::mid;
use core::sync::atomic::Ordering;

#[kernel]
pub unsafe fn k(data: *const f32, out: *mut f32, done: *mut u32) {
    let stage = shared_array![f32; 64];
    let t = thread::thread_idx_x() as usize;
    *stage.add(t) = warp::warp_shuffle_down(u32::MAX, *data.add(t), 1, 32).0.sqrt();
    thread::sync_threads();
    *out.add(t) = *stage.add(63 - t);
    mid::atomic_fetch_add_u32_device(done, Ordering::AcqRel, 1);
}
"""


@pytest.mark.parametrize("program", [OXIDE, CUDA_STD], ids=["cuda-oxide", "cuda_std"])
def test_kernels_of_the_frameworks_are_confirmed_with_stand_ins(tmp_path: Path, program: str) -> None:
    confirmation, _ = confirmed(tmp_path, program)
    assert {s.status for s in confirmation.statuses} == {"confirmed"}
    assert all("stand-in" in s.detail for s in confirmation.statuses)


def test_an_api_without_a_stand_in_is_skipped_by_name(tmp_path: Path) -> None:
    confirmation, _ = confirmed(tmp_path, OXIDE.replace("warp::shuffle_xor(", "warp::shuffle_sideways("))
    assert confirmation.obligations == ()
    assert {(s.status, s.detail) for s in confirmation.statuses} == {
        ("skipped", "unconfirmed: api not stubbed: shuffle_sideways")
    }


def test_a_loss_in_the_stand_in_is_no_finding_about_the_program(tmp_path: Path) -> None:
    text = OXIDE.replace("use cuda_core", "use core::sync::atomic::{AtomicU32, Ordering};\nuse cuda_core")
    text = text.replace("done: &[DeviceAtomicU32]", "done: &[AtomicU32]").replace(
        "AtomicOrdering::AcqRel", "Ordering::AcqRel"
    )
    confirmation, _ = confirmed(tmp_path, text)
    assert confirmation.obligations == ()
    assert {s.status for s in confirmation.statuses} == {"skipped"}
