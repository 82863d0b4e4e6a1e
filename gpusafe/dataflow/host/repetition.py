"""When the iterations of a loop repeat: the same operations on the same objects, or on those of the same age.

Identifiers made before the loop stand for themselves; those made inside are named by how many iterations ago and in
which order, so that "the event of the previous round" is the same in every round. Byte ranges may advance by a constant
from period to period.

Integers that the loop carries are part of its state: either they repeat with the period too, or they count
(:class:`terms.Counter` from then on), and what a counter decides is noted by the machine.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, is_dataclass

from gpusafe.dataflow.host import terms
from gpusafe.dataflow.host.handles import Buffer, Context, EventHandle, Guard, StreamHandle, View
from gpusafe.dataflow.host.machine import LoopWatch, Machine
from gpusafe.dataflow.host.values import MOVED, Cell, ClosureVal, RefVal, SeqVal, SharedVal, StructVal, TupleVal, Value
from gpusafe.ir.expr import Const, Expr, Sym
from gpusafe.ir.host import Enqueue, Frame, HostAccess, LaunchArg, MemRange
from gpusafe.span import Span

MAX_ITERATIONS = 12
_PERIODS = (1, 2, 3, 4)
_IDENT = re.compile(r"^(stream|mem|event|thread|ctx)(\d+)$")


@dataclass(slots=True)
class Round:
    """What one iteration did: a shape with placeholders, the numbers that may advance, and the state it left.

    ``integers`` are the known integers of the state in order; ``reasons`` and ``moduli`` what counters decided in it.
    """

    shape: tuple[object, ...] = ()
    numbers: tuple[int, ...] = ()
    state: tuple[object, ...] = ()
    integers: tuple[int, ...] = ()
    reasons: tuple[str, ...] = ()
    moduli: frozenset[int] = frozenset()
    ops: range = range(0)


@dataclass(slots=True, init=False)
class Repetition:
    """Watches the iterations of one loop."""

    counts: list[dict[str, int]]
    done: list[Round]
    start: int
    has_work: bool
    rounds: int
    cursor: int
    fixed: frozenset[str]
    history: dict[int, list[int]]
    marked: set[int]
    cells: list[Cell]
    why: str

    def __init__(self, m: Machine) -> None:
        self.counts = []
        self.done = []
        self.start = len(m.ops)
        self.has_work = False
        self.rounds = 0
        self.fixed = frozenset()
        self.cursor = m.cursor
        self.history = {}
        self.marked = set()
        self.cells = []
        self.why = "its iterations do not repeat"

    def begin(self, m: Machine, watch: LoopWatch) -> None:
        """An iteration begins: what counters decide is noted for it alone."""
        if not self.rounds:
            self._count(_integers(m, self))
        watch.reasons.clear()
        watch.moduli.clear()
        self.counts.append(m.identifier_counts())
        self.start = len(m.ops)
        self.rounds += 1
        self.cursor = m.cursor

    def finished(self, m: Machine) -> str | None:
        """What an iteration without operations means: it was chosen (``prune`` or ``end``), or None to go on.

        A choice that makes an iteration do nothing gives the same path as fewer iterations: its first alternative ends
        the loop, the others are left out.
        """
        if len(m.ops) != self.start:
            self.has_work = True
            return None
        taken = [d.taken for d in m.decisions[self.cursor : m.cursor]]
        if not taken:
            return None
        return "prune" if taken[-1] else "end"

    def period(self, m: Machine, watch: LoopWatch) -> int | None:
        """The period with which the last iterations repeat without a counter's doing, None when they do not yet."""
        self.fixed = m.fixed_identifiers()
        self.done.append(self._describe(m, watch))
        for period in _PERIODS:
            if len(self.done) >= 3 * period and self._repeats(period):
                window = self.done[-3 * period :]
                if any(period % modulus for r in window for modulus in r.moduli):
                    continue
                if not any(r.reasons for r in window):
                    return period
                self.why = next(reason for r in window for reason in r.reasons)
        return None

    def _count(self, cells: list[Cell]) -> None:
        """Integers that take a value which they did not have before count; those that come back to one do not."""
        for cell in cells:
            value = terms.known(cell.value)
            assert value is not None
            past = self.history.setdefault(id(cell), [])
            if past and value not in past:
                self.marked.add(id(cell))
                cell.value = terms.Counter(value)
            elif id(cell) in self.marked and _periodic([*past, value]):
                cell.value = int(value)
            past.append(value)
            self.cells.append(cell)  # keeps it alive, so that its id stays its own

    def _repeats(self, period: int) -> bool:
        last = self.done[-3 * period :]
        for first, second, third in zip(last[:period], last[period : 2 * period], last[2 * period :], strict=True):
            if first.shape != second.shape or second.shape != third.shape or second.state != third.state:
                return False
            for a, b, c in zip(first.numbers, second.numbers, third.numbers, strict=True):
                if c - b != b - a:
                    return False
            if not (len(first.integers) == len(second.integers) == len(third.integers)):
                return False
            for a, b, c in zip(first.integers, second.integers, third.integers, strict=True):
                if not (a == b == c) and not all(isinstance(n, terms.Counter) for n in (a, b, c)):
                    return False
        return True

    def _describe(self, m: Machine, watch: LoopWatch) -> Round:
        numbers: list[int] = []
        shape = tuple(_shape(op, self, numbers, False) for op in m.ops[self.start :])
        cells = _integers(m, self)
        self._count(cells)
        integers = tuple(_integer(c) for c in cells)
        reasons, moduli = tuple(watch.reasons), frozenset(watch.moduli)
        ops = range(self.start, len(m.ops))
        return Round(shape, tuple(numbers), _state(m, self), integers, reasons, moduli, ops)

    def last(self, period: int) -> tuple[range, range]:
        """The operations of the last period, and of the one before it."""
        now, before = self.done[-period:], self.done[-2 * period : -period]
        return range(now[0].ops.start, now[-1].ops.stop), range(before[0].ops.start, before[-1].ops.stop)

    def relative(self, ident: str) -> object:
        """The name of an object that is the same in every iteration."""
        match = _IDENT.match(ident)
        if match is None:
            return ident
        if ident in self.fixed:
            return ident
        kind, number = match[1], int(match[2])
        if not self.counts or number <= self.counts[0].get(kind, 0):
            return ident
        for age, counts in enumerate(reversed(self.counts)):
            if number > counts.get(kind, 0):
                return (kind, age, number - counts.get(kind, 0))
        return ident


