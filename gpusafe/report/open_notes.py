"""What is open, told briefly: the notes of one kind of reason together, in two lines, with a few of their places."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gpusafe.report.marks import folded
from gpusafe.report.style import Style
from gpusafe.results import Finding, Level

OPEN = frozenset({"GS901", "GS902", "GS904"})
"""Rules that say what is not settled: there may be hundreds of them in a program that gpusafe does not know well."""

_MAX_GROUPS = 25
_MAX_PLACES = 3
_MAX_NAMES = 4
_NAME = re.compile(r"`[^`]*`")
_CONSEQUENCE = re.compile(r"; what it does to memory and order is not known$")
_LINE = re.compile(r" (?:in|of|at) line \d+\b")


@dataclass(frozen=True, slots=True)
class Group:
    """Notes of one rule whose reasons differ in one name at most."""

    rule: str
    reason: str
    notes: tuple[Finding, ...]


def is_open(finding: Finding) -> bool:
    """Whether the finding is a note about something that was neither proved nor refuted."""
    return finding.level is Level.NOTE and finding.rule in OPEN and finding.reason is not None


def groups(notes: Iterable[Finding]) -> list[Group]:
    """The notes by kind of reason, those with most places first."""
    kinds: dict[tuple[str, str], list[Finding]] = {}
    for note in notes:
        kinds.setdefault((note.rule, _kind(note)), []).append(note)
    found = [Group(rule, _together(members), tuple(members)) for (rule, _), members in kinds.items()]
    return sorted(found, key=lambda g: (-len(g.notes), g.rule, g.reason))


def open_text(notes: Sequence[Finding], style: Style) -> str:
    """All of them as one block; empty for none."""
    if not notes:
        return ""
    every = groups(notes)
    lines = [line for group in every[:_MAX_GROUPS] for line in _group(group, style)]
    rest = every[_MAX_GROUPS:]
    if rest:
        lines.append(f"{style.paint('note', 'note')}: {_count(len(rest), 'more reason')}, {_size(rest)}")
    lines += _helps(every[:_MAX_GROUPS], style)
    these = "this note" if len(notes) == 1 else f"each of these {len(notes)} notes"
    lines.append(f"{style.paint('help', 'help')}: `-v` shows {these} in full")
    return "\n".join(lines)


def _kind(note: Finding) -> str:
    """The reason without its first name: what several notes share."""
    return _NAME.sub("`_`", _LINE.sub("", _CONSEQUENCE.sub("", note.reason or "")), count=1)


def _together(notes: Sequence[Finding]) -> str:
    """One reason for all of them: where they differ in a name, the names are listed."""
    reasons = list(dict.fromkeys(_CONSEQUENCE.sub("", note.reason or "") for note in notes))
    if len(reasons) > 1:
        reasons = list(dict.fromkeys(_LINE.sub("", reason) for reason in reasons))
    if len(reasons) == 1:
        return reasons[0]
    names = [match[0] for reason in reasons if (match := _NAME.search(reason))]
    shown = names if len(names) <= _MAX_NAMES else [*names[: _MAX_NAMES - 1], f"{len(names) - _MAX_NAMES + 1} others"]
    return _NAME.sub(lambda _: f"{', '.join(shown[:-1])} or {shown[-1]}", reasons[0], count=1)


def _group(group: Group, style: Style) -> list[str]:
    places = list(dict.fromkeys(note.primary.span for note in group.notes))
    count = f" ({len(places)} places)" if len(places) > 1 else ""
    head = style.paint("note", f"note[{group.rule}]") + ": "
    indent = " " * (len(group.rule) + 8)
    first, *rest = folded(f"{' '.join(group.reason.split())}{count}", style.width - len(indent))
    lines = [head + style.paint("bold", first), *(indent + style.paint("bold", line) for line in rest)]
    firsts = {note.primary.span: note for note in reversed(group.notes)}
    shown = [f"{span} in `{firsts[span].unit}`" for span in places[:_MAX_PLACES]]
    more = f" and {len(places) - _MAX_PLACES} more" if len(places) > _MAX_PLACES else ""
    return [*lines, f"  {style.paint('frame', '-->')} {', '.join(shown)}{more}"]


def _helps(shown: Iterable[Group], style: Style) -> list[str]:
    """Each advice once, with the rules that it is for."""
    rules: dict[str, set[str]] = {}
    for group in shown:
        for note in group.notes:
            for help in note.help:
                rules.setdefault(help, set()).add(group.rule)
    return [style.paint("help", f"help[{', '.join(sorted(codes))}]") + f": {help}" for help, codes in rules.items()]


def _size(rest: Sequence[Group]) -> str:
    return _count(len({note.primary.span for group in rest for note in group.notes}), "place")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
