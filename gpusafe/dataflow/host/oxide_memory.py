"""DeviceBuffer and PinnedHostBuffer of cuda-oxide."""

from __future__ import annotations

from gpusafe.dataflow.host import terms
from gpusafe.dataflow.host.access import chain, peel, touch
from gpusafe.dataflow.host.accounting import own
from gpusafe.dataflow.host.api_tables import action
from gpusafe.dataflow.host.cudarc_copies import device_access
from gpusafe.dataflow.host.drops import record, take, wait
from gpusafe.dataflow.host.handles import Buffer, Context, EventHandle, MemSlice, Pointer, StreamHandle, View
from gpusafe.dataflow.host.host_memory import element_size, host_range, length_of, nonzero
from gpusafe.dataflow.host.launching import check_contexts
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.results import Found
from gpusafe.dataflow.host.syntax_walk import generic
from gpusafe.dataflow.host.typing_rules import set_elem, size_of
from gpusafe.dataflow.host.values import Cell, RcBox, SeqVal, SharedVal, TupleVal, Unknown, Value, ok, unit
from gpusafe.ir.expr import USIZE, Expr
from gpusafe.ir.host import Alloc, MemAccess
from gpusafe.parse.rust import ast
from gpusafe.span import Span


def call_path(
    m: Machine, owner: str, name: str, args: list[Value], expr: ast.Expr, path: ast.Path, expect: ast.Type | None
) -> Found | None:
    """Constructors."""
    span = expr.span
    first = peel(args[0]) if args else None
    stream = first if isinstance(first, StreamHandle) else None
    if owner == "PinnedHostBuffer":
        return _pinned(m, name, args, path, expect, span)
    context = stream.context if stream is not None else None
    match name:
        case "from_host" | "from_host_async_unchecked" | "from_pinned_host" if stream is not None:
            made = new_buffer(m, context, length_of(m, args[1]), element_size(m, args[1]), span)
            transfer(m, stream, args[1], made, span, waits=name == "from_host", staged=name == "from_host")
            return Found(ok(made))
        case "zeroed" if stream is not None:
            made = new_buffer(m, context, args[1], _elem(m, path, expect), span)
            accesses = (m.whole(made.memory, "write"),)
            m.enqueue(stream, "memset", span, "memset of a new buffer", accesses=accesses, zero=True)
            return Found(ok(made))
        case "uninitialized_async" if stream is not None:
            made = new_buffer(m, context, args[1], _elem(m, path, expect), span, on=stream)
            return Found(ok(made))
        case "from_raw_parts":
            return Found(_adopt(m, first, args, context))
    return None


def _adopt(m: Machine, pointer: Value, args: list[Value], context: Context | None) -> Value:
    if not isinstance(pointer, Pointer):
        return Unknown("a buffer from raw parts")
    if pointer.buffer is not None:
        pointer.buffer.release = "context"
        return pointer.buffer
    return Buffer(pointer.memory, "oxide", "device", context, peel(args[1]), pointer.elem_bytes, "context")


def _elem(m: Machine, path: ast.Path, expect: ast.Type | None) -> int | None:
    types = [g for g in (*path.parent_generics, *path.generics) if isinstance(g, ast.Type)]
    types = [t for t in types if not isinstance(t, ast.TypeOther)]
    if types:
        return size_of(m, types[0])
    inner = generic(expect)
    if isinstance(inner, ast.TypePath) and inner.path.last == "DeviceBuffer":
        inner = generic(inner)
    return size_of(m, inner) if inner is not None else None


def new_buffer(
    m: Machine, context: Context | None, length: Value, size: int | None, span: Span, on: StreamHandle | None = None
) -> Buffer:
    """A device allocation: on the host's timeline, or in the order of a stream."""
    count = peel(length)
    if not isinstance(count, (int, Expr)):
        count = m.symbol("length", USIZE, 0)
    memory = m.new_memory(
        "device",
        span,
        elem_bytes=size,
        length=terms.as_term(count, USIZE),
        context=context.ident if context is not None else None,
        initialized=False,
    )
    if on is None:
        m.emit(Alloc, span, "allocation", memory=memory)
        return own(m, Buffer(memory, "oxide", "device", context, count, size, "context"))
    m.enqueue(on, "alloc", span, "allocation", accesses=(m.whole(memory, "write"),))
    made = Buffer(memory, "oxide", "device", context, count, size, "sync_context")
    made.extra["allocation stream"] = on
    return own(m, made)


