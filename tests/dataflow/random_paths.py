"""Random small host paths for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.dataflow.hand_paths import HandPath

STREAMS = {"a": "nonblocking", "b": "nonblocking", "c": "blocking", "null": "legacy"}
EVENTS = ("e", "f")
KINDS = (
    "work",
    "work",
    "work",
    "blocking work",
    "record",
    "wait",
    "sync",
    "sync event",
    "sync context",
    "host",
    "free",
)

_step = st.tuples(
    st.sampled_from(KINDS),
    st.sampled_from(sorted(STREAMS)),
    st.sampled_from(EVENTS),
    st.sampled_from(("x", "y")),
    st.booleans(),
    st.sampled_from(("main", "t", "u")),
)
steps = st.lists(_step, min_size=2, max_size=9)
"""What :func:`build` makes a path of."""


def build(drawn: list[tuple[str, str, str, str, bool, str]], threads: bool = False) -> HandPath:
    """A path with these steps; ``threads``: some of them on two further host threads, which are joined at the end."""
    p = HandPath()
    for name, kind in STREAMS.items():
        p.stream(name, kind)
    for name in ("x", "y", "z", "zz"):
        p.buffer(name)
    if threads:
        p.spawn("t")
        p.spawn("u")
    for kind, stream, event, memory, writes, thread in drawn:
        if threads and thread != "main":
            with p.on_thread(thread):
                _one(p, kind, stream, event, memory, writes)
        else:
            _one(p, kind, stream, event, memory, writes)
    if threads:
        p.join("t")
        _one(p, "wait", "a", "e", "x", False)
        _one(p, "work", "a", "e", "x", True)
    return p


def _one(p: HandPath, kind: str, stream: str, event: str, memory: str, writes: bool) -> None:
    match kind:
        case "work" | "blocking work":
            mode = {"write": memory} if writes else {"read": memory}
            p.copy(stream, blocks=kind == "blocking work", **mode)
        case "record":
            p.record(event, stream)
        case "wait":
            p.wait(stream, event)
        case "sync":
            p.sync(stream)
        case "sync event":
            p.sync_event(event)
        case "sync context":
            p.sync_context()
        case "host":
            p.host(memory, "write" if writes else "read")
        case _:
            p.drop("z" if writes else "zz", "context" if writes else "none")
