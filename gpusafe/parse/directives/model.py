"""Directives as data."""

from __future__ import annotations

from dataclasses import dataclass

from gpusafe.parse.directives.expr import Expr
from gpusafe.span import Span


@dataclass(frozen=True, slots=True)
class Allow:
    """Findings of ``rules`` (codes or names, as written) that touch ``covers`` are accepted, for ``reason``.

    ``span`` is the directive itself. ``quiet``: it stands inside a string (CUDA source) and is not reported as unused.
    ``verb``: ``allow``, or ``expect``, which says that the finding is there.
    """

    span: Span
    covers: Span
    rules: tuple[str, ...]
    reason: str
    quiet: bool = False
    verb: str = "allow"


@dataclass(frozen=True, slots=True)
class Contract:
    """``requires`` (checked where the function is launched or called) or ``assume`` (taken on trust and listed)."""

    span: Span
    covers: Span
    verb: str
    expr: Expr
    text: str


@dataclass(frozen=True, slots=True)
class Problem:
    """A directive that cannot be read; ``message`` says why."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class Directives:
    """All directives of one file."""

    allows: tuple[Allow, ...] = ()
    contracts: tuple[Contract, ...] = ()
    problems: tuple[Problem, ...] = ()

    def contracts_of(self, item: Span) -> tuple[Contract, ...]:
        """The contracts of a function: written directly before it, or anywhere inside it."""
        return tuple(
            c
            for c in self.contracts
            if item.contains(c.span) or (c.covers.line <= item.line and c.covers.end_line == item.end_line)
        )
