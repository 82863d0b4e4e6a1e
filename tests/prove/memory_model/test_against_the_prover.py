"""What the kernel prover takes for handed over, the memory model must not let go stale."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pytest
from builder import Array, KernelBuilder, V, launch
from verdicts import verdict

from gpusafe.ir import kernel as ir
from gpusafe.ir.expr import U32, Const, Var
from gpusafe.ir.kernel import Order, Scope
from gpusafe.prove.launch_context import of_site
from gpusafe.prove.memory_model import hand_over, steps
from gpusafe.prove.pairs import RLIMIT, meet
from gpusafe.prove.pairs_of_kernel import execute, setting_of

Fence = tuple[Order, Scope] | None
Part = Callable[[], None]


@dataclass(frozen=True)
class Idiom:
    """A writer and a reader: orders and scopes of the signal's two ends, fences on both sides, who runs where."""

    signal: str
    set_order: Order = Order.RELAXED
    see_order: Order = Order.RELAXED
    set_scope: Scope = Scope.DEVICE
    see_scope: Scope = Scope.DEVICE
    before: Fence = None
    after: Fence = None
    same_block: bool = False
    first_reads: bool = False
    misplaced: bool = False


def atomic(k: KernelBuilder, op: str, where: Array, value: int | None, order: Order, scope: Scope) -> V:
    k.fresh += 1
    name = f"atomic{k.fresh}"
    operands = () if value is None else (Const(U32, value),)
    result = None if op == "store" else name
    k.emit(ir.Atomic(k._span(), result, op, where.at(0), operands, U32, order, scope))
    return V(Var(U32, name))


def fence(k: KernelBuilder, what: Fence) -> None:
    if what is not None:
        k.emit(ir.Fence(k._span(), *what))


def kernel(idiom: Idiom) -> tuple[ir.Kernel, list[ir.Stmt], list[ir.Stmt]]:
    """The kernel, and what its first and its second thread do."""
    k = KernelBuilder("pair")
    data, signal = k.pointer("data", U32), k.pointer("signal", U32)
    me = k.tid if idiom.same_block else k.block

    def touch(reads: bool) -> None:
        if reads:
            k.load(data, 0)
        else:
            k.store(data, 0, 1)  # type: ignore[arg-type]

    def body(part: Part) -> list[ir.Stmt]:
        outer, k.body = k.body, []
        part()
        inner, k.body = k.body, outer
        return inner

    def prepare() -> None:
        if idiom.misplaced:
            fence(k, idiom.before)
        touch(idiom.first_reads)
        if not idiom.misplaced:
            fence(k, idiom.before)

    def first() -> None:
        prepare()
        atomic(k, idiom.signal, signal, 1, idiom.set_order, idiom.set_scope)

    def take() -> None:
        if not idiom.misplaced:
            fence(k, idiom.after)
        touch(not idiom.first_reads)
        if idiom.misplaced:
            fence(k, idiom.after)

    def second() -> None:
        k.emit(ir.Loop(k._span(), "spin", tuple(body(wait))))
        take()

    def wait() -> None:
        seen = atomic(k, "load", signal, None, idiom.see_order, idiom.see_scope)
        k.emit(ir.If(k._span(), seen.ne(0).expr, (ir.Break(k._span(), "spin"),)))

    if idiom.signal == "add":  # both count, and whoever counts last goes on
        before = body(prepare)
        with k.when(me.eq(0)):
            k.body.extend(before)
        at = len(k.body)
        ticket = atomic(k, "add", signal, 1, idiom.set_order, idiom.set_scope)
        count, after = k.body[at:], body(take)
        with k.when(ticket.eq(1) & me.eq(1)):
            k.body.extend(after)
        return k.build(), [*before, *count], [*count, *after]
    one, two = body(first), body(second)
    k.emit(ir.If(k._span(), me.eq(0).expr, tuple(one), tuple(two)))
    return k.build(), one, two


SC = Order.SEQ_CST
ORDERS: dict[str, Callable[[Idiom, Scope], Idiom]] = {
    "nothing": lambda i, s: i,
    "fences": lambda i, s: replace(i, before=(SC, s), after=(SC, s)),
    "first fence only": lambda i, s: replace(i, before=(SC, s)),
    "second fence only": lambda i, s: replace(i, after=(SC, s)),
    "release and acquire fences": lambda i, s: replace(i, before=(Order.RELEASE, s), after=(Order.ACQUIRE, s)),
    "acquire and release fences": lambda i, s: replace(i, before=(Order.ACQUIRE, s), after=(Order.RELEASE, s)),
    "fences at the wrong places": lambda i, s: replace(i, before=(SC, s), after=(SC, s), misplaced=True),
    "release and acquire": lambda i, s: replace(
        i, set_order=Order.ACQ_REL if i.signal == "add" else Order.RELEASE, see_order=Order.ACQUIRE
    ),
    "release only": lambda i, s: replace(i, set_order=Order.RELEASE),
    "acquire only": lambda i, s: replace(i, see_order=Order.ACQUIRE),
    "acquire and release": lambda i, s: replace(i, set_order=Order.ACQUIRE, see_order=Order.RELEASE),
    "release and a fence": lambda i, s: replace(i, set_order=Order.RELEASE, after=(SC, s)),
}
SCOPES = {
    "block": (Scope.BLOCK, Scope.BLOCK, Scope.BLOCK),
    "device": (Scope.DEVICE, Scope.DEVICE, Scope.DEVICE),
    "system": (Scope.SYSTEM, Scope.SYSTEM, Scope.SYSTEM),
    "device, fences of the block": (Scope.DEVICE, Scope.DEVICE, Scope.BLOCK),
    "seen at block scope": (Scope.DEVICE, Scope.BLOCK, Scope.DEVICE),
    "set at block scope": (Scope.BLOCK, Scope.DEVICE, Scope.DEVICE),
    "fences of the warp": (Scope.DEVICE, Scope.DEVICE, Scope.WARP),
}

