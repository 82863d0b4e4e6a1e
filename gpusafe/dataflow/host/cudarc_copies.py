"""cudarc's allocations, copies and memsets on a stream, and the raw calls of its ``result`` module."""

from __future__ import annotations

from gpusafe.dataflow.host import terms
from gpusafe.dataflow.host.access import peel
from gpusafe.dataflow.host.accounting import own
from gpusafe.dataflow.host.cudarc_tracking import read_use, write_use
from gpusafe.dataflow.host.drops import record
from gpusafe.dataflow.host.handles import Buffer, EventHandle, MemSlice, Pointer, StreamHandle, View
from gpusafe.dataflow.host.host_memory import element_size, host_range, length_of, nonzero
from gpusafe.dataflow.host.launching import check_contexts, view_access
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.results import Found
from gpusafe.dataflow.host.typing_rules import set_elem, size_of
from gpusafe.dataflow.host.values import RcBox, SeqVal, SliceVal, Value, ok, unit
from gpusafe.ir.expr import USIZE, Expr
from gpusafe.ir.host import MemAccess
from gpusafe.parse.rust import ast
from gpusafe.span import Span


def stream_copy(
    m: Machine, stream: StreamHandle, box: RcBox, what: str, args: list[Value], expr: ast.MethodCall
) -> Found | None:
    """An allocation, copy or memset that is a method of CudaStream."""
    match what:
        case "alloc" | "null":
            return Found(ok(allocate(m, stream, box, args[0] if args else 0, _turbofish(m, expr), expr.span)))
        case "alloc_zeros":
            made = allocate(m, stream, box, args[0], _turbofish(m, expr), expr.span)
            memset(m, stream, made, expr.span)
            return Found(ok(made))
        case "memset":
            memset(m, stream, args[0], expr.span)
            return Found(ok(unit()))
        case "clone_htod":
            made = allocate(m, stream, box, length_of(m, args[0]), element_size(m, args[0]), expr.span)
            upload(m, stream, args[0], made, expr.span)
            return Found(ok(made))
        case "memcpy_htod":
            upload(m, stream, args[0], args[1], expr.span)
            return Found(ok(unit()))
        case "clone_dtoh":
            target = SeqVal("vec", None, _length(m, args[0]))
            download(m, stream, args[0], target, expr.span)
            return Found(ok(target))
        case "memcpy_dtoh":
            download(m, stream, args[0], args[1], expr.span)
            return Found(ok(unit()))
        case "memcpy_dtod":
            device_copy(m, stream, args[0], args[1], expr.span)
            return Found(ok(unit()))
        case "clone_dtod":
            made = allocate(m, stream, box, _length(m, args[0]), element_size(m, args[0]), expr.span)
            device_copy(m, stream, args[0], made, expr.span)
            return Found(ok(made))
        case "upgrade_device_ptr":
            return Found(_upgrade(m, stream, box, args, expr))
    return None


def _turbofish(m: Machine, expr: ast.MethodCall) -> int | None:
    types = [g for g in expr.generics if isinstance(g, ast.Type) and not isinstance(g, ast.TypeOther)]
    return size_of(m, types[0]) if types else None


def _length(m: Machine, value: Value) -> Value:
    return length_of(m, value)


def allocate(m: Machine, stream: StreamHandle, box: RcBox, length: Value, size: int | None, span: Span) -> Buffer:
    """A stream-ordered allocation: uninitialised, and no event knows of it."""
    count = peel(length)
    if not isinstance(count, (int, Expr)):
        count = m.symbol("length", USIZE, 0)
    context = stream.context
    memory = m.new_memory(
        "device",
        span,
        elem_bytes=size,
        length=terms.as_term(count, USIZE),
        context=context.ident if context is not None else None,
        initialized=False,
    )
    m.enqueue(stream, "alloc", span, "allocation", accesses=(m.whole(memory, "write"),))
    tracked = context is None or context.tracking
    read = EventHandle(m.fresh("event"), context, "cudarc") if tracked else None
    write = EventHandle(m.fresh("event"), context, "cudarc") if tracked else None
    box.strong += 1
    return own(m, Buffer(memory, "cudarc", "device", context, count, size, "async", box, read, write))


def _owner(value: Value) -> Buffer | None:
    found = peel(value)
    if isinstance(found, View):
        return found.buffer
    return found if isinstance(found, Buffer) else None


def device_access(m: Machine, value: Value, mode: str) -> MemAccess | None:
    """The bytes of a buffer, view or pointer."""
    match peel(value):
        case Buffer(memory=memory):
            return m.whole(memory, mode)
        case View() as view:
            return view_access(m, view, mode)
        case Pointer(memory=memory, offset=offset):
            return m.span_access(memory, offset, None, mode)
    return None


