"""Plain accesses that the compiler moved across synchronisation, or dropped.

Only accesses whose address is the same for all threads are judged, and only where the kernel lets other threads write
that memory: everything else may move without anybody noticing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

from gpusafe.codegen_check.compare.findings import Weaker
from gpusafe.codegen_check.compare.matching import INSTRUCTIONS, Matching
from gpusafe.codegen_check.compare.operations import Operation, statements
from gpusafe.codegen_check.compare.origins import origins
from gpusafe.codegen_check.compare.strength import ACQUIRES
from gpusafe.codegen_check.compare.values import Values, parts, pointer_of, thread_conditions
from gpusafe.codegen_check.ptx import Flow
from gpusafe.ir.expr import Var
from gpusafe.ir.kernel import (
    Atomic,
    Barrier,
    Break,
    Fence,
    If,
    Kernel,
    Load,
    Loop,
    MBarrier,
    Return,
    Stmt,
    Store,
    Unmodelled,
)
from gpusafe.verdict import Site


@dataclass(frozen=True, slots=True)
class Context:
    """Everything that the checks look at."""

    kernel: Kernel
    operations: tuple[Operation, ...]
    matching: Matching
    flow: Flow
    values: Values

    def shared_with_others(self, load: Operation) -> Operation | None:
        """A write to the load's region by threads that another condition selects than those that load."""
        loaded = pointer_of(load.stmt)
        region = self.values.region(loaded) if loaded is not None else None
        if region is None:
            return None
        by_thread = thread_conditions(self.kernel, self.values)
        for op in self.operations:
            writes = isinstance(op.stmt, Store) or (isinstance(op.stmt, Atomic) and op.stmt.op != "load")
            pointer = pointer_of(op.stmt)
            if not writes or pointer is None or self.values.region(pointer) != region:
                continue
            if any(step[0] in by_thread and step not in load.guards for step in op.guards):
                return op
        return None

    def strays(self, load: Operation) -> tuple[int, ...]:
        """Loads of this kind from the same region without a place in the PTX (LLVM drops it when it hoists)."""
        loaded = pointer_of(load.stmt)
        region = self.values.region(loaded) if loaded is not None else None
        function = self.matching.function
        nowhere = (
            (index, instr)
            for index, instr in enumerate(function.instrs)
            if INSTRUCTIONS[load.kind](instr) and instr.chain and instr.chain[0].line == 0
        )
        return tuple(index for index, instr in nowhere if region in origins(self.kernel, function, instr))


def moved_loads(context: Context) -> Iterator[Weaker]:
    """Loads behind a barrier, an acquire or a fence that the PTX does before it, or takes from an earlier access."""
    for load in context.operations:
        if load.kind != "load" or not isinstance(load.stmt, Load) or load.stmt.var is None:
            continue
        if not context.values.same_for_all(load.stmt.ptr):
            continue
        writer = context.shared_with_others(load)
        if writer is None:
            continue
        group = context.matching.group(load)
        for sync in _before(context, load):
            cut = context.matching.group(sync)
            if not cut.instrs:
                continue
            candidates = group.instrs or context.strays(load)
            early = [i for i in candidates if _reached_without(context.flow, i, cut.instrs)]
            if early:
                yield _moved(context, load, sync, writer, early)
                break
            source = _forwarded(context, load, sync) if not group.instrs else None
            if source is not None:
                yield _taken(context, load, sync, writer, source)
                break


def _before(context: Context, load: Operation) -> Iterator[Operation]:
    """The synchronisations that every thread passes before this load, latest first."""
    for op in reversed(context.operations[: load.order]):
        same_way = op.guards == load.guards[: len(op.guards)] and op.loops == load.loops[: len(op.loops)]
        if same_way and _acquires(context, op):
            yield op


def _acquires(context: Context, op: Operation) -> bool:
    stmt = op.stmt
    match stmt:
        case Unmodelled():
            instrs = context.matching.instrs(context.matching.group(op))
            return any(INSTRUCTIONS[kind](i) for i in instrs for kind in ("fence", "barrier"))
        case Barrier():
            return not stmt.relaxed and stmt.action != "arrive"
        case Fence():
            return True
        case Atomic():
            return stmt.order in ACQUIRES and stmt.op != "store"
        case MBarrier():
            return stmt.op in ("test_wait", "try_wait", "wait", "wait_parity")
        case _:
            return False


def _reached_without(flow: Flow, index: int, cut: tuple[int, ...]) -> bool:
    """Whether an instruction can run before any of ``cut``."""
    blocks = {flow.block_of(i) for i in cut}
    home = flow.block_of(index)
    before = flow.reachable(0, without=blocks - {home})
    if home not in before:
        return False
    own = [i for i in cut if flow.block_of(i) == home]
    if any(i < index for i in own):
        return False
    if not own:
        return True
    # the block itself synchronises later on: it is reached without only if a way in avoids all other cuts
    return home == 0 or any(p in flow.reachable(0, without=blocks) for p in flow.predecessors[home])


def _forwarded(context: Context, load: Operation, sync: Operation) -> Operation | None:
    """An earlier access of the same address, before the synchronisation, whose value the PTX can have kept."""
    assert isinstance(load.stmt, Load)
    wanted = context.values.resolved(load.stmt.ptr)
    for op in reversed(context.operations[: sync.order]):
        pointer = pointer_of(op.stmt)
        if pointer is None or op is load or not isinstance(op.stmt, Load | Store):
            continue
        same_way = op.guards == load.guards[: len(op.guards)]
        if same_way and context.values.resolved(pointer) == wanted:
            return op
    return None


