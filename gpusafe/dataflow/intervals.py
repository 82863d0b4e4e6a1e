"""Ranges of terms, from the ranges of registers and types and from the conditions on the way to a place.

A range is what the solver would need many steps for and what decides whether an operation can overflow at all.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

from gpusafe.dataflow.terms import Term, postorder
from gpusafe.ir.expr import Type

Range = tuple[int, int]
WIDE: Range = (-(1 << 130), 1 << 130)
MAX_THREADS = 1024  # of one block; CUDA Programming Guide, technical specifications per compute capability
LIMITS: Mapping[str, Range] = {
    "ntid.x": (1, 1024), "ntid.y": (1, 1024), "ntid.z": (1, 64),
    "nctaid.x": (1, 2**31 - 1), "nctaid.y": (1, 65535), "nctaid.z": (1, 65535),
    "laneid": (0, 31), "warpid": (0, 31), "cluster_ctarank": (0, 15), "cluster_nctarank": (1, 16),
}  # fmt: skip
_INDICES = ("tid.", "ctaid.", "ntid.", "nctaid.", "laneid")  # all below 2^31
SWAPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}


class Intervals:
    """Ranges of terms under the conditions given to :meth:`assume`."""

    def __init__(self, specials: Mapping[str, Term]) -> None:
        self.specials = specials
        self._memo: dict[int, Range] = {}
        self._raw: dict[int, Range] = {}
        self._known: dict[int, Range] = {}
        self._products: dict[frozenset[Hashable], Range] = {}

    def copy(self) -> Intervals:
        """An independent copy, to assume more."""
        out = Intervals(self.specials)
        out._known = dict(self._known)
        out._products = dict(self._products)
        return out

    def of(self, term: Term) -> Range:
        """The range of a term's value."""
        self._fill(term)
        return self._memo[term.id]

    def raw(self, term: Term) -> Range:
        """The range of the operation's result before it is wrapped into its type."""
        self._fill(term)
        return self._raw.get(term.id, self._memo[term.id])

    def fits(self, term: Term) -> bool:
        """Whether the operation cannot overflow."""
        low, high = self.raw(term)
        return term.type.kind != "int" or (term.type.low <= low and high <= term.type.high)

    def _fill(self, root: Term) -> None:
        if root.id in self._memo:
            return
        for term in postorder([root]):
            if term.id not in self._memo:
                raw = self._compute(term)
                self._raw[term.id] = raw
                value = raw
                if term.type.kind == "int" and term.op != "sum":
                    value = self._wrapped(term, raw)
                self._memo[term.id] = _meet(value, self._known.get(term.id))

    @staticmethod
    def _wrapped(term: Term, raw: Range) -> Range:
        low, high = term.type.low, term.type.high
        if low <= raw[0] and raw[1] <= high:
            return raw
        if term.op in ("ind", "iter") or (term.data is True and term.op in ("+", "-", "*", "cast")):
            return _meet((low, high), raw)
        return low, high

    def _compute(self, term: Term) -> Range:
        if term.const is not None:
            return int(term.const), int(term.const)
        if term.type.kind == "bool":
            return 0, 1
        whole = (term.type.low, term.type.high) if term.type.kind == "int" else WIDE
        args = [self._memo[a.id] for a in term.args]
        match term.op:
            case "special":
                return self._special(str(term.data), whole)
            case "iter":
                return 0, 1 << 62
            case "length":
                return 0, (1 << 63) - 1
            case "sym":
                _, low, high = term.data
                return _meet(whole, (whole[0] if low is None else low, whole[1] if high is None else high))
            case "ind":
                sign = int(str(term.data))
                count = (max(0, args[2][0]), max(0, args[2][1]))  # before the first iteration it is the initial value
                product = _product(args[1], count)
                moved = product if sign > 0 else (-product[1], -product[0])
                return args[0][0] + moved[0], args[0][1] + moved[1]
            case "sum":
                return args[0][0] + args[1][0], args[0][1] + args[1][1]
            case "table":
                values = term.data[0]
                return min(values), max(values)
            case "select":
                return min(args[1][0], args[2][0]), max(args[1][1], args[2][1])
            case "cast":
                return self._cast(term, args[0], whole)
            case "popc" | "clz" | "ctz":
                return 0, term.type.bits
            case "~":
                return (-1 - args[0][1], -1 - args[0][0]) if term.type.signed else whole
            case "neg":
                return -args[0][1], -args[0][0]
            case "abs":
                return 0, max(abs(args[0][0]), abs(args[0][1]))
        value = _binary(term.op, args, whole)
        if term.op in "+*" and term.type.kind == "int":
            value = _meet(value, self._in_grid(term))
        return value

    def _in_grid(self, term: Term) -> Range | None:
        """A known bound of a product; ``ctaid * ntid (+ tid)`` is below ``nctaid * ntid``."""
        product, extra = term, None
        if term.op == "+":
            a, b = (core(x) for x in term.args)
            product, extra = (a, b) if a.op == "*" else (b, a)
        if product.op != "*":
            return None
        names = frozenset(_identity(x) for x in product.args)
        if extra is None and names in self._products:
            return self._products[names]
        for axis in "xyz":
            if names == {f"ctaid.{axis}", f"ntid.{axis}"} and (extra is None or _identity(extra) == f"tid.{axis}"):
                whole = self._products.get(frozenset((f"nctaid.{axis}", f"ntid.{axis}")))
                return (0, whole[1] - 1) if whole is not None else None
        return None

    def _special(self, name: str, whole: Range) -> Range:
        known = LIMITS.get(name)
        if known is not None:
            return known
        register, _, axis = name.partition(".")
        if register in ("tid", "ctaid") and axis:
            extent = f"n{register}.{axis}"
            bound = self.specials.get(extent)
            limit = LIMITS[extent]
            return 0, max(0, min(limit[1], self.of(bound)[1] if bound is not None else limit[1]) - 1)
        return whole

    @staticmethod
    def _cast(term: Term, arg: Range, whole: Range) -> Range:
        source = term.args[0].type
        if source.kind == "bool":
            return 0, 1
        if source.kind != "int":
            return whole
        return arg if whole[0] <= arg[0] and arg[1] <= whole[1] else (min(arg[0], whole[0]), max(arg[1], whole[1]))

    def assume(self, conds: Iterable[Term]) -> None:
        """Narrows the ranges by conditions that hold."""
        flat: list[Term] = []
        stack = list(conds)
        while stack:
            cond = stack.pop()
            if cond.op == "&&":
                stack.extend(cond.args)
            elif cond.op in SWAPPED and cond.args[0].type.kind == "int":
                flat.append(cond)
        for _ in range(2):
            for cond in flat:
                a, b = cond.args
                self._narrow(a, cond.op, self.of(b))
                self._narrow(b, SWAPPED[cond.op], self.of(a))

    def _narrow(self, term: Term, op: str, other: Range) -> None:
        low, high = self.of(term)
        new = (low, high)
        if op in ("<", "<="):
            new = (low, min(high, other[1] - (op == "<")))
        elif op in (">", ">="):
            new = (max(low, other[0] + (op == ">")), high)
        elif op == "==":
            new = (max(low, other[0]), min(high, other[1]))
        elif other[0] == other[1]:
            new = (low + (low == other[0]), high - (high == other[0]))
        self._set(term, new)

    def _set(self, term: Term, new: Range) -> None:
        while new != self.of(term) and new[0] <= new[1]:
            fits = self.fits(term)
            self._known[term.id] = _meet(self._known.get(term.id, new), new)
            if term.op == "*" and (fits or term.data is True):  # a wrapped result says nothing of the product
                self._products[frozenset(_identity(a) for a in term.args)] = self._known[term.id]
            self._memo.clear()
            self._raw.clear()
            inner = self._inverse(term, new) if fits or term.op == "ind" else None
            if inner is None:
                return
            term, new = inner[0], _meet(self.of(inner[0]), inner[1])

    def _inverse(self, term: Term, new: Range) -> tuple[Term, Range] | None:
        """What a range of ``term`` says about the one argument that is not constant."""
        if term.op == "cast" and term.args[0].type.kind == "int":
            return term.args[0], new
        if term.op == "+" and term.args[1].const is not None:
            by = int(term.args[1].const)
            return term.args[0], (new[0] - by, new[1] - by)
        if term.op == "*" and term.args[1].const is not None and term.args[1].const > 0:
            by = int(term.args[1].const)
            return term.args[0], (-(-new[0] // by), new[1] // by)
        if term.op == "ind":
            init, step = self.of(term.args[0]), self.of(term.args[1])
            if step[0] > 0:
                room = new[1] - init[0] if str(term.data) == "1" else init[1] - new[0]
                return term.args[2], (min(0, self.of(term.args[2])[0]), max(0, room // step[0]))
        if term.op == "+" and term.args[0].const is None:
            a, b = (self.of(x) for x in term.args)
            if a[0] >= 0 and b[0] >= 0:
                return term.args[0], (a[0], new[1] - b[0])
        return None


def core(term: Term) -> Term:
    """The term under conversions that cannot change its value."""
    while term.op == "cast" and term.args[0].type.kind == "int":
        source, target = term.args[0].type, term.type
        index = term.args[0].op == "special" and str(term.args[0].data).startswith(_INDICES) and target.bits >= 32
        if not index and not (target.low <= source.low and source.high <= target.high):
            break
        term = term.args[0]
    return term


def _identity(term: Term) -> Hashable:
    inner = core(term)
    return str(inner.data) if inner.op == "special" else inner.id


def _meet(a: Range, b: Range | None) -> Range:
    if b is None:
        return a
    low, high = max(a[0], b[0]), min(a[1], b[1])
    return (low, high) if low <= high else a


def _product(a: Range, b: Range) -> Range:
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)


def _binary(op: str, args: list[Range], whole: Range) -> Range:
    """The exact range of a binary operation on ranges, or the whole type."""
    if len(args) != 2:
        return whole
    (a, b), (c, d) = args
    match op:
        case "+":
            return a + c, b + d
        case "-":
            return a - d, b - c
        case "*":
            return _product((a, b), (c, d))
        case "min":
            return min(a, c), min(b, d)
        case "max":
            return max(a, c), max(b, d)
        case "/" if c > 0:
            corners = [_trunc(x, y) for x in (a, b) for y in (c, d)]
            return min(corners), max(corners)
        case "%" if c > 0 and a >= 0 and b < c:
            return a, b
        case "%" if c > 0:
            top = d - 1
            return (max(a, -top) if a < 0 else 0), (min(b, top) if b > 0 else 0)
        case ">>" if 0 <= c <= d < 200:
            corners = [x >> y for x in (a, b) for y in (c, d)]
            return min(corners), max(corners)
        case "<<" if 0 <= c <= d < 64:
            corners = [x << y for x in (a, b) for y in (c, d)]
            return min(corners), max(corners)
        case "&" if a >= 0 and c >= 0:
            return 0, min(b, d)
        case "&" if a >= 0 or c >= 0:
            return 0, b if a >= 0 else d
        case "|" | "^" if a >= 0 and c >= 0:
            top = (1 << max(b.bit_length(), d.bit_length())) - 1
            return (max(a, c) if op == "|" else 0), top
    return whole


def _trunc(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return -quotient if (a < 0) != (b < 0) else quotient


def type_range(type_: Type) -> Range:
    """All values of an integer type."""
    return type_.low, type_.high
