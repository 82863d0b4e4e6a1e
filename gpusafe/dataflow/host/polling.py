"""Polling of events: the answer "it is over" orders as a synchronize does, the answer "not yet" orders nothing."""

from __future__ import annotations

from gpusafe.dataflow.host.handles import EventHandle
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.syntax_walk import walk
from gpusafe.parse.rust import ast
from gpusafe.span import Span

_KEY = "polls"
_ASKING = frozenset(["query", "is_complete"])


def asks(cond: ast.Expr | None) -> bool:
    """Whether a condition polls something."""
    return cond is not None and any(isinstance(n, ast.MethodCall) and n.name in _ASKING for n in walk(cond))


def over(m: Machine, event: EventHandle, span: Span) -> bool:
    """Whether the event is over: both answers are walked, but each place says "not yet" once at most."""
    asked: dict[tuple[Span, int], int] = m.singletons.setdefault(_KEY, {})
    key = (span, m.call.number)
    name = event.name or "the event"
    since = asked.get(key)
    if since is not None and len(m.ops) != since:
        m.gap(span, f"what happens between two polls of `{name}` is walked once only")
    where = f"at {span.file}:{span.line}"
    if since is None and m.choose((f"`{name}` is over {where}", f"`{name}` is not over yet {where}")) == 1:
        asked[key] = len(m.ops)
        return False
    m.sync("event", event.ident, span, f"`{name}` is seen to be over")
    return True
