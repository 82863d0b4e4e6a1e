"""What a rule is."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent

from gpusafe.results import Level

_FAMILIES = {
    "GS1": "host: borrows across the launch boundary",
    "GS2": "device: threads of one kernel",
    "GS3": "memory order and scope",
    "GS4": "performance",
    "GS9": "limits of the analysis",
}


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the catalogue.

    ``summary`` is one line (lower case, no full stop), ``explanation`` Markdown; ``level`` is that of its findings;
    ``enabled``: on unless ``--select``/``--ignore`` say otherwise. ``checked``: whether anything asks its question
    yet. ``help`` is for findings that bring none of their own. ``racy`` and ``fixed`` are short programs in
    ``language``: with the fault, and without.
    """

    code: str
    name: str
    summary: str
    explanation: str
    level: Level
    help: tuple[str, ...]
    racy: str
    fixed: str
    enabled: bool = True
    language: str = "rust"
    checked: bool = True

    @property
    def family(self) -> str:
        """What the rules that share the first digit are about."""
        return _FAMILIES.get(self.code[:3], "rules of other packages")


def declare(
    module: str,
    doc: str | None,
    *,
    help: str | tuple[str, ...],
    racy: str,
    fixed: str,
    level: Level = Level.ERROR,
    enabled: bool = True,
    language: str = "rust",
    checked: bool = True,
) -> Rule:
    """The rule of a module: code and name from the file name (``gs101_stream_race``), texts from the docstring."""
    code, _, name = module.rpartition(".")[2].partition("_")
    summary, _, explanation = (doc or "").strip().partition("\n")
    return Rule(
        code=code.upper(),
        name=name.replace("_", "-"),
        summary=summary.strip(),
        explanation=dedent(explanation).strip(),
        level=level,
        help=(help,) if isinstance(help, str) else help,
        racy=dedent(racy).strip(),
        fixed=dedent(fixed).strip(),
        enabled=enabled,
        language=language,
        checked=checked,
    )
