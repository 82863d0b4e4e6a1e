"""Whether what threads read can have been written, told from values alone before anything is ordered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from gpusafe.prove.memory_model.events import Event
from gpusafe.prove.memory_model.unfold import Trace

Key = tuple[str, int]


class Supply:
    """What each choice of traces for the first threads leaves for the others to write.

    Where all accesses of a cell are morally strong to each other, two read-modify-writes never read the same write.
    """

    def __init__(self, traces: Sequence[Sequence[Trace]], initial: Mapping[str, int]) -> None:
        self._first = Counter(initial.items())
        self._alone = _alone(e for of_thread in traces for t in of_thread for e in t.events)
        self._parts = {id(t): self._part(t) for of_thread in traces for t in of_thread}
        self._later: list[Counter[Key]] = [Counter()]
        for of_thread in reversed(traces):
            most: Counter[Key] = Counter()
            for trace in of_thread:
                most |= self._parts[id(trace)][0]
            self._later.append(self._later[-1] + most)
        self._later.reverse()

    def enough(self, chosen: Sequence[Trace]) -> bool:
        """Whether all reads of the chosen traces may be served."""
        there = self._first + self._later[len(chosen)]
        taken: Counter[Key] = Counter()
        for trace in chosen:
            writes, takes, _ = self._parts[id(trace)]
            there += writes
            taken += takes
        if any(count > there[key] for key, count in taken.items()):
            return False
        return all(key in there for trace in chosen for key in self._parts[id(trace)][2])

    def _part(self, trace: Trace) -> tuple[Counter[Key], Counter[Key], frozenset[Key]]:
        """What a trace writes, what its read-modify-writes take from others for themselves, and all that it reads."""
        writes, takes, reads = Counter[Key](), Counter[Key](), set()
        for event in trace.events:
            if event.location is None:
                continue
            key = (event.location.cell, event.value)
            match event.kind:
                case "W":
                    writes[key] += 1
                    if event.pair is not None and key[0] in self._alone:
                        takes[key[0], trace.events[event.pair].value] += 1
                case "R":
                    reads.add(key)
        return writes, takes, frozenset(reads)


def _alone(events: Iterable[Event]) -> frozenset[str]:
    """The cells of which all accesses are morally strong to each other, whatever trace they are in."""
    found: dict[str, set[tuple[object, ...]]] = {}
    for e in events:
        if e.location is not None and e.kind in ("R", "W"):
            place = e.place
            known = place is not None and e.strong and e.proxy == "generic" and e.location.address == e.location.cell
            at = (e.thread, place.cta, place.cluster, place.gpu) if place is not None else ()
            found.setdefault(e.location.cell, set()).add((e.scope if known else "none", *at))
    return frozenset(cell for cell, uses in found.items() if _reach(uses))


def _reach(uses: set[tuple[object, ...]]) -> bool:
    """Whether every scope includes all threads."""
    scopes = {use[0] for use in uses}
    gpus, ctas = {use[4:] for use in uses}, {use[2:] for use in uses}
    wide = {"sys"} | ({"gpu"} if len(gpus) == 1 else set()) | ({"cta", "cluster"} if len(ctas) == 1 else set())
    return scopes <= wide
