"""cust and RustaCUDA: blocking streams, synchronous copies on the NULL stream, raw device pointers everywhere.

cust strips NON_BLOCKING from the flags of ``Stream::new`` (crates/cust/src/stream.rs), RustaCUDA keeps it. Drops of
device memory are cuMemFree, drops of page-locked memory wait for nothing.
"""

from __future__ import annotations

from gpusafe.dataflow.host import cust_memory, terms
from gpusafe.dataflow.host.access import deref, peel
from gpusafe.dataflow.host.api_tables import action
from gpusafe.dataflow.host.callbacks import enqueue_callback
from gpusafe.dataflow.host.cudarc_launch import enqueue_launch
from gpusafe.dataflow.host.drops import record, wait
from gpusafe.dataflow.host.handles import (
    Buffer,
    BuiltArg,
    Config,
    Context,
    EventHandle,
    FunctionHandle,
    ModuleHandle,
    Pointer,
    StreamHandle,
    View,
)
from gpusafe.dataflow.host.launching import argument, find_kernel, shape_of, triple
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.polling import over
from gpusafe.dataflow.host.results import Found
from gpusafe.dataflow.host.values import Cell, StructVal, TypeVal, Unknown, Value, ok, unit
from gpusafe.ir.expr import U32
from gpusafe.ir.kernel import KernelParam
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.macros import parse_launch
from gpusafe.span import Span

KERNELS = ("cuda_std", "ptx-kernel", "cuda-c", "ptx")


def call_path(
    m: Machine, full: tuple[str, ...], args: list[Value], expr: ast.Expr, path: ast.Path, expect: ast.Type | None
) -> Found | None:
    """Functions and constructors of cust and RustaCUDA."""
    owner, name = (full[-2] if len(full) >= 2 else ""), full[-1]
    match (owner, name):
        case (_, "quick_init"):
            return Found(ok(context(m)))
        case ("Context" | "NewContext" | "UnownedContext" | "CurrentContext" | "ContextHandle", _):
            return _context_call(m, name, expr.span)
        case ("cust" | "rustacuda", "init") | ("Device", _):
            return Found(ok(TypeVal("device")))
        case ("Stream", "new"):
            return Found(ok(_stream(m, args, expr.span)))
        case ("Event", "new"):
            return Found(ok(EventHandle(m.fresh("event"), context(m), "cust")))
        case ("Module", _):
            origin = _origin(peel(args[0])) if args else None
            return Found(ok(ModuleHandle(context(m), "cust", origin, "", m.fresh("module"))))
        case ("Stream" | "Event", method) if args:
            stub = ast.MethodCall(expr.span, ast.Tuple(expr.span, ()), method, (), expr.span, path.generics)
            return call_method(m, deref(Cell(args[0])), Cell(args[0]), method, args[1:], stub, expect)
    return cust_memory.call_path(m, owner, name, args, expr, path, expect)


def context(m: Machine) -> Context:
    """The current context of the thread (one for the whole program unless more are made)."""
    found = m.singletons.get("cust context")
    if not isinstance(found, Context):
        found = Context("device 0", "cust")
        m.singletons["cust context"] = found
    return found


def _context_call(m: Machine, name: str, span: Span) -> Found:
    match name:
        case "synchronize":
            m.sync("context", context(m).ident, span, "synchronize of the context")
            return Found(ok(unit()))
        case "new" | "create_and_push":
            if "cust context" in m.singletons and m.memory:
                m.singletons["cust context"] = Context(m.fresh("ctx"), "cust")
            return Found(ok(context(m)))
    return Found(ok(unit()))


def _stream(m: Machine, args: list[Value], span: Span) -> StreamHandle:
    flags = peel(args[0]) if args else None
    names = flags.payload if isinstance(flags, TypeVal) and isinstance(flags.payload, tuple) else ()
    kept = "rustacuda" in m.home.unit.file.text or "rustacuda" in m.home.unit.versions
    kind = "nonblocking" if kept and names[-1:] == ("NON_BLOCKING",) else "blocking"
    return m.new_stream(context(m), kind, "cust", span)


def _origin(value: Value) -> Span | str | None:
    if isinstance(value, TypeVal) and isinstance(value.payload, tuple) and value.payload:
        first = value.payload[0]
        return first if isinstance(first, str) and first.endswith((".ptx", ".cubin")) else None
    return None


def null_stream(m: Machine, span: Span) -> StreamHandle:
    """The NULL stream, where synchronous copies run."""
    found = m.singletons.get("null stream")
    if not isinstance(found, StreamHandle):
        found = m.new_stream(context(m), "legacy", "cust", span, "the NULL stream")
        m.singletons["null stream"] = found
    return found


def call_method(
    m: Machine, cell: Cell, receiver: Cell, name: str, args: list[Value], expr: ast.MethodCall, expect: ast.Type | None
) -> Found | None:
    """A method on a handle."""
    handle = cell.value
    match handle:
        case StreamHandle():
            return _stream_method(m, handle, name, args, expr)
        case EventHandle():
            return _event_method(m, handle, name, args, expr)
        case ModuleHandle() if name == "get_function":
            text = peel(args[0])
            shown = str(text.payload[0]) if isinstance(text, TypeVal) and isinstance(text.payload, tuple) else text
            return Found(ok(FunctionHandle(handle, shown if isinstance(shown, str) else "", "cust")))
        case ModuleHandle() if name == "get_global":
            from gpusafe.dataflow.host.cudarc import global_view

            text = peel(args[0])
            shown = str(text.payload[0]) if isinstance(text, TypeVal) and isinstance(text.payload, tuple) else ""
            return Found(ok(global_view(m, handle, text if isinstance(text, str) else shown, expr.span, "cust")))
        case FunctionHandle() if name == "suggested_launch_configuration":
            pair = [Cell(m.symbol("grid", U32, 1)), Cell(m.symbol("block", U32, 1, 1024))]
            from gpusafe.dataflow.host.values import TupleVal

            return Found(ok(TupleVal(pair)))
        case FunctionHandle():
            return Found(ok(Unknown(name)))
        case Context():
            return Found(ok(unit()))
        case Buffer() | View():
            return cust_memory.buffer_method(m, cell, name, args, expr)
        case Pointer():
            return pointer_method(m, handle, name, args, expr)
    return None


