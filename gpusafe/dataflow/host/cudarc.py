"""cudarc 0.14 to 0.19: contexts, streams, events, slices and launches, with its automatic event tracking as it is.

Read uses wait for the slice's write event and record its read event, write uses wait for both and record the write
event; waits happen only while the context manages synchronisation (tracking on and a counted stream alive), records by
the guards of copies always, those of launches only then (cudarc 0.18/0.19, core.rs and launch.rs).
"""

from __future__ import annotations

from gpusafe.dataflow.host import cudarc_copies, cudarc_launch, cudarc_old, terms
from gpusafe.dataflow.host.access import deref, peel
from gpusafe.dataflow.host.accounting import own
from gpusafe.dataflow.host.api_tables import action
from gpusafe.dataflow.host.cudarc_tracking import read_use, write_use
from gpusafe.dataflow.host.drops import record, retain, wait
from gpusafe.dataflow.host.handles import (
    Buffer,
    Builder,
    Config,
    Context,
    EventHandle,
    FunctionHandle,
    Graph,
    Guard,
    ModuleHandle,
    Pointer,
    Source,
    StreamHandle,
    View,
)
from gpusafe.dataflow.host.indexing import bounds, device_view, is_inside, keep_inside
from gpusafe.dataflow.host.launching import view_access
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.polling import over
from gpusafe.dataflow.host.results import Found
from gpusafe.dataflow.host.typing_rules import size_of
from gpusafe.dataflow.host.values import (
    Cell,
    RangeVal,
    RcBox,
    SharedVal,
    TupleVal,
    TypeVal,
    Unknown,
    Value,
    none,
    ok,
    some,
    unit,
)
from gpusafe.ir.expr import USIZE, Expr
from gpusafe.ir.kernel import Space
from gpusafe.parse.rust import ast
from gpusafe.span import Span


def call_path(
    m: Machine, full: tuple[str, ...], args: list[Value], expr: ast.Expr, path: ast.Path, expect: ast.Type | None
) -> Found | None:
    """Functions and constructors of cudarc."""
    owner, name = (full[-2] if len(full) >= 2 else ""), full[-1]
    match (owner, name):
        case ("CudaContext", "new" | "new_non_primary" | "new_cig"):
            return Found(ok(_context(m, args[0] if args else 0, name == "new")))
        case ("CudaDevice", "new" | "new_with_stream"):
            return Found(ok(cudarc_old.device(m, args[0], name == "new_with_stream", expr.span)))
        case ("LaunchConfig", "for_num_elems"):
            return Found(_for_num_elems(m, args[0]))
        case ("Ptx", "from_src" | "from_file"):
            return Found(Source(_origin_of(m, peel(args[0]), expr)))
        case (_, "compile_ptx" | "compile_ptx_with_opts"):
            return Found(ok(Source(_origin_of(m, peel(args[0]), expr))))
        case ("CudaContext" | "CudaDevice", "device_count"):
            return Found(ok(m.symbol("device_count", terms.SCALARS["i32"], 0)))
        case ("CompileOptions", "default"):
            return Found(TypeVal("options"))
        case ("result" | "stream" | "memory", _):
            return cudarc_copies.raw_call(m, name, args, expr)
    if owner in ("CudaStream", "CudaEvent", "CudaModule", "CudaSlice") and args:
        stub = ast.MethodCall(expr.span, ast.Tuple(expr.span, ()), name, (), expr.span, path.generics)
        return call_method(m, deref(Cell(args[0])), Cell(args[0]), name, args[1:], stub, expect)
    return None


def _context(m: Machine, ordinal: Value, primary: bool) -> Value:
    number = terms.known(ordinal)
    ident = f"device {number}" if number is not None and primary else m.fresh("ctx")
    return SharedVal(RcBox(Cell(Context(ident, "cudarc", number is not None))))


def _for_num_elems(m: Machine, count: Value) -> Config:
    blocks = terms.div_ceil(peel(count), 1024)
    grid = blocks if blocks is not None else Unknown("a size")
    return Config([Cell(grid), Cell(1), Cell(1)], [Cell(1024), Cell(1), Cell(1)], Cell(0))


