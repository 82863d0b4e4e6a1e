"""A proof of synchronisation that rustc may not keep is no proof until PTX confirms it."""

from __future__ import annotations

import pytest

from gpusafe.codegen_check import unconfirmed
from gpusafe.ir.expr import TRUE, U32, PtrBase, const
from gpusafe.ir.kernel import Atomic, If, Kernel, Order, Scope, Stmt, Store
from gpusafe.span import Span
from gpusafe.verdict import PtxStatus, Verdict

HERE = Span("k.rs", 7, 5, 7, 20)
ADD = Atomic(HERE, None, "add", PtrBase(type=U32, region="n"), (const(1, U32),), U32, Order.RELEASE, Scope.SYSTEM)
PLAIN = Store(HERE, PtrBase(type=U32, region="n"), const(1, U32), 4)


def kernel(dialect: str, *body: Stmt) -> Kernel:
    return Kernel("k", "crate::k", dialect, (), (), body, HERE)


@pytest.mark.parametrize(
    ("dialect", "body", "statuses", "open_"),
    [
        ("ptx-kernel", (If(HERE, TRUE, (ADD,)),), (), True),
        ("ptx-kernel", (ADD,), (PtxStatus("sm_80", "skipped", "no rustc"),), True),
        ("ptx-kernel", (ADD,), (PtxStatus("sm_80", "confirmed"),), False),
        ("ptx-kernel", (PLAIN,), (), False),
        ("cuda_std", (ADD,), (), False),
    ],
)
def test_only_rustc_s_own_synchronisation_without_ptx_stays_open(
    dialect: str, body: tuple[Stmt, ...], statuses: tuple[PtxStatus, ...], open_: bool
) -> None:
    found = unconfirmed(kernel(dialect, *body), statuses)
    assert (found is not None) == open_
    if found is not None:
        assert found.verdict is Verdict.UNKNOWN
        assert "line 7" in (found.reason or "")