def _shape(part: object, loop: Repetition, numbers: list[int], exact: bool) -> object:
    match part:
        case str():
            return loop.relative(part)
        case Span() | None | bool() | float():
            return part
        case int():
            return part
        case Sym(name=name):
            return ("sym", name.split("#")[0])
        case Const(value=int(value)) if exact:
            numbers.append(value)
            return "n"
        case Const():
            return "scalar"
        case Frame(function=function, at=at):
            return (function, at)
        case LaunchArg(kind="scalar"):
            return "scalar"
        case MemRange(memory=memory, start=start, size=size):
            return (loop.relative(memory), _shape(start, loop, numbers, True), _shape(size, loop, numbers, True))
        case tuple():
            return tuple(_shape(p, loop, numbers, exact) for p in part)
        case Enqueue() | HostAccess() | Expr():
            pass
    if is_dataclass(part):
        names = [f.name for f in fields(part) if f.name not in ("label", "reason")]
        return (type(part).__name__, *(_shape(getattr(part, n), loop, numbers, exact) for n in names))
    return repr(part)


def _integer(cell: Cell) -> int:
    known = terms.known(cell.value)
    assert known is not None
    return known


def _periodic(values: list[int]) -> bool:
    """Whether the last values repeat with a small period."""
    return (
        any(len(values) > p and values[-p:] == values[-2 * p : -p] for p in _PERIODS) or values[-1] in values[:-1][-4:]
    )


@dataclass(slots=True)
class _Seen:
    loop: Repetition
    cells: dict[int, int] = field(default_factory=dict)
    integers: list[Cell] = field(default_factory=list)


def _integers(m: Machine, loop: Repetition) -> list[Cell]:
    """The places of known integers among the variables of the present call, in order."""
    seen = _Seen(loop)
    for scope in m.call.scopes:
        for _, cell in scope.variables:
            _inside(cell, seen, 0)
    return seen.integers


def _state(m: Machine, loop: Repetition) -> tuple[object, ...]:
    """Who holds what: the variables of the present call, values abstracted to handles and ownership."""
    seen = _Seen(loop)
    variables = [cell for scope in m.call.scopes for _, cell in scope.variables]
    captured = tuple(sorted((k, len(v)) for k, v in m.capture.items()))
    return (captured, *(_inside(c, seen, -1) for c in variables))


def _held(value: Value, seen: _Seen, depth: int) -> object:
    if value is MOVED:
        return "moved"
    if depth > 10 or id(value) in seen.cells:
        return "again"
    match value:
        case Buffer(memory=memory, release=release):
            return ("buffer", seen.loop.relative(memory), release)
        case View(buffer=buffer):
            return ("view", seen.loop.relative(buffer.memory))
        case StreamHandle(ident=ident) | EventHandle(ident=ident):
            return seen.loop.relative(ident)
        case Context(ident=ident, counted=counted, tracking=tracking):
            return (ident, counted if counted < 2 else 2, tracking)
        case Guard(event=event):
            return ("guard", seen.loop.relative(event.ident) if event else None)
        case RefVal(cell=cell):
            return _inside(cell, seen, depth)
        case SharedVal(box=box):
            return ("shared", _inside(box.cell, seen, depth))
        case StructVal(name=name, variant=variant, fields=parts):
            seen.cells[id(value)] = 1
            return (name, variant, *(_inside(c, seen, depth) for c in parts.values()))
        case TupleVal(items=items):
            return tuple(_inside(c, seen, depth) for c in items)
        case SeqVal(items=items, memory=memory):
            return _sequence(items, memory, seen, depth)
        case ClosureVal(owned=owned):
            return tuple(_inside(c, seen, depth) for c in owned)
    return "plain"


def _inside(cell: Cell, seen: _Seen, depth: int) -> object:
    value = cell.value
    if isinstance(value, (bool, str)):
        return value
    if terms.known(value) is not None and id(cell) not in seen.cells:
        seen.cells[id(cell)] = 1
        seen.integers.append(cell)
        return "integer"
    return _held(value, seen, depth + 1)


def _sequence(items: list[Cell] | None, memory: str | None, seen: _Seen, depth: int) -> object:
    known = seen.loop.relative(memory) if memory is not None else None
    if items is None or len(items) > 64:
        return ("sequence", known)
    held = [_inside(c, seen, depth) for c in items]
    if all(isinstance(h, str) and h in ("plain", "moved", "integer") for h in held):
        return ("sequence", known)
    recent = [h for h in held if not _older(h)]
    return ("sequence", known, len(held) if len(recent) == len(held) else "grows", *recent)


def _older(held: object) -> bool:
    """Whether something was made in this loop but before the last two iterations: a list that only grows."""
    match held:
        case (str(), int(age), int()):
            return age > 1
        case tuple():
            return any(_older(h) for h in held)
    return False
