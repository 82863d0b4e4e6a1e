"""Kernels in PTX are proved, refuted or unknown as their sources would be."""

from __future__ import annotations

import pytest

from tests.parse.ptx.texts import INDEX, gaps, kernel, lowered, verdict

STORE_OWN = (
    INDEX
    + """
    ld.param.u32 %r5, [n]; ld.param.u64 %rd1, [out];
    setp.ge.s32 %p1, %r4, %r5; @%p1 bra E;
    cvta.to.global.u64 %rd2, %rd1; mul.wide.s32 %rd3, %r4, 4; add.s64 %rd4, %rd2, %rd3;
    st.global.u32 [%rd4], %r4;
E:"""
)
TREE = """
    .shared .align 4 .b8 s[1024];
    mov.u32 %r3, %tid.x; shl.b32 %r5, %r3, 2; mov.u32 %r6, s; add.s32 %r7, %r6, %r5;
    st.shared.u32 [%r7], %r3; {first}
    mov.u32 %r8, 128;
T:  setp.ge.u32 %p1, %r3, %r8; @%p1 bra S;
    shl.b32 %r9, %r8, 2; add.s32 %r10, %r7, %r9; ld.shared.u32 %r11, [%r10]; ld.shared.u32 %r12, [%r7];
    add.s32 %r13, %r11, %r12; st.shared.u32 [%r7], %r13;
S:  {inner}
    shr.u32 %r8, %r8, 1; setp.ne.s32 %p2, %r8, 0; @%p2 bra T;
"""


def test_one_element_for_each_thread_is_proved() -> None:
    assert verdict(kernel(STORE_OWN)) == "proved"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("mul.wide.s32 %rd3, %r4, 4", "mul.wide.s32 %rd3, %r3, 4"),  # the thread's index in its block alone
        ("st.global.u32 [%rd4]", "st.global.u32 [%rd2]"),
        ("mul.wide.s32 %rd3, %r4, 4", "mul.wide.s32 %rd3, %r4, 2"),  # elements overlap by half
        ("st.global.u32 [%rd4], %r4", "st.global.v2.u32 [%rd4], {%r4, %r4}"),
        ("mul.wide.s32 %rd3, %r4, 4", "shr.u32 %r20, %r4, 1; mul.wide.u32 %rd3, %r20, 4"),
    ],
)
def test_two_threads_on_one_element_are_refuted(old: str, new: str) -> None:
    assert old in STORE_OWN
    assert verdict(kernel(STORE_OWN.replace(old, new))) == "refuted"


def test_a_wrapping_index_is_no_proof() -> None:
    index = "mul.lo.s32 %r20, %r4, 1073741824; mul.wide.s32 %rd3, %r20, 4"
    assert verdict(kernel(STORE_OWN.replace("mul.wide.s32 %rd3, %r4, 4", index))) != "proved"


def test_a_tree_in_shared_memory_is_proved_with_its_barriers() -> None:
    text = TREE.format(first="bar.sync 0;", inner="bar.sync 0;")
    assert verdict(kernel(text, entry=".reqntid 256, 1, 1")) == "proved"


@pytest.mark.parametrize(("first", "inner"), [("", "bar.sync 0;"), ("bar.sync 0;", "bar.warp.sync -1;")])
def test_a_tree_without_a_barrier_is_refuted(first: str, inner: str) -> None:
    text = TREE.format(first=first, inner=inner)
    assert verdict(kernel(text, entry=".reqntid 256, 1, 1")) == "refuted"


def test_a_barrier_in_a_divergent_branch_is_not_proved() -> None:
    body = "mov.u32 %r3, %tid.x; setp.gt.u32 %p1, %r3, 3; @%p1 bra E; bar.sync 0; E:"
    assert verdict(kernel(body, entry=".reqntid 64")) == "refuted"


def test_guarded_instructions_happen_under_their_guard() -> None:
    store = "ld.param.u64 %rd1, [out]; mov.u32 %r3, %tid.x; mov.u32 %r4, %ctaid.x; or.b32 %r5, %r3, %r4;"
    guarded = store + "setp.eq.u32 %p1, %r5, 0; @%p1 st.global.u32 [%rd1], %r3;"
    entry = ".reqntid 64, 1, 1"
    assert verdict(kernel(guarded, entry=entry)) != "refuted"
    assert verdict(kernel(guarded.replace("@%p1", "@!%p1"), entry=entry)) == "refuted"


def test_atomics_do_not_race_and_plain_stores_beside_them_do() -> None:
    body = "ld.param.u64 %rd1, [out]; atom.global.add.u32 %r1, [%rd1], 1; red.global.add.u32 [%rd1+4], 1;"
    assert verdict(kernel(body)) == "proved"
    assert verdict(kernel(body + "st.global.u32 [%rd1+4], 0;")) == "refuted"


def test_a_block_scope_is_too_narrow_across_blocks() -> None:
    body = "ld.param.u64 %rd1, [out]; atom.relaxed.cta.global.add.u32 %r1, [%rd1], 1;"
    assert verdict(kernel(body)) == "refuted"


def test_called_functions_are_followed() -> None:
    callee = """
.func (.param .b32 r0) at(.param .b64 p, .param .b32 i)
{ .reg .b64 %rd<5>; .reg .b32 %r<5>;
    ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [i]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
    st.u32 [%rd3], %r1; st.param.b32 [r0], %r1; ret; }
"""
    call = """
    ld.param.u64 %rd1, [out];
    { .param .b64 param0; .param .b32 param1; .param .b32 retval0;
      st.param.b64 [param0], %rd1; st.param.b32 [param1], %r4;
      call.uni (retval0), at, (param0, param1); ld.param.b32 %r9, [retval0]; }"""
    assert verdict(kernel(INDEX + call, before=callee)) == "proved"
    assert verdict(kernel(INDEX + call.replace("%r4", "%r3"), before=callee)) == "refuted"


