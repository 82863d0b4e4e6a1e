"""What gpusafe reads in PTX text."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Place:
    """One source position: of an instruction, or of a call that was inlined. Lines and columns count from 1."""

    file: str
    line: int
    col: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.col}"


Chain = tuple[Place, ...]
"""Where an instruction comes from: the place itself, then the calls that it was inlined through, innermost first."""


@dataclass(frozen=True, slots=True)
class Instr:
    """One instruction.

    ``opcode`` is split at its dots: ``("atom", "global", "add", "u32")``. ``operands`` are as written (vectors and
    addresses are one operand each). ``guard`` is the predicate register, ``negated`` for ``@!%p``. ``line`` counts in
    the PTX text. ``in_asm``: it stands between LLVM's inline assembly marks.
    """

    opcode: tuple[str, ...]
    operands: tuple[str, ...]
    line: int
    chain: Chain = ()
    guard: str | None = None
    negated: bool = False
    in_asm: bool = False

    @property
    def text(self) -> str:
        """The instruction on one line."""
        guard = f"@{'!' if self.negated else ''}{self.guard} " if self.guard else ""
        return f"{guard}{'.'.join(self.opcode)} {', '.join(self.operands)};".replace(" ;", ";")

    def has(self, *modifiers: str) -> bool:
        """Whether all of the modifiers are part of the opcode."""
        return all(m in self.opcode for m in modifiers)


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable: ``space`` is ``global``, ``shared``, ``const`` or ``local``; ``bytes`` 0 where the size is open."""

    name: str
    space: str
    bytes: int
    line: int
    extern: bool = False


@dataclass(frozen=True, slots=True)
class Function:
    """``kind`` is ``entry`` or ``func``; ``labels`` give the index of the instruction that follows them."""

    name: str
    kind: str
    params: tuple[str, ...]
    instrs: tuple[Instr, ...]
    labels: dict[str, int]
    symbols: tuple[Symbol, ...] = ()
    line: int = 0


@dataclass(frozen=True, slots=True)
class Unit:
    """One PTX text: ``version`` such as ``(7, 0)``, ``target`` such as ``sm_80``."""

    version: tuple[int, int]
    target: str
    symbols: tuple[Symbol, ...]
    functions: tuple[Function, ...]
    files: dict[int, str] = field(default_factory=dict)

    def function(self, name: str) -> Function | None:
        """The function of that name, if it has a body here."""
        return next((f for f in self.functions if f.name == name), None)
