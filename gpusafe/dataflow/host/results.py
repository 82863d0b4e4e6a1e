"""How a table of known calls answers: a value found, or None for "not mine"."""

from __future__ import annotations

from dataclasses import dataclass

from gpusafe.dataflow.host.values import Value


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a call that was recognised."""

    value: Value
