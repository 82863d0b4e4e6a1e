"""Obligations, their three verdicts, and the units (kernels and host functions) that they belong to."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from gpusafe.span import Span


class Verdict(Enum):
    """What is known about an obligation or a unit.

    ``PROVED``: the negation is unsatisfiable under the assumptions listed. ``REFUTED``: a model exists and
    was replayed.
    ``UNKNOWN``: everything else, with the reason.
    """

    PROVED = "proved"
    REFUTED = "refuted"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Site:
    """A labelled place: one side of a race, a call on the way to it, the declaration of the memory."""

    span: Span
    label: str


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A replayed counterexample in the words that a user reads.

    ``message`` is the headline (lower case, no full stop); ``primary`` and ``related`` are the labelled sites (both
    sides of a race, and the call sites that lead to them); ``notes`` tell the model (geometry, threads, values, the
    order of events); ``help`` says what to do.
    """

    message: str
    primary: Site
    related: tuple[Site, ...] = ()
    notes: tuple[str, ...] = ()
    help: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Obligation:
    """One question about one unit, with its verdict.

    ``rule`` is the code of the rule that a refutation reports (``GS201``); ``question`` is the obligation in words;
    ``reason`` says for ``UNKNOWN`` what was not modelled or not settled, in words that a user understands;
    ``assumptions`` hold for ``PROVED``; ``counterexample`` is there exactly when the verdict is ``REFUTED``.
    """

    rule: str
    question: str
    verdict: Verdict
    span: Span
    reason: str | None = None
    assumptions: tuple[str, ...] = ()
    counterexample: Counterexample | None = None

    def __post_init__(self) -> None:
        if (self.verdict is Verdict.REFUTED) != (self.counterexample is not None):
            raise ValueError("an obligation is refuted exactly when it has a counterexample")
        if self.verdict is Verdict.UNKNOWN and not self.reason:
            raise ValueError("an unknown obligation must say why")


@dataclass(frozen=True, slots=True)
class PtxStatus:
    """What the PTX stage says beside a kernel's verdict, for one target.

    ``status`` is ``confirmed``, ``weaker``, ``rejected`` or ``skipped``; ``detail`` says why. ``open`` are checks of a
    confirmed kernel that did not run or settled nothing.
    """

    target: str
    status: str
    detail: str = ""
    open: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unit:
    """A kernel or a host function with its obligations; ``span`` covers the whole function."""

    kind: str  # "kernel" | "host"
    name: str
    span: Span
    obligations: tuple[Obligation, ...] = ()
    assumptions: tuple[str, ...] = ()
    ptx: tuple[PtxStatus, ...] = field(default=())
    seconds: float = 0.0

    @property
    def verdict(self) -> Verdict:
        """Refuted when one obligation is, proved when all are (none is a proof of nothing to prove), else unknown."""
        verdicts = {o.verdict for o in self.obligations}
        for verdict in (Verdict.REFUTED, Verdict.UNKNOWN):
            if verdict in verdicts:
                return verdict
        return Verdict.PROVED
