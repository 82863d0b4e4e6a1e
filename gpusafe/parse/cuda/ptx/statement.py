"""Inline PTX: instructions that order or touch memory are lowered, arithmetic is computed or opaque."""

from __future__ import annotations

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import BOOL, Expr
from gpusafe.parse.cuda import syntax as s
from gpusafe.parse.cuda import terms
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.context import Context, Unsupported
from gpusafe.parse.cuda.ptx import arithmetic, barriers, copies, mbarriers, memory, warps
from gpusafe.parse.cuda.ptx.registers import Registers
from gpusafe.parse.cuda.ptx.text import Instruction, instructions
from gpusafe.parse.cuda.values import NoValue, Operand

_LONGEST = 60
_TABLES = (
    memory.INSTRUCTIONS,
    barriers.INSTRUCTIONS,
    copies.INSTRUCTIONS,
    mbarriers.INSTRUCTIONS,
    warps.INSTRUCTIONS,
)


def inline_assembly(x: Context, expr: s.Asm) -> Operand:
    """One ``asm`` statement."""
    code = instructions(expr.template)
    if not code:
        return NoValue(t.VOID)
    registers = Registers.of(x, expr)
    if mbarriers.is_wait_loop(code):
        mbarriers.wait_loop(x, registers, code)
    else:
        for instruction in code:
            _guarded(x, registers, instruction)
    for index in range(registers.outputs):
        if index not in registers.written:
            registers.clobber(f"%{index}", "the result of inline assembly")
    return NoValue(t.VOID)


def _guarded(x: Context, registers: Registers, instruction: Instruction) -> None:
    if instruction.guard is None:
        _one(x, registers, instruction)
        return
    condition: Expr = registers.get(instruction.guard, BOOL)
    if instruction.negated:
        condition = terms.negate(condition)
    before = dict(registers.values)
    with x.emitter.collect() as made:
        _one(x, registers, instruction)
    for name, value in registers.values.items():
        old = before.get(name)
        if old is not None and old != value and old.type == value.type:
            registers.values[name] = terms.select(condition, value, old)
    if made:
        x.emit(k.If(registers.span, condition, tuple(made)))


def _one(x: Context, registers: Registers, instruction: Instruction) -> None:
    for table in _TABLES:
        handler = table.get(instruction.words[0])
        if handler is not None and handler(x, registers, instruction):
            return
    if arithmetic.compute(x, registers, instruction):
        return
    shown = " ".join((instruction.opcode, ", ".join(instruction.operands))).replace("\0", "")
    raise Unsupported(f"the PTX instruction `{shown[:_LONGEST]}`")
