"""cudarc's automatic ordering: when it acts, and what a use of a slice waits for and records."""

from __future__ import annotations

from gpusafe.dataflow.host.drops import wait
from gpusafe.dataflow.host.handles import Buffer, Context, EventHandle, StreamHandle
from gpusafe.dataflow.host.machine import Machine
from gpusafe.span import Span


def managing(m: Machine, context: Context | None) -> bool:
    """Whether the context manages synchronisation now: tracking is on and a counted stream is alive."""
    if context is None:
        return False
    if context.known or not context.tracking or context.counted > 0:
        return context.tracking and context.counted > 0
    key = f"managing {context.ident}"
    if key not in m.singletons:
        labels = ("the context orders its streams by itself", "the context does not order its streams by itself")
        m.singletons[key] = m.choose(labels) == 0
    return bool(m.singletons[key])


def read_use(m: Machine, stream: StreamHandle, buffer: Buffer, span: Span, what: str) -> EventHandle | None:
    """Before a read use: waits for the last recorded write; the event to record after it."""
    if buffer.kind in ("pinned", "unified"):
        if buffer.read is not None:
            wait(m, stream, buffer.read, span, f"{what} waits for the last use", automatic=True)
        return buffer.read
    if buffer.write is not None and managing(m, buffer.context):
        wait(m, stream, buffer.write, span, f"{what} waits for the last write", automatic=True)
    return buffer.read


def write_use(m: Machine, stream: StreamHandle, buffer: Buffer, span: Span, what: str) -> EventHandle | None:
    """Before a write use: waits for the last recorded read and write; the event to record after it."""
    if buffer.kind in ("pinned", "unified"):
        return read_use(m, stream, buffer, span, what)
    if managing(m, buffer.context):
        for event, kind in ((buffer.read, "read"), (buffer.write, "write")):
            if event is not None:
                wait(m, stream, event, span, f"{what} waits for the last {kind}", automatic=True)
    return buffer.write