def _origin(value: Value) -> Span | str | None:
    match value:
        case TypeVal(name="text", payload=(str() as text, Span() as span)):
            return text if text.endswith((".cu", ".ptx", ".cuh")) else span
        case str() as text:
            return text
        case Source(origin=origin):
            return origin
    return None


def _origin_of(m: Machine, value: Value, call: ast.Expr) -> Span | str | None:
    """Where source text comes from; text that is written out is known by its literal."""
    origin = _origin(value)
    if not isinstance(origin, str) or "__global__" not in origin or not isinstance(call, ast.Call) or not call.args:
        return origin
    node: ast.Expr | None = call.args[0]
    if isinstance(node, ast.PathExpr) and m.lookup(node.path.last) is None:
        item = m.program.value_item(node.path.last, m.home)
        if item is not None and isinstance(item.item, (ast.Const, ast.Static)):
            node = item.item.value
    return node.span if isinstance(node, (ast.Lit, ast.MacroCall)) else origin


def call_method(
    m: Machine, cell: Cell, receiver: Cell, name: str, args: list[Value], expr: ast.MethodCall, expect: ast.Type | None
) -> Found | None:
    """A method on one of cudarc's handles."""
    handle = cell.value
    match handle:
        case Context():
            if "device_stream" in handle.extra:
                return cudarc_old.method(m, handle, name, args, expr)
            return _context_method(m, handle, name, args, expr)
        case StreamHandle():
            return _stream_method(m, handle, receiver, name, args, expr)
        case EventHandle():
            return event_method(m, handle, name, args, expr)
        case ModuleHandle():
            return _module_method(m, handle, name, args, expr)
        case FunctionHandle():
            return cudarc_old.launch_method(m, handle, name, args, expr)
        case Buffer() | View():
            return _slice_method(m, cell, name, args, expr)
        case Builder():
            return cudarc_launch.builder_method(m, handle, cell, name, args, expr)
        case Graph():
            return cudarc_launch.graph_method(m, handle, name, args, expr)
    return None


def _context_method(m: Machine, context: Context, name: str, args: list[Value], expr: ast.MethodCall) -> Found | None:
    span = expr.span
    match name:
        case "new_stream" | "new_stream_with_priority":
            if context.counted == 0 and context.tracking:
                m.sync("context", context.ident, span, f"{name} synchronizes the context")
            return Found(ok(_counted_stream(m, context, span)))
        case "default_stream":
            return Found(SharedVal(_singleton(m, context, "legacy", span)))
        case "per_thread_stream":
            return Found(SharedVal(_singleton(m, context, "per_thread", span)))
        case "new_event":
            return Found(ok(EventHandle(m.fresh("event"), context, "cudarc")))
        case "synchronize":
            m.sync("context", context.ident, span, "synchronize of the context")
            return Found(ok(unit()))
        case "disable_event_tracking" | "enable_event_tracking":
            context.tracking = name.startswith("enable")
            return Found(unit())
        case "is_event_tracking":
            return Found(context.tracking)
        case "load_module":
            source = peel(args[0])
            origin = source.origin if isinstance(source, Source) else None
            return Found(ok(SharedVal(RcBox(Cell(ModuleHandle(context, "cudarc", origin, "", m.fresh("module")))))))
        case "alloc_pinned" | "alloc_unified":
            return Found(ok(_host_buffer(m, context, name, args, expr)))
        case "bind_to_thread" | "check_err" | "set_flags" | "set_blocking_synchronize":
            return Found(ok(unit()))
        case "cu_device" | "ordinal" | "name" | "uuid" | "attribute" | "compute_capability" | "mem_get_info" | "cu_ctx":
            return Found(
                ok(Unknown(f"the context's `{name}`")) if name not in ("ordinal", "cu_device") else Unknown(name)
            )
        case (
            "get_limit"
            | "set_limit"
            | "get_cache_config"
            | "set_cache_config"
            | "get_shared_mem_config"
            | "api_version"
        ):
            return Found(ok(Unknown(f"the context's `{name}`")))
        case "is_in_multi_stream_mode":
            return Found(context.counted > 0)
        case "has_async_alloc" | "is_managing_stream_synchronization":
            return Found(Unknown(name))
    return None


