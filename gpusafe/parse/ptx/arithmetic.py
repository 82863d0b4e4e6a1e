"""Instructions on registers alone: integers exactly, with wrap-around; floats by name (PTX ISA, 9.7.1 to 9.7.9)."""

from __future__ import annotations

from collections.abc import Callable
from operator import and_, or_, xor

from gpusafe.ir.expr import BOOL, PTR, U32, U64, Binary, Const, Expr, Op, Opaque, Type, Unary
from gpusafe.parse.cuda import terms
from gpusafe.parse.ptx.context import Registers, convert
from gpusafe.parse.ptx.pointers import results_of
from gpusafe.parse.ptx.registers import types_in
from gpusafe.parse.ptx.syntax import Instruction

Handler = Callable[[Registers, Instruction, Type], bool]
_PLAIN = {"add": Op.ADD, "sub": Op.SUB, "and": Op.AND, "or": Op.OR, "xor": Op.XOR}
_SIGNED = {"min": Op.MIN, "max": Op.MAX, "div": Op.DIV, "rem": Op.REM}
_ORDERED = {"eq": Op.EQ, "ne": Op.NE, "lt": Op.LT, "le": Op.LE, "gt": Op.GT, "ge": Op.GE,
            "lo": Op.LT, "ls": Op.LE, "hi": Op.GT, "hs": Op.GE}  # fmt: skip
_FLOAT_COMPARES = {"eq": "feq", "neu": "fne", "lt": "flt", "le": "fle", "gt": "fgt", "ge": "fge"}
_NEGATED_COMPARES = {"ltu": "fge", "leu": "fgt", "gtu": "fle", "geu": "flt"}
_FLOATS = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv", "min": "fmin", "max": "fmax", "fma": "fma",
           "mad": "fma", "neg": "fneg", "abs": "fabs", "sqrt": "sqrt"}  # fmt: skip
_LOGIC = {"and": Op.LAND, "or": Op.LOR, "xor": Op.NE}


def _binary(op: Op, a: Expr, b: Expr) -> Expr:
    """An operation that wraps at the width of its type, signed ones too."""
    made = terms.binary(op, a, b)
    if isinstance(made, Binary) and made.nowrap:
        return Binary(made.type, made.op, made.a, made.b, False)
    return made


def _exact(op: Op, a: Expr, b: Expr) -> Expr:
    """An operation that cannot overflow."""
    made = terms.binary(op, a, b)
    return Binary(made.type, made.op, made.a, made.b, True) if isinstance(made, Binary) else made


def _own_type(r: Registers, i: Instruction, type_: Type) -> Type:
    """The type to compute in where the sign makes no difference: that of the result."""
    found = r.type_of(i.operands[0])
    return found if found is not None and found.kind == "int" and found.bits == type_.bits else type_


def _offset(value: Expr, bits: int) -> Expr:
    """A number of bytes that an address is moved by: addresses wrap, so that large numbers lead back."""
    signed = Type("int", bits, True)
    return value if value.type == signed else terms.cast(value, signed)


def _add(r: Registers, i: Instruction, type_: Type) -> bool:
    own = _own_type(r, i, type_)
    a, b = r.get(i.operands[1], own), r.get(i.operands[2], own)
    if a.type != PTR and b.type != PTR:
        r.set(i.operands[0], _binary(Op.ADD if i.words[0] == "add" else Op.SUB, a, b))
        return True
    if a.type == b.type or (b.type == PTR and i.words[0] == "sub"):
        r.set(i.operands[0], Opaque(U64, f"pointer {i.words[0]}", (a, b)))
        return True
    pointer, moved = (a, b) if a.type == PTR else (b, a)
    offset = _offset(moved, type_.bits)
    if i.words[0] == "sub":
        offset = terms.unary(Op.NEG, offset)
    r.set(i.operands[0], terms.move(pointer, offset))
    return True


def _bitwise(r: Registers, i: Instruction, type_: Type) -> bool:
    if type_ == BOOL:
        a, b = r.get(i.operands[1], BOOL), r.get(i.operands[2], BOOL)
        r.set(i.operands[0], terms.binary(_LOGIC[i.words[0]], a, b))
        return True
    own = _own_type(r, i, type_)
    a, b = r.number(i.operands[1], own), r.number(i.operands[2], own)
    r.set(i.operands[0], _binary(_PLAIN[i.words[0]], a, b))
    return True


def _signed(r: Registers, i: Instruction, type_: Type) -> bool:
    a, b = r.number(i.operands[1], type_), r.number(i.operands[2], type_)
    r.set(i.operands[0], _binary(_SIGNED[i.words[0]], a, b))
    return True


def _product(r: Registers, i: Instruction, type_: Type) -> Expr | None:
    """``a * b`` as the opcode's ``lo``, ``hi`` or ``wide`` takes it."""
    if i.has("wide", "hi"):
        if type_.bits > 64:
            return None
        wide = Type("int", type_.bits * 2, type_.signed)
        a, b = (terms.cast(r.number(o, type_), wide) for o in i.operands[1:3])
        whole = _exact(Op.MUL, a, b)
        return whole if i.has("wide") else terms.cast(_binary(Op.SHR, whole, Const(U32, type_.bits)), type_)
    own = _own_type(r, i, type_)
    return _binary(Op.MUL, r.number(i.operands[1], own), r.number(i.operands[2], own))


