"""``mov``, ``cvt``, ``cvta``, ``ld.param``: values that change their place or their form."""

from __future__ import annotations

from collections.abc import Callable

from gpusafe.ir.expr import PTR, U32, U64, Const, Expr, Op, Opaque, Type
from gpusafe.parse.cuda import terms
from gpusafe.parse.ptx.context import Registers, convert
from gpusafe.parse.ptx.registers import types_in
from gpusafe.parse.ptx.syntax import Instruction


def move(r: Registers, i: Instruction) -> bool:
    """``mov``, also where it packs or unpacks a vector."""
    target, source = i.operands[0], i.operands[1]
    type_ = next(iter(types_in(i)[-1:]), U32)
    if target.startswith("{"):
        parts = target[1:-1].split(",")
        width = type_.bits // len(parts)
        whole = r.number(source, Type("int", type_.bits))
        for at, name in enumerate(parts):
            part = terms.binary(Op.SHR, whole, Const(U32, at * width)) if at else whole
            r.set(name, _narrow(r, name, part, width))
        return True
    if source.startswith("{"):
        parts = source[1:-1].split(",")
        width = type_.bits // len(parts)
        own = Type("int", type_.bits)
        made: Expr = Const(own, 0)
        for at, name in enumerate(parts):
            value = terms.cast(r.number(name, Type("int", width)), own)
            made = terms.binary(Op.OR, made, terms.binary(Op.SHL, value, Const(U32, at * width)) if at else value)
        r.set(target, made)
        return True
    found = r.type_of(source)
    wanted = r.type_of(target)
    if found is None and wanted is not None and wanted.kind in ("int", "float"):
        type_ = wanted if wanted.bits == type_.bits else type_
    r.set(target, r.get(source, None if found is not None else type_))
    return True


def _narrow(r: Registers, name: str, value: Expr, width: int) -> Expr:
    return terms.cast(value, Type("int", width))


def to_address(r: Registers, i: Instruction) -> bool:
    """``cvta`` changes the state space, not what is pointed to."""
    r.set(i.operands[0], r.get(i.operands[1], U64))
    return True


def convert_number(r: Registers, i: Instruction) -> bool:
    """``cvt`` between integers is exact; to and from floats it is known by name."""
    kinds = types_in(i)
    if len(kinds) != 2 or "x2" in i.opcode or i.has("pack"):
        return False
    to, of = kinds
    value = r.get(i.operands[1], of)
    if value.type == PTR:
        r.set(i.operands[0], value if r.type_of(i.operands[0]) == PTR else convert(terms.cast(value, U64), to))
        return True
    if of.kind == to.kind == "int":
        if i.has("sat"):
            return False
        r.set(i.operands[0], terms.cast(value, to))
    elif of.kind == "int":
        r.set(i.operands[0], Opaque(to, f"int_to_f{to.bits}", (value,)))
    elif to.kind == "int" and i.has("rzi"):
        r.set(i.operands[0], Opaque(to, f"f{of.bits}_to_int", (value,)))
    else:
        r.set(i.operands[0], Opaque(to, i.opcode, (value,)))
    return True


MOVES: dict[str, Callable[[Registers, Instruction], bool]] = {
    "mov": move,
    "cvta": to_address,
    "cvt": convert_number,
}
