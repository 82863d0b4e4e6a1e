"""Pairs of accesses of one path that must not meet, and for each whether something orders them.

Accesses are grouped by allocation; within a group bit sets give for each operation the earlier ones that conflict with
it and are not ordered, so that the work grows with the number of operations and places, not with their pairs. Where
they are many, most are apart for certain (chunks of one buffer): of these only the neighbours are told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from gpusafe.dataflow.effects import Access, Effects
from gpusafe.dataflow.happens_before import Ordering
from gpusafe.ir.host import Enqueue, HostPath
from gpusafe.prove.host.lanes import Lanes

FEW = 16
"""So many conflicting operations that nothing orders are told one by one, also where they are apart for certain."""

_AGAINST: Mapping[str, tuple[str, ...]] = {
    "read": ("write", "atomic", "free", "alloc"),
    "atomic": ("read", "write", "free", "alloc"),
    "write": ("read", "write", "atomic", "free", "alloc"),
    "free": ("read", "write", "atomic", "alloc"),
    "alloc": ("read", "write", "atomic", "free"),
}
"""Which modes an access conflicts with. Two frees of one allocation are the executor's business, not a race."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two conflicting accesses, ``first`` earlier in the path. ``ordered``: they cannot meet, and if the memory goes
    away or comes into being in one of them, it does so on the right side."""

    first: Access
    second: Access
    ordered: bool


@dataclass(slots=True)
class _Group:
    """The accesses to one allocation so far: by operation, and as bit sets of operations by mode.

    ``lanes`` holds them by place from when they are many; None for a group of more than one allocation.
    """

    lanes: Lanes | None
    by_op: dict[int, list[Access]] = field(default_factory=dict)
    modes: dict[str, int] = field(default_factory=dict)
    unplaced: list[Access] = field(default_factory=list)

    def add(self, access: Access) -> None:
        """Takes in an access."""
        self.by_op.setdefault(access.op, []).append(access)
        self.modes[access.mode] = self.modes.get(access.mode, 0) | 1 << access.op
        self.unplaced.append(access)

    def meeting(self, access: Access, rivals: int) -> int:
        """Those of many rivals that an access may meet, and its neighbours."""
        if self.lanes is None:
            return rivals
        for known in self.unplaced:
            self.lanes.add(known.range, known.op)
        self.unplaced.clear()
        near = self.lanes.near(access.range)
        return (near.rivals | near.neighbours) & rivals


def pairs(path: HostPath, found: Effects, ordering: Ordering) -> Iterator[Pair]:
    """All conflicting pairs that are not ordered, and for each access the latest one that it is ordered after."""
    groups: dict[str, _Group] = {}
    for access in found.accesses:
        kind = alias_class(path, access.memory)
        if kind not in groups:
            groups[kind] = _Group(Lanes(path) if kind else None)
        group = groups[kind]
        yield from _against(path, group, access, ordering)
        group.add(access)


def made_on(path: HostPath, access: Access) -> tuple[str, str | None]:
    """The memory of an access and the stream that it runs on."""
    op = path.ops[access.op]
    return access.memory, op.stream if isinstance(op, Enqueue) else None


def makes(path: HostPath, access: Access) -> bool:
    """Whether an access belongs to the making of its memory."""
    memory = path.memory.get(access.memory)
    return access.mode == "alloc" or (memory is not None and path.ops[access.op].span == memory.span)


def alias_class(path: HostPath, memory: str) -> str:
    """Memory of different classes never overlaps: unknown memory that is not exclusive is one class."""
    info = path.memory.get(memory)
    if info is None or (info.kind == "unknown" and not info.exclusive):
        return ""
    return memory


def _against(path: HostPath, group: _Group, access: Access, ordering: Ordering) -> Iterator[Pair]:
    rivals = 0
    for mode in _AGAINST[access.mode]:
        rivals |= group.modes.get(mode, 0)
    rivals &= ~(1 << access.op)
    if not rivals:
        return
    gone = group.modes.get("free", 0) & rivals
    ordered = rivals & ordering.before[access.op] & ~gone
    unordered = rivals & ~ordered
    if unordered.bit_count() > FEW:
        unordered = group.meeting(access, unordered)
    for op in _bits(unordered):
        for earlier in group.by_op[op]:
            if earlier.mode in _AGAINST[access.mode]:
                yield Pair(earlier, access, _settled(path, earlier, access, ordering))
    if ordered:
        latest = group.by_op[ordered.bit_length() - 1]
        yield Pair(next(a for a in latest if a.mode in _AGAINST[access.mode]), access, True)


def _settled(path: HostPath, first: Access, second: Access, ordering: Ordering) -> bool:
    """Whether a pair that ``first`` does not precede for sure is safe all the same.

    The second may be ordered first (another host thread, joined), and operations of one stream never overlap, whichever
    thread puts them there first; that does for accesses, not for memory that comes or goes.
    """
    a, b = path.ops[first.op], path.ops[second.op]
    if not isinstance(a, Enqueue) and not isinstance(b, Enqueue):
        return True  # both on the host: Rust's own borrow checker sees them
    if second.mode == "free":
        return False
    if first.mode == "free":
        return ordering.orders(second.op, first.op)
    if ordering.orders(second.op, first.op):
        return "alloc" not in (first.mode, second.mode) or second.mode == "alloc"
    same_stream = isinstance(a, Enqueue) and isinstance(b, Enqueue) and a.stream == b.stream
    return same_stream and "alloc" not in (first.mode, second.mode)


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
