"""Running all threads of some blocks of a launch, barrier by barrier."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from gpusafe.dataflow.concrete.evaluate import UNKNOWN, Unknowable
from gpusafe.dataflow.concrete.memory import Enough, Meeting, Memory, Touch
from gpusafe.dataflow.concrete.statements import RETURN, Program, Wait
from gpusafe.ir.expr import Const, Type
from gpusafe.ir.kernel import Kernel, Scope, Space
from gpusafe.span import Span

Triple = tuple[int, int, int]
SPIN_LIMIT = 200_000  # steps of one thread between two barriers; it may wait for a thread that runs later
TOO_LONG = "the replay takes too many steps"
STEP_LIMIT = 1_500_000


@dataclass(frozen=True, slots=True)
class ConcreteLaunch:
    """A launch with numbers: ``params`` by name, ``lengths`` in elements by region (missing: not known).

    ``same_memory`` gives regions that are views of another one, with the byte offset of their start. ``contents``
    tells the initial value of a cell: region, byte offset, type.
    """

    grid: Triple
    block: Triple
    params: dict[str, Any] = field(default_factory=dict)
    lengths: dict[str, int] = field(default_factory=dict)
    same_memory: dict[str, tuple[str, int]] = field(default_factory=dict)
    contents: Callable[[str, int, Type], Any] = lambda region, offset, type_: 0
    shared_bytes: int = 0
    sizes: dict[str, int] = field(default_factory=dict)  # bytes behind an argument, where known


@dataclass(frozen=True, slots=True)
class Divergence:
    """A barrier where one thread of its scope waits while another has ended, or waits elsewhere."""

    span: Span
    waiting: tuple[Triple, Triple]
    missing: tuple[Triple, Triple]
    elsewhere: Span | None
    scope: Scope


@dataclass(frozen=True, slots=True)
class OutOfBounds:
    """An access outside its region, whose length in bytes is known."""

    touch: Touch
    length: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run saw. ``complete`` is False where it stopped early (``why``): then nothing seen means nothing."""

    meetings: tuple[Meeting, ...]
    divergences: tuple[Divergence, ...]
    outside: tuple[OutOfBounds, ...]
    complete: bool = True
    why: str = ""
    blank: tuple[Touch, ...] = ()  # reads of shared memory that no thread had written
    touchers: int = 0  # threads that made the access that was watched
    touched: frozenset[int] = frozenset()  # where the access that was watched was: first bytes in its region
    steps: int = 0  # of all threads together


class _Thread:
    """One thread: its environment, its clocks and its running code."""

    __slots__ = ("answer", "block", "code", "copies", "env", "number", "request", "tid", "trapped", "warp_clock")

    def __init__(self, number: int, tid: Triple, block: _Block, env: dict[str, Any]) -> None:
        self.number = number
        self.tid = tid
        self.block = block
        self.env = env
        self.request: Wait | None = None
        self.warp_clock = 0
        self.answer: Any = None
        self.trapped = False
        self.copies = Copies()
        self.code: Generator[Wait, Any, object] | None = None


class Copies:
    """The asynchronous copies of a thread: committed groups, oldest first, and those since the last commit."""

    __slots__ = ("groups", "open")

    def __init__(self) -> None:
        self.groups: list[list[tuple[Any, Touch]]] = []
        self.open: list[tuple[Any, Touch]] = []

    def under_way(self) -> list[tuple[Any, Touch]]:
        """The writes that may not have happened yet."""
        return [c for g in (*self.groups, self.open) for c in g]


class _Block:
    """One block: its threads and clocks."""

    def __init__(self, index: Triple) -> None:
        self.index = index
        self.threads: list[_Thread] = []
        self.phase = 0
        self.warp_syncs: dict[int, list[frozenset[int]]] = {}