def _pinned(
    m: Machine, name: str, args: list[Value], path: ast.Path, expect: ast.Type | None, span: Span
) -> Found | None:
    if name not in ("zeroed", "from_slice", "new", "uninitialized"):
        return None
    context = peel(args[0])
    found = context if isinstance(context, Context) else None
    if name == "from_slice":
        length, size = length_of(m, args[1]), element_size(m, args[1])
        touch(m, args[1], "read", span)
    else:
        length, size = peel(args[1]), _elem(m, path, expect)
    if not isinstance(length, (int, Expr)):
        length = m.symbol("length", USIZE, 0)
    memory = m.new_memory(
        "pinned",
        span,
        elem_bytes=size,
        length=terms.as_term(length, USIZE),
        context=found.ident if found is not None else None,
        nonzero=name == "from_slice" and nonzero(args[1]),
    )
    m.emit(Alloc, span, "allocation", memory=memory)
    return Found(ok(own(m, Buffer(memory, "oxide", "pinned", found, length, size, "now"))))


def transfer(
    m: Machine, stream: StreamHandle, source: Value, target: Value, span: Span, waits: bool, staged: bool = False
) -> None:
    """A copy on a stream. ``waits``: the call synchronises it then; ``staged``: the host side is free on return."""
    for value, other in ((source, target), (target, source)):
        size, found = element_size(m, other), peel(value)
        if isinstance(found, Buffer) and size is not None:
            set_elem(m, found, size)
    accesses: list[MemAccess] = []
    others: list[tuple[Context | None, str]] = []
    label = "copy"
    for value, mode in ((source, "read"), (target, "write")):
        found = peel(value)
        if isinstance(found, (Buffer, View, Pointer)) and getattr(found, "kind", "device") == "device":
            access = device_access(m, found, mode)
            owner = found.buffer if isinstance(found, (View, Pointer)) else found
            name = m.memory_name(access.range.memory) if access is not None else ""
            others.append((owner.context if owner is not None else None, name))
            label = f"{'download' if mode == 'read' else 'upload'} of `{name}`"
        else:
            known = isinstance(found, (Buffer, MemSlice)) or not (waits or staged)
            access = host_range(m, value, mode, span) if known else None
        if access is not None:
            accesses.append(access)
    check_contexts(m, stream, others, span)
    parts = {"blocks_host": waits, "nonzero": nonzero(source)}
    m.enqueue(stream, "copy", span, label, accesses=tuple(accesses), **parts)
    if waits:
        m.sync("stream", stream.ident, span, f"{label} synchronizes its stream")


