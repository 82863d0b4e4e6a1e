"""Handles of the GPU APIs as the host executor sees them; each has an identity and says how it is dropped.

``dialect`` on a handle is ``cudarc``, ``cust``, ``oxide`` or ``cutile``; the semantics of its methods are in the module
of that name.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gpusafe.dataflow.host.values import Cell, RcBox, Value
from gpusafe.ir.host import LaunchArg, LaunchShape, MemAccess
from gpusafe.span import Span


@dataclass(slots=True, eq=False)
class Context:
    """A device context. ``counted`` is cudarc's num_streams; ``tracking`` its event tracking switch."""

    ident: str
    dialect: str
    known: bool = True
    counted: int = 0
    tracking: bool = True
    extra: dict[str, Value] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class StreamHandle:
    """A stream; ``counted``: it counts towards the context's num_streams until it is destroyed.

    ``joins``: the stream that waits for this one when it is dropped (cudarc up to 0.13).
    """

    ident: str
    context: Context | None
    kind: str
    dialect: str
    counted: bool = False
    name: str = ""
    joins: StreamHandle | None = None


@dataclass(slots=True, eq=False)
class EventHandle:
    """An event."""

    ident: str
    context: Context | None
    dialect: str
    name: str = ""


@dataclass(slots=True, eq=False)
class ModuleHandle:
    """A loaded module: ``source`` is where its kernels come from (a span of text, a file name) if that is known."""

    context: Context | None
    dialect: str
    source: Span | str | None = None
    path: str = ""
    ident: str = ""


@dataclass(slots=True, eq=False)
class FunctionHandle:
    """A kernel by name."""

    module: ModuleHandle | None
    name: str
    dialect: str


@dataclass(slots=True, eq=False)
class Buffer:
    """Owns memory. ``length`` in elements of ``elem_bytes``.

    ``stream`` keeps cudarc's allocation stream alive; ``read`` and ``write`` are its events (``read`` alone for pinned
    and unified memory). ``release``: how the drop frees: ``async`` on ``stream``, ``context`` (cuMemFree), ``now``
    (host memory), ``pool`` (a deallocator stream), ``none`` (borrowed or leaked).
    """

    memory: str
    dialect: str
    kind: str
    context: Context | None
    length: Value
    elem_bytes: int | None
    release: str
    stream: RcBox | None = None
    read: EventHandle | None = None
    write: EventHandle | None = None
    name: str = ""
    extra: dict[str, Value] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class View:
    """A borrowed stretch of a buffer, ``start`` and ``length`` in elements of ``elem_bytes``."""

    buffer: Buffer
    start: Value
    length: Value
    elem_bytes: int | None
    mutable: bool


@dataclass(slots=True, eq=False)
class Pointer:
    """A raw device (or mapped) address: ``memory`` and a byte offset. Copy. ``buffer`` when it came from one."""

    memory: str
    offset: Value
    elem_bytes: int | None
    buffer: Buffer | None = None


@dataclass(slots=True, eq=False)
class MemSlice:
    """``&[T]`` over memory that the device may touch too (pinned, unified)."""

    memory: str
    start: Value
    length: Value
    elem_bytes: int | None
    mutable: bool


@dataclass(slots=True, eq=False)
class Guard:
    """cudarc's SyncOnDrop: records ``event`` on ``stream`` when dropped."""

    event: EventHandle | None
    stream: StreamHandle
    label: str


@dataclass(slots=True, eq=False)
class BuiltArg:
    """One argument pushed to a launch builder: the launch argument, and the event to record after the launch."""

    arg: LaunchArg
    record: EventHandle | None = None
    context: Context | None = None
    name: str = ""


@dataclass(slots=True, eq=False)
class Builder:
    """A launch being put together."""

    stream: StreamHandle
    function: FunctionHandle | None
    dialect: str
    args: list[BuiltArg] = field(default_factory=list)
    timed: bool = False


@dataclass(slots=True, eq=False)
class Captured:
    """One operation recorded in a graph."""

    label: str
    accesses: tuple[MemAccess, ...]
    kernel: str | None
    kernel_name: str
    shape: LaunchShape | None
    args: tuple[LaunchArg, ...]
    at: Span


@dataclass(slots=True, eq=False)
class Graph:
    """A captured graph."""

    stream: StreamHandle
    ops: list[Captured]
    dialect: str


@dataclass(slots=True, eq=False)
class Config:
    """A launch configuration."""

    grid: list[Cell]
    block: list[Cell]
    shared: Cell
    cooperative: bool = False
    cluster: tuple[int, int, int] | None = None


@dataclass(slots=True, eq=False)
class Source:
    """Kernel source or PTX before it is loaded: a span of text or a file name."""

    origin: Span | str | None


@dataclass(slots=True, eq=False)
class Lazy:
    """A device operation of cuda_async or cutile that has not run: ``kind`` and its parts."""

    kind: str
    parts: tuple[Value, ...]
    dialect: str
    span: Span
    done: Value | None = None


@dataclass(slots=True, eq=False)
class ExecContext:
    """The context that cuda_async hands to a closure: the stream that the operation runs on."""

    stream: StreamHandle
    dialect: str
