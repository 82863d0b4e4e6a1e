"""Reading PTX text as LLVM and nvcc write it.

The text is cut into statements first (a statement ends in ``;``, or is a label, a brace or a directive line), then
each statement is read by itself. Braces that open a statement are scopes, as in inline assembly; braces among operands
are vectors. Debug sections are left out. ``rustc -Z verbose-asm`` adds to each ``.loc`` the calls that were inlined.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from gpusafe.codegen_check.ptx.model import Chain, Function, Instr, Place, Symbol, Unit

_LOC = re.compile(r"\.loc\s+(\d+)\s+(\d+)\s+(\d+)(.*)")
_PLACE = re.compile(r"(\S[^@\[\]]*?):(\d+):(\d+)(?=\s|\]|$)")
_FILE = re.compile(r'\.file\s+(\d+)\s+"([^"]*)"')
_LABEL = re.compile(r"([A-Za-z_$%][\w$]*)\s*:(?!:)")
_FUNCTION = re.compile(r"\.(entry|func)\b")
_VARIABLE = re.compile(
    r"\.(global|shared|const|local)\s+(?:\.attribute\([^)]*\)\s*)?(?:\.align\s+\d+\s+)?(?:\.v[24]\s+)?"
    r"\.([bsuf]\d+|pred)\s+([\w$%]+)\s*((?:\[[^\]]*\])*)"
)
_INSTRUCTION = re.compile(r"(?:@(!?)(%?[\w$]+)\s+)?([a-z][\w.:]*)\s*(.*)", re.DOTALL)
_ENDS = re.compile(r"[;{}]")


class PtxError(Exception):
    """The text is not PTX that this reader understands; the message has the line."""


@dataclass(frozen=True, slots=True)
class _Statement:
    """``kind``: ``code`` (up to a semicolon), ``open``, ``close``, ``label``, ``loc`` or ``mark`` (inline asm)."""

    kind: str
    text: str
    line: int


def read(text: str) -> Unit:
    """Read a whole PTX text. Raises :class:`PtxError`."""
    files = {int(number): name for number, name in _FILE.findall(text)}
    version = re.search(r"^\s*\.version\s+(\d+)\.(\d+)", text, re.MULTILINE)
    target = re.search(r"^\s*\.target\s+(\w+)", text, re.MULTILINE)
    if version is None or target is None:
        raise PtxError("no .version and .target")
    reader = _Reader(files)
    for statement in _statements(text):
        reader.take(statement)
    if reader.body is not None:
        raise PtxError(f"the body of `{reader.body.name}` does not end")
    functions = tuple(reader.functions)
    return Unit((int(version[1]), int(version[2])), target[1], tuple(reader.symbols), functions, files)


def _statements(text: str) -> Iterator[_Statement]:
    pending, started, vector = "", 0, 0
    for number, raw in enumerate(text.splitlines(), 1):
        stripped = raw.strip()
        if stripped.startswith(".section"):
            return
        if stripped.startswith((".version", ".target", ".address_size", ".file")) and not pending:
            continue
        if stripped.startswith(".loc") and not pending:
            yield _Statement("loc", stripped, number)
            continue
        if stripped.startswith("//") and "inline asm" in stripped:
            yield _Statement("mark", "begin" if "begin" in stripped else "end", number)
            continue
        rest = raw.split("//", 1)[0]
        while rest.strip() or pending.strip():
            if not pending.strip():
                rest, pending, started = rest.lstrip(), "", number
                label = _LABEL.match(rest)
                if label:
                    yield _Statement("label", label[1], number)
                    rest = rest[label.end() :]
                    continue
                if rest[:1] in "{}":
                    yield _Statement("open" if rest[0] == "{" else "close", rest[0], number)
                    rest = rest[1:]
                    continue
            end = _ENDS.search(rest)
            if end is None:
                pending += rest + "\n"
                break
            pending += rest[: end.start()]
            rest = rest[end.end() :]
            if end[0] == ";":
                yield _Statement("code", pending.strip(), started)
                pending = ""
            elif end[0] == "{" and vector == 0 and _opens_body(pending):
                yield _Statement("code", pending.strip(), started)
                yield _Statement("open", "{", number)
                pending = ""
            else:
                vector += 1 if end[0] == "{" else -1
                pending += end[0]
        else:
            continue


def _opens_body(pending: str) -> bool:
    """Whether a brace after this text opens a function's body, and not a vector operand."""
    return _FUNCTION.search(pending) is not None


@dataclass(slots=True)
class _Body:
    name: str
    kind: str
    params: tuple[str, ...]
    line: int
    instrs: list[Instr] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    symbols: list[Symbol] = field(default_factory=list)


