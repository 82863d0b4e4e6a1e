"""Reading a whole PTX text: versions ISA 6.0 to 9.x, as rustc (LLVM), nvcc and libNVVM print it."""

from __future__ import annotations

import re

from gpusafe.parse.ptx.body import read_body
from gpusafe.parse.ptx.cursor import Cursor
from gpusafe.parse.ptx.declarations import params, space_of, variables
from gpusafe.parse.ptx.lex import PtxError, tokenize
from gpusafe.parse.ptx.syntax import Function, Module, Param, Variable

_LINKAGE = frozenset({".visible", ".extern", ".weak", ".common"})
_NUMBERED = {".maxntid", ".reqntid", ".reqnctapercluster", ".maxclusterrank", ".minnctapersm", ".maxnreg",
             ".abi_preserve", ".abi_preserve_control", ".maxnctapersm"}  # fmt: skip
_PRODUCERS = (("NVIDIA NVVM", "nvcc"), ("LLVM NVPTX", "llvm"))


def read(text: str) -> Module:
    """Reads PTX. Raises :class:`PtxError` where it is not PTX."""
    try:
        return _Reader(text).module()
    except ValueError as fault:
        raise PtxError(f"a number that is none: {fault}", 1) from None


class _Reader:
    def __init__(self, text: str) -> None:
        self.cursor = Cursor(list(tokenize(text)))
        self.files: dict[int, str] = {}
        self.variables: list[Variable] = []
        self.functions: list[Function] = []
        head = text[:2000]
        self.producer = next((name for mark, name in _PRODUCERS if mark in head), "")

    def module(self) -> Module:
        """All of the text."""
        version, target, bytes_ = (0, 0), "", 8
        while not self.cursor.done:
            word = self.cursor.here
            match word.text:
                case ".version":
                    self.cursor.take()
                    found = re.fullmatch(r"(\d+)\.(\d+)", self.cursor.take().text)
                    if found is None:
                        raise PtxError("`.version` without a number", word.line)
                    version = (int(found[1]), int(found[2]))
                case ".target":
                    self.cursor.take()
                    target = self.cursor.word().text
                    self.cursor.skip_line()
                case ".address_size":
                    self.cursor.take()
                    bytes_ = self.cursor.number() // 8
                case _:
                    self._item()
        if not target or version == (0, 0):
            raise PtxError("no `.version` and `.target`", 1)
        return Module(version, target, bytes_, tuple(self.variables), tuple(self.functions), self.files, self.producer)

    def _item(self) -> None:
        cursor = self.cursor
        token = cursor.take()
        match token.text:
            case ".file":
                line = cursor.skip_line()
                if len(line) >= 2 and line[0].kind == "number" and line[1].kind == "string":
                    self.files[int(line[0].text)] = line[1].text[1:-1]
            case ".loc" | ".pragma":
                cursor.skip_line()
            case ".section":
                while cursor.here.text != "{":
                    cursor.take()
                cursor.skip_balanced()
            case ".alias" | ";":
                if token.text != ";":
                    cursor.skip_statement()
            case word if word in _LINKAGE or word in (".entry", ".func") or space_of(word) is not None:
                cursor.at -= 1
                self._declaration()
            case _ if cursor.here.text == ":" or token.text.startswith("$L__"):
                cursor.accept(":")
            case text if text.startswith("."):
                cursor.skip_line()
            case text:
                raise PtxError(f"`{text}` is no declaration", token.line)

    def _declaration(self) -> None:
        cursor = self.cursor
        extern = False
        while cursor.here.text in _LINKAGE:
            extern |= cursor.take().text == ".extern"
        if cursor.here.text in (".entry", ".func"):
            self._function()
        else:
            self.variables += variables(cursor, extern)

    def _function(self) -> None:
        cursor = self.cursor
        kind = cursor.take()
        noreturn = False
        while cursor.accept(".noreturn"):
            noreturn = True
        if cursor.here.text == ".attribute":
            cursor.take()
            cursor.skip_balanced()
        results: tuple[Param, ...] = ()
        if cursor.here.text == "(":
            results = params(cursor)
        name = cursor.word()
        formal = params(cursor) if cursor.here.text == "(" else ()
        numbers, ends = self._directives()
        noreturn |= ends
        if cursor.accept(";"):
            made = Function(name.text, kind.text[1:], formal, results, None, {}, {}, (), numbers, name.line, noreturn)
        else:
            body = read_body(cursor)
            made = Function(
                name.text,
                kind.text[1:],
                formal,
                results,
                tuple(body.code),
                body.labels,
                body.registers,
                tuple(body.variables),
                numbers,
                name.line,
                noreturn,
                body.end_line,
            )
        self.functions.append(made)

    def _directives(self) -> tuple[dict[str, tuple[int, ...]], bool]:
        """What stands between the parameters of a function and its body."""
        cursor = self.cursor
        numbers: dict[str, tuple[int, ...]] = {}
        noreturn = False
        while cursor.here.text.startswith("."):
            word = cursor.take().text
            if word in _NUMBERED:
                found = [cursor.number()]
                while cursor.accept(","):
                    found.append(cursor.number())
                numbers[word[1:]] = tuple(found)
            elif word == ".noreturn":
                noreturn = True
            elif word == ".pragma":
                cursor.skip_statement()
            elif word == ".attribute":
                cursor.skip_balanced()
        return numbers, noreturn
