"""Collects obligations by function and question: one for each two places, with the worst verdict of all paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from gpusafe.ir.host import HostPath
from gpusafe.prove.host.attribution import Owner
from gpusafe.prove.host.chances import Sighting, in_doubt
from gpusafe.span import Span
from gpusafe.verdict import Obligation, Verdict

SIGHTINGS_LIMIT = 200
_WORSE = {Verdict.PROVED: 0, Verdict.UNKNOWN: 1, Verdict.REFUTED: 2}

Question: TypeAlias = tuple[object, ...]
"""Identifies an obligation within its function."""


@dataclass(slots=True)
class Ledger:
    """What is known so far; does not escape :func:`gpusafe.prove.host.check_host`."""

    entries: dict[tuple[str, Span], dict[Question, Obligation]] = field(default_factory=dict)
    assumptions: dict[tuple[str, Span], dict[str, None]] = field(default_factory=dict)
    sightings: dict[tuple[tuple[str, Span], Question], dict[Sighting, None]] = field(default_factory=dict)

    def verdict(self, owner: Owner, question: Question) -> Verdict | None:
        """What has been found for a question so far."""
        known = self.entries.get((owner.function, owner.span), {}).get(question)
        return known.verdict if known else None

    def settled(self, owner: Owner, question: Question, verdict: Verdict) -> bool:
        """Whether a verdict would change nothing."""
        known = self.verdict(owner, question)
        return known is not None and _WORSE[known] >= _WORSE[verdict]

    def add(self, owner: Owner, question: Question, obligation: Obligation) -> None:
        """Keep the worse of this and what is known."""
        if not self.settled(owner, question, obligation.verdict):
            self.entries.setdefault((owner.function, owner.span), {})[question] = obligation

    def saw(self, owner: Owner, question: Question, seen: Sighting) -> None:
        """Note a path on which a question is refuted."""
        kept = self.sightings.setdefault(((owner.function, owner.span), question), {})
        if len(kept) < SIGHTINGS_LIMIT:
            kept[seen] = None

    def close(self, paths: Sequence[HostPath]) -> None:
        """Take back the refutations that need decisions which may never go together; ``paths`` are all there are."""
        for (function, question), seen in self.sightings.items():
            found = self.entries[function][question]
            words = in_doubt(tuple(seen), paths) if found.verdict is Verdict.REFUTED else ()
            if words:
                needed = f"it needs {words[0]}" if len(words) == 1 else f"it needs {' and '.join(words[:3])} together"
                reason = f"{needed}, and whether that can be is not known"
                self.entries[function][question] = Obligation(
                    found.rule, found.question, Verdict.UNKNOWN, found.span, reason
                )

    def assume(self, owner: Owner, words: str) -> None:
        """Note what the proofs of a function rest on."""
        self.assumptions.setdefault((owner.function, owner.span), {})[words] = None
