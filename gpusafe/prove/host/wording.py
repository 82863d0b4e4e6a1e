"""Names of streams, memory and accesses in sentences."""

from __future__ import annotations

from gpusafe.dataflow.effects import Access
from gpusafe.dataflow.happens_before import stream_of
from gpusafe.ir.host import Enqueue, HostOp, HostPath

_DONE = {"read": "read", "write": "written", "atomic": "updated", "free": "freed", "alloc": "allocated"}
_DO = {"read": "read", "write": "write", "atomic": "update", "free": "free", "alloc": "allocate"}
_DOES = {"read": "reads", "write": "writes", "atomic": "updates", "free": "frees", "alloc": "allocates"}


def stream_name(path: HostPath, ident: str) -> str:
    """A stream as the object of a preposition: "stream `io`", "the legacy default stream"."""
    stream = stream_of(path, ident)
    if stream.kind == "legacy":
        return "the legacy default stream"
    if stream.kind == "per_thread":
        return f"the per-thread default stream `{stream.name}`" if stream.name else "the per-thread default stream"
    name = stream.name or ident
    return name if name.startswith("the ") else f"stream `{name}`"


def memory_name(path: HostPath, access: Access) -> str:
    """The memory in backquotes."""
    memory = path.memory.get(access.memory)
    return f"`{memory.name}`" if memory and memory.name else "the memory"


def where(path: HostPath, op: HostOp) -> str:
    """ " on stream `io`" for enqueued work, "" for the host's own."""
    return f" on {stream_name(path, op.stream)}" if isinstance(op, Enqueue) else ""


def the(label: str) -> str:
    """A label with an article where it has none."""
    return label if label.startswith(("the ", "a ", "an ", "its ")) else f"the {label}"


def actor(path: HostPath, index: int) -> str:
    """ "the launch of `gain` on stream `compute`", or "the host"."""
    op = path.ops[index]
    return f"{the(op.label)}{where(path, op)}" if isinstance(op, Enqueue) else "the host"


def passive(access: Access) -> str:
    """ "read", "written", ... after "is" or "being"."""
    return _DONE[access.mode]


def infinitive(access: Access) -> str:
    """ "read", "write", ... after "may"."""
    return _DO[access.mode]


def present(access: Access) -> str:
    """ "reads", "writes", ... after a subject."""
    return _DOES[access.mode]


def borrow(access: Access) -> str:
    """How the access holds the memory, in Rust's words."""
    return "borrowed" if access.mode == "read" else "borrowed mutably"
