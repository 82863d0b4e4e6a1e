"""A candidate execution that satisfies the axioms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpusafe.prove.memory_model import relation as rel
from gpusafe.prove.memory_model.causality import Causes
from gpusafe.prove.memory_model.relation import Relation
from gpusafe.prove.memory_model.structure import Structure
from gpusafe.prove.memory_model.unfold import Trace

ORDERED = (("sync", "synchronizes with"), ("sc", "before in fence.sc order"), ("bar", "meets at a barrier"))


@dataclass(frozen=True, slots=True)
class Execution:
    """Events with who reads whom (``rf``), coherence (``co``), from-reads (``fr``) and what causes what."""

    structure: Structure
    traces: tuple[Trace, ...]
    rf: Relation
    co: Relation
    fr: Relation
    sync_fence: Relation
    sync_barrier: Relation
    causes: Causes

    def last_writes(self) -> Mapping[str, tuple[int, ...]]:
        """For each cell the writes that no other write follows: with a race there may be several."""
        out: dict[str, list[int]] = {}
        for write in self.structure.writes:
            location = self.structure.events[write].location
            if location is not None and not self.co[write]:
                out.setdefault(location.cell, []).append(write)
        return {cell: tuple(found) for cell, found in out.items()}

    def lines(self) -> list[str]:
        """The execution for people: events thread by thread, then the relations between threads."""
        names, out = {}, []
        for i, event in enumerate(self.structure.events):
            names[i] = f"e{i}"
            cell = "" if event.location is None else f" {event.location.cell} = {event.value}"
            order = "" if event.order == "weak" or event.kind in "FPB" else f".{event.order}.{event.scope}"
            what = event.text if event.kind in "FPB" else f"{event.kind}{order}{cell}"
            who = "initial" if event.thread < 0 else f"P{event.thread}"
            out.append(f"  e{i:<3} {who:8} {what}")
        shown = [("reads from", rel.inverse(self.rf)), ("before in coherence", self.co), ("overwritten by", self.fr)]
        found = (self.causes.sync, self.sync_fence, self.sync_barrier)
        shown += [(text, relation) for (_, text), relation in zip(ORDERED, found, strict=True)]
        for text, relation in shown:
            pairs = rel.pairs(relation)
            if text == "before in coherence":
                pairs = [(a, b) for a, b in pairs if self.structure.events[a].thread >= 0]
            if pairs:
                out.append(f"  {text}: " + ", ".join(f"{names[a]} {names[b]}" for a, b in pairs))
        return out
