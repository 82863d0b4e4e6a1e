"""A whole litmus test: header, initial state, columns of threads, assertion."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import zip_longest

from gpusafe.errors import GpusafeError
from gpusafe.parse.litmus.condition import parse_condition
from gpusafe.parse.litmus.instructions import parse_instruction
from gpusafe.parse.litmus.program import (
    Branch,
    Condition,
    Instruction,
    Jump,
    Label,
    LitmusTest,
    Location,
    Place,
    ThreadCode,
)

THREADS = 16
_THREAD = re.compile(r"\s*P(\d+)\s*@\s*cta\s+(\d+)\s*,\s*(?:cluster\s+(\d+)\s*,\s*)?gpu\s+(\d+)\s*")
_ASSERTION = re.compile(r"(?m)^\s*(?:(filter)\b|(~\s*exists|not\s+exists|exists|forall)\b|(locations)\b)")
_COMMENT = re.compile(r"\(\*.*?\*\)|//[^\n]*", re.DOTALL)


def read(text: str, name: str = "litmus test") -> LitmusTest:
    """Read a test; raises GpusafeError where it is not one."""
    header = re.match(r"\s*ptx\b[ \t]*([^\n]*)", text, re.IGNORECASE)
    start, end = text.find("{"), text.find("}")
    if header is None or start < 0 or end < start:
        raise GpusafeError(f"{name}: not a PTX litmus test (a line `PTX name`, then `{{ initial values }}`)")
    body = _COMMENT.sub(" ", text[end + 1 :])
    marks = list(_ASSERTION.finditer(body))
    program = body[: marks[0].start()] if marks else body
    state = _State()
    for statement in _COMMENT.sub(" ", text[start + 1 : end]).split(";"):
        state.declare(statement)
    rows = [r for r in program.lstrip().removeprefix(";").split(";") if r.strip()]
    if not rows:
        raise GpusafeError(f"{name}: no threads")
    threads = _threads(rows, state)
    only, quantifier, condition = _assertions(body, marks, state.cell)
    if condition is None:
        raise GpusafeError(f"{name}: no assertion")
    cells = sorted({loc.cell for loc in state.locations.values()})
    initial = tuple((cell, state.values.get(cell, 0)) for cell in cells)
    return LitmusTest(header.group(1).strip() or name, initial, threads, quantifier, condition, only)


class _State:
    """What the initial section declares; names that it does not mention start at zero."""

    def __init__(self) -> None:
        self.locations: dict[str, Location] = {}
        self.values: dict[str, int] = {}
        self.registers: dict[int, dict[str, int]] = {}

    def locate(self, name: str) -> Location:
        return self.locations.setdefault(name, Location(name, name))

    def cell(self, name: str) -> str:
        return self.locate(name).cell

    def declare(self, statement: str) -> None:
        statement = statement.strip()
        if not statement:
            return
        if alias := re.fullmatch(r"(\w+)\s*@\s*(\w+)\s+aliases\s+(\w+)", statement):
            name, proxy, target = alias.groups()
            base = self.locate(target)
            # only a generic alias is another virtual address; the other proxies use the one of their base
            self.locations[name] = Location(base.cell, name if proxy == "generic" else base.address)
        elif register := re.fullmatch(r"P?(\d+)\s*:\s*(\w+)\s*=\s*(.+)", statement):
            self.registers.setdefault(int(register.group(1)), {})[register.group(2)] = self._value(register.group(3))
        elif cell := re.fullmatch(r"\[?(\w+)\]?\s*=\s*(.+)", statement):
            self.values[self.cell(cell.group(1))] = self._value(cell.group(2))
        else:
            raise GpusafeError(f"litmus: cannot read the initial value `{statement}`")

    def _value(self, text: str) -> int:
        text = text.strip()
        try:
            return int(text, 0)
        except ValueError:
            raise GpusafeError(f"litmus: the initial value `{text}` is not a number") from None


def _threads(rows: list[str], state: _State) -> tuple[ThreadCode, ...]:
    heads = []
    for column in rows[0].split("|"):
        match = _THREAD.fullmatch(column)
        if match is None:
            raise GpusafeError(f"litmus: cannot read the thread `{column.strip()}` (P0@cta 0,gpu 0)")
        number, cta, cluster, gpu = match.groups()
        heads.append((int(number), Place(int(cta), int(cluster) if cluster else None, int(gpu))))
    if len(heads) > THREADS:
        raise GpusafeError(f"litmus: more than {THREADS} threads")
    codes: list[list[Instruction]] = [[] for _ in heads]
    for row in rows[1:]:
        columns = row.split("|")
        if len(columns) > len(heads):
            raise GpusafeError(f"litmus: more columns than threads in `{row.strip()}`")
        for code, column in zip(codes, columns, strict=False):
            code.extend(parse_instruction(column, state.locate))
    out = []
    for (number, place), code in zip(heads, codes, strict=True):
        _check_labels(code)
        registers = tuple(sorted(state.registers.get(number, {}).items()))
        out.append(ThreadCode(number, place, registers, tuple(code)))
    return tuple(out)


def _check_labels(code: list[Instruction]) -> None:
    labels = {i.name for i in code if isinstance(i, Label)}
    for instruction in code:
        if isinstance(instruction, Branch | Jump) and instruction.label not in labels:
            raise GpusafeError(f"litmus: no label `{instruction.label}`")


def _assertions(
    body: str, marks: list[re.Match[str]], cell_of: Callable[[str], str]
) -> tuple[Condition | None, str, Condition | None]:
    only: Condition | None = None
    condition: Condition | None = None
    quantifier = ""
    for mark, following in zip_longest(marks, marks[1:]):
        text = body[mark.end() : len(body) if following is None else following.start()]
        if mark.group(1):
            only = parse_condition(text, cell_of)
        elif mark.group(2) and condition is None:
            quantifier = "forall" if mark.group(2) == "forall" else "exists" if mark.group(2) == "exists" else "~exists"
            condition = parse_condition(text, cell_of)
    return only, quantifier, condition
