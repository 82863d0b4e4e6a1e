"""Statements that wait, or that others wait for: barriers of all kinds and bulk copies."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

from gpusafe.dataflow.clocks.barriers import Copying, Pair, Phased
from gpusafe.dataflow.concrete.evaluate import UNKNOWN, Unknowable, compile_expr
from gpusafe.ir import kernel as ir
from gpusafe.ir.expr import Const
from gpusafe.ir.kernel import Order, Scope

if TYPE_CHECKING:
    from gpusafe.dataflow.clocks.machine import Cluster, Thread

Gen = Generator[Callable[[], bool], None, object]
Runner = Callable[["Thread"], Gen]
RELEASES = (Order.RELEASE, Order.ACQ_REL, Order.SEQ_CST)
ACQUIRES = (Order.ACQUIRE, Order.ACQ_REL, Order.SEQ_CST)


TOO_LATE = "a wait that a phase lets pass may come after the end of that phase, and then waits for the next one"


def number(value: Any, what: str) -> int:
    """A value that must be known."""
    if value is UNKNOWN:
        raise Unknowable(f"{what} is not known")
    return int(value)


def _use(c: Cluster, t: Thread, p: Phased) -> None:
    """The arrivals of a phase must come after the one before it in every schedule."""
    p.used[t.number] = t.time
    if t.knows.seen[p.part] < p.complete:
        c.doubt("an arrival may belong to an earlier phase of its barrier")


# -- barriers of a block


def block_barrier(c: Cluster, stmt: ir.Barrier) -> Runner:
    """``bar.sync``, ``bar.arrive``: all threads of the block, or so many as are counted."""
    ident = compile_expr(stmt.ident) if stmt.ident is not None else (lambda env: 0)
    count = compile_expr(stmt.count) if stmt.count is not None else None
    action = stmt.action

    def run(t: Thread) -> Gen:
        if action not in ("sync", "arrive") or stmt.relaxed:
            raise Unknowable(f"a barrier of kind `{action}` is not modelled")
        all_ = c.block[0] * c.block[1] * c.block[2]
        size = all_ if count is None else number(count(t.env), "the number of threads of a barrier")
        if count is not None and size % 32:
            raise Unknowable("a barrier counts threads that are no whole warps")
        key = ("named", t.block, number(ident(t.env), "the number of a barrier"))
        p = c.phased.get(key)
        if p is None:
            p = c.phased[key] = Phased(c.new_part(), size, size)
        if p.count != size:
            if p.members:
                raise Unknowable("threads name different numbers of threads for one barrier")
            p.count = p.pending = size
        _use(c, t, p)
        phase, known = p.complete, p
        p.arrive(t.knows)
        p.members.add(t.number)
        t.tick()
        if p.ripe:
            _whole_warps(c, p)
            c.complete(p)
        if action == "sync":
            t.wait = stmt
            yield lambda: known.complete > phase
            t.learn(known.past[phase])
        if stmt.var is not None:
            t.env[stmt.var] = UNKNOWN
        return None

    return run


def _whole_warps(c: Cluster, p: Phased) -> None:
    """Barriers count warps; a warp that takes part with some of its lanes counts as a whole."""
    per_block = c.block[0] * c.block[1] * c.block[2]
    for warp in {(m // per_block, m % per_block // 32) for m in p.members}:
        lanes = min(32, per_block - warp[1] * 32)
        here = sum((m // per_block, m % per_block // 32) == warp for m in p.members)
        if here != lanes:
            c.doubt("a part of a warp takes part in a barrier")


def warp_barrier(c: Cluster, stmt: ir.Barrier) -> Runner:
    """``bar.warp.sync``: the lanes that the mask names and that have not ended."""
    mask = compile_expr(stmt.mask) if stmt.mask is not None else (lambda env: 0xFFFF_FFFF)

    def run(t: Thread) -> Gen:
        lanes = number(mask(t.env), "the mask of a warp barrier")
        per_block = c.block[0] * c.block[1] * c.block[2]
        first = t.number - t.number % per_block % 32
        last = min(first + 32, t.number - t.number % per_block + per_block)
        named = [c.threads[i] for i in range(first, last) if lanes >> (i - first) & 1]
        if t not in named:
            raise Unknowable("a lane that the mask does not name")
        key = ("warp", t.block, first, lanes)
        p = c.phased.get(key)
        if p is None:
            p = c.phased[key] = Phased(c.new_part(), len(named), len(named))
        phase, known = p.complete, p
        p.arrive(t.knows)
        p.members.add(t.number)
        t.tick()

        def open_() -> bool:
            if known.complete == phase and all(x.ended or x.number in known.members for x in named):
                c.complete(known)
            return known.complete > phase

        t.wait = stmt
        yield open_
        t.learn(known.past[phase])
        return None

    return run


# -- the barrier of a cluster


def cluster_barrier(c: Cluster, stmt: ir.Barrier) -> Runner:
    """``barrier.cluster.arrive`` and ``wait``: all threads of the cluster that have not ended."""

    def run(t: Thread) -> Gen:
        p = c.phased.get("cluster")
        if p is None:
            p = c.phased["cluster"] = Phased(c.new_part(), 1 << 30, 1 << 30)
        known = p
        if stmt.action in ("arrive", "sync"):
            if t.arrived > t.waited:
                c.doubt("a thread arrives twice at the barrier of its cluster")
            p.arrive(t.fence if stmt.relaxed else t.knows)
            t.tick()
            t.arrived += 1
        if stmt.action in ("wait", "sync"):
            if t.waited >= t.arrived:
                raise Unknowable("a thread waits at the barrier of its cluster without having arrived")
            phase = t.waited

            def open_() -> bool:
                if known.complete == phase and all(x.ended or x.arrived > phase for x in c.threads):
                    c.complete(known)
                return known.complete > phase

            t.wait = stmt
            yield open_
            t.waited += 1
            t.learn(known.past[phase])
        return None

    return run


# -- mbarriers


def _object(c: Cluster, t: Thread, pointer: Any) -> Phased:
    place, _, offset, owner = c.place(t, pointer)
    p = c.phased.get((place, offset))
    if p is None:
        raise Unknowable("an mbarrier is used that was not initialised before")
    if owner != t.block:
        raise Unknowable("an mbarrier of another block is not modelled")
    if t.knows.seen[p.born[0]] < p.born[1]:
        c.doubt("an mbarrier may be used before its initialisation")
    return p


def mbarrier(c: Cluster, stmt: ir.MBarrier) -> Callable[[Thread], object]:
    """Everything but waits."""
    at, operands = compile_expr(stmt.ptr), [compile_expr(o) for o in stmt.operands]

    def run(t: Thread) -> object:
        pointer, values = at(t.env), [o(t.env) for o in operands]
        match stmt.op:
            case "init":
                _init(c, t, pointer, number(values[0], "the count of an mbarrier"))
            case "inval":
                p = _object(c, t, pointer)
                if any(t.knows.seen[n] < time for n, time in p.used.items() if n != t.number):
                    c.doubt("an mbarrier may be invalidated while another thread still uses it")
                c.phased.pop((c.place(t, pointer)[0], c.place(t, pointer)[2]), None)
            case "arrive" | "arrive_expect_tx" | "expect_tx" | "arrive_drop":
                p = _object(c, t, pointer)
                _arrive(c, t, stmt, p, values)
            case _:
                raise Unknowable(f"the memory barrier operation `{stmt.op}` is not modelled")
        return None

    return run


def _init(c: Cluster, t: Thread, pointer: Any, count: int) -> None:
    place, _, offset, _ = c.place(t, pointer)
    if (place, offset) in c.phased:
        raise Unknowable("an mbarrier is initialised twice")
    if count < 1:
        raise Unknowable("the count of an mbarrier is zero")
    c.objects.setdefault(place, set()).add(offset)
    p = c.phased[place, offset] = Phased(c.new_part(), count, count)
    p.born = (t.number, t.time)
    t.tick()


def _arrive(c: Cluster, t: Thread, stmt: ir.MBarrier, p: Phased, values: list[Any]) -> None:
    if stmt.op == "arrive_drop":
        raise Unknowable("the memory barrier operation `arrive_drop` is not modelled")
    _use(c, t, p)
    if stmt.op in ("arrive_expect_tx", "expect_tx"):
        p.bytes += number(values[0], "the number of bytes that an mbarrier expects")
        p.announced = True
        p.issued.append((t.number, t.time))
    if stmt.op == "expect_tx":
        return
    times = number(values[0], "the number of arrivals") if stmt.op == "arrive" and values else 1
    phase = p.complete
    for _ in range(times):
        p.arrive(t.knows if stmt.order in RELEASES else t.near)
    if p.pending < 0:
        c.doubt("more arrivals than an mbarrier counts")
    t.tick()
    if stmt.var is not None:
        t.env[stmt.var] = phase
    if p.ripe:
        c.complete(p)


def mbarrier_wait(c: Cluster, stmt: ir.MBarrier, polled: bool) -> Runner:
    """Waits for the end of a phase, named by a token or by its parity."""
    at, operands = compile_expr(stmt.ptr), [compile_expr(o) for o in stmt.operands]
    parity = stmt.op.endswith("parity")

    def run(t: Thread) -> Gen:
        p = _object(c, t, at(t.env))
        wanted = number(operands[0](t.env), "the phase that is waited for")
        if stmt.order not in ACQUIRES:
            raise Unknowable("a wait for an mbarrier that acquires nothing is not modelled")
        if not polled:
            c.doubt("the result of a test of an mbarrier decides more than whether to wait")
            if c.actual:
                yield _next_round()
                t.env[stmt.var or ""] = over = p.complete % 2 != wanted % 2 if parity else p.complete > wanted
                if over and p.past:
                    t.learn(p.past[-1])
                return None
        if stmt.var is not None:
            t.env[stmt.var] = True
        t.wait = stmt
        if parity and c.actual:
            yield lambda: p.complete % 2 != wanted % 2
            phase = p.complete - 1
        elif parity:
            phase = t.knows.seen[p.part]
            if phase % 2 != wanted % 2:
                if p.complete > phase:
                    c.doubt(TOO_LATE)
                p.passed.append((t.number, phase, t.time))
                p.used[t.number] = t.time
                t.tick()
                return None
            yield lambda: p.complete > phase
        else:
            phase = wanted
            yield lambda: p.complete > phase
        if phase < 0:
            return None
        if p.complete > phase + 1:
            c.doubt("a wait may miss the phase that it is meant for")
        t.learn(p.past[p.complete - 1 if c.actual else phase])
        p.waited[t.number] = (phase, t.time)
        p.used[t.number] = t.time
        t.tick()
        return None

    return run


def _next_round() -> Callable[[], bool]:
    """Lets all other threads go on before the thread goes on."""
    answers = [True, False]
    return answers.pop


# -- bulk copies


def bulk_copy(c: Cluster, stmt: ir.AsyncCopy) -> Callable[[Thread], object]:
    """A copy into shared memory that completes on an mbarrier."""
    dst, src = compile_expr(stmt.dst), compile_expr(stmt.src)
    size = compile_expr(stmt.size) if stmt.size is not None else None
    barrier = compile_expr(stmt.mbarrier) if stmt.mbarrier is not None else None

    def run(t: Thread) -> object:
        if barrier is None:
            _store(c, t, stmt, (dst(t.env), src(t.env), size(t.env) if size is not None else None))
            return None
        p = _object(c, t, barrier(t.env))
        _use(c, t, p)
        if not c.fences_init and p.born[1] > t.knows.fenced[p.born[0]]:
            c.doubt("no fence makes the initialisation of the mbarrier visible to the async proxy")
        bytes_ = number(size(t.env), "the size of a bulk copy") if size is not None else None
        place, name, offset, owner = c.place(t, dst(t.env))
        if owner != t.block or c.regions[name].space not in (ir.Space.SHARED, ir.Space.DYNAMIC_SHARED):
            raise Unknowable("the target of a bulk copy is not this block's shared memory")
        p.copies.append(Copying(t, place, name, offset, bytes_, t.knows, stmt.span, t.may, issued=t.time, seq=c.steps))
        if bytes_ is not None:
            place, name, offset, _ = c.place(t, src(t.env))
            read = Copying(t, place, name, offset, bytes_, t.knows, stmt.span, t.may, False, seq=c.steps)
            c.copy_lands(read, bytes_, p.part, p.complete + 1)
        t.tick()
        return None

    return run


def _store(c: Cluster, t: Thread, stmt: ir.AsyncCopy, what: tuple[Any, Any, Any]) -> None:
    """A copy out of shared memory: it ends with its thread's group."""
    target, source, size = what
    if t.groups is None:
        t.groups = (c.new_part(), c.new_part())
    parts, number_ = t.groups, t.committed + 1
    place, name, offset, _ = c.place(t, source)
    knows = t.knows
    if size is None:
        c.doubt("where a copy through a descriptor writes is not known")
        length = c.regions[name].length
        whole = int(length.value) * c.regions[name].elem_bytes - offset if isinstance(length, Const) else 0
        c.copy_lands(
            Copying(t, place, name, offset, None, knows, stmt.span, t.may, False, seq=c.steps), 16, parts[0], number_
        )
        if whole > 16:
            rest = Copying(t, place, name, offset + 16, None, knows, stmt.span, True, False, seq=c.steps)
            c.copy_lands(rest, whole - 16, parts[0], number_)
    else:
        bytes_ = number(size, "the size of a bulk copy")
        c.copy_lands(
            Copying(t, place, name, offset, bytes_, knows, stmt.span, t.may, False, seq=c.steps),
            bytes_,
            parts[0],
            number_,
        )
        place, name, offset, _ = c.place(t, target)
        c.copy_lands(
            Copying(t, place, name, offset, bytes_, knows, stmt.span, t.may, seq=c.steps), bytes_, parts[1], number_
        )
    t.tick()


def bulk_control(t: Thread, stmt: ir.AsyncControl) -> None:
    """``commit_group``, ``wait_group`` and ``wait_group.read`` of bulk copies."""
    if t.may:
        raise Unknowable("a group of bulk copies under a condition that is not known")
    match stmt.action:
        case "commit":
            t.committed += 1
        case "wait" | "wait_read" if t.groups is not None:
            seen = list(t.knows.seen)
            for part in t.groups if stmt.action == "wait" else t.groups[:1]:
                seen[part] = max(seen[part], t.committed - stmt.pending)
            t.knows = Pair(seen, t.knows.fenced)
        case "wait" | "wait_read":
            pass
        case _:
            raise Unknowable(f"the operation `{stmt.action}` on bulk copies is not modelled")


__all__ = [
    "Pair",
    "Scope",
    "block_barrier",
    "bulk_control",
    "bulk_copy",
    "cluster_barrier",
    "mbarrier",
    "mbarrier_wait",
]
