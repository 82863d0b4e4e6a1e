"""Values for the parameters of a root function, from their types: handles from outside, unknown scalars, slices."""

from __future__ import annotations

from collections.abc import Callable

from gpusafe.dataflow.host.handles import (
    Buffer,
    Context,
    EventHandle,
    FunctionHandle,
    ModuleHandle,
    Pointer,
    View,
)
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.syntax_walk import generic
from gpusafe.dataflow.host.typing_rules import scalar, size_of
from gpusafe.dataflow.host.values import (
    Cell,
    RcBox,
    RefVal,
    SeqVal,
    SharedVal,
    StructVal,
    TupleVal,
    Unknown,
    Value,
)
from gpusafe.ir.expr import USIZE
from gpusafe.parse.rust import ast
from gpusafe.span import Span

_DEEP = 6
_ISIZE_MAX = (1 << 63) - 1


def symbolic(m: Machine, type_: ast.Type | None, name: str, span: Span, mutable: bool = True, depth: int = 0) -> Value:
    """Some value of a type, called ``name``; ``mutable``: reached through ownership or ``&mut``."""
    if depth > _DEEP or type_ is None:
        return Unknown(f"`{name}`", type_)
    match type_:
        case ast.TypeRef(inner=inner, mutable=flag):
            return RefVal(Cell(symbolic(m, inner, name, span, flag, depth + 1), name), flag)
        case ast.TypePtr(inner=inner):
            return _pointer(m, inner, name, span)
        case ast.TypeSlice(inner=inner):
            return _sequence(m, inner, name, span, mutable, depth)
        case ast.TypeArray(inner=inner, length=length):
            return SeqVal("array", None, m.value(length), inner)
        case ast.TypeTuple(items=items):
            return TupleVal(
                [Cell(symbolic(m, t, f"{name}.{i}", span, mutable, depth + 1)) for i, t in enumerate(items)]
            )
        case ast.TypeBounds(bounds=bounds) if bounds:
            return _bounded(m, bounds[0], name, span, mutable, depth)
        case ast.TypePath(path=path):
            return _path(m, type_, path, name, span, mutable, depth)
    return Unknown(f"`{name}`", type_)


def _bounded(m: Machine, bound: ast.Type, name: str, span: Span, mutable: bool, depth: int) -> Value:
    if isinstance(bound, ast.TypePath) and bound.path.last in ("AsRef", "Borrow", "Into", "AsMut"):
        return symbolic(m, generic(bound), name, span, mutable, depth + 1)
    return Unknown(f"`{name}`", bound)


def _pointer(m: Machine, inner: ast.Type, name: str, span: Span) -> Value:
    size = size_of(m, inner)
    memory = m.new_memory("unknown", span, elem_bytes=size, name=name, exclusive=False)
    return Pointer(memory, 0, size)


def _sequence(m: Machine, inner: ast.Type | None, name: str, span: Span, mutable: bool, depth: int) -> SeqVal:
    length = m.input(f"{name}.len()", USIZE, 0, _ISIZE_MAX)

    def sample() -> Value:
        return symbolic(m, inner, f"{name}[..]", span, mutable, depth + 1)

    return SeqVal("vec", None, length, inner, None, sample)


def _path(m: Machine, type_: ast.TypePath, path: ast.Path, name: str, span: Span, mutable: bool, depth: int) -> Value:
    last = path.last
    bound = m.call.types.get(last) if len(path.names) == 1 else None
    if bound is not None and bound is not type_:
        return symbolic(m, bound, name, span, mutable, depth + 1)
    number = scalar(m, type_)
    if number is not None and number.kind in ("int", "bool"):
        return m.input(name, number)
    if last in ("Arc", "Rc"):
        return SharedVal(RcBox(Cell(symbolic(m, generic(type_), name, span, mutable, depth + 1), name), 1000))
    if last in ("Box", "ManuallyDrop"):
        return symbolic(m, generic(type_), name, span, mutable, depth + 1)
    if last in ("Vec", "VecDeque"):
        return _sequence(m, generic(type_), name, span, mutable, depth)
    if last in ("Mutex", "RwLock", "RefCell"):
        from gpusafe.dataflow.host.values import TypeVal

        return TypeVal(last, Cell(symbolic(m, generic(type_), name, span, mutable, depth + 1), name))
    described = _described(m, last) if m.program.apis else None
    if described is not None:
        return _HANDLES[described](m, type_, name, span, mutable, "api")
    item = m.program.type_item(last, m.home)
    if item is not None and isinstance(item.item, ast.TypeAlias):
        return symbolic(m, item.item.type, name, span, mutable, depth + 1)
    if item is not None and isinstance(item.item, ast.Struct):
        fields = {
            f: Cell(symbolic(m, t, f if f.isidentifier() else f"{name}.{f}", span, mutable, depth + 1), f)
            for f, t in item.item.fields
        }
        return StructVal(last, fields)
    maker = _HANDLES.get(last)
    if maker is not None:
        dialects = m.program.dialects(m.home)
        dialect = next((d for d in ("cudarc", "cust", "oxide", "cutile") if d in dialects), "")
        if dialect:
            return maker(m, type_, name, span, mutable, dialect)
    return Unknown(f"`{name}`", type_)


