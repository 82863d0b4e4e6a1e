"""The host IR: what one path through a host program does to streams and memory.

The host executor (gpusafe.dataflow.host) walks a root function, with calls inlined, and emits one :class:`HostPath` for
each way through it. All dialect knowledge is expanded: cudarc's automatic events appear as Record and Wait operations,
a drop as the free that it is. What is left is dialect-free: streams, events, memory, and operations in host order.
Terms are gpusafe.ir.expr over Const, Sym, Binary, Cast, Select.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gpusafe.ir.expr import Expr, Type
from gpusafe.span import Span


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream.

    ``kind``: ``legacy`` (the NULL stream), ``per_thread``, ``blocking`` (ordered with NULL), ``nonblocking``,
    or ``unknown`` (came from outside: may be any stream of its context, also the same as another unknown one).
    ``context`` identifies the device context (None: not known). ``name`` is what the user calls it.
    """

    ident: str
    kind: str
    context: str | None
    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Memory:
    """One allocation, or a host object that the device or a callback may touch.

    ``kind``: ``device``, ``pinned``, ``unified``, ``host`` (pageable or a stack variable), ``constant``, ``static``,
    ``unknown`` (came from outside; may overlap other unknown memory unless Rust's types say otherwise).
    ``length`` counts elements of ``elem_bytes``. ``exclusive``: reached through ownership or ``&mut`` (cannot overlap
    other memory). ``initialized`` is False when nothing has written it yet. ``nonzero``: what it is made with is known
    to be something else than zeros.
    """

    ident: str
    kind: str
    elem_bytes: int | None
    length: Expr | None
    context: str | None
    name: str
    span: Span
    initialized: bool = True
    exclusive: bool = True
    nonzero: bool = False


@dataclass(frozen=True, slots=True)
class MemRange:
    """A stretch of an allocation in bytes; ``size`` None: up to the end or unknown (take the whole rest)."""

    memory: str
    start: Expr
    size: Expr | None


@dataclass(frozen=True, slots=True)
class MemAccess:
    """``mode``: ``read``, ``write`` or ``free``; ``device`` is False when the DMA side is host memory."""

    range: MemRange
    mode: str


@dataclass(frozen=True, slots=True)
class Frame:
    """One call on the way to an operation: the function it happens in (name, whole span) and the place in it.

    ``call`` numbers the call of the function on its path (0: not numbered), so that two calls from one place in a loop
    are told apart.
    """

    function: str
    function_span: Span
    at: Span
    call: int = 0


@dataclass(frozen=True, slots=True)
class HostOp:
    """Base of operations. ``frames`` run from the root function to the innermost; the last one's ``at`` is the place.

    ``label`` says what it is in the user's words ("launch of `scale`", "drop of `mask`").
    """

    frames: tuple[Frame, ...]
    label: str

    @property
    def span(self) -> Span:
        """The innermost place."""
        return self.frames[-1].at


@dataclass(frozen=True, slots=True)
class LaunchArg:
    """One kernel argument.

    ``kind``: ``scalar`` (``value``), ``memory`` (``range``; ``passed`` is ``ref``, ``mut``, ``raw`` or ``owned``), or
    ``unknown``. ``length`` is the element count that the kernel sees (slices, views), if known.
    """

    kind: str
    span: Span
    value: Expr | None = None
    range: MemRange | None = None
    passed: str = "raw"
    elem_bytes: int | None = None
    length: Expr | None = None
    type: Type | None = None


@dataclass(frozen=True, slots=True)
class LaunchShape:
    """Grid and block in threads/blocks per axis (None: not known), dynamic shared memory in bytes.

    ``guarded``: the launcher checks what the kernel's launch contract requires, and refuses other launches.
    """

    grid: tuple[Expr | None, Expr | None, Expr | None]
    block: tuple[Expr | None, Expr | None, Expr | None]
    shared_bytes: Expr | None = None
    cooperative: bool = False
    cluster: tuple[int, int, int] | None = None
    guarded: bool = False


@dataclass(frozen=True, slots=True)
class Enqueue(HostOp):
    """Work put on a stream.

    ``what``: ``launch``, ``copy``, ``memset``, ``alloc`` (stream-ordered), ``free`` (stream-ordered), ``callback``,
    ``graph``, ``library``. ``blocks_host``: the call returns only when the work has completed. ``accesses`` are known
    for everything but launches, whose accesses follow from ``kernel`` (a key of the program's kernels; None: not
    found) and ``args``. An ``alloc`` has one access of mode ``write`` that initialises nothing; a ``free`` has one of
    mode ``free``. A replayed graph gives one ``graph`` operation for each captured one, in order: ``accesses`` are
    conservative for a captured launch, whose ``kernel``, ``shape`` and ``args`` are there too.
    ``zero``: a memset that writes zeros. ``nonzero``: a memset or copy that is known to write something else than zero.
    """

    stream: str
    what: str
    accesses: tuple[MemAccess, ...] = ()
    blocks_host: bool = False
    kernel: str | None = None
    kernel_name: str = ""
    shape: LaunchShape | None = None
    args: tuple[LaunchArg, ...] = ()
    zero: bool = False
    nonzero: bool = False