def memset(m: Machine, stream: StreamHandle, target: Value, span: Span) -> None:
    """``memset_zeros``."""
    buffer, access = _owner(target), device_access(m, target, "write")
    if buffer is None or access is None:
        m.gap(span, "the target of a memset is not known")
        return
    name = m.memory_name(buffer.memory)
    event = write_use(m, stream, buffer, span, f"memset of `{name}`")
    check_contexts(m, stream, [(buffer.context, name)], span)
    m.enqueue(stream, "memset", span, f"memset of `{name}`", accesses=(access,), zero=True)
    _record(m, event, stream, span, f"memset of `{name}`")


def _record(m: Machine, event: EventHandle | None, stream: StreamHandle, span: Span, what: str) -> None:
    if event is not None:
        record(m, event, stream, span, f"{what} is recorded")


def _refine(m: Machine, device: Value, host: Value) -> None:
    size = element_size(m, host)
    found = peel(device)
    if size is not None and isinstance(found, Buffer):
        set_elem(m, found, size)


def upload(m: Machine, stream: StreamHandle, source: Value, target: Value, span: Span) -> None:
    """Host to device: pageable sources are released on return, pinned ones are read until the copy is done."""
    _refine(m, target, source)
    buffer, access = _owner(target), device_access(m, target, "write")
    if buffer is None or access is None:
        m.gap(span, "the target of an upload is not known")
        return
    name = m.memory_name(buffer.memory)
    accesses = [access]
    host = peel(source)
    host_event = None
    if isinstance(host, Buffer) and host.kind in ("pinned", "unified"):
        host_event = read_use(m, stream, host, span, "upload")
        accesses.append(m.whole(host.memory, "read"))
    elif isinstance(host, MemSlice):
        host_access = host_range(m, host, "read", span)
        if host_access is not None:
            accesses.append(host_access)
    _in_capture(m, stream, len(accesses), span)
    event = write_use(m, stream, buffer, span, f"upload to `{name}`")
    check_contexts(m, stream, [(buffer.context, name)], span)
    m.enqueue(stream, "copy", span, f"upload to `{name}`", accesses=tuple(accesses), nonzero=nonzero(source))
    _record(m, event, stream, span, f"upload to `{name}`")
    _record(m, host_event, stream, span, "upload")


def _in_capture(m: Machine, stream: StreamHandle, sides: int, span: Span) -> None:
    """A captured copy keeps the address of pageable memory, and uses it whenever the graph runs."""
    if sides == 1 and stream.ident in m.capture:
        m.gap(span, "a captured copy of pageable memory runs again with the graph, and is not followed")


def download(m: Machine, stream: StreamHandle, source: Value, target: Value, span: Span) -> None:
    """Device to host: into pageable memory the call returns when the copy is done, into pinned memory at once."""
    _refine(m, source, target)
    buffer, access = _owner(source), device_access(m, source, "read")
    if buffer is None or access is None:
        m.gap(span, "the source of a download is not known")
        return
    name = m.memory_name(buffer.memory)
    accesses, blocks, host_event = [access], True, None
    event = read_use(m, stream, buffer, span, f"download of `{name}`")
    host = peel(target)
    if isinstance(host, Buffer) and host.kind in ("pinned", "unified"):
        host_event = write_use(m, stream, host, span, "download")
        accesses.append(m.whole(host.memory, "write"))
        blocks = False
    elif isinstance(host, MemSlice) or (isinstance(host, SliceVal) and host.seq.memory is not None):
        host_access = host_range(m, host, "write", span)
        if host_access is not None:
            accesses.append(host_access)
            blocks = False
    _in_capture(m, stream, len(accesses), span)
    check_contexts(m, stream, [(buffer.context, name)], span)
    m.enqueue(stream, "copy", span, f"download of `{name}`", accesses=tuple(accesses), blocks_host=blocks)
    _record(m, event, stream, span, f"download of `{name}`")
    _record(m, host_event, stream, span, "download")