def call_any(
    m: Machine, target: Cell, receiver: Cell, name: str, args: list[Value], expr: ast.MethodCall
) -> Found | None:
    """Extension methods on host data: ``as_dbuf`` and kin; raw pointers."""
    if name in ("as_dbuf", "as_unified_buf") and not args:
        kind = "DeviceBuffer" if name == "as_dbuf" else "UnifiedBuffer"
        path = ast.Path(expr.span, (kind, "from_slice"))
        return cust_memory.call_path(m, kind, "from_slice", [target.value], expr, path, None)
    if isinstance(target.value, Pointer):
        return pointer_method(m, target.value, name, args, expr)
    return None


def pointer_method(m: Machine, pointer: Pointer, name: str, args: list[Value], expr: ast.MethodCall) -> Found | None:
    """Arithmetic on raw pointers, in elements."""
    match action("cust", "Pointer", name):
        case "add":
            count = peel(args[0])
            size = pointer.elem_bytes
            step = terms.mul(count, size) if size else None
            if name.endswith("sub") and step is not None:
                offset = terms.sub(pointer.offset, step)
            else:
                offset = terms.add(pointer.offset, step) if step is not None else None
            found = offset if offset is not None else m.symbol("offset")
            return Found(Pointer(pointer.memory, found, size, pointer.buffer))
        case "cast":
            from gpusafe.dataflow.host.typing_rules import size_of

            types = [g for g in expr.generics if isinstance(g, ast.Type)]
            return Found(
                Pointer(pointer.memory, pointer.offset, size_of(m, types[0]) if types else None, pointer.buffer)
            )
        case "itself":
            return Found(pointer)
        case "nothing":
            return Found(Unknown(name))
    return None


def _stream_method(
    m: Machine, stream: StreamHandle, name: str, args: list[Value], expr: ast.MethodCall
) -> Found | None:
    match action("cust", "Stream", name):
        case "synchronize":
            m.sync("stream", stream.ident, expr.span, f"synchronize of `{stream.name or stream.ident}`")
            return Found(ok(unit()))
        case "wait_event":
            event = peel(args[0])
            if not isinstance(event, EventHandle):
                return None
            wait(m, stream, event, expr.span, f"wait of `{stream.name}` for `{event.name or 'an event'}`")
            return Found(ok(unit()))
        case "callback":
            enqueue_callback(m, stream, args[0], expr.span)
            return Found(ok(unit()))
        case "nothing":
            return Found(ok(Unknown(name)))
        case "handle":
            return Found(stream)
    return None


def _event_method(m: Machine, event: EventHandle, name: str, args: list[Value], expr: ast.MethodCall) -> Found | None:
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
        case "query":
            return Found(ok(StructVal("EventStatus", {}, "Ready" if over(m, event, expr.span) else "NotReady")))
        case "elapsed" | "elapsed_time_f32":
            return Found(ok(Unknown(f"`{name}`")))
    return None


def launch_macro(m: Machine, expr: ast.MacroCall) -> Found | None:
    """``launch!(module.kernel<<<grid, block, shared, stream>>>(args))``."""
    launch = m.program.once("parse_launch", expr, lambda: parse_launch(expr))
    if launch is None:
        return None
    stream = peel(m.place(launch.stream).value)
    if not isinstance(stream, StreamHandle):
        m.gap(expr.span, "the stream of a launch is not known")
        return Found(ok(unit()))
    function, name = None, launch.name
    if launch.module is not None:
        module = peel(m.place(launch.module).value)
        function = FunctionHandle(module if isinstance(module, ModuleHandle) else None, name, "cust")
    elif launch.function is not None:
        found = peel(m.place(launch.function).value)
        function = found if isinstance(found, FunctionHandle) else None
        name = found.name if isinstance(found, FunctionHandle) else name
    grid, block = peel(m.value(launch.grid)), peel(m.value(launch.block))
    config = Config(_sizes(grid), _sizes(block), Cell(peel(m.value(launch.shared))))
    kernel = find_kernel(m, function, name, KERNELS)
    slots: list[KernelParam] = [p for p in kernel.params for _ in range(p.slots)] if kernel is not None else []
    built: list[BuiltArg] = []
    for index, arg in enumerate(launch.args):
        value = m.value(arg)
        slot = slots[index] if index < len(slots) else None
        made = argument(m, value, arg.span, slot)
        pointer = peel(value)
        owner = pointer.buffer if isinstance(pointer, Pointer) else None
        built.append(BuiltArg(made, None, owner.context if owner else None, owner.name if owner else ""))
    enqueue_launch(m, stream, kernel, name, shape_of(m, config), built, expr.span)
    return Found(ok(unit()))


def _sizes(value: Value) -> list[Cell]:
    return triple(value)
