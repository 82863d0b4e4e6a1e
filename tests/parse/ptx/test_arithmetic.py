"""Instructions on registers compute what the PTX ISA says, wrap-around included."""

from __future__ import annotations

import pytest

from gpusafe.dataflow.concrete.evaluate import compile_expr
from gpusafe.ir import kernel as k
from tests.parse.ptx.texts import kernel, lowered

MAX = 0xFFFFFFFF
CASES = [
    ("add.s32 %r3, %r1, %r2;", (MAX, 2), 1),
    ("sub.u32 %r3, %r1, %r2;", (1, 2), MAX),
    ("mul.lo.s32 %r3, %r1, %r2;", (0x10001, 0x10001), 0x20001),
    ("mul.hi.u32 %r3, %r1, %r2;", (MAX, MAX), MAX - 1),
    ("mul.hi.s32 %r3, %r1, %r2;", (MAX, 5), MAX),
    ("mad.lo.s32 %r3, %r1, %r2, 7;", (1 << 31, 2), 7),
    ("mad.hi.u32 %r3, %r1, %r2, 1;", (1 << 31, 4), 3),
    ("shl.b32 %r3, %r1, %r2;", (3, 31), 1 << 31),
    ("shl.b32 %r3, %r1, %r2;", (3, 32), 0),
    ("shr.u32 %r3, %r1, %r2;", (MAX, 31), 1),
    ("shr.s32 %r3, %r1, %r2;", (MAX - 1, 40), MAX),
    ("shr.b32 %r3, %r1, %r2;", (1 << 31, 31), 1),
    ("and.b32 %r3, %r1, %r2;", (0xF0F0, 0xFF00), 0xF000),
    ("xor.b32 %r3, %r1, -1;", (5, 0), MAX - 5),
    ("not.b32 %r3, %r1;", (5, 0), MAX - 5),
    ("neg.s32 %r3, %r1;", (5, 0), MAX - 4),
    ("abs.s32 %r3, %r1;", (MAX - 4, 0), 5),
    ("min.s32 %r3, %r1, %r2;", (MAX, 1), MAX),
    ("min.u32 %r3, %r1, %r2;", (MAX, 1), 1),
    ("div.s32 %r3, %r1, %r2;", (MAX - 6, 2), MAX - 2),
    ("rem.u32 %r3, %r1, %r2;", (MAX, 10), 5),
    ("popc.b32 %r3, %r1;", (0xF0F, 0), 8),
    ("clz.b32 %r3, %r1;", (1, 0), 31),
    ("brev.b32 %r3, %r1;", (1, 0), 1 << 31),
    ("bfe.u32 %r3, %r1, 4, 8;", (0xABCD, 0), 0xBC),
    ("bfe.s32 %r3, %r1, 4, 8;", (0xABCD, 0), MAX - 0xFF + 0xBC),
    ("bfi.b32 %r3, %r1, %r2, 8, 4;", (0x5, 0xFFFF), 0xF5FF),
    ("lop3.b32 %r3, %r1, %r2, 12, 0xEA;", (0b1100, 0b1010), 0b1100),  # (a & b) | c
    ("lop3.b32 %r3, %r1, %r2, 1, 0x96;", (0b1100, 0b1010), 0b0111),  # a ^ b ^ c
    ("setp.lt.s32 %p1, %r1, %r2; selp.b32 %r3, 1, 2, %p1;", (MAX, 1), 1),
    ("setp.lt.u32 %p1, %r1, %r2; selp.b32 %r3, 1, 2, %p1;", (MAX, 1), 2),
    ("setp.hi.s32 %p1, %r1, %r2; selp.b32 %r3, 1, 2, %p1;", (MAX, 1), 1),
    ("setp.ne.s32 %p1|%p2, %r1, %r2; selp.b32 %r3, 1, 2, %p2;", (4, 5), 2),
    ("setp.eq.u32 %p2, %r1, 4; setp.eq.and.u32 %p1, %r2, 5, !%p2; selp.b32 %r3, 1, 2, %p1;", (4, 5), 2),
    ("setp.gt.u32 %p1, %r1, 3; and.pred %p2, %p1, %p1; not.pred %p3, %p2; selp.b32 %r3, 1, 2, %p3;", (4, 5), 2),
    ("cvt.u64.u32 %rd1, %r1; shl.b64 %rd1, %rd1, 1; cvt.u32.u64 %r3, %rd1;", (MAX, 0), MAX - 1),
    ("cvt.s64.s32 %rd1, %r1; shr.u64 %rd1, %rd1, 32; cvt.u32.u64 %r3, %rd1;", (MAX, 0), MAX),
    ("cvt.u16.u32 %rs1, %r1; cvt.s32.s16 %r3, %rs1;", (0x18000, 0), MAX - 0x7FFF),
    ("cvt.s32.s8 %r3, %r1;", (0x180, 0), MAX - 0x7F),
    ("mul.wide.s32 %rd1, %r1, %r2; shr.u64 %rd1, %rd1, 32; cvt.u32.u64 %r3, %rd1;", (MAX, 3), MAX),
    ("mul.wide.u32 %rd1, %r1, %r2; shr.u64 %rd1, %rd1, 32; cvt.u32.u64 %r3, %rd1;", (MAX, 3), 2),
    ("mad.wide.u32 %rd1, %r1, %r2, 1; cvt.u32.u64 %r3, %rd1;", (MAX, 1), 0),
    ("mov.b64 %rd1, {%r1, %r2}; mov.b64 {%r9, %r3}, %rd1;", (3, 4), 4),
    ("mov.b64 %rd1, {%r1, %r2}; shr.u64 %rd1, %rd1, 31; cvt.u32.u64 %r3, %rd1;", (0, 4), 8),
    ("setp.eq.u32 %p1, %r1, 1; mov.u32 %r3, 5; @!%p1 mov.u32 %r3, 6;", (2, 0), 6),
    ("mov.b32 %r3, 0f3F800000;", (0, 0), 0x3F800000),
]


@pytest.mark.parametrize(("code", "inputs", "wanted"), CASES)
def test_registers_hold_what_the_isa_says(code: str, inputs: tuple[int, int], wanted: int) -> None:
    a, b = inputs
    made = lowered(kernel(f"mov.u32 %r1, {a}; mov.u32 %r2, {b}; {code}"))
    env: dict[str, object] = {}
    stack = list(made.body)[::-1]
    while stack:
        match stack.pop():
            case k.Assign(var=var, value=value):
                env[var] = compile_expr(value)(env)
            case k.If(cond=cond, then=then, orelse=orelse):
                stack += list(then if compile_expr(cond)(env) else orelse)[::-1]
            case k.Return():
                break
            case other:
                raise AssertionError(other)
    found = env["%r3"]
    assert isinstance(found, int)
    assert found & MAX == wanted