class _Reader:
    """Takes statements one by one; holds what has been read so far."""

    def __init__(self, files: dict[int, str]) -> None:
        self.files = files
        self.symbols: list[Symbol] = []
        self.functions: list[Function] = []
        self.body: _Body | None = None
        self._head: _Body | None = None
        self._depth = 0
        self._chain: Chain = ()
        self._in_asm = False

    def take(self, statement: _Statement) -> None:
        match statement.kind:
            case "open":
                self._open()
            case "close":
                self._close(statement.line)
            case "label":
                if self.body is not None:
                    self.body.labels[statement.text] = len(self.body.instrs)
            case "loc":
                self._chain = _chain(statement.text, self.files)
            case "mark":
                self._in_asm = statement.text == "begin"
            case _:
                self._code(statement)

    def _open(self) -> None:
        if self._depth == 0 and self._head is not None:
            self.body, self._head, self._chain = self._head, None, ()
        self._depth += 1

    def _close(self, line: int) -> None:
        self._depth -= 1
        if self._depth < 0:
            raise PtxError(f"line {line}: a brace closes nothing")
        if self._depth == 0 and self.body is not None:
            b = self.body
            made = Function(b.name, b.kind, b.params, tuple(b.instrs), b.labels, tuple(b.symbols), b.line)
            self.functions.append(made)
            self.body = None

    def _code(self, statement: _Statement) -> None:
        text = statement.text
        if self.body is None:
            if (_FUNCTION.search(text) and "(" in text) or re.search(r"\.(entry|func)\s+[\w$]+\s*$", text):
                self._head = _head(text, statement.line)
                return
            self._variable(text, statement.line, self.symbols)
            return
        if text.startswith("."):
            self._variable(text, statement.line, self.body.symbols)
            return
        if text:
            self.body.instrs.append(_instruction(text, statement.line, self._chain, self._in_asm))

    def _variable(self, text: str, line: int, into: list[Symbol]) -> None:
        match = _VARIABLE.search(text)
        if match is None:
            return
        space, kind, name, extents = match.groups()
        size = max(1, int(kind[1:]) // 8) if kind != "pred" else 1
        for extent in re.findall(r"\[([^\]]*)\]", extents):
            size *= int(extent, 0) if re.fullmatch(r"(0x[0-9a-fA-F]+|\d+)", extent.strip()) else 0
        into.append(Symbol(name, space, size, line, ".extern" in text))


def _head(text: str, line: int) -> _Body | None:
    kind = _FUNCTION.search(text)
    if kind is None:
        return None
    rest = text[kind.end() :].strip()
    if rest.startswith("("):  # the result of a .func
        rest = rest[rest.index(")") + 1 :].strip()
    name = re.match(r"[\w$]+", rest)
    if name is None:
        raise PtxError(f"line {line}: a function without a name")
    params = tuple(re.findall(r"\.param[^,()]*?([\w$]+)\s*(?:\[\d*\])?\s*(?=[,)])", rest))
    return _Body(name[0], kind[1], params, line)


def _instruction(text: str, line: int, chain: Chain, in_asm: bool) -> Instr:
    match = _INSTRUCTION.fullmatch(" ".join(text.split()))
    if match is None:
        raise PtxError(f"line {line}: `{text[:60]}` is not an instruction")
    negated, guard, opcode, rest = match.groups()
    parts = tuple(p for p in opcode.replace("::", "\x00").split("."))
    opcode_parts = tuple(p.replace("\x00", "::") for p in parts)
    return Instr(opcode_parts, _operands(rest), line, chain, guard, negated == "!", in_asm)


def _operands(text: str) -> tuple[str, ...]:
    """Split at commas outside brackets."""
    found: list[str] = []
    depth, start = 0, 0
    for i, c in enumerate(text):
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == "," and depth == 0:
            found.append(text[start:i].strip())
            start = i + 1
    found.append(text[start:].strip())
    return tuple(o for o in found if o)


def _chain(text: str, files: dict[int, str]) -> Chain:
    match = _LOC.match(text)
    if match is None:
        return ()
    number, line, col, rest = match.groups()
    own = Place(files.get(int(number), ""), int(line), int(col))
    comment = rest.split("//", 1)[1] if "//" in rest else ""
    if "@[" not in comment:
        return (own,)
    calls = [part.strip(" ]") for part in comment.split("@[")[1:]]
    places = [m for m in (_PLACE.fullmatch(call) for call in calls) if m]
    return (own, *(Place(m[1], int(m[2]), int(m[3])) for m in places))
