"""Memory of cust and RustaCUDA: device, page-locked and unified buffers, copies, and sub-slices."""

from __future__ import annotations

from gpusafe.dataflow.host import terms
from gpusafe.dataflow.host.access import peel, touch
from gpusafe.dataflow.host.accounting import own
from gpusafe.dataflow.host.api_tables import action
from gpusafe.dataflow.host.cudarc_copies import device_access
from gpusafe.dataflow.host.handles import Buffer, MemSlice, Pointer, StreamHandle, View
from gpusafe.dataflow.host.host_memory import element_size, host_range, length_of, nonzero
from gpusafe.dataflow.host.indexing import sub_range
from gpusafe.dataflow.host.launching import view_access
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.results import Found
from gpusafe.dataflow.host.scalars import static_type
from gpusafe.dataflow.host.signals import PanicSignal
from gpusafe.dataflow.host.syntax_walk import generic
from gpusafe.dataflow.host.typing_rules import set_elem, size_of
from gpusafe.dataflow.host.values import Cell, IterVal, RangeVal, SeqVal, TupleVal, Unknown, Value, ok, unit
from gpusafe.ir.expr import USIZE, Expr, Type
from gpusafe.ir.host import Alloc, MemAccess
from gpusafe.parse.rust import ast
from gpusafe.span import Span

_KINDS = {
    "DeviceBuffer": ("device", "context"), "DeviceBox": ("device", "context"), "DeviceSlice": ("device", "none"),
    "LockedBuffer": ("pinned", "now"), "LockedBox": ("pinned", "now"),
    "UnifiedBuffer": ("unified", "context"), "UnifiedBox": ("unified", "context"),
}  # fmt: skip


def call_path(
    m: Machine, owner: str, name: str, args: list[Value], expr: ast.Expr, path: ast.Path, expect: ast.Type | None
) -> Found | None:
    """Constructors: ``DeviceBuffer::from_slice`` and kin, raw allocation functions."""
    if owner not in _KINDS:
        return _function(m, name, args, expr, path)
    kind, release = _KINDS[owner]
    asynchronous = name.endswith("_async")
    stream = _stream_in(args) if asynchronous else None
    plain = name.removesuffix("_async")
    match plain:
        case "from_slice":
            made = new_buffer(m, kind, release, length_of(m, args[0]), element_size(m, args[0]), expr.span)
            _fill_from(m, made, args[0], stream, expr.span)
            return Found(ok(made))
        case "zeroed" | "uninitialized":
            boxed = owner.endswith("Box")
            made = new_buffer(m, kind, release, 1 if boxed else args[0], _elem(m, path, expect), expr.span)
            if plain == "zeroed":
                clear(m, made, stream, expr.span)
            return Found(ok(made))
        case "new":
            size = _value_size(m, expr, args) or _elem(m, path, expect)
            made = new_buffer(m, kind, release, args[1] if len(args) > 1 else 1, size, expr.span)
            m.amend_memory(made.memory, initialized=True)
            if kind == "device":
                _fill_from(m, made, args[0], stream, expr.span)
            return Found(ok(made))
        case "drop" if stream is not None and isinstance(args[0], Buffer):
            stub = ast.MethodCall(expr.span, ast.Tuple(expr.span, ()), name, (), expr.span)
            return buffer_method(m, Cell(args[0]), "drop_async", args[1:], stub)
        case "drop" if args:
            m.drop(args[0], expr.span)
            return Found(ok(unit()))
        case "from_raw_parts" | "from_raw" | "wrap":
            return Found(_adopt(m, peel(args[0]), args, release, kind, expr.span))
    return None


def _function(m: Machine, name: str, args: list[Value], expr: ast.Expr, path: ast.Path) -> Found | None:
    values = [peel(a) for a in args]
    match name:
        case "cuda_malloc" | "cuda_malloc_locked" | "cuda_malloc_unified":
            kind = {"cuda_malloc": "device", "cuda_malloc_locked": "pinned"}.get(name, "unified")
            made = new_buffer(m, kind, "none", args[0], _elem(m, path, None), expr.span)
            return Found(ok(Pointer(made.memory, 0, made.elem_bytes, made)))
        case "cuda_free" | "cuda_free_locked" | "cuda_free_unified" if isinstance(values[0], Pointer):
            from gpusafe.ir.host import Free

            waits = "none" if name == "cuda_free_locked" else "context"
            memory = values[0].memory
            m.emit(Free, expr.span, f"free of `{m.memory_name(memory)}`", memory=memory, waits=waits)
            return Found(ok(unit()))
        case "memcpy_htod" | "memcpy_dtoh":
            return None
    return None


