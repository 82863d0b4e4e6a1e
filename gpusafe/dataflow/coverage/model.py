"""The table of ``gpusafe coverage``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Launches:
    """Launch expressions: ``found`` in the text; of them, how many have each part resolved.

    ``seen`` were met by the executor, ``whole`` have all four parts.
    """

    found: int
    seen: int
    kernel_resolved: int
    stream_resolved: int
    geometry_resolved: int
    arguments_resolved: int
    whole: int


@dataclass(frozen=True, slots=True)
class Missing:
    """One reason why something is not resolved, how often, and the first places (``file:line: what``)."""

    reason: str
    count: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Coverage:
    """``files`` counts by status (``analysed``, ``no_gpu``, ``syntax_error``, ``skipped``).

    ``kernels_found`` are in the text, ``kernels_lowered`` have an IR without anything unmodelled. ``missing`` is
    sorted, the most frequent reason first.
    """

    files: dict[str, int]
    kernels_found: int
    kernels_lowered: int
    launches: Launches
    missing: tuple[Missing, ...]
    notices: tuple[str, ...] = ()
