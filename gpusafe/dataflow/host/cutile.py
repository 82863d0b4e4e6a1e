"""cutile's host side: tensors, lazy operations of its api module, and captured graphs."""

from __future__ import annotations

from gpusafe.dataflow.host import terms
from gpusafe.dataflow.host.access import peel
from gpusafe.dataflow.host.accounting import own
from gpusafe.dataflow.host.capturing import run_closure
from gpusafe.dataflow.host.cudarc_launch import replay
from gpusafe.dataflow.host.handles import Buffer, Context, Graph, Lazy, StreamHandle
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.results import Found
from gpusafe.dataflow.host.typing_rules import size_of
from gpusafe.dataflow.host.values import (
    Cell,
    ClosureVal,
    RcBox,
    RefVal,
    SeqVal,
    SharedVal,
    TypeVal,
    Unknown,
    Value,
    ok,
    unit,
)
from gpusafe.ir.host import MemAccess
from gpusafe.parse.rust import ast

_FILLERS = frozenset(["zeros", "ones", "full", "arange", "rand", "randn", "fill", "linspace"])


def call_path(
    m: Machine, full: tuple[str, ...], args: list[Value], expr: ast.Expr, path: ast.Path, expect: ast.Type | None
) -> Found | None:
    """``api::zeros`` and kin, ``Device::new``, ``CudaGraph::scope``."""
    owner, name = (full[-2] if len(full) >= 2 else ""), full[-1]
    match (owner, name):
        case ("Device", "new"):
            number = terms.known(peel(args[0]))
            context = Context(
                f"device {number}" if number is not None else m.fresh("ctx"), "cutile", number is not None
            )
            return Found(ok(SharedVal(RcBox(Cell(context)))))
        case ("CudaGraph", "scope"):
            return Found(ok(_scope(m, args, expr)))
        case ("api", "memcpy"):
            return Found(Lazy("copy", (args[0], args[1]), "cutile", expr.span))
        case ("api", "copy_host_vec_to_device" | "copy_to_device" | "from_host"):
            return Found(Lazy("upload", (args[0],), "cutile", expr.span))
        case ("api", method) if method in _FILLERS:
            types = [g for g in path.generics if isinstance(g, ast.Type)]
            size = size_of(m, types[0]) if types else None
            return Found(Lazy("fill", (_count(m, args), TypeVal("size", size)), "cutile", expr.span))
    return None


def _count(m: Machine, args: list[Value]) -> Value:
    shape = next((peel(a) for a in args if isinstance(peel(a), SeqVal)), None)
    if isinstance(shape, SeqVal) and shape.items is not None:
        total: Value = 1
        for cell in shape.items:
            product = terms.mul(total, peel(cell.value))
            total = product if product is not None else m.symbol("length")
        return total
    return m.symbol("length", low=0)


def call_method(
    m: Machine, cell: Cell, receiver: Cell, name: str, args: list[Value], expr: ast.MethodCall
) -> Found | None:
    """Methods of devices, streams and graphs."""
    from gpusafe.dataflow.host import oxide

    match cell.value:
        case Context() as context:
            if name == "new_stream":
                stream = m.new_stream(context, "nonblocking", "cutile", expr.span)
                return Found(ok(SharedVal(RcBox(Cell(stream)))))
            return None
        case StreamHandle():
            return oxide.call_method(m, cell, receiver, name, args, expr, None)
        case Graph() as graph:
            return _graph_method(m, graph, name, expr)
    return None


def call_any(m: Machine, target: Cell, name: str, args: list[Value], expr: ast.MethodCall) -> Found | None:
    """``s.record(op)`` inside of ``CudaGraph::scope``."""
    if name == "record" and isinstance(target.value, TypeVal) and target.value.name == "graph scope":
        from gpusafe.dataflow.host.device_ops import run

        stream = target.value.payload
        assert isinstance(stream, StreamHandle)
        return Found(ok(run(m, args[0], stream)))
    return None


def _scope(m: Machine, args: list[Value], expr: ast.Expr) -> Value:
    stream = peel(args[0])
    closure = peel(args[1]) if len(args) > 1 else None
    if not isinstance(stream, StreamHandle) or not isinstance(closure, ClosureVal):
        return Unknown("a graph", None, tuple(args))
    m.capture[stream.ident] = []
    run_closure(m, closure, [RefVal(Cell(TypeVal("graph scope", stream)), True)], expr.span, consume=True)
    return Graph(stream, m.end_capture(stream), "cutile")