class Machine:
    """The state of one run."""

    def __init__(
        self,
        kernel: Kernel,
        launch: ConcreteLaunch,
        wanted: Callable[[Meeting], bool] | None = None,
        only: frozenset[tuple[Triple, Triple]] | None = None,
        limit: int = STEP_LIMIT,
        watch: Span | None = None,
    ) -> None:
        self.limit = limit
        self.watch = watch
        self.touchers: set[tuple[Triple, int]] = set()
        self.touched: set[int] = set()
        self.only = only
        self.kernel = kernel
        self.launch = launch
        self.regions = {r.name: r for r in kernel.regions}
        self.memory = Memory(self, self._initial, wanted)
        self.blocks: dict[Triple, _Block] = {}
        self.grid_phase = 0
        self.steps = 0
        self.resumed = 0  # the step at which the running thread went on
        self.divergences: list[Divergence] = []
        self.outside: dict[tuple[str, Span], OutOfBounds] = {}
        self.blank: dict[tuple[str, Span], Touch] = {}
        self.last: Touch | None = None
        self.program = Program(kernel, self)

    @property
    def partial(self) -> bool:
        """Whether some threads of the blocks are left out."""
        return self.only is not None

    # -- what the statements use

    def step(self) -> None:
        """Counts a step against the budget."""
        self.steps += 1
        if self.steps > self.limit or self.steps > self.resumed + SPIN_LIMIT:
            raise Unknowable(TOO_LONG)

    def place(self, thread: _Thread, pointer: Any) -> tuple[Any, str, int] | None:
        """The memory that a pointer points into: its instance, its region, the byte offset."""
        if not isinstance(pointer, tuple):  # unknown, or a number that was loaded as a pointer
            raise Unknowable("an address is not known")
        region, offset = pointer
        if region in self.launch.same_memory:
            region, base = self.launch.same_memory[region]
            offset += base
        where = self.regions.get(region)
        if where is None:
            raise Unknowable(f"memory `{region}` is not known")
        match where.space:
            case Space.SHARED | Space.DYNAMIC_SHARED:
                return (region, thread.block.index), region, offset
            case Space.LOCAL:
                return (region, thread.block.index, thread.number), region, offset
        return region, region, offset

    def access(
        self, thread: _Thread, pointer: Any, size: int, mode: str, span: Span, writes: bool,
        scope: Scope | None = None, volatile: bool = False,
    ) -> tuple[Any, int] | None:  # fmt: skip
        """Records an access; None when it lies outside its region."""
        found = self.place(thread, pointer)
        assert found is not None
        place, region, offset = found
        touch = Touch(
            region, offset, size, mode, span, thread.number, thread.block.index, thread.tid, self.grid_phase,
            thread.block.phase, thread.warp_clock, scope, volatile, writes,
        )  # fmt: skip
        self.last = touch
        if span == self.watch:
            self.touchers.add((thread.block.index, thread.number))
            self.touched.add(offset)
        length = self._bytes(region)
        if offset < 0 or (length is not None and offset + size > length):
            self.outside.setdefault((region, span), OutOfBounds(touch, length or 0))
            return None
        if self.regions[region].space is not Space.LOCAL:
            self.memory.touch(place, touch)
        for where, copy in thread.copies.under_way():
            if where == place and copy.offset < offset + size and offset < copy.offset + copy.size:
                self.memory.met(copy, touch)
        return place, offset

    def copy_issued(self, thread: _Thread, pointer: Any, size: int, span: Span) -> None:
        """An asynchronous copy into a cell starts: its write may happen until the wait for its group."""
        cell = self.access(thread, pointer, size, "write", span, True)
        if cell is None:
            return
        place, offset = cell
        self.memory.write(place, offset, size, UNKNOWN)
        region = place if isinstance(place, str) else place[0]
        touch = Touch(
            region, offset, size, "write", span, thread.number, thread.block.index, thread.tid, self.grid_phase,
            thread.block.phase, thread.warp_clock, None, False, True,
        )  # fmt: skip
        thread.copies.open.append((place, touch))

    def copies_go_on(self, block: _Block) -> None:
        """In the interval that begins, the copies under way may write, too."""
        for thread in block.threads:
            for place, touch in thread.copies.under_way():
                now = replace(touch, block_phase=block.phase, grid_phase=self.grid_phase, warp_clock=thread.warp_clock)
                self.memory.touch(place, now)

    def _bytes(self, name: str) -> int | None:
        region = self.regions[name]
        if name in self.launch.sizes:
            return self.launch.sizes[name]
        if isinstance(region.length, Const):
            return int(region.length.value) * region.elem_bytes
        return self.launch.shared_bytes if region.space is Space.DYNAMIC_SHARED else None

    def _initial(self, place: Any, offset: int, type_: Type) -> Any:
        region = place if isinstance(place, str) else place[0]
        if self.regions[region].space in (Space.GLOBAL, Space.CONSTANT):
            return self.launch.contents(region, offset, type_)
        last = self.last
        shared = self.regions[region].space in (Space.SHARED, Space.DYNAMIC_SHARED)
        if shared and last is not None and not self.memory.stored(place, offset, type_.bytes):
            self.blank.setdefault((region, last.span), last)
        return UNKNOWN

    def ordered_in_warp(self, a: Touch, b: Touch) -> bool:
        """Whether a warp barrier that both threads took part in lies between two accesses of one block."""
        if a.thread // 32 != b.thread // 32:
            return False
        if a.warp_clock > b.warp_clock:
            a, b = b, a
        syncs = self.blocks[a.block].warp_syncs.get(a.thread // 32, [])
        return any(a.thread in s and b.thread in s for s in syncs[a.warp_clock : b.warp_clock])

    # -- running

    def start(self, index: Triple) -> None:
        """Creates the threads of a block."""
        block = self.blocks[index] = _Block(index)
        nx, ny, nz = self.launch.block
        common: dict[str, Any] = {f"param {k}": v for k, v in self.launch.params.items()}
        common |= {f"length {k}": v for k, v in self.launch.lengths.items()}
        for axis, (n, g, c) in zip("xyz", zip(self.launch.block, self.launch.grid, index, strict=True), strict=True):
            common |= {f"%ntid.{axis}": n, f"%nctaid.{axis}": g, f"%ctaid.{axis}": c}
        common["%dynamic_smem_bytes"] = self.launch.shared_bytes
        number = 0
        for z in range(nz):
            for y in range(ny):
                for x in range(nx):
                    if self.only is not None and (index, (x, y, z)) not in self.only:
                        number += 1
                        continue
                    own = {"%tid.x": x, "%tid.y": y, "%tid.z": z, "%laneid": number % 32, "%warpid": number // 32}
                    thread = _Thread(number, (x, y, z), block, {**common, **own})
                    thread.code = self.program.start(thread)
                    block.threads.append(thread)
                    number += 1

    def advance(self, block: _Block) -> bool:
        """Runs a block until all its threads have ended or wait for the grid; True in the second case."""
        while True:
            for thread in block.threads:
                if thread.code is not None and thread.request is None:
                    self._resume(thread)
            if all(t.code is None for t in block.threads):
                return False
            if self._release_warps(block):
                continue
            if all(t.code is None or (t.request is not None and t.request.kind == "grid") for t in block.threads):
                return True
            self._release_block(block)

    def _resume(self, thread: _Thread) -> None:
        assert thread.code is not None
        self.resumed = self.steps
        try:
            answer, thread.answer = thread.answer, None
            thread.request = thread.code.send(answer)
        except StopIteration as end:
            thread.code = None
            thread.trapped = end.value is not None and end.value is not RETURN

    def _release_warps(self, block: _Block) -> bool:
        """Lets warps go on whose lanes have all arrived at a warp operation."""
        released = False
        for warp in sorted({t.number // 32 for t in block.threads}):
            lanes = [t for t in block.threads if t.number // 32 == warp]
            waiting = [t for t in lanes if t.request is not None and t.request.kind == "warp"]
            for leader in waiting:
                if leader.request is None:
                    continue
                request = leader.request
                named = [t for t in lanes if request.mask >> (t.number % 32) & 1]
                here = [t for t in named if t.request is not None and t.request.span == request.span]
                if any(t.code is not None and t not in here for t in named):
                    continue
                released = True
                self._warp_together(block, here, request)
        return released

    def _warp_together(self, block: _Block, here: list[_Thread], request: Wait) -> None:
        results = request.combine(here) if request.combine is not None else [None] * len(here)
        self._reads_absent(block, here)
        if request.combine is None:
            syncs = block.warp_syncs.setdefault(here[0].number // 32, [])
            syncs.append(frozenset(t.number for t in here))
            for t in here:
                t.warp_clock = len(syncs)
        for t, result in zip(here, results, strict=True):
            t.request, t.answer = None, result

    def _reads_absent(self, block: _Block, here: list[_Thread]) -> None:
        """Notes a shuffle that reads from a lane that its mask names but that does not take part."""
        present = {t.number % 32 for t in here}
        for t in here:
            request = t.request
            assert request is not None
            source = request.source(t.number % 32) if request.source is not None else None
            if source is None or source in present or not request.mask >> source & 1:
                continue
            absent = next((x for x in block.threads if x.number == t.number // 32 * 32 + source), None)
            if absent is None or absent.trapped:
                continue
            elsewhere = absent.request.span if absent.request is not None else None
            self.divergences.append(
                Divergence(request.span, (t.tid, block.index), (absent.tid, block.index), elsewhere, Scope.WARP)
            )
            raise Unknowable("a shuffle reads from a lane that does not take part")

    def _release_block(self, block: _Block) -> None:
        """All threads wait or have ended: the block's barrier opens, and whoever is not there is noted."""
        waiting = [t for t in block.threads if t.request is not None]
        at_barrier = [t for t in waiting if t.request is not None and t.request.kind in ("block", "grid")]
        stuck = [t for t in waiting if t not in at_barrier]
        one = min((at_barrier or waiting)[:1] + stuck[:1], key=_line)  # the first in the source is where the ways part
        assert one.request is not None
        missing = [t for t in block.threads if t.request is None or t.request.span != one.request.span]
        missing = [t for t in missing if not t.trapped]
        if one.request.kind == "warp":
            missing = [t for t in missing if t.number // 32 == one.number // 32]
        if missing:
            other = missing[0]
            self.divergences.append(
                Divergence(
                    one.request.span, (one.tid, block.index), (other.tid, block.index),
                    other.request.span if other.request is not None else None, one.request.scope,
                )
            )  # fmt: skip
            raise Unknowable("the threads of a block wait at different barriers")
        values = one.request.combine(waiting) if one.request.combine is not None else [None] * len(waiting)
        block.phase += 1
        self.copies_go_on(block)
        for t, value in zip(waiting, values, strict=True):
            t.request, t.answer = None, value

    def go(self, blocks: list[Triple]) -> Outcome:
        """Runs the chosen blocks to their end."""
        why = ""
        try:
            for index in blocks:
                self.start(index)
            running = [self.blocks[b] for b in blocks]
            while running:
                running = [b for b in running if self.advance(b)]
                self.grid_phase += 1
                for block in running:
                    block.phase += 1
                    self.copies_go_on(block)
                    for t in block.threads:
                        t.request = None
        except Enough:
            why = "the run stopped at what it looked for"
        except Unknowable as stop:
            why = str(stop)
        except RecursionError:
            why = "the kernel nests too deeply"
        return Outcome(
            tuple(self.memory.meetings.values()),
            tuple(self.divergences),
            tuple(self.outside.values()),
            not why,
            why,
            tuple(self.blank.values()),
            len(self.touchers),
            frozenset(self.touched),
            self.steps,
        )


def _line(thread: _Thread) -> int:
    assert thread.request is not None
    return thread.request.span.line


def run(
    kernel: Kernel,
    launch: ConcreteLaunch,
    blocks: list[Triple],
    wanted: Callable[[Meeting], bool] | None = None,
    only: frozenset[tuple[Triple, Triple]] | None = None,
    limit: int = STEP_LIMIT,
    watch: Span | None = None,
) -> Outcome:
    """Runs all threads of the given blocks of a launch, up to the first meeting that is ``wanted``.

    ``only`` leaves all threads out but these (block, thread): enough for two threads whose ways and addresses do not
    depend on what others store.
    """
    return Machine(kernel, launch, wanted, only, limit, watch).go(blocks)


def all_blocks(grid: Triple) -> Iterator[Triple]:
    """All block indices of a grid."""
    return ((x, y, z) for z in range(grid[2]) for y in range(grid[1]) for x in range(grid[0]))
