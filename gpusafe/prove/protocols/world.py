"""What all threads of a launch share, and how values and cells look in events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gpusafe.dataflow.arith import clip
from gpusafe.dataflow.concrete import ConcreteLaunch
from gpusafe.dataflow.concrete.evaluate import UNKNOWN, Unknowable, compile_expr
from gpusafe.dataflow.taint import walk
from gpusafe.ir import kernel as ir
from gpusafe.ir.expr import Expr, Type
from gpusafe.ir.kernel import Kernel, Space
from gpusafe.ir.terms import variables
from gpusafe.prove.protocols.waiting import overwritten
from gpusafe.prove.protocols.way import UNTOLD, Cell


@dataclass(slots=True)
class Code:
    """A kernel's expressions, compiled when they are first met, and what its loops set anew in each turn."""

    functions: dict[int, tuple[Expr, Callable[[dict[str, Any]], Any], frozenset[str]]] = field(default_factory=dict)
    loops: dict[int, tuple[ir.Loop, frozenset[str], bool]] = field(default_factory=dict)

    def compiled(self, expr: Expr) -> tuple[Expr, Callable[[dict[str, Any]], Any], frozenset[str]]:
        """The expression as a function, with its variables."""
        found = self.functions.get(id(expr))
        if found is None:
            found = self.functions[id(expr)] = (expr, compile_expr(expr), frozenset(variables(expr)))
        return found

    def loop(self, loop: ir.Loop) -> tuple[frozenset[str], bool]:
        """The variables of which a turn of a loop needs no earlier value, and whether it has atomics."""
        found = self.loops.get(id(loop))
        if found is None:
            waits = any(isinstance(s, ir.Atomic) for s in walk(loop.body))
            found = self.loops[id(loop)] = (loop, overwritten(loop.body), waits)
        return found[1:]


@dataclass(slots=True)
class Budget:
    """What a question may cost: steps of the interpreter, and candidate executions."""

    steps: int
    candidates: int

    def step(self) -> None:
        """Takes one step."""
        self.steps -= 1
        if self.steps < 0:
            raise Unknowable("the threads take too many steps")

    def candidate(self) -> None:
        """Looks at one candidate."""
        self.candidates -= 1
        if self.candidates < 0:
            raise Unknowable("there are too many executions")


@dataclass(frozen=True, slots=True)
class World:
    """What all threads share.

    ``values``: what each cell that atomics touch may hold. ``written``: regions that the launch writes.
    ``charitable``: where order is in doubt there is order, contents of memory are the launch's, and what is not known
    ends the search; else where order is in doubt there is none, and what is not known may be anything.
    """

    kernel: Kernel
    launch: ConcreteLaunch
    written: frozenset[str]
    charitable: bool
    values: dict[Cell, tuple[int, ...]]
    code: Code
    budget: Budget
    found: set[Cell] = field(default_factory=set)
    cells: dict[str, Cell] = field(default_factory=dict)  # by the names that events have for them
    spaces: Mapping[str, Space] = field(default_factory=dict)
    lengths: Mapping[str, int] = field(default_factory=dict)


def name_of(cell: Cell) -> str:
    """A cell's name in events."""
    place, offset, _ = cell
    region = place if isinstance(place, str) else f"{place[0]} of block {place[1]}"
    return f"{region}+{offset}"


def told(value: Any, cell: Cell) -> int:
    """A value as events carry it: the bits of an integer, or ``UNTOLD``."""
    return int(value) & ((1 << 8 * cell[2]) - 1) if isinstance(value, bool | int) else UNTOLD


def known(value: int, type_: Type) -> Any:
    """A value of an event as the program sees it."""
    if value == UNTOLD or type_.kind not in ("int", "bool"):
        return UNKNOWN
    return bool(value) if type_.kind == "bool" else clip(value, type_)
