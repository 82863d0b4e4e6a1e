"""Collecting the statements of a kernel, and giving out names that are unique in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import Expr, Type, Var
from gpusafe.span import Span

MAX_STATEMENTS = 60_000
_LONGEST_NAME = 32


class TooLarge(Exception):
    """The kernel has too many statements after inlining."""


@dataclass(slots=True)
class Emitter:
    """Statements go to the innermost open list."""

    lists: list[list[k.Stmt]] = field(default_factory=lambda: [[]])
    names: dict[str, int] = field(default_factory=dict)
    count: int = 0

    def emit(self, stmt: k.Stmt) -> None:
        """Append a statement."""
        made = self.lists[-1]
        if made and isinstance(made[-1], (k.Break, k.Continue, k.Return)):
            return  # nothing gets here
        self.count += 1
        if self.count > MAX_STATEMENTS:
            raise TooLarge
        made.append(stmt)

    @contextmanager
    def collect(self) -> Iterator[list[k.Stmt]]:
        """Gather what is emitted inside into a list of its own."""
        made: list[k.Stmt] = []
        self.lists.append(made)
        try:
            yield made
        finally:
            self.lists.pop()

    def fresh(self, name: str) -> str:
        """``name``, or ``name#2`` and so on when it is taken."""
        name = " ".join(name.split())
        if len(name) > _LONGEST_NAME:
            name = name[: _LONGEST_NAME - 3] + "..."
        taken = self.names.get(name, 0) + 1
        self.names[name] = taken
        if taken == 1:
            return name
        made = f"{name}#{taken}"
        while made in self.names:
            taken += 1
            made = f"{name}#{taken}"
        self.names[name] = taken
        self.names[made] = 1
        return made

    def variable(self, name: str, type_: Type) -> Var:
        """A fresh variable."""
        return Var(type_, self.fresh(name))

    def hold(self, span: Span, name: str, value: Expr) -> Var:
        """The value of a term now, in a variable of its own."""
        var = self.variable(name, value.type)
        self.emit(k.Assign(span, var.name, value))
        return var
