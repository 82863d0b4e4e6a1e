"""The launch graph says the same as the happens-before analysis, with reasons."""

from __future__ import annotations

import networkx as nx
from hypothesis import HealthCheck, Phase, given, settings

from gpusafe.dataflow.happens_before import order
from gpusafe.dataflow.launch_graph import launch_graph
from gpusafe.ir.host import Enqueue
from tests.dataflow.hand_paths import HandPath
from tests.dataflow.random_paths import build, steps


def test_edges_carry_their_reasons() -> None:
    p = HandPath()
    p.stream("a")
    p.stream("b")
    p.buffer("x")
    first = p.memset("a", "x")
    second = p.memset("a", "x")
    p.record("e", "a")
    p.wait("b", "e")
    third = p.copy("b", read="x", blocks=True)
    last = p.host("x")
    graph = launch_graph(p.path())
    assert graph.edges[("device", first), ("device", second)]["reason"] == "stream order"
    assert graph.edges[("device", second), ("device", third)]["reason"] == "event"
    assert graph.edges[("device", third), ("host done", third)]["reason"] == "blocking call"
    assert graph.edges[("host done", third), ("host", last)]["reason"] == "host order"


def test_the_null_stream_is_a_reason() -> None:
    p = HandPath()
    p.stream("a", "blocking")
    p.stream("null", "legacy")
    p.buffer("x")
    first, second = p.memset("a", "x"), p.memset("null", "x")
    edge = launch_graph(p.path()).edges[("device", first), ("device", second)]
    assert edge["reason"] == "legacy default stream"


@settings(max_examples=80, deadline=None, phases=(Phase.generate,), suppress_health_check=list(HealthCheck))
@given(steps)
def test_reachability_in_the_graph_is_the_order(drawn: list) -> None:
    path = build(drawn).path()
    graph = launch_graph(path)
    ordering = order(path)
    for j, op in enumerate(path.ops):
        target = ("device", j) if isinstance(op, Enqueue) else ("host", j)
        reaching = nx.ancestors(graph, target)
        for i, earlier in enumerate(path.ops[:j]):
            source = ("device", i) if isinstance(earlier, Enqueue) else ("host", i)
            assert (source in reaching) == ordering.orders(i, j), (i, j)
