"""Calls whose effect is not known: they become gaps when something of the GPU goes into them, else unknown values."""

from __future__ import annotations

from collections.abc import Iterable

from gpusafe.dataflow.host.access import deref, peel, touch
from gpusafe.dataflow.host.drops import owns, parts
from gpusafe.dataflow.host.handles import (
    Buffer,
    Builder,
    Context,
    EventHandle,
    FunctionHandle,
    Graph,
    Lazy,
    MemSlice,
    ModuleHandle,
    Pointer,
    StreamHandle,
    View,
)
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.values import (
    BagVal,
    Cell,
    ClosureVal,
    IterVal,
    RefVal,
    SeqVal,
    SharedVal,
    SliceVal,
    StructVal,
    TupleVal,
    TypeVal,
    Unknown,
    Value,
)
from gpusafe.parse.rust import ast
from gpusafe.span import Span

_HANDLES = (
    Buffer, View, Pointer, MemSlice, StreamHandle, Context, EventHandle, ModuleHandle, FunctionHandle, Graph, Builder,
    Lazy,
)  # fmt: skip
_STD = ("std", "core", "alloc")


def handles_in(value: Value, depth: int = 0) -> list[Value]:
    """The handles that a value reaches, through references too."""
    if depth > 12:
        return []
    if isinstance(value, _HANDLES):
        return [value]
    match value:
        case RefVal(cell=cell):
            return handles_in(cell.value, depth + 1)
        case SharedVal(box=box):
            return handles_in(box.cell.value, depth + 1)
        case SeqVal(memory=str() as memory) | SliceVal(seq=SeqVal(memory=str() as memory)):
            return [MemSlice(memory, 0, 0, None, True)]
        case SliceVal(seq=seq):
            return handles_in(seq, depth + 1)
        case ClosureVal(captures=captures):
            return [h for c in captures.values() for h in handles_in(c.value, depth + 1)]
        case IterVal(works_on=inside) if inside:
            return [h for v in (*inside, *parts(value)) for h in handles_in(v, depth + 1)]
    found: list[Value] = []
    for part in list(parts(value))[:64]:
        found.extend(handles_in(part, depth + 1))
    return found


def memory_of(handles: list[Value]) -> tuple[str, ...]:
    """The memory that handles give access to, each once."""
    names: dict[str, None] = {}
    for handle in handles:
        match handle:
            case Buffer(memory=memory) | Pointer(memory=memory) | MemSlice(memory=memory):
                names.setdefault(memory)
            case View(buffer=buffer):
                names.setdefault(buffer.memory)
    return tuple(names)


def mention_gap(m: Machine, reason: str, values: list[Value], span: Span) -> None:
    """A gap for something that got these values."""
    found = [h for v in values for h in handles_in(v)]
    memory = memory_of(found)
    anything = any(isinstance(h, (StreamHandle, Graph, Builder, Lazy)) for h in found)
    if memory and not anything:
        m.gap(span, reason, memory)
    elif anything:
        m.gap(span, reason)


def unknown_call(
    m: Machine, name: str, full: tuple[str, ...], args: list[Value], span: Span, also: tuple[Value, ...] = ()
) -> Value:
    """A function that is not in sight."""
    values = [*args, *also]
    found = [h for v in values for h in handles_in(v)]
    if found and full[:1] not in (("std",), ("core",), ("alloc",)):
        mention_gap(m, f"the effect of `{name}` is not known", values, span)
    else:
        not_followed(m, name, [v for v in values if isinstance(peel(v), ClosureVal) or owns(m, v)], span)
        for value in values:
            touch(m, value, "read", span)
            if getattr(value, "mutable", False):
                touch(m, value, "write", span)
    return Unknown(f"the result of `{name}`", None, tuple(a for a in args if owns(m, a)))


def _only_host_memory(args: list[Value]) -> bool:
    """Whether the handles among arguments are slices of memory that the host may look at."""
    if any(isinstance(a, (ClosureVal, IterVal)) and handles_in(a) for a in args):
        return False
    found = [h for a in args for h in handles_in(a)]
    return bool(found) and all(
        isinstance(h, MemSlice) or (isinstance(h, Buffer) and h.kind in ("pinned", "unified")) for h in found
    )


def not_followed(m: Machine, what: str, values: Iterable[Value], span: Span) -> None:
    """A gap when something that matters here was lost sight of: ``what`` moves or drops it in a way not modelled."""
    found = [v for v in values if handles_in(v)]
    if found:
        mention_gap(m, f"what `{what}` does with its elements is not followed", found, span)


def unknown_method(m: Machine, receiver: Cell, name: str, args: list[Value], expr: ast.MethodCall) -> Value:
    """A method that is not known on this receiver."""
    target = deref(receiver).value
    if isinstance(target, (SeqVal, SliceVal, BagVal, StructVal, TupleVal, TypeVal, IterVal)) and (
        owns(m, target) or handles_in(target)
    ):
        not_followed(m, name, [target], expr.name_span)
    if not isinstance(target, _HANDLES) and _only_host_memory(args):
        for arg in args:
            touch(m, arg, "read", expr.name_span)
            if getattr(arg, "mutable", False):
                touch(m, arg, "write", expr.name_span)
        return Unknown(f"the result of `{name}`")
    if isinstance(target, _HANDLES) or any(handles_in(a) for a in args):
        mention_gap(m, f"the effect of the method `{name}` is not known", [target, *args], expr.name_span)
        if isinstance(target, (Context, EventHandle, ModuleHandle, FunctionHandle)) and not memory_of(
            handles_in(target)
        ):
            m.gap(expr.name_span, f"the effect of the method `{name}` is not known")
    holds = tuple(a for a in args if owns(m, a)) if not isinstance(target, Unknown) else target.holds
    return Unknown(f"the result of `{name}`", None, holds)