def _graph_method(m: Machine, graph: Graph, name: str, expr: ast.MethodCall) -> Found | None:
    match name:
        case "launch":
            return Found(Lazy("graph", (graph,), "cutile", expr.span))
        case "stream":
            return Found(RefVal(Cell(graph.stream)))
    return None


def tensor_method(
    m: Machine, cell: Cell, buffer: Buffer, name: str, args: list[Value], expr: ast.MethodCall
) -> Found | None:
    """Methods of tensors."""
    match name:
        case "to_host_vec":
            return Found(Lazy("download", (RefVal(cell),), "cutile", expr.span))
        case "shape" | "dtype" | "strides" | "num_bytes" | "size":
            return Found(Unknown(name))
        case "partition" | "view" | "reshape" | "map":
            return Found(RefVal(cell, True))
        case "dup" | "copy":
            return Found(Lazy("duplicate", (RefVal(cell),), "cutile", expr.span))
    return None


def lazy_method(m: Machine, lazy: Lazy, name: str, args: list[Value], expr: ast.MethodCall) -> Found | None:
    """``to_host_vec()`` on an operation, ``graph_on``."""
    if name == "to_host_vec":
        return Found(Lazy("then_download", (lazy,), "cutile", expr.span))
    return None


def run(m: Machine, lazy: Lazy, stream: StreamHandle) -> Value:
    """Executes one of cutile's operations on a stream."""
    match lazy.kind:
        case "fill":
            made = _tensor(m, stream, lazy.parts[0], lazy)
            m.enqueue(stream, "memset", lazy.span, "fill of a tensor", accesses=(m.whole(made.memory, "write"),))
            return made
        case "upload":
            from gpusafe.dataflow.host.host_memory import element_size, length_of

            made = _tensor(m, stream, length_of(m, lazy.parts[0]), lazy, element_size(m, lazy.parts[0]))
            m.enqueue(stream, "copy", lazy.span, "upload", accesses=(m.whole(made.memory, "write"),))
            return made
        case "copy":
            return _copy(m, lazy, stream)
        case "download" | "then_download":
            source = peel(lazy.parts[0])
            if isinstance(source, Lazy):
                from gpusafe.dataflow.host.device_ops import run as run_operation

                source = peel(run_operation(m, source, stream))
            if not isinstance(source, Buffer):
                return Unknown("a download")
            vector = SeqVal("vec", None, source.length)
            label = f"download of `{m.memory_name(source.memory)}`"
            m.enqueue(stream, "copy", lazy.span, label, accesses=(m.whole(source.memory, "read"),))
            return vector
        case "graph":
            graph = peel(lazy.parts[0])
            if isinstance(graph, Graph):
                replay(m, graph, stream, lazy.span)
            return unit()
    m.gap(lazy.span, f"the operation `{lazy.kind}` is not modelled")
    return Unknown("the result of an operation", None, lazy.parts)


def _tensor(m: Machine, stream: StreamHandle, length: Value, lazy: Lazy, elem: int | None = None) -> Buffer:
    from gpusafe.dataflow.host.device_ops import deallocator

    deallocator(m, lazy.span)
    size = elem
    if size is None and len(lazy.parts) > 1 and isinstance(lazy.parts[1], TypeVal):
        payload = lazy.parts[1].payload
        size = payload if isinstance(payload, int) else None
    context = stream.context.ident if stream.context is not None else None
    memory = m.new_memory(
        "device", lazy.span, elem_bytes=size, length=terms.as_term(length), context=context, initialized=False
    )
    m.enqueue(stream, "alloc", lazy.span, "allocation", accesses=(m.whole(memory, "write"),))
    return own(m, Buffer(memory, "cutile", "device", stream.context, length, size, "pool"))


def _copy(m: Machine, lazy: Lazy, stream: StreamHandle) -> Value:
    accesses: list[MemAccess] = []
    for value, mode in ((lazy.parts[1], "read"), (lazy.parts[0], "write")):
        found = peel(value)
        if isinstance(found, Buffer):
            accesses.append(m.whole(found.memory, mode))
        else:
            m.gap(lazy.span, "a copy of a tensor that is not known")
    m.enqueue(stream, "copy", lazy.span, "copy of a tensor", accesses=tuple(accesses))
    return unit()
