"""Which registers hold addresses, and which parameters are pointers: PTX itself does not tell.

A register's origins are the parameters, variables and loads that its value is computed from by moves and additions. A
parameter is a pointer when it is declared with ``.ptr``, or when it alone is what an address or the operand of ``cvta``
is computed from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from gpusafe.parse.ptx.cursor import integer
from gpusafe.parse.ptx.syntax import Function, Instruction

Origin = tuple[str, str]
"""Kind and name: ``slot`` (a part of a parameter, ``name+offset``), ``sym`` (a variable), ``mem``, ``mixed``."""

_NAME = re.compile(r"[%A-Za-z_$][\w$'.+]*")
_ADDRESS = re.compile(r"\[([^\[\]+,]+?)(?:\+(-?\w+))?(?:,.*)?\]")
_MIXING = frozenset({"and", "or", "xor", "not", "min", "max", "prmt", "lop3", "bfi", "neg"})
STORES = frozenset({"st", "red", "bra", "brx", "bar", "barrier", "fence", "membar", "ret", "exit", "trap", "nanosleep",
                    "prefetch", "prefetchu", "cp", "stmatrix", "call", "applypriority", "discard", "brkpt", "pmevent",
                    "setmaxnreg", "griddepcontrol", "wgmma", "multimem", "clusterlaunchcontrol"})  # fmt: skip
"""Opcodes whose first operand is no result."""


def results_of(i: Instruction) -> tuple[str, ...]:
    """The registers that an instruction writes."""
    if i.words[0] in STORES or not i.operands:
        return ()
    if i.words[0] == "mbarrier" and i.operands[0].startswith("["):
        return ()
    return tuple(n for part in i.operands[0].strip("{}").split(",") for n in part.split("|") if n != "_")


def address_of(operand: str) -> tuple[str, int] | None:
    """Base and offset of ``[base+offset]``."""
    found = _ADDRESS.fullmatch(operand)
    if found is None:
        return None
    text = found[2] or "0"
    try:
        return found[1], -integer(text[1:]) if text[0] == "-" else integer(text)
    except ValueError:
        return None


def slot_of(kernel: Function, i: Instruction) -> tuple[str, int] | None:
    """The parameter of the kernel, and the offset in it, that ``ld.param`` reads."""
    if i.words[0] != "ld" or not i.has("param", "param::entry") or len(i.operands) < 2:
        return None
    found = address_of(i.operands[1])
    return found if found is not None and any(p.name == found[0] for p in kernel.params) else None


@dataclass(slots=True)
class Pointers:
    """The outcome: origins of registers, and the parameters (``name+offset``) that are pointers."""

    origins: dict[str, frozenset[Origin]] = field(default_factory=dict)
    slots: set[str] = field(default_factory=set)

    def is_pointer(self, register: str) -> bool:
        """Whether a register holds an address whose origin is known."""
        return bool(self.sure(register))

    def sure(self, register: str) -> frozenset[Origin]:
        """The variables and pointer parameters that a register's address may lie in."""
        found = self.origins.get(register, frozenset())
        return frozenset(o for o in found if o[0] == "sym" or (o[0] == "slot" and o[1] in self.slots))


def find_pointers(kernel: Function, code: list[Instruction], symbols: Mapping[str, object]) -> Pointers:
    """Origins of all registers of flat code; ``symbols`` are the names of variables."""
    found = Pointers({name: frozenset({("sym", name)}) for name in symbols})
    _spread(kernel, code, found.origins)
    found.slots = {f"{p.name}+0" for p in kernel.params if p.pointer and not p.aggregate}
    aimed = [found.origins.get(name, frozenset()) for name in _addresses(code)]
    changed = True
    while changed:
        changed = False
        for origins in aimed:
            sure = any(o[0] == "sym" or o[1] in found.slots for o in origins)
            if not sure and len(origins) == 1:
                ((kind, name),) = origins
                if kind == "slot":
                    found.slots.add(name)
                    changed = True
    return found


def _spread(kernel: Function, code: list[Instruction], origins: dict[str, frozenset[Origin]]) -> None:
    none: frozenset[Origin] = frozenset()
    for _ in range(64):  # as many rounds as there are loops within each other, and then some
        changed = False
        for i in code:
            for register, new in _of(kernel, i, origins):
                known = origins.get(register, none)
                if not new <= known:
                    origins[register] = known | new
                    changed = True
        if not changed:
            return


def _of(
    kernel: Function, i: Instruction, origins: Mapping[str, frozenset[Origin]]
) -> Iterator[tuple[str, frozenset[Origin]]]:
    word = i.words[0]
    results = results_of(i)
    slot = slot_of(kernel, i)
    if slot is not None:
        size = 8 if i.words[-1].endswith("64") else 4
        for index, register in enumerate(results):
            if size == 8:
                yield register, frozenset({("slot", f"{slot[0]}+{slot[1] + 8 * index}")})
        return
    if word in ("ld", "ldu", "atom", "shfl") and i.words[-1].endswith("64"):
        for register in results:
            yield register, frozenset({("mem", str(i.line))})
        return
    used: list[str] = []
    match word:
        case "mov" | "cvta" | "cvt" | "selp":
            used = [*i.operands[1:3]]
        case "add" | "sub":
            used = [*i.operands[1:3]]
        case "mad" if not i.has("hi"):
            used = [*i.operands[3:4]]
        case "mapa":
            used = [*i.operands[1:2]]
        case _ if word in _MIXING:
            used = [*i.operands[1:]]
    merged: frozenset[Origin] = frozenset()
    for operand in used:
        for name in _NAME.findall(operand):
            merged |= origins.get(name) or origins.get(name.partition("+")[0], frozenset())
    if merged and word in _MIXING:
        merged = frozenset({("mixed", str(i.line))})
    if merged:
        for register in results:
            yield register, merged


def _addresses(code: list[Instruction]) -> Iterator[str]:
    """The registers that addresses are based on, and what ``cvta`` converts."""
    for i in code:
        if i.words[0] == "cvta" and len(i.operands) > 1:
            yield i.operands[1]
        for operand in i.operands:
            if operand.startswith("[") and not i.has("param"):
                found = address_of(operand)
                if found is not None:
                    yield found[0]
