"""The text of an ``asm`` statement as instructions."""

from __future__ import annotations

import re
from dataclasses import dataclass

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_LABEL = re.compile(r"\s*([A-Za-z_$%][\w$%={}]*)\s*:(?!:)")
_GUARD = re.compile(r"@(!?)\s*(%?[\w$%]+)\s*")


@dataclass(frozen=True, slots=True)
class Instruction:
    """``@guard opcode operands``. ``words`` are the opcode's parts between dots; ``label`` stands before it."""

    words: tuple[str, ...]
    operands: tuple[str, ...]
    guard: str | None = None
    negated: bool = False
    label: str | None = None

    @property
    def opcode(self) -> str:
        """The opcode as written."""
        return ".".join(self.words)

    def has(self, *words: str) -> bool:
        """Whether one of the words is among the opcode's parts."""
        return any(w in self.words for w in words)


def instructions(template: str) -> list[Instruction]:
    """All instructions of an asm template, declarations of registers left out. Braces around scopes are dropped."""
    out: list[Instruction] = []
    label: str | None = None
    text = _COMMENT.sub(" ", template.replace("%%", "%\0"))
    for piece in _pieces(text):
        piece = piece.strip()
        while (found := _LABEL.match(piece)) is not None:
            label = found.group(1)
            piece = piece[found.end() :].strip()
        if not piece or piece.startswith((".reg", ".pragma")):
            continue
        guard, negated = None, False
        guarded = _GUARD.match(piece)
        if guarded is not None:
            guard, negated = guarded.group(2), bool(guarded.group(1))
            piece = piece[guarded.end() :]
        opcode, _, rest = piece.replace("\n", " ").replace("\t", " ").partition(" ")
        out.append(Instruction(tuple(opcode.strip().split(".")), _operands(rest), guard, negated, label))
        label = None
    if label is not None:
        out.append(Instruction(("",), (), None, False, label))
    return out


def _pieces(text: str) -> list[str]:
    """The text between semicolons; braces that open or close a scope (not a vector operand) end a piece."""
    out: list[str] = []
    current: list[str] = []
    depth = 0
    for char in text:
        if char == ";":
            out.append("".join(current))
            current = []
            depth = 0
        elif (char == "{" and not "".join(current).strip()) or (char == "}" and depth == 0):
            continue
        else:
            depth += (char == "{") - (char == "}")
            current.append(char)
    out.append("".join(current))
    return out


def _operands(text: str) -> tuple[str, ...]:
    out: list[str] = []
    current: list[str] = []
    depth = 0
    for char in text:
        depth += (char in "[{") - (char in "]}")
        if char == "," and depth == 0:
            out.append("".join(current).strip())
            current = []
        else:
            current.append(char)
    last = "".join(current).strip()
    if last:
        out.append(last)
    return tuple(out)


def elements(operand: str) -> tuple[str, ...]:
    """The registers of a vector operand ``{a, b}``, or the operand alone."""
    if operand.startswith("{") and operand.endswith("}"):
        return tuple(part.strip() for part in operand[1:-1].split(","))
    return (operand,)


def address(operand: str) -> tuple[str, int] | None:
    """``[base + offset]`` as base and offset, None when it is something else."""
    if not (operand.startswith("[") and operand.endswith("]")):
        return None
    inner = operand[1:-1].replace(" ", "")
    found = re.fullmatch(r"([%\w$\0\[\]'.]+?)(?:\+(-?(?:0x[0-9a-fA-F]+|\d+)))?", inner)
    return (found.group(1), int(found.group(2) or "0", 0)) if found is not None else None
