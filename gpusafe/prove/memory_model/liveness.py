"""Which registers matter where in a thread's code."""

from __future__ import annotations

from gpusafe.parse.litmus import Barrier, Branch, Instruction, Jump, Label, Load, Move, ReadModifyWrite, Store

LiveSets = tuple[frozenset[str], ...]


def live_before(code: tuple[Instruction, ...], at_end: frozenset[str]) -> LiveSets:
    """For each instruction (and the end) the registers whose value before it can still be read."""
    labels = {i.name: at for at, i in enumerate(code) if isinstance(i, Label)}
    live: list[frozenset[str]] = [frozenset()] * len(code) + [at_end]
    changed = True
    while changed:
        changed = False
        for at in range(len(code) - 1, -1, -1):
            instruction = code[at]
            after = live[at + 1]
            if isinstance(instruction, Jump):
                after = live[labels[instruction.label]]
            elif isinstance(instruction, Branch):
                after |= live[labels[instruction.label]]
            read, written = _registers(instruction)
            before = (after - written) | read
            if before != live[at]:
                live[at], changed = before, True
    return tuple(live)


def _registers(instruction: Instruction) -> tuple[frozenset[str], frozenset[str]]:
    """The registers that an instruction reads, and those that it writes."""
    reads: tuple[object, ...] = ()
    writes: tuple[str | None, ...] = ()
    match instruction:
        case Load():
            writes = (instruction.register,)
        case Store():
            reads = (instruction.value,)
        case ReadModifyWrite():
            reads, writes = instruction.operands, (instruction.register,)
        case Move():
            reads, writes = (instruction.left, instruction.right), (instruction.register,)
        case Branch():
            reads = (instruction.left, instruction.right)
        case Barrier():
            reads = (instruction.resource, instruction.quorum)
    return frozenset(r for r in reads if isinstance(r, str)), frozenset(w for w in writes if w is not None)