def buffer_method(
    m: Machine, cell: Cell, receiver: Cell, name: str, args: list[Value], expr: ast.MethodCall
) -> Found | None:
    """Methods of DeviceBuffer and PinnedHostBuffer."""
    target = cell.value
    assert isinstance(target, (Buffer, View))
    buffer = target if isinstance(target, Buffer) else target.buffer
    if buffer.kind != "device":
        return _pinned_method(m, buffer, name, expr)
    first = peel(args[0]) if args else None
    stream = first if isinstance(first, StreamHandle) else None
    span = expr.span
    match action("oxide", "DeviceBuffer", name):
        case "len":
            return Found(target.length)
        case "is_empty":
            return Found(terms.empty(target.length))
        case "num_bytes":
            total = terms.mul(target.length, target.elem_bytes) if target.elem_bytes else None
            return Found(total if total is not None else m.symbol("num_bytes", USIZE))
        case "to_host_vec" if stream is not None:
            vector = SeqVal("vec", None, target.length)
            transfer(m, stream, target, vector, span, waits=True)
            return Found(ok(vector))
        case "copy_to_host" if stream is not None:
            transfer(m, stream, target, args[1], span, waits=True)
            return Found(ok(unit()))
        case "copy_from_host" if stream is not None:
            transfer(m, stream, args[1], target, span, waits=True)
            return Found(ok(unit()))
        case "upload_async" if stream is not None:
            transfer(m, stream, args[1], target, span, waits=False)
            return Found(ok(unit()))
        case "download_async" if stream is not None:
            transfer(m, stream, target, args[1], span, waits=False)
            return Found(ok(unit()))
        case "zero_async" if stream is not None:
            check_contexts(m, stream, [(buffer.context, m.memory_name(buffer.memory))], span)
            label = f"memset of `{m.memory_name(buffer.memory)}`"
            m.enqueue(stream, "memset", span, label, accesses=(m.whole(buffer.memory, "write"),), zero=True)
            return Found(ok(unit()))
        case "copy_from_device_async":
            on = peel(args[1]) if len(args) > 1 else None
            if isinstance(on, StreamHandle):
                transfer(m, on, args[0], target, span, waits=False)
                return Found(ok(unit()))
            return None
        case "drop_async" if stream is not None:
            return _drop_async(m, buffer, stream, span)
        case "query":
            return Found(True)
        case "cast_elem":
            return _cast(m, cell, receiver, name, expr)
        case "pointer":
            return Found(Pointer(buffer.memory, 0, None, buffer))
        case "leak":
            buffer.release = "none"
            parts = [Cell(Pointer(buffer.memory, 0, None, buffer)), Cell(buffer.length), Cell(Unknown("a context"))]
            return Found(TupleVal(parts))
        case "context":
            return Found(SharedVal(RcBox(Cell(buffer.context), 1000)) if buffer.context else Unknown("a context"))
    return None


def _drop_async(m: Machine, buffer: Buffer, stream: StreamHandle, span: Span) -> Found:
    """Frees on a stream, which first waits for the stream of the allocation."""
    label = f"drop_async of `{m.memory_name(buffer.memory)}`"
    made_on = buffer.extra.get("allocation stream")
    if isinstance(made_on, StreamHandle) and made_on.ident != stream.ident:
        event = EventHandle(m.fresh("event"), stream.context, "oxide")
        record(m, event, made_on, span, f"{label} joins the stream of the allocation")
        wait(m, stream, event, span, f"{label} joins the stream of the allocation")
    m.enqueue(stream, "free", span, label, accesses=(m.whole(buffer.memory, "free"),))
    buffer.release, m.memory[buffer.memory].alive = "none", False
    return Found(ok(unit()))


def _cast(m: Machine, cell: Cell, receiver: Cell, name: str, expr: ast.MethodCall) -> Found:
    """``cast_elem`` takes the buffer and gives it back under another element type."""
    owner = chain(receiver)[-1]
    value = take(m, owner) if isinstance(owner.value, Buffer) else cell.value
    types = [g for g in expr.generics if isinstance(g, ast.Type)]
    size = size_of(m, types[0]) if types else None
    if isinstance(value, Buffer) and size is not None:
        if value.elem_bytes and value.elem_bytes != size:
            total = terms.mul(value.length, value.elem_bytes)
            bytes_ = terms.known(total)
            if bytes_ is not None:
                value.length = bytes_ // size
        value.elem_bytes = size
    return Found(ok(value) if name == "cast_chunks" else value)


def _pinned_method(m: Machine, buffer: Buffer, name: str, expr: ast.MethodCall) -> Found | None:
    match action("oxide", "PinnedHostBuffer", name):
        case "len":
            return Found(buffer.length)
        case "is_empty":
            return Found(terms.empty(buffer.length))
        case "host_slice":
            return Found(MemSlice(buffer.memory, 0, buffer.length, buffer.elem_bytes, name == "as_mut_slice"))
        case "host_pointer":
            return Found(Pointer(buffer.memory, 0, buffer.elem_bytes, buffer))
    return None
