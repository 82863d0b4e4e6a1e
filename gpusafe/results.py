"""What a run hands to the reports: findings, units, and an account of every file."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from gpusafe.span import Span
from gpusafe.verdict import Site, Unit


class Level(Enum):
    """How serious a finding is; only a replayed counterexample is an error."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Fix:
    """An edit that settles a finding: put ``text`` in place of ``span``; ``title`` says so to the user.

    It may be applied without looking: it changes nothing but what the finding is about.
    """

    title: str
    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to tell the user: ``rule`` is a code of the catalogue, ``primary`` the place to look at first.

    ``reason`` is there for notes about what is open: why it is, in the words of the obligation. ``denied``: a lint
    level makes it end the run with status 1, whatever ``--fail-on`` says.
    """

    rule: str
    level: Level
    message: str
    primary: Site
    related: tuple[Site, ...] = ()
    notes: tuple[str, ...] = ()
    help: tuple[str, ...] = ()
    unit: str | None = None
    reason: str | None = None
    fixes: tuple[Fix, ...] = ()
    denied: bool = False


@dataclass(frozen=True, slots=True)
class Suppressed:
    """A finding that a directive in the source accepts, with the directive's reason and place."""

    finding: Finding
    reason: str
    directive: Span


@dataclass(frozen=True, slots=True)
class Accepted:
    """What a baseline takes out of a report.

    ``where`` names it for the user (a file, a revision); ``gone`` counts the findings that it holds and that no longer
    occur in the files that were looked at.
    """

    where: str
    findings: tuple[Finding, ...]
    gone: int = 0


class FileStatus(Enum):
    """What became of a file."""

    ANALYSED = "analysed"
    NO_GPU = "no GPU code"
    SYNTAX_ERROR = "syntax error"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class FileRecord:
    """One file of the input and what became of it; ``detail`` says why it was skipped or what did not parse."""

    path: str
    status: FileStatus
    detail: str = ""
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a run.

    ``sources`` maps the paths that findings name to their text (for source excerpts); ``left_out`` counts the errors
    and warnings that ``--select`` and ``--ignore`` keep from the report; ``accepted`` has what baselines hold already.
    """

    units: tuple[Unit, ...]
    findings: tuple[Finding, ...]
    files: tuple[FileRecord, ...]
    notices: tuple[str, ...] = ()
    sources: dict[str, str] | None = None
    seconds: float = 0.0
    suppressed: tuple[Suppressed, ...] = ()
    left_out: int = 0
    accepted: tuple[Accepted, ...] = ()