@dataclass(frozen=True, slots=True)
class Alloc(HostOp):
    """Memory comes into being on the host's timeline."""

    memory: str


@dataclass(frozen=True, slots=True)
class Free(HostOp):
    """Memory goes away on the host's timeline (drop of pinned memory, of a stack variable, cuMemFree).

    ``waits``: what the free itself waits for first: ``none``, or ``context`` (cuMemFree waits for an idle device).
    """

    memory: str
    waits: str = "none"


@dataclass(frozen=True, slots=True)
class HostAccess(HostOp):
    """The host itself reads or writes memory."""

    access: MemAccess


@dataclass(frozen=True, slots=True)
class Record(HostOp):
    """An event captures the present end of a stream (a later record of the same event replaces it)."""

    event: str
    stream: str


@dataclass(frozen=True, slots=True)
class Wait(HostOp):
    """Later work of ``stream`` waits for what ``event`` captured last (no-op when it was never recorded).

    ``automatic``: inserted by the library (cudarc's tracking), not written by the user.
    """

    stream: str
    event: str
    automatic: bool = False


@dataclass(frozen=True, slots=True)
class Sync(HostOp):
    """The host waits. ``target``: ``stream``, ``event`` or ``context``; ``ident`` names it."""

    target: str
    ident: str


@dataclass(frozen=True, slots=True)
class Spawn(HostOp):
    """A host thread starts: operations with its ``thread`` id are ordered after this one."""

    thread: str


@dataclass(frozen=True, slots=True)
class Join(HostOp):
    """The thread's operations are ordered before what follows."""

    thread: str


@dataclass(frozen=True, slots=True)
class ForeignContext(HostOp):
    """Objects of two contexts meet in one operation (GS115): ``first`` and ``second`` say which."""

    first: str
    second: str


@dataclass(frozen=True, slots=True)
class Gap(HostOp):
    """Something on this path that is not modelled, with the reason for the user.

    ``memory``: what it may touch (empty: it may touch and order anything, so nothing after it is certain).
    """

    reason: str
    memory: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """A decision of a path on a condition that is not modelled, so that nothing tells whether others agree with it.

    ``site`` identifies the condition (its text, its calls, and last how often it came so far), ``taken`` the way,
    ``words`` both for people. ``at`` is the index of the first operation after it. ``unlikely``: code is written
    for the other way (a loop over something that is not empty), so that this one alone makes no error.
    """

    site: tuple[object, ...]
    taken: int
    words: str
    at: int
    unlikely: bool = False


@dataclass(frozen=True, slots=True)
class HostPath:
    """One path through a root function.

    ``ops`` in host program order; ``threads`` gives for an op's index the host thread it runs on where that is not the
    main one. ``conditions`` are the decisions that lead here, in words. ``assumes`` are terms that hold on this path
    (branch conditions over Sym). ``complete`` is False when the walk was cut (``Gap`` says why).
    ``generalised`` names the loops whose operations were found to repeat ("loop at main.rs:20: period 2"): the path
    walks enough iterations to show the repetition, not all. ``guards`` gives for a Record's index the label of the
    guard whose drop made it ("guard of `buf`"). ``turns`` are the decisions on conditions that are not modelled.
    """

    root: str
    root_span: Span
    ops: tuple[HostOp, ...]
    streams: dict[str, Stream]
    memory: dict[str, Memory]
    conditions: tuple[str, ...] = ()
    assumes: tuple[Expr, ...] = ()
    threads: dict[int, str] = field(default_factory=dict)
    guards: dict[int, str] = field(default_factory=dict)
    complete: bool = True
    generalised: tuple[str, ...] = ()
    turns: tuple[Turn, ...] = ()


def key_of(function: str, span: Span) -> str:
    """Identifies a function within a run (many have the same name: each binary has a ``main``)."""
    return f"{function}@{span.file}:{span.line}"


@dataclass(frozen=True, slots=True)
class HostFunction:
    """A host function that does GPU work: a unit of the report."""

    name: str
    path: str
    span: Span
    is_root: bool


@dataclass(frozen=True, slots=True)
class LaunchSeen:
    """One way in which the executor met a launch expression (also while a graph was captured).

    ``kernel`` is the key of its kernel (None: not found), ``args`` how many arguments there are. ``geometry``: every
    size of grid and block is known at least as a term; ``arguments``: each argument is known as a scalar or as memory.
    """

    span: Span
    kernel_name: str
    kernel: str | None
    args: int
    geometry: bool
    arguments: bool


@dataclass(frozen=True, slots=True)
class HostProgram:
    """All host functions with GPU work and the paths through the roots (functions that nothing in sight calls).

    ``gaps``: for each root (:func:`key_of`) the reasons of what is not modelled on its paths. ``launches``: every
    launch that was met, once for each way.
    """

    functions: tuple[HostFunction, ...]
    paths: tuple[HostPath, ...]
    gaps: dict[str, tuple[str, ...]] = field(default_factory=dict)
    launches: tuple[LaunchSeen, ...] = ()


@dataclass(frozen=True, slots=True)
class LaunchSite:
    """One launch on one path: the operation, and the path that gives its streams and memory a meaning."""

    op: Enqueue
    path: HostPath