def test_recursion_and_unknown_functions_are_not_modelled() -> None:
    callee = ".func f() { call.uni f, (); ret; }\n.extern .func g();\n"
    assert any("`f`" in gap for gap in gaps(kernel("call.uni f, ();", before=callee)))
    assert any("`g`" in gap for gap in gaps(kernel("call.uni g, ();", before=callee)))


@pytest.mark.parametrize(
    "instruction",
    [
        "foo.global.u32 %r1, [%rd1];",
        "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r1,%r2}, [%rd1], %r3;",
        "sust.b.1d.b32.trap [surf, {%r1}], {%r2};",
        "st.bulk.shared::cta [%rd1], 64, 0;",
        "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2];",
        "cp.async.mbarrier.arrive.shared::cta.b64 [%rd1];",
        "bar.red.popc.u32 %r1, 3, %p1;",
        "ld.global.u32 %r1, %r2;",
        "atom.global.add.u32 %r1;",
    ],
)
def test_what_is_not_known_is_said_and_never_dropped(instruction: str) -> None:
    assert any(instruction.split()[0] in gap for gap in gaps(kernel(instruction)))


def test_pointers_are_found_by_their_use() -> None:
    body = """ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [m]; ld.param.u64 %rd3, [z];
    mul.wide.u32 %rd4, %r1, 4; add.s64 %rd5, %rd4, %rd1; add.s64 %rd6, %rd5, 16; st.global.u32 [%rd6], 1;
    shl.b64 %rd7, %rd2, 2; add.s64 %rd8, %rd1, %rd7; st.global.u32 [%rd8], 1;"""
    made = lowered(kernel(body, params=".param .u64 a, .param .u64 m, .param .u64 z"))
    assert [(p.name, p.kind) for p in made.params] == [("a", "pointer"), ("m", "scalar"), ("z", "scalar")]


def test_a_slice_passed_as_an_aggregate_is_memory_of_its_own() -> None:
    body = """ld.param.u64 %rd1, [s+8]; ld.param.u32 %r9, [s]; cvta.to.global.u64 %rd2, %rd1;
    mul.wide.s32 %rd3, %r4, 4; add.s64 %rd4, %rd2, %rd3; st.global.u32 [%rd4], %r9;"""
    params = ".param .align 8 .b8 s[16]"
    assert verdict(kernel(INDEX + body, params=params)) == "proved"
    two = body + "ld.param.u64 %rd7, [s]; st.global.u32 [%rd7], 1;"
    assert verdict(kernel(INDEX + two, params=params)) == "unknown"


def test_an_address_of_which_nothing_is_known_is_no_proof() -> None:
    body = "ld.param.u64 %rd1, [out]; ld.global.u64 %rd2, [%rd1]; st.global.u32 [%rd2], 1;"
    assert verdict(kernel(body)) == "unknown"


def test_an_integer_parameter_beside_a_loaded_pointer_is_no_pointer() -> None:
    body = """ld.param.u64 %rd1, [out]; ld.param.u64 %rd5, [m]; ld.global.u64 %rd2, [%rd1];
    add.s64 %rd3, %rd2, %rd5; st.global.u32 [%rd3], 1;"""
    made = lowered(kernel(body, params=".param .u64 out, .param .u64 m"))
    assert made.params[1].kind == "scalar"


def test_places_are_told_in_the_source_where_it_is_in_sight() -> None:
    from gpusafe.ir.kernel import Store
    from gpusafe.parse.ptx import lower_text
    from tests.parse.ptx.texts import statements

    text = kernel(
        "ld.param.u64 %rd1, [out];\n.loc 1 12 7\n st.global.u32 [%rd1], 1;\n.loc 2 3 1\n st.global.u32 [%rd1], 2;"
    )
    text += '.file 1 "a.cu"\n.file 2 "/elsewhere/lib.h"\n'
    made = next(iter(lower_text("k.ptx", text, lambda name: name if name == "a.cu" else None)))
    first, second = (s.span for s in statements(made.body) if isinstance(s, Store))
    assert (first.file, first.line, first.col) == ("a.cu", 12, 7)
    assert second.file == "k.ptx"


def test_dynamic_shared_memory_is_one_object_under_all_its_names() -> None:
    before = ".extern .shared .align 16 .b8 a[];\n.extern .shared .align 4 .b8 b[];\n"
    body = """mov.u32 %r3, %tid.x; shl.b32 %r4, %r3, 2; mov.u32 %r5, a; add.s32 %r6, %r5, %r4; st.shared.u32 [%r6], %r3;
    mov.u32 %r7, b; ld.shared.u32 %r8, [%r7];"""
    assert verdict(kernel(body, before=before, entry=".reqntid 64")) == "refuted"
    assert verdict(kernel(body.replace("mov.u32 %r7, b;", "bar.sync 0; mov.u32 %r7, b;"), before=before)) != "refuted"


def test_only_what_is_declared_so_or_has_no_body_does_not_return() -> None:
    store = "call.uni {name}, (); ld.param.u64 %rd1, [out]; st.global.u32 [%rd1], 1;"
    returns = ".func panic_free() { ret; }\n"
    assert verdict(kernel(store.format(name="panic_free"), before=returns)) != "proved"
    never = ".func stop() .noreturn { L: bra L; }\n.extern .func core_panic();\n"
    for name in ("stop", "core_panic"):
        assert verdict(kernel(store.format(name=name), before=never)) == "proved"
