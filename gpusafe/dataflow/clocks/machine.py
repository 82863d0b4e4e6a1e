"""The threads of one cluster with their clocks, run until they end or none can go on."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from math import prod
from typing import Any

from gpusafe.dataflow.clocks import waiting
from gpusafe.dataflow.clocks.barriers import Copying, Pair, Phased
from gpusafe.dataflow.clocks.memory import Entry, Fault, Touches
from gpusafe.dataflow.clocks.statements import Program
from gpusafe.dataflow.concrete.evaluate import Unknowable
from gpusafe.dataflow.taint import walk
from gpusafe.ir import kernel as ir
from gpusafe.ir.expr import Const
from gpusafe.ir.kernel import Kernel, Scope, Space
from gpusafe.span import Span

Triple = tuple[int, int, int]
PARTS = 64  # barriers with state that a cluster may use, beside those of its warps
MBARRIER = 8  # bytes of an mbarrier (PTX ISA, mbarrier)
LEAST = 16  # bytes of a bulk copy whose size is not known
GENERIC = frozenset({"async", "async.shared::cta", "async.shared::cluster"})  # fences between the proxies, both ways


@dataclass(frozen=True, slots=True)
class Run:
    """What a run saw. ``doubts``: why it does not speak for every schedule; ``why``: why it ended early.

    ``outside`` are the touches of global memory, for the comparison with other clusters. ``assumed`` is what the
    lengths of copies rest on.
    """

    faults: tuple[Fault, ...]
    doubts: tuple[str, ...]
    why: str
    global_touches: dict[tuple[Any, int], list[Entry]]
    assumed: tuple[str, ...] = ()
    steps: int = 0


class Thread:
    """One thread: its place, its environment and what it knows."""

    __slots__ = (
        "arrived", "block", "code", "committed", "ended", "env", "fence", "groups", "knows", "local", "may", "near",
        "number", "ready", "remote", "tid", "wait", "waited",
    )  # fmt: skip

    def __init__(self, number: int, tid: Triple, block: Triple, env: dict[str, Any], knows: Pair) -> None:
        self.number, self.tid, self.block, self.env, self.knows = number, tid, block, env, knows
        self.code: Generator[Callable[[], bool], None, object] | None = None
        self.ready: Callable[[], bool] | None = None
        self.wait: ir.Barrier | ir.MBarrier | None = None  # where it waits
        self.ended, self.may = False, False
        self.local: dict[tuple[str, int], Any] = {}
        self.arrived = self.waited = 0  # phases of the cluster's barrier
        self.fence: Pair | None = None  # what its last fence of cluster scope releases
        self.groups: tuple[int, int] | None = None  # parts: groups of bulk copies that have been read, and are complete
        self.committed = 0
        self.near: Pair | None = None  # what its last fence of any scope releases
        self.remote: list[tuple[Entry, Triple, int]] = []  # uses of a peer's memory: owner, phases arrived at

    @property
    def time(self) -> int:
        """The thread's own time."""
        return self.knows.seen[self.number]

    def tick(self) -> None:
        """What follows is later than what has been released."""
        seen = list(self.knows.seen)
        seen[self.number] += 1
        self.knows = Pair(seen, self.knows.fenced)

    def learn(self, other: Pair) -> None:
        """Acquires what another thread released."""
        self.knows = self.knows.with_(other)


