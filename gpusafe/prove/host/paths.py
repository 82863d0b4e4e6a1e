"""Checks one path: every conflicting pair, and what is unknown on it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby

from gpusafe.dataflow.contracts import KernelSummary
from gpusafe.dataflow.effects import Effects, effects
from gpusafe.dataflow.happens_before import Ordering, order
from gpusafe.ir.host import ForeignContext, Gap, HostOp, HostPath
from gpusafe.prove.host.aliasing import aliased_arguments
from gpusafe.prove.host.attribution import Attribution, Owner, attribution
from gpusafe.prove.host.chances import sighting
from gpusafe.prove.host.conflicts import Pair, alias_class, made_on, makes, pairs
from gpusafe.prove.host.explain import Story, counterexample, rule_of, story
from gpusafe.prove.host.feasible import UNSETTLED, Feasible
from gpusafe.prove.host.initialized import uninitialized_reads
from gpusafe.prove.host.kernel_ranges import KernelRanges
from gpusafe.prove.host.ledger import Ledger
from gpusafe.prove.host.meetings import Meetings
from gpusafe.prove.host.verdicts import Decision, Judge
from gpusafe.prove.host.wording import memory_name, the
from gpusafe.prove.host.zeroed import zeroed_signals
from gpusafe.span import Span
from gpusafe.verdict import Counterexample, Obligation, Site, Verdict

PAIRS_LIMIT = 10_000
"""Pairs on one path that conflict and are not ordered."""


class PathCheck:
    """One path on its way into the ledger."""

    def __init__(self, path: HostPath, summaries: Mapping[str, KernelSummary], ledger: Ledger) -> None:
        self.path, self.ledger, self.summaries = path, ledger, summaries
        self.found: Effects = effects(path, summaries)
        self.ordering: Ordering = order(path)
        self.at: Attribution = attribution(path)
        self.ranges = KernelRanges(path, summaries)
        self.judge = Judge(path, order(path, charitable=True), self.ranges.separate, Meetings(path))
        self.feasible = Feasible(path)
        self.hopeless: set[tuple[int, int]] = set()
        self.harmless: set[tuple[int, int]] = set()

    def run(self) -> None:
        """Ask everything about the path."""
        unordered = 0
        for index, group in groupby(pairs(self.path, self.found, self.ordering), key=lambda pair: pair.second.op):
            together = list(group)
            self.pairs_of(together)
            unordered += sum(not pair.ordered for pair in together)
            if unordered > PAIRS_LIMIT:
                self.left_out(index)
                break
        for index, why in self.found.unresolved:
            self.unknown(index, "GS901", f"what {the(self.path.ops[index].label)} touches is known", why)
        for index, op in enumerate(self.path.ops):
            match op:
                case Gap():
                    self.gap(index, op)
                case ForeignContext():
                    self.foreign(index, op)
                case _:
                    pass
        for index, obligation in aliased_arguments(self.path, self.found, self.summaries):
            self.at_place(index, obligation)
        for index, obligation in uninitialized_reads(self.path, self.found, self.summaries, self.ranges):
            self.at_place(index, obligation, since=0)
        for index, obligation in zeroed_signals(self.path, self.found, self.summaries):
            self.at_place(index, obligation)

    def left_out(self, index: int) -> None:
        """The pairs of the operations after one are not looked at: whatever is on the path is not proved."""
        reason = (
            f"more than {PAIRS_LIMIT} pairs of operations on one path that nothing orders, and not all were looked at"
        )
        for op in self.path.ops:
            for depth, frame in enumerate(op.frames):
                owner = Owner(frame.function, frame.function_span, depth)
                if self.ledger.verdict(owner, ("left out", reason)) is None:
                    question = f"all pairs of operations in `{frame.function}` meet only in order"
                    obligation = Obligation("GS901", question, Verdict.UNKNOWN, self.path.ops[index].span, reason)
                    self.ledger.add(owner, ("left out", reason), obligation)

    def pairs_of(self, together: list[Pair]) -> None:
        """The pairs of one operation with earlier ones.

        Where it is not ordered after a use of the memory, the same is not said again of the allocation (and of the
        clearing that comes with it) that the use comes after on its stream.
        """
        told: set[tuple[str, str | None]] = set()
        for pair in sorted(together, key=lambda p: makes(self.path, p.first)):
            place = made_on(self.path, pair.first)
            if makes(self.path, pair.first) and not pair.ordered and place in told:
                continue
            if self.pair(pair) is not Verdict.PROVED:
                told.add(place)

    def pair(self, pair: Pair) -> Verdict:
        """Decide one pair and note it, unless nothing can become worse; its verdict."""
        places = self.at.places[pair.first.op], self.at.places[pair.second.op]
        if places in self.hopeless:
            return Verdict.REFUTED
        if pair.ordered and places in self.harmless:
            return Verdict.PROVED
        decision = self.judge.decide(pair)
        if decision.verdict is Verdict.REFUTED and not self.feasible.answer:
            never = self.feasible.answer is False
            decision = Decision(Verdict.PROVED) if never else Decision(Verdict.UNKNOWN, UNSETTLED)
        if decision.verdict is Verdict.PROVED and places in self.harmless:
            return Verdict.PROVED
        self.harmless.add(places)
        if decision.verdict is Verdict.REFUTED:
            self.hopeless.add(places)
        owner = self.at.owner(pair.first.op, pair.second.op)
        ends = (chain(self.path.ops[i], owner.depth) for i in (pair.first.op, pair.second.op))
        question = ("pair", *sorted(ends))
        if not self.ledger.settled(owner, question, decision.verdict):
            told = story(self.path, pair, owner, decision.verdict is Verdict.REFUTED)
            self.ledger.add(owner, question, self.obligation(told, decision))
        if decision.verdict is Verdict.REFUTED:
            self.ledger.saw(owner, question, sighting(self.path, pair.first.op, pair.second.op))
        return decision.verdict

    def obligation(self, told: Story, decision: Decision) -> Obligation:
        """The obligation that a pair's decision makes."""
        path, owner = self.path, told.owner
        name = memory_name(path, told.pair.second)
        question = f"{the(told.second.label)} meets {the(told.first.label)} on {name} only in order"
        shown: Counterexample | None = None
        if decision.schedule is not None:
            shown = counterexample(told, decision.schedule, decision.byte)
        span = told.second.frames[owner.depth].at
        reason = decision.reason
        if decision.verdict is Verdict.UNKNOWN and reason is not None:
            reason = f"{name}, {the(told.first.label)} and {the(told.second.label)}: {reason}"
        assumed = ("offsets into an allocation do not wrap around `usize`",) if decision.why == "disjoint" else ()
        return Obligation(rule_of(told), question, decision.verdict, span, reason, assumed, shown)

    def gap(self, index: int, op: Gap) -> None:
        """What is not modelled: the call itself, and whatever uses the same memory without the host having waited."""
        self.unknown(index, "GS902", f"{the(op.label)} leaves no work behind", op.reason)
        if not op.memory:
            self.after(index, op)
            return
        classes = {alias_class(self.path, memory) for memory in op.memory}
        for access in self.found.accesses:
            if alias_class(self.path, access.memory) not in classes or access.op == index:
                continue
            if access.op < index and self.ordering.orders(access.op, index):
                continue
            self.between(index, access.op, op.reason)

    def after(self, index: int, op: Gap) -> None:
        """A call that may do anything: no function that goes on after it is proved."""
        reason = f"{op.reason}; what it does to memory and order is not known"
        for later in self.path.ops[index:]:
            for depth, frame in enumerate(later.frames):
                owner = Owner(frame.function, frame.function_span, depth)
                if self.ledger.verdict(owner, ("after", reason)) is None:
                    question = f"all that happens before and in `{frame.function}` is modelled"
                    obligation = Obligation("GS902", question, Verdict.UNKNOWN, op.span, reason)
                    self.ledger.add(owner, ("after", reason), obligation)

    def between(self, gap: int, other: int, reason: str) -> None:
        """The order of an unmodelled call and another operation is not known."""
        owner = self.at.owner(gap, other)
        ends = (chain(self.path.ops[i], owner.depth) for i in (gap, other))
        op = self.path.ops[other]
        question = f"{the(op.label)} and {the(self.path.ops[gap].label)} meet only in order"
        obligation = Obligation("GS902", question, Verdict.UNKNOWN, op.frames[owner.depth].at, reason)
        self.ledger.add(owner, ("gap", *sorted(ends)), obligation)

    def unknown(self, index: int, rule: str, question: str, reason: str) -> None:
        """An obligation of the innermost function that cannot be settled."""
        op = self.path.ops[index]
        self.at_place(index, Obligation(rule, question, Verdict.UNKNOWN, op.span, reason), reason)

    def foreign(self, index: int, op: ForeignContext) -> None:
        """Objects of two contexts in one operation."""
        shown = Counterexample(
            f"{the(op.label)} brings together {op.first} and {op.second}, which belong to different contexts",
            Site(op.span, f"{op.first} and {op.second} meet here"),
            notes=("an address, stream or event is valid only in the context that it was made in",),
            help=("use objects of one context, or copy the data between the devices first",),
        )
        question = f"{the(op.label)} uses objects of one context"
        self.at_place(index, Obligation("GS115", question, Verdict.REFUTED, op.span, counterexample=shown))

    def at_place(self, index: int, obligation: Obligation, detail: str = "", since: int | None = None) -> None:
        """Note an obligation about one operation with the function that it is in.

        ``since``: the first operation that a refutation speaks of, where it speaks of the way from there.
        """
        op = self.path.ops[index]
        owner = Owner(op.frames[-1].function, op.frames[-1].function_span, len(op.frames) - 1)
        question = (obligation.rule, detail, op.span)
        judged = self.feasible.judged(obligation)
        if judged is None:
            return
        self.ledger.add(owner, question, judged)
        if since is not None and judged.verdict is Verdict.REFUTED:
            self.ledger.saw(owner, question, sighting(self.path, since, index))


def chain(op: HostOp, depth: int) -> tuple[Span, ...]:
    """The places from a function (by its depth) on down to the operation."""
    return tuple(frame.at for frame in op.frames[depth:])
