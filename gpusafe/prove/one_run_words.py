"""Faults that a run with clocks has shown, in the words that a user reads."""

from __future__ import annotations

from gpusafe.dataflow.clocks import Entry, Fault
from gpusafe.dataflow.concrete import ConcreteLaunch
from gpusafe.ir.kernel import Kernel, Region
from gpusafe.prove.counterexample import DOES, calls_to, element, geometry, race_rule, who
from gpusafe.verdict import Counterexample, Obligation, Site, Verdict

Triple = tuple[int, int, int]
RULES = {
    "fence": "GS303", "unwaited": "GS305", "refilled": "GS304", "started": "GS306", "ended": "GS306",
    "stuck": "GS304", "protocol": "GS304", "parted": "GS203", "lanes": "GS204",
}  # fmt: skip
ENDLESS = ("stuck", "parted", "lanes")
HEADLINES = {
    "race": "one thread of `{k}` {a} an element of `{r}` that another one {b}, and no barrier orders them",
    "fence": "a bulk copy of `{k}` uses `{r}` through the async proxy without a proxy fence after the stores to it",
    "unwaited": "a thread of `{k}` uses `{r}` before the bulk copy into it is complete",
    "refilled": "a bulk copy of `{k}` refills `{r}` while a thread may still use it",
    "started": "`{k}` uses the shared memory `{r}` of another block that may not have started",
    "ended": "`{k}` uses the shared memory `{r}` of another block that may have ended",
    "stuck": "a thread of `{k}` waits forever",
    "parted": "not all threads that a barrier of `{k}` counts reach it",
    "lanes": "not all lanes that a warp operation of `{k}` needs take part in it",
    "protocol": "an mbarrier of `{k}` expects other bytes than the copies bring",
}
HELP = {
    "race": "put a barrier between the two accesses that both threads take part in, and that releases and acquires",
    "fence": "execute `fence.proxy.async` in the threads that wrote, before the barrier that precedes the copy",
    "unwaited": "announce the copy's bytes (`expect_tx`) and wait for that phase of its mbarrier before the access",
    "refilled": "let the readers arrive on an `empty` barrier, and wait for it before the copy is issued again",
    "started": "put a cluster barrier before the first access to a peer's memory",
    "ended": "put a cluster barrier behind the last access to a peer's memory",
    "parted": "move the barrier out of the condition, so that every thread reaches it; guard the accesses instead",
    "lanes": "let all lanes that the mask names run the operation, or name only those that do",
    "stuck": "make the count of the barrier, and the parity that is waited for, agree with the arrivals",
    "protocol": "announce exactly the bytes of the copies that complete on the barrier in this phase",
}
QUESTIONS = {
    "fence": "the async proxy sees what was stored in `{r}`",
    "unwaited": "no asynchronous copy into `{r}` is used before its wait",
    "refilled": "no copy refills `{r}` while it is in use",
    "started": "the owners of `{r}` run while peers use it",
    "ended": "the owners of `{r}` run while peers use it",
    "stuck": "every wait for a barrier ends",
    "parted": "all threads that a barrier counts reach it",
    "lanes": "all lanes that a warp operation needs take part in it",
    "protocol": "the mbarriers expect the bytes that are copied",
    "race": "no two threads race on `{r}`",
}


def obligation(kernel: Kernel, shape: tuple[Triple, Triple, Triple], fault: Fault) -> Obligation:
    """The refuted obligation of a fault."""
    first, second = fault.first, fault.second
    region = next((r for r in kernel.regions if r.name == first.region), None)
    words = {"k": kernel.name, "r": first.region, "a": DOES[first.mode]}
    words["b"] = DOES[second.mode] if second is not None else ""
    launch = ConcreteLaunch(shape[0], shape[1])
    sites = [Site(e.span, _does(region, e, launch)) for e in (first, second) if e is not None]
    notes = [_geometry(launch, shape[2])]
    if fault.why:
        notes.append(fault.why)
    example = Counterexample(
        HEADLINES[fault.kind].format(**words),
        Site(first.span, f"{who(first.tid, first.block, launch)} waits here, and nothing ends the wait")
        if fault.kind in ENDLESS
        else sites[0],
        (*sites[1:], *calls_to(kernel, *(s.span for s in sites))),
        tuple(notes),
        (HELP[fault.kind],),
    )
    question = QUESTIONS[fault.kind].format(r=first.region)
    return Obligation(_rule(fault, region), question, Verdict.REFUTED, first.span, counterexample=example)


def _rule(fault: Fault, region: Region | None) -> str:
    if fault.kind == "unwaited" and fault.first.time >= 1 << 62:
        return "GS304"  # the phase never stood for the copy
    if fault.kind != "race" or fault.second is None:
        return RULES[fault.kind]
    return race_rule(region, fault.first, fault.second)


def _does(region: Region | None, e: Entry, launch: ConcreteLaunch) -> str:
    thread = who(e.tid, e.block, launch)
    if region is None:
        return thread
    return f"{'a copy issued by ' if e.copy else ''}{thread} {DOES[e.mode]} {element(region, e)}"


def _geometry(launch: ConcreteLaunch, cluster: Triple) -> str:
    words = geometry(launch)
    return words if cluster == (1, 1, 1) else f"{words} in clusters of {' x '.join(str(n) for n in cluster)}"
