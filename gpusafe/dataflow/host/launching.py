"""Launches: configurations, which kernel is meant, and the arguments as the kernel sees them."""

from __future__ import annotations

from gpusafe.dataflow.host import terms
from gpusafe.dataflow.host.access import peel
from gpusafe.dataflow.host.handles import (
    Buffer,
    Config,
    Context,
    FunctionHandle,
    MemSlice,
    ModuleHandle,
    Pointer,
    StreamHandle,
    View,
)
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.typing_rules import set_elem
from gpusafe.dataflow.host.values import Cell, RefVal, SeqVal, SharedVal, TupleVal, Unknown, Value
from gpusafe.ir.expr import F64, I32, U32, USIZE, Const, Expr, Type
from gpusafe.ir.host import ForeignContext, LaunchArg, LaunchShape, MemAccess
from gpusafe.ir.kernel import Kernel, KernelParam
from gpusafe.span import Span

_AXES = 3


def config_from_fields(m: Machine, fields: dict[str, Value], base: Value) -> Config:
    """A launch configuration written as a struct."""
    start = peel(base) if base is not None else None
    config = start if isinstance(start, Config) else Config([Cell(1)] * 3, [Cell(1)] * 3, Cell(0))
    grid = triple(fields["grid_dim"]) if "grid_dim" in fields else config.grid
    block = triple(fields["block_dim"]) if "block_dim" in fields else config.block
    shared = Cell(peel(fields.get("shared_mem_bytes", config.shared.value)))
    return Config(grid, block, shared, config.cooperative, config.cluster)


def triple(value: Value) -> list[Cell]:
    """Grid or block sizes of one to three axes; missing ones are 1."""
    found = peel(value)
    listed = found.items if isinstance(found, TupleVal | SeqVal) else None
    if listed is not None:
        cells = [Cell(peel(c.value)) for c in listed]
    elif isinstance(found, Unknown):
        cells = [Cell(Unknown("a size"))] * _AXES
    else:
        cells = [Cell(found)]
    return (cells + [Cell(1)] * _AXES)[:_AXES]


def shape_of(m: Machine, value: Value) -> LaunchShape:
    """A configuration as the launch operation carries it."""
    config = peel(value)
    if not isinstance(config, Config):
        return LaunchShape((None, None, None), (None, None, None))
    grid = [_size(c.value) for c in config.grid]
    block = [_size(c.value) for c in config.block]
    return LaunchShape(
        (grid[0], grid[1], grid[2]),
        (block[0], block[1], block[2]),
        _size(config.shared.value),
        config.cooperative,
        config.cluster,
    )


def _size(value: Value) -> Expr | None:
    return terms.as_term(peel(value), U32)


def find_kernel(m: Machine, function: FunctionHandle | None, name: str, dialects: tuple[str, ...]) -> Kernel | None:
    """The kernel that a launch means: by name, then by where the module's code came from; None when ambiguous."""
    candidates = [k for k in m.program.kernels if k.name == name and (not dialects or k.dialect in dialects)]
    module = function.module if function is not None else None
    if len(candidates) > 1 and module is not None:
        candidates = _from_source(candidates, module) or candidates
    if len(candidates) > 1:
        sees = m.home.unit.sees
        candidates = [k for k in candidates if sees is None or k.span.file in sees] or candidates
        here = [k for k in candidates if k.span.file == m.home.file]
        package = _package(m.home.file)
        candidates = here or [k for k in candidates if _package(k.span.file) == package] or candidates
    return candidates[0] if len(candidates) == 1 else None


_TARGETS = ("/src/", "/examples/", "/tests/", "/benches/")


def _package(file: str) -> str:
    """The folder of the package that a file belongs to, by where Cargo keeps sources."""
    ends = [at for at in (f"/{file}".rfind(folder) for folder in _TARGETS) if at >= 0]
    return f"/{file}"[: max(ends)] if ends else file


def _from_source(candidates: list[Kernel], module: ModuleHandle) -> list[Kernel]:
    source = module.source
    if isinstance(source, Span):
        inside = [
            k
            for k in candidates
            if k.span.file == source.file and source.line <= k.span.line and k.span.end_line <= source.end_line
        ]
        if inside:
            return inside
    if isinstance(source, str) and source:
        stem = source.rsplit("/", 1)[-1].rsplit(".", 1)[0]
        named = [k for k in candidates if k.span.file.rsplit("/", 1)[-1].rsplit(".", 1)[0] == stem]
        if named:
            return named
    if module.path:
        return [k for k in candidates if f"::{module.path}::" in f"::{k.path}"]
    return []