def _multiply(r: Registers, i: Instruction, type_: Type) -> bool:
    found = _product(r, i, type_)
    if found is None:
        return False
    r.set(i.operands[0], found)
    return True


def _multiply_add(r: Registers, i: Instruction, type_: Type) -> bool:
    found = _product(r, i, type_)
    if found is None or i.has("cc"):
        return False
    c = r.get(i.operands[3], found.type)
    if c.type == PTR:
        r.set(i.operands[0], terms.move(c, _offset(found, found.type.bits)))
    else:
        r.set(i.operands[0], _binary(Op.ADD, found, c))
    return True


def _shift(r: Registers, i: Instruction, type_: Type) -> bool:
    """Amounts beyond the width give zero, or the sign (PTX ISA, "shl", "shr")."""
    own = _own_type(r, i, type_) if i.words[0] == "shl" else type_
    op = Op.SHL if i.words[0] == "shl" else Op.SHR
    r.set(i.operands[0], _binary(op, r.number(i.operands[1], own), r.number(i.operands[2], U32)))
    return True


def _unary(r: Registers, i: Instruction, type_: Type) -> bool:
    op = {"neg": Op.NEG, "not": Op.NOT, "abs": Op.ABS}[i.words[0]]
    r.set(i.operands[0], terms.unary(op, r.number(i.operands[1], type_)))
    return True


def _count_bits(r: Registers, i: Instruction, type_: Type) -> bool:
    op = {"popc": Op.POPC, "clz": Op.CLZ, "brev": Op.BREV}[i.words[0]]
    r.set(i.operands[0], terms.unary(op, r.number(i.operands[1], Type("int", type_.bits))))
    return True


def _field(r: Registers, i: Instruction, type_: Type) -> bool:
    """``bfe`` at a constant place."""
    at, width = (terms.value_of(r.get(o, U32)) for o in i.operands[2:4])
    if at is None or width is None or not 0 < width <= type_.bits - at:
        return False
    value = r.number(i.operands[1], type_)
    up = _binary(Op.SHL, value, Const(U32, type_.bits - width - at))
    if type_.signed:
        made = _binary(Op.SHR, up, Const(U32, type_.bits - width))
    else:
        made = _binary(Op.AND, _binary(Op.SHR, value, Const(U32, at)), Const(type_, (1 << width) - 1))
    r.set(i.operands[0], made)
    return True


def _insert(r: Registers, i: Instruction, type_: Type) -> bool:
    """``bfi`` at a constant place."""
    at, width = (terms.value_of(r.get(o, U32)) for o in i.operands[3:5])
    if at is None or width is None or not 0 < width <= type_.bits - at:
        return False
    mask = (1 << width) - 1
    low = _binary(Op.AND, r.number(i.operands[1], type_), Const(type_, mask))
    rest = _binary(Op.AND, r.number(i.operands[2], type_), Const(type_, ((1 << type_.bits) - 1) & ~(mask << at)))
    r.set(i.operands[0], _binary(Op.OR, rest, _binary(Op.SHL, low, Const(U32, at))))
    return True


def _table(r: Registers, i: Instruction, type_: Type) -> bool:
    """``lop3`` where its table is made of two operations on a, b and c."""
    lut = terms.value_of(r.get(i.operands[4], U32)) if len(i.operands) > 4 else None
    rows = {"a": 0xF0, "b": 0xCC, "c": 0xAA}
    ops: dict[Op, Callable[[int, int], int]] = {Op.AND: and_, Op.OR: or_, Op.XOR: xor}
    if lut is None:
        return False
    values = dict(zip("abc", (r.number(o, type_) for o in i.operands[1:4]), strict=True))
    for x, y, z in ("abc", "acb", "bca"):
        for first, f in ops.items():
            if f(rows[x], rows[y]) == lut:
                r.set(i.operands[0], _binary(first, values[x], values[y]))
                return True
            for second, g in ops.items():
                if g(f(rows[x], rows[y]), rows[z]) == lut:
                    r.set(i.operands[0], _binary(second, _binary(first, values[x], values[y]), values[z]))
                    return True
    return False


def _compare(r: Registers, i: Instruction, type_: Type) -> bool:
    if len(i.words) > 3 and i.words[2] in ("and", "or", "xor"):
        combine: Op | None = {"and": Op.LAND, "or": Op.LOR, "xor": Op.NE}[i.words[2]]
    else:
        combine = None
    found = _compared(r, i, type_)
    first, _, second = i.operands[0].partition("|")
    for name, value in ((first, found), (second, None if found is None else terms.negate(found))):
        if not name or name == "_":
            continue
        if value is not None and combine is not None:
            value = terms.binary(combine, value, r.get(i.operands[3], BOOL))
        if value is None:
            r.clobber(name, f"the result of `{i.opcode}`")
        else:
            r.set(name, value)
    return True