def _counted_stream(m: Machine, context: Context | None, span: Span) -> Value:
    stream = m.new_stream(context, "nonblocking", "cudarc", span)
    stream.counted = True
    if context is not None:
        context.counted += 1
    return SharedVal(RcBox(Cell(stream)))


def _singleton(m: Machine, context: Context, kind: str, span: Span) -> RcBox:
    key = f"{kind} {context.ident} {m.thread if kind == 'per_thread' else ''}"
    box = m.singletons.get(key)
    if not isinstance(box, RcBox):
        name = "the default stream" if kind == "legacy" else f"the per-thread stream of {m.thread or 'the main thread'}"
        box = RcBox(Cell(m.new_stream(context, kind, "cudarc", span, name)))
        m.singletons[key] = box
    box.strong += 1
    return box


def _host_buffer(m: Machine, context: Context, name: str, args: list[Value], expr: ast.MethodCall) -> Buffer:
    kind = "pinned" if name == "alloc_pinned" else "unified"
    size = turbofish_size(m, expr)
    length = scalar_length(m, args[0])
    memory = m.new_memory(
        kind, expr.span, elem_bytes=size, length=terms.as_term(length), context=context.ident, initialized=False
    )
    event = EventHandle(m.fresh("event"), context, "cudarc")
    return own(m, Buffer(memory, "cudarc", kind, context, length, size, "event", None, event, event))


def turbofish_size(m: Machine, expr: ast.MethodCall) -> int | None:
    """Element size from ``method::<T>``."""
    types = [g for g in expr.generics if isinstance(g, ast.Type) and not isinstance(g, ast.TypeOther)]
    return size_of(m, types[0]) if types else None


def scalar_length(m: Machine, value: Value) -> Value:
    """A length as a scalar."""
    found = peel(value)
    return found if isinstance(found, (int, Expr)) else m.symbol("length", USIZE, 0)


def _stream_method(
    m: Machine, stream: StreamHandle, receiver: Cell, name: str, args: list[Value], expr: ast.MethodCall
) -> Found | None:
    span = expr.span
    match action("cudarc", "CudaStream", name):
        case "synchronize":
            m.sync("stream", stream.ident, span, f"synchronize of `{stream.name or stream.ident}`")
            return Found(ok(unit()))
        case "fork":
            made = _counted_stream(m, stream.context, span)
            _join(m, deref(Cell(made)).value, stream, span, "fork")
            return Found(ok(made))
        case "join":
            other = peel(args[0])
            if isinstance(other, StreamHandle):
                _join(m, stream, other, span, "join")
                return Found(ok(unit()))
            return None
        case "wait":
            event = peel(args[0])
            if isinstance(event, EventHandle):
                wait(m, stream, event, span, f"wait of `{stream.name}` for `{event.name or 'an event'}`")
                return Found(ok(unit()))
            return None
        case "record_event":
            event = EventHandle(m.fresh("event"), stream.context, "cudarc")
            record(m, event, stream, span, f"record on `{stream.name}`")
            return Found(ok(event))
        case "launch_builder":
            function = peel(args[0])
            found = function if isinstance(function, FunctionHandle) else None
            return Found(Builder(stream, found, "cudarc"))
        case "context":
            return Found(SharedVal(RcBox(Cell(stream.context), 1000)) if stream.context else Unknown("a context"))
        case "cu_stream":
            return Found(stream)
        case "begin_capture":
            m.capture[stream.ident] = []
            return Found(ok(unit()))
        case "end_capture":
            ops = m.end_capture(stream)
            return Found(ok(some(Graph(stream, ops, "cudarc")) if ops else none()))
        case "nothing":
            return Found(ok(Unknown(name)))
        case str() as what:
            box = retain(m, receiver.value)
            if box is None:
                box = RcBox(Cell(stream), 1000)
            try:
                return cudarc_copies.stream_copy(m, stream, box, what, args, expr)
            finally:
                box.strong -= 1
    return None


def _join(m: Machine, waiter: Value, other: StreamHandle, span: Span, how: str) -> None:
    """``waiter`` waits for what is on ``other`` now."""
    assert isinstance(waiter, StreamHandle)
    event = EventHandle(m.fresh("event"), other.context, "cudarc")
    record(m, event, other, span, f"{how}: record on `{other.name}`")
    wait(m, waiter, event, span, f"{how}: wait for `{other.name}`")


