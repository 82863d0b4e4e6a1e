"""cuda_async and cutile: operations that run when they are synchronised or awaited, each on the next stream of a pool.

``and_then`` and ``zip!`` run in order on one stream, and their closures run at enqueue. A top-level ``sync`` or
``await`` takes the next of four non-blocking streams of the host thread and waits for it (cuda-async,
device_operation.rs and device_context.rs). A DeviceBox or Tensor is freed on a deallocator stream that is ordered
with nothing.
"""

from __future__ import annotations

from gpusafe.dataflow.host import cutile, terms
from gpusafe.dataflow.host.access import deref, peel
from gpusafe.dataflow.host.accounting import own
from gpusafe.dataflow.host.capturing import run_closure
from gpusafe.dataflow.host.drops import take
from gpusafe.dataflow.host.handles import Buffer, Context, ExecContext, Lazy, Pointer, StreamHandle, View
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.results import Found
from gpusafe.dataflow.host.values import (
    Cell,
    ClosureVal,
    RcBox,
    RefVal,
    SharedVal,
    StructVal,
    TupleVal,
    TypeVal,
    Unknown,
    Value,
    ok,
    unit,
)
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.macros import parse_args
from gpusafe.span import Span

POOL = 4


def async_context(m: Machine) -> Context:
    """The context of the default device."""
    found = m.singletons.get("async context")
    if not isinstance(found, Context):
        found = Context("device 0", "oxide")
        m.singletons["async context"] = found
    return found


def deallocator(m: Machine, span: Span) -> StreamHandle:
    """The stream that boxes are freed on."""
    found = m.singletons.get("deallocator")
    if not isinstance(found, StreamHandle):
        found = m.new_stream(async_context(m), "nonblocking", "oxide", span, "the deallocator stream")
        m.singletons["deallocator"] = found
    return found


def next_stream(m: Machine, span: Span) -> StreamHandle:
    """The pool's next stream of this host thread."""
    key = f"pool {m.thread or 'main'}"
    turn = m.singletons.get(key, 0)
    m.singletons[key] = turn + 1
    name = f"{key} stream {turn % POOL}"
    found = m.singletons.get(name)
    if not isinstance(found, StreamHandle):
        shown = f"pool stream {turn % POOL}" + (f" of {m.thread}" if m.thread else "")
        found = m.new_stream(async_context(m), "nonblocking", "oxide", span, shown)
        m.singletons[name] = found
    return found


def call_path(
    m: Machine, full: tuple[str, ...], args: list[Value], expr: ast.Expr, path: ast.Path, expect: ast.Type | None
) -> Found | None:
    """``value``, ``with_context``, raw stream-ordered memory calls, DeviceBox."""
    owner, name = (full[-2] if len(full) >= 2 else ""), full[-1]
    match name:
        case "init_device_contexts" | "set_default_device" | "sweep" | "drain":
            return Found(ok(unit()))
        case "value" if args:
            return Found(Lazy("value", (args[0],), "async", expr.span))
        case "empty" if args:
            return Found(Lazy("empty", (args[0],), "async", expr.span))
        case "with_context" if args:
            return Found(Lazy("with_context", (args[0],), "async", expr.span))
        case "from_raw_parts" if owner == "DeviceBox":
            deallocator(m, expr.span)
            return Found(_box(m, args))
        case "spawn" if owner in ("tokio", "task") and args:
            return Found(args[0])
        case "block_on" if args:
            from gpusafe.dataflow.host.lazy import resolve

            return Found(resolve(m, args[0], expr))
    raw = _raw(m, name, args, expr)
    return raw if raw is not None else cutile.call_path(m, full, args, expr, path, expect)


def _box(m: Machine, args: list[Value]) -> Value:
    pointer = peel(args[0])
    if not isinstance(pointer, Pointer):
        return Unknown("a box from raw parts")
    length = peel(args[1])
    buffer = pointer.buffer
    size = buffer.elem_bytes if buffer is not None else None
    if size is None and buffer is not None:
        total, count = terms.known(m.memory[pointer.memory].memory.length), terms.known(length)
        size = total // count if total is not None and count and total % count == 0 else None
    context = async_context(m)
    info = m.memory[pointer.memory].memory
    if size and info.elem_bytes == 1:
        m.amend_memory(pointer.memory, elem_bytes=size, length=terms.as_term(length) or info.length)
    return own(m, Buffer(pointer.memory, "async", "device", context, length, size, "pool"))


