"""Which values and branches of a PTX function depend on the thread inside its block.

Only dependences through data are followed, from ``%tid`` and the lane registers: what is called divergent here really
is, and what is not may still be.
"""

from __future__ import annotations

import re

from gpusafe.codegen_check.ptx.flow import Flow
from gpusafe.codegen_check.ptx.model import Function, Instr

_SEEDS = re.compile(r"%(tid|laneid|lanemask_\w+)\b")
_REGISTER = re.compile(r"%[A-Za-z_$][\w$]*")
_NO_RESULT = frozenset({"st", "bra", "bar", "barrier", "fence", "membar", "ret", "exit", "red", "trap", "nanosleep"})
_SAME_FOR_ALL = frozenset({"vote", "redux"})


def thread_dependent(function: Function) -> frozenset[str]:
    """The registers whose value depends on the thread."""
    tainted: set[str] = set()
    changed = True
    while changed:
        changed = False
        for instr in function.instrs:
            results = results_of(instr)
            if results and not results <= tainted and _reads_tainted(instr, tainted):
                tainted |= results
                changed = True
    return frozenset(tainted)


def divergent_blocks(flow: Flow) -> frozenset[int]:
    """The blocks that end in a branch on a thread-dependent predicate."""
    tainted = thread_dependent(flow.function)
    found = set()
    for block in range(len(flow.blocks)):
        branch = flow.branch(block)
        if branch is not None and branch.guard in tainted:
            found.add(block)
    return frozenset(found)


def results_of(instr: Instr) -> set[str]:
    """The registers that an instruction writes."""
    if instr.opcode[0] in _NO_RESULT or not instr.operands:
        return set()
    return set(_REGISTER.findall(instr.operands[0]))


def reads_of(instr: Instr) -> set[str]:
    """The registers that an instruction reads (its guard included)."""
    start = 0 if instr.opcode[0] in _NO_RESULT else 1
    found = {register for operand in instr.operands[start:] for register in _REGISTER.findall(operand)}
    return found | ({instr.guard} if instr.guard else set())


def _reads_tainted(instr: Instr, tainted: set[str]) -> bool:
    if instr.opcode[0] in _SAME_FOR_ALL:
        return False
    if any(_SEEDS.search(operand) for operand in instr.operands[1:]):
        return True
    return bool(reads_of(instr) & tainted)