def device_copy(m: Machine, stream: StreamHandle, source: Value, target: Value, span: Span) -> None:
    """Device to device."""
    _refine(m, target, source)
    from_buffer, to_buffer = _owner(source), _owner(target)
    read, write = device_access(m, source, "read"), device_access(m, target, "write")
    if from_buffer is None or to_buffer is None or read is None or write is None:
        m.gap(span, "a copy between buffers that are not known")
        return
    names = (m.memory_name(from_buffer.memory), m.memory_name(to_buffer.memory))
    if _between_devices(from_buffer, stream) and (m.program.version("cudarc", m.home) or (0, 19)) >= (0, 19):
        check_contexts(m, stream, [(to_buffer.context, names[1])], span)
        reason = f"the copy of `{names[0]}` to another device, whose order depends on cudarc's exact version"
        m.gap(span, reason, (from_buffer.memory, to_buffer.memory))
        return
    label = f"copy of `{names[0]}` to `{names[1]}`"
    read_event = read_use(m, stream, from_buffer, span, label)
    write_event = write_use(m, stream, to_buffer, span, label)
    check_contexts(m, stream, [(from_buffer.context, names[0]), (to_buffer.context, names[1])], span)
    m.enqueue(stream, "copy", span, label, accesses=(read, write))
    _record(m, read_event, stream, span, label)
    _record(m, write_event, stream, span, label)


def _between_devices(source: Buffer, stream: StreamHandle) -> bool:
    """Whether a copy comes from another context, which `memcpy_dtod` supports (as a peer copy) since 0.19."""
    here, there = stream.context, source.context
    return here is not None and there is not None and here.known and there.known and here.ident != there.ident


def _upgrade(m: Machine, stream: StreamHandle, box: RcBox, args: list[Value], expr: ast.MethodCall) -> Value:
    pointer = peel(args[0])
    size = _turbofish(m, expr)
    if not isinstance(pointer, Pointer):
        memory = m.new_memory(
            "unknown", expr.span, elem_bytes=size, length=terms.as_term(peel(args[1])), exclusive=False
        )
    else:
        memory = pointer.memory
    box.strong += 1
    events = [EventHandle(m.fresh("event"), stream.context, "cudarc") for _ in range(2)]
    return Buffer(memory, "cudarc", "device", stream.context, peel(args[1]), size, "async", box, events[0], events[1])


# -- raw calls ---------------------------------------------------------------------------------------------------------


def raw_call(m: Machine, name: str, args: list[Value], expr: ast.Expr) -> Found | None:
    """``result::memset_d8_async`` and kin: raw pointers, no events."""
    span = expr.span
    values = [peel(a) for a in args]
    stream = next((v for v in values if isinstance(v, StreamHandle)), None)
    match name:
        case "memset_d8_async" if isinstance(values[0], Pointer) and stream is not None:
            access = m.span_access(values[0].memory, values[0].offset, values[2], "write")
            label = f"memset of `{m.memory_name(values[0].memory)}`"
            parts = {"zero": terms.known(values[1]) == 0, "nonzero": nonzero(values[1])}
            m.enqueue(stream, "memset", span, label, accesses=(access,), **parts)
            return Found(ok(unit()))
        case "memcpy_dtod_async" if isinstance(values[0], Pointer) and isinstance(values[1], Pointer) and stream:
            target = m.span_access(values[0].memory, values[0].offset, values[2], "write")
            source = m.span_access(values[1].memory, values[1].offset, values[2], "read")
            m.enqueue(stream, "copy", span, "copy", accesses=(source, target))
            return Found(ok(unit()))
        case "memcpy_htod_async" if isinstance(values[0], Pointer) and stream is not None:
            target = m.span_access(values[0].memory, values[0].offset, host_bytes(m, args[1]), "write")
            accesses = [target]
            if isinstance(values[1], (MemSlice, Buffer)):
                extra = host_range(m, values[1], "read", span)
                accesses += [extra] if extra is not None else []
            label = f"upload to `{m.memory_name(values[0].memory)}`"
            m.enqueue(stream, "copy", span, label, accesses=tuple(accesses), nonzero=nonzero(args[1]))
            return Found(ok(unit()))
        case "memcpy_dtoh_async" if len(values) > 1 and isinstance(values[1], Pointer) and stream is not None:
            source = m.span_access(values[1].memory, values[1].offset, host_bytes(m, args[0]), "read")
            label = f"download of `{m.memory_name(values[1].memory)}`"
            pinned = isinstance(values[0], (MemSlice, Buffer))
            extra = host_range(m, values[0], "write", span) if pinned else None
            accesses = [source, *([extra] if extra is not None else [])]
            m.enqueue(stream, "copy", span, label, accesses=tuple(accesses), blocks_host=not pinned)
            return Found(ok(unit()))
        case "synchronize" if stream is not None:
            m.sync("stream", stream.ident, span, "synchronize")
            return Found(ok(unit()))
    return None


def host_bytes(m: Machine, value: Value) -> Value | None:
    """Size in bytes of a host sequence, None when not known."""
    size, length = element_size(m, value), getattr(peel(value), "length", None)
    return terms.mul(length, size) if size is not None and length is not None else None
