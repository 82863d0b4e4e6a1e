"""One instruction as statements of the kernel IR. What is not known becomes ``Unmodelled``, never nothing."""

from __future__ import annotations

from typing import Any, cast

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import BOOL, FALSE, PTR, Opaque, Type
from gpusafe.parse.cuda import terms
from gpusafe.parse.cuda.context import Unsupported
from gpusafe.parse.cuda.ptx import barriers, copies, mbarriers, memory, warps
from gpusafe.parse.ptx.arithmetic import compute
from gpusafe.parse.ptx.context import Registers
from gpusafe.parse.ptx.moves import MOVES
from gpusafe.parse.ptx.pointers import results_of
from gpusafe.parse.ptx.registers import types_in
from gpusafe.parse.ptx.syntax import Instruction

_LONGEST = 70
_TABLES = (
    memory.INSTRUCTIONS,
    barriers.INSTRUCTIONS,
    copies.INSTRUCTIONS,
    mbarriers.INSTRUCTIONS,
    warps.INSTRUCTIONS,
)
_SILENT = frozenset({"nanosleep", "prefetch", "prefetchu", "applypriority", "pmevent", "brkpt", "setmaxnreg",
                     "griddepcontrol"})  # fmt: skip
_READ_ONLY = frozenset({"tex", "tld4", "txq", "suld", "suq", "mma"})
"""Textures and surfaces that are read, matrix products of registers: results that are not modelled, no effects."""
_ENDINGS = {"trap", "exit", "ret"}


def lower(r: Registers, i: Instruction) -> None:
    """Emits the statements of an instruction that is no branch."""
    if i.guard is None:
        _lower(r, i)
        return
    condition = r.get(i.guard, BOOL)
    if i.negated:
        condition = terms.negate(condition)
    with r.x.emitter.collect() as made:
        _lower(r, i)
    if made:
        r.x.emit(k.If(r.span, condition, tuple(made)))


def _lower(r: Registers, i: Instruction) -> None:
    at = len(r.x.emitter.lists[-1])
    try:
        if _known(r, i):
            return
        what = f"the PTX instruction `{i.text[:_LONGEST]}`"
    except Unsupported as gap:
        what = f"the PTX instruction `{i.text[:_LONGEST]}`"
        if str(gap) not in what:
            what += f" ({gap})"
    except (IndexError, ValueError, KeyError):
        what = f"the PTX instruction `{i.text[:_LONGEST]}`, which has another form than gpusafe knows"
    del r.x.emitter.lists[-1][at:]
    if i.words[0] == "call":
        what = f"a call of `{', '.join(i.operands)}`, which is not in this PTX"
    r.x.emit(k.Unmodelled(r.span, what))
    for name in results_of(i):
        r.clobber(name, what)


def _known(r: Registers, i: Instruction) -> bool:
    word = i.words[0]
    if word in _ENDINGS:
        return _ending(r, i)
    if word in _SILENT:
        return not i.has("async", "tensor")
    if word in _READ_ONLY and not i.has("st"):
        for name in results_of(i):
            r.clobber(name, f"the result of `{i.opcode}`")
        return True
    if word == "mapa":
        return _peer(r, i)
    if word in MOVES and MOVES[word](r, i):
        return True
    if word == "bar" and i.has("red"):
        return _voting_barrier(r, i)
    kinds = types_in(i)
    r.access = max(1, kinds[-1].bytes) if kinds else 1
    for table in _TABLES:
        handler = table.get(word)
        if handler is not None and handler(cast(Any, r.x), cast(Any, r), cast(Any, i)):
            return True
    return compute(r, i)


def _ending(r: Registers, i: Instruction) -> bool:
    if i.words[0] == "trap":
        r.x.emit(k.Assume(r.span, FALSE, "`trap`"))
    elif i.guard is not None:
        r.x.emit(k.Return(r.span))
    return True


def _peer(r: Registers, i: Instruction) -> bool:
    """``mapa``: the same place in the shared memory of another block of the cluster."""
    pointer = r.get(i.operands[1])
    if pointer.type != PTR:
        return False
    r.set(i.operands[0], Opaque(PTR, "mapa", (pointer, r.get(i.operands[2], Type("int", 32)))))
    return True


def _voting_barrier(r: Registers, i: Instruction) -> bool:
    """``bar.red.op.type d, a{, b}, p``: a barrier of the block with a vote."""
    word = next(w for w in i.words if w in ("popc", "and", "or"))
    ident = terms.value_of(r.get(i.operands[1], Type("int", 32)))
    if len(i.operands) != 3 or ident != 0:
        return False
    var = r.x.temporary(i.opcode, Type("int", 32, True))
    reduce = "count" if word == "popc" else word
    r.x.emit(k.Barrier(r.span, k.Scope.BLOCK, var=var.name, value=r.get(i.operands[2], BOOL), reduce=reduce))
    r.set(i.operands[0], var if reduce == "count" else terms.cast(var, BOOL))
    return True
