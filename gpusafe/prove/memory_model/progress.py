"""Executions that go on for ever under fair scheduling: a round of a loop that can be repeated without end."""

from __future__ import annotations

from gpusafe.prove.memory_model import relation as rel
from gpusafe.prove.memory_model.execution import Execution
from gpusafe.prove.memory_model.unfold import Ending


def never_ends(execution: Execution) -> bool:
    """Whether the spinning threads of an execution can spin for ever (a thread at a barrier waits in any case).

    What is written is seen in the end: a read that is repeated for ever reads a last write. Writes that are repeated
    come after all others of their cell, and all say the same.
    """
    s = execution.structure
    repeated = 0
    for start, trace in zip(s.starts, execution.traces, strict=True):
        if trace.ending is Ending.SPINNING:
            repeated |= (1 << start + len(trace.events)) - (1 << start + trace.lasso)
    values: dict[str, set[int]] = {}
    for i in rel.bits(repeated & s.write_set):
        location = s.events[i].location
        if location is None:
            continue
        values.setdefault(location.cell, set()).add(s.events[i].value)
        if execution.co[i] & ~repeated:
            return False
    if any(len(v) > 1 for v in values.values()):
        return False
    last = execution.last_writes()
    sources = rel.inverse(execution.rf)
    for i in rel.bits(repeated):
        event = s.events[i]
        if event.kind != "R" or event.location is None:
            continue
        steady = values.get(event.location.cell)
        if steady is not None:
            if event.value not in steady:
                return False
        elif not any(sources[i] >> w & 1 for w in last[event.location.cell]):
            return False
    return True
