"""cudarc up to 0.13: CudaDevice, whose stream does all allocations, copies and frees; nothing is tracked.

``launch_on_stream`` uses another stream, and the drop of that stream joins the device's (driver/safe/core.rs, 0.13).
"""

from __future__ import annotations

from dataclasses import replace

from gpusafe.dataflow.host import cudarc_copies, terms
from gpusafe.dataflow.host.access import peel
from gpusafe.dataflow.host.cudarc_launch import CUDARC_KERNELS, enqueue_launch
from gpusafe.dataflow.host.drops import record, wait
from gpusafe.dataflow.host.handles import (
    Buffer,
    BuiltArg,
    Context,
    EventHandle,
    FunctionHandle,
    ModuleHandle,
    Source,
    StreamHandle,
    View,
)
from gpusafe.dataflow.host.host_memory import element_size, length_of
from gpusafe.dataflow.host.launching import argument, find_kernel, shape_of
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.results import Found
from gpusafe.dataflow.host.values import (
    Cell,
    RcBox,
    SeqVal,
    SharedVal,
    TupleVal,
    TypeVal,
    Unknown,
    Value,
    ok,
    some,
    unit,
)
from gpusafe.parse.rust import ast
from gpusafe.span import Span


def device(m: Machine, ordinal: Value, own_stream: bool, span: Span) -> Value:
    """``CudaDevice::new`` (its stream is the NULL stream) or ``new_with_stream``."""
    number = terms.known(peel(ordinal))
    context = Context(f"device {number}" if number is not None else m.fresh("ctx"), "cudarc", number is not None)
    context.tracking = False
    kind = "nonblocking" if own_stream else "legacy"
    stream = m.new_stream(context, kind, "cudarc", span, "the device's stream")
    context.extra["device_stream"] = RcBox(Cell(stream), 1000)
    context.extra["modules"] = {}
    return SharedVal(RcBox(Cell(context)))


def method(m: Machine, context: Context, name: str, args: list[Value], expr: ast.MethodCall) -> Found | None:
    """Methods of CudaDevice."""
    box = context.extra["device_stream"]
    assert isinstance(box, RcBox)
    stream = box.cell.value
    assert isinstance(stream, StreamHandle)
    span = expr.span
    match name:
        case "synchronize":
            m.sync("stream", stream.ident, span, "synchronize of the device's stream")
            return Found(ok(unit()))
        case "alloc" | "alloc_zeros" | "null":
            return cudarc_copies.stream_copy(m, stream, box, name, args, expr)
        case "memset_zeros":
            cudarc_copies.memset(m, stream, args[0], span)
            return Found(ok(unit()))
        case "htod_copy" | "htod_sync_copy":
            made = cudarc_copies.allocate(m, stream, box, length_of(m, args[0]), element_size(m, args[0]), span)
            cudarc_copies.upload(m, stream, args[0], made, span)
            if name == "htod_sync_copy":
                m.sync("stream", stream.ident, span, f"{name} synchronizes")
            return Found(ok(made))
        case "htod_copy_into" | "htod_sync_copy_into":
            cudarc_copies.upload(m, stream, args[0], args[1], span)
            if name == "htod_sync_copy_into":
                m.sync("stream", stream.ident, span, f"{name} synchronizes")
            return Found(ok(unit()))
        case "dtoh_sync_copy" | "sync_reclaim":
            target = SeqVal("vec", None, length_of(m, args[0]))
            cudarc_copies.download(m, stream, args[0], target, span)
            m.sync("stream", stream.ident, span, f"{name} synchronizes")
            if name == "sync_reclaim":
                m.drop(args[0], span)
            return Found(ok(target))
        case "dtoh_sync_copy_into":
            cudarc_copies.download(m, stream, args[0], args[1], span)
            m.sync("stream", stream.ident, span, f"{name} synchronizes")
            return Found(ok(unit()))
        case "dtod_copy":
            cudarc_copies.device_copy(m, stream, args[0], args[1], span)
            return Found(ok(unit()))
    return _streams_and_modules(m, context, stream, name, args, expr)


def _streams_and_modules(
    m: Machine, context: Context, stream: StreamHandle, name: str, args: list[Value], expr: ast.MethodCall
) -> Found | None:
    span = expr.span
    match name:
        case "fork_default_stream":
            made = m.new_stream(context, "nonblocking", "cudarc", span)
            made.joins = stream
            _edge(m, made, stream, span)
            return Found(ok(made))
        case "wait_for":
            other = peel(args[0])
            if not isinstance(other, StreamHandle):
                return None
            _edge(m, stream, other, span)
            return Found(ok(unit()))
        case "load_ptx":
            source, modules = peel(args[0]), context.extra["modules"]
            origin = source.origin if isinstance(source, Source) else None
            assert isinstance(modules, dict)
            modules[_text(args[1])] = ModuleHandle(context, "cudarc", origin, "", m.fresh("module"))
            return Found(ok(unit()))
        case "get_func":
            modules = context.extra["modules"]
            assert isinstance(modules, dict)
            return Found(some(FunctionHandle(modules.get(_text(args[0])), _text(args[1]), "cudarc")))
        case "has_func" | "ordinal" | "name" | "attribute" | "bind_to_thread":
            return Found(Unknown(name) if name in ("ordinal", "has_func") else ok(Unknown(name)))
        case "cu_stream":
            return Found(stream)
    return None


def _text(value: Value) -> str:
    found = peel(value)
    if isinstance(found, TypeVal) and isinstance(found.payload, tuple):
        return str(found.payload[0])
    return found if isinstance(found, str) else ""


def _edge(m: Machine, waiter: StreamHandle, other: StreamHandle, span: Span) -> None:
    event = EventHandle(m.fresh("event"), other.context, "cudarc")
    record(m, event, other, span, f"record on `{other.name}`")
    wait(m, waiter, event, span, f"wait for `{other.name}`")


def launch_method(
    m: Machine, function: FunctionHandle, name: str, args: list[Value], expr: ast.MethodCall
) -> Found | None:
    """``f.launch(cfg, (a, b))`` and ``f.launch_on_stream(&stream, cfg, (a, b))``."""
    if name == "clone":
        return Found(function)
    if name not in ("launch", "launch_cooperative", "launch_on_stream"):
        return Found(ok(Unknown(name)))
    context = function.module.context if function.module is not None else None
    box = context.extra.get("device_stream") if context is not None else None
    stream = box.cell.value if isinstance(box, RcBox) else None
    if name == "launch_on_stream":
        stream, args = peel(args[0]), args[1:]
    if not isinstance(stream, StreamHandle) or len(args) < 2:
        return None
    kernel = find_kernel(m, function, function.name, CUDARC_KERNELS)
    slots = [p for p in kernel.params for _ in range(p.slots)] if kernel is not None else []
    packed = peel(args[1])
    cells = packed.items if isinstance(packed, TupleVal) else [Cell(args[1])]
    built: list[BuiltArg] = []
    for index, cell in enumerate(cells):
        made = argument(m, cell.value, expr.span, slots[index] if index < len(slots) else None)
        target = peel(cell.value)
        buffer = target.buffer if isinstance(target, View) else target
        owner = buffer if isinstance(buffer, Buffer) else None
        built.append(BuiltArg(made, None, owner.context if owner else None, owner.name if owner else ""))
    shape = replace(shape_of(m, args[0]), cooperative=name == "launch_cooperative")
    enqueue_launch(m, stream, kernel, function.name, shape, built, expr.span)
    return Found(ok(unit()))