def _compared(r: Registers, i: Instruction, type_: Type) -> Expr | None:
    word = i.words[1]
    if word in ("eq", "ne") and type_.kind == "int":  # the sign makes no difference: no conversion is better
        known = r.type_of(i.operands[1]) or r.type_of(i.operands[2])
        type_ = known if known is not None and known.kind == "int" and known.bits == type_.bits else type_
    a, b = r.get(i.operands[1], type_), r.get(i.operands[2], type_)
    if type_.kind == "float":
        if word in _FLOAT_COMPARES:
            return Opaque(BOOL, _FLOAT_COMPARES[word], (a, b))
        if word in _NEGATED_COMPARES:
            return Unary(BOOL, Op.NOT, Opaque(BOOL, _NEGATED_COMPARES[word], (a, b)))
        return Opaque(BOOL, f"float {word}", (a, b))
    op = _ORDERED.get(word)
    if op is None:
        return None
    if PTR in (a.type, b.type):
        pointer, other = (a, b) if a.type == PTR else (b, a)
        if terms.value_of(other) == 0 and op in (Op.EQ, Op.NE):
            some = terms.not_null(pointer)
            return some if op is Op.NE else terms.negate(some)
        return Opaque(BOOL, f"pointer {op.value}", (a, b))
    if word in ("lo", "ls", "hi", "hs"):
        type_ = Type("int", type_.bits)
        a, b = convert(a, type_), convert(b, type_)
    return terms.binary(op, a, b)


def _choose(r: Registers, i: Instruction, type_: Type) -> bool:
    own = _own_type(r, i, type_)
    a, b = r.get(i.operands[1], own), r.get(i.operands[2], own)
    if PTR in (a.type, b.type):
        a, b = terms.cast(a, PTR), terms.cast(b, PTR)
    r.set(i.operands[0], terms.select(r.get(i.operands[3], BOOL), a, b))
    return True


INTEGERS: dict[str, Handler] = {
    "add": _add, "sub": _add, "and": _bitwise, "or": _bitwise, "xor": _bitwise,
    "min": _signed, "max": _signed, "div": _signed, "rem": _signed, "mul": _multiply, "mad": _multiply_add,
    "shl": _shift, "shr": _shift, "neg": _unary, "not": _unary, "abs": _unary, "popc": _count_bits,
    "clz": _count_bits, "brev": _count_bits, "bfe": _field, "bfi": _insert, "lop3": _table,
}  # fmt: skip
PURE = frozenset(
    [*INTEGERS, "fma", "cvt", "prmt", "shf", "bfind", "ex2", "lg2", "rcp", "sqrt", "rsqrt", "sin", "cos", "tanh",
     "cnot", "dp4a", "dp2a", "addc", "subc", "madc", "mad24", "mul24", "sad", "szext", "bmsk", "fns", "copysign",
     "testp", "set", "slct", "isspacep", "createpolicy", "getctarank", "istypep"]
)  # fmt: skip
"""Instructions whose result depends on their operands alone."""


def compute(r: Registers, i: Instruction) -> bool:
    """Lowers an instruction on registers; False when it is none."""
    word = i.words[0]
    kinds = types_in(i)
    if word in ("setp", "selp"):
        return bool(kinds) and (_compare if word == "setp" else _choose)(r, i, kinds[-1])
    if word not in PURE:
        return False
    handler = INTEGERS.get(word)
    exact = handler is not None and kinds and kinds[-1].kind in ("int", "bool") and not i.has("sat", "cc", "f16x2")
    if exact and not i.has("u16x2", "s16x2") and handler is not None and handler(r, i, kinds[-1]):
        return True
    _by_name(r, i, kinds)
    return True


def _by_name(r: Registers, i: Instruction, kinds: list[Type]) -> None:
    """A result that is known by name only."""
    type_ = kinds[-1] if kinds else U32
    if i.has("wide"):
        type_ = Type("int", type_.bits * 2, type_.signed)
    if i.words[0] in ("set", "slct") and kinds:
        type_ = kinds[0]
    if i.words[0] in ("isspacep", "testp", "istypep"):
        type_ = BOOL
    args = []
    for operand in i.operands[1:]:
        for name in operand.strip("{}").split(","):
            value = r.get(name, kinds[-1] if kinds and kinds[-1].kind == "float" and "x2" not in i.opcode else None)
            args.append(value)
    named = _FLOATS.get(i.words[0]) if kinds and kinds[-1].kind == "float" and not i.has("sat") else None
    targets = results_of(i)
    if i.has("cc") or i.words[0] in ("addc", "subc", "madc"):
        for name in targets:  # the carry is no register
            r.clobber(name, f"the result of `{i.opcode}`")
        return
    for index, name in enumerate(targets):
        word = named or (i.opcode if index == 0 else f"{i.opcode} {index}")
        r.set(name, Opaque(type_, word, tuple(args)))
