"""From one path through a host program to its picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gpusafe.dataflow.happens_before import MAIN
from gpusafe.dataflow.launch_graph import Node, launch_graph
from gpusafe.ir.host import Alloc, Enqueue, Free, Gap, HostOp, HostPath, Record, Sync, Wait
from gpusafe.report.graph.model import Box, Edge, Lane, Picture, Race
from gpusafe.span import Span

MAX_BOXES = 400
_TOLD_BY_PLACE = ("host order", "enqueue", "stream order")


@dataclass(frozen=True, slots=True)
class Fault:
    """What an error of the host says: its rule and message, and the places of its two sides."""

    rule: str
    message: str
    primary: Span
    others: tuple[Span, ...]


def picture(path: HostPath, verdict: str, faults: Sequence[Fault], paths: int = 1) -> Picture:
    """The picture of a path; of ``faults`` those whose two sides it holds are drawn."""
    shown = list(_shown(path))
    left_out = max(0, len(shown) - MAX_BOXES)
    shown = shown[:MAX_BOXES]
    lanes = _lanes(path, shown)
    column = {lane.ident: i for i, lane in enumerate(lanes)}
    boxes = tuple(
        Box(
            f"op{index}",
            column[_lane(path, index)],
            row,
            _kind(path.ops[index]),
            path.ops[index].label,
            path.ops[index].span,
            tuple(f"{f.function} ({f.at.file}:{f.at.line})" for f in path.ops[index].frames),
        )
        for row, index in enumerate(shown)
    )
    title = f"{path.root} ({path.root_span.file}:{path.root_span.line})"
    return Picture(
        title,
        path.root_span,
        verdict,
        lanes,
        boxes,
        tuple(_edges(path, frozenset(shown))),
        tuple(_races(path, shown, faults)),
        path.conditions,
        paths,
        left_out,
    )


def _shown(path: HostPath) -> Iterator[int]:
    """The operations that are drawn: an event's automatic record and wait are told by the edge that they make."""
    used = {op.event for op in path.ops if isinstance(op, Wait) and not op.automatic}
    used |= {op.ident for op in path.ops if isinstance(op, Sync) and op.target == "event"}
    for index, op in enumerate(path.ops):
        match op:
            case Wait(automatic=True):
                continue
            case Record(event=event) if event not in used:
                continue
        yield index


def _lane(path: HostPath, index: int) -> str:
    op = path.ops[index]
    if isinstance(op, Enqueue | Record | Wait):
        return op.stream
    return f"host {path.threads.get(index, MAIN)}"


def _lanes(path: HostPath, shown: Sequence[int]) -> tuple[Lane, ...]:
    """The host first, its threads as they come, then the streams as they are made."""
    used = dict.fromkeys(_lane(path, index) for index in shown)
    hosts = [ident for ident in used if ident.startswith("host ")]
    main = f"host {MAIN}"
    lanes = [Lane(main, "host", True)]
    lanes += [Lane(h, f"host thread {h.split(' ', 1)[1]}", True) for h in hosts if h != main]
    streams = [s for s in path.streams if s in used] + [s for s in used if s not in path.streams and s not in hosts]
    taken: set[str] = set()
    for ident in streams:
        stream = path.streams.get(ident)
        name = (stream.name if stream is not None else "") or ident
        kind = {"legacy": "default stream", "per_thread": "per-thread stream"}.get(
            stream.kind if stream else "", "stream"
        )
        title = f"{kind} {name}" if name not in taken else f"{kind} {name} ({ident})"
        taken.add(name)
        lanes.append(Lane(ident, title, False))
    return tuple(lanes)


def _kind(op: HostOp) -> str:
    match op:
        case Enqueue():
            return "work"
        case Record() | Wait():
            return "event"
        case Sync():
            return "sync"
        case Alloc() | Free():
            return "memory"
        case Gap():
            return "gap"
    return "host"


def _edges(path: HostPath, shown: frozenset[int]) -> Iterator[Edge]:
    """The edges that the lanes do not show already, each once."""
    seen: set[Edge] = set()
    graph = launch_graph(path)
    for source, target in graph.edges:
        reason = str(graph.edges[source, target]["reason"])
        if reason in _TOLD_BY_PLACE or source[1] not in shown or target[1] not in shown or source[1] == target[1]:
            continue
        edge = Edge(_ident(source), _ident(target), reason)
        if edge not in seen:
            seen.add(edge)
            yield edge
    yield from _waits(path, shown)


def _waits(path: HostPath, shown: frozenset[int]) -> Iterator[Edge]:
    """From each record to the waits that capture it."""
    last: dict[str, int] = {}
    for index, op in enumerate(path.ops):
        if isinstance(op, Record):
            last[op.event] = index
        elif isinstance(op, Wait) and op.event in last and {index, last[op.event]} <= shown:
            yield Edge(f"op{last[op.event]}", f"op{index}", "event")


def _ident(node: Node) -> str:
    return f"op{node[1]}"


def _races(path: HostPath, shown: Sequence[int], faults: Sequence[Fault]) -> Iterator[Race]:
    at: dict[Span, list[int]] = {}
    for index in shown:
        at.setdefault(path.ops[index].span, []).append(index)
    for fault in faults:
        for second in reversed(at.get(fault.primary, [])):
            sides = [i for other in fault.others for i in at.get(other, []) if i != second]
            if sides:
                first = max((i for i in sides if i < second), default=sides[0])
                yield Race(f"op{first}", f"op{second}", fault.rule, fault.message)
                break