def _stream_in(args: list[Value]) -> StreamHandle | None:
    found = [peel(a) for a in args]
    return next((s for s in found if isinstance(s, StreamHandle)), None)


def _elem(m: Machine, path: ast.Path, expect: ast.Type | None) -> int | None:
    types = [g for g in (*path.parent_generics, *path.generics) if isinstance(g, ast.Type)]
    types = [t for t in types if not isinstance(t, ast.TypeOther)]
    if types:
        return size_of(m, types[0])
    inner = generic(expect)
    if isinstance(inner, ast.TypePath) and inner.path.last in _KINDS:
        inner = generic(inner)
    return size_of(m, inner) if inner is not None else None


def element_of(m: Machine, path: ast.Path) -> int | None:
    """The element size that a call's generic arguments give."""
    return _elem(m, path, None)


def _value_size(m: Machine, expr: ast.Expr, args: list[Value]) -> int | None:
    if not isinstance(expr, ast.Call) or not expr.args:
        return None
    first = expr.args[0]
    if isinstance(first, ast.Ref):
        first = first.operand
    found = static_type(m, first)
    if isinstance(found, Type):
        return found.bytes
    if found is not None:
        return size_of(m, found)
    value = peel(args[0])
    return value.type.bytes if isinstance(value, Expr) else element_size(m, value)


def new_buffer(m: Machine, kind: str, release: str, length: Value, size: int | None, span: Span) -> Buffer:
    """An allocation on the host's timeline, uninitialised."""
    from gpusafe.dataflow.host.cust import context

    count = peel(length)
    if not isinstance(count, (int, Expr)):
        count = m.symbol("length", USIZE, 0)
    memory = m.new_memory(
        kind,
        span,
        elem_bytes=size,
        length=terms.as_term(count, USIZE),
        context=context(m).ident,
        initialized=False,
    )
    m.emit(Alloc, span, "allocation", memory=memory)
    return own(m, Buffer(memory, "cust", kind, context(m), count, size, release))


def _adopt(m: Machine, pointer: Value, args: list[Value], release: str, kind: str, span: Span) -> Value:
    if not isinstance(pointer, Pointer):
        return Unknown("a buffer from raw parts")
    length = peel(args[1]) if len(args) > 1 else 1
    if pointer.buffer is not None and pointer.offset == 0:
        pointer.buffer.release = release
        return pointer.buffer
    from gpusafe.dataflow.host.cust import context

    return Buffer(pointer.memory, "cust", kind, context(m), length, pointer.elem_bytes, release)


def _fill_from(m: Machine, made: Buffer, source: Value, stream: StreamHandle | None, span: Span) -> None:
    if made.kind != "device":
        touch(m, source, "read", span)
        m.amend_memory(made.memory, initialized=True, nonzero=nonzero(source))
        return
    copy(m, stream, source, made, span, "upload")


def clear(m: Machine, made: Buffer, stream: StreamHandle | None, span: Span) -> None:
    """Zeros in a new buffer, put there on a stream (None: the NULL stream)."""
    if made.kind != "device":
        m.amend_memory(made.memory, initialized=True)
        return
    from gpusafe.dataflow.host.cust import null_stream

    target = stream or null_stream(m, span)
    accesses = (m.whole(made.memory, "write"),)
    m.enqueue(target, "memset", span, "memset of a new buffer", accesses=accesses, zero=True)


def copy(m: Machine, stream: StreamHandle | None, source: Value, target: Value, span: Span, what: str) -> None:
    """A copy: without a stream synchronous on the NULL stream, with one asynchronous (host sides stay in use)."""
    from gpusafe.dataflow.host.cust import null_stream

    lengths = [terms.known(getattr(peel(v), "length", None)) for v in (source, target)]
    if None not in lengths and lengths[0] != lengths[1]:
        raise PanicSignal  # cust asserts that both sides are of one length before it copies
    for value, other in ((source, target), (target, source)):
        size, found = element_size(m, other), peel(value)
        if isinstance(found, Buffer) and size is not None:
            set_elem(m, found, size)
    on = stream or null_stream(m, span)
    accesses: list[MemAccess] = []
    device_sides = 0
    for value, mode in ((source, "read"), (target, "write")):
        access, device = _side(m, value, mode, span, stream is not None)
        device_sides += device
        if access is not None:
            accesses.append(access)
        elif device is False and stream is not None:
            m.gap(span, f"the host side of {what} is not known")
    # a synchronous upload from pageable memory returns when it is staged, its DMA may still run
    staged = device_sides == 1 and len(accesses) == 1 and accesses[0].mode == "write"
    blocks = stream is None and device_sides == 1 and not staged
    parts = {"blocks_host": blocks, "nonzero": nonzero(source)}
    m.enqueue(on, "copy", span, _label(m, source, target, what), accesses=tuple(accesses), **parts)


