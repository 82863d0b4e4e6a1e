"""Contracts find their kernel, and those that do not are told."""

from __future__ import annotations

from gpusafe.ir import expr as ir
from gpusafe.ir.kernel import Kernel, KernelParam, Region, Space
from gpusafe.parse.directives import attach
from gpusafe.span import Span

HERE = Span("k.rs", 1, 1, 1, 2)
PARAMS = (
    KernelParam("out", "slice_mut", ir.F32, "out", HERE),
    KernelParam("raw", "pointer", ir.F32, "raw", HERE),
    KernelParam("n", "scalar", ir.U32, None, HERE),
)
REGIONS = (
    Region("out", Space.GLOBAL, 4, ir.Length(ir.USIZE, "out"), HERE, 0),
    Region("raw", Space.GLOBAL, 4, None, HERE, 1),
)


def stated(source: str) -> Kernel:
    """The kernel ``k`` of a program with its contracts."""
    return _attach(source)[0]


def attached(source: str) -> tuple[tuple[ir.Expr, ...], list[str]]:
    """What the kernel ``k`` of a program requires, and the messages about contracts without effect."""
    after, problems = _attach(source)
    return after.requires, problems


def _attach(source: str) -> tuple[Kernel, list[str]]:
    lines = source.splitlines()
    start = next(i for i, line in enumerate(lines, 1) if "fn k" in line)
    kernel = Kernel("k", "k", "cuda_std", PARAMS, REGIONS, (), Span("k.rs", start, 1, len(lines), 2))
    (after,), problems = attach([kernel], {"k.rs": source})
    return after, [p.message for p in problems]


def test_a_requirement_before_the_kernel_becomes_its_condition() -> None:
    requires, problems = attached("// gpusafe: requires(n <= out.len())\n#[kernel]\nfn k() {\n}\n")
    wide_n, wide_length = ir.Cast(ir.I128, ir.Param(ir.U32, "n")), ir.Cast(ir.I128, ir.Length(ir.USIZE, "out"))
    assert requires == (ir.Binary(ir.BOOL, ir.Op.LE, wide_n, wide_length),)
    assert problems == []


def test_the_attribute_form_does_the_same() -> None:
    plain = attached("// gpusafe: requires(blockDim.y == 1)\nfn k() {\n}\n")
    assert attached("#[cfg_attr(any(), gpusafe::requires(blockDim.y == 1))]\nfn k() {\n}\n") == plain


def test_a_raw_pointer_has_no_length() -> None:
    assert attached("// gpusafe: requires(n <= raw.len())\nfn k() {\n}\n") == (
        (),
        ["`n <= raw.len()` has no effect: there is no slice `raw` here"],
    )


def test_what_is_not_used_is_told_and_not_dropped() -> None:
    requires, problems = attached("// gpusafe: assume(injective(perm))\nfn k() {\n}\n")
    assert requires == ()
    assert problems == ["`injective(perm)` has no effect: there is no array `perm` here"]


def test_facts_about_contents_are_assumed_of_arrays_that_are_not_exclusive() -> None:
    kernel = stated("// gpusafe: assume(injective(raw), monotone(raw), n > 1)\nfn k() {\n}\n")
    assert (kernel.injective, kernel.monotone, len(kernel.assumes), kernel.requires) == (("raw",), ("raw",), 1, ())


def test_a_launch_cannot_be_held_to_a_fact_about_contents() -> None:
    _, problems = attached("// gpusafe: requires(monotone(raw))\nfn k() {\n}\n")
    assert problems == [
        "`monotone(raw)` has no effect: a launch cannot be held to `monotone(..)`; write `assume(monotone(raw))`"
    ]


def test_a_contract_of_something_else_is_told() -> None:
    _, problems = attached("// gpusafe: requires(n < 3)\nfn host() {}\nfn k() {\n}\n")
    assert problems == ["`n < 3` has no effect: it does not speak of a kernel"]
