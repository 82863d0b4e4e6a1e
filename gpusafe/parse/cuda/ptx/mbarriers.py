"""``mbarrier`` operations, and the usual loop that waits for one."""

from __future__ import annotations

from collections.abc import Callable

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import BOOL, U32, U64
from gpusafe.parse.cuda.context import Context
from gpusafe.parse.cuda.ptx.memory import order_of, pointer_of, scope_of
from gpusafe.parse.cuda.ptx.registers import Registers
from gpusafe.parse.cuda.ptx.text import Instruction

Handler = Callable[[Context, Registers, Instruction], bool]


def _mbarrier(x: Context, r: Registers, i: Instruction) -> bool:
    action = i.words[1] if len(i.words) > 1 else ""
    scope = scope_of(i, k.Scope.BLOCK)
    match action:
        case "init":
            pointer, count = pointer_of(r, i.operands[0]), r.get(i.operands[1], U32)
            x.emit(k.MBarrier(r.span, "init", pointer, (count,), order=k.Order.WEAK, scope=scope))
        case "inval":
            x.emit(k.MBarrier(r.span, "inval", pointer_of(r, i.operands[0]), order=k.Order.WEAK, scope=scope))
        case "arrive" | "expect_tx":
            _arrive(x, r, i, action, scope)
        case "test_wait" | "try_wait":
            var = x.temporary(i.opcode, BOOL)
            op = f"{action}_parity" if i.has("parity") else action
            pointer, phase = pointer_of(r, i.operands[1]), r.get(i.operands[2], U32 if i.has("parity") else U64)
            order = order_of(i, k.Order.ACQUIRE)
            x.emit(k.MBarrier(r.span, op, pointer, (phase,), var.name, order, scope))
            r.set(i.operands[0], var)
        case _:
            return False
    return True


def _arrive(x: Context, r: Registers, i: Instruction, action: str, scope: k.Scope) -> None:
    order = order_of(i, k.Order.RELEASE if action == "arrive" else k.Order.RELAXED)
    op = "arrive_expect_tx" if action == "arrive" and i.has("expect_tx") else action
    operands = list(i.operands)
    state = operands.pop(0) if operands and not operands[0].startswith("[") else None
    pointer = pointer_of(r, operands[0])
    values = tuple(r.get(o, U32) for o in operands[1:])
    var = x.temporary(i.opcode, U64) if state is not None and state != "_" else None
    x.emit(k.MBarrier(r.span, op, pointer, values, var.name if var is not None else None, order, scope))
    if var is not None and state is not None:
        r.set(state, var)


def is_wait_loop(code: list[Instruction]) -> bool:
    """``LOOP: mbarrier.try_wait p, [..], phase; @p bra DONE; bra LOOP; DONE:`` in one asm statement."""
    waits = [i for i in code if i.words[0] == "mbarrier" and i.has("try_wait", "test_wait")]
    others = [i for i in code if i not in waits and i.words[0] not in ("bra", "", "mov", "nanosleep")]
    return len(waits) == 1 and not others and any(i.words[0] == "bra" for i in code)


def wait_loop(x: Context, r: Registers, code: list[Instruction]) -> None:
    """The whole loop as one wait."""
    wait = next(i for i in code if i.words[0] == "mbarrier")
    pointer, phase = pointer_of(r, wait.operands[1]), r.get(wait.operands[2], U32)
    op = "wait_parity" if wait.has("parity") else "wait"
    x.emit(
        k.MBarrier(r.span, op, pointer, (phase,), None, order_of(wait, k.Order.ACQUIRE), scope_of(wait, k.Scope.BLOCK))
    )


INSTRUCTIONS: dict[str, Handler] = {"mbarrier": _mbarrier}
