"""Interned terms: the values of a symbolic execution.

Equal terms are the same object, so that terms can be compared and memoised by identity however deep they are. The
smart constructors of :class:`Terms` fold constants and apply the few rewrites that keep closed forms recognisable.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from gpusafe.dataflow.arith import clip, fold
from gpusafe.ir.expr import BOOL, I64, PTR, U64, Type

COMPLEMENT = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
COMPARE = frozenset(COMPLEMENT)
LEAVES = frozenset({"const", "special", "param", "length", "sym", "iter", "fresh", "head", "base", "ptrunknown"})


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """A value: an operator, its arguments and what else identifies it (``data``).

    ``op`` is an operator sign of :class:`gpusafe.ir.expr.Op` or one of: ``const`` ``special`` ``param`` ``length``
    ``sym`` (leaves); ``iter`` (the iteration number of a loop, per thread; its arguments are the numbers of the
    enclosing loops); ``fresh`` (an unknown; ``data`` = name, who shares it, reason); ``head`` (a variable at a loop
    head, while the loop is being studied); ``load``, ``atomic`` and ``shuffle`` (values from memory or other lanes);
    ``ind`` (init, step, k: an induction variable); ``sum`` (bytes, as whole numbers); ``table`` (one of
    ``data``, chosen by k); ``cast`` ``select``
    ``opaque``; ``base`` ``ptradd`` ``ptrunknown`` (pointers).
    """

    op: str
    type: Type
    args: tuple[Term, ...]
    data: Any
    id: int

    @property
    def const(self) -> int | None:
        """The value of an integer or boolean constant, else None."""
        if self.op == "const" and self.type.kind in ("int", "bool"):
            assert isinstance(self.data, int)
            return self.data
        return None


class Terms:
    """Makes terms. One instance serves one analysis; terms of two instances must not be mixed."""

    def __init__(self) -> None:
        self._table: dict[tuple[object, ...], Term] = {}
        self.true = self.make("const", BOOL, (), True)
        self.false = self.make("const", BOOL, (), False)

    def make(self, op: str, type_: Type, args: tuple[Term, ...] = (), data: Hashable = None) -> Term:
        """The term with exactly these parts, without any simplification."""
        tag = type(data).__name__ if op == "const" else ""
        key = (op, type_, tuple(a.id for a in args), data, tag)
        found = self._table.get(key)
        if found is None:
            found = self._table[key] = Term(op, type_, args, data, len(self._table))
        return found

    def const(self, value: int | bool | float, type_: Type = U64) -> Term:
        """A literal, wrapped into its type."""
        if type_.kind == "bool":
            return self.true if value else self.false
        if type_.kind == "int":
            return self.make("const", type_, (), clip(int(value), type_))
        return self.make("const", type_, (), float(value))

    def neg(self, cond: Term) -> Term:
        """The negation of a condition."""
        if cond.op == "const":
            return self.false if cond.data else self.true
        if cond.op == "not":
            return cond.args[0]
        if cond.op in COMPLEMENT and cond.args[0].type.kind != "float":
            return self.make(COMPLEMENT[cond.op], BOOL, cond.args)
        return self.make("not", BOOL, (cond,))

    def conj(self, conds: Iterable[Term]) -> Term:
        """The conjunction."""
        out = self.true
        for cond in conds:
            out = self.binary("&&", out, cond)
        return out

    def disj(self, a: Term, b: Term) -> Term:
        """The disjunction, without what one side already denies of the other."""
        if self.neg(a) is b:
            return self.true
        return self.binary("||", a, b)

    def select(self, cond: Term, a: Term, b: Term) -> Term:
        """``cond ? a : b``."""
        if cond.op == "const":
            return a if cond.data else b
        if a is b:
            return a
        if a.type.kind == "bool":
            if a is self.true:
                return self.binary("||", cond, b)
            if b is self.false:
                return self.binary("&&", cond, a)
            if a is self.false:
                return self.binary("&&", self.neg(cond), b)
            if b is self.true:
                return self.binary("||", self.neg(cond), a)
        if cond.op == "not":
            return self.select(cond.args[0], b, a)
        if a.op == "select" and a.args[0] is cond:
            a = a.args[1]
        if b.op == "select" and b.args[0] is cond:
            b = b.args[2]
        return a if a is b else self.make("select", a.type, (cond, a, b))

    def cast(self, type_: Type, a: Term) -> Term:
        """A conversion as by Rust's ``as``."""
        if a.type == type_:
            return a
        kinds = (a.type.kind, type_.kind)
        if a.op == "const" and kinds != ("ptr", "int"):
            return self._cast_const(type_, a)
        if kinds == ("bool", "int"):
            return self.select(a, self.const(1, type_), self.const(0, type_))
        if kinds == ("int", "bool"):
            return self.binary("!=", a, self.const(0, a.type))
        if kinds == ("int", "int") and a.op == "cast" and a.args[0].type.kind == "int":
            inner = a.args[0]
            widens = a.type.low <= inner.type.low and inner.type.high <= a.type.high
            if widens or (type_.bits <= a.type.bits and a.data is not True):  # its low bits are all that counts
                return self.cast(type_, inner)
        return self.make("cast", type_, (a,))

    def natural(self, a: Term) -> Term:
        """A size or an offset of memory as a signed number; such numbers are below 2^63."""
        return self.cast(I64, a) if a.const is not None or a.type == I64 else self.make("cast", I64, (a,), True)

    def _cast_const(self, type_: Type, a: Term) -> Term:
        value = a.data
        assert isinstance(value, int | float)
        if type_.kind == "int" and a.type.kind == "float":
            if value != value:
                return self.const(0, type_)
            limited = max(float(type_.low), min(float(type_.high), float(value)))
            return self.const(min(type_.high, max(type_.low, int(limited))), type_)
        return self.const(value, type_)

    def unary(self, op: str, a: Term) -> Term:
        """A unary operation."""
        if op == "not" and a.type.kind == "bool":
            return self.neg(a)
        if op == "not":
            op = "~"
        if a.const is not None:
            return self.const(fold(op, (a.const,), a.type), a.type)
        return self.make(op, a.type, (a,))

    def binary(self, op: str, a: Term, b: Term, nowrap: bool = False) -> Term:
        """A binary operation; comparisons and connectives give a bool."""
        if op in ("&&", "||"):
            return self._connective(op, a, b)
        compares = op in COMPARE
        if a.type.kind == "ptr" or b.type.kind == "ptr":
            return self._pointer_op(op, a, b)
        if a.const is not None and b.const is not None:
            value = fold(op, (a.const, b.const), a.type)
            return self.const(value, BOOL if compares else a.type)
        if compares:
            return self._compare(op, a, b)
        if a.type.kind == "int":
            simple = self._arith(op, a, b, nowrap)
            if simple is not None:
                return simple
        return self.make(op, a.type, (a, b), nowrap)

    def _connective(self, op: str, a: Term, b: Term) -> Term:
        unit, zero = (self.true, self.false) if op == "&&" else (self.false, self.true)
        if a is unit or a is b:
            return b
        if b is unit:
            return a
        if a is zero or b is zero or self.neg(a) is b:
            return zero
        return self.make(op, BOOL, (a, b))

    def _pointer_op(self, op: str, a: Term, b: Term) -> Term:
        if op in COMPARE:
            if a is b:
                return self.true if op in ("==", "<=", ">=") else self.false
            return self.make("opaque", BOOL, (a, b), f"pointer {op}")
        return self.make("opaque", U64, (a, b), f"pointer {op}")

    def _compare(self, op: str, a: Term, b: Term) -> Term:
        if a is b and a.type.kind != "float":
            return self.true if op in ("==", "<=", ">=") else self.false
        if a.type.kind == "bool" and b.const is not None:
            same = (op == "==") == bool(b.data)
            if op in ("==", "!="):
                return a if same else self.neg(a)
        if a.const is not None:  # the constant goes to the right
            flip = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(op, op)
            a, b, op = b, a, flip
        if b.const is not None and a.type.kind == "int":
            low, high = a.type.low, a.type.high
            settled = {
                ("<", low): False, (">=", low): True, (">", high): False, ("<=", high): True,
            }.get((op, b.const))  # fmt: skip
            if settled is not None:
                return self.const(settled, BOOL)
            if (op, b.const) == (">", low):
                op = "!="
            if (op, b.const) == ("<=", low):
                op = "=="
            if a.op == "select" and a.args[1].const is not None and a.args[2].const is not None:
                left, right = (self.binary(op, x, b) for x in a.args[1:])
                return self.select(a.args[0], left, right)
        return self.make(op, BOOL, (a, b))

    def _arith(self, op: str, a: Term, b: Term, nowrap: bool) -> Term | None:
        if op in ("+", "*", "&", "|", "^", "min", "max") and a.const is not None:
            a, b = b, a
        value = b.const
        zero = self.const(0, a.type)
        if op == "-" and a is b:
            return zero
        if op == "^" and a is b:
            return zero
        if op in ("&", "|", "min", "max") and a is b:
            return a
        if value is None:
            return self._cancel(op, a, b)
        if op == "-":
            return self.binary("+", a, self.const(-value, a.type), nowrap and a.type.signed)
        if (op in ("+", "|", "^", "<<", ">>") and value == 0) or (op in ("*", "/") and value == 1):
            return a
        if (op in ("*", "&") and value == 0) or (op == "%" and value == 1):
            return zero
        if op == "+" and a.op == "+" and a.args[1].const is not None:
            both = nowrap and bool(a.data)
            return self.binary("+", a.args[0], self.const(a.args[1].const + value, a.type), both)
        return self.make(op, a.type, (a, b), nowrap)

    def _cancel(self, op: str, a: Term, b: Term) -> Term | None:
        """``(x + y) - x`` is ``y``: exact also where it wraps."""
        if op == "-" and a.op == "+":
            if a.args[0] is b:
                return a.args[1]
            if a.args[1] is b:
                return a.args[0]
        if op == "+" and b.op == "-" and b.args[1] is a:
            return b.args[0]
        if op == "+" and a.op == "-" and a.args[1] is b:
            return a.args[0]
        return None

    def ptradd(self, ptr: Term, offset: Term) -> Term:
        """A pointer moved by bytes."""
        if offset.const == 0 or ptr.op == "ptrunknown":
            return ptr
        return self.make("ptradd", PTR, (ptr, offset))

    def rebuild(self, term: Term, args: tuple[Term, ...]) -> Term:
        """``term`` with other arguments, simplified again."""
        if args == term.args:
            return term
        match term.op:
            case "select":
                return self.select(*args)
            case "cast":
                return self.natural(args[0]) if term.data is True else self.cast(term.type, args[0])
            case "not" | "~" | "neg" | "clz" | "ctz" | "popc" | "brev" | "abs":
                return self.unary("not" if term.op == "~" else term.op, args[0])
            case "ptradd":
                return self.ptradd(*args)
            case "ind":
                return self.induction(args[0], args[1], args[2], int(str(term.data)))
            case "table":
                assert isinstance(term.data, tuple)
                return self.table(args[0], term.data[0], bool(term.data[1]), term.type)
            case "load" | "atomic" | "opaque" | "fresh" | "iter" | "shuffle" | "sum":
                return self.make(term.op, term.type, args, term.data)
        return self.binary(term.op, args[0], args[1], bool(term.data))

    def induction(self, init: Term, step: Term, k: Term, sign: int = 1) -> Term:
        """``init + sign * k * step`` without overflow (the executor states that as a side condition)."""
        if k.const is not None and init.const is not None and step.const is not None:
            return self.const(init.const + sign * k.const * step.const, init.type)
        if k.const == 0:
            return init
        return self.make("ind", init.type, (init, step, k), sign)

    def table(self, k: Term, values: tuple[int, ...], periodic: bool, type_: Type) -> Term:
        """``values[k]`` (``values[k % len]`` when periodic)."""
        if k.const is not None:
            at = k.const % len(values) if periodic else min(k.const, len(values) - 1)
            return self.const(values[at], type_)
        return self.make("table", type_, (k,), (values, periodic))

    def substitute(self, roots: Iterable[Term], replace: Callable[[Term], Term | None]) -> dict[Term, Term]:
        """Bottom-up rewriting: ``replace`` gives a new term or None; returns the map of everything visited."""
        done: dict[Term, Term] = {}
        for term in postorder(roots):
            args = tuple(done[a] for a in term.args)
            rebuilt = self.rebuild(term, args) if args else term
            done[term] = replace(rebuilt) or rebuilt
        return done


def postorder(roots: Iterable[Term]) -> list[Term]:
    """All subterms, arguments before what uses them, each once."""
    out: list[Term] = []
    seen: set[int] = set()
    stack: list[tuple[Term, bool]] = [(r, False) for r in reversed(list(roots))]
    while stack:
        term, done = stack.pop()
        if done:
            out.append(term)
        elif term.id not in seen:
            seen.add(term.id)
            stack.append((term, True))
            stack.extend((a, False) for a in reversed(term.args) if a.id not in seen)
    return out
