"""Decisions: can a condition be met, and do the threads always end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from gpusafe.parse.litmus import Condition, LitmusTest
from gpusafe.prove.memory_model.condition import holds, terms
from gpusafe.prove.memory_model.execution import Execution
from gpusafe.prove.memory_model.models import Model
from gpusafe.prove.memory_model.progress import never_ends
from gpusafe.prove.memory_model.search import Budget, choices, executions
from gpusafe.prove.memory_model.structure import structure
from gpusafe.prove.memory_model.unfold import Ending, Trace, possible_values

ROUNDS = 3
Lookup = int | str | tuple[int, str]


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether the assertion holds as written, with the execution that shows it (a witness or a counterexample).

    ``bounded`` says that some loop could run longer than was looked at, so that a `no` speaks of few rounds only.
    """

    passes: bool
    execution: Execution | None
    bounded: bool

    @property
    def reachable(self) -> bool:
        """Whether the execution that was looked for exists."""
        return self.execution is not None


def decide(test: LitmusTest, model: Model = Model.PTX_7_5, rounds: int = ROUNDS) -> Decision:
    """Whether the assertion holds: ``exists`` it is reachable, ``~exists`` not, ``forall`` no state violates it."""
    wanted = test.condition
    if test.quantifier == "forall":
        wanted = Condition("not", (wanted,))
    if test.only is not None:
        wanted = Condition("and", (test.only, wanted))
    initial = dict(test.initial)
    observed: dict[int, frozenset[str]] = {}
    for term in terms(wanted):
        if isinstance(term, tuple):
            observed[term[0]] = observed.get(term[0], frozenset()) | {term[1]}
    _, traces = possible_values(test.threads, initial, rounds, observed)
    bounded = any(t.ending is Ending.CUT for of_thread in traces for t in of_thread)
    ended = [[t for t in of_thread if t.ending in (Ending.DONE, Ending.BLOCKED)] for of_thread in traces]
    found = next(_reaching(test, model, ended, wanted), None)
    return Decision((found is not None) == (test.quantifier == "exists"), found, bounded)


def _reaching(test: LitmusTest, model: Model, traces: list[list[Trace]], wanted: Condition) -> Iterator[Execution]:
    numbers = [t.number for t in test.threads]
    initial = dict(test.initial)

    def possible(chosen: tuple[Trace, ...]) -> bool:
        known = dict(zip(numbers, chosen, strict=False))
        return holds(wanted, lambda term: _register(term, known, numbers)) is not False

    budget = Budget()
    for chosen in choices(traces, initial, possible):
        s = structure(model, initial, chosen)
        known = dict(zip(numbers, chosen, strict=True))
        for execution in executions(s, test.threads, chosen, budget):
            if _met(execution, wanted, known, numbers):
                yield execution


def _met(execution: Execution, wanted: Condition, known: dict[int, Trace], numbers: list[int]) -> bool:
    """Whether the condition holds for some choice of the last write to each racy cell."""
    cells = sorted({t for t in terms(wanted) if isinstance(t, str)})
    last = execution.last_writes()
    events = execution.structure.events
    for final in product(*(sorted({events[w].value for w in last.get(cell, ())}) for cell in cells)):
        memory = dict(zip(cells, final, strict=True))

        def lookup(term: Lookup, memory: dict[str, int] = memory) -> int | None:
            return memory[term] if isinstance(term, str) else _register(term, known, numbers)

        if holds(wanted, lookup):
            return True
    return False


def _register(term: Lookup, known: dict[int, Trace], numbers: list[int]) -> int | None:
    if isinstance(term, int):
        return term
    if isinstance(term, str):
        return None
    thread, register = term
    if thread in known:
        return known[thread].registers.get(register, 0)
    return None if thread in numbers else 0


def terminates(test: LitmusTest, model: Model = Model.PTX_7_5, rounds: int = ROUNDS) -> Decision:
    """Whether every execution ends: all threads make progress, and what is written is seen in the end."""
    initial = dict(test.initial)
    _, traces = possible_values(test.threads, initial, rounds, {})
    bounded = any(t.ending is Ending.CUT for of_thread in traces for t in of_thread)
    kept = [[t for t in of_thread if t.ending is not Ending.CUT] for of_thread in traces]
    budget = Budget()
    for chosen in choices(kept, initial, lambda chosen: True):
        if all(t.ending is Ending.DONE for t in chosen):
            continue
        s = structure(model, initial, chosen)
        for execution in executions(s, test.threads, chosen, budget):
            if never_ends(execution):
                return Decision(False, execution, bounded)
    return Decision(True, None, bounded)
