"""Host terms as sums: a constant plus multiples of terms that are not taken apart.

Enough to compare ordinary offsets (`i * CHUNK` and `i * CHUNK + CHUNK`) without a solver. Addition on the host is taken
not to wrap: an offset that wraps around `usize` is outside every allocation, and the view that needs it panics.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpusafe.ir.expr import Binary, Cast, Const, Expr, Op

_DEEPEST = 64


@dataclass(frozen=True, slots=True)
class Linear:
    """``const`` plus the sum of coefficient times atom."""

    const: int
    terms: frozenset[tuple[Expr, int]] = frozenset()

    def plus(self, other: Linear, factor: int = 1) -> Linear:
        """This sum plus ``factor`` times another."""
        merged = dict(self.terms)
        for atom, count in other.terms:
            merged[atom] = merged.get(atom, 0) + factor * count
        return Linear(self.const + factor * other.const, frozenset((a, c) for a, c in merged.items() if c))

    def times(self, factor: int) -> Linear:
        """This sum times a number."""
        return Linear(0).plus(self, factor)

    @property
    def number(self) -> int | None:
        """The value, when it is known."""
        return None if self.terms else self.const

    @property
    def never_negative(self) -> bool:
        """Whether it is at least zero whatever its atoms are: nothing is subtracted, and no atom can be negative."""
        return self.const >= 0 and all(count > 0 and _counts_up(atom) for atom, count in self.terms)


def holds_anyway(condition: Expr) -> bool:
    """Whether a condition says nothing: one side is at least the other whatever the unknowns are."""
    match condition:
        case Binary(op=Op.LE, a=a, b=b) | Binary(op=Op.GE, a=b, b=a):
            return linear(b).plus(linear(a), -1).never_negative
        case Binary(op=Op.LT, a=a, b=b) | Binary(op=Op.GT, a=b, b=a):
            return linear(b).plus(linear(a), -1).plus(Linear(1), -1).never_negative
    return False


def _counts_up(atom: Expr) -> bool:
    return atom.type.kind == "int" and not atom.type.signed


def linear(term: Expr, depth: int = 0) -> Linear:
    """A term as a sum; what is no sum or multiple is one atom."""
    if depth > _DEEPEST:
        return Linear(0, frozenset({(term, 1)}))
    match term:
        case Const(value=value):
            return Linear(int(value))
        case Cast(type=kind, a=inner) if _widens(inner, kind.bits):
            return linear(inner, depth + 1)
        case Binary(op=Op.ADD, a=a, b=b):
            return linear(a, depth + 1).plus(linear(b, depth + 1))
        case Binary(op=Op.SUB, a=a, b=b):
            return linear(a, depth + 1).plus(linear(b, depth + 1), -1)
        case Binary(op=Op.MUL, a=a, b=b):
            left, right = linear(a, depth + 1), linear(b, depth + 1)
            for one, other in ((left, right), (right, left)):
                if other.number is not None:
                    return one.times(other.number)
    return Linear(0, frozenset({(term, 1)}))


def _widens(inner: Expr, bits: int) -> bool:
    return inner.type.kind == "int" and not inner.type.signed and inner.type.bits <= bits
