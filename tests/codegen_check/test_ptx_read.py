"""Reading PTX text."""

from __future__ import annotations

import pytest

from gpusafe.codegen_check.ptx import Place, PtxError, read
from tests.codegen_check.ptx_texts import ptx_text


def test_an_instruction_has_its_opcode_operands_and_guard() -> None:
    unit = read(ptx_text("@!%p1 atom.acq_rel.sys.global.cas.b32 %r1, [%rd2+8], %r3, %r4;", "ret;"))
    cas = unit.functions[0].instrs[0]
    assert cas.opcode == ("atom", "acq_rel", "sys", "global", "cas", "b32")
    assert cas.operands == ("%r1", "[%rd2+8]", "%r3", "%r4")
    assert (cas.guard, cas.negated) == ("%p1", True)


def test_a_vector_is_one_operand_and_not_a_scope() -> None:
    unit = read(ptx_text("ld.global.v2.b64 {%rd1, %rd2}, [%rd3];", "st.global.v2.b64 [%rd4], {1, 0};", "ret;"))
    load, store, _ = unit.functions[0].instrs
    assert load.operands == ("{%rd1, %rd2}", "[%rd3]")
    assert store.operands == ("[%rd4]", "{1, 0}")


def test_inline_assembly_may_open_scopes_and_hold_several_statements_on_a_line() -> None:
    unit = read(
        ptx_text(
            "// begin inline asm",
            "{ .shared .align 16 .b8 tile[64]; .reg .pred p; elect.sync %r1|p, %r2; selp.u32 %r3, 1, 0, p; }",
            "// end inline asm",
            "ret;",
        )
    )
    kernel = unit.functions[0]
    assert [i.opcode[0] for i in kernel.instrs] == ["elect", "selp", "ret"]
    assert [i.in_asm for i in kernel.instrs] == [True, True, False]
    assert [(s.name, s.space, s.bytes) for s in kernel.symbols] == [("tile", "shared", 64)]


def test_a_place_lists_the_calls_that_were_inlined() -> None:
    unit = read(ptx_text("ld.relaxed.sys.global.b32 %r1, [%rd1]; @ 3904:24 28:23 51:13", "ret; @ 60:1"))
    load, end = unit.functions[0].instrs
    assert load.chain == (Place("core.rs", 3904, 24), Place("kernel.rs", 28, 23), Place("kernel.rs", 51, 13))
    assert end.chain == (Place("kernel.rs", 60, 1),)


def test_variables_of_the_module_have_their_space_and_size() -> None:
    module = ".shared .align 16 .b8 TILE[0x400];\n.extern .shared .align 16 .b8 DYN[];\n.global .align 4 .u32 N = 7;"
    unit = read(ptx_text("ret;", module=module))
    assert [(s.name, s.space, s.bytes, s.extern) for s in unit.symbols] == [
        ("TILE", "shared", 1024, False),
        ("DYN", "shared", 0, True),
        ("N", "global", 4, False),
    ]


def test_the_parameters_and_the_target_are_read() -> None:
    unit = read(ptx_text("ret;", target="sm_90"))
    assert unit.target == "sm_90"
    assert unit.version == (7, 0)
    assert unit.functions[0].params == ("k_param_0", "k_param_1")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no .version"),
        (".version 7.0\n.target sm_80\n.entry k()\n{\n ret;\n", "does not end"),
        (".version 7.0\n.target sm_80\n}\n", "closes nothing"),
    ],
)
def test_text_that_is_no_ptx_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(PtxError, match=reason):
        read(text)
