"""PTX instructions on registers only: integers exactly where that is easy, the rest opaque."""

from __future__ import annotations

from gpusafe.ir.expr import BOOL, PTR, U64, Expr, Op, Opaque, Type
from gpusafe.parse.cuda import terms
from gpusafe.parse.cuda.context import Context
from gpusafe.parse.cuda.ptx.registers import Registers, ptx_type
from gpusafe.parse.cuda.ptx.text import Instruction, elements

_EXACT = {
    "add": Op.ADD,
    "sub": Op.SUB,
    "and": Op.AND,
    "or": Op.OR,
    "xor": Op.XOR,
    "shl": Op.SHL,
    "shr": Op.SHR,
    "min": Op.MIN,
    "max": Op.MAX,
    "div": Op.DIV,
    "rem": Op.REM,
}
_COMPARE = {"eq": Op.EQ, "ne": Op.NE, "lt": Op.LT, "le": Op.LE, "gt": Op.GT, "ge": Op.GE, "lo": Op.LT, "ls": Op.LE,
            "hi": Op.GT, "hs": Op.GE}  # fmt: skip
_OF_THE_WARP = frozenset({"mma", "wmma"})
_PURE = frozenset(
    [
        "mul",
        "mad",
        "fma",
        "cvt",
        "lop3",
        "prmt",
        "shf",
        "bfe",
        "bfi",
        "bfind",
        "ex2",
        "lg2",
        "rcp",
        "sqrt",
        "rsqrt",
        "sin",
        "cos",
        "tanh",
        "abs",
        "neg",
        "not",
        "cnot",
        "popc",
        "clz",
        "brev",
        "dp4a",
        "dp2a",
        "addc",
        "subc",
        "mad24",
        "mul24",
        "sad",
        "copysign",
        "testp",
        "set",
        "slct",
        "szext",
        "bmsk",
        "fns",
        "vadd",
        "vsub",
        "vabsdiff",
        "vmin",
        "vmax",
        "vset",
        "mul24",
        "isspacep",
    ]
)


def compute(x: Context, r: Registers, i: Instruction) -> bool:
    """Set the result of a register instruction; False when it is not known to be one."""
    word = i.words[0]
    if len(i.operands) < 2 and word not in ("mov",):
        return False
    if word in _OF_THE_WARP:
        return _collective(r, i)
    if word == "mov" and len(i.operands) == 2:
        return _move(r, i)
    if word == "cvta":
        return _address(r, i)
    if word in ("setp", "selp"):
        return _predicates(x, r, i)
    type_ = next((made for w in reversed(i.words) if (made := ptx_type(w)) is not None), None)
    if word in _EXACT and type_ is not None and type_.kind == "int" and len(i.operands) == 3 and not i.has("sat", "cc"):
        a, b = r.get(i.operands[1]), r.get(i.operands[2])
        if PTR not in (a.type, b.type):
            r.set(i.operands[0], _unsigned(_EXACT[word], a, b, type_))
            return True
        if word == "add":
            pointer, offset = (a, b) if a.type == PTR else (b, a)
            r.set(i.operands[0], terms.move(pointer, offset))
            return True
    if word == "cvt" and type_ is not None and len(i.operands) == 2:
        return _convert(r, i)
    if word in _PURE or word in _EXACT:
        return _opaque(r, i, type_)
    return False


def _collective(r: Registers, i: Instruction) -> bool:
    """``mma.sync``: the result depends on the registers of other lanes."""
    if i.words[0] == "wmma" and not i.has("mma"):
        return False
    for name in elements(i.operands[0]):
        r.clobber(name, "an element of a matrix product")
    return True


def _unsigned(op: Op, a: Expr, b: Expr, type_: Type) -> Expr:
    """PTX integers wrap, signed ones too."""
    wide = Type("int", type_.bits, False) if op in (Op.ADD, Op.SUB, Op.AND, Op.OR, Op.XOR, Op.SHL) else type_
    return terms.cast(terms.binary(op, terms.cast(a, wide), terms.cast(b, wide)), type_)


def _move(r: Registers, i: Instruction) -> bool:
    parts = elements(i.operands[1])
    targets = elements(i.operands[0])
    if len(parts) == 1 and len(targets) == 1:
        type_ = ptx_type(i.words[-1])
        value = r.get(parts[0])
        r.set(targets[0], value if type_ is None or value.type == PTR else r.get(parts[0], type_))
        return True
    for name in targets:  # packing and unpacking
        r.clobber(name, "a part of a packed register")
    return True


def _address(r: Registers, i: Instruction) -> bool:
    """``cvta`` changes the address space, not what is pointed to."""
    r.set(i.operands[0], r.get(i.operands[1]))
    return True


def _convert(r: Registers, i: Instruction) -> bool:
    kinds = [made for w in i.words if (made := ptx_type(w)) is not None]
    value = r.get(i.operands[1])
    if len(kinds) != 2:
        return _opaque(r, i, kinds[0] if kinds else U64)
    if value.type == PTR:
        value = Opaque(U64, terms.ADDRESS, (value,))
    if "float" in (kinds[0].kind, kinds[1].kind):
        return _opaque(r, i, kinds[0])
    r.set(i.operands[0], terms.cast(terms.cast(value, kinds[1]), kinds[0]))
    return True


def _predicates(x: Context, r: Registers, i: Instruction) -> bool:
    type_ = next((made for w in reversed(i.words) if (made := ptx_type(w)) is not None), None)
    if type_ is None:
        return False
    if i.words[0] == "selp":
        a, b = r.get(i.operands[1], type_), r.get(i.operands[2], type_)
        r.set(i.operands[0], terms.select(r.get(i.operands[3], BOOL), a, b))
        return True
    op = _COMPARE.get(i.words[1])
    if (
        op is None
        or len(i.operands) != 3
        or "|" in i.operands[0]
        or (len(i.words) > 3 and i.words[2] in ("and", "or", "xor"))
    ):
        for name in i.operands[0].split("|"):
            r.clobber(name.strip(), f"the result of `{i.opcode}`")
        return True
    kind = type_ if i.words[1] not in ("lo", "ls", "hi", "hs") else Type("int", type_.bits)
    r.set(i.operands[0], terms.binary(op, r.get(i.operands[1], kind), r.get(i.operands[2], kind)))
    return True


def _opaque(r: Registers, i: Instruction, type_: Type | None) -> bool:
    result = type_ or U64
    if i.words[0] in ("mul", "mad") and i.has("wide") and result.kind == "int":
        result = Type("int", result.bits * 2, result.signed)
    if i.words[0] == "cvt":
        result = next((made for w in i.words if (made := ptx_type(w)) is not None), result)
    args: list[Expr] = []
    for operand in i.operands[1:]:
        for name in elements(operand):
            args.append(r.get(name))
    targets = elements(i.operands[0])
    for index, name in enumerate(targets):
        word = i.opcode if len(targets) == 1 else f"{i.opcode} {index}"
        r.set(name, Opaque(result, word, tuple(args)))
    return True
