"""cuda-oxide's synchronous host API: contexts, streams, buffers and the launch methods that `#[cuda_module]` generates.

Launch methods return at enqueue; buffer transfers wait for their own stream only; drops of buffers are cuMemFree or
synchronize the context; constants are written in stream order (cuda-core 0.2, cuda-host 0.2).
"""

from __future__ import annotations

from gpusafe.dataflow.host import cudarc, device_ops, oxide_memory, terms
from gpusafe.dataflow.host.access import deref, peel
from gpusafe.dataflow.host.api_tables import action
from gpusafe.dataflow.host.callbacks import enqueue_callback
from gpusafe.dataflow.host.drops import record, wait
from gpusafe.dataflow.host.handles import (
    Buffer,
    Config,
    Context,
    EventHandle,
    FunctionHandle,
    ModuleHandle,
    Pointer,
    StreamHandle,
    View,
)
from gpusafe.dataflow.host.launching import triple
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.oxide_launch import module_method
from gpusafe.dataflow.host.results import Found
from gpusafe.dataflow.host.values import Cell, RcBox, SharedVal, StructVal, TypeVal, Unknown, Value, ok, unit
from gpusafe.parse.rust import ast
from gpusafe.span import Span


def call_path(
    m: Machine, full: tuple[str, ...], args: list[Value], expr: ast.Expr, path: ast.Path, expect: ast.Type | None
) -> Found | None:
    """Functions and constructors of cuda_core, cuda_host and cuda_async, and `load` of kernel modules."""
    owner, name = (full[-2] if len(full) >= 2 else ""), full[-1]
    if owner in m.program.cuda_modules and name.startswith(("load", "from_module")):
        return Found(ok(_module(m, owner, args, name)))
    match (owner, name):
        case ("LoadedModule", "from_parent" | "from_module" | "new") if args and isinstance(
            peel(args[0]), ModuleHandle
        ):
            parent = peel(args[0])
            assert isinstance(parent, ModuleHandle)
            child = full[-3] if len(full) >= 3 else parent.path
            return Found(ok(ModuleHandle(parent.context, "oxide", None, child, parent.ident)))
        case ("CudaContext", "new"):
            number = terms.known(peel(args[0]))
            ident = f"device {number}" if number is not None else m.fresh("ctx")
            return Found(ok(SharedVal(RcBox(Cell(Context(ident, "oxide", number is not None))))))
        case ("LaunchConfig", "for_num_elems"):
            blocks = terms.div_ceil(peel(args[0]), 256)
            grid = blocks if blocks is not None else Unknown("a size")
            return Found(Config([Cell(grid), Cell(1), Cell(1)], [Cell(256), Cell(1), Cell(1)], Cell(0)))
        case ("LaunchConfig" | "LaunchConfig1D" | "LaunchConfig2D" | "LaunchConfig3D", "new") if len(args) >= 2:
            shared = peel(args[2]) if len(args) > 2 else 0
            return Found(Config(triple(args[0]), triple(args[1]), Cell(shared)))
        case ("RowWidth" | "RowWidthOwned", "new"):
            return Found(StructVal("RowWidth", {"buffer": Cell(args[0]), "width": Cell(peel(args[1]))}))
        case ("DeviceBuffer" | "PinnedHostBuffer", _):
            return oxide_memory.call_path(m, owner, name, args, expr, path, expect)
        case ("CudaStream" | "CudaEvent", method) if args:
            stub = ast.MethodCall(expr.span, ast.Tuple(expr.span, ()), method, (), expr.span, path.generics)
            return call_method(m, deref(Cell(args[0])), Cell(args[0]), method, args[1:], stub, expect)
    return device_ops.call_path(m, full, args, expr, path, expect)


def _module(m: Machine, name: str, args: list[Value], how: str) -> ModuleHandle:
    context = peel(args[0]) if args else None
    found = context if isinstance(context, Context) else device_ops.async_context(m) if "async" in how else None
    return ModuleHandle(found, "oxide", None, name, m.fresh("module"))


