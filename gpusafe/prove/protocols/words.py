"""A race of an execution in the words that a user reads."""

from __future__ import annotations

from gpusafe.dataflow.concrete import ConcreteLaunch
from gpusafe.ir.kernel import Kernel, Region, Space
from gpusafe.prove.counterexample import DOES, calls_to, geometry, who
from gpusafe.prove.memory_model import relation as rel
from gpusafe.prove.protocols.races import Race, Side, follows, narrow
from gpusafe.span import Span
from gpusafe.verdict import Counterexample, Site

HANDED = {
    "GS301": (
        "hands `{}` over by an atomic or a fence whose scope leaves out the other thread",
        "widen the scope of the atomic and the fences on both sides so that it includes both threads",
    ),
    "GS302": (
        "hands `{}` over without the order that it needs",
        "publish with release and take with acquire (or put a fence on each side of the signal)",
    ),
}

TOLD = 6  # reads of signals in one note


def in_words(kernel: Kernel, race: Race, launch: ConcreteLaunch) -> tuple[str, Counterexample]:
    """The rule and the counterexample."""
    name = race.first.use.place if isinstance(race.first.use.place, str) else race.first.use.place[0]
    region = next(r for r in kernel.regions if r.name == name)
    rule = rule_of(race, region)
    one, two = _in_order(race)
    sites = [Site(side.use.span, _label(race, side, region, launch)) for side in (two, one)]
    signals = _signals(race, launch)
    calls = calls_to(kernel, *(s.span for s in (*sites, *signals)))
    if rule in HANDED:
        what, help_ = HANDED[rule]
        message = f"one thread of `{kernel.name}` {what.format(name)}"
    else:
        verb = DOES[two.use.mode]
        message = f"one thread of `{kernel.name}` {verb} an element of `{name}` that another one {DOES[one.use.mode]}"
        help_ = "order the two accesses: a fence.sc between a store and the next load, or a compare-exchange"
    relied = signals_of(race)
    notes = [geometry(launch)]
    if relied:
        notes.append("with " + ", ".join(f"`{r}`" for r in relied) + " zero at the start")
    notes.append("an execution that the PTX memory model allows: " + "; ".join(_story(race, launch)))
    sides = (race.first.use, race.second.use)
    if any(u.data for u in sides):
        notes.append("contents of memory decide the address; the accesses meet for all contents that were tried")
    if any(u.branch for u in sides):
        notes.append(
            "whether the two meet depends on the contents of memory; the replay chose contents for which they do"
        )
    return rule, Counterexample(message, sites[0], (sites[1], *signals, *calls), tuple(notes), (help_,))


def signals_of(race: Race) -> tuple[str, ...]:
    """The regions of the signals that a race's execution reads or writes; they are taken to hold zeros first."""
    return tuple(dict.fromkeys(region for region, _, _ in _cells(race)))


def rule_of(race: Race, region: Region) -> str:
    """The rule that the race breaks."""
    modes = {race.first.use.mode, race.second.use.mode}
    if modes == {"atomic"} or narrow(race):
        return "GS301"
    if follows(race):
        return "GS302"
    if "borrow" in modes:
        return "GS208"
    if "atomic" in modes:
        return "GS206"
    if race.first.use.volatile and race.second.use.volatile:
        return "GS309"
    return "GS202" if region.space in (Space.SHARED, Space.DYNAMIC_SHARED) else "GS201"


def _in_order(race: Race) -> tuple[Side, Side]:
    """The two sides, the later one second."""
    s = race.execution.structure
    after = rel.closure(rel.union(s.po, race.execution.rf))
    if after[race.second.event] >> race.first.event & 1:
        return race.second, race.first
    return race.first, race.second


def _thread(race: Race, number: int, launch: ConcreteLaunch) -> str:
    way = race.ways[number]
    return who(way.who.tid, way.who.block, launch)


def _label(race: Race, side: Side, region: Region, launch: ConcreteLaunch) -> str:
    index, rest = divmod(side.use.offset, max(1, region.elem_bytes))
    at = f"`{region.name}[{index}]`" if rest == 0 else f"`{region.name}` at byte {side.use.offset}"
    return f"{_thread(race, side.thread, launch)} {DOES[side.use.mode]} {at}"


def _cells(race: Race) -> list[tuple[str, int, int]]:
    """The places of the events that read or write signals: region, offset, event."""
    out = []
    for i, event in enumerate(race.execution.structure.events):
        if event.location is not None and event.thread >= 0:
            region, _, offset = event.location.cell.rpartition("+")
            out.append((region, int(offset), i))
    return out


def _span(race: Race, event: int) -> Span | None:
    for way, start in zip(race.ways, race.execution.structure.starts, strict=True):
        if start <= event < start + len(way.trace.events):
            return way.spans[event - start]
    return None


def _signals(race: Race, launch: ConcreteLaunch) -> list[Site]:
    """Where the signals that pass between threads are written and read."""
    out: dict[Span, Site] = {}
    events = race.execution.structure.events
    for write, read in rel.pairs(race.execution.rf):
        one, two = events[write], events[read]
        if one.thread < 0 or one.thread == two.thread or one.location is None:
            continue
        cell = one.location.cell.partition("+")[0]
        for event, thread, does in ((write, one.thread, "writes"), (read, two.thread, "sees that in")):
            span = _span(race, event)
            if span is not None:
                out.setdefault(span, Site(span, f"{_thread(race, thread, launch)} {does} `{cell}`"))
    return list(out.values())


def _story(race: Race, launch: ConcreteLaunch) -> list[str]:
    """Who reads what from whom."""
    out = []
    events = race.execution.structure.events
    for write, read in rel.pairs(race.execution.rf):
        one, two = events[write], events[read]
        if one.location is None:
            continue
        region, _, _ = one.location.cell.partition("+")
        source = "the start" if one.thread < 0 else _thread(race, one.thread, launch)
        value = one.value if one.value >= 0 else "a value"
        out.append(f"{_thread(race, two.thread, launch)} reads {value} in `{region}` from {source}")
    if len(out) > TOLD:
        out = [f"{len(out) - TOLD} more reads of signals", *out[-TOLD:]]
    ends = "and nothing orders the two accesses" if out else "nothing orders the two accesses"
    return [*out, ends]