def _raw(m: Machine, name: str, args: list[Value], expr: ast.Expr) -> Found | None:
    """``malloc_async`` and kin of cuda_core::memory."""
    values = [peel(a) for a in args]
    stream = next((v for v in values if isinstance(v, StreamHandle)), None)
    span = expr.span
    match name:
        case "malloc_async" if stream is not None:
            size = next((v for v in values if not isinstance(v, StreamHandle)), 0)
            context = stream.context.ident if stream.context is not None else None
            memory = m.new_memory(
                "device", span, elem_bytes=1, length=terms.as_term(size), context=context, initialized=False
            )
            m.enqueue(stream, "alloc", span, "allocation", accesses=(m.whole(memory, "write"),))
            owner = Buffer(memory, "async", "device", stream.context, size, None, "none")
            return Found(ok(Pointer(memory, 0, None, owner)))
        case "free_async" if stream is not None:
            pointer = next((v for v in values if isinstance(v, Pointer)), None)
            if pointer is None:
                return None
            label = f"free of `{m.memory_name(pointer.memory)}`"
            m.enqueue(stream, "free", span, label, accesses=(m.whole(pointer.memory, "free"),))
            return Found(ok(unit()))
        case "memset_d8_async" | "memcpy_dtod_async" | "memcpy_htod_async" | "memcpy_dtoh_async" if stream is not None:
            return _raw_copy(m, name, values, args, stream, span)
        case "malloc_sync":
            memory = m.new_memory("device", span, elem_bytes=1, length=terms.as_term(values[0]), initialized=False)
            from gpusafe.ir.host import Alloc

            m.emit(Alloc, span, "allocation", memory=memory)
            return Found(ok(Pointer(memory, 0, None, Buffer(memory, "oxide", "device", None, values[0], None, "none"))))
        case "free_sync" if isinstance(values[0], Pointer):
            from gpusafe.ir.host import Free

            m.emit(Free, span, f"free of `{m.memory_name(values[0].memory)}`", memory=values[0].memory, waits="context")
            return Found(ok(unit()))
    return None


def _raw_copy(
    m: Machine, name: str, values: list[Value], args: list[Value], stream: StreamHandle, span: Span
) -> Found | None:
    """Raw asynchronous copies: host sides stay in use until the stream has passed them."""
    from gpusafe.dataflow.host.host_memory import host_range, nonzero

    size = values[2] if len(values) > 2 else None
    if name == "memset_d8_async":
        if not isinstance(values[0], Pointer):
            return None
        access = m.span_access(values[0].memory, values[0].offset, size, "write")
        label = f"memset of `{m.memory_name(values[0].memory)}`"
        parts = {"zero": terms.known(values[1]) == 0, "nonzero": nonzero(values[1])}
        m.enqueue(stream, "memset", span, label, accesses=(access,), **parts)
        return Found(ok(unit()))
    accesses = []
    for original, mode in ((args[1], "read"), (args[0], "write")):
        found = deref(Cell(original)).value
        if isinstance(found, Pointer):
            accesses.append(m.span_access(found.memory, found.offset, size, mode))
        else:
            host = host_range(m, original, mode, span)
            if host is not None:
                accesses.append(host)
    m.enqueue(stream, "copy", span, "copy", accesses=tuple(accesses), nonzero=nonzero(args[1]))
    return Found(ok(unit()))


def call_method(
    m: Machine, cell: Cell, receiver: Cell, name: str, args: list[Value], expr: ast.MethodCall, expect: ast.Type | None
) -> Found | None:
    """Methods of operations, boxes, tensors and execution contexts."""
    match cell.value:
        case Lazy() as lazy:
            return _lazy_method(m, cell, lazy, name, args, expr)
        case ExecContext() as context:
            return _context_method(m, context, name)
        case Buffer() | View():
            return _box_method(m, cell, name, args, expr)
    return cutile.call_method(m, cell, receiver, name, args, expr)


