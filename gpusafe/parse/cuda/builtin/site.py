"""A call of a built-in function."""

from __future__ import annotations

from dataclasses import dataclass

from gpusafe.ir.expr import Expr
from gpusafe.parse.cuda import syntax as s
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.context import Context, Unsupported
from gpusafe.parse.cuda.convert import convert, expression
from gpusafe.parse.cuda.places import read
from gpusafe.parse.cuda.values import Operand, Value
from gpusafe.span import Span


@dataclass(frozen=True, slots=True)
class CallSite:
    """``name`` with its namespaces; ``explicit`` are template arguments; ``done`` the operands if evaluated already."""

    span: Span
    name: str
    args: tuple[s.Expr, ...]
    explicit: tuple[object, ...] = ()
    done: tuple[Operand, ...] | None = None

    @property
    def last(self) -> str:
        """The name without namespaces."""
        return self.name.rpartition("::")[2]

    def operand(self, x: Context, index: int) -> Operand:
        """An argument as a place or value."""
        if index >= len(self.args):
            raise Unsupported(f"`{self.last}` with {len(self.args)} arguments")
        return self.done[index] if self.done is not None else x.evaluate(self.args[index])

    def value(self, x: Context, index: int, kind: t.CType | None = None) -> Value:
        """An argument's value, converted to ``kind`` if given."""
        value = read(x, self.operand(x, index), self.args[index].span, self.args[index])
        return convert(x, value, kind, self.args[index].span) if kind is not None else value

    def term(self, x: Context, index: int, kind: t.CType | None = None) -> Expr:
        """An argument's term."""
        return expression(x, self.value(x, index, kind))

    def values(self, x: Context) -> tuple[Value, ...]:
        """All arguments in order."""
        return tuple(self.value(x, i) for i in range(len(self.args)))