def event_method(m: Machine, event: EventHandle, name: str, args: list[Value], expr: ast.MethodCall) -> Found | None:
    """Methods of CudaEvent (cudarc and cuda-oxide)."""
    match name:
        case "record":
            stream = peel(args[0])
            if not isinstance(stream, StreamHandle):
                return None
            record(m, event, stream, expr.span, f"record of `{event.name or 'an event'}` on `{stream.name}`")
            return Found(ok(unit()))
        case "synchronize":
            m.sync("event", event.ident, expr.span, f"synchronize of `{event.name or 'an event'}`")
            return Found(ok(unit()))
        case "is_complete":
            return Found(over(m, event, expr.span))
        case "query":
            return Found(ok(over(m, event, expr.span)))
        case "elapsed_ms" | "elapsed" | "context" | "cu_event" | "elapsed_time_f32":
            return Found(ok(Unknown(f"`{name}`")))
    return None


def _module_method(
    m: Machine, module: ModuleHandle, name: str, args: list[Value], expr: ast.MethodCall
) -> Found | None:
    match name:
        case "load_function":
            kernel = peel(args[0])
            text = kernel if isinstance(kernel, str) else _text_of(m, kernel)
            return Found(ok(FunctionHandle(module, text, "cudarc")))
        case "get_global":
            symbol = peel(args[0])
            text = symbol if isinstance(symbol, str) else _text_of(m, symbol)
            return Found(ok(global_view(m, module, text, expr.span, "cudarc")))
    return None


def _text_of(m: Machine, value: Value) -> str:
    if isinstance(value, TypeVal) and isinstance(value.payload, tuple):
        return str(value.payload[0])
    return ""


def global_view(m: Machine, module: ModuleHandle, symbol: str, span: Span, dialect: str) -> View:
    """A module's symbol as an untracked view; the same memory each time."""
    key = f"global {module.ident} {symbol}"
    buffer = m.singletons.get(key)
    if not isinstance(buffer, Buffer):
        regions = [r for k in m.program.kernels for r in k.regions if r.name == symbol and r.param is None]
        constant = any(r.space is Space.CONSTANT for r in regions)
        size = regions[0].elem_bytes if regions else None
        length = regions[0].length if regions else None
        context = module.context.ident if module.context is not None else None
        memory = m.new_memory(
            "constant" if constant else "static", span, elem_bytes=size, length=length, context=context, name=symbol
        )
        total = terms.mul(length, size) if length is not None and size else m.symbol(f"size of {symbol}", USIZE)
        buffer = Buffer(memory, dialect, "device", module.context, total, 1, "none", name=symbol)
        m.singletons[key] = buffer
    return View(buffer, 0, buffer.length, 1, True)


def _slice_method(m: Machine, cell: Cell, name: str, args: list[Value], expr: ast.MethodCall) -> Found | None:
    target = cell.value
    assert isinstance(target, (Buffer, View))
    buffer = target if isinstance(target, Buffer) else target.buffer
    start: Value = 0 if isinstance(target, Buffer) else target.start
    size = target.elem_bytes
    mutable = name.endswith("_mut")
    match action("cudarc", "CudaSlice", name):
        case "len":
            return Found(target.length)
        case "num_bytes":
            total = terms.mul(target.length, size) if size else None
            return Found(total if total is not None else m.symbol("num_bytes", USIZE))
        case "is_empty":
            return Found(terms.empty(target.length))
        case "view":
            return Found(View(buffer, start, target.length, size, mutable))
        case "slice":
            if name.startswith("try_") and not _within(m, target.length, args[0], expr):
                return Found(none())
            view = _sub_view(m, target, buffer, start, args[0], size, mutable)
            return Found(some(view) if name.startswith("try_") else view)
        case "split":
            left = View(buffer, start, scalar_length(m, args[0]), size, mutable)
            rest = terms.add(start, left.length)
            count = terms.sub(target.length, left.length)
            right = device_view(m, buffer, rest, count if count is not None else Unknown("a length"), size, mutable)
            return Found(TupleVal([Cell(left), Cell(right)]))
        case "transmute":
            return Found(some(_transmute(m, target, buffer, args, expr, mutable)))
        case "device_ptr":
            return Found(_device_ptr(m, target, buffer, args, expr, mutable))
        case "host_slice":
            return _host_slice(m, buffer, name, expr)
        case "leak":
            buffer.release = "none"
            return Found(Pointer(buffer.memory, 0, size, buffer))
        case "stream":
            return Found(
                SharedVal(RcBox(Cell(buffer.stream.cell.value), 1000)) if buffer.stream else Unknown("a stream")
            )
        case "context":
            return Found(SharedVal(RcBox(Cell(buffer.context), 1000)) if buffer.context else Unknown("a context"))
        case "clone":
            return _clone(m, target, buffer, expr)
    return None


