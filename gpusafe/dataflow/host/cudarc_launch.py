"""cudarc's launch builder and graphs."""

from __future__ import annotations

from gpusafe.dataflow.host.access import peel
from gpusafe.dataflow.host.cudarc_tracking import managing, read_use, write_use
from gpusafe.dataflow.host.drops import record
from gpusafe.dataflow.host.handles import Buffer, Builder, BuiltArg, EventHandle, Graph, StreamHandle, View
from gpusafe.dataflow.host.launching import accesses_of, argument, check_contexts, find_kernel, shape_of
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.results import Found
from gpusafe.dataflow.host.values import Cell, RefVal, TupleVal, Unknown, Value, none, ok, some, unit
from gpusafe.ir.kernel import Kernel, KernelParam
from gpusafe.parse.rust import ast
from gpusafe.span import Span

CUDARC_KERNELS = ("cuda-c", "ptx", "ptx-kernel", "cuda_std")


def builder_method(
    m: Machine, builder: Builder, cell: Cell, name: str, args: list[Value], expr: ast.MethodCall
) -> Found | None:
    """``arg``, ``launch`` and kin."""
    match name:
        case "arg":
            push(m, builder, args[0], expr.args[0].span if expr.args else expr.span)
            return Found(RefVal(cell, True))
        case "launch" | "launch_cooperative":
            return Found(ok(launch(m, builder, args[0], expr.span, name.endswith("cooperative"))))
        case "record_kernel_launch":
            builder.timed = True
            return Found(RefVal(cell, True))
    return None


def _slots(kernel: Kernel | None) -> list[KernelParam]:
    return [p for p in kernel.params for _ in range(p.slots)] if kernel is not None else []


def kernel_of(m: Machine, builder: Builder) -> Kernel | None:
    """The kernel that a builder launches."""
    name = builder.function.name if builder.function is not None else ""
    return find_kernel(m, builder.function, name, CUDARC_KERNELS)


def push(m: Machine, builder: Builder, value: Value, span: Span) -> None:
    """``arg(x)``: waits as the type of ``x`` says, and remembers the event to record after the launch."""
    slots = _slots(kernel_of(m, builder))
    index = len(builder.args)
    arg = argument(m, value, span, slots[index] if index < len(slots) else None)
    found = peel(value)
    buffer = found.buffer if isinstance(found, View) else found
    event: EventHandle | None = None
    if isinstance(buffer, Buffer):
        name = m.memory_name(buffer.memory)
        use = write_use if arg.passed == "mut" else read_use
        if managing(m, buffer.context) or buffer.kind == "unified":
            event = use(m, builder.stream, buffer, span, f"argument `{name}`")
        builder.args.append(BuiltArg(arg, event, buffer.context, name))
        return
    if isinstance(found, Unknown) and found.holds:
        m.gap(span, "a kernel argument that is not known")
    builder.args.append(BuiltArg(arg))


def launch(m: Machine, builder: Builder, config: Value, span: Span, cooperative: bool = False) -> Value:
    """Enqueues the kernel and records the events of its arguments."""
    name = builder.function.name if builder.function is not None else ""
    shape = shape_of(m, config)
    if cooperative:
        from dataclasses import replace

        shape = replace(shape, cooperative=True)
    start = _timed(m, builder, span, f"record before the launch of `{name}`")
    enqueue_launch(m, builder.stream, kernel_of(m, builder), name, shape, builder.args, span)
    for built in builder.args:
        if built.record is not None:
            record(m, built.record, builder.stream, span, f"launch of `{name}` is recorded for `{built.name}`")
    builder.args = []
    end = _timed(m, builder, span, f"record after the launch of `{name}`")
    return none() if start is None else some(TupleVal([Cell(start), Cell(end)]))


def _timed(m: Machine, builder: Builder, span: Span, label: str) -> EventHandle | None:
    """An event around a launch whose builder was told to record it."""
    if not builder.timed:
        return None
    event = EventHandle(m.fresh("event"), builder.stream.context, "cudarc")
    record(m, event, builder.stream, span, label)
    return event


def enqueue_launch(
    m: Machine,
    stream: StreamHandle,
    kernel: Kernel | None,
    name: str,
    shape: object,
    built: list[BuiltArg],
    span: Span,
) -> None:
    """The launch operation itself, for every dialect."""
    check_contexts(m, stream, [(b.context, b.name) for b in built], span)
    args = tuple(b.arg for b in built)
    captured = stream.ident in m.capture
    m.enqueue(
        stream,
        "launch",
        span,
        f"launch of `{name}`",
        accesses=accesses_of(m, kernel, args) if captured else (),
        kernel=kernel.key if kernel is not None else None,
        kernel_name=name,
        shape=shape,
        args=args,
    )


def graph_method(m: Machine, graph: Graph, name: str, args: list[Value], expr: ast.MethodCall) -> Found | None:
    """Replays."""
    match name:
        case "launch":
            replay(m, graph, graph.stream, expr.span)
            return Found(ok(unit()))
        case "upload" | "instantiate":
            return Found(ok(unit()))
        case "cu_graph" | "cu_graph_exec" | "context" | "stream":
            return Found(Unknown(name))
    return None


def replay(m: Machine, graph: Graph, stream: StreamHandle, span: Span) -> None:
    """All captured operations run again, in order."""
    for op in graph.ops:
        m.enqueue(
            stream,
            "graph",
            span,
            f"replay of the {op.label}",
            accesses=op.accesses,
            kernel=op.kernel,
            kernel_name=op.kernel_name,
            shape=op.shape,
            args=op.args,
        )
