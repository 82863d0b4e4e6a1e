"""Many tests: which assertions hold, against the published answers where there are any."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpusafe.errors import GpusafeError
from gpusafe.parse.litmus import LitmusTest, read
from gpusafe.prove.memory_model.decide import Decision, decide, terminates
from gpusafe.prove.memory_model.models import Model

PUBLISHED = "expected.json"


@dataclass(frozen=True, slots=True)
class Question:
    """One property of one test under one model, with the published answer (None where there is none)."""

    path: Path
    name: str
    model: Model
    property: str
    expected: bool | None


@dataclass(frozen=True, slots=True)
class Answer:
    """What the engine says to a question."""

    question: Question
    test: LitmusTest | None
    decision: Decision | None
    problem: str = ""

    @property
    def verdict(self) -> str:
        """In a word."""
        if self.test is None:
            return "unreadable"
        if self.decision is None:
            return "undecided"
        if self.question.property == "termination":
            return "terminates" if self.decision.passes else "may hang"
        if self.test.quantifier == "forall":
            return "holds" if self.decision.passes else "violated"
        return "allowed" if self.decision.reachable else "forbidden"

    @property
    def agrees(self) -> bool | None:
        """Whether the published answer is the same; None where nothing was published."""
        if self.question.expected is None:
            return None
        return self.decision is not None and self.decision.passes == self.question.expected


def questions(path: Path, model: Model) -> list[Question]:
    """The published questions of a folder (``expected.json`` in it), else the assertion of each file below it."""
    published = path / PUBLISHED
    if path.is_dir() and published.is_file():
        return list(_published(path, published))
    if path.is_dir():
        files = sorted(path.rglob("*.litmus"))
        return [Question(f, str(f.relative_to(path)), model, "program_spec", None) for f in files]
    if not path.is_file():
        raise GpusafeError(f"no such file or folder: {path}")
    return [Question(path, path.name, model, "program_spec", None)]


def _published(folder: Path, published: Path) -> Iterator[Question]:
    try:
        for row in json.loads(published.read_text(encoding="utf-8")):
            expected = bool(row["expected_pass"])
            yield Question(folder / row["test"], row["test"], Model(row["model"]), row["property"], expected)
    except (ValueError, KeyError, TypeError) as problem:
        raise GpusafeError(f"{published}: not a list of expected results ({problem})") from None


def answer(question: Question) -> Answer:
    """Read and decide one test; what cannot be read is said, not raised."""
    test = None
    try:
        test = read(question.path.read_text(encoding="utf-8", errors="replace"), question.name)
        judge = terminates if question.property == "termination" else decide
        return Answer(question, test, judge(test, question.model))
    except (GpusafeError, OSError) as problem:
        return Answer(question, test, None, str(problem))


def rows(answers: Sequence[Answer], *, explain: bool) -> Iterator[str]:
    """The table, with the executions behind it where they are asked for, and a line of totals."""
    for item in answers:
        asked = item.question
        mark = {True: "as published", False: "NOT AS PUBLISHED", None: ""}[item.agrees]
        mark = mark if item.decision is not None else ""
        kind = "" if asked.property == "program_spec" else f" {asked.property}"
        bounded = " (few rounds of its loops)" if item.decision is not None and item.decision.bounded else ""
        line = f"{item.verdict:11} {asked.model.value:9} {asked.name}{kind}{bounded}  {mark}{item.problem}"
        yield line.rstrip()
        if explain and item.decision is not None and item.decision.execution is not None:
            yield from item.decision.execution.lines()
    judged = [a for a in answers if a.agrees is not None]
    total = (
        f"{sum(a.decision is not None for a in answers)} of {len(answers)} decided"
        if not judged
        else f"{sum(a.agrees is True for a in judged)} of {len(judged)} as published"
    )
    yield total