def _within(m: Machine, length: Value, range_: Value, expr: ast.MethodCall) -> bool:
    """Whether ``try_slice`` gives a slice."""
    found = peel(range_)
    words = f"{m.source_text(expr)} is Some"
    if isinstance(found, RangeVal):
        return is_inside(m, found, length, words, expr.span)
    return m.decide(Unknown("a range"), words, expr.span)


def _sub_view(
    m: Machine, target: Buffer | View, buffer: Buffer, start: Value, range_: Value, size: int | None, mutable: bool
) -> View:
    found = peel(range_)
    if not isinstance(found, RangeVal):
        return device_view(m, buffer, None, Unknown("a length"), size, mutable)
    keep_inside(m, found, target.length)
    first, count = bounds(found, target.length)
    return device_view(m, buffer, terms.add(start, first), count, size, mutable)


def _transmute(
    m: Machine, target: Buffer | View, buffer: Buffer, args: list[Value], expr: ast.MethodCall, mutable: bool
) -> View:
    size = turbofish_size(m, expr)
    start: Value = 0 if isinstance(target, Buffer) else target.start
    if start != 0 and size and target.elem_bytes:
        position = terms.known(terms.mul(start, target.elem_bytes))
        start = position // size if position is not None and position % size == 0 else m.symbol("start", USIZE)
    return View(buffer, start, scalar_length(m, args[0]), size, mutable)


def _device_ptr(
    m: Machine, target: Buffer | View, buffer: Buffer, args: list[Value], expr: ast.MethodCall, mutable: bool
) -> Value:
    stream = peel(args[0]) if args else None
    offset = view_access(m, target, "read").range.start if isinstance(target, View) else 0
    pointer = Pointer(buffer.memory, terms.known(offset) if terms.known(offset) is not None else offset, None, buffer)
    if not isinstance(stream, StreamHandle):
        return pointer
    name = m.memory_name(buffer.memory)
    use = write_use if mutable else read_use
    event = use(m, stream, buffer, expr.span, f"device_ptr of `{name}`")
    return TupleVal([Cell(pointer), Cell(Guard(event, stream, f"guard of `{name}`"))])


def _host_slice(m: Machine, buffer: Buffer, name: str, expr: ast.MethodCall) -> Found:
    """``as_slice`` of pinned and unified memory waits for its event; ``as_ptr`` too, and then no more."""
    from gpusafe.dataflow.host.handles import MemSlice

    if buffer.read is not None:
        m.sync("event", buffer.read.ident, expr.span, f"{name} of `{m.memory_name(buffer.memory)}` waits for its event")
    if name.endswith("ptr"):
        return Found(ok(Pointer(buffer.memory, 0, buffer.elem_bytes, buffer)))
    return Found(ok(MemSlice(buffer.memory, 0, buffer.length, buffer.elem_bytes, name == "as_mut_slice")))


def _clone(m: Machine, target: Buffer | View, buffer: Buffer, expr: ast.MethodCall) -> Found | None:
    if isinstance(target, View):
        return Found(target)
    stream = buffer.stream.cell.value if buffer.stream is not None else None
    if isinstance(stream, StreamHandle) and buffer.stream is not None:
        made = cudarc_copies.stream_copy(m, stream, buffer.stream, "clone_dtod", [target], expr)
        assert made is not None
        result = made.value
        return Found(getattr(result, "fields", {"0": Cell(result)})["0"].value)
    return None