def _label(m: Machine, source: Value, target: Value, what: str) -> str:
    for value in (source, target):
        found = peel(value)
        if isinstance(found, View):
            found = found.buffer
        if isinstance(found, Buffer) and found.kind == "device":
            return f"{what} of `{m.memory_name(found.memory)}`"
    return what


def _side(m: Machine, value: Value, mode: str, span: Span, asynchronous: bool) -> tuple[MemAccess | None, bool]:
    found = peel(value)
    if isinstance(found, Buffer) and found.kind != "device":
        found = MemSlice(found.memory, 0, found.length, found.elem_bytes, True)
    if isinstance(found, (Buffer, View, Pointer)):
        return device_access(m, found, mode), True
    if isinstance(found, MemSlice) or asynchronous:
        return host_range(m, value, mode, span), False
    return None, False


def buffer_method(m: Machine, cell: Cell, name: str, args: list[Value], expr: ast.MethodCall) -> Found | None:
    """Methods of buffers and of slices of device buffers."""
    target = cell.value
    assert isinstance(target, (Buffer, View))
    buffer = target if isinstance(target, Buffer) else target.buffer
    span = expr.span
    match action("cust", "Buffer", name):
        case "len":
            return Found(target.length)
        case "is_empty":
            return Found(terms.empty(target.length))
        case "itself":
            return Found(target) if buffer.kind == "device" else None
        case "pointer" if buffer.kind != "pinned":
            start = view_access(m, target, "read").range.start if isinstance(target, View) else 0
            offset = terms.known(start)
            return Found(Pointer(buffer.memory, offset if offset is not None else start, target.elem_bytes, buffer))
        case "copy_from" | "copy_to" | "to_vec" | "async_copy_from" | "async_copy_to":
            return _copy_method(m, target, name, args, span)
        case "set" | "set_async":
            return _set(m, target, name, args, span)
        case "drop_async":
            stream = _stream_in(args)
            if stream is not None:
                label = f"drop_async of `{m.memory_name(buffer.memory)}`"
                m.enqueue(stream, "free", span, label, accesses=(m.whole(buffer.memory, "free"),))
                buffer.release, m.memory[buffer.memory].alive = "none", False
            return Found(ok(unit()))
        case "split" if buffer.kind == "device":
            left = sub_range(m, target, RangeVal(0, peel(args[0])), span)
            return Found(TupleVal([Cell(left), Cell(sub_range(m, target, RangeVal(peel(args[0]), None), span))]))
        case "index" if buffer.kind == "device":
            index = peel(args[0])
            return Found(sub_range(m, target, index, span)) if isinstance(index, RangeVal) else None
        case "chunks" if buffer.kind == "device":
            size = peel(args[0])
            count = terms.div_ceil(target.length, size)

            def get(i: int) -> Value:
                low = terms.mul(terms.Counter(i), size)
                return sub_range(m, target, RangeVal(low, terms.add(low, size) if low is not None else None), span)

            return Found(IterVal(count, get))
        case "upload_symbol" | "download_symbol":
            source, sink = (args[0], target) if name == "copy_htod" else (target, args[0])
            copy(m, None, source, sink, span, "copy")
            return Found(ok(unit()))
    return None


def _copy_method(m: Machine, target: Buffer | View, name: str, args: list[Value], span: Span) -> Found | None:
    if name == "as_host_vec":
        vector = SeqVal("vec", None, target.length)
        copy(m, None, target, vector, span, "download")
        return Found(ok(vector))
    stream = _stream_in(args[1:]) if name.startswith("async") else None
    if name.startswith("async") and stream is None:
        m.gap(span, "the stream of an asynchronous copy is not known")
        return Found(ok(unit()))
    if name.endswith("copy_from"):
        copy(m, stream, args[0], target, span, "copy")
    else:
        copy(m, stream, target, args[0], span, "copy")
    return Found(ok(unit()))


def _set(m: Machine, target: Buffer | View, name: str, args: list[Value], span: Span) -> Found:
    from gpusafe.dataflow.host.cust import null_stream

    stream = _stream_in(args) or null_stream(m, span)
    access = device_access(m, target, "write")
    assert access is not None
    label = f"memset of `{m.memory_name(access.range.memory)}`"
    values = [v for v in map(peel, args) if not isinstance(v, StreamHandle)]
    zero = all(terms.known(v) == 0 for v in values)
    m.enqueue(stream, "memset", span, label, accesses=(access,), zero=zero, nonzero=any(map(nonzero, values)))
    return Found(ok(unit()))