def argument(m: Machine, value: Value, span: Span, param: KernelParam | None = None) -> LaunchArg:
    """One launch argument from the value that is passed."""
    mutable = False
    current: Value = value
    for _ in range(12):
        match current:
            case RefVal(cell=cell, mutable=flag):
                mutable = mutable or flag
                current = cell.value
            case SharedVal(box=box):
                current = box.cell.value
            case _:
                break
    elem = param.type.bytes if param is not None and param.type is not None and param.kind != "scalar" else None
    match current:
        case Buffer():
            if elem is not None:
                set_elem(m, current, elem)
            owned = not isinstance(value, (RefVal, SharedVal))
            passed = "owned" if owned else ("mut" if mutable else "ref")
            access = m.whole(current.memory, "read")
            return LaunchArg("memory", span, None, access.range, passed, current.elem_bytes, _count(current.length))
        case View():
            mode = "mut" if current.mutable else "ref"
            return _view_argument(m, current, span, mode, elem)
        case Pointer():
            size = current.elem_bytes or elem
            access = m.span_access(current.memory, current.offset, None, "read")
            return LaunchArg("memory", span, None, access.range, "raw", size)
        case MemSlice():
            size = current.elem_bytes or elem
            start = terms.mul(current.start, size) if size else 0
            access = m.span_access(current.memory, start, terms.mul(current.length, size) if size else None, "read")
            return LaunchArg(
                "memory", span, None, access.range, "mut" if mutable else "ref", size, _count(current.length)
            )
    return _scalar(current, span, param)


def _view_argument(m: Machine, view: View, span: Span, passed: str, elem: int | None) -> LaunchArg:
    if view.elem_bytes is None and elem is not None:
        view.elem_bytes = elem
        set_elem(m, view.buffer, elem)
    access = view_access(m, view, "read")
    return LaunchArg("memory", span, None, access.range, passed, view.elem_bytes, _count(view.length))


def view_access(m: Machine, view: View, mode: str) -> MemAccess:
    """The bytes of a view."""
    size = view.elem_bytes or view.buffer.elem_bytes
    if size is None:
        if view.start == 0:
            return m.span_access(view.buffer.memory, 0, None, mode)
        return m.whole(view.buffer.memory, mode)
    start = terms.mul(view.start, size)
    return m.span_access(view.buffer.memory, start if start is not None else 0, terms.mul(view.length, size), mode)


def _count(length: Value) -> Expr | None:
    return terms.as_term(length, USIZE)


def _scalar(value: Value, span: Span, param: KernelParam | None) -> LaunchArg:
    wanted = param.type if param is not None and param.kind == "scalar" else None
    match value:
        case bool():
            return LaunchArg("scalar", span, terms.as_term(value), type=wanted)
        case int():
            kind = wanted if wanted is not None and wanted.kind == "int" else _plain_type(value)
            if wanted is not None and wanted.kind == "float":
                return LaunchArg("scalar", span, Const(wanted, float(value)), type=wanted)
            return LaunchArg("scalar", span, Const(kind, terms.like(terms.wrap(int(value), kind), value)), type=kind)
        case float():
            kind = wanted if wanted is not None and wanted.kind == "float" else F64
            return LaunchArg("scalar", span, Const(kind, value), type=kind)
        case Expr():
            return LaunchArg("scalar", span, value, type=value.type)
    if wanted is not None:
        return LaunchArg("scalar", span, None, type=wanted)
    return LaunchArg("unknown", span)


def _plain_type(value: int) -> Type:
    return I32 if I32.low <= value <= I32.high else USIZE


def accesses_of(m: Machine, kernel: Kernel | None, args: tuple[LaunchArg, ...]) -> tuple[MemAccess, ...]:
    """What a captured launch may touch, from the signature alone."""
    found: list[MemAccess] = []
    regions = {r.name: r for r in kernel.regions} if kernel is not None else {}
    slots = [p for p in kernel.params for _ in range(p.slots)] if kernel is not None else []
    for index, arg in enumerate(args):
        if arg.kind != "memory" or arg.range is None:
            continue
        param = slots[index] if index < len(slots) else None
        region = regions.get(param.region or "") if param is not None else None
        found.append(MemAccess(arg.range, "read"))
        if (region is not None and not region.read_only) or (region is None and arg.passed != "ref"):
            found.append(MemAccess(arg.range, "write"))
    return tuple(found)


def check_contexts(m: Machine, stream: StreamHandle, others: list[tuple[Context | None, str]], span: Span) -> None:
    """Objects of two contexts in one operation."""
    for context, name in others:
        if context is None or stream.context is None or context is stream.context:
            continue
        if not context.known or not stream.context.known or context.ident == stream.context.ident:
            continue
        m.emit(
            ForeignContext,
            span,
            f"`{name}` belongs to another context than the stream",
            first=f"stream `{stream.name or stream.ident}` of {stream.context.ident}",
            second=f"`{name}` of {context.ident}",
        )
