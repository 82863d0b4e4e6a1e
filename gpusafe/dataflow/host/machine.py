"""The state of one walk through a root function, and what every part of the executor does to it.

A walk is deterministic: where the program's next step is not known it asks :meth:`Machine.choose`, which follows a
recorded list of decisions and takes the first choice beyond its end. :mod:`gpusafe.dataflow.host.explore` repeats the
walk with other decisions until every path was seen, so no state is ever copied.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from gpusafe.dataflow.host import terms
from gpusafe.dataflow.host.handles import Captured, Context, StreamHandle
from gpusafe.dataflow.host.program import Home, Program
from gpusafe.dataflow.host.seen import launch_seen
from gpusafe.dataflow.host.signals import CutSignal, RestartSignal
from gpusafe.dataflow.host.values import Cell, Unknown, Value
from gpusafe.dataflow.host_sums import holds_anyway
from gpusafe.ir.expr import BOOL, USIZE, Expr, Op, Sym, Type
from gpusafe.ir.host import Enqueue, Frame, Gap, HostAccess, HostOp, MemAccess, Memory, MemRange, Stream, Sync, Turn
from gpusafe.ir.terms import children
from gpusafe.parse.rust import ast
from gpusafe.span import Span

MAX_STEPS = 150_000
MAX_OPS = 20_000
MAX_DEPTH = 48
_EXPRESSION_DEPTH = 160

ELEMENTS_LIMIT = 1 << 48  # an allocation that succeeds is smaller than the addresses that a device has
Operation = TypeVar("Operation", bound=HostOp)


@dataclass(slots=True, eq=False)
class Scope:
    """Variables of one block in order of declaration (a shadowed one stays until the end)."""

    variables: list[tuple[str, Cell]] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Call:
    """One function being walked; ``number`` tells its calls apart."""

    function: str
    span: Span
    home: Home
    at: Span
    scopes: list[Scope] = field(default_factory=list)
    temporaries: list[list[Cell]] = field(default_factory=list)
    types: dict[str, ast.Type] = field(default_factory=dict)
    owner: str | None = None
    key: str = ""
    number: int = 0


@dataclass(slots=True, eq=False)
class MemoryInfo:
    """An allocation while the walk runs; becomes a Memory at its end."""

    memory: Memory
    alive: bool = True


@dataclass(slots=True, eq=False)
class Decision:
    """One choice on the way: which of ``count`` alternatives was taken."""

    taken: int
    count: int


@dataclass(slots=True, eq=False)
class LoopWatch:
    """A loop (or call) that is being walked: whether its counter decided something that may not be ignored.

    ``host_only`` is its key when it can do no GPU work: it is passed over as a whole when it branches. ``moduli`` are
    the constants by which the counter was reduced (``i % 3``): a period must be a multiple of each. ``start``: how many
    operations there were before it.
    """

    reasons: list[str] = field(default_factory=list)
    moduli: set[int] = field(default_factory=set)
    open: bool = False
    host_only: str | None = None
    start: int = 0


@dataclass(frozen=True, slots=True)
class Hooks:
    """The parts of the executor that call each other: set once by :mod:`gpusafe.dataflow.host.explore`."""

    value: Callable[[Machine, ast.Expr, ast.Type | None], Value]
    place: Callable[[Machine, ast.Expr], Cell]
    block: Callable[[Machine, ast.Block, ast.Type | None], Value]
    bind: Callable[[Machine, ast.Pat, Cell, bool], bool | None]
    invoke: Callable[[Machine, Value, list[Value], Span], Value]
    method: Callable[[Machine, Cell, str, list[Value], ast.MethodCall], Value]
    drop: Callable[[Machine, Value, Span, str], None]
    call_method: Callable[[Machine, str, str, Cell, list[Value], Span], Value]


class _Deeper:
    """One level of nesting while it is entered (a class, because every expression enters one)."""

    __slots__ = ("_machine",)

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def __enter__(self) -> None:
        self._machine.depth += 1
        if self._machine.depth > _EXPRESSION_DEPTH:
            self._machine.depth -= 1
            raise CutSignal("expressions and calls are nested too deeply")

    def __exit__(self, *_: object) -> None:
        self._machine.depth -= 1


@dataclass(slots=True, eq=False)
class Machine:
    """One walk."""

    program: Program
    hooks: Hooks
    decisions: list[Decision]
    calls: list[Call] = field(default_factory=list)
    ops: list[HostOp] = field(default_factory=list)
    op_threads: dict[int, str] = field(default_factory=dict)
    guards: dict[int, str] = field(default_factory=dict)
    streams: dict[str, Stream] = field(default_factory=dict)
    memory: dict[str, MemoryInfo] = field(default_factory=dict)
    conditions: list[str] = field(default_factory=list)
    assumes: list[Expr] = field(default_factory=list)
    assumed: set[Expr] = field(default_factory=set)
    decided: dict[Expr, bool] = field(default_factory=dict)
    inputs: set[str] = field(default_factory=set)
    turns: list[Turn] = field(default_factory=list)
    generalised: list[str] = field(default_factory=list)
    closing_gaps: list[str] = field(default_factory=list)
    capture: dict[str, list[Captured]] = field(default_factory=dict)
    captured_events: dict[str, list[Captured]] = field(default_factory=dict)  # last recorded while a stream captured
    statics: dict[str, Cell] = field(default_factory=dict)
    loops: list[LoopWatch] = field(default_factory=list)
    atomics_shared: bool = False  # an atomic was made of memory that the device may share
    pending: set[str] = field(default_factory=set)
    visited: set[str] = field(default_factory=set)
    thread: str | None = None
    dry: bool = False
    singletons: dict[str, Any] = field(default_factory=dict)
    steps: int = 0
    hurried: bool = False  # the program has used up its steps: what cannot be concluded any more is not walked either
    lost: str = ""  # the first gap after which nothing is certain
    depth: int = 0
    expanding: int = 0  # how many macro calls the walk is in
    cursor: int = 0
    _counts: dict[str, int] = field(default_factory=dict)

    # -- bookkeeping ---------------------------------------------------------------------------------------------------

    @property
    def call(self) -> Call:
        """The innermost call."""
        return self.calls[-1]

    @property
    def home(self) -> Home:
        """Where the code being walked stands."""
        return self.calls[-1].home

    def fresh(self, kind: str) -> str:
        """A new identifier such as ``stream2``: the same on every walk that came the same way."""
        number = self._counts.get(kind, 0) + 1
        self._counts[kind] = number
        return f"{kind}{number}"

    def identifier_counts(self) -> dict[str, int]:
        """How many identifiers of each kind there are."""
        return dict(self._counts)

    def fixed_identifiers(self) -> frozenset[str]:
        """Streams and memory that are made once and stay: default streams, module symbols."""
        found: set[str] = set()
        for value in self.singletons.values():
            inner = getattr(getattr(value, "cell", None), "value", value)
            found.update(
                x for x in (getattr(inner, "ident", None), getattr(inner, "memory", None)) if isinstance(x, str)
            )
        return frozenset(found)

    def tick(self) -> None:
        """Counts a step and ends a walk that is too long."""
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise CutSignal("the function takes too many steps to walk")
        if len(self.ops) > MAX_OPS:
            raise CutSignal(f"more than {MAX_OPS} operations on one path")
        if self.hurried and self.lost:
            raise CutSignal(self.lost)

    def deeper(self) -> _Deeper:
        """Guards the depth of nested expressions."""
        return _Deeper(self)

    # -- decisions -----------------------------------------------------------------------------------------------------

    def choose(
        self, labels: tuple[str, ...], turn: bool = False, late: bool = False, unlikely: int | None = None
    ) -> int:
        """Which of several ways this walk goes; ``labels`` tell the user.

        ``turn``: nothing is known of the condition, nor how it goes with others (see :class:`gpusafe.ir.host.Turn`).
        ``late``: the first of the alternatives is walked last. ``unlikely``: the way that code is not written for.
        """
        if self.cursor < len(self.decisions):
            taken = self.decisions[self.cursor].taken
        else:
            for watch in self.loops:
                if watch.host_only is not None and all(isinstance(op, Gap) for op in self.ops[watch.start :]):
                    self.program.passed_over.add(watch.host_only)
                    raise RestartSignal
            self.program.forks[self.call.key] += 1
            self.decisions.append(Decision(0, len(labels)))
            taken = 0
        self.cursor += 1
        if late:
            taken = (taken + 1) % len(labels)
        if labels[taken]:
            self.conditions.append(labels[taken])
        if turn:
            site = (labels, *(call.at for call in self.calls))
            number = self._counts[f"turn {site}"] = self._counts.get(f"turn {site}", 0) + 1
            words = labels[taken] or labels[0]
            self.turns.append(Turn((*site, number), taken, words, len(self.ops), taken == unlikely))
        return taken

    def modelled(self, cond: Value) -> bool:
        """Whether a condition says all that is known of it: a term over the root's own arguments."""
        if not isinstance(cond, Expr):
            return False
        stack: list[Expr] = [cond]
        while stack:
            term = stack.pop()
            if isinstance(term, Sym) and term.name not in self.inputs:
                return False
            stack.extend(children(term))
        return True

    def decide(
        self,
        cond: Value,
        words: str,
        span: Span,
        structural: bool = False,
        *,
        late: bool = False,
        unlikely: int | None = None,
    ) -> bool:
        """The truth of a condition: known, implied by an earlier decision, or chosen.

        ``structural``: it may go either way whatever the others do (an assertion that holds). ``late``: that it is
        false is walked first. ``unlikely``: 1 where code is not written for its being false (a loop that never runs).
        """
        if isinstance(cond, bool):
            return cond
        if isinstance(cond, Expr):
            flipped = terms.invert(cond)
            if cond in self.decided:
                return self.decided[cond]
            if isinstance(flipped, Expr) and flipped in self.decided:
                return not self.decided[flipped]
        place = f" ({span.file}:{span.line})"
        turn = not structural and not self.modelled(cond)
        taken = self.choose((f"`{words}` is true{place}", f"`{words}` is false{place}"), turn, late, unlikely) == 0
        if isinstance(cond, Expr):
            self.decided[cond] = taken
            self.assume(cond if taken else terms.invert(cond))
        return taken

    def assume(self, cond: Value | None) -> None:
        """From here on a condition holds on this path: the program, or a successful call, saw to it."""
        if isinstance(cond, Expr) and cond.type == BOOL and cond not in self.assumed:
            self.assumed.add(cond)
            if not holds_anyway(cond):
                self.assumes.append(cond)

    # -- unknown scalars -----------------------------------------------------------------------------------------------

    def symbol(self, name: str, type_: Type = USIZE, low: int | None = None, high: int | None = None) -> Sym:
        """A fresh unknown of the host side."""
        count = self._counts.get(f"sym {name}", 0)
        self._counts[f"sym {name}"] = count + 1
        unique = name if count == 0 else f"{name}#{count + 1}"
        return Sym(type_, unique, low, high)

    def input(self, name: str, type_: Type = USIZE, low: int | None = None, high: int | None = None) -> Sym:
        """An unknown that the caller of the root function chooses."""
        made = self.symbol(name, type_, low, high)
        self.inputs.add(made.name)
        return made

    def note_modulus(self, modulus: int) -> None:
        """The counter of a loop was reduced by a constant: what the loop does may have that period."""
        for watch in self.loops:
            if watch.open:
                watch.moduli.add(abs(modulus))

    def note_counter(self, reason: str) -> None:
        """Remembers that a loop's counter decided something."""
        for watch in self.loops:
            if watch.open and reason not in watch.reasons:
                watch.reasons.append(reason)

    # -- operations ----------------------------------------------------------------------------------------------------

    def frames(self, span: Span) -> tuple[Frame, ...]:
        """The call stack with ``span`` as the innermost place."""
        outer = [Frame(c.function, c.span, c.at, c.number) for c in self.calls[:-1]]
        inner = self.calls[-1]
        return (*outer, Frame(inner.function, inner.span, span, inner.number))

    def next_call(self) -> int:
        """A number for one more call on this path."""
        self._counts["call"] = self._counts.get("call", 0) + 1
        return self._counts["call"]

    def emit(self, kind: type[Operation], span: Span, label: str, **parts: Any) -> Operation:
        """Appends an operation."""
        if kind is HostAccess and self.atomics_shared:
            self.gap(span, "the host may wait for the device through an atomic that both see, which is not modelled")
        op = kind(frames=self.frames(span), label=label, **parts)
        if self.thread is not None:
            self.op_threads[len(self.ops)] = self.thread
        self.ops.append(op)
        return op

    def gap(self, span: Span, reason: str, memory: tuple[str, ...] = ()) -> None:
        """Says that something here is not modelled."""
        if not memory:
            self.lost = self.lost or reason
        self.emit(Gap, span, reason, reason=reason, memory=memory)

    def end_capture(self, stream: StreamHandle) -> list[Captured]:
        """What a stream and those that joined it captured; none of them captures any more."""
        ops = self.capture.get(stream.ident, [])
        self.capture = {ident: kept for ident, kept in self.capture.items() if kept is not ops}
        self.captured_events = {ident: kept for ident, kept in self.captured_events.items() if kept is not ops}
        return ops

    def enqueue(self, stream: StreamHandle, what: str, span: Span, label: str, **parts: Any) -> None:
        """Puts work on a stream, or into the graph that the stream is capturing."""
        if what == "launch":
            self.program.launches.setdefault(launch_seen(span, **parts))
        recording = self.capture.get(stream.ident)
        if recording is not None and what != "graph":
            recording.append(
                Captured(
                    label,
                    parts.get("accesses", ()),
                    parts.get("kernel"),
                    parts.get("kernel_name", ""),
                    parts.get("shape"),
                    parts.get("args", ()),
                    span,
                )
            )
            return
        self.pending.add(stream.ident)
        self.emit(Enqueue, span, label, stream=stream.ident, what=what, **parts)
        if parts.get("blocks_host"):
            self.pending.discard(stream.ident)

    def sync(self, target: str, ident: str, span: Span, label: str) -> None:
        """The host waits for a stream, an event or a context."""
        self.emit(Sync, span, label, target=target, ident=ident)
        if target == "stream":
            self.pending.discard(ident)
        elif target == "context":
            self.pending = {s for s in self.pending if self.streams[s].context != ident}

    # -- streams and memory --------------------------------------------------------------------------------------------

    def new_stream(self, context: Context | None, kind: str, dialect: str, span: Span, name: str = "") -> StreamHandle:
        """A stream of a context."""
        ident = self.fresh("stream")
        owner = context.ident if context is not None else None
        self.streams[ident] = Stream(ident, kind, owner, name, span)
        return StreamHandle(ident, context, kind, dialect, name=name)

    def name_stream(self, handle: StreamHandle, name: str) -> None:
        """Gives a stream the name that the user calls it."""
        if not handle.name and name:
            handle.name = name
            self.streams[handle.ident] = replace(self.streams[handle.ident], name=name)

    def new_memory(self, kind: str, span: Span, **parts: Any) -> str:
        """An allocation; ``parts`` are the fields of Memory that are not defaults."""
        ident = self.fresh("mem")
        fields: dict[str, Any] = {"elem_bytes": None, "length": None, "context": None, "name": "", **parts}
        self.memory[ident] = MemoryInfo(Memory(ident=ident, kind=kind, span=span, **fields))
        if kind in ("device", "pinned", "unified"):
            self.assume(terms.binary(Op.LE, fields["length"], ELEMENTS_LIMIT))
        return ident

    def amend_memory(self, ident: str, **parts: Any) -> None:
        """Changes what is known about an allocation."""
        info = self.memory[ident]
        info.memory = replace(info.memory, **parts)

    def memory_name(self, ident: str) -> str:
        """What the user calls an allocation; a mark that :meth:`settled` replaces where that is not known yet."""
        return self.memory[ident].memory.name or f"\0{ident}\0"

    def settled(self, label: str) -> str:
        """A label with the marks of memory replaced by the names that the walk has found since."""
        parts = label.split("\0")
        for index in range(1, len(parts), 2):
            info = self.memory.get(parts[index])
            parts[index] = (info.memory.name if info is not None else "") or "a buffer"
        return "".join(parts)

    def span_access(self, memory: str, start: Value, size: Value | None, mode: str) -> MemAccess:
        """An access to ``size`` bytes (None: all the rest) from byte ``start``."""
        first = terms.as_term(start, USIZE)
        count = None if size is None else terms.as_term(size, USIZE)
        if first is None:
            first, count = terms.as_term(0, USIZE), None
        assert first is not None
        return MemAccess(MemRange(memory, first, count), mode)

    def whole(self, memory: str, mode: str) -> MemAccess:
        """An access to all of an allocation."""
        info = self.memory[memory].memory
        size = terms.mul(info.length, info.elem_bytes) if info.length is not None and info.elem_bytes else None
        return self.span_access(memory, 0, size, mode)

    # -- variables -----------------------------------------------------------------------------------------------------

    def declare(self, name: str, cell: Cell) -> None:
        """Adds a variable to the innermost scope."""
        self.call.scopes[-1].variables.append((name, cell))

    def lookup(self, name: str) -> Cell | None:
        """The variable that a name means here."""
        for scope in reversed(self.call.scopes):
            for known, cell in reversed(scope.variables):
                if known == name:
                    return cell
        return None

    def temporary(self, value: Value) -> Cell:
        """A place for an rvalue that lives until the end of the statement."""
        cell = Cell(value)
        if self.call.temporaries:
            self.call.temporaries[-1].append(cell)
        return cell

    # -- the other parts -----------------------------------------------------------------------------------------------

    def value(self, expr: ast.Expr, expect: ast.Type | None = None) -> Value:
        """The value of an expression, which the caller then owns."""
        return self.hooks.value(self, expr, expect)

    def place(self, expr: ast.Expr) -> Cell:
        """The place that an expression names (a temporary for an rvalue)."""
        return self.hooks.place(self, expr)

    def bind(self, pat: ast.Pat, cell: Cell, by_ref: bool = False) -> bool | None:
        """Matches a pattern and declares its variables; None when it is not known whether it matches."""
        return self.hooks.bind(self, pat, cell, by_ref)

    def invoke(self, callee: Value, args: list[Value], span: Span) -> Value:
        """Calls a closure or function value."""
        return self.hooks.invoke(self, callee, args, span)

    def drop(self, value: Value, span: Span, name: str = "") -> None:
        """Drops a value that the program owned."""
        self.hooks.drop(self, value, span, name)

    def invoke_drop(self, value: Value, span: Span) -> None:
        """Runs a type's own ``Drop::drop``."""
        self.hooks.call_method(self, getattr(value, "name", ""), "drop", Cell(value), [], span)

    def index_user(self, base: Cell, index: Value, span: Span) -> Value:
        """Runs a type's own ``Index::index``."""
        owner = getattr(base.value, "name", "")
        return self.hooks.call_method(self, owner, "index", base, [index], span)

    def source_text(self, node: ast.Node, limit: int = 60) -> str:
        """The source text of a node on one line."""
        span = node.span
        lines = self.program.lines(self.home) if self.home.file == span.file else []
        if not 0 < span.line <= len(lines):
            return "..."
        if span.line == span.end_line:
            text = lines[span.line - 1][span.col - 1 : span.end_col - 1]
        else:
            rest = " ".join(x.strip() for x in lines[span.line : span.end_line - 1])
            text = (
                f"{lines[span.line - 1][span.col - 1 :]} {rest} {lines[span.end_line - 1][: span.end_col - 1].strip()}"
            )
        text = " ".join(text.split())
        return text if len(text) <= limit else text[: limit - 3] + "..."

    def unknown(self, why: str, type_: ast.Type | None = None) -> Unknown:
        """A value that is not modelled."""
        return Unknown(why, type_)
