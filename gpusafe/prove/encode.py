"""Terms as Z3 formulas over mathematical integers.

Each of the two threads of a query has its own copy of what differs between threads; uniform terms are encoded once. An
operation that the ranges show cannot overflow is the plain one; any other is taken modulo its type by a quotient.
Products of unknowns stand for themselves, with the spread lemma: different multiples of ``m`` lie at least ``m`` apart.
What cannot be expressed is an unknown of the right range. All of this only adds models, so ``unsat`` is a proof.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any

import z3

from gpusafe.dataflow.intervals import LIMITS, MAX_THREADS, Intervals, core
from gpusafe.dataflow.terms import Term, postorder
from gpusafe.dataflow.uniformity import THREAD, WARP, level_of_mark
from gpusafe.ir.expr import U32, Type

UNIFORM_OPS = frozenset({"const", "param", "length", "sym", "base"})
Z = Any  # Z3 expressions are untyped


@dataclass(slots=True)
class Thread:
    """One of the two threads of a query: its name, its indices and the ranges that its conditions imply."""

    name: str
    intervals: Intervals
    tid: dict[str, Z] = field(default_factory=dict)
    cta: dict[str, Z] = field(default_factory=dict)
    home: str = ""  # names the block, where that is not the thread's own name


@dataclass(frozen=True, slots=True)
class Product:
    """A product of unknowns ``factor * unit`` and the symbol that stands for it."""

    factor: Z
    value: Z


class Encoder:
    """Encodes terms for up to two threads of one query. ``same_block`` makes the threads share their block index."""

    def __init__(
        self, specials: dict[str, Term], written: frozenset[str], same_block: bool, ctx: Z = None, prefix: str = ""
    ) -> None:
        self.ctx = ctx if ctx is not None else z3.Context()
        self.prefix = prefix  # keeps the symbols of two launches in one context apart; host symbols are shared
        self.specials = specials
        self.written = written
        self.same_block = same_block
        self.facts: list[Z] = []
        self.loads: list[tuple[Term, Thread]] = []
        self.atomics: list[tuple[Term, Thread]] = []
        self.constants: list[tuple[Term, Thread]] = []  # loads from memory that the launch does not write
        self.fresh: list[tuple[Term, Thread]] = []  # unknown values: results of warp operations among them
        self.popcounts: list[tuple[Term, Thread]] = []
        self.products: dict[int, list[Product]] = {}
        self.meanings: list[Z] = []  # what the symbols of products stand for, in non-linear arithmetic
        self.units: dict[int, Z] = {}
        self.exact = True
        self._memo: dict[tuple[int, str], Z] = {}
        self._uniform: dict[int, bool] = {}
        self._names: dict[str, Z] = {}
        self.shared = Thread("", Intervals(specials))
        self._geometry()

    # -- symbols

    def integer(self, name: str) -> Z:
        """The integer symbol of a name."""
        found = self._names.get(name)
        if found is None:
            found = self._names[name] = z3.Int(self.prefix + name, self.ctx)
        return found

    def num(self, value: int) -> Z:
        """An integer literal."""
        return z3.IntVal(value, self.ctx)

    def bounded(self, name: str, low: int, high: int) -> Z:
        """An integer symbol within bounds."""
        fresh = name not in self._names
        symbol = self.integer(name)
        if fresh:
            self.facts += [symbol >= low, symbol <= high]
        return symbol

    def symbol(self, name: str, type_: Type) -> Z:
        """A symbol for a value of a type."""
        match type_.kind:
            case "int":
                return self.bounded(name, type_.low, type_.high)
            case "bool":
                return z3.Bool(self.prefix + name, self.ctx)
            case "float":
                return z3.Real(self.prefix + name, self.ctx)
        return self.integer(name)

    def sort(self, type_: Type) -> Z:
        """The sort of a type (floating-point values are points of an uninterpreted line)."""
        return {"int": z3.IntSort, "bool": z3.BoolSort, "float": z3.RealSort, "ptr": z3.IntSort}[type_.kind](self.ctx)

    def function(self, name: str, args: list[Z], type_: Type) -> Z:
        """An uninterpreted function of encoded arguments."""
        if not args:
            return self.symbol(name, type_)
        value = z3.Function(self.prefix + name, *[a.sort() for a in args], self.sort(type_))(*args)
        if type_.kind == "int":
            self.facts += [value >= type_.low, value <= type_.high]
        return value

    def _geometry(self) -> None:
        sizes = [self.extent("ntid", axis) for axis in "xyz"]
        if any(not z3.is_int_value(s) for s in sizes):
            unknown = [s for s in sizes if not (z3.is_int_value(s) and s.as_long() == 1)]
            if len(unknown) == 1:
                self.facts.append(unknown[0] <= MAX_THREADS)
            elif unknown:
                product = unknown[0]
                for size in unknown[1:]:
                    product = product * size
                self.facts.append(product <= MAX_THREADS)

    def extent(self, register: str, axis: str) -> Z:
        """The size of the grid or block along an axis."""
        bound = self.specials.get(f"{register}.{axis}")
        low, high = LIMITS[f"{register}.{axis}"]
        if bound is None:
            return self.bounded(f"{register}.{axis}", low, high)
        value = self.encode(bound, self.shared)
        if not z3.is_int_value(value):
            self.facts += [value >= low, value <= high]
        return value

    def thread(self, name: str, intervals: Intervals) -> Thread:
        """A thread of the launch."""
        block = "" if self.same_block else name
        out = Thread(name, intervals)
        for axis in "xyz":
            out.tid[axis] = self._index(f"tid.{axis}{name}", "ntid", axis)
            out.cta[axis] = self._index(f"ctaid.{axis}{block}", "nctaid", axis)
        return out

    def companion(self, thread: Thread, name: str) -> Thread:
        """A further thread of the block of another one."""
        out = Thread(name, thread.intervals, home=thread.home or thread.name)
        for axis in "xyz":
            out.tid[axis] = self._index(f"tid.{axis}{name}", "ntid", axis)
            out.cta[axis] = thread.cta[axis]
        out.intervals = self.shared.intervals
        return out

    def _lowest(self, value: Z, bits: int) -> Z:
        """The place of the lowest bit of a value that is one."""
        place = z3.Function(f"{self.prefix}ctz", self.sort(U32), self.sort(U32))(value)
        self.facts += [place >= 0, place <= bits, (value == 0) == (place == bits)]
        return place

    @property
    def whole_warps(self) -> bool:
        """Whether blocks certainly consist of whole warps."""
        sizes = [self.extent("ntid", axis) for axis in "xyz"]
        return all(z3.is_int_value(s) for s in sizes) and prod(s.as_long() for s in sizes) % 32 == 0

    def bits_set(self, value: Z, bits: int) -> Z:
        """How many bits of a value are one."""
        count = z3.Function(f"{self.prefix}popc", self.sort(U32), self.sort(U32))(value)
        self.facts += [count >= 0, count <= bits]
        return count

    def _index(self, name: str, register: str, axis: str) -> Z:
        size = self.extent(register, axis)
        if z3.is_int_value(size) and size.as_long() == 1:
            return self.num(0)
        fresh = name not in self._names
        symbol = self.integer(name)
        if fresh:
            self.facts += [symbol >= 0, symbol < size]
        return symbol

    # -- terms

    def uniform(self, term: Term) -> bool:
        """Whether a term has the same value in both threads whatever they are."""
        known = self._uniform.get(term.id)
        if known is not None:
            return known
        for t in postorder([term]):
            if t.id not in self._uniform:
                self._uniform[t.id] = self._uniform_one(t)
        return self._uniform[term.id]

    def _uniform_one(self, t: Term) -> bool:
        if t.op == "special":
            name = str(t.data)
            return name.startswith(("ntid", "nctaid", "cluster_n", "dynamic")) or (
                self.same_block and name.startswith("ctaid")
            )
        if t.op in UNIFORM_OPS:
            return True
        if t.op in ("iter", "fresh", "head", "atomic", "shuffle", "ptrunknown"):
            return False
        if t.op == "load":
            assert isinstance(t.data, tuple)
            return t.data[0] not in self.written and self._uniform[t.args[0].id]
        return bool(t.args) and all(self._uniform[a.id] for a in t.args)

    def encode(self, root: Term, thread: Thread) -> Z:
        """The formula of a term for one thread."""
        known = self._memo.get(self._key(root, thread))
        if known is not None:
            return known
        for term in postorder([root]):
            key = self._key(term, thread)
            if key not in self._memo:
                args = [self._memo[self._key(a, thread)] for a in term.args]
                self._memo[key] = self._one(term, args, thread)
        return self._memo[self._key(root, thread)]

    def _key(self, term: Term, thread: Thread) -> tuple[int, str]:
        return term.id, "" if self.uniform(term) else thread.name

    def _one(self, term: Term, args: list[Z], thread: Thread) -> Z:
        match term.op:
            case "const":
                return self._constant(term)
            case "special" | "param" | "length" | "sym" | "iter" | "fresh" | "load" | "atomic" | "head":
                return self._leaf(term, args, thread)
            case "select":
                return z3.If(args[0], args[1], args[2])
            case "not":
                return z3.Not(args[0])
            case "&&":
                return z3.And(*args)
            case "||":
                return z3.Or(*args)
            case "cast":
                return self._cast(term, args[0], thread)
            case "sum":
                return args[0] + args[1]
            case "ind":
                return self._induction(term, args, thread)
            case "table":
                return self._table(term, args[0])
        if term.args and all(a.type.kind == "int" for a in term.args) and term.op != "opaque":
            return self._integer(term, args, thread)
        if term.op in ("==", "!=") and all(a.type.kind == "bool" for a in term.args):
            return args[0] == args[1] if term.op == "==" else args[0] != args[1]
        if term.op in ("&", "|", "^") and term.type.kind == "bool":
            return {"&": z3.And, "|": z3.Or, "^": z3.Xor}[term.op](*args)
        if term.op in ("base", "ptradd", "ptrunknown", "shuffle"):
            return self._unknown(term, thread)
        return self.function(f"{term.op}:{term.data}:{term.type}", args, term.type)

    def _constant(self, term: Term) -> Z:
        if term.type.kind == "bool":
            return z3.BoolVal(bool(term.data), self.ctx)
        if term.type.kind == "int":
            assert isinstance(term.data, int)
            return self.num(term.data)
        return z3.Real(f"literal {term.data!r}", self.ctx)

    def _leaf(self, term: Term, args: list[Z], thread: Thread) -> Z:
        match term.op:
            case "special":
                return self._special(str(term.data), thread)
            case "param" | "length":
                value = self.symbol(f"{term.op} {term.data}", term.type)
                if term.op == "length":
                    self.facts.append(value < 1 << 63)
                return value
            case "sym":
                return self._host_symbol(term)
            case "iter":
                return self._iteration(term, args, thread)
            case "fresh":
                return self._fresh(term, args, thread)
            case "load":
                return self._load(term, args, thread)
        value = self.symbol(f"{term.op} {term.id}{thread.name}", term.type)
        if term.op == "atomic":
            self.atomics.append((term, thread))
        return value

    def _iteration(self, term: Term, args: list[Z], thread: Thread) -> Z:
        """The number of an iteration; those who leave a loop together share that of its last one."""
        level = level_of_mark(str(term.data))
        if level == THREAD:
            return self.bounded(f"{term.data}.{term.id}{thread.name}", 0, 1 << 62)
        block = "" if self.same_block else thread.home or thread.name
        own = [self.warp(thread)] if level == WARP else []
        value = self.function(f"{term.data}.{term.id}{block}", [*own, *args], term.type)
        self.facts += [value >= 0, value <= 1 << 62]
        return value

    def _host_symbol(self, term: Term) -> Z:
        """A value of the host side: the same symbol in every launch of a path."""
        name, low, high = term.data
        if term.type.kind != "int":
            return z3.Bool(name, self.ctx) if term.type.kind == "bool" else z3.Real(name, self.ctx)
        value = self._names[f"sym {name}"] = z3.Int(name, self.ctx)
        self.facts += [value >= max(low if low is not None else term.type.low, term.type.low)]
        self.facts += [value <= min(high if high is not None else term.type.high, term.type.high)]
        return value

    def _special(self, name: str, thread: Thread) -> Z:
        register, _, axis = name.partition(".")
        if register == "tid":
            return thread.tid[axis]
        if register == "ctaid":
            return thread.cta[axis]
        if register in ("ntid", "nctaid"):
            return self.extent(register, axis)
        low, high = LIMITS.get(name, (0, 2**32 - 1))
        return self.bounded(f"{name}{'' if name.startswith(('cluster_n', 'dynamic')) else thread.name}", low, high)

    def _fresh(self, term: Term, args: list[Z], thread: Thread) -> Z:
        assert isinstance(term.data, tuple)
        name, shared = str(term.data[0]), term.data[1]
        self.fresh.append((term, thread))
        block = "" if self.same_block else thread.home or thread.name
        if shared == "block":
            return self.function(name + block, args, term.type)
        if shared == "warp":
            return self.function(name + block, [self.warp(thread), *args], term.type)
        return self.symbol(f"{name}.{term.id}{thread.name}", term.type)

    def _load(self, term: Term, args: list[Z], thread: Thread) -> Z:
        assert isinstance(term.data, tuple)
        region = str(term.data[0])
        if region not in self.written:
            self.constants.append((term, thread))
            return self.function(f"{region}:{term.type}", args[:1], term.type)
        self.loads.append((term, thread))
        return self.symbol(f"load {term.id}{thread.name}", term.type)

    def _unknown(self, term: Term, thread: Thread) -> Z:
        self.exact = False
        name = f"?{term.id}{'' if self.uniform(term) else thread.name}"
        if term.type.kind != "int":
            return self.symbol(name, term.type)
        low, high = thread.intervals.of(term)
        return self.bounded(name, max(low, term.type.low), min(high, term.type.high))

    def linear(self, thread: Thread) -> Z:
        """The linear index of a thread in its block."""
        nx, ny = self.extent("ntid", "x"), self.extent("ntid", "y")
        rows = thread.tid["y"]
        if not self._zero(thread.tid["z"]):
            rows = rows + ny * thread.tid["z"]
        return thread.tid["x"] if self._zero(rows) else thread.tid["x"] + nx * rows

    def warp(self, thread: Thread) -> Z:
        """The number of a thread's warp in its block."""
        return self.linear(thread) / 32

    @staticmethod
    def _zero(value: Z) -> bool:
        return bool(z3.is_int_value(value)) and value.as_long() == 0

    # -- operations

    def _induction(self, term: Term, args: list[Z], thread: Thread) -> Z:
        moved = self.product(term.args[2], term.args[1], args[2], args[1], thread)
        value = args[0] + int(str(term.data)) * moved
        if thread.intervals.of(term.args[2])[0] < 0:  # the iteration before the first one, where there is none
            value = z3.If(args[2] >= 0, value, args[0])
        if not thread.intervals.fits(term):
            self.facts += [value >= term.type.low, value <= term.type.high]
        return value

    def _cast(self, term: Term, arg: Z, thread: Thread) -> Z:
        source = term.args[0].type
        if (source.kind, term.type.kind) == ("int", "int"):
            return self._wrap(term, arg, thread)
        return self.function(f"cast {source} {term.type}", [arg], term.type)

    def _table(self, term: Term, k: Z) -> Z:
        values, periodic = term.data
        at = k % len(values) if periodic else k
        out = self.num(values[-1])
        for i in range(len(values) - 2, -1, -1):
            out = z3.If(at == i, self.num(values[i]), out)
        return out

    def _wrap(self, term: Term, raw: Z, thread: Thread) -> Z:
        """The value of an operation whose whole-number result is ``raw``."""
        if thread.intervals.fits(term) or (term.data is True and term.op != "const"):
            return raw
        low, high = thread.intervals.raw(term)
        size = 1 << term.type.bits
        base = term.type.low
        name = f"q{term.id}{'' if self.uniform(term) else thread.name}"
        quotient = self.bounded(name, (low - base) // size, (high - base) // size)
        value = raw - quotient * size
        self.facts += [value >= term.type.low, value <= term.type.high]
        return value

    def _integer(self, term: Term, args: list[Z], thread: Thread) -> Z:
        a, b = args[0], args[1] if len(args) > 1 else None
        match term.op:
            case "==":
                return a == b
            case "!=":
                return a != b
            case "<":
                return a < b
            case "<=":
                return a <= b
            case ">":
                return a > b
            case ">=":
                return a >= b
            case "+":
                return self._wrap(term, a + b, thread)
            case "-":
                return self._wrap(term, a - b, thread)
            case "neg":
                return self._wrap(term, -a, thread)
            case "*":
                return self._wrap(term, self.product(term.args[0], term.args[1], a, b, thread), thread)
            case "min":
                return z3.If(a < b, a, b)
            case "max":
                return z3.If(a > b, a, b)
            case "abs":
                return z3.If(a < 0, -a, a)
            case "/" | "%":
                return self._divide(term, a, b, thread)
            case "<<" | ">>":
                return self._shift(term, a, thread)
            case "&" | "|" | "^":
                return self._bits(term, a, thread)
            case "popc":
                self.popcounts.append((term, thread))
                return self.bits_set(a, term.args[0].type.bits)
            case "ctz":
                return self._lowest(a, term.args[0].type.bits)
        return self._unknown(term, thread)

    def product(self, left: Term, right: Term, a: Z, b: Z, thread: Thread) -> Z:
        """A product; of two unknowns it is a symbol that the spread lemma describes."""
        left, right = core(left), core(right)
        if left.const is not None or right.const is not None:
            return a * b
        if self.uniform(left) and not self.uniform(right):
            left, right, a, b = right, left, b, a
        uniform = self.uniform(left)
        name = f"({min(left.id, right.id)}*{max(left.id, right.id)}){'' if uniform else thread.name}"
        fresh = name not in self._names
        value = self.integer(name)
        if fresh:
            self._product_facts(value, left, right, a, b, thread)
            if self.uniform(right):
                self._unit(right, b, Product(a, value), thread)
            if uniform:
                self._unit(left, a, Product(b, value), thread)
        return value

    def _unit(self, unit: Term, encoded: Z, product: Product, thread: Thread) -> None:
        self.units[unit.id] = encoded
        self.products.setdefault(unit.id, []).append(product)

    def _product_facts(self, value: Z, left: Term, right: Term, a: Z, b: Z, thread: Thread) -> None:
        self.meanings.append(value == a * b)
        la, ha = thread.intervals.of(left)
        lb, hb = thread.intervals.of(right)
        corners = [x * y for x in (la, ha) for y in (lb, hb)]
        self.facts += [value >= min(corners), value <= max(corners)]
        if la >= 0 and lb >= 0:
            self.facts += [z3.Implies(b >= 1, value >= a), z3.Implies(a >= 1, value >= b)]
            self.facts += [z3.Implies(a == 0, value == 0), z3.Implies(b == 0, value == 0)]
            self.facts += [z3.Implies(a == 1, value == b), z3.Implies(b == 1, value == a)]

    def spread(self) -> list[Z]:
        """The spread lemma for all products with a common factor."""
        out = []
        for unit, products in sorted(self.products.items()):
            m = self.units[unit]
            for i, p in enumerate(products):
                for q in products[i + 1 :]:
                    near = z3.Or(
                        z3.And(p.factor == q.factor, p.value == q.value),
                        z3.And(p.factor < q.factor, p.value + m <= q.value),
                        z3.And(p.factor > q.factor, q.value + m <= p.value),
                    )
                    out.append(z3.Implies(m > 0, near))
        return out

    def _divide(self, term: Term, a: Z, b: Z, thread: Thread) -> Z:
        low, _ = thread.intervals.of(term.args[0])
        divisor = term.args[1].const
        if divisor is None or divisor <= 0:
            return self._divide_unknown(term, a, b, thread)
        if low >= 0:
            return a / b if term.op == "/" else a % b
        quotient = z3.If(a >= 0, a / b, -((-a) / b))
        return quotient if term.op == "/" else a - b * quotient

    def _divide_unknown(self, term: Term, a: Z, b: Z, thread: Thread) -> Z:
        """Division by an unknown: the quotient is a symbol, multiples of the divisor are products."""
        left, right = term.args
        if thread.intervals.of(left)[0] < 0 or thread.intervals.of(right)[0] < 0:
            return self._unknown(term, thread)
        own = "" if self.uniform(left) and self.uniform(right) else thread.name
        name = f"({left.id}/{right.id}){own}"
        fresh = name not in self._names
        quotient, multiple = self.integer(name), self.integer(f"{name}*")
        if fresh:
            self.facts.append(z3.Implies(b > 0, z3.And(quotient >= 0, multiple <= a, a < multiple + b, multiple >= 0)))
            self.facts.append(z3.Implies(quotient == 0, multiple == 0))
            if self.uniform(right):
                self._unit(right, b, Product(quotient, multiple), thread)
            self.meanings.append(z3.Implies(b > 0, multiple == quotient * b))
        return quotient if term.op == "/" else a - multiple

    def _shift(self, term: Term, a: Z, thread: Thread) -> Z:
        amount = term.args[1].const
        if amount is not None and 0 <= amount < term.type.bits:
            if term.op == ">>":
                return a / self.num(1 << amount)
            return self._wrap(term, a * (1 << amount), thread)
        low, high = thread.intervals.of(term.args[1])
        if term.args[0].const is not None and low >= 0 and high < 64:
            value = int(term.args[0].const)
            count = self.encode(term.args[1], thread)
            from gpusafe.dataflow.arith import fold

            out = self.num(fold(term.op, (value, high), term.type))
            for i in range(high - 1, low - 1, -1):
                out = z3.If(count == i, self.num(fold(term.op, (value, i), term.type)), out)
            return out
        return self._unknown(term, thread)

    def _bits(self, term: Term, a: Z, thread: Thread) -> Z:
        mask = term.args[1].const
        low, high = thread.intervals.of(term.args[0])
        if mask is None or low < 0:
            return self._bits_of_two(term, thread)
        mask &= (1 << term.type.bits) - 1
        both = self._masked(a, mask & ((1 << max(1, high.bit_length())) - 1))
        match term.op:
            case "&":
                return both
            case "|":
                value = a + mask - both
            case _:
                value = a + mask - 2 * both
        return value if mask >> (term.type.bits - 1) == 0 or not term.type.signed else self._unknown(term, thread)

    def _bits_of_two(self, term: Term, thread: Thread) -> Z:
        a, b = term.args
        if term.op in ("|", "^"):
            for low_part, high_part in ((a, b), (b, a)):
                top = thread.intervals.of(low_part)
                if top[0] >= 0 and _zeros(high_part) >= top[1].bit_length():
                    return self.encode(a, thread) + self.encode(b, thread)
        value = self._unknown(term, thread)
        la, lb = thread.intervals.of(a)[0], thread.intervals.of(b)[0]
        if la >= 0 and lb >= 0:
            left, right = self.encode(a, thread), self.encode(b, thread)
            if term.op == "&":
                self.facts += [value <= left, value <= right]
            else:
                self.facts.append(value <= left + right)
        return value

    def _masked(self, a: Z, mask: int) -> Z:
        """``a & mask`` for ``a >= 0``: the sum of its runs of ones."""
        total: Z = self.num(0)
        position = 0
        while mask >> position:
            if not mask >> position & 1:
                position += 1
                continue
            width = 0
            while mask >> (position + width) & 1:
                width += 1
            run = a / self.num(1 << position) if position else a
            total = total + (run % self.num(1 << width)) * (1 << position)
            position += width
        return total


def _zeros(term: Term) -> int:
    """How many low bits of a term are certainly zero."""
    if term.const is not None:
        return (term.const & -term.const).bit_length() - 1 if term.const else 64
    if term.op == "<<" and term.args[1].const is not None:
        return int(term.args[1].const)
    if term.op == "*" and term.args[1].const is not None:
        return _zeros(term.args[1])
    if term.op == "cast" and term.args[0].type.kind == "int":
        return _zeros(term.args[0])
    return 0
