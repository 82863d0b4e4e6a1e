"""The ways through one thread: every read may return any value that its cell may hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from gpusafe.errors import GpusafeError
from gpusafe.parse.litmus import (
    Barrier,
    Branch,
    Fence,
    Instruction,
    Jump,
    Label,
    Load,
    Location,
    Move,
    Operand,
    ProxyFence,
    ReadModifyWrite,
    Store,
    ThreadCode,
)
from gpusafe.prove.memory_model.condition import COMPARE
from gpusafe.prove.memory_model.events import BarrierUse, Event
from gpusafe.prove.memory_model.liveness import LiveSets, live_before

TRACES = 50_000
Values = Mapping[str, tuple[int, ...]]


class Ending(Enum):
    """How a trace ends."""

    DONE = "done"
    BLOCKED = "blocked at a barrier"
    SPINNING = "spinning"  # the events from ``Trace.lasso`` on can be repeated for ever
    CUT = "cut off"  # more rounds of a loop than the bound


@dataclass(frozen=True, slots=True)
class Trace:
    """One way through a thread; ``lasso`` is the position of the first event that is repeated."""

    events: tuple[Event, ...]
    registers: Mapping[str, int]
    ending: Ending
    lasso: int = 0


@dataclass(frozen=True, slots=True)
class _State:
    at: int
    registers: Mapping[str, int]
    taint: Mapping[str, int]
    control: int = 0
    events: tuple[Event, ...] = ()
    visits: Mapping[str, tuple[tuple[int, tuple[tuple[str, int], ...]], ...]] = field(default_factory=dict)
    rounds: Mapping[int, int] = field(default_factory=dict)

    def value(self, operand: Operand) -> int:
        return self.registers.get(operand, 0) if isinstance(operand, str) else operand

    def sources(self, *operands: Operand) -> int:
        out = 0
        for operand in operands:
            if isinstance(operand, str):
                out |= self.taint.get(operand, 0)
        return out

    def after(self, *events: Event) -> _State:
        return replace(self, at=self.at + 1, events=self.events + events)

    def assign(self, register: str | None, value: int, taint: int) -> _State:
        if register is None:
            return self
        registers = {**self.registers, register: value}
        return replace(self, registers=registers, taint={**self.taint, register: taint})


def unfold(thread: ThreadCode, values: Values, bound: int, observed: frozenset[str]) -> list[Trace]:
    """All traces of a thread. A loop's body is run at most ``bound`` times.

    A round that leaves memory and the registers that matter (``observed`` matter at the end) as they were is not
    continued: the execution without it is at least as possible.
    """
    labels = {i.name: at for at, i in enumerate(thread.code) if isinstance(i, Label)}
    live = live_before(thread.code, observed)
    out: list[Trace] = []
    todo = [_State(0, dict(thread.registers), {})]
    steps = 0
    while todo:
        steps += 1
        if len(out) > TRACES or steps > 40 * TRACES:
            raise GpusafeError(f"litmus: P{thread.number} has too many ways through it")
        state = todo.pop()
        if state.at >= len(thread.code):
            out.append(Trace(state.events, state.registers, Ending.DONE))
            continue
        instruction = thread.code[state.at]
        match instruction:
            case Label():
                todo.extend(_label(instruction, state, live, bound, out))
            case Jump():
                todo.append(replace(state, at=labels[instruction.label]))
            case Branch():
                taken = COMPARE[instruction.comparison](state.value(instruction.left), state.value(instruction.right))
                control = state.control | state.sources(instruction.left, instruction.right)
                todo.append(replace(state, at=labels[instruction.label] if taken else state.at + 1, control=control))
            case Barrier():
                todo.extend(_barrier(instruction, state, thread, out))
            case _:
                todo.extend(_straight(instruction, state, thread, values))
    return out


def _label(label: Label, state: _State, live: LiveSets, bound: int, out: list[Trace]) -> list[_State]:
    """Passing a label: a state that was here before closes a lasso."""
    here = tuple(sorted((r, state.registers.get(r, 0)) for r in live[state.at]))
    before = state.visits.get(label.name, ())
    for start, snapshot in before:
        if snapshot != here:
            continue
        repeated = state.events[start:]
        if any(e.kind == "B" for e in repeated):
            continue
        out.append(Trace(state.events, state.registers, Ending.SPINNING, start))
        if not any(e.kind == "W" for e in repeated):
            return []
        break
    if len(before) >= bound:
        out.append(Trace(state.events, state.registers, Ending.CUT))
        return []
    visits = {**state.visits, label.name: (*before, (len(state.events), here))}
    return [replace(state, at=state.at + 1, visits=visits)]


def _barrier(barrier: Barrier, state: _State, thread: ThreadCode, out: list[Trace]) -> list[_State]:
    met = state.rounds.get(barrier.instance, 0)
    use = BarrierUse(
        barrier.instance,
        met,
        None if barrier.resource is None else state.value(barrier.resource),
        None if barrier.quorum is None else state.value(barrier.quorum),
        barrier.arrives,
    )
    name = "bar.arrive" if barrier.arrives else "bar.sync"
    event = _event(state, thread, "B", text=f"{name} {barrier.instance}", barrier=use)
    passed = replace(state.after(event), rounds={**state.rounds, barrier.instance: met + 1})
    if not barrier.arrives:
        out.append(Trace(passed.events, passed.registers, Ending.BLOCKED))
    return [passed]


def _straight(instruction: Instruction, state: _State, thread: ThreadCode, values: Values) -> list[_State]:
    match instruction:
        case Load():
            return [_load(instruction, state, thread, value) for value in values.get(instruction.location.cell, (0,))]
        case Store():
            value, sources = state.value(instruction.value), state.sources(instruction.value)
            event = _event(state, thread, "W", instruction, instruction.location, value, sources)
            return [state.after(event)]
        case ReadModifyWrite():
            found = values.get(instruction.location.cell, (0,))
            return [_read_modify_write(instruction, state, thread, value) for value in found]
        case Fence():
            text = f"fence.{instruction.order}.{instruction.scope}"
            event = _event(state, thread, "F", text=text, order=instruction.order, scope=instruction.scope)
            return [state.after(event)]
        case ProxyFence():
            text = f"fence.proxy.{instruction.proxy}"
            return [state.after(_event(state, thread, "P", text=text, proxy=instruction.proxy))]
        case Move():
            value = _compute(instruction.operation, state.value(instruction.left), state.value(instruction.right))
            taint = state.sources(instruction.left, instruction.right)
            return [replace(state.assign(instruction.register, value, taint), at=state.at + 1)]
    raise AssertionError(instruction)


def _load(load: Load, state: _State, thread: ThreadCode, value: int) -> _State:
    event = _event(state, thread, "R", load, load.location, value)
    return state.after(event).assign(load.register, value, 1 << len(state.events))


def _read_modify_write(atom: ReadModifyWrite, state: _State, thread: ThreadCode, old: int) -> _State:
    here = len(state.events)
    read_order = "acquire" if atom.order in ("acquire", "acq_rel") else "relaxed"
    write_order = "release" if atom.order in ("release", "acq_rel") else "relaxed"
    read = _event(
        state,
        thread,
        "R",
        atom,
        atom.location,
        old,
        order=read_order,
        acquires=atom.register is not None,
    )
    operands = [state.value(o) for o in atom.operands]
    sources = state.sources(*atom.operands)
    match atom.operation:
        case "cas" if old != operands[0]:
            return state.after(read).assign(atom.register, old, 1 << here)
        case "cas":
            new, sources = operands[1], sources | 1 << here
        case "exch":
            new = operands[0]
        case operation:
            new, sources = _compute(operation, old, operands[0]), sources | 1 << here
    write = _event(state, thread, "W", atom, atom.location, new, sources, order=write_order, pair=here)
    return state.after(read, write).assign(atom.register, old, 1 << here)


def _event(
    state: _State,
    thread: ThreadCode,
    kind: str,
    access: Load | Store | ReadModifyWrite | None = None,
    location: Location | None = None,
    value: int = 0,
    sources: int = 0,
    *,
    order: str | None = None,
    scope: str = "sys",
    proxy: str = "generic",
    text: str = "",
    pair: int | None = None,
    acquires: bool = True,
    barrier: BarrierUse | None = None,
) -> Event:
    return Event(
        kind,
        thread.number,
        order or (access.order if access is not None else "weak"),
        access.scope if access is not None else scope,
        access.proxy if access is not None else proxy,
        location,
        value,
        sources | state.control,
        pair,
        acquires,
        text,
        thread.place,
        barrier,
    )


def _compute(operation: str, left: int, right: int) -> int:
    match operation:
        case "mov":
            return left
        case "add":
            return left + right
        case "sub":
            return left - right
        case "mul":
            return left * right
        case "div":
            return 0 if right == 0 else int(left / right)
        case "and":
            return left & right
        case "or":
            return left | right
        case "xor":
            return left ^ right
        case "min":
            return min(left, right)
        case "max":
            return max(left, right)
    raise AssertionError(operation)


def possible_values(
    threads: tuple[ThreadCode, ...], initial: Mapping[str, int], bound: int, observed: Mapping[int, frozenset[str]]
) -> tuple[dict[str, tuple[int, ...]], list[list[Trace]]]:
    """The values that each cell may hold, and the traces of each thread over them.

    A value comes from a chain of writes without a cycle (no thin air): as many rounds as there are writes are enough.
    """
    values: dict[str, tuple[int, ...]] = {cell: (value,) for cell, value in initial.items()}
    rounds = 0
    while True:
        traces = [unfold(t, values, bound, observed.get(t.number, frozenset())) for t in threads]
        found = {cell: set(held) for cell, held in values.items()}
        writes = 0
        for of_thread in traces:
            writes += max((sum(e.kind == "W" for e in t.events) for t in of_thread), default=0)
            for event in (e for t in of_thread for e in t.events if e.kind == "W" and e.location is not None):
                found[event.location.cell].add(event.value)  # type: ignore[union-attr]
        rounds += 1
        wider = {cell: tuple(sorted(held)) for cell, held in found.items()}
        if wider == values or rounds > writes + 1:
            return values, traces
        values = wider