def call_any(m: Machine, target: Cell, name: str, args: list[Value], expr: ast.MethodCall) -> Found | None:
    """Extension methods: tuples of operations zip, any value becomes an operation."""
    match name:
        case "zip" if isinstance(target.value, TupleVal):
            return Found(Lazy("zip", tuple(c.value for c in target.value.items), "async", expr.span))
        case "into_buffer" | "buffer" | "width" if (
            isinstance(target.value, StructVal) and "buffer" in target.value.fields
        ):
            field = target.value.fields["width" if name == "width" else "buffer"]
            return Found(take(m, field) if name != "buffer" else RefVal(field))
        case "device_operation":
            return Found(Lazy("value", (take(m, target),), "async", expr.span))
    return cutile.call_any(m, target, name, args, expr)


def _lazy_method(
    m: Machine, cell: Cell, lazy: Lazy, name: str, args: list[Value], expr: ast.MethodCall
) -> Found | None:
    match name:
        case "sync":
            return Found(complete(m, lazy, expr.span))
        case "sync_on" | "async_on":
            stream = peel(args[0])
            if not isinstance(stream, StreamHandle):
                return None
            result = run(m, lazy, stream)
            if name == "sync_on":
                m.sync("stream", stream.ident, expr.span, "sync_on waits for its stream")
            return Found(ok(result))
        case "and_then" | "apply" | "then" | "then_unchecked" | "and_then_with_context":
            return Found(Lazy(name, (lazy, args[0]), lazy.dialect, expr.span))
        case "into_future" | "schedule" | "boxed" | "into_op" | "fuse" | "map_err" | "record":
            return Found(lazy)
        case "arc" | "shared":
            return Found(Lazy("arc", (lazy,), lazy.dialect, expr.span))
        case "execute":
            context = peel(args[0])
            if isinstance(context, ExecContext):
                return Found(ok(run(m, lazy, context.stream)))
        case "unzip":
            left = Lazy("half", (lazy, 0), lazy.dialect, expr.span)
            return Found(TupleVal([Cell(left), Cell(Lazy("half", (lazy, 1), lazy.dialect, expr.span))]))
        case "grid" | "const_grid" | "generics" | "compile_options":
            return Found(lazy)
    return cutile.lazy_method(m, lazy, name, args, expr)


def _context_method(m: Machine, context: ExecContext, name: str) -> Found | None:
    match name:
        case "get_cuda_stream" | "stream":
            return Found(SharedVal(RcBox(Cell(context.stream), 1000)))
        case "get_cuda_context":
            return Found(SharedVal(RcBox(Cell(async_context(m)), 1000)))
        case "get_device_id":
            return Found(0)
    return None


def _box_method(m: Machine, cell: Cell, name: str, args: list[Value], expr: ast.MethodCall) -> Found | None:
    target = cell.value
    buffer = target.buffer if isinstance(target, View) else target
    assert isinstance(buffer, Buffer)
    match name:
        case "len":
            return Found(buffer.length)
        case "is_empty":
            return Found(terms.empty(buffer.length))
        case "cu_deviceptr" | "device_pointer":
            return Found(Pointer(buffer.memory, 0, None, buffer))
        case "device_id":
            return Found(0)
        case "stream":
            return Found(Unknown("a stream"))
    return cutile.tensor_method(m, cell, buffer, name, args, expr)


def complete(m: Machine, lazy: Lazy, span: Span) -> Value:
    """A top-level ``sync`` or ``await``: the next stream of the pool, and the host waits for it."""
    if lazy.dialect == "std":
        return _async_function(m, lazy, span)
    if lazy.kind == "started":
        started = peel(lazy.parts[1])
        assert isinstance(started, StreamHandle)
        m.sync("stream", started.ident, span, f"the host waits for {started.name}")
        return ok(ok(lazy.parts[0]))
    stream = next_stream(m, span)
    m.call.at = span
    result = run(m, lazy, stream)
    m.sync("stream", stream.ident, span, f"the host waits for {stream.name}")
    return ok(result)


def start(m: Machine, lazy: Lazy, span: Span) -> Value:
    """A spawned operation: its work is enqueued now, the host waits for it when it is awaited."""
    stream = next_stream(m, span)
    return Lazy("started", (run(m, lazy, stream), RefVal(Cell(stream))), "async", span)


def _async_function(m: Machine, lazy: Lazy, span: Span) -> Value:
    from gpusafe.dataflow.host.inlining import enter
    from gpusafe.dataflow.host.program import Function

    head = lazy.parts[0]
    if isinstance(head, ClosureVal):
        return run_closure(m, head, [], span, consume=True)
    assert isinstance(head, TypeVal) and isinstance(head.payload, tuple)
    function, path = head.payload
    assert isinstance(function, Function)
    return enter(m, function, list(lazy.parts[1:]), span, path)


