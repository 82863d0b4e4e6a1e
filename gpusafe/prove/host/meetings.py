"""Executions in which two conflicting operations meet, with a limit on how many are sought for one path."""

from __future__ import annotations

from dataclasses import dataclass

from gpusafe.dataflow.host_replay import Schedule, replay, replay_after
from gpusafe.ir.host import HostPath
from gpusafe.prove.host.conflicts import Pair

MOST = 100
"""Replays of one path; a path with more pairs that meet is refuted many times over already."""


@dataclass(slots=True)
class Meetings:
    """Replays pairs of one path."""

    path: HostPath
    tried: int = 0

    def find(self, pair: Pair) -> Schedule | None:
        """An execution in which the two meet, or the second comes after the memory is gone."""
        self.tried += 1
        if self.tried > MOST:
            return None
        first, second = pair.first.op, pair.second.op
        after = replay_after(self.path, first, second) if pair.first.mode == "free" else None
        return after if after is not None else replay(self.path, first, second)

    @property
    def excuse(self) -> str:
        """Why there was no execution."""
        if self.tried > MOST:
            return f"not replayed: more than {MOST} pairs of operations on this path are to be replayed"
        return "no execution was found in which the two operations meet"
