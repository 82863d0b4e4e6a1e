"""Single statements of a thread: what they read and write, as events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gpusafe.dataflow.concrete.evaluate import UNKNOWN, Unknowable
from gpusafe.dataflow.concrete.statements import updated
from gpusafe.ir import kernel as ir
from gpusafe.ir.expr import Expr, PtrAdd, Type
from gpusafe.ir.kernel import Order, Scope, Space
from gpusafe.parse.litmus import Location, Place
from gpusafe.prove.memory_model.events import Event
from gpusafe.prove.memory_model.hand_over import SCOPES
from gpusafe.prove.protocols.state import CONTENTS, State
from gpusafe.prove.protocols.way import UNTOLD, WHOLE, Cell, Use, Who
from gpusafe.prove.protocols.world import World, known, name_of, told
from gpusafe.span import Span

ACQUIRING = frozenset({Order.ACQUIRE, Order.ACQ_REL, Order.SEQ_CST})
RELEASING = frozenset({Order.RELEASE, Order.ACQ_REL, Order.SEQ_CST})
FENCES = {Order.ACQUIRE: "acquire", Order.RELEASE: "release", Order.ACQ_REL: "acq_rel", Order.SEQ_CST: "sc"}


def _plain(volatile: bool) -> None:
    """Stops at a volatile access of a signal: the machine takes it as an atomic one, the language does not."""
    if volatile:
        raise Unknowable("a volatile access meets an atomic")


class Steps:
    """One thread's statements but for control flow; ``todo`` takes the states of other values that are read."""

    def __init__(self, world: World, who: Who, number: int) -> None:
        self.world = world
        self.who = who
        self.number = number
        grid = world.launch.grid
        x, y, z = who.block
        self.place = Place(x + grid[0] * (y + grid[1] * z), None, 0)
        self.todo: list[State] = []
        self.tracked: dict[Any, dict[int, int]] = {}
        for place, offset, size in world.values:
            self.tracked.setdefault(place, {})[offset] = size

    def straight(self, state: State, stmt: ir.Stmt) -> bool:
        match stmt:
            case ir.Assign(var=var, value=value):
                state.assign(var, self._value(state, value), self._taint(state, value))
            case ir.Havoc(var=var):
                state.assign(var, UNKNOWN, 0)
            case ir.Load(ptr=ptr, span=span):
                return self._load(state, stmt, self._at(state, ptr, stmt.type.bytes, span))
            case ir.Store(ptr=ptr, size=size, span=span):
                self._store(state, stmt, self._at(state, ptr, size, span))
            case ir.ExclusiveBorrow(ptr=ptr, size=size, span=span):
                where = self._at(state, ptr, size, span)
                if self._is_local(where[0]):
                    return True
                self._use(state, where, size, "borrow", span)
            case ir.Atomic():
                return self._atomic(state, stmt)
            case ir.Fence(order=order, scope=scope, span=span):
                if order in FENCES:
                    self._fence(state, FENCES[order], SCOPES[scope], span)
            case _:
                raise Unknowable(f"{type(stmt).__name__} takes part")
        return True

    def _value(self, state: State, expr: Expr) -> Any:
        return self.world.code.compiled(expr)[1](state.env)

    def _taint(self, state: State, expr: Expr) -> int:
        out = 0
        if state.taint:
            for name in self.world.code.compiled(expr)[2]:
                out |= state.taint.get(name, 0)
        return out

    def _at(self, state: State, ptr: Expr, size: int, span: Span) -> tuple[Any, int, int]:
        """Where an access goes: its place, the byte offset (``-1``: anywhere), and what the address depends on."""
        taint = self._taint(state, ptr)
        found = self._value(state, ptr)
        if found is UNKNOWN:
            base = ptr
            while isinstance(base, PtrAdd):
                base = base.ptr
            found = self._value(state, base)
            if found is UNKNOWN or self.world.charitable:
                raise Unknowable("an address is not known")
            found = (found[0], -1)
        region, offset = found
        if region in self.world.launch.same_memory:
            region, start = self.world.launch.same_memory[region]
            offset = offset + start if offset >= 0 else offset
        space = self.world.spaces.get(region)
        length = self.world.lengths.get(region)
        if space is None:
            raise Unknowable("an address leads into memory that is not known")
        if offset >= 0 and length is not None and offset + size > length:
            raise Unknowable(f"an access in line {span.line} leaves its array")
        match space:
            case Space.SHARED | Space.DYNAMIC_SHARED:
                return (region, self.who.block), offset, taint
            case Space.LOCAL:
                return ("local", region), offset, taint
        return region, offset, taint

    @staticmethod
    def _is_local(place: Any) -> bool:
        return isinstance(place, tuple) and place[0] == "local"

    def _cell(self, place: Any, offset: int, size: int) -> Cell | None:
        """The cell of atomics that an access falls into; they must have the same size."""
        near = self.tracked.get(place)
        if near is None:
            return None
        if near.get(offset) == size:
            return (place, offset, size)
        if offset < 0 or any(at < offset + size and offset < at + near[at] for at in near):
            raise Unknowable("accesses of different sizes meet at an atomic")
        return None

    def _use(
        self, state: State, where: tuple[Any, int, int], size: int, mode: str, span: Span, volatile: bool = False
    ) -> None:
        place, offset, taint = where
        at, size = (0, WHOLE) if offset < 0 else (offset, size)
        data, branch = bool(taint & CONTENTS), bool(state.control & CONTENTS)
        state.open[Use(place, at, size, mode != "read", mode, span, data, branch, volatile)] = None

    def _load(self, state: State, stmt: ir.Load, where: tuple[Any, int, int]) -> bool:
        place, offset, taint = where
        size = stmt.type.bytes
        if self._is_local(place):
            held, own = state.local.get((place, offset, size), (UNKNOWN, 0))
            state.assign(stmt.var, held, taint | own)
            return True
        cell = self._cell(place, offset, size)
        if cell is not None:
            _plain(stmt.volatile)
            return self._choose(state, cell, lambda s, v: self._read(s, stmt, cell, v, "weak", "sys", stmt.type))
        if stmt.volatile and self.world.charitable:
            self._seen(state, stmt.span)
        self._use(state, where, size, "read", stmt.span, stmt.volatile)
        value: Any = UNKNOWN
        if self.world.charitable and isinstance(place, str) and place not in self.world.written and offset >= 0:
            value = self.world.launch.contents(place, offset, stmt.type)
        state.assign(stmt.var, value, taint | CONTENTS)
        return True

    def _seen(self, state: State, span: Span) -> None:
        """Grants a volatile read the order after the signals that were read before it.

        CUDA's older manuals read what another block published by a fence through a volatile pointer, with no fence of
        the reader's own. The memory model does not promise that order, but it is no error to point at either.
        """
        self._flush(state)
        self._fence(state, FENCES[Order.ACQUIRE], SCOPES[Scope.SYSTEM], span)

    def _store(self, state: State, stmt: ir.Store, where: tuple[Any, int, int]) -> None:
        place, offset, taint = where
        value = self._value(state, stmt.value)
        if self._is_local(place):
            for key in [k for k in state.local if k[0] == place and (offset < 0 or _near(k, offset, stmt.size))]:
                del state.local[key]
            state.local[place, offset, stmt.size] = (value, taint | self._taint(state, stmt.value))
            return
        cell = self._cell(place, offset, stmt.size)
        if cell is None:
            self._use(state, where, stmt.size, "write", stmt.span, stmt.volatile)
            return
        _plain(stmt.volatile)
        self._flush(state)
        depends = taint | self._taint(state, stmt.value)
        state.emit(self._event(state, "W", cell, told(value, cell), "weak", "sys", depends), stmt.span)

    def _choose(self, state: State, cell: Cell, go: Callable[[State, int], None]) -> bool:
        """Forks for each value that a cell may hold."""
        self._flush(state)
        values = self.world.values.get(cell, (self.initial(cell),))
        for value in values[1:]:
            other = state.copy()
            go(other, value)
            self.todo.append(other)
        go(state, values[0])
        return True

    def initial(self, cell: Cell) -> int:
        """What a cell holds when the kernel starts: zero is assumed of global memory, nothing of shared memory."""
        return 0 if isinstance(cell[0], str) else UNTOLD

    def _read(
        self, state: State, stmt: ir.Load | ir.Atomic, cell: Cell, value: int, order: str, scope: str, type_: Type
    ) -> None:
        taint = 1 << len(state.events)
        state.emit(self._event(state, "R", cell, value, order, scope, 0), stmt.span)
        state.assign(stmt.var, known(value, type_), taint)

    def _atomic(self, state: State, stmt: ir.Atomic) -> bool:
        size = stmt.type.bytes
        place, offset, taint = self._at(state, stmt.ptr, size, stmt.span)
        if offset < 0:
            raise Unknowable("an address of an atomic is not known")
        if self._is_local(place):
            raise Unknowable("an atomic of a thread's own memory")
        cell = self._cell(place, offset, size) or (place, offset, size)
        self.world.found.add(cell)
        scope = SCOPES[stmt.scope]
        self._flush(state)
        if stmt.order is Order.SEQ_CST:
            self._fence(state, "sc", scope, stmt.span)
        if stmt.op == "store":
            value = self._value(state, stmt.operands[0])
            depends = taint | self._taint(state, stmt.operands[0])
            order = "release" if stmt.order in RELEASING else "relaxed"
            state.emit(self._event(state, "W", cell, told(value, cell), order, scope, depends), stmt.span)
            return True
        if stmt.op == "load":
            order = "acquire" if stmt.order in ACQUIRING else "relaxed"
            return self._choose(state, cell, lambda s, v: self._read(s, stmt, cell, v, order, scope, stmt.type))
        return self._choose(state, cell, lambda s, v: self._modify(s, stmt, cell, v, taint))

    def _modify(self, state: State, stmt: ir.Atomic, cell: Cell, old: int, taint: int) -> None:
        """An atomic read-modify-write that reads ``old``."""
        operands = [self._value(state, o) for o in stmt.operands]
        depends = taint
        for operand in stmt.operands:
            depends |= self._taint(state, operand)
        here = len(state.events)
        value = known(old, stmt.type)
        new = updated(stmt.op, value, operands, stmt.type)
        swaps = stmt.op == "cas"
        done = True
        if swaps:
            if value is UNKNOWN or operands[0] is UNKNOWN:
                raise Unknowable("a compare-exchange of a value that is not known")
            done = value == operands[0]
        acquires = stmt.order in ACQUIRING or (not done and self._acquires_failing(stmt))
        if swaps and not done and not self.world.charitable:
            acquires = self._acquires_failing(stmt)
        scope = SCOPES[stmt.scope]
        read = self._event(state, "R", cell, old, "acquire" if acquires else "relaxed", scope, depends)
        if stmt.var is None and stmt.success is None and not self.world.charitable:
            read = replace(read, acquires=False)
        state.emit(read, stmt.span)
        if done:
            order = "release" if stmt.order in RELEASING else "relaxed"
            state.emit(
                self._event(state, "W", cell, told(new, cell), order, scope, depends | 1 << here, pair=here), stmt.span
            )
        state.assign(stmt.var, value, 1 << here)
        state.assign(stmt.success, done, 1 << here)

    @staticmethod
    def _acquires_failing(stmt: ir.Atomic) -> bool:
        return (stmt.failure_order if stmt.failure_order is not None else stmt.order) in ACQUIRING

    def _fence(self, state: State, order: str, scope: str, span: Span) -> None:
        self._flush(state)
        text = f"fence.{order}.{scope}"
        state.emit(
            Event("F", self.number, order, scope, text=text, place=self.place, depends=self._bits(state, 0)), span
        )

    def _flush(self, state: State) -> None:
        """Makes one event of the plain accesses since the last one."""
        if state.open:
            uses = tuple(state.open)
            state.open.clear()
            state.emit(Event("D", self.number, text="plain accesses", place=self.place), None, uses)

    def _cell_of(self, event: Event) -> Cell:
        assert event.location is not None
        return self.world.cells[event.location.cell]

    def _bits(self, state: State, depends: int) -> int:
        return (depends | state.control) & (CONTENTS - 1)

    def _event(
        self, state: State, kind: str, cell: Cell, value: int, order: str, scope: str, depends: int,
        pair: int | None = None,
    ) -> Event:  # fmt: skip
        name = name_of(cell)
        self.world.cells[name] = cell
        depends = self._bits(state, depends)
        location = Location(name, name)
        return Event(
            kind,
            self.number,
            order,
            scope,
            location=location,
            value=value,
            depends=depends,
            pair=pair,
            place=self.place,
        )


def _near(key: tuple[Any, int, int], offset: int, size: int) -> bool:
    return bool(key[1] < offset + size and offset < key[1] + key[2])
