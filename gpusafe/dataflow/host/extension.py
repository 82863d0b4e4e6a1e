"""Calls that ``[[api]]`` tables describe: from their effects to operations."""

from __future__ import annotations

from collections.abc import Iterator

from gpusafe.dataflow.host import cust_memory
from gpusafe.dataflow.host.access import peel
from gpusafe.dataflow.host.cudarc_copies import device_access
from gpusafe.dataflow.host.cust import context, null_stream
from gpusafe.dataflow.host.drops import drop_buffer, record, wait
from gpusafe.dataflow.host.foreign import mention_gap
from gpusafe.dataflow.host.handles import Buffer, EventHandle, MemSlice, StreamHandle, View
from gpusafe.dataflow.host.host_memory import element_size, length_of
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.results import Found
from gpusafe.dataflow.host.values import Cell, Unknown, Value, ok, unit
from gpusafe.ir.host import MemAccess
from gpusafe.parse.dialects.extension_model import ApiCall, ApiTable
from gpusafe.parse.dialects.versions import covers
from gpusafe.parse.rust import ast
from gpusafe.span import Span

DIALECT = "api"
_PLAIN = frozenset({"len", "is_empty", "split_at", "split_at_mut", "index", "as_device_ptr", "chunks"})
_RELEASE = {"device": "context", "pinned": "now", "unified": "context"}


def tables_for(m: Machine) -> Iterator[ApiTable]:
    """The tables that apply to the present file: of crates that it belongs to or depends on, in that version."""
    unit_ = m.home.unit
    for table in m.program.apis:
        version = unit_.versions.get(table.crate)
        if (version is not None or unit_.crate == table.crate or f"{table.crate}::" in unit_.file.text) and (
            not version or covers(table.versions, version)
        ):
            yield table


def type_kind(m: Machine, name: str) -> str | None:
    """What a type is by the tables."""
    return next((t.types[name] for t in tables_for(m) if name in t.types), None)


def call_path(m: Machine, full: tuple[str, ...], args: list[Value], expr: ast.Expr, path: ast.Path) -> Found | None:
    """A function that a table describes."""
    owner = full[-2] if len(full) >= 2 and full[-2][:1].isupper() else None
    for table in tables_for(m):
        for call in table.calls:
            if call.name == full[-1] and call.owner == owner:
                if call.method and args:
                    return _run(m, call, args[0], args[1:], expr, path)
                return _run(m, call, None, args, expr, path)
    return None


def call_method(m: Machine, cell: Cell, name: str, args: list[Value], expr: ast.MethodCall) -> Found | None:
    """A method that a table describes, on a value that is what the table says of its type."""
    kind = _kind(cell.value)
    if kind is None:
        return None
    for table in tables_for(m):
        for call in table.calls:
            if call.method and call.name == name and table.types.get(call.owner or "") == kind:
                return _run(m, call, cell.value, args, expr, ast.Path(expr.span, (name,), expr.generics))
    buffer = cell.value.buffer if isinstance(cell.value, View) else cell.value
    if isinstance(buffer, Buffer) and buffer.dialect == DIALECT and name in _PLAIN:
        return cust_memory.buffer_method(m, cell, name, args, expr)
    return None


def _kind(value: Value) -> str | None:
    match value:
        case StreamHandle():
            return "stream"
        case EventHandle():
            return "event"
        case Buffer(kind=kind) | View(buffer=Buffer(kind=kind)):
            return kind
    return None


def _run(m: Machine, call: ApiCall, receiver: Value, args: list[Value], expr: ast.Expr, path: ast.Path) -> Found:
    """The operations of one call; what an argument is not known to be makes a gap."""
    found = _Arguments(call, receiver, args)
    value = _effect(m, call, found, expr, path)
    if value is None:
        values = [v for v in (receiver, *args) if v is not None]
        mention_gap(m, f"an argument of `{call.name}` is not what its table says", values, expr.span)
        value = Unknown(f"the result of `{call.name}`")
    return Found(ok(value) if call.result else value)


