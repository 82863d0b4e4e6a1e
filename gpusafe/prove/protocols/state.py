"""A thread on its way: variables, where it is in the code, and the events so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gpusafe.ir import kernel as ir
from gpusafe.prove.memory_model.events import Event
from gpusafe.prove.protocols.way import Use
from gpusafe.span import Span

CONTENTS = 1 << 300  # the taint of what initial contents of memory decide; lower bits are reads of the thread


@dataclass(slots=True)
class Turn:
    """How a loop's turn began: the number of events, and the variables that matter."""

    events: int
    env: dict[str, Any]
    local: dict[Any, Any]


@dataclass(slots=True)
class Frame:
    """Statements under way; ``label`` is set for blocks and loops, ``turns`` (since the last write) for loops."""

    body: tuple[ir.Stmt, ...]
    label: str | None = None
    loop: ir.Loop | None = None
    at: int = 0
    turns: tuple[Turn, ...] = ()

    def copy(self) -> Frame:
        return Frame(self.body, self.label, self.loop, self.at, self.turns)


@dataclass(slots=True)
class State:
    """All of it; ``open`` collects the plain accesses since the last event, ``local`` the thread's own arrays."""

    env: dict[str, Any]
    frames: list[Frame]
    taint: dict[str, int] = field(default_factory=dict)
    control: int = 0
    events: list[Event] = field(default_factory=list)
    spans: list[Span | None] = field(default_factory=list)
    uses: list[tuple[Use, ...]] = field(default_factory=list)
    open: dict[Use, None] = field(default_factory=dict)
    local: dict[Any, tuple[Any, int]] = field(default_factory=dict)

    def copy(self) -> State:
        """A state that goes on by itself."""
        return State(
            dict(self.env), [f.copy() for f in self.frames], dict(self.taint), self.control, list(self.events),
            list(self.spans), list(self.uses), dict(self.open), dict(self.local),
        )  # fmt: skip

    def emit(self, event: Event, span: Span | None, uses: tuple[Use, ...] = ()) -> None:
        """Adds an event."""
        self.events.append(event)
        self.spans.append(span)
        self.uses.append(uses)

    def assign(self, var: str | None, value: Any, taint: int) -> None:
        """Sets a variable."""
        if var is None:
            return
        self.env[var] = value
        if taint:
            self.taint[var] = taint
        else:
            self.taint.pop(var, None)
