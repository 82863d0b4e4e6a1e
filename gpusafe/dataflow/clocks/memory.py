"""Who touched which bytes, and whether two touches are ordered by the clocks of their threads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gpusafe.ir.kernel import Scope
from gpusafe.span import Span

Triple = tuple[int, int, int]
FAULTS = 24
KEPT = 4096  # touches of one word


@dataclass(frozen=True, slots=True)
class Entry:
    """One touch of ``size`` bytes at ``offset`` of ``region``.

    It is before whatever knows component ``part`` of the clocks at ``time`` or later; ``thread`` numbers the thread in
    its cluster. ``may``: whether it happens depends on values that are not known. ``copy``: the async proxy does it.
    """

    region: str
    offset: int
    size: int
    mode: str
    span: Span
    thread: int
    tid: Triple
    block: Triple
    part: int
    time: int
    writes: bool
    scope: Scope | None = None
    may: bool = False
    copy: bool = False
    volatile: bool = False
    seq: int = 0  # in the order of the run; of a copy, when it was issued


@dataclass(frozen=True, slots=True)
class Fault:
    """What must not happen.

    ``kind`` is race, fence, unwaited, refilled, started, ended, protocol, or for a wait without end stuck (at an
    mbarrier), parted (at a barrier of threads) or lanes (at one of a warp).
    """

    kind: str
    first: Entry
    second: Entry | None = None
    why: str = ""

    @property
    def certain(self) -> bool:
        """Whether it happens whatever is in memory."""
        return not self.first.may and (self.second is None or not self.second.may)


def conflict(a: Entry, b: Entry) -> bool:
    """Whether two touches of different threads may not happen at the same time."""
    if not (a.writes or b.writes) or a.offset >= b.offset + b.size or b.offset >= a.offset + a.size:
        return False
    if a.mode == b.mode == "atomic" and (a.offset, a.size) == (b.offset, b.size) and not (a.copy or b.copy):
        wide = (Scope.DEVICE, Scope.SYSTEM) if a.block != b.block else (*Scope,)
        return not (a.scope in wide and b.scope in wide and Scope.WARP not in (a.scope, b.scope))
    return True


@dataclass(slots=True)
class Touches:
    """The touches of one cluster by place and word, and the faults that were found."""

    cells: dict[tuple[Any, int], list[Entry]] = field(default_factory=dict)
    faults: dict[tuple[object, ...], Fault] = field(default_factory=dict)
    full: bool = False

    def add(self, place: Any, now: Entry, clock: list[int], fenced: list[int] | None) -> None:
        """Records a touch by a thread with these clocks, and what it meets."""
        for word in range(now.offset // 4, (now.offset + now.size + 3) // 4):
            cell = self.cells.setdefault((place, word), [])
            for other in cell:
                self._against(other, now, clock, fenced)
            self._keep(cell, now)

    def near(self, place: Any, offset: int, size: int) -> bool:
        """Whether some thread touched one of these bytes."""
        words = range(offset // 4, (offset + size + 3) // 4)
        return any(
            e.offset < offset + size and offset < e.offset + e.size
            for w in words
            for e in self.cells.get((place, w), ())
        )

    def _keep(self, cell: list[Entry], now: Entry) -> None:
        for i, old in enumerate(cell):
            like = (old.thread, old.mode, old.span, old.copy, old.part, old.offset, old.size, old.may)
            if like == (now.thread, now.mode, now.span, now.copy, now.part, now.offset, now.size, now.may):
                cell[i] = now  # whoever knows the later one knows the earlier one
                return
        if len(cell) < KEPT:
            cell.append(now)
        else:
            self.full = True

    def _against(self, other: Entry, now: Entry, clock: list[int], fenced: list[int] | None) -> None:
        own = other.thread == now.thread
        if (own and not other.copy and not now.copy) or not conflict(other, now):
            return
        if other.time <= clock[other.part] or (own and not other.copy):
            unfenced = fenced is not None and now.copy and not other.copy and other.writes
            if unfenced and fenced is not None and other.time > fenced[other.part]:
                self.fault(Fault("fence", other, now))
            return
        if now.copy and not other.copy:
            self.fault(Fault("unwaited" if other.seq > now.seq else "refilled", now, other))
        elif other.copy:
            self.fault(Fault("unwaited", other, now))
        else:
            self.fault(Fault("race", *((now, other) if now.writes else (other, now))))

    def fault(self, fault: Fault) -> None:
        """Notes a fault, each pair of places once; certain ones first."""
        second = fault.second
        kind = "copy" if fault.kind in ("unwaited", "refilled") else fault.kind
        key = (kind, fault.first.span, second.span if second is not None else None, fault.first.region)
        known = self.faults.get(key)
        if known is None:
            if len(self.faults) < FAULTS:
                self.faults[key] = fault
        elif (fault.certain, fault.kind == "unwaited") > (known.certain, known.kind == "unwaited"):
            self.faults[key] = fault
