"""A replayed pair as a finding in the words of ownership: who borrows what until when, and what would end it."""

from __future__ import annotations

from dataclasses import dataclass

from gpusafe.dataflow.happens_before import stream_of
from gpusafe.dataflow.host_replay import Schedule
from gpusafe.ir.host import Enqueue, Free, HostAccess, HostOp, HostPath
from gpusafe.prove.host.attribution import Owner
from gpusafe.prove.host.conflicts import Pair
from gpusafe.prove.host.near_miss import NearMiss, near_miss
from gpusafe.prove.host.wording import actor, borrow, infinitive, memory_name, passive, present, stream_name, the
from gpusafe.verdict import Counterexample, Site


@dataclass(frozen=True, slots=True)
class Story:
    """Everything that the texts about one pair need."""

    path: HostPath
    pair: Pair
    owner: Owner
    miss: NearMiss | None = None

    @property
    def first(self) -> HostOp:
        """The operation that comes first in the path."""
        return self.path.ops[self.pair.first.op]

    @property
    def second(self) -> HostOp:
        """The operation that comes second in the path."""
        return self.path.ops[self.pair.second.op]


def story(path: HostPath, pair: Pair, owner: Owner, missed: bool) -> Story:
    """Put a pair with the wait that misses, if that is wanted (``missed``) and there is one."""
    return Story(path, pair, owner, near_miss(path, pair.first.op, pair.second.op) if missed else None)


def rule_of(told: Story) -> str:
    """The rule that a pair falls under."""
    pair, first, second = told.pair, told.first, told.second
    modes = {pair.first.mode, pair.second.mode}
    if "free" in modes:
        graph = pair.first.mode == "free" and isinstance(second, Enqueue) and second.what == "graph"
        return "GS109" if graph else "GS103"
    if isinstance(first, HostAccess) or isinstance(second, HostAccess):
        return "GS104"
    kinds = {stream_of(told.path, op.stream).kind for op in (first, second) if isinstance(op, Enqueue)}
    if "legacy" in kinds and len(kinds) > 1:
        return "GS102"
    if told.miss is not None and told.miss.guard is not None:
        return "GS107"
    if "per_thread" in kinds:
        return "GS110"
    if told.miss is not None and told.miss.by_hand:
        return "GS108"
    return "GS101"


def counterexample(told: Story, schedule: Schedule, byte: int | None) -> Counterexample:
    """The finding for a refuted pair."""
    return Counterexample(
        headline(told),
        Site(told.second.frames[told.owner.depth].at, second_label(told)),
        related(told),
        notes(told, schedule, byte),
        advice(told),
    )


def headline(told: Story) -> str:
    """One line: what happens to what while something else still may."""
    path, first, second = told.path, told.pair.first, told.pair.second
    name = memory_name(path, second)
    if second.mode == "free":
        verb = "dropped" if "drop" in told.second.label else "freed"
        if first.mode == "alloc" and isinstance(told.first, Enqueue):
            return f"{name} is {verb} before {stream_name(path, told.first.stream)} has allocated it"
        return f"{name} is {verb} while {actor(path, first.op)} may still {infinitive(first)} it"
    if first.mode == "free":
        return f"{name} is {passive(second)} by {actor(path, second.op)} after it was freed"
    if first.mode == "alloc" and isinstance(told.first, Enqueue):
        before = f"before {stream_name(path, told.first.stream)} has allocated it"
        return f"{name} is {passive(second)} by {actor(path, second.op)} {before}"
    while_first = f"while {actor(path, first.op)} may still {infinitive(first)} it"
    if isinstance(told.second, HostAccess):
        return f"the host {present(second)} {name} {while_first}"
    return f"{name} is {passive(second)} by {actor(path, second.op)} {while_first}"


def first_label(told: Story) -> str:
    """The label at the first operation."""
    path, first = told.path, told.pair.first
    name = memory_name(path, first)
    if first.mode == "free":
        return f"{name} is freed here"
    if not isinstance(told.first, Enqueue):
        return f"{name} is {passive(first)} by the host here"
    stream = stream_name(path, told.first.stream)
    if first.mode == "alloc":
        return f"{name} is allocated here in the order of {stream}, and not there until that stream gets past it"
    return f"{name} is {borrow(first)} here by {the(told.first.label)} on {stream}, until that stream gets past it"


def second_label(told: Story) -> str:
    """The label at the second operation, or at the call that leads to it."""
    path, second = told.path, told.pair.second
    here = "here" if len(told.second.frames) == told.owner.depth + 1 else "in this call"
    if told.pair.first.mode == "free":
        return f"{passive(second)} {here} by {actor(path, second.op)}, when the memory is gone"
    source = f"{stream_name(path, told.first.stream)}" if isinstance(told.first, Enqueue) else the(told.first.label)
    if isinstance(told.second, Enqueue):
        on = stream_name(path, told.second.stream)
        if isinstance(told.first, Enqueue) and told.first.stream == told.second.stream:
            return f"{passive(second)} {here} on {on}"
        return f"{passive(second)} {here} on {on}, which nothing orders after {source}"
    return f"{passive(second)} {here} by the host, which has not waited for {source}"


