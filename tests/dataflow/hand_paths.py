"""Host paths written by hand: one method call an operation, one source line each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gpusafe.dataflow.contracts import Effect, KernelSummary
from gpusafe.ir.expr import F32, PTR, U32, Binary, Const, Expr, Op, PtrAdd, PtrBase, Special, const
from gpusafe.ir.host import (
    Alloc,
    Enqueue,
    ForeignContext,
    Frame,
    Free,
    Gap,
    HostAccess,
    HostFunction,
    HostOp,
    HostPath,
    HostProgram,
    Join,
    LaunchArg,
    LaunchShape,
    MemAccess,
    Memory,
    MemRange,
    Record,
    Spawn,
    Stream,
    Sync,
    Wait,
)
from gpusafe.ir.kernel import Atomic, Kernel, KernelParam, Load, Order, Region, Scope, Space, Stmt, Store
from gpusafe.span import Span

FILE = "main.rs"


def line(number: int, last: int | None = None) -> Span:
    """A whole line, or several."""
    return Span(FILE, number, 1, last or number, 80)


def bytes_of(memory: str, start: int | Expr = 0, size: int | Expr | None = None) -> MemRange:
    """A range in bytes."""
    first = const(start) if isinstance(start, int) else start
    return MemRange(memory, first, const(size) if isinstance(size, int) else size)


def summary(name: str, *modes: str, known: bool = True, globals_: tuple[tuple[str, str], ...] = ()) -> KernelSummary:
    """A kernel with one pointer parameter for each string of ``modes`` (letters of "rwaR": read, write, atomic,
    read of the next element).
    """
    params = tuple(KernelParam(f"p{i}", "pointer", F32, f"p{i}", line(900)) for i in range(len(modes)))
    regions = tuple(Region(f"p{i}", Space.GLOBAL, 4, None, line(900), param=i) for i in range(len(modes)))
    body = tuple(s for i, m in enumerate(modes) for s in _accesses(f"p{i}", m)) if known else ()
    kernel = Kernel(name, name, "cuda-c", params, regions, body, Span(FILE, 900, 1, 910, 1))
    return KernelSummary(
        kernel,
        tuple(_effect(m, known) for m in modes),
        tuple((g, _effect(m, known)) for g, m in globals_),
    )


def _accesses(region: str, modes: str) -> tuple[Stmt, ...]:
    """Each thread touches its own element (by threadIdx.x alone)."""
    place = PtrAdd(PTR, PtrBase(PTR, region), Binary(U32, Op.MUL, Special(U32, "tid.x"), Const(U32, 4)))
    beside = PtrAdd(PTR, place, Const(U32, 4))
    one: dict[str, Stmt] = {
        "R": Load(line(901), f"v{region}", beside, F32),
        "r": Load(line(901), f"v{region}", place, F32),
        "w": Store(line(902), place, Const(F32, 1.0), 4),
        "a": Atomic(line(903), None, "add", place, (Const(U32, 1),), U32, Order.RELAXED, Scope.DEVICE),
    }
    return tuple(one[m] for m in modes)


def _effect(modes: str, known: bool) -> Effect:
    return Effect("r" in modes.lower(), "w" in modes, "a" in modes, known)


class HandPath:
    """Collects operations; :meth:`path` gives the path, :meth:`program` a program with that one path."""

    def __init__(self, root: str = "main") -> None:
        self.root = root
        self.ops: list[HostOp] = []
        self.streams: dict[str, Stream] = {}
        self.memory: dict[str, Memory] = {}
        self.threads: dict[int, str] = {}
        self.guards: dict[int, str] = {}
        self.functions: dict[str, Span] = {root: line(1, 199)}
        self.calls: list[Frame] = []
        self.thread: str | None = None
        self.complete = True
        self.assumes: tuple[Expr, ...] = ()
        self.line = 9

    # what there is

    def stream(self, name: str, kind: str = "nonblocking", context: str | None = "ctx") -> str:
        self.streams[name] = Stream(name, kind, context, name, line(2))
        return name

    def buffer(
        self,
        name: str,
        kind: str = "device",
        length: int | Expr | None = 1024,
        initialized: bool = True,
        exclusive: bool = True,
        born: bool = True,
    ) -> str:
        """``born``: a blank buffer is allocated here, and not a field that another method has made."""
        size = const(length) if isinstance(length, int) else length
        self.memory[name] = Memory(name, kind, 4, size, "ctx", name, line(3), initialized, exclusive)
        if born and not initialized:
            self.add(Alloc(self.frames(None), f"allocation of `{name}`", name))
        return name

    # where we are

    @contextmanager
    def call(self, function: str, at: int | None = None) -> Iterator[None]:
        """Operations inside happen in ``function``, called from the present place."""
        self.line += 1
        if function not in self.functions:
            start = 200 * (1 + len(self.functions))
            self.functions[function] = line(start, start + 199)
        caller = self.calls[-1] if self.calls else Frame(self.root, self.functions[self.root], line(1))
        here = Frame(caller.function, caller.function_span, line(at or self.line), caller.call)
        inner = self.functions[function]
        saved = (self.calls, self.line)
        self.calls = [*self.calls[:-1], here, Frame(function, inner, inner, len(self.ops) + 1)]
        self.line = inner.line + 9
        yield
        self.calls, self.line = saved

    @contextmanager
    def on_thread(self, name: str) -> Iterator[None]:
        saved, self.thread = self.thread, name
        yield
        self.thread = saved

    def frames(self, at: int | None) -> tuple[Frame, ...]:
        self.line += 1
        place = line(at or self.line)
        if not self.calls:
            return (Frame(self.root, self.functions[self.root], place),)
        top = self.calls[-1]
        return (*self.calls[:-1], Frame(top.function, top.function_span, place, top.call))

    def add(self, op: HostOp) -> int:
        if self.thread:
            self.threads[len(self.ops)] = self.thread
        self.ops.append(op)
        return len(self.ops) - 1

    # what happens

    def launch(
        self,
        stream: str,
        kernel: str,
        *args: str | MemRange,
        at: int | None = None,
        passed: str = "mut",
        blocks: int = 4,
    ) -> int:
        launch_args = tuple(
            LaunchArg("memory", line(4), range=a if isinstance(a, MemRange) else bytes_of(a), passed=passed, type=PTR)
            for a in args
        )
        shape = LaunchShape((const(blocks), const(1), const(1)), (const(256), const(1), const(1)))
        key = f"{kernel}@{FILE}:900"
        frames = self.frames(at)
        return self.add(
            Enqueue(
                frames,
                f"launch of `{kernel}`",
                stream,
                "launch",
                kernel=key,
                kernel_name=kernel,
                shape=shape,
                args=launch_args,
            )
        )

    def enqueue(
        self,
        what: str,
        stream: str,
        read: str | MemRange | None = None,
        write: str | MemRange | None = None,
        blocks: bool = False,
        at: int | None = None,
    ) -> int:
        accesses = tuple(
            MemAccess(m if isinstance(m, MemRange) else bytes_of(m), mode)
            for m, mode in ((read, "read"), (write, "free" if what == "free" else "write"))
            if m is not None
        )
        return self.add(Enqueue(self.frames(at), what, stream, what, accesses, blocks))

    def copy(
        self,
        stream: str,
        read: str | MemRange | None = None,
        write: str | MemRange | None = None,
        blocks: bool = False,
        at: int | None = None,
    ) -> int:
        return self.enqueue("copy", stream, read, write, blocks, at)

    def memset(self, stream: str, memory: str | MemRange, at: int | None = None) -> int:
        return self.enqueue("memset", stream, write=memory, at=at)

    def free_async(self, stream: str, memory: str) -> int:
        return self.enqueue("free", stream, write=memory)

    def alloc_async(self, stream: str, memory: str) -> int:
        return self.enqueue("alloc", stream, write=memory)

    def drop(self, memory: str, waits: str = "none", at: int | None = None) -> int:
        return self.add(Free(self.frames(at), f"drop of `{memory}`", memory, waits))

    def host(self, memory: str | MemRange, mode: str = "read", at: int | None = None) -> int:
        stretch = memory if isinstance(memory, MemRange) else bytes_of(memory)
        return self.add(HostAccess(self.frames(at), f"{mode} of `{stretch.memory}`", MemAccess(stretch, mode)))

    def record(self, event: str, stream: str, at: int | None = None, guard: str | None = None) -> int:
        index = self.add(Record(self.frames(at), "record", event, stream))
        if guard:
            self.guards[index] = guard
        return index

    def wait(self, stream: str, event: str, automatic: bool = False, at: int | None = None) -> int:
        return self.add(Wait(self.frames(at), "wait", stream, event, automatic))

    def sync(self, stream: str) -> int:
        return self.add(Sync(self.frames(None), "synchronize", "stream", stream))

    def sync_event(self, event: str) -> int:
        return self.add(Sync(self.frames(None), "synchronize", "event", event))

    def sync_context(self, context: str = "ctx") -> int:
        return self.add(Sync(self.frames(None), "synchronize", "context", context))

    def spawn(self, thread: str) -> int:
        return self.add(Spawn(self.frames(None), "spawn", thread))

    def join(self, thread: str) -> int:
        return self.add(Join(self.frames(None), "join", thread))

    def gap(self, reason: str, *memory: str) -> int:
        return self.add(Gap(self.frames(None), "call of `mystery`", reason, memory))

    def foreign(self, first: str, second: str) -> int:
        return self.add(ForeignContext(self.frames(None), "launch of `k`", first, second))

    # what comes out

    def path(self) -> HostPath:
        return HostPath(
            self.root,
            self.functions[self.root],
            tuple(self.ops),
            self.streams,
            self.memory,
            assumes=self.assumes,
            threads=self.threads,
            guards=self.guards,
            complete=self.complete,
        )

    def program(self) -> HostProgram:
        functions = tuple(HostFunction(name, name, span, name == self.root) for name, span in self.functions.items())
        return HostProgram(functions, (self.path(),))
