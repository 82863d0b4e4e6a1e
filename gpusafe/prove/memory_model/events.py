"""Events: what a thread did, one after the other."""

from __future__ import annotations

from dataclasses import dataclass

from gpusafe.parse.litmus import Location, Place


@dataclass(frozen=True, slots=True)
class Event:
    """One event.

    ``kind``: ``R``, ``W``, ``F`` (fence), ``P`` (proxy fence) or ``B`` (barrier); ``thread`` is -1 for the writes of
    the initial state. ``depends`` is the bit set of the thread's earlier reads (by position in the thread) that
    address, data or control depend on. ``pair`` is the position of the read that this write completes to one atomic
    operation. ``acquires`` is False for the read of a ``red``, which no acquire pattern starts with.
    """

    kind: str
    thread: int
    order: str = "weak"
    scope: str = "sys"
    proxy: str = "generic"
    location: Location | None = None
    value: int = 0
    depends: int = 0
    pair: int | None = None
    acquires: bool = True
    text: str = ""
    place: Place | None = None
    barrier: BarrierUse | None = None

    @property
    def strong(self) -> bool:
        """Whether it is a strong operation: a fence, or a memory operation that is not weak."""
        return self.kind in "FP" or (self.kind in "RW" and self.order != "weak")


@dataclass(frozen=True, slots=True)
class BarrierUse:
    """Which barrier: the instruction's number, how often the thread met it before, its resource and its quorum."""

    instance: int
    round: int
    resource: int | None
    quorum: int | None
    arrives: bool
