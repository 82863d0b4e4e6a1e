"""Statement lists under construction, and the points where paths of control meet.

An IR statement is immutable, but the assignments at the end of a branch are known only when all branches are. So
bodies are built of statements, of :class:`Nest` (an ``If``, ``Block`` or ``Loop`` to be) and of :class:`Hole`
(assignments that come later); gpusafe.parse.rust.device.finish turns them into IR.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gpusafe.ir.expr import Expr
from gpusafe.ir.kernel import Stmt
from gpusafe.parse.rust.device.values import Value
from gpusafe.span import Span


@dataclass(eq=False, slots=True)
class Hole:
    """A place in a body that assignments are put into later."""

    stmts: list[Stmt] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Nest:
    """An ``If`` (``cond`` set), or a ``Block`` or ``Loop`` with a label."""

    kind: str
    span: Span
    first: Body
    second: Body = field(default_factory=list)
    cond: Expr | None = None
    label: str = ""


Body = list[Stmt | Hole | Nest]


@dataclass(eq=False, slots=True)
class Join:
    """The values that arrive at one point, each with the hole at the end of its path."""

    entries: list[tuple[Hole, Value]] = field(default_factory=list)
    hint: str | None = None


def is_empty(body: Body) -> bool:
    """Whether a body does nothing (holes that are still empty do not count)."""
    return all(isinstance(item, Hole) and not item.stmts for item in body)
