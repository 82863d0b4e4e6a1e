"""gpusafe: the borrow checker that Rust lacks at the GPU launch boundary.

``gpusafe.check(path)`` gives a :class:`Report`; docs/python.md describes the API. Its parts are imported when they are
first used.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers take it for True; importing `typing` would double the time of `--version`
if TYPE_CHECKING:
    from typing import Any

    from gpusafe.api import check, exit_status, options, render
    from gpusafe.errors import GpusafeError, UsageError
    from gpusafe.results import FileRecord, FileStatus, Finding, Level, Report
    from gpusafe.span import Span
    from gpusafe.verdict import Counterexample, Obligation, Site, Unit, Verdict

__version__ = "0.1.0"

__all__ = [
    "Counterexample",
    "FileRecord",
    "FileStatus",
    "Finding",
    "GpusafeError",
    "Level",
    "Obligation",
    "Report",
    "Site",
    "Span",
    "Unit",
    "UsageError",
    "Verdict",
    "__version__",
    "check",
    "exit_status",
    "options",
    "render",
]

_HOMES = {
    "gpusafe.api": ("check", "exit_status", "options", "render"),
    "gpusafe.errors": ("GpusafeError", "UsageError"),
    "gpusafe.results": ("FileRecord", "FileStatus", "Finding", "Level", "Report"),
    "gpusafe.span": ("Span",),
    "gpusafe.verdict": ("Counterexample", "Obligation", "Site", "Unit", "Verdict"),
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'gpusafe' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
