"""What this machine's rustc makes of each Rust atomic, judged (needs a compiler for nvptx64 with its ``core``)."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusafe.codegen_check.compare import Comparison, compare
from gpusafe.codegen_check.compile import Job, compile_ptx
from gpusafe.codegen_check.core_library import ready_sysroot
from gpusafe.codegen_check.ptx import read
from gpusafe.codegen_check.toolchain import find
from gpusafe.ir.expr import PTR as POINTER
from gpusafe.ir.expr import U8, U16, U32, U64, Const, PtrBase, Type
from gpusafe.ir.kernel import Atomic, Fence, Kernel, KernelParam, Order, Region, Scope, Space, Stmt
from gpusafe.span import Span

TOOLS = find()
SYSROOT = ready_sysroot(TOOLS.rustc) if TOOLS.rustc else None
pytestmark = pytest.mark.skipif(SYSROOT is None, reason="no rustc with core for nvptx64")

LLVM_LOSES_ORDER = TOOLS.rustc is not None and TOOLS.rustc.release < (1, 97, 0)

PROGRAM = """\
#![no_std]
#![feature(abi_ptx, stdarch_nvptx, asm_experimental_arch)]
use core::sync::atomic::{{*, Ordering::*}};
#[no_mangle]
pub unsafe extern "ptx-kernel" fn k(p: &{type}, x: *mut u32, o: *mut u32, n: {plain}) {{
    x.write(7);
    {statement}
    o.write(x.read());
}}
"""
TYPES: dict[str, Type] = {"AtomicU8": U8, "AtomicU16": U16, "AtomicU32": U32, "AtomicU64": U64}
ORDERS = {
    "Relaxed": Order.RELAXED,
    "Acquire": Order.ACQUIRE,
    "Release": Order.RELEASE,
    "AcqRel": Order.ACQ_REL,
    "SeqCst": Order.SEQ_CST,
}


def judged(folder: Path, type_: str, statement: str, source: Stmt, target: str = "sm_80") -> Comparison:
    """Compile one statement and hold it against what it means."""
    assert TOOLS.rustc is not None and SYSROOT is not None
    root = folder / "k.rs"
    root.write_text(PROGRAM.format(type=type_, plain=type_.removeprefix("Atomic").lower(), statement=statement))
    compiled = compile_ptx(TOOLS.rustc, SYSROOT, Job(root, "k", "2021", target), folder)
    assert compiled.ptx is not None, compiled.reason
    at = Span("k.rs", 1, 1, 9, 1)
    region = Region("p", Space.GLOBAL, TYPES[type_].bytes, None, at, param=0)
    kernel = Kernel("k", "k", "ptx-kernel", (KernelParam("p", "opaque", None, "p", at),), (region,), (source,), at)
    unit = read(compiled.ptx)
    function = unit.function("k")
    assert function is not None
    return compare(kernel, unit, function, {str(root): "k.rs"})


def atomic(statement: str, type_: str, op: str, order: str) -> Atomic:
    where = Span("k.rs", 7, 5, 7, 5 + len(statement))
    one = Const(TYPES[type_], 1)
    operands = {"load": (), "cas": (one, one)}.get(op, (one,))
    pointer = PtrBase(POINTER, "p")
    return Atomic(where, "v", op, pointer, operands, TYPES[type_], ORDERS[order], Scope.SYSTEM)


CALLS = {
    "load": "o.write(p.load({order}) as u32);",
    "store": "p.store(n, {order});",
    "cas": "o.write(p.compare_exchange(n, 1, {order}, Relaxed).is_ok() as u32);",
    "add": "o.write(p.fetch_add(n, {order}) as u32);",
    "exch": "o.write(p.swap(n, {order}) as u32);",
    "or": "o.write(p.fetch_or(0, {order}) as u32);",
}
LEGAL = {"load": ("Relaxed", "Acquire", "SeqCst"), "store": ("Relaxed", "Release", "SeqCst")}
CASES = [(op, order) for op in CALLS for order in LEGAL.get(op, tuple(ORDERS))]


@pytest.mark.parametrize(
    ("type_", "op", "order"),
    [
        *(("AtomicU32", op, order) for op, order in CASES),
        ("AtomicU64", "add", "AcqRel"),
        ("AtomicU64", "cas", "AcqRel"),
    ],
)
def test_only_wide_read_modify_writes_lose_their_order(tmp_path: Path, type_: str, op: str, order: str) -> None:
    statement = CALLS[op].format(order=order)
    comparison = judged(tmp_path, type_, statement, atomic(statement, type_, op, order))
    loses = op in ("add", "exch", "or") and order != "Relaxed" and LLVM_LOSES_ORDER
    assert bool(comparison.weaker) == loses
    assert comparison.unclear == ()


@pytest.mark.parametrize(
    ("type_", "op", "order"),
    [
        *(("AtomicU8", op, order) for op in ("add", "exch", "cas") for order in ("Acquire", "Release", "SeqCst")),
        ("AtomicU16", "cas", "AcqRel"),
    ],
)
def test_emulated_narrow_atomics_keep_their_order(tmp_path: Path, type_: str, op: str, order: str) -> None:
    statement = CALLS[op].format(order=order)
    comparison = judged(tmp_path, type_, statement, atomic(statement, type_, op, order))
    assert comparison.weaker == ()
    assert comparison.unclear == ()


@pytest.mark.parametrize("type_", ["AtomicU8", "AtomicU16"])
def test_narrow_bit_operations_are_wide_ones_and_lose_their_order(tmp_path: Path, type_: str) -> None:
    statement = CALLS["or"].format(order="AcqRel")
    comparison = judged(tmp_path, type_, statement, atomic(statement, type_, "or", "AcqRel"))
    assert bool(comparison.weaker) == LLVM_LOSES_ORDER


@pytest.mark.parametrize("order", ["Acquire", "Release", "AcqRel", "SeqCst"])
@pytest.mark.parametrize("target", ["sm_80", "sm_100"])
def test_fences_are_kept(tmp_path: Path, order: str, target: str) -> None:
    statement = f"fence({order});"
    where = Span("k.rs", 7, 5, 7, 5 + len(statement))
    comparison = judged(tmp_path, "AtomicU32", statement, Fence(where, ORDERS[order], Scope.SYSTEM), target)
    assert comparison.weaker == ()
    assert comparison.unclear == ()
    assert comparison.checked == 1