class Cluster:
    """The state of one run. ``actual`` takes waits as this schedule has them, else as early as any schedule may."""

    def __init__(self, kernel: Kernel, env: dict[str, Any], shape: tuple[Triple, Triple, Triple], limit: int) -> None:
        self.grid, self.block, self.size = shape
        self.kernel, self.common, self.limit = kernel, env, limit
        self.regions = {r.name: r for r in kernel.regions}
        self.async_ = any(isinstance(s, ir.AsyncCopy) and s.kind != "cp.async" for s in walk(kernel.body))
        self.fences_init = any(isinstance(s, ir.Fence) and s.scope is Scope.CLUSTER for s in walk(kernel.body))
        self.actual = False
        self.elected = 0  # the lane that `elect` picks: the same one for the same mask (PTX ISA, elect.sync)
        self.touches = Touches()
        self.doubts: dict[str, None] = {}
        self.assumed: dict[str, None] = {}
        self.threads: list[Thread] = []
        self.blocks: list[Triple] = []
        self.phased: dict[Any, Phased] = {}
        self.objects: dict[Any, set[int]] = {}  # places of mbarriers, and where in them
        self.parts = 0
        self.steps = 0
        self.width = 0

    # -- set up

    def start(self, first: Triple) -> None:
        """Creates the threads of the cluster whose first block this is."""
        sx, sy, sz = self.size
        self.blocks = [
            (first[0] + x, first[1] + y, first[2] + z) for z in range(sz) for y in range(sy) for x in range(sx)
        ]
        count = prod(self.block) * len(self.blocks)
        self.parts, self.width = count, count + PARTS + count // 8
        program = Program(self)
        for rank, index in enumerate(self.blocks):
            number = 0
            common = {**self.common, "%cluster_ctarank": rank, "%cluster_nctarank": len(self.blocks)}
            for axis, (n, g, c) in zip("xyz", zip(self.block, self.grid, index, strict=True), strict=True):
                common |= {f"%ntid.{axis}": n, f"%nctaid.{axis}": g, f"%ctaid.{axis}": c}
            for z in range(self.block[2]):
                for y in range(self.block[1]):
                    for x in range(self.block[0]):
                        seen = [0] * self.width
                        seen[len(self.threads)] = 1
                        env = {**common, "%tid.x": x, "%tid.y": y, "%tid.z": z}
                        env |= {"%laneid": number % 32, "%warpid": number // 32}
                        fenced = [0] * self.width if self.async_ else []
                        thread = Thread(len(self.threads), (x, y, z), index, env, Pair(seen, fenced))
                        thread.code = program.start(thread)
                        self.threads.append(thread)
                        number += 1

    def run(self) -> Run:
        """Runs all threads to their end."""
        why = ""
        try:
            while self._round():
                pass
            self._finish()
        except Unknowable as stop:
            why = str(stop)
        outside = {
            key: cell
            for key, cell in self.touches.cells.items()
            if isinstance(key[0], str) and self.regions[key[0]].space in (Space.GLOBAL, Space.CONSTANT)
        }
        if self.touches.full:
            self.doubt("too many accesses of one place")
        return Run(
            tuple(self.touches.faults.values()), tuple(self.doubts), why, outside, tuple(self.assumed), self.steps
        )

    def _round(self) -> bool:
        """Lets every thread go on as far as it can; whether one could."""
        moved = False
        for thread in self.threads:
            while thread.code is not None and (thread.ready is None or thread.ready()):
                moved = True
                thread.ready = None
                try:
                    thread.ready = thread.code.send(None)
                except StopIteration:
                    thread.code, thread.ended = None, True
        return moved

    def _finish(self) -> None:
        stuck = [t for t in self.threads if not t.ended]
        if any(self.touches.near(place, offset, MBARRIER) for place, at in self.objects.items() for offset in at):
            self.doubt("the bytes of an mbarrier are accessed as other memory")
        for phased in self.phased.values():
            for copy in phased.copies:
                self.copy_lands(copy, copy.size or LEAST, None, 0)
        if stuck:
            one = stuck[0]
            assert one.wait is not None
            entry = self.entry(one, ("", 0), 0, "read", one.wait.span, False)
            self.touches.fault(Fault(_kind_of_wait(one.wait), entry))
            return
        for thread in self.threads:
            for used, owner, arrived in thread.remote:
                late = (t for t in self.threads if t.block == owner)
                if not any(t.waited > arrived or t.knows.seen[used.part] >= used.time for t in late):
                    self.touches.fault(Fault("ended", used))

    # -- what the statements use

    def doubt(self, why: str) -> None:
        """The run does not speak for all schedules."""
        self.doubts[why] = None

    def step(self) -> None:
        """Counts a step against the budget."""
        self.steps += 1
        if self.steps > self.limit:
            raise Unknowable("the launch takes too many steps")

    def place(self, t: Thread, pointer: Any) -> tuple[Any, str, int, Triple]:
        """The memory behind a pointer: its instance, its region, the byte offset, and the block that owns it."""
        if not isinstance(pointer, tuple):  # unknown, or a number that was loaded as a pointer
            raise Unknowable("an address is not known")
        name, offset = pointer
        owner = t.block
        if isinstance(name, tuple):
            name, rank = name
            if not 0 <= rank < len(self.blocks):
                raise Unknowable("a block outside the cluster is named")
            owner = self.blocks[rank]
        region = self.regions.get(name)
        if region is None:
            raise Unknowable(f"memory `{name}` is not known")
        if region.space in (Space.SHARED, Space.DYNAMIC_SHARED):
            return (name, owner), name, offset, owner
        if owner != t.block:
            raise Unknowable("memory that no peer can have")
        return (name, t.number) if region.space is Space.LOCAL else name, name, offset, t.block

    def entry(
        self, t: Thread, where: tuple[str, int], size: int, mode: str, span: Span, writes: bool,
        scope: Scope | None = None, volatile: bool = False,
    ) -> Entry:  # fmt: skip
        """A touch by a thread, now."""
        return Entry(
            where[0], where[1], size, mode, span, t.number, t.tid, t.block, t.number, t.time, writes, scope, t.may,
            False, volatile, self.steps,
        )  # fmt: skip

    def access(
        self, t: Thread, pointer: Any, size: int, mode: str, span: Span, writes: bool, scope: Scope | None = None,
        volatile: bool = False,
    ) -> None:  # fmt: skip
        """Records an access."""
        place, name, offset, owner = self.place(t, pointer)
        region = self.regions[name]
        now = self.entry(t, (name, offset), size, mode, span, writes, scope, volatile)
        if isinstance(region.length, Const) and not 0 <= offset <= int(region.length.value) * region.elem_bytes - size:
            self.doubt(f"an access of `{name}` may leave it")
        if region.space is Space.LOCAL:
            return
        if owner != t.block:
            self._remote(t, now, owner)
        self.touches.add(place, now, t.knows.seen, t.knows.fenced if self.async_ else None)

    def _remote(self, t: Thread, now: Entry, owner: Triple) -> None:
        there = t.waited > 0 or any(x.block == owner and t.knows.seen[x.number] > 0 for x in self.threads)
        if not there:
            self.touches.fault(Fault("started", now))
        t.remote.append((now, owner, t.arrived))

    def new_part(self) -> int:
        """A part of the clocks for a barrier."""
        if self.parts >= self.width:
            raise Unknowable("too many barriers")
        self.parts += 1
        return self.parts - 1

    # -- bulk copies

    def complete(self, phased: Phased) -> None:
        """A phase ends: its copies have landed, as far as their bytes were announced."""
        phase = phased.complete + 1
        self.steps += self.width // 8
        seen = phased.now.seen if phased.now is not None else [0] * self.width
        if any(seen[n] < time for n, time in (*phased.issued, *((c.thread.number, c.issued) for c in phased.copies))):
            self.doubt("a phase may end before a copy is issued or its bytes are announced")
        if phased.copies and not phased.announced:
            self.doubt("a phase may end before its copies are complete")
        sizes = self._sizes(phased)
        for copy, size in zip(phased.copies, sizes, strict=True):
            self.copy_lands(copy, size, phased.part if phased.announced else None, phase)
        learned = phased.finish(self.width)
        if self.actual and len(phased.past) > 1:
            phased.past[-1] = learned = learned.with_(phased.past[-2])
        if any(ended == phased.complete - 1 and learned.seen[n] < time for n, ended, time in phased.passed):
            self.doubt(waiting.TOO_LATE)
        phased.passed = [p for p in phased.passed if p[1] >= phased.complete]
        for number, (waited, time) in phased.waited.items():
            if waited == phased.complete - 2 and learned.seen[number] < time:
                self.doubt("a phase may end before all waits for the one before it have seen that end")

    def _sizes(self, phased: Phased) -> list[int]:
        known = sum(c.size for c in phased.copies if c.size is not None)
        open_ = [c for c in phased.copies if c.size is None]
        rest = phased.bytes - known
        if not open_ or not phased.announced:
            if phased.announced and rest:
                self._wrong_bytes(phased, known)
            return [c.size or LEAST for c in phased.copies]
        if rest <= 0 or rest % len(open_):
            self.doubt("the bytes that an mbarrier expects do not tell the sizes of the copies")
            return [c.size or LEAST for c in phased.copies]
        share = self._shares(open_, rest)
        for c in open_:
            self.assumed[f"the copy in line {c.span.line} brings the bytes that its mbarrier expects"] = None
        return [c.size if c.size is not None else share[id(c)] for c in phased.copies]

    def _shares(self, open_: list[Copying], rest: int) -> dict[int, int]:
        """The sizes of copies whose descriptors hold them: one takes all, several fill their arrays if that adds up."""
        if len(open_) == 1:
            return {id(open_[0]): rest}
        whole: dict[int, int] = {}
        for c in open_:
            length = self.regions[c.region].length
            size = int(length.value) * self.regions[c.region].elem_bytes if isinstance(length, Const) else 0
            whole[id(c)] = size - c.offset
        if sum(whole.values()) == rest and all(s > 0 for s in whole.values()):
            return whole
        self.doubt("the bytes that an mbarrier expects do not tell the sizes of the copies")
        return {id(c): LEAST for c in open_}

    def _wrong_bytes(self, phased: Phased, known: int) -> None:
        one = phased.copies[0] if phased.copies else None
        if one is None:
            self.doubt("an mbarrier expects bytes that no copy in sight brings")
            return
        entry = self._copied(one, one.size or LEAST, one.thread.number, one.thread.time)
        why = f"the mbarrier expects {phased.bytes} bytes in this phase and the copies bring {known}"
        self.touches.fault(Fault("protocol", entry, None, why))

    def _copied(self, c: Copying, size: int, part: int, time: int) -> Entry:
        t = c.thread
        return Entry(
            c.region, c.offset, size, "write" if c.writes else "read", c.span, t.number, t.tid, t.block, part, time,
            c.writes, None, c.may, True, False, c.seq,
        )  # fmt: skip

    def copy_lands(self, copy: Copying, size: int, part: int | None, phase: int) -> None:
        """The accesses of a copy: after what its thread knew at the issue, before what knows the end of the phase."""
        never = 1 << 62
        part, time = (copy.thread.number, never) if part is None else (part, phase)
        self._bounds(copy, size)
        now = self._copied(copy, size, part, time)
        self.touches.add(copy.place, now, copy.knows.seen, copy.knows.fenced)

    def _bounds(self, copy: Copying, size: int) -> None:
        region = self.regions[copy.region]
        length = region.length.value if isinstance(region.length, Const) else self.common.get(f"length {copy.region}")
        if isinstance(length, int) and copy.offset + size > length * region.elem_bytes:
            self.doubt(f"a copy may reach past the end of `{copy.region}`")


def run_cluster(
    kernel: Kernel,
    env: dict[str, Any],
    shape: tuple[Triple, Triple, Triple],
    first: Triple,
    *,
    actual: bool,
    limit: int,
    elected: int = 0,
) -> Run:
    """Runs the cluster that starts at block ``first``; ``shape`` gives grid, block and cluster.

    ``elected`` is the lane that `elect` picks.
    """
    cluster = Cluster(kernel, env, shape, limit)
    cluster.actual, cluster.elected = actual, elected
    cluster.start(first)
    return cluster.run()


def _kind_of_wait(wait: ir.Barrier | ir.MBarrier) -> str:
    """What it is called when such a wait never ends."""
    match wait:
        case ir.Barrier(scope=Scope.WARP):
            return "lanes"
        case ir.Barrier():
            return "parted"
    return "stuck"
