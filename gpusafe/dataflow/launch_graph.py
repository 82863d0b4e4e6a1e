"""The launch graph of a host path: what pictures, hovers and explanations are drawn from.

Nodes are ``("host", i)``, the moment at which the host makes the call of operation ``i``, and for enqueued work also
``("device", i)``, its run on the device. An edge says that its source is over before its target starts, and carries the
``reason``. Only edges of the graph itself are drawn, not what follows from them; reachability is the order of
:mod:`gpusafe.dataflow.happens_before` (for one host thread).
"""

from __future__ import annotations

import networkx as nx

from gpusafe.dataflow.happens_before import MAIN, call_order, may_serialise, stream_of
from gpusafe.ir.host import Enqueue, Free, HostPath, Join, Record, Spawn, Sync, Wait

Node = tuple[str, int]


def launch_graph(path: HostPath) -> nx.DiGraph[Node]:
    """The graph of a path. Nodes carry ``op`` and, for device nodes, ``stream``."""
    return _Builder(path).build()


class _Builder:
    """Adds the operations of one path in order."""

    def __init__(self, path: HostPath) -> None:
        self.path = path
        self.graph: nx.DiGraph[Node] = nx.DiGraph()
        self.last_call: dict[str, Node] = {}
        self.tails: dict[str, list[Node]] = {}
        self.records: dict[str, tuple[int, list[Node]]] = {}
        self.called = call_order(path)

    def build(self) -> nx.DiGraph[Node]:
        for index, op in enumerate(self.path.ops):
            here: Node = ("host", index)
            thread = self.path.threads.get(index, MAIN)
            self.graph.add_node(here, op=op)
            if thread in self.last_call:
                self.edge(self.last_call[thread], here, "host order")
            self.last_call[thread] = here
            match op:
                case Enqueue():
                    self.enqueue(index, op, here, thread)
                case Record():
                    self.records[op.event] = (index, self.act(op.stream))
                case Wait():
                    self.wait(index, op)
                case Sync():
                    self.sync(index, op, here)
                case Free(waits="context"):
                    memory = self.path.memory.get(op.memory)
                    self.edges(self.context_tails(memory.context if memory else None), here, "waits for the device")
                case Spawn():
                    self.last_call[op.thread] = here
                case Join():
                    if op.thread in self.last_call:
                        self.edge(self.last_call[op.thread], here, "join")
                case _:
                    pass
        return self.graph

    def enqueue(self, index: int, op: Enqueue, here: Node, thread: str) -> None:
        run: Node = ("device", index)
        self.graph.add_node(run, op=op, stream=op.stream)
        self.edge(here, run, "enqueue")
        for node in self.act(op.stream):
            self.edge(node, run, self.reason(node, op.stream))
        self.tails[op.stream] = [run]
        if op.blocks_host:
            done: Node = ("host done", index)
            self.graph.add_node(done, op=op)
            self.edge(run, done, "blocking call")
            self.last_call[thread] = done

    def act(self, stream: str) -> list[Node]:
        """An action on a stream: the nodes that it comes after, which become the stream's tail."""
        own = stream_of(self.path, stream)
        reached = list(self.tails.get(stream, []))
        for other, nodes in self.tails.items():
            if other != stream and may_serialise(own, stream_of(self.path, other), charitable=False):
                reached.extend(nodes)
        self.tails[stream] = list(dict.fromkeys(reached))
        return self.tails[stream]

    def wait(self, index: int, op: Wait) -> None:
        reached = self.act(op.stream)
        record = self.records.get(op.event)
        if record is not None and self.called[index] >> record[0] & 1:
            self.tails[op.stream] = list(dict.fromkeys([*reached, *record[1]]))
            for node in record[1]:
                self.graph.nodes[node].setdefault("covered_by", []).append(record[0])

    def sync(self, index: int, op: Sync, here: Node) -> None:
        match op.target:
            case "stream":
                self.edges(self.tails.get(op.ident, []), here, "synchronize")
            case "event":
                record = self.records.get(op.ident)
                if record is not None and self.called[index] >> record[0] & 1:
                    self.edges(record[1], here, "synchronize event")
            case _:
                self.edges(self.context_tails(op.ident), here, "synchronize context")

    def context_tails(self, context: str | None) -> list[Node]:
        return [n for s, nodes in self.tails.items() if stream_of(self.path, s).context == context for n in nodes]

    def reason(self, node: Node, stream: str) -> str:
        """Why work on ``stream`` comes after ``node``."""
        source = self.graph.nodes[node].get("stream")
        if source == stream:
            return "stream order"
        if source is not None and self.graph.nodes[node].get("covered_by"):
            return "event"
        return "legacy default stream"

    def edges(self, sources: list[Node], target: Node, reason: str) -> None:
        for node in sources:
            self.edge(node, target, reason)

    def edge(self, source: Node, target: Node, reason: str) -> None:
        self.graph.add_edge(source, target, reason=reason)