FEW = ("block", "device", "device, fences of the block")


def idioms() -> Iterator[tuple[str, Idiom]]:
    for signal in ("store", "exch", "add"):
        for order, fill in ORDERS.items():
            if signal == "store" and order == "acquire and release":
                continue
            if signal == "add" and order in ("release only", "acquire only"):
                continue  # both ends are one operation
            for scope, (sets, sees, fences) in SCOPES.items():
                if signal != "exch" and scope not in FEW:
                    continue
                for same_block in (False, True):
                    base = Idiom(signal, set_scope=sets, see_scope=sees, same_block=same_block)
                    name = f"{signal}, {order}, {scope}, {'one block' if same_block else 'two blocks'}"
                    yield name, fill(base, fences)


def ordered(idiom: Idiom) -> bool:
    """The memory model's word."""
    _, one, two = kernel(idiom)
    return not hand_over(steps(one), steps(two), "data", "signal", same_block=idiom.same_block).reachable


def accepted(idiom: Idiom) -> bool:
    """Whether the prover takes the two accesses of the data for ordered, whatever else it says of the kernel."""
    made = kernel(idiom)[0]
    context = of_site(made, launch(made, *((1, 2) if idiom.same_block else (2, 1))))
    trace = execute(made, context)
    setting = setting_of(made, trace, context, RLIMIT)
    one, two = (a for a in trace.accesses if a.region == "data")
    return meet(setting, one, two, idiom.same_block).status == "unsat"


ALL = dict(idioms())


@pytest.mark.parametrize("first_reads", [False, True], ids=["data is written first", "data is read first"])
def test_the_prover_accepts_no_hand_over_that_the_memory_model_lets_go_stale(first_reads: bool) -> None:
    cases = {
        name: replace(idiom, first_reads=first_reads)
        for name, idiom in ALL.items()
        if idiom.signal == "exch" or not first_reads
    }
    loose = {name: idiom for name, idiom in cases.items() if not ordered(idiom)}
    assert 0 < len(loose) < len(cases)
    assert [name for name, idiom in loose.items() if accepted(idiom)] == []


@pytest.mark.parametrize("signal", ["store", "exch", "add"])
@pytest.mark.parametrize("how", ["fences", "release and acquire fences", "release and acquire", "release and a fence"])
@pytest.mark.parametrize("place", ["device, two blocks", "block, one block"])
def test_what_is_ordered_is_accepted_so_the_comparison_says_something(signal: str, how: str, place: str) -> None:
    idiom = ALL[f"{signal}, {how}, {place}"]
    assert ordered(idiom) and accepted(idiom)


@pytest.mark.parametrize(("fences", "verdict_"), [("fences", "proved"), ("first fence only", "refuted")])
def test_the_verdicts_of_whole_kernels_follow(fences: str, verdict_: str) -> None:
    made = kernel(ALL[f"exch, {fences}, device, two blocks"])[0]
    found = verdict(made, launch(made, 2, 1))
    assert found == verdict_ or (verdict_ == "refuted" and found == "unknown")


def test_a_third_thread_of_narrow_scope_breaks_the_chain_and_the_kernel_is_not_proved() -> None:
    k = KernelBuilder("three")
    data, signal = k.pointer("data", U32), k.pointer("signal", U32)
    with k.when(k.block.eq(0)):
        k.store(data, 0, 1)
        k.fence()
        k.exchange(signal, 0, 1)
    with k.when(k.block.eq(1)):
        k.wait_for(signal, 0)
        k.fence()
        k.load(data, 0)
    with k.when(k.block.eq(2)):
        k.atomic_add(signal, 0, 0, Scope.BLOCK)
    made = k.build()
    one, two, three = (steps((s,)) for s in made.body if isinstance(s, ir.If))
    assert not hand_over(one, two, "data", "signal", same_block=False).reachable
    assert hand_over(one, two, "data", "signal", same_block=False, between=(three,)).reachable
    assert verdict(made, launch(made, 3, 1)) != "proved"
