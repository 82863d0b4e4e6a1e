"""The wait that should have ordered two operations and does not: why an order is missing although someone tried.

A wait covers what the event's last record before it covers. So it misses when the record came before the work, when the
event was not recorded yet, or when it was recorded again (somewhere else) since.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpusafe.ir.host import Enqueue, HostPath, Record, Sync, Wait


@dataclass(frozen=True, slots=True)
class NearMiss:
    """``wait`` (an op that waits on the second side) and ``record`` (the record that it goes by, if any).

    ``why``: ``never`` (not recorded before the wait), ``early`` (recorded before the work), ``again`` (recorded again
    on another stream since). ``guard`` names the guard whose drop made the record. ``by_hand``: the user wrote both,
    as two calls.
    """

    wait: int
    record: int | None
    why: str
    guard: str | None = None
    by_hand: bool = False


def near_miss(path: HostPath, first: int, second: int) -> NearMiss | None:
    """The wait nearest to ``second`` that misses ``first``; None where nobody tried."""
    work, user = path.ops[first], path.ops[second]
    if not isinstance(work, Enqueue):
        return None
    target = user.stream if isinstance(user, Enqueue) else None
    for index in range(second - 1, -1, -1):
        op = path.ops[index]
        match op:
            case Wait(stream=stream, event=event) if stream == target:
                automatic = op.automatic
            case Sync(target="event", ident=event) if index > first:
                automatic = False
            case _:
                continue
        miss = _missed(path, first, work.stream, index, event, automatic)
        if miss is not None:
            return miss
    return None


def _missed(path: HostPath, first: int, stream: str, wait: int, event: str, automatic: bool) -> NearMiss | None:
    records = [i for i, op in enumerate(path.ops) if isinstance(op, Record) and op.event == event]
    before = [i for i in records if i < wait]
    on_stream = [i for i in records if _stream(path, i) == stream]
    if not before:
        late = not automatic and any(i > first for i in on_stream)
        return NearMiss(wait, None, "never", by_hand=True) if late else None
    if wait < first:
        return None
    last = before[-1]
    by_hand = not automatic and path.ops[last].span != path.ops[wait].span
    if _stream(path, last) == stream and last < first:
        return NearMiss(wait, last, "early", path.guards.get(last), by_hand)
    if any(first < i < last for i in on_stream):
        return NearMiss(wait, last, "again", path.guards.get(last), by_hand)
    return None


def _stream(path: HostPath, index: int) -> str | None:
    op = path.ops[index]
    return op.stream if isinstance(op, Record) else None