def call_method(
    m: Machine, cell: Cell, receiver: Cell, name: str, args: list[Value], expr: ast.MethodCall, expect: ast.Type | None
) -> Found | None:
    """A method on one of the handles."""
    handle = cell.value
    match handle:
        case Context():
            return _context_method(m, handle, name, args, expr)
        case StreamHandle():
            return _stream_method(m, handle, name, args, expr)
        case EventHandle():
            return cudarc.event_method(m, handle, name, args, expr)
        case ModuleHandle():
            return module_method(m, handle, name, args, expr)
        case FunctionHandle():
            return Found(ok(Unknown(name)))
        case Buffer() | View():
            return oxide_memory.buffer_method(m, cell, receiver, name, args, expr)
        case Pointer():
            from gpusafe.dataflow.host.cust import pointer_method

            return pointer_method(m, handle, name, args, expr)
    return None


def _context_method(m: Machine, context: Context, name: str, args: list[Value], expr: ast.MethodCall) -> Found | None:
    match name:
        case "default_stream":
            return Found(SharedVal(default_stream(m, context, expr.span)))
        case "new_stream":
            stream = m.new_stream(context, "nonblocking", "oxide", expr.span)
            return Found(ok(SharedVal(RcBox(Cell(stream)))))
        case "new_event":
            return Found(ok(EventHandle(m.fresh("event"), context, "oxide")))
        case "synchronize":
            m.sync("context", context.ident, expr.span, "synchronize of the context")
            return Found(ok(unit()))
        case "load_module_from_ptx_src" | "load_module_from_image" | "load_module_from_file":
            source = peel(args[0])
            origin = source.payload[0] if isinstance(source, TypeVal) and isinstance(source.payload, tuple) else None
            made = ModuleHandle(context, "oxide", origin if isinstance(origin, str) else None, "", m.fresh("module"))
            return Found(ok(SharedVal(RcBox(Cell(made)))))
        case (
            "compute_capability"
            | "device_name"
            | "launch_limits"
            | "multiprocessor_count"
            | "bind_to_thread"
            | "check_err"
        ):
            return Found(ok(Unknown(f"the context's `{name}`")))
        case "ordinal" | "cu_device" | "cu_ctx":
            return Found(Unknown(name))
    if name.startswith(("supports_", "max_", "set_", "sync_policy", "stack_size")):
        return Found(ok(Unknown(f"the context's `{name}`")))
    return None


def default_stream(m: Machine, context: Context, span: Span) -> RcBox:
    """The legacy NULL stream."""
    key = f"default {context.ident}"
    box = m.singletons.get(key)
    if not isinstance(box, RcBox):
        box = RcBox(Cell(m.new_stream(context, "legacy", "oxide", span, "the default stream")), 1000)
        m.singletons[key] = box
    box.strong += 1
    return box


def _stream_method(
    m: Machine, stream: StreamHandle, name: str, args: list[Value], expr: ast.MethodCall
) -> Found | None:
    span = expr.span
    match action("oxide", "CudaStream", name):
        case "synchronize":
            m.sync("stream", stream.ident, span, f"synchronize of `{stream.name or stream.ident}`")
            return Found(ok(unit()))
        case "fork":
            made = m.new_stream(stream.context, "nonblocking", "oxide", span)
            _edge(m, made, stream, span, "fork")
            return Found(ok(SharedVal(RcBox(Cell(made)))))
        case "join":
            other = peel(args[0])
            if not isinstance(other, StreamHandle):
                return None
            _edge(m, stream, other, span, "join")
            return Found(ok(unit()))
        case "wait":
            event = peel(args[0])
            if not isinstance(event, EventHandle):
                return None
            wait(m, stream, event, span, f"wait of `{stream.name}` for `{event.name or 'an event'}`")
            return Found(ok(unit()))
        case "record_event":
            event = EventHandle(m.fresh("event"), stream.context, "oxide")
            record(m, event, stream, span, f"record on `{stream.name}`")
            return Found(ok(event))
        case "callback":
            enqueue_callback(m, stream, args[0], span)
            return Found(ok(unit()))
        case "context":
            return Found(SharedVal(RcBox(Cell(stream.context), 1000)) if stream.context else Unknown("a context"))
        case "handle":
            return Found(stream)
        case "nothing":
            return Found(ok(unit()))
    return None


def _edge(m: Machine, waiter: StreamHandle, other: StreamHandle, span: Span, how: str) -> None:
    event = EventHandle(m.fresh("event"), other.context, "oxide")
    record(m, event, other, span, f"{how}: record on `{other.name}`")
    wait(m, waiter, event, span, f"{how}: wait for `{other.name}`")


def call_any(m: Machine, *args: Value) -> Found | None:
    """Nothing beyond the handles."""
    return None
