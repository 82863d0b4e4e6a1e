"""The body of a function: declarations, labels, instructions, nested scopes, ``.loc``."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from gpusafe.parse.ptx.cursor import Cursor
from gpusafe.parse.ptx.declarations import space_of, variables
from gpusafe.parse.ptx.lex import PtxError, Token
from gpusafe.parse.ptx.syntax import Instruction, Loc, Position, Variable

_BRANCHES = frozenset({"bra", "brx"})
_MOST_REGISTERS = 1 << 20


@dataclass(slots=True)
class Body:
    """What a function's braces hold."""

    code: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    registers: dict[str, str] = field(default_factory=dict)
    variables: list[Variable] = field(default_factory=list)
    end_line: int = 0


def read_body(cursor: Cursor) -> Body:
    """Reads from ``{`` to ``}``."""
    return _BodyReader(cursor).read()


class _BodyReader:
    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.body = Body()
        self.ranges: dict[str, tuple[str, int]] = {}  # `%r` of `.reg .b32 %r<5>`
        self.scopes: list[dict[str, str]] = [{}]
        self.open: list[int] = [0]
        self.count = 0
        self.where: list[tuple[int, ...]] = []  # the scopes around each instruction
        self.labels: dict[tuple[int, str], int] = {}
        self.lists: dict[tuple[int, str], tuple[str, ...]] = {}
        self.loc: Loc | None = None

    def read(self) -> Body:
        cursor = self.cursor
        start = cursor.expect("{")
        while self.open:
            if cursor.done:
                raise PtxError("the body of a function does not end", start.line)
            self._statement()
        self.body.end_line = cursor.tokens[cursor.at - 1].line
        self._resolve()
        return self.body

    def _statement(self) -> None:
        cursor = self.cursor
        token = cursor.here
        match token.text:
            case "{":
                cursor.take()
                self.count += 1
                self.open.append(self.count)
                self.scopes.append({})
            case "}":
                cursor.take()
                self.open.pop()
                self.scopes.pop()
            case ";":
                cursor.take()
            case ".loc":
                cursor.take()
                self.loc = _loc(cursor.skip_line())
            case ".reg":
                self._registers()
            case ".file" | ".pragma":
                cursor.take()
                cursor.skip_line()
            case _ if token.kind == "word" and cursor.peek().text == ":":
                self._label()
            case word if space_of(word) is not None:
                self._variables()
            case word if word.startswith("."):
                cursor.skip_statement()
            case _:
                self._instruction()

    def _label(self) -> None:
        cursor = self.cursor
        name = cursor.take().text
        cursor.expect(":")
        if cursor.here.text in (".branchtargets", ".calltargets"):
            cursor.take()
            names = []
            while not cursor.accept(";"):
                names.append(cursor.word().text)
                cursor.accept(",")
            self.lists[self.open[-1], name] = tuple(names)
        elif cursor.here.text == ".callprototype":
            cursor.skip_statement()
        else:
            self.labels[self.open[-1], name] = len(self.body.code)

    def _own(self, name: str) -> str:
        """The unique name of something that a nested scope declares."""
        if len(self.open) == 1:
            return name
        made = f"{name}'{self.open[-1]}"
        self.scopes[-1][name] = made
        return made

    def _registers(self) -> None:
        cursor = self.cursor
        line = cursor.take().line
        type_ = ""
        while cursor.here.text.startswith("."):
            word = cursor.take().text[1:]
            type_ = type_ if word in ("v2", "v4") else word
        while True:
            name = cursor.word().text
            if cursor.accept("<"):
                number = cursor.number()
                cursor.expect(">")
                if number > _MOST_REGISTERS:
                    raise PtxError("more registers than there can be", line)
                if len(self.open) == 1:
                    self.ranges[name] = (type_, number)
                else:
                    for i in range(min(number, 4096)):
                        self.body.registers[self._own(f"{name}{i}")] = type_
            else:
                self.body.registers[self._own(name)] = type_
            if cursor.accept(";"):
                return
            cursor.expect(",")

    def _variables(self) -> None:
        for variable in variables(self.cursor, False):
            self.body.variables.append(replace(variable, name=self._own(variable.name)))

    def _instruction(self) -> None:
        cursor = self.cursor
        guard, negated = None, False
        if cursor.accept("@"):
            negated = cursor.accept("!")
            guard = self._name(cursor.word().text)
        opcode = cursor.word()
        operands = self._operands()
        made = Instruction(tuple(opcode.text.split(".")), operands, opcode.line, guard, negated, self.loc)
        self.body.code.append(made)
        self.where.append(tuple(self.open))

    def _operands(self) -> tuple[str, ...]:
        cursor = self.cursor
        out: list[str] = []
        current: list[str] = []
        depth = 0
        while True:
            token = cursor.take()
            if token.kind == "sign":
                if token.text == ";":
                    if depth:
                        raise PtxError("a bracket is not closed before `;`", token.line)
                    break
                if token.text in "([{":
                    depth += 1
                elif token.text in ")]}":
                    depth -= 1
                    if depth < 0:
                        raise PtxError(f"`{token.text}` closes nothing; is a semicolon missing?", token.line)
                elif token.text == "," and depth == 0:
                    out.append("".join(current))
                    current = []
                    continue
            current.append(self._name(token.text) if token.kind == "word" else _plain(token))
        out.append("".join(current))
        return tuple(o for o in out if o)

    def _name(self, name: str) -> str:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        if name not in self.body.registers and name[-1:].isdigit():
            stem = name.rstrip("0123456789")
            found = self.ranges.get(stem)
            if found is not None and int(name[len(stem) :]) < found[1]:
                self.body.registers[name] = found[0]
        return name

    def _resolve(self) -> None:
        """Gives labels of nested scopes names of their own, and branches the labels that they see."""
        self.body.labels = {_label_name(scope, name): at for (scope, name), at in self.labels.items()}
        for index, instruction in enumerate(self.body.code):
            if instruction.words[0] not in _BRANCHES or not instruction.operands:
                continue
            around = self.where[index]
            if instruction.words[0] == "bra":
                target = self._seen(instruction.operands[0], around)
                self.body.code[index] = replace(instruction, operands=(target,))
            else:
                name = instruction.operands[-1]
                names = next((self.lists[s, name] for s in reversed(around) if (s, name) in self.lists), ())
                targets = tuple(self._seen(n, around) for n in names)
                self.body.code[index] = replace(instruction, targets=targets)

    def _seen(self, name: str, around: tuple[int, ...]) -> str:
        scope = next((s for s in reversed(around) if (s, name) in self.labels), 0)
        return _label_name(scope, name)


def _label_name(scope: int, name: str) -> str:
    return f"{name}'{scope}" if scope else name


def _plain(token: Token) -> str:
    return token.text[:-1] if token.kind == "number" and token.text.endswith("U") else token.text


def _loc(line: list[Token]) -> Loc | None:
    """``.loc file line column[, function_name label, inlined_at file line column]``."""
    place = _position(line[:3])
    if place is None:
        return None
    at = next((i for i, t in enumerate(line) if t.text == "inlined_at"), None)
    return Loc(place, _position(line[at + 1 : at + 4]) if at is not None else None)


def _position(tokens: list[Token]) -> Position | None:
    if len(tokens) != 3 or any(t.kind != "number" for t in tokens):
        return None
    file, line, col = (int(t.text) for t in tokens)
    return file, line, col