class _Arguments:
    """The arguments of a call by the keys of its table."""

    def __init__(self, call: ApiCall, receiver: Value, args: list[Value]) -> None:
        self._call, self._receiver, self._args = call, receiver, args

    def all(self, key: str) -> list[Value]:
        """The values at the places of a key; one that is not there is unknown."""
        found: list[Value] = []
        for place in self._call.places.get(key, ()):
            if isinstance(place, str):
                found.append(self._receiver)
            else:
                found.append(self._args[place] if place < len(self._args) else Unknown("an argument"))
        return found

    def one(self, key: str) -> Value:
        """The value of a key, None without it."""
        return next(iter(self.all(key)), None)

    def stream(self) -> StreamHandle | None:
        """The stream that the call names."""
        found = peel(self.one("stream"))
        return found if isinstance(found, StreamHandle) else None

    def event(self) -> EventHandle | None:
        """The event that the call names."""
        found = peel(self.one("event"))
        return found if isinstance(found, EventHandle) else None


def _effect(m: Machine, call: ApiCall, given: _Arguments, expr: ast.Expr, path: ast.Path) -> Value | None:
    span, stream = expr.span, given.stream()
    if "stream" in call.places and stream is None:
        return None
    match call.effect:
        case "nothing":
            return Unknown(f"the result of `{call.name}`")
        case "same":
            return given.one("target")
        case "new-stream":
            return m.new_stream(context(m), call.words.get("kind", "blocking"), DIALECT, span)
        case "new-event":
            return EventHandle(m.fresh("event"), context(m), DIALECT)
        case "alloc":
            return _alloc(m, call, given, stream, span, path)
        case "copy":
            cust_memory.copy(m, stream, given.one("from"), given.one("to"), span, call.name)
            return unit()
        case "memset":
            access = device_access(m, peel(given.one("to")), "write")
            if access is None:
                return None
            m.enqueue(stream or null_stream(m, span), "memset", span, f"`{call.name}`", accesses=(access,))
            return unit()
        case "free":
            target = peel(given.one("target"))
            if not isinstance(target, Buffer):
                return None
            drop_buffer(m, target, span)
            return unit()
        case "enqueue" if stream is not None:
            return _enqueue(m, call, given, stream, span)
    return _order(m, call, given, stream, span)


def _order(m: Machine, call: ApiCall, given: _Arguments, stream: StreamHandle | None, span: Span) -> Value | None:
    """Effects that only order: synchronize, record, wait."""
    event = given.event()
    match call.effect:
        case "record" if event is not None and stream is not None:
            record(m, event, stream, span, f"record of `{event.name or 'an event'}` on `{stream.name}`")
        case "wait" if event is not None and stream is not None:
            wait(m, stream, event, span, f"wait of `{stream.name}` for `{event.name or 'an event'}`")
        case "synchronize" if call.words["what"] == "context":
            m.sync("context", context(m).ident, span, f"`{call.name}` synchronizes the device")
        case "synchronize":
            target = peel(given.one("target"))
            wanted = StreamHandle if call.words["what"] == "stream" else EventHandle
            if not isinstance(target, wanted):
                return None
            m.sync(call.words["what"], target.ident, span, f"synchronize of `{target.name or target.ident}`")
        case _:
            return None
    return unit()


def _alloc(
    m: Machine, call: ApiCall, given: _Arguments, stream: StreamHandle | None, span: Span, path: ast.Path
) -> Value:
    kind, source = call.words["of"], given.one("from")
    length = length_of(m, source) if source is not None else given.one("length")
    size = cust_memory.element_of(m, path) or (element_size(m, source) if source is not None else None)
    made = cust_memory.new_buffer(m, kind, call.words.get("release", _RELEASE[kind]), length, size, span)
    made.dialect = DIALECT
    if source is not None:
        cust_memory.copy(m, stream, source, made, span, "upload")
    elif call.zero:
        cust_memory.clear(m, made, stream, span)
    return made


def _enqueue(m: Machine, call: ApiCall, given: _Arguments, stream: StreamHandle, span: Span) -> Value | None:
    accesses: list[MemAccess] = []
    for key, mode in (("reads", "read"), ("writes", "write")):
        for value in given.all(key):
            target = peel(value)
            access = m.whole(target.memory, mode) if isinstance(target, MemSlice) else device_access(m, target, mode)
            if access is None:
                return None
            accesses.append(access)
    m.enqueue(stream, "library", span, f"`{call.name}`", accesses=tuple(accesses))
    return unit()
