"""Warp collectives in PTX: ``shfl``, ``vote``, ``match``, ``redux``, ``activemask``, ``elect``."""

from __future__ import annotations

from collections.abc import Callable

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import BOOL, I32, U32, Const
from gpusafe.parse.cuda import terms
from gpusafe.parse.cuda.context import Context
from gpusafe.parse.cuda.ptx.memory import type_of
from gpusafe.parse.cuda.ptx.registers import Registers
from gpusafe.parse.cuda.ptx.text import Instruction

Handler = Callable[[Context, Registers, Instruction], bool]
_MODES = {"idx": "shfl_idx", "up": "shfl_up", "down": "shfl_down", "bfly": "shfl_xor"}
_VOTES = {"any": "any", "all": "all", "ballot": "ballot"}


def _shuffle(x: Context, r: Registers, i: Instruction) -> bool:
    """``shfl.sync.mode.b32 d|p, a, b, c, mask``; ``c`` holds the clamp and the segments (PTX ISA, "shfl.sync")."""
    op = next((_MODES[w] for w in i.words if w in _MODES), None)
    if op is None or not i.has("sync") or len(i.operands) != 5:
        return False
    width = _width(terms.value_of(r.get(i.operands[3], U32)), op)
    if width is None:
        return False
    value, lane, mask = r.get(i.operands[1], U32), r.get(i.operands[2], U32), r.get(i.operands[4], U32)
    var = x.temporary(i.opcode, U32)
    x.emit(k.WarpOp(r.span, var.name, op, mask, (value, lane, Const(I32, width)), U32))
    target, _, inside = i.operands[0].partition("|")
    r.set(target.strip(), var)
    if inside.strip() not in ("", "_"):
        r.clobber(inside.strip(), "whether the lane that a shuffle reads is in range")
    return True


def _width(control: int | None, op: str) -> int | None:
    """The number of lanes of a segment, from the third operand of a shuffle; None where it is none of CUDA C's."""
    if control is None or control & 0x1F != (0 if op == "shfl_up" else 0x1F):
        return None
    segment = control >> 8 & 0x1F
    width = 32 - segment
    return width if width & (width - 1) == 0 else None


def _vote(x: Context, r: Registers, i: Instruction) -> bool:
    op = next((_VOTES[w] for w in i.words if w in _VOTES), None)
    if op is None or not i.has("sync"):
        return False
    predicate, mask = r.get(i.operands[1], BOOL), r.get(i.operands[2], U32)
    type_ = U32 if op == "ballot" else BOOL
    var = x.temporary(i.opcode, type_)
    x.emit(k.WarpOp(r.span, var.name, op, mask, (predicate,), type_))
    r.set(i.operands[0], var)
    return True


def _match(x: Context, r: Registers, i: Instruction) -> bool:
    if not i.has("any") or len(i.operands) != 3:
        return False
    value, mask = r.get(i.operands[1], type_of(i)), r.get(i.operands[2], U32)
    var = x.temporary(i.opcode, U32)
    x.emit(k.WarpOp(r.span, var.name, "match_any", mask, (value,), U32))
    r.set(i.operands[0], var)
    return True


def _reduce(x: Context, r: Registers, i: Instruction) -> bool:
    op = next((w for w in i.words if w in ("add", "min", "max", "and", "or", "xor")), None)
    if op is None:
        return False
    type_ = type_of(i)
    value, mask = r.get(i.operands[1], type_), r.get(i.operands[2], U32)
    var = x.temporary(i.opcode, type_)
    x.emit(k.WarpOp(r.span, var.name, f"redux_{op}", mask, (value,), type_))
    r.set(i.operands[0], var)
    return True


def _activemask(x: Context, r: Registers, i: Instruction) -> bool:
    var = x.temporary("active mask", U32)
    x.emit(k.WarpOp(r.span, var.name, "activemask", None, (), U32))
    r.set(i.operands[0], var)
    return True


def _elect(x: Context, r: Registers, i: Instruction) -> bool:
    """``elect.sync d|p, mask``: ``p`` is true in one lane."""
    mask = r.get(i.operands[1], U32)
    lane, _, predicate = i.operands[0].partition("|")
    var = x.temporary("elected", BOOL)
    x.emit(k.WarpOp(r.span, var.name, "elect", mask, (), BOOL))
    if predicate.strip():
        r.set(predicate.strip(), var)
    if lane.strip() != "_":
        r.clobber(lane.strip(), "the elected lane")
    return True


INSTRUCTIONS: dict[str, Handler] = {
    "shfl": _shuffle,
    "vote": _vote,
    "match": _match,
    "redux": _reduce,
    "activemask": _activemask,
    "elect": _elect,
}
