"""``cp.async`` and its groups, bulk copies (PTX ISA, asynchronous copy)."""

from __future__ import annotations

from collections.abc import Callable

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import U32, Expr
from gpusafe.parse.cuda import terms
from gpusafe.parse.cuda.context import Context, Unsupported
from gpusafe.parse.cuda.ptx.memory import pointer_of
from gpusafe.parse.cuda.ptx.registers import Registers
from gpusafe.parse.cuda.ptx.text import Instruction

Handler = Callable[[Context, Registers, Instruction], bool]


def _copy(x: Context, r: Registers, i: Instruction) -> bool:
    if not i.has("async"):
        return False
    if i.has("bulk"):
        return _bulk(x, r, i)
    if i.has("commit_group"):
        x.emit(k.AsyncControl(r.span, "commit"))
        return True
    if i.has("wait_group", "wait_all"):
        pending = terms.value_of(r.get(i.operands[0])) if i.has("wait_group") else 0
        if pending is None:
            raise Unsupported("`cp.async.wait_group` with a count that is not a constant")
        x.emit(k.AsyncControl(r.span, "wait", pending))
        return True
    if i.has("mbarrier"):
        return False
    size = r.get(i.operands[2], U32)
    dst, src = pointer_of(r, i.operands[0]), pointer_of(r, i.operands[1])
    x.emit(k.AsyncCopy(r.span, "cp.async", dst, src, size))
    return True


def _bulk(x: Context, r: Registers, i: Instruction) -> bool:
    """``cp.async.bulk.dst.src.completion [dst], [src], size, [mbarrier]``."""
    if i.has("commit_group"):
        x.emit(k.AsyncControl(r.span, "commit", kind="bulk"))
        return True
    if i.has("wait_group"):
        pending = terms.value_of(r.get(i.operands[0]))
        if pending is None:
            raise Unsupported("`cp.async.bulk.wait_group` with a count that is not a constant")
        x.emit(k.AsyncControl(r.span, "wait", pending, kind="bulk"))
        return True
    if i.has("tensor", "reduce", "prefetch") or len(i.operands) < 3:
        return False
    size: Expr = r.get(i.operands[2], U32)
    barrier = pointer_of(r, i.operands[3]) if len(i.operands) > 3 and i.operands[3].startswith("[") else None
    dst, src = pointer_of(r, i.operands[0]), pointer_of(r, i.operands[1])
    x.emit(k.AsyncCopy(r.span, "bulk", dst, src, size, barrier))
    return True


INSTRUCTIONS: dict[str, Handler] = {"cp": _copy}
