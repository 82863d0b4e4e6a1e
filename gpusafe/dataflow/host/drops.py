"""Ownership: what moves, what is copied, and what a drop does."""

from __future__ import annotations

from collections.abc import Iterable

from gpusafe.dataflow.host.handles import Buffer, EventHandle, Guard, Lazy, StreamHandle
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.values import (
    MOVED,
    BagVal,
    Cell,
    ClosureVal,
    IterVal,
    RcBox,
    RefVal,
    SeqVal,
    SharedVal,
    StructVal,
    TupleVal,
    TypeVal,
    Unknown,
    Value,
)
from gpusafe.ir.host import Free, Record, Wait
from gpusafe.span import Span

_DEEP = 40


def parts(value: Value) -> Iterable[Value]:
    """The values that a value owns directly, in drop order."""
    match value:
        case StructVal(fields=fields):
            return [c.value for c in fields.values()]
        case TupleVal(items=items) | BagVal(items=items):
            return [c.value for c in items]
        case SeqVal(items=items):
            return [c.value for c in items or ()]
        case ClosureVal(owned=owned):
            return [c.value for c in owned]
        case IterVal(owner=owner):
            return [owner.value] if owner is not None else []
        case Unknown(holds=holds):
            return holds
        case Lazy(parts=items, done=done):
            return (*items, done)
        case TypeVal(name=name, payload=Cell() as inner):
            return () if name == "leaked" else (inner.value,)
        case TypeVal(payload=payload):
            return (payload,) if not isinstance(payload, (list, tuple)) else ()
    return ()


def owns(m: Machine, value: Value, depth: int = 0) -> bool:
    """Whether dropping a value does something that matters here."""
    match value:
        case SharedVal() | Guard():
            return True
        case StreamHandle(joins=joins):
            return joins is not None
        case Buffer(release=release, stream=stream):
            return release != "none" or stream is not None
        case SeqVal(memory=str()):
            return True
        case StructVal(name=name, variant=None) if m.program.methods.get((name, "drop")):
            return True
    return depth < _DEEP and any(owns(m, part, depth + 1) for part in parts(value))


def copy_value(value: Value, depth: int = 0) -> Value:
    """An independent copy of a value that owns nothing."""
    if depth > _DEEP:
        return value
    match value:
        case TupleVal(items=items):
            return TupleVal([Cell(copy_value(c.value, depth + 1), c.name) for c in items])
        case StructVal(fields=fields):
            copied = {n: Cell(copy_value(c.value, depth + 1), c.name) for n, c in fields.items()}
            return StructVal(value.name, copied, value.variant, value.span)
        case SeqVal(kind="array", items=list() as items):
            return SeqVal(
                "array",
                [Cell(copy_value(c.value, depth + 1)) for c in items],
                value.length,
                value.elem,
                None,
                value.sample,
            )
    return value


def take(m: Machine, cell: Cell) -> Value:
    """The value of a place used as a value: moved out when it owns something, else copied."""
    value = cell.value
    if value is MOVED:
        return Unknown("a value that was moved")
    if isinstance(value, IterVal) or owns(m, value):
        cell.value = MOVED
        return value
    return copy_value(value)


def drop_cell(m: Machine, cell: Cell, span: Span) -> None:
    """A variable goes out of scope."""
    value, cell.value = cell.value, MOVED
    if value is not MOVED:
        drop_value(m, value, span, cell.name)
    if cell.memory is not None:
        m.emit(Free, span, f"end of the life of `{cell.name}`", memory=cell.memory)
        m.memory[cell.memory].alive = False
        cell.memory = None


def drop_value(m: Machine, value: Value, span: Span, name: str = "", depth: int = 0) -> None:
    """Drops a value and everything that it owns, in Rust's order."""
    if depth > _DEEP or value is MOVED or not owns(m, value):
        return
    match value:
        case Buffer():
            drop_buffer(m, value, span, name)
        case SharedVal(box=box):
            release_box(m, box, span, name, depth)
        case Guard():
            drop_guard(m, value, span)
        case StreamHandle(joins=StreamHandle() as waiter):
            value.joins = None
            event = EventHandle(m.fresh("event"), value.context, value.dialect)
            label = f"drop of `{value.name or name or 'a stream'}` joins `{waiter.name}`"
            record(m, event, value, span, label)
            wait(m, waiter, event, span, label)
        case StructVal(name=owner, variant=None) if m.program.methods.get((owner, "drop")):
            m.invoke_drop(value, span)
            _drop_parts(m, value, span, depth)
        case SeqVal(memory=str() as memory):
            _drop_parts(m, value, span, depth)
            m.emit(Free, span, f"drop of `{name or m.memory_name(memory)}`", memory=memory)
            m.memory[memory].alive = False
            value.memory = None
        case _:
            _drop_parts(m, value, span, depth)