def _described(m: Machine, name: str) -> str | None:
    from gpusafe.dataflow.host.extension import type_kind

    return _DESCRIBED.get(type_kind(m, name) or "")


_DESCRIBED = {
    "stream": "Stream", "event": "Event", "device": "DeviceBuffer", "pinned": "LockedBuffer",
    "unified": "UnifiedBuffer",
}  # fmt: skip
"""Which handle stands for a kind of type of the ``[[api]]`` tables."""

Maker = Callable[[Machine, ast.TypePath, str, Span, bool, str], Value]


def outer_context(m: Machine, dialect: str) -> Context:
    """The context that handles from outside belong to (not known to be one)."""
    key = f"outer context {dialect}"
    if key not in m.singletons:
        m.singletons[key] = Context("a context from outside", dialect, False)
    found = m.singletons[key]
    assert isinstance(found, Context)
    return found


def _context(m: Machine, type_: ast.TypePath, name: str, span: Span, mutable: bool, dialect: str) -> Value:
    return outer_context(m, dialect)


def _stream(m: Machine, type_: ast.TypePath, name: str, span: Span, mutable: bool, dialect: str) -> Value:
    return m.new_stream(outer_context(m, dialect), "unknown", dialect, span, name)


def _event(m: Machine, type_: ast.TypePath, name: str, span: Span, mutable: bool, dialect: str) -> Value:
    return EventHandle(m.fresh("event"), outer_context(m, dialect), dialect, name)


def _module(m: Machine, type_: ast.TypePath, name: str, span: Span, mutable: bool, dialect: str) -> Value:
    path = type_.path.names[-2] if type_.path.last == "LoadedModule" and len(type_.path.names) >= 2 else ""
    return ModuleHandle(outer_context(m, dialect), dialect, None, path, "outer module")


def _function(m: Machine, type_: ast.TypePath, name: str, span: Span, mutable: bool, dialect: str) -> Value:
    return FunctionHandle(None, "", dialect)


def _buffer(kind: str, release: str) -> Maker:
    def make(m: Machine, type_: ast.TypePath, name: str, span: Span, mutable: bool, dialect: str) -> Value:
        argument = generic(type_)
        inner = argument.inner if isinstance(argument, ast.TypeSlice) else argument
        size = size_of(m, inner)
        length = m.input(f"{name}.len()", USIZE, 0, _ISIZE_MAX)
        memory = m.new_memory(
            kind if kind != "device" else "unknown",
            span,
            elem_bytes=size,
            length=length,
            name=name,
            exclusive=mutable,
        )
        context = outer_context(m, dialect)
        buffer = Buffer(memory, dialect, kind, context, length, size, release, name=name)
        if dialect == "cudarc":
            buffer.read, buffer.write = (EventHandle(m.fresh("event"), context, dialect) for _ in range(2))
            if kind == "device":
                stream = m.new_stream(context, "unknown", dialect, span, f"the allocation stream of `{name}`")
                buffer.stream = RcBox(Cell(stream), 1000)
            else:
                buffer.write = buffer.read
        return buffer

    return make


def _view(m: Machine, type_: ast.TypePath, name: str, span: Span, mutable: bool, dialect: str) -> Value:
    flag = type_.path.last.endswith("Mut")
    buffer = _buffer("device", "none")(m, type_, name, span, flag or mutable, dialect)
    assert isinstance(buffer, Buffer)
    return View(buffer, 0, buffer.length, buffer.elem_bytes, flag)


def _raw(m: Machine, type_: ast.TypePath, name: str, span: Span, mutable: bool, dialect: str) -> Value:
    size = size_of(m, generic(type_))
    return Pointer(m.new_memory("unknown", span, elem_bytes=size, name=name, exclusive=False), 0, size)


_HANDLES: dict[str, Maker] = {
    "CudaContext": _context, "Context": _context, "CudaDevice": _context,
    "CudaStream": _stream, "Stream": _stream,
    "CudaEvent": _event, "Event": _event,
    "CudaModule": _module, "Module": _module, "LoadedModule": _module,
    "CudaFunction": _function, "Function": _function,
    "CudaSlice": _buffer("device", "async"), "DeviceBuffer": _buffer("device", "context"),
    "DeviceBox": _buffer("device", "context"), "DeviceSlice": _buffer("device", "none"),
    "PinnedHostSlice": _buffer("pinned", "event"), "UnifiedSlice": _buffer("unified", "event"),
    "LockedBuffer": _buffer("pinned", "now"), "UnifiedBuffer": _buffer("unified", "now"),
    "PinnedHostBuffer": _buffer("pinned", "now"), "Tensor": _buffer("device", "pool"),
    "CudaView": _view, "CudaViewMut": _view,
    "DevicePointer": _raw, "UnifiedPointer": _raw, "CUdeviceptr": _raw,
}  # fmt: skip
