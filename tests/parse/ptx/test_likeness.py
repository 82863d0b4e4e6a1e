"""PTX of a kernel in sight: parameters go by the names of the source, and the race proof is repeated on the PTX."""

from __future__ import annotations

from gpusafe.codegen_check.race_proof import race_proof
from gpusafe.ir import kernel as k
from gpusafe.ir.expr import F32, U32, Length
from gpusafe.ir.expr import USIZE as U
from gpusafe.parse.ptx import lower_kernel, read
from gpusafe.span import Span
from tests.parse.ptx.texts import INDEX, kernel, statements

HERE = Span("a.rs", 3, 1, 3, 9)
PARAMS = ".param .align 8 .b8 out[16], .param .u32 n"
BODY = (
    INDEX
    + """
    ld.param.b64 %rd1, [out]; ld.param.b64 %rd2, [out+8]; cvt.u64.u32 %rd3, %r4;
    setp.ge.u64 %p1, %rd3, %rd2; @%p1 bra PANIC;
    cvta.to.global.u64 %rd4, %rd1; mul.wide.u32 %rd5, %r4, 4; add.s64 %rd6, %rd4, %rd5; st.global.u32 [%rd6], %r4;
    bra E;
PANIC: trap;
E:"""
)
SOURCE = k.Kernel(
    "k", "k", "ptx-kernel",
    (k.KernelParam("values", "slice_mut", F32, "values", HERE), k.KernelParam("count", "scalar", U32, None, HERE)),
    (k.Region("values", k.Space.GLOBAL, 4, Length(U, "values"), HERE, 0, exclusive=True),),
    (), HERE,
)  # fmt: skip


def test_parameters_go_by_their_names_in_source() -> None:
    module = read(kernel(BODY, params=PARAMS))
    made = lower_kernel(module, module.functions[0], "PTX", like=SOURCE)
    assert [r.name for r in made.regions] == ["values"]
    assert any(
        isinstance(s, k.Assign) and "values" in repr(s.value) and "Length" in repr(s.value)
        for s in statements(made.body)
    )


def test_a_failing_check_is_part_of_the_code_that_it_guards() -> None:
    module = read(kernel(BODY, params=PARAMS))
    made = lower_kernel(module, module.functions[0], "PTX")
    assert any(isinstance(s, k.Assume) for s in statements(made.body))
    assert not any(isinstance(s, k.Break) for s in statements(made.body))


def test_the_race_proof_holds_on_the_ptx() -> None:
    assert race_proof(SOURCE, kernel(BODY, params=PARAMS), "k", {}, ()).proved


def test_a_store_that_another_thread_repeats_leaves_the_proof_open() -> None:
    text = kernel(BODY.replace("mul.wide.u32 %rd5, %r4, 4", "mul.wide.u32 %rd5, %r3, 4"), params=PARAMS)
    found = race_proof(SOURCE, text, "k", {}, ())
    assert not found.proved and "values" in found.reason


def test_two_writes_that_meet_at_a_launch_of_known_size_are_replayed() -> None:
    from dataclasses import replace

    text = kernel(BODY.replace("mul.wide.u32 %rd5, %r4, 4", "mul.wide.u32 %rd5, %r3, 4"), params=PARAMS)
    launched = replace(SOURCE, launched=(k.LaunchSize((2, 1, 1), (32, 1, 1), HERE),))
    found = race_proof(launched, text, "k", {}, ())
    assert found.race is not None and found.race.rule == "GS201"


def test_other_parameters_than_the_source_has_leave_the_proof_open() -> None:
    found = race_proof(SOURCE, kernel(BODY, params=PARAMS + ", .param .u32 m"), "k", {}, ())
    assert "parameters" in found.reason
