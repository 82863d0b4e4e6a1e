"""``ld``, ``st``, ``atom``, ``red``, ``ldmatrix`` and kin (PTX ISA, data movement)."""

from __future__ import annotations

from collections.abc import Callable

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import BOOL, U32, Const, Expr, Op, Opaque, Special, Type
from gpusafe.parse.cuda import terms
from gpusafe.parse.cuda.context import Context, Unsupported
from gpusafe.parse.cuda.ptx.registers import Registers, ptx_type
from gpusafe.parse.cuda.ptx.text import Instruction, address, elements

Handler = Callable[[Context, Registers, Instruction], bool]

ORDERS = {
    "weak": k.Order.WEAK,
    "relaxed": k.Order.RELAXED,
    "acquire": k.Order.ACQUIRE,
    "release": k.Order.RELEASE,
    "acq_rel": k.Order.ACQ_REL,
    "sc": k.Order.SEQ_CST,
}
SCOPES = {"cta": k.Scope.BLOCK, "cluster": k.Scope.CLUSTER, "gpu": k.Scope.DEVICE, "sys": k.Scope.SYSTEM}
_ATOMIC_OPS = {"add", "and", "or", "xor", "min", "max", "exch", "cas", "inc", "dec"}


def order_of(i: Instruction, default: k.Order) -> k.Order:
    """The memory order among the opcode's words."""
    return next((ORDERS[w] for w in i.words if w in ORDERS), default)


def scope_of(i: Instruction, default: k.Scope) -> k.Scope:
    """The scope among the opcode's words."""
    return next((SCOPES[w] for w in i.words if w in SCOPES), default)


def type_of(i: Instruction) -> Type:
    """The type at the end of the opcode."""
    found = next((made for w in reversed(i.words) if (made := ptx_type(w)) is not None), None)
    if found is None:
        raise Unsupported(f"the PTX instruction `{i.opcode}`")
    return found


def pointer_of(r: Registers, operand: str) -> Expr:
    """The address of a memory operand."""
    found = address(operand)
    if found is None:
        raise Unsupported(f"the PTX operand `{operand}`")
    return r.pointer(*found)


def _vector(i: Instruction) -> int:
    return next((int(w[1:]) for w in i.words if w in ("v2", "v4", "v8")), 1)


def _load(x: Context, r: Registers, i: Instruction) -> bool:
    if len(i.operands) < 2 or i.has("param"):
        return False
    type_, count = type_of(i), _vector(i)
    pointer = pointer_of(r, i.operands[1])
    strong = i.has("relaxed", "acquire", "mmio")
    if count == 1:
        var = x.temporary(f"ld {i.operands[1]}", type_)
        if strong:
            order, scope = order_of(i, k.Order.RELAXED), scope_of(i, k.Scope.DEVICE)
            x.emit(k.Atomic(r.span, var.name, "load", pointer, (), type_, order, scope))
        else:
            x.emit(k.Load(r.span, var.name, pointer, type_, i.has("volatile")))
        r.set(i.operands[0], var)
        return True
    if strong:
        raise Unsupported(f"the PTX instruction `{i.opcode}`")
    whole = Type("int", type_.bits * count)
    var = x.temporary(f"ld {i.operands[1]}", whole)
    x.emit(k.Load(r.span, var.name, pointer, whole, i.has("volatile")))
    for index, name in enumerate(elements(i.operands[0])):
        r.set(name, Opaque(type_, f"element {index}", (var,)))
    return True


def _store(x: Context, r: Registers, i: Instruction) -> bool:
    if len(i.operands) < 2 or i.has("param", "async"):
        return False
    type_, count = type_of(i), _vector(i)
    pointer = pointer_of(r, i.operands[0])
    strong = i.has("relaxed", "release", "mmio")
    if count == 1:
        value = r.get(i.operands[1], type_)
        if strong:
            order, scope = order_of(i, k.Order.RELAXED), scope_of(i, k.Scope.DEVICE)
            x.emit(k.Atomic(r.span, None, "store", pointer, (value,), type_, order, scope))
        else:
            x.emit(k.Store(r.span, pointer, value, type_.bytes, i.has("volatile")))
        return True
    if strong:
        raise Unsupported(f"the PTX instruction `{i.opcode}`")
    parts = tuple(r.get(name, type_) for name in elements(i.operands[1]))
    whole = Opaque(Type("int", type_.bits * count), "vector value", parts)
    x.emit(k.Store(r.span, pointer, whole, type_.bytes * count, i.has("volatile")))
    return True


def _atomic(x: Context, r: Registers, i: Instruction) -> bool:
    """``atom`` gives the old value, ``red`` does not; without words they are relaxed at gpu scope."""
    op = next((w for w in i.words if w in _ATOMIC_OPS), None)
    if op is None or i.has("async") or _vector(i) > 1:
        return False
    returns = i.words[0] == "atom"
    target, *rest = i.operands[1:] if returns else i.operands
    type_ = type_of(i)
    pointer = pointer_of(r, target)
    values = tuple(r.get(name, type_) for name in rest)
    word = {"add": "fadd"}.get(op, op) if type_.kind == "float" or i.has("f16x2", "bf16x2") else op
    var = x.temporary(i.opcode, type_) if returns else None
    success = x.temporary(f"{i.opcode} succeeded", BOOL) if op == "cas" else None
    x.emit(
        k.Atomic(
            r.span,
            var.name if var is not None else None,
            word,
            pointer,
            values,
            type_,
            order_of(i, k.Order.RELAXED),
            scope_of(i, k.Scope.DEVICE),
            success.name if success is not None else None,
            k.Order.RELAXED if op == "cas" else None,
        )
    )
    if var is not None:
        r.set(i.operands[0], var)
    return True


def _matrix_rows(i: Instruction) -> int:
    """How many lanes of ``ldmatrix``/``stmatrix`` give an address: eight for each matrix."""
    return 8 * next((int(w[1:]) for w in i.words if w in ("x1", "x2", "x4")), 1)


def _matrix(x: Context, r: Registers, i: Instruction) -> bool:
    """Each row of 16 bytes is accessed by the lane that gives its address."""
    store = i.words[0] == "stmatrix"
    pointer = pointer_of(r, i.operands[0 if store else 1])
    with x.emitter.collect() as made:
        if store:
            value = x.havoc(r.span, "row", Type("int", 128), "a row of a matrix")
            x.emit(k.Store(r.span, pointer, value, 16))
        else:
            x.emit(k.Load(r.span, None, pointer, Type("int", 128)))
    lanes = _matrix_rows(i)
    if lanes < 32:
        asks = terms.binary(Op.LT, Special(U32, "laneid"), Const(U32, lanes))
        x.emit(k.If(r.span, asks, tuple(made)))
    else:
        for stmt in made:
            x.emit(stmt)
    if not store:
        for name in elements(i.operands[0]):
            r.clobber(name, "an element of a matrix")
    return True


def _nothing(x: Context, r: Registers, i: Instruction) -> bool:
    return not i.has("async")


INSTRUCTIONS: dict[str, Handler] = {
    "ld": _load,
    "ldu": _load,
    "st": _store,
    "atom": _atomic,
    "red": _atomic,
    "ldmatrix": _matrix,
    "stmatrix": _matrix,
    "prefetch": _nothing,
    "prefetchu": _nothing,
    "applypriority": _nothing,
    "nanosleep": _nothing,
    "": _nothing,
}
