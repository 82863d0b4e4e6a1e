"""Replayed counterexamples in the words that a user reads."""

from __future__ import annotations

from typing import Protocol

from gpusafe.dataflow.concrete import ConcreteLaunch, Meeting, Touch
from gpusafe.dataflow.concrete.machine import Divergence
from gpusafe.dataflow.taint import walk
from gpusafe.ir.kernel import Kernel, Region, Scope, Space
from gpusafe.span import Span
from gpusafe.verdict import Counterexample, Site

DOES = {"read": "reads", "write": "writes", "atomic": "atomically updates", "borrow": "exclusively borrows"}


class Made(Protocol):
    """An access of a run: where it is, of which kind."""

    @property
    def offset(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def mode(self) -> str: ...
    @property
    def volatile(self) -> bool: ...


def element(region: Region, touch: Made) -> str:
    """``out[4]``, or a byte range where the access is not one element."""
    index, rest = divmod(touch.offset, max(1, region.elem_bytes))
    if rest == 0 and touch.size == region.elem_bytes:
        return f"`{region.name}[{index}]`"
    if rest == 0 and touch.size % region.elem_bytes == 0:
        return f"`{region.name}[{index}..{index + touch.size // region.elem_bytes}]`"
    return f"bytes {touch.offset}..{touch.offset + touch.size} of `{region.name}`"


def who(tid: tuple[int, int, int], block: tuple[int, int, int], launch: ConcreteLaunch) -> str:
    """A thread in words: short for one-dimensional launches."""
    flat = launch.grid[1:] == (1, 1) and launch.block[1:] == (1, 1)
    if flat:
        return f"thread {tid[0]} of block {block[0]}"
    return f"thread ({tid[0]}, {tid[1]}, {tid[2]}) of block ({block[0]}, {block[1]}, {block[2]})"


def geometry(launch: ConcreteLaunch) -> str:
    """The launch in words."""
    grid, block = (" x ".join(str(n) for n in dims) for dims in (launch.grid, launch.block))
    return f"the launch has {grid} blocks of {block} threads"


def rule_of(kernel: Kernel, meeting: Meeting) -> str:
    """The rule that two accesses which meet break."""
    a, b = meeting.first, meeting.second
    if (a.thread, a.block) == (b.thread, b.block):
        return "GS305"
    return race_rule(next(r for r in kernel.regions if r.name == a.region), a, b)


def race_rule(region: Region | None, a: Made, b: Made) -> str:
    """The rule that two accesses of different threads break."""
    modes = {a.mode, b.mode}
    if modes == {"atomic"}:
        return "GS301"
    if modes == {"borrow"}:
        return "GS208"
    if "atomic" in modes:
        return "GS206"
    if a.volatile and b.volatile:
        return "GS309"
    return "GS202" if region is not None and region.space in (Space.SHARED, Space.DYNAMIC_SHARED) else "GS201"


def of_meeting(kernel: Kernel, launch: ConcreteLaunch, meeting: Meeting, data: bool) -> Counterexample:
    """The counterexample of two accesses that met."""
    a, b = meeting.first, meeting.second
    region = next(r for r in kernel.regions if r.name == a.region)
    both = "write" if b.writes and a.mode == b.mode == "write" else None
    what = (
        f"two threads of `{kernel.name}` write the same element of `{region.name}`"
        if both
        else _headline(kernel, region, a, b)
    )
    first = Site(a.span, f"{who(a.tid, a.block, launch)} {DOES[a.mode]} {element(region, a)}")
    second = Site(b.span, f"{who(b.tid, b.block, launch)} {DOES[b.mode]} {element(region, b)}")
    notes = [geometry(launch), *_values(kernel, launch), _why(region, a, b)]
    if data:
        notes.append(
            "whether the two meet depends on the contents of memory; the replay chose contents for which they do"
        )
    calls = calls_to(kernel, a.span, b.span)
    return Counterexample(what, first, (second, *calls), tuple(notes), _help(region, a, b))


def calls_to(kernel: Kernel, *spans: Span) -> tuple[Site, ...]:
    """The calls through which places in inlined functions are reached, each once, without the places themselves."""
    found: dict[Span, None] = {}
    for stmt in walk(kernel.body):
        if stmt.span in spans:
            found |= dict.fromkeys(stmt.calls)
    return tuple(Site(span, "in this call") for span in found if span not in spans)


def _headline(kernel: Kernel, region: Region, a: Touch, b: Touch) -> str:
    if (a.thread, a.block) == (b.thread, b.block):
        return (
            f"a thread of `{kernel.name}` uses an element of `{region.name}` before its asynchronous copy is complete"
        )
    if a.mode == b.mode == "atomic":
        return f"atomic updates of `{region.name}` in two blocks of `{kernel.name}` are not atomic to each other"
    if a.mode == b.mode == "borrow":
        return f"two threads of `{kernel.name}` hold exclusive borrows of the same element of `{region.name}`"
    return f"one thread of `{kernel.name}` {DOES[a.mode]} an element of `{region.name}` that another one {DOES[b.mode]}"


def _values(kernel: Kernel, launch: ConcreteLaunch) -> list[str]:
    shown = [f"`{p.name}` = {launch.params[p.name]}" for p in kernel.params if p.name in launch.params]
    return ["with " + ", ".join(shown)] if shown else []


def _why(region: Region, a: Touch, b: Touch) -> str:
    if (a.thread, a.block) == (b.thread, b.block):
        return "the thread has not waited for the group of the copy"
    if a.block != b.block:
        return (
            "the threads are in different blocks, and no barrier orders blocks of one launch"
            if a.grid_phase == 0
            else "no grid barrier lies between the two accesses"
        )
    if a.thread // 32 == b.thread // 32:
        return (
            "both threads are in one warp, but lanes do not run in lockstep, and no barrier lies between the accesses"
        )
    return "no barrier of the block lies between the two accesses"


def _help(region: Region, a: Touch, b: Touch) -> tuple[str, ...]:
    if (a.thread, a.block) == (b.thread, b.block):
        return ("wait for the copy's group first; other threads need a barrier after that",)
    if a.mode == b.mode == "atomic":
        return ("use device scope",)
    if "atomic" in (a.mode, b.mode):
        return ("make both accesses atomic, or order them (two launches, or a barrier of the block)",)
    if region.space in (Space.SHARED, Space.DYNAMIC_SHARED):
        return ("put a block barrier between the two accesses",)
    if a.block == b.block and a.span != b.span:
        return ("give each thread its own elements, or put a barrier between the two accesses",)
    return ("give each thread its own elements, or use atomics",)


def of_divergence(kernel: Kernel, launch: ConcreteLaunch, seen: Divergence) -> Counterexample:
    """The counterexample of a barrier that not all threads reach."""
    waiting = who(seen.waiting[0], seen.waiting[1], launch)
    missing = who(seen.missing[0], seen.missing[1], launch)
    scope = "block" if seen.scope is Scope.BLOCK else "grid"
    related = (Site(seen.elsewhere, f"{missing} waits here"),) if seen.elsewhere is not None else ()
    ends = f"{missing} waits at another barrier" if related else f"{missing} ends without reaching it"
    if seen.scope is Scope.WARP:
        return Counterexample(
            f"not all lanes that a warp operation of `{kernel.name}` needs take part in it",
            Site(seen.span, f"{waiting} waits here; {ends.replace('another barrier', 'another place')}"),
            related,
            (geometry(launch), *_values(kernel, launch)),
            ("let all lanes that the mask names run the operation, or name only those that do",),
        )
    return Counterexample(
        f"not all threads of a {scope} of `{kernel.name}` reach the same barrier",
        Site(seen.span, f"{waiting} waits here; {ends}"),
        (*related, *calls_to(kernel, seen.span)),
        (geometry(launch), *_values(kernel, launch)),
        ("move the barrier out of the condition, so that every thread reaches it; guard the accesses instead",),
    )
