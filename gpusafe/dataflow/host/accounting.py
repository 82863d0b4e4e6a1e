"""Whether the walk lost an owner: memory that is neither freed, nor leaked on purpose, nor held by anyone at the end.

Rust drops every value exactly once unless the program says otherwise. So where a path ends and a buffer was not freed,
something on the way moved it where the executor does not look; whatever frees it then was not seen.
"""

from __future__ import annotations

from collections.abc import Iterable

from gpusafe.dataflow.host.foreign import handles_in
from gpusafe.dataflow.host.handles import Buffer, View
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.values import Cell, Value
from gpusafe.span import Span

_KEY = "owned buffers"
_MANUAL = "dropped by hand"


def own(m: Machine, buffer: Buffer) -> Buffer:
    """Notes a buffer that the program owns from now on."""
    owned = m.singletons.setdefault(_KEY, {})
    owned[buffer.memory] = buffer
    return buffer


def leak(value: Value) -> None:
    """What a value owns is never dropped, because the program says so."""
    for handle in handles_in(value):
        if isinstance(handle, Buffer):
            handle.release = "none"


def keep_by_hand(m: Machine, cell: Cell) -> None:
    """``ManuallyDrop``: what is in the cell stays until the program drops or takes it."""
    m.singletons.setdefault(_MANUAL, []).append(cell)


def lost(m: Machine, kept: Iterable[Value]) -> list[str]:
    """The memory whose owner was lost sight of; ``kept`` is what the caller holds after the path."""
    owned: dict[str, Buffer] = m.singletons.get(_KEY, {})
    open_ = {memory for memory, buffer in owned.items() if buffer.release != "none"}
    if not open_:
        return []
    held = [*kept, *(c.value for c in (*m.statics.values(), *m.singletons.get(_MANUAL, ())))]
    for handle in (h for value in held for h in handles_in(value)):
        match handle:
            case Buffer(memory=memory) | View(buffer=Buffer(memory=memory)):
                open_.discard(memory)
    return [memory for memory in owned if memory in open_]


def note_lost(m: Machine, kept: Iterable[Value], span: Span) -> None:
    """A gap for each allocation whose owner was lost."""
    for memory in lost(m, kept):
        m.gap(span, f"what frees `{m.memory_name(memory)}` was not followed", (memory,))
