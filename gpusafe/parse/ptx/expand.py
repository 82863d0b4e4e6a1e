"""A kernel with the functions that it calls spliced in: one flat list of instructions.

Parameters of calls are variables of the ``.param`` space; here each of their parts becomes a register (``param0+8``),
so that a call is moves, the callee's instructions under names of their own, and moves back.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from gpusafe.parse.ptx.cursor import integer
from gpusafe.parse.ptx.syntax import BYTES, Function, Instruction, Module, Variable

MOST_INSTRUCTIONS = 12_000
_DEEPEST = 12
_NAME = re.compile(r"[%A-Za-z_$][\w$']*(?:\.[xyzw])?")
_ADDRESS = re.compile(r"\[([^\[\]+]+?)(?:\+(-?\w+))?\]")
_NO_RETURN = ("panic", "unwrap_failed", "expect_failed", "slice_index_fail", "_fail", "rust_begin_unwind",
              "__assertfail", "abort")  # fmt: skip
_HARMLESS = frozenset({"vprintf"})


@dataclass(slots=True)
class Flat:
    """The instructions of a kernel, with labels, types of registers and the variables of all functions in it."""

    code: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    registers: dict[str, str] = field(default_factory=dict)
    variables: list[Variable] = field(default_factory=list)


class TooLong(Exception):
    """The kernel has more instructions than are followed."""


@dataclass(slots=True)
class _Frame:
    """A function that is being copied, and where the copy is."""

    function: Function
    mark: str
    renamed: dict[str, str]
    at: int = 0


def expand(module: Module, kernel: Function) -> Flat:
    """Splices in what a kernel calls. Raises :class:`TooLong`."""
    functions = {f.name: f for f in module.functions if f.body is not None}
    declared = {f.name: f for f in module.functions}
    flat = Flat()
    stack = [_enter(flat, kernel, "", {})]
    count = 0
    while stack:
        frame = stack[-1]
        code = frame.function.body or ()
        for label, at in frame.function.labels.items():
            if at == frame.at:
                flat.labels[label + frame.mark] = len(flat.code)
        if frame.at >= len(code):
            flat.labels[f"end{frame.mark}"] = len(flat.code)
            stack.pop()
            continue
        if len(flat.code) > MOST_INSTRUCTIONS:
            raise TooLong(f"`{kernel.name}` has more than {MOST_INSTRUCTIONS} instructions with all that it calls")
        instruction = code[frame.at]
        frame.at += 1
        if instruction.words[0] == "call":
            count += 1
            entered = _call(flat, frame, instruction, functions, declared, f"'c{count}", len(stack))
            if entered is not None:
                stack.append(entered)
            continue
        _copy(flat, frame, instruction)
    return flat


def _enter(flat: Flat, function: Function, mark: str, bound: dict[str, str]) -> _Frame:
    renamed = {name: name + mark for name in function.registers} if mark else {}
    renamed |= {v.name: v.name + mark for v in function.variables} if mark else {}
    renamed |= bound
    flat.registers |= {renamed.get(name, name): type_ for name, type_ in function.registers.items()}
    flat.variables += [replace(v, name=renamed.get(v.name, v.name)) for v in function.variables]
    return _Frame(function, mark, renamed)


def _copy(flat: Flat, frame: _Frame, instruction: Instruction) -> None:
    made = instruction
    if frame.renamed:
        operands = tuple(_renamed(o, frame.renamed) for o in made.operands)
        guard = frame.renamed.get(made.guard, made.guard) if made.guard else None
        made = replace(made, operands=operands, guard=guard)
    if frame.mark and made.words[0] == "bra":
        made = replace(made, operands=(instruction.operands[0] + frame.mark,))
    if frame.mark and made.words[0] == "brx":
        made = replace(made, targets=tuple(t + frame.mark for t in made.targets))
    if frame.mark and made.words[0] == "ret":
        made = replace(made, words=("bra", "uni"), operands=(f"end{frame.mark}",))
    if made.has("param") and made.words[0] in ("ld", "st") and not _of_entry(frame, made):
        flat.code += _moves(flat, made)
    else:
        flat.code.append(made)


def _of_entry(frame: _Frame, made: Instruction) -> bool:
    """Whether a load reads a parameter of the kernel itself."""
    found = _ADDRESS.fullmatch(made.operands[1 if made.words[0] == "ld" else 0]) if len(made.operands) > 1 else None
    return found is None or (not frame.mark and any(p.name == found[1] for p in frame.function.params))


def _renamed(operand: str, names: dict[str, str]) -> str:
    return _NAME.sub(lambda m: names.get(m[0], m[0]), operand)


def _moves(flat: Flat, made: Instruction) -> list[Instruction]:
    """``st.param`` and ``ld.param`` of a call's parameter as moves of its parts."""
    load = made.words[0] == "ld"
    memory, value = (made.operands[1], made.operands[0]) if load else made.operands[:2]
    found = _ADDRESS.fullmatch(memory)
    assert found is not None
    word = made.words[-1]
    size = BYTES.get(word, 4)
    offset = integer(found[2].lstrip("-")) if found[2] else 0
    out = []
    for index, part in enumerate(value.strip("{}").split(",")):
        cell = f"{found[1]}+{offset + index * size}"
        flat.registers.setdefault(cell, f"b{size * 8}")
        operands = (part, cell) if load else (cell, part)
        out.append(replace(made, words=("mov", word), operands=operands))
    return out


def _call(
    flat: Flat, frame: _Frame, instruction: Instruction, functions: dict[str, Function],
    declared: dict[str, Function], mark: str, depth: int,
) -> _Frame | None:  # fmt: skip
    """Starts the copy of a callee, or leaves an instruction that says why not."""
    operands = [_renamed(o, frame.renamed) for o in instruction.operands]
    at = next((i for i, o in enumerate(operands) if not o.startswith("(")), 0)
    name = instruction.operands[at]
    results = operands[0][1:-1].split(",") if at == 1 else []
    args = operands[at + 1][1:-1].split(",") if len(operands) > at + 1 and operands[at + 1].startswith("(") else []
    callee = functions.get(name)
    ends = declared[name].noreturn if name in declared else False
    ends |= callee is None and any(word in name for word in _NO_RETURN)
    if callee is None or ends or depth > _DEEPEST or instruction.guard is not None:
        flat.code.append(_not_followed(instruction, name, ends))
        return None
    bound = dict(zip((p.name for p in callee.params), args, strict=False))
    bound |= dict(zip((p.name for p in callee.results), results, strict=False))
    return _enter(flat, callee, mark, bound)


def _not_followed(instruction: Instruction, name: str, ends: bool) -> Instruction:
    if ends:
        return replace(instruction, words=("trap",), operands=())
    if name in _HARMLESS:
        return replace(instruction, words=("nanosleep",), operands=())
    return replace(instruction, words=("call",), operands=(name,))