def related(told: Story) -> tuple[Site, ...]:
    """The first operation, the ways to both through calls, the wait that misses, and the memory's declaration."""
    depth = told.owner.depth
    sites = [Site(told.first.span, first_label(told))]
    sites += _calls(told, depth)
    sites += [
        Site(frame.at, f"{the(told.first.label)} happens in this call of `{inner.function}`")
        for frame, inner in zip(told.first.frames[depth:], told.first.frames[depth + 1 :], strict=False)
        if inner.function != frame.function
    ]
    sites += _missed(told)
    memory = told.path.memory.get(told.pair.second.memory)
    if memory is not None:
        sites.append(Site(memory.span, f"{memory_name(told.path, told.pair.second)} comes from here"))
    return tuple(dict.fromkeys(sites))


def _calls(told: Story, depth: int) -> list[Site]:
    """The frames of the second operation below the common function (the first of those is the primary place)."""
    inner = told.second.frames[depth + 1 :]
    innermost = f"{passive(told.pair.second)} here by {the(told.second.label)}"
    return [Site(f.at, innermost if f is inner[-1] else f"in this call inside `{f.function}`") for f in inner]


def _missed(told: Story) -> list[Site]:
    miss, path = told.miss, told.path
    if miss is None:
        return []
    labels = {
        "early": "this record comes before the work, so that a wait for it does not cover the work",
        "again": "recorded again here, which replaces the earlier record",
    }
    sites = []
    if miss.record is not None:
        early = labels[miss.why]
        if miss.guard is not None:
            early = f"the {miss.guard.removeprefix('the ')} is dropped here, before the work is enqueued"
        sites.append(Site(path.ops[miss.record].span, early))
    label = "this wait finds the event not recorded yet, and waits for nothing"
    sites.append(Site(path.ops[miss.wait].span, label if miss.why == "never" else "this wait goes by that record"))
    return sites


def notes(told: Story, schedule: Schedule, byte: int | None) -> tuple[str, ...]:
    """The execution, the path, the missing edge."""
    path, pair = told.path, told.pair
    lines = [_execution(told, schedule)]
    if byte:
        lines.append(f"both touch byte {byte} of {memory_name(path, pair.second)}")
    if path.conditions:
        lines.append(f"on the path from `{path.root}` where {', '.join(path.conditions[:6])}")
    lines += _borrow_notes(told)
    return tuple(lines)


def _execution(told: Story, schedule: Schedule) -> str:
    path = told.path
    if told.pair.first.mode == "free" and schedule.first == told.pair.first.op and not _in_flight(schedule):
        return f"{the(told.first.label)} is over when {actor(path, schedule.second)} begins"
    held, other = actor(path, schedule.first), path.ops[schedule.second]
    if isinstance(other, HostAccess):
        return f"replayed: {held} has started and is not over, and the host goes ahead"
    started = actor(path, schedule.second) if isinstance(other, Enqueue) else the(other.label)
    return f"replayed: {held} has started and is not over, and {started} goes ahead"


def _in_flight(schedule: Schedule) -> bool:
    return all(step.what != "finish" or step.op != schedule.first for step in schedule.steps) and any(
        step.what == "start" and step.op == schedule.first for step in schedule.steps
    )


def _borrow_notes(told: Story) -> list[str]:
    """GS106: the kernel writes what the launch passes by shared borrow."""
    lines = []
    for access in (told.pair.first, told.pair.second):
        op = told.path.ops[access.op]
        if not isinstance(op, Enqueue) or access.arg is None or access.mode in ("read", "atomic"):
            continue
        if op.args[access.arg].passed == "ref" and access.doubt is None:
            name = memory_name(told.path, access)
            lines.append(
                f"{the(op.label)} passes {name} by shared borrow although the kernel writes it (GS106), "
                "so that only a read is tracked"
            )
    return lines


def advice(told: Story) -> tuple[str, ...]:
    """What to do."""
    path, first, second = told.path, told.first, told.second
    name = memory_name(path, told.pair.second)
    if told.pair.first.mode == "free":
        return (f"keep {name} alive for as long as {actor(path, told.pair.second.op)} may run",)
    lines = []
    if told.miss is not None and told.miss.guard is not None:
        lines.append("bind the guard to a name, and let it live until the work is enqueued")
    elif _borrow_notes(told):
        lines.append(f"pass {name} as `&mut`, so that the write is tracked")
    elif told.miss is not None and told.miss.by_hand:
        lines.append(f"record the event after {the(first.label)} is enqueued, and before the wait")
    if isinstance(first, Enqueue):
        source = stream_name(path, first.stream)
        if isinstance(second, Enqueue) and told.pair.second.mode != "free":
            target = stream_name(path, second.stream)
            lines.append(
                f"make {target} wait for {source}: record an event on {source} after {the(first.label)}, "
                f"and let {target} wait for it before {the(second.label)}"
            )
        elif isinstance(second, Free):
            lines.append(f"synchronize {source} before the drop, or keep {name} alive until then")
        elif isinstance(second, Enqueue):
            lines.append(f"make {stream_name(path, second.stream)} wait for {source} before {name} is freed")
        else:
            lines.append(f"synchronize {source}, or an event recorded on it after {the(first.label)}, before this")
    return tuple(lines)
