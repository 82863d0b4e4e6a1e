"""Which stage of the compiler lost a synchronisation, told from the texts of MIR and LLVM's IR."""

from __future__ import annotations

import pytest

from gpusafe.codegen_check.stages import Lost, Stages, first_without, kind_of

MIR = """\
fn other() -> () {
    bb0: {
        _1 = atomic_fence::<AcqRel>() -> [return: bb1]; // scope 0 at src/k.rs:9:5: 9:9
    }
}

fn k(_1: &AtomicU32) -> () {
    let mut _0: ();                      // return place in scope 0 at src/k.rs:7:1: 7:9
    scope 1 {
        scope 2 (inlined AtomicU32::fetch_add) { // at src/k.rs:8:5: 8:30
            scope 3 (inlined atomic_add::<u32>) { // at /lib/atomic.rs:3162:26: 3162:63
            }
        }
        scope 4 (inlined _syncthreads) { // at src/k.rs:10:5: 10:19
        }
    }
    bb0: {
        _6 = atomic_xadd::<u32, AcqRel>(move _2, const 1_u32) -> [return: bb1]; // scope 3 at /lib/a.rs:1:2: 1:3
    }
    bb1: {
        asm!("fence.acq_rel.gpu;", options(PURE)) -> [return: bb2]; // scope 1 at src/k.rs:11:5: 11:30
    }
    bb2: {
        _7 = core::core_arch::nvptx::syncthreads() -> [return: bb3]; // scope 4 at /lib/mod.rs:5:5: 5:19
    }
}
"""
TWICE = MIR.replace(
    "    bb2: {", "    bb9: {\n" + MIR[MIR.index("        _7 ") : MIR.rindex("    }")] + "    }\n    bb2: {"
)
IR = """\
define ptx_kernel void @k(ptr %done) !dbg !12 {
  %0 = atomicrmw add ptr %done, i32 1 ORDER, align 4, !dbg !20
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !30
}
!7 = !DIFile(filename: "k.rs", directory: "/p/src")
!8 = !DIFile(filename: "/lib/atomic.rs", directory: "")
!12 = distinct !DISubprogram(name: "k", scope: !1, file: !7, line: 7)
!13 = distinct !DISubprogram(name: "atomic_add", scope: !1, file: !8, line: 1)
!20 = !DILocation(line: 3940, column: 23, scope: !13, inlinedAt: !21)
!21 = distinct !DILocation(line: 8, column: 5, scope: !12)
!30 = !DILocation(line: 5, column: 5, scope: !13, inlinedAt: !31)
!31 = distinct !DILocation(line: 10, column: 5, scope: !12)
"""
KEPT = IR.replace("ORDER", "acq_rel")
TWO_BARRIERS = KEPT.replace(
    "  tail", "  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !30\n  tail"
)


@pytest.mark.parametrize(
    ("mir", "ir", "lost", "words"),
    [
        (MIR, KEPT, Lost("atomic", "src/k.rs", 8), "code generator for nvptx64 loses it"),
        (MIR, IR.replace("ORDER", "monotonic"), Lost("atomic", "src/k.rs", 8), "an optimisation of LLVM loses it"),
        (MIR, KEPT, Lost("fence", "src/k.rs", 11), "an optimisation of LLVM loses it"),
        (TWICE, TWO_BARRIERS, Lost("barrier", "src/k.rs", 10, cloned=True), "MIR has it 2 times"),
        (MIR, TWO_BARRIERS, Lost("barrier", "src/k.rs", 10, cloned=True), "LLVM's IR 2 times"),
        (MIR, KEPT, Lost("barrier", "src/k.rs", 10, cloned=True), "the code generator for nvptx64 cloned it"),
    ],
)
def test_the_first_stage_that_lacks_it_is_named(mir: str, ir: str, lost: Lost, words: str) -> None:
    assert words in first_without(Stages(mir, ir), lost)


@pytest.mark.parametrize(
    ("stages", "lost"),
    [
        (Stages("", ""), Lost("atomic", "src/k.rs", 8)),
        (Stages(MIR, KEPT), Lost("fence", "src/k.rs", 8)),
        (Stages(MIR, KEPT), Lost("fence", "src/other.rs", 11)),
    ],
)
def test_where_the_texts_do_not_tell_nothing_is_said(stages: Stages, lost: Lost) -> None:
    assert first_without(stages, lost) == ""


def test_every_kind_of_group_has_something_to_look_for() -> None:
    assert {kind_of(k) for k in ("rmw", "cas", "fence", "barrier", "warp-op", "mbarrier")} == {
        "atomic", "fence", "barrier", "warp", "other",
    }  # fmt: skip