def _moved(context: Context, load: Operation, sync: Operation, writer: Operation, early: list[int]) -> Weaker:
    return Weaker(
        "the compiled PTX loads this before the synchronisation that the load stands behind",
        Site(load.stmt.span, "loaded too early in the PTX"),
        tuple(context.matching.function.instrs[i] for i in early),
        (Site(sync.stmt.span, "the load stands behind this"), Site(writer.stmt.span, "another thread writes it here")),
        help=("access memory that other threads write through raw pointers or atomics, not through references",),
    )


def _taken(context: Context, load: Operation, sync: Operation, writer: Operation, source: Operation) -> Weaker:
    return Weaker(
        "the compiled PTX does not load this again behind the synchronisation: it keeps the earlier value",
        Site(load.stmt.span, "there is no load for this in the PTX"),
        context.matching.instrs(context.matching.group(source)),
        (
            Site(sync.stmt.span, "the compiler carries the value over this"),
            Site(source.stmt.span, "the value comes from here"),
            Site(writer.stmt.span, "another thread writes it here"),
        ),
        help=("do not give `nomem`, `readonly` or `pure` to assembly that orders memory",),
    )


def hoisted_polls(context: Context) -> Iterator[Weaker]:
    """Loads that a loop waits on, which the PTX does once before the loop."""
    loops = {id(s): s for s in statements(context.kernel.body) if isinstance(s, Loop)}
    for load in context.operations:
        if not load.loops or not _is_load(load.stmt) or load.stmt.var is None:
            continue
        loop = loops[load.loops[-1]]
        instrs = context.matching.group(load).instrs or context.strays(load)
        if not instrs or not _waits_on(loop, load.stmt.var) or not context.values.same_for_all(load.stmt.ptr):
            continue
        writer = context.shared_with_others(load)
        if writer is not None and not any(context.flow.in_cycle(context.flow.block_of(i)) for i in instrs):
            yield Weaker(
                "the compiled PTX loads this once, before the loop that waits for it to change",
                Site(load.stmt.span, "loaded once"),
                tuple(context.matching.function.instrs[i] for i in instrs),
                (Site(writer.stmt.span, "another thread writes it here"),),
                help=("poll with an atomic load (`Ordering::Acquire`)",),
            )


def _is_load(stmt: Stmt) -> TypeGuard[Load | Atomic]:
    return isinstance(stmt, Load) or (isinstance(stmt, Atomic) and stmt.op == "load")


def _waits_on(loop: Loop, var: str) -> bool:
    """Whether the loop does nothing but ask for ``var`` and leave when it is right."""
    depends = {var}
    leaves = False
    for stmt in statements(loop.body):
        if isinstance(stmt, Store | Barrier) or (isinstance(stmt, Atomic) and stmt.op != "load"):
            return False
        value = getattr(stmt, "value", None)
        if (
            value is not None
            and hasattr(stmt, "var")
            and any(isinstance(t, Var) and t.name in depends for t in parts(value))
        ):
            depends.add(stmt.var)
        if isinstance(stmt, If) and any(isinstance(s, Break | Return) for s in statements((*stmt.then, *stmt.orelse))):
            if not any(isinstance(t, Var) and t.name in depends for t in parts(stmt.cond)):
                return False  # it also ends by itself, and may be unrolled
            leaves = True
    return leaves


def dropped_stores(context: Context) -> Iterator[Weaker]:
    """Stores before a release or a barrier that the PTX leaves out because a later store overwrites them."""
    for store in context.operations:
        if store.kind != "store" or not isinstance(store.stmt, Store) or context.matching.group(store).instrs:
            continue
        if not context.values.same_for_all(store.stmt.ptr):
            continue
        later = _overwritten(context, store)
        if later is not None:
            sync, overwriting = later
            yield Weaker(
                "the compiled PTX leaves out this store, which stands before a synchronisation",
                Site(store.stmt.span, "there is no store for this in the PTX"),
                context.matching.instrs(context.matching.group(overwriting)),
                (Site(sync.stmt.span, "others may look from here on"), Site(overwriting.stmt.span, "overwritten here")),
            )


def _overwritten(context: Context, store: Operation) -> tuple[Operation, Operation] | None:
    """A synchronisation and a store to the same address behind it, when some thread loads that region."""
    assert isinstance(store.stmt, Store)
    region = context.values.region(store.stmt.ptr)
    loaded = any(
        op.kind == "load" and op.guards != store.guards and context.values.region(op.stmt.ptr) == region
        for op in context.operations
        if isinstance(op.stmt, Load)
    )
    if region is None or not loaded:
        return None
    wanted = context.values.resolved(store.stmt.ptr)
    sync: Operation | None = None
    for op in context.operations[store.order + 1 :]:
        if op.guards != store.guards or op.loops != store.loops:
            continue
        if isinstance(op.stmt, Barrier | Fence) or (isinstance(op.stmt, Atomic) and op.kind != "atomic-load"):
            sync = sync or op
        if sync is not None and isinstance(op.stmt, Store) and context.values.resolved(op.stmt.ptr) == wanted:
            return (sync, op) if context.matching.group(op).instrs else None
    return None