def run(m: Machine, value: Value, stream: StreamHandle) -> Value:
    """Executes an operation on a stream; its result is there when the work is enqueued."""
    lazy = peel(value)
    if not isinstance(lazy, Lazy):
        return value
    with m.deeper():
        match lazy.kind:
            case "value":
                return lazy.parts[0]
            case "empty":
                return run(m, m.invoke(lazy.parts[0], [], lazy.span), stream)
            case "with_context":
                context = ExecContext(stream, "async")
                return run(m, _call(m, lazy.parts[0], [context], lazy.span), stream)
            case "zip":
                return TupleVal([Cell(run(m, part, stream)) for part in lazy.parts])
            case "and_then" | "then" | "then_unchecked" | "apply" | "and_then_with_context":
                first = run(m, lazy.parts[0], stream)
                args: list[Value] = [first]
                if lazy.kind == "and_then_with_context":
                    args = [ExecContext(stream, "async"), first]
                return run(m, _call(m, lazy.parts[1], args, lazy.span), stream)
            case "arc":
                return SharedVal(RcBox(Cell(run(m, lazy.parts[0], stream))))
            case "launch" | "launch_owned":
                from gpusafe.dataflow.host.oxide_launch import run_lazy

                return run_lazy(m, lazy, stream)
            case "half":
                return _half(m, lazy, stream)
            case "async" | "async_fn":
                return _async_function(m, lazy, lazy.span)
        return cutile.run(m, lazy, stream)


def _half(m: Machine, lazy: Lazy, stream: StreamHandle) -> Value:
    whole, index = lazy.parts
    assert isinstance(whole, Lazy) and isinstance(index, int)
    if whole.done is None:
        whole.done = run(m, whole, stream)
    done = whole.done
    return take(m, done.items[index]) if isinstance(done, TupleVal) and index < len(done.items) else Unknown("a half")


def _call(m: Machine, function: Value, args: list[Value], span: Span) -> Value:
    target = peel(function)
    if isinstance(target, ClosureVal):
        return run_closure(m, target, args, span, consume=True)
    return m.invoke(function, args, span)


def call_macro(m: Machine, expr: ast.MacroCall) -> Found | None:
    """``zip!``, ``unzip!``, ``try_join!`` and ``join!``."""
    args = m.program.once("parse_args", expr, lambda: parse_args(expr)) or ()
    name = expr.path.last
    values = [m.value(a) for a in args]
    if not any(isinstance(peel(v), Lazy) for v in values):
        return None
    if name == "zip":
        if len(values) == 1:
            return Found(values[0])
        return Found(Lazy("zip", tuple(values), "async", expr.span))
    if name == "unzip":
        lazy = peel(values[0])
        return _lazy_method(m, Cell(lazy), lazy, "unzip", [], _stub(expr)) if isinstance(lazy, Lazy) else None
    if name in ("join", "try_join"):
        return Found(_join(m, values, args, name == "try_join"))
    return None


def _stub(expr: ast.MacroCall) -> ast.MethodCall:
    return ast.MethodCall(expr.span, ast.Tuple(expr.span, ()), "unzip", (), expr.span)


def _join(m: Machine, values: list[Value], nodes: tuple[ast.Expr, ...], fallible: bool) -> Value:
    """All futures are started, each on its stream, before the host waits for any."""
    results: list[Cell] = []
    waiting: list[tuple[StreamHandle, Span]] = []
    for value, node in zip(values, nodes, strict=True):
        lazy = peel(value)
        if not isinstance(lazy, Lazy):
            results.append(Cell(Unknown("a future")))
            continue
        if lazy.dialect == "std":
            found = _async_function(m, lazy, node.span)
            inner = found.fields["0"].value if hasattr(found, "fields") and fallible else found
            results.append(Cell(inner))
            continue
        stream = next_stream(m, node.span)
        m.call.at = node.span
        result = run(m, lazy, stream)
        results.append(Cell(result if fallible else ok(result)))
        waiting.append((stream, node.span))
    for stream, span in waiting:
        m.sync("stream", stream.ident, span, f"the host waits for {stream.name}")
    return ok(TupleVal(results)) if fallible else TupleVal(results)
