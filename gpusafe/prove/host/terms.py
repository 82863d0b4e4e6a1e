"""Host terms as Z3 integers.

Unsigned host arithmetic is taken not to wrap (see :mod:`gpusafe.dataflow.host_sums`); casts that may truncate and bit
operations other than by constants are not encoded, and a term that holds one is a fresh unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpusafe.ir.expr import Binary, Cast, Const, Expr, Op, Select, Sym, Type, Unary

if TYPE_CHECKING:
    import z3

_DEEPEST = 64


class Encoder:
    """Encodes terms of one path into one Z3 context; ``facts`` are the bounds of the symbols seen so far."""

    def __init__(self) -> None:
        import z3

        self.z3: Any = z3
        self.ctx = z3.Context()
        self.facts: list[Any] = []
        self.symbols: dict[str, Any] = {}
        self.inexact = False
        self._fresh = 0

    def int_value(self, value: int) -> z3.ArithRef:
        """A number."""
        return self.z3.IntVal(value, self.ctx)

    def encode(self, term: Expr, depth: int = 0) -> Any:
        """A term as an Int or a Bool."""
        if depth > _DEEPEST:
            return self.unknown(term.type)
        match term:
            case Const(value=bool() as value):
                return self.z3.BoolVal(value, self.ctx)
            case Const(value=int() as value):
                return self.int_value(value)
            case Sym():
                return self.symbol(term)
            case Binary():
                return self.binary(term, depth)
            case Unary(op=Op.NOT, a=a) if term.type.kind == "bool":
                return self.z3.Not(self.encode(a, depth + 1))
            case Select(cond=cond, a=a, b=b):
                parts = (self.encode(cond, depth + 1), self.encode(a, depth + 1), self.encode(b, depth + 1))
                return self.z3.If(*parts)
            case Cast(type=kind, a=a) if kind.kind == "int" and a.type.kind == "int":
                return self.cast(term, kind, depth)
        return self.unknown(term.type)

    def symbol(self, sym: Sym) -> Any:
        """The constant of a symbol, with its bounds as facts."""
        if sym.name not in self.symbols:
            if sym.type.kind == "bool":
                self.symbols[sym.name] = self.z3.Bool(sym.name, self.ctx)
            else:
                var = self.symbols[sym.name] = self.z3.Int(sym.name, self.ctx)
                self.facts += [var >= self.low(sym), var <= self.high(sym)]
        return self.symbols[sym.name]

    @staticmethod
    def low(sym: Sym) -> int:
        """The smallest value of a symbol."""
        return sym.low if sym.low is not None else sym.type.low

    @staticmethod
    def high(sym: Sym) -> int:
        """The largest value of a symbol."""
        return sym.high if sym.high is not None else sym.type.high

    def unknown(self, kind: Type) -> Any:
        """A fresh value for what is not encoded."""
        self.inexact = True
        self._fresh += 1
        name = f"?{self._fresh}"
        if kind.kind == "bool":
            return self.z3.Bool(name, self.ctx)
        var = self.z3.Int(name, self.ctx)
        if kind.kind == "int":
            self.facts += [var >= kind.low, var <= kind.high]
        return var

    def cast(self, term: Cast, kind: Type, depth: int) -> Any:
        """An integer cast: the value where it fits, unknown where it may truncate."""
        inner = self.encode(term.a, depth + 1)
        source = term.a.type
        if kind.low <= source.low and source.high <= kind.high:
            return inner
        result = self.unknown(kind)
        self.facts.append(self.z3.Implies(self.z3.And(inner >= kind.low, inner <= kind.high), result == inner))
        return result

    def binary(self, term: Binary, depth: int) -> Any:
        """A binary operation."""
        a, b = self.encode(term.a, depth + 1), self.encode(term.b, depth + 1)
        z3 = self.z3
        match term.op:
            case Op.ADD:
                return a + b
            case Op.SUB:
                return a - b
            case Op.MUL:
                return a * b
            case Op.DIV | Op.REM if not term.type.signed and isinstance(term.b, Const) and term.b.value:
                return a / b if term.op is Op.DIV else a % b
            case Op.SHL if isinstance(term.b, Const):
                return a * (1 << int(term.b.value))
            case Op.SHR if isinstance(term.b, Const):
                return a / (1 << int(term.b.value))
            case Op.MIN:
                return z3.If(a <= b, a, b)
            case Op.MAX:
                return z3.If(a >= b, a, b)
            case Op.EQ:
                return a == b
            case Op.NE:
                return a != b
            case Op.LT:
                return a < b
            case Op.LE:
                return a <= b
            case Op.GT:
                return a > b
            case Op.GE:
                return a >= b
            case Op.LAND:
                return z3.And(a, b)
            case Op.LOR:
                return z3.Or(a, b)
        return self.unknown(term.type)
