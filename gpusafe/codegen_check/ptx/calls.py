"""A kernel together with the functions that it calls and that were not inlined."""

from __future__ import annotations

import re
from dataclasses import replace

from gpusafe.codegen_check.ptx.model import Function, Instr, Unit

_ENDING = ("panic", "unwrap_failed", "expect_failed", "slice_index_fail", "_fail", "trap", "rust_begin_unwind")
_REGISTER = re.compile(r"%([A-Za-z]+\d+)\b")


def with_callees(unit: Unit, kernel: Function) -> tuple[Function, tuple[str, ...]]:
    """One function that holds the kernel's code and, behind it, that of all functions it reaches by calls.

    Registers of the callees get names of their own. The second result names callees without code here; panics, after
    which the thread does nothing any more, are left out.
    """
    instrs, labels, symbols = list(kernel.instrs), dict(kernel.labels), list(kernel.symbols)
    seen, missing = {kernel.name}, []
    waiting = _callees(kernel)
    while waiting:
        name = waiting.pop(0)
        if name in seen or any(word in name for word in _ENDING):
            continue
        seen.add(name)
        function = unit.function(name)
        if function is None:
            missing.append(name)
            continue
        mark = f"f{len(seen)}_"
        instrs.append(Instr(("exit",), (), 0))  # nothing falls from one function into the next
        labels.update({label: len(instrs) + at for label, at in function.labels.items()})
        instrs += (_renamed(instr, mark) for instr in function.instrs)
        symbols += function.symbols
        waiting += _callees(function)
    whole = replace(kernel, instrs=tuple(instrs), labels=labels, symbols=tuple(symbols))
    return whole, tuple(missing)


def _callees(function: Function) -> list[str]:
    return [_callee(instr) for instr in function.instrs if instr.opcode[0] == "call"]


def _callee(instr: Instr) -> str:
    """The function that a call names."""
    return next((o for o in instr.operands if not o.startswith(("(", "%"))), "a function through a pointer")


def _renamed(instr: Instr, mark: str) -> Instr:
    operands = tuple(_REGISTER.sub(rf"%{mark}\1", operand) for operand in instr.operands)
    guard = _REGISTER.sub(rf"%{mark}\1", instr.guard) if instr.guard else None
    return replace(instr, operands=operands, guard=guard)
