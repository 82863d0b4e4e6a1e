"""One type for each register: its width is declared, whether it is signed is told by the instructions that use it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from gpusafe.ir.expr import BOOL, PTR, Type
from gpusafe.parse.ptx.pointers import Pointers, results_of
from gpusafe.parse.ptx.syntax import BYTES, Instruction

_SIGNED = {"lt", "le", "gt", "ge"}
_UNSIGNED = {"lo", "ls", "hi", "hs"}
_JOINING = frozenset({"mov", "add", "sub", "mul", "mad", "selp", "min", "max", "shl", "div", "rem"})
_VOTING = frozenset({"shr", "div", "rem", "min", "max", "cvt", "abs", "neg"})


def scalar_type(word: str) -> Type | None:
    """The IR type of a type word; None when it is none."""
    if word == "pred":
        return BOOL
    if word not in BYTES or word in ("texref", "samplerref", "surfref"):
        return None
    if word in ("f16x2", "bf16x2"):
        return Type("int", 32)
    if word[0] == "f" or word == "bf16" or word == "tf32":
        return Type("float", BYTES[word] * 8)
    return Type("int", BYTES[word] * 8, word[0] == "s")


def types_in(i: Instruction) -> list[Type]:
    """The types among an opcode's words, in order."""
    return [t for t in map(scalar_type, i.words[1:]) if t is not None]


def register_types(code: list[Instruction], declared: Mapping[str, str], pointers: Pointers) -> dict[str, Type]:
    """The type that each register has throughout."""
    groups = _Groups()
    votes: Counter[tuple[str, bool]] = Counter()
    floats: dict[str, bool] = {}
    for i in code:
        kinds = types_in(i)
        for register in results_of(i):
            is_float = bool(kinds) and (kinds[0] if i.words[0] == "cvt" else kinds[-1]).kind == "float"
            floats[register] = floats.get(register, True) and is_float and i.words[0] not in ("setp", "set")
        _join(groups, i, declared)
        for name, signed in _votes(i, kinds):
            votes[name, signed] += 1
    total: Counter[tuple[str, bool]] = Counter()
    for (name, signed), count in votes.items():
        total[groups.find(name), signed] += count
    out: dict[str, Type] = {}
    for name, word in declared.items():
        made = scalar_type(word) or Type("int", 64)
        if made.kind == "int":
            root = groups.find(name)
            yes, no = total[root, True], total[root, False]
            if pointers.is_pointer(name):
                made = PTR
            elif floats.get(name, False):
                made = Type("float", made.bits)
            else:
                made = Type("int", made.bits, yes > no or (made.bits == 64 and not no))
        out[name] = made
    return out


def _join(groups: _Groups, i: Instruction, declared: Mapping[str, str]) -> None:
    """Registers that an instruction computes with each other have one sign."""
    if i.words[0] not in _JOINING or i.has("wide", "hi"):
        return
    names = [o for o in i.operands if o in declared and declared[o] != "pred"]
    if i.words[0] == "shl":
        names = names[:2]
    for other in names[1:]:
        if BYTES.get(declared[other]) == BYTES.get(declared[names[0]]):
            groups.join(names[0], other)


def _votes(i: Instruction, kinds: list[Type]) -> list[tuple[str, bool]]:
    """What an instruction says about the sign of registers."""
    word = i.words[0]
    if not kinds or kinds[-1].kind != "int":
        return []
    signed = kinds[-1].signed
    if word == "setp":
        comparison = i.words[1]
        if comparison in _UNSIGNED or (comparison in _SIGNED and i.words[-1][0] != "b"):
            return [(o, signed and comparison in _SIGNED) for o in i.operands[1:3]]
        return []
    if (word in ("mul", "mad") and i.has("wide")) or (word in _VOTING and i.words[-1][0] != "b"):
        found = [(o, signed) for o in i.operands[1:3]]
        if word in ("mul", "mad"):
            return [*found, (i.operands[0], signed)]
        if word == "cvt" and kinds[0].kind == "int" and kinds[0].bits > kinds[-1].bits:
            return [*found, (i.operands[0], signed)]
        return found if word != "cvt" or kinds[0].bits > kinds[-1].bits else []
    return []


class _Groups:
    """Sets of names that can be joined."""

    def __init__(self) -> None:
        self.above: dict[str, str] = {}

    def find(self, name: str) -> str:
        root = name
        while self.above.get(root, root) != root:
            root = self.above[root]
        while self.above.get(name, name) != root:
            self.above[name], name = root, self.above[name]
        return root

    def join(self, a: str, b: str) -> None:
        self.above[self.find(a)] = self.find(b)
