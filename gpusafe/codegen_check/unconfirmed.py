"""Kernels whose proof the compiler is known not to keep always, and whose PTX was not looked at.

Stock rustc drops the order of atomic read-modify-writes, clones barriers into divergent branches and moves accesses
over them (rust-lang/rust 136480 and 137086, in 1.96 still). For kernels that rustc compiles itself, synchronisation
that no PTX confirms is therefore not proved; the frameworks bring compilers of their own.
"""

from __future__ import annotations

from gpusafe.codegen_check.compare.operations import statements
from gpusafe.ir.kernel import AsyncCopy, Atomic, Barrier, Fence, Kernel, MBarrier, ProxyFence, WarpOp
from gpusafe.verdict import Obligation, PtxStatus, Verdict

_COMPILED_BY_RUSTC = "ptx-kernel"
_SYNCHRONISES = (AsyncCopy, Atomic, Barrier, Fence, MBarrier, ProxyFence, WarpOp)


def unconfirmed(kernel: Kernel, statuses: tuple[PtxStatus, ...]) -> Obligation | None:
    """What stays open for a kernel of stock rustc that synchronises, None where nothing does."""
    if kernel.dialect != _COMPILED_BY_RUSTC or any(s.status in ("confirmed", "weaker", "rejected") for s in statuses):
        return None
    first = next((s for s in statements(kernel.body) if isinstance(s, _SYNCHRONISES)), None)
    if first is None:
        return None
    why = next((s.detail for s in statuses if s.detail), "the PTX stage did not run")
    return Obligation(
        "GS307",
        "the compiled kernel keeps the synchronisation of its source",
        Verdict.UNKNOWN,
        first.span,
        f"rustc does not always keep what line {first.span.line} asks for, and no PTX confirms it ({why})",
    )