def _drop_parts(m: Machine, value: Value, span: Span, depth: int) -> None:
    match value:
        case StructVal(fields=fields):
            cells = list(fields.values())
        case TupleVal(items=items) | BagVal(items=items):
            cells = list(items)
        case SeqVal(items=items):
            cells = list(items or ())
        case ClosureVal(owned=owned):
            cells = list(owned)
        case IterVal(owner=Cell() as owner):
            cells = [owner]
        case TypeVal(payload=Cell() as held):
            cells = [held] if value.name != "leaked" else []
        case _:
            for part in parts(value):
                drop_value(m, part, span, "", depth + 1)
            return
    for cell in cells:
        inner, cell.value = cell.value, MOVED
        drop_value(m, inner, span, cell.name, depth + 1)


def release_box(m: Machine, box: RcBox, span: Span, name: str = "", depth: int = 0) -> None:
    """One Arc or Rc fewer; the last one drops the content."""
    box.strong -= 1
    if box.strong != 0:
        return
    inner, box.cell.value = box.cell.value, MOVED
    match inner:
        case StreamHandle(counted=True, context=context) if context is not None:
            context.counted -= 1
        case _:
            drop_value(m, inner, span, name, depth + 1)


def drop_guard(m: Machine, guard: Guard, span: Span) -> None:
    """cudarc's SyncOnDrop records its event."""
    if guard.event is not None:
        record(m, guard.event, guard.stream, span, f"drop of the {guard.label}", guard.label)
        guard.event = None


def record(
    m: Machine, event: EventHandle, stream: StreamHandle, span: Span, label: str, guard: str | None = None
) -> None:
    """An event is recorded; a guard's label is kept beside it."""
    if stream.ident in m.capture:
        m.captured_events[event.ident] = m.capture[stream.ident]
        return
    m.captured_events.pop(event.ident, None)
    if guard is not None:
        m.guards[len(m.ops)] = guard
    m.emit(Record, span, label, event=event.ident, stream=stream.ident)


def wait(m: Machine, stream: StreamHandle, event: EventHandle, span: Span, label: str, automatic: bool = False) -> None:
    """A stream waits for an event."""
    if stream.ident in m.capture:
        return
    if event.ident in m.captured_events:
        m.capture[stream.ident] = m.captured_events[event.ident]
        m.gap(span, "the branches of a captured graph are followed one after another only")
        return
    m.emit(Wait, span, label, stream=stream.ident, event=event.ident, automatic=automatic)


def drop_buffer(m: Machine, buffer: Buffer, span: Span, name: str = "") -> None:
    """Frees memory the way its library does."""
    called = m.memory_name(buffer.memory)
    label = f"drop of `{name if called.startswith(chr(0)) and name else called}`"
    stream = buffer.stream.cell.value if buffer.stream is not None else None
    match buffer.release:
        case "async" if isinstance(stream, StreamHandle):
            _free_async(m, buffer, stream, span, label)
        case "pool":
            target = m.singletons.get("deallocator")
            if isinstance(target, StreamHandle):
                m.enqueue(target, "free", span, label, accesses=(m.whole(buffer.memory, "free"),))
        case "context":
            m.emit(Free, span, label, memory=buffer.memory, waits="context")
        case "sync_context":
            if buffer.context is not None:
                m.sync("context", buffer.context.ident, span, f"{label} synchronizes the context")
            m.emit(Free, span, label, memory=buffer.memory, waits="none")
        case "event":
            if buffer.read is not None:
                m.sync("event", buffer.read.ident, span, f"{label} waits for its event")
            m.emit(Free, span, label, memory=buffer.memory, waits="none")
        case "now":
            m.emit(Free, span, label, memory=buffer.memory, waits="none")
    if buffer.release != "none":
        m.memory[buffer.memory].alive = False
        buffer.release = "none"
    if buffer.stream is not None:
        box, buffer.stream = buffer.stream, None
        release_box(m, box, span)


def _free_async(m: Machine, buffer: Buffer, stream: StreamHandle, span: Span, label: str) -> None:
    for event in (buffer.read, buffer.write):
        if event is not None:
            wait(m, stream, event, span, f"{label} waits", automatic=True)
    m.enqueue(stream, "free", span, label, accesses=(m.whole(buffer.memory, "free"),))


def retain(m: Machine, holder: Value) -> RcBox | None:
    """The box of an ``Arc<CudaStream>`` behind references, with one more count; None when it is not shared."""
    current = holder
    for _ in range(8):
        match current:
            case RefVal(cell=cell):
                current = cell.value
            case SharedVal(box=box):
                box.strong += 1
                return box
            case _:
                return None
    return None
