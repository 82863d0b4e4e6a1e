"""What is read of PTX text: modules, functions, variables, instructions."""

from __future__ import annotations

from dataclasses import dataclass, field

BYTES = {"pred": 1, "b8": 1, "u8": 1, "s8": 1, "b128": 16, "f16": 2, "bf16": 2, "f16x2": 4, "bf16x2": 4, "tf32": 4,
         **{f"{kind}{bits}": bits // 8 for kind in "bus" for bits in (16, 32, 64)}, "f32": 4, "f64": 8,
         "texref": 8, "samplerref": 8, "surfref": 8}  # fmt: skip
"""Bytes of the fundamental types (PTX ISA, "Types")."""

Position = tuple[int, int, int]
"""Number of the file, line, column."""


@dataclass(frozen=True, slots=True)
class Loc:
    """A ``.loc``: a place in the source, and where that place was inlined into."""

    place: Position
    inlined_at: Position | None = None


@dataclass(frozen=True, slots=True)
class Instruction:
    """``@guard words operands``.

    ``words`` are the opcode's parts between dots. Operands are text without spaces: registers, numbers, addresses
    ``[base+offset]``, vectors ``{a,b}``, lists ``(a,b)``, pairs ``p|q``. Registers, labels and parameters that a nested
    scope declares have names of their own. ``targets`` are the labels of an indirect branch.
    """

    words: tuple[str, ...]
    operands: tuple[str, ...]
    line: int
    guard: str | None = None
    negated: bool = False
    loc: Loc | None = None
    targets: tuple[str, ...] = ()

    @property
    def opcode(self) -> str:
        """The opcode as written."""
        return ".".join(self.words)

    @property
    def text(self) -> str:
        """The instruction as written, without its guard."""
        return f"{self.opcode} {', '.join(self.operands)}".strip()

    def has(self, *words: str) -> bool:
        """Whether one of the words is among the opcode's parts."""
        return any(w in self.words for w in words)


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable in memory. ``count`` elements of ``elem_bytes`` (None: open, the dynamic shared memory).

    ``nonzero``: its initialiser has something else than zeros in it.
    """

    name: str
    space: str
    elem_bytes: int
    count: int | None
    line: int
    extern: bool = False
    nonzero: bool = False


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter: ``bytes`` in all; ``type`` is the type word of a scalar, ``b8`` of an aggregate.

    ``pointer``: declared with ``.ptr``.
    """

    name: str
    type: str
    bytes: int
    aggregate: bool
    pointer: bool
    line: int


@dataclass(frozen=True, slots=True)
class Function:
    """``kind`` is ``entry`` or ``func``; ``body`` is None for a declaration.

    ``labels`` give the index of the instruction that follows. ``registers`` maps names to type words. ``directives``
    hold numbers: ``maxntid``, ``reqntid``, ``reqnctapercluster``. ``noreturn``: a call of it does not come back.
    ``end_line`` is the line of the closing brace.
    """

    name: str
    kind: str
    params: tuple[Param, ...]
    results: tuple[Param, ...]
    body: tuple[Instruction, ...] | None
    labels: dict[str, int]
    registers: dict[str, str]
    variables: tuple[Variable, ...]
    directives: dict[str, tuple[int, ...]]
    line: int
    noreturn: bool = False
    end_line: int = 0


@dataclass(frozen=True, slots=True)
class Module:
    """One PTX text: ``version`` such as ``(8, 3)``, ``target`` such as ``sm_80``."""

    version: tuple[int, int]
    target: str
    address_bytes: int
    variables: tuple[Variable, ...]
    functions: tuple[Function, ...]
    files: dict[int, str] = field(default_factory=dict)
    producer: str = ""
