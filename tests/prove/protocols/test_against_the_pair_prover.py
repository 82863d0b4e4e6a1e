"""What the pair prover takes for ordered, no execution of the same threads may race on: random protocols."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "kernels"))

from builder import Array, KernelBuilder, V, launch

from gpusafe.dataflow.concrete.evaluate import Unknowable
from gpusafe.ir import kernel as ir
from gpusafe.ir.expr import BOOL, U32, Const, Var
from gpusafe.ir.kernel import Kernel, Order, Scope
from gpusafe.prove.launch_context import LaunchContext, of_site
from gpusafe.prove.pairs_of_kernel import analyse
from gpusafe.prove.protocols.explore import Ground, found_races, ways_of
from gpusafe.prove.protocols.way import Who
from gpusafe.prove.protocols.world import Budget, Code
from gpusafe.prove.replay import concrete

SEEDS = 25
STORES = (Order.RELAXED, Order.RELEASE, Order.RELEASE)
LOADS = (Order.RELAXED, Order.ACQUIRE, Order.ACQUIRE)


def atomic(k: KernelBuilder, op: str, where: Array, values: tuple[int, ...], order: Order, scope: Scope) -> V:
    k.fresh += 1
    name = f"old{k.fresh}"
    operands = tuple(Const(U32, v) for v in values)
    result = None if op == "store" else name
    success = f"{name}?" if op == "cas" else None
    k.emit(ir.Atomic(k._span(), result, op, where.at(0), operands, U32, order, scope, success))
    return V(Var(BOOL, f"{name}?")) if op == "cas" else V(Var(U32, name))


class Protocol:
    """Random threads: each takes and frees locks, sets flags and waits for them, and touches data in between."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)
        self.k = KernelBuilder("protocol")
        self.data = self.k.pointer("data", U32)
        self.lock = self.k.pointer("lock", U32)
        self.flag = self.k.pointer("flag", U32)
        self.blocks = self.pick.choice((2, 2, 3))

    def scope(self) -> Scope:
        return self.pick.choice((Scope.DEVICE, Scope.DEVICE, Scope.DEVICE, Scope.SYSTEM, Scope.BLOCK))

    def build(self) -> Kernel:
        alike = self.pick.random() < 0.4
        if alike:
            self.thread(self.pick.randint(2, 5))
        else:
            for block in range(self.blocks):
                with self.k.when(self.k.block.eq(block)):
                    self.thread(self.pick.randint(1, 4))
        return self.k.build()

    def thread(self, length: int) -> None:
        for _ in range(length):
            part = (self.touch, self.touch, self.section, self.raise_flag, self.wait, self.look, self.fence, self.once)
            self.pick.choice(part)()

    def touch(self) -> None:
        if self.pick.random() < 0.5:
            self.k.load(self.data, 0)
        else:
            self.k.store(self.data, 0, 1)

    def fence(self) -> None:
        order = self.pick.choice((Order.ACQUIRE, Order.RELEASE, Order.ACQ_REL, Order.SEQ_CST))
        self.k.emit(ir.Fence(self.k._span(), order, self.scope()))

    def maybe(self, what: Callable[[], None], chance: float) -> None:
        if self.pick.random() < chance:
            what()

    def until(self, op: str, array: Array, values: tuple[int, ...], wanted: int) -> None:
        self.k.fresh += 1
        label = f"wait{self.k.fresh}"
        name = f"seen{self.k.fresh}"
        operands = tuple(Const(U32, v) for v in values)
        read = ir.Atomic(self.k._span(), name, op, array.at(0), operands, U32, self.pick.choice(LOADS), self.scope())
        done = V(Var(U32, name)).eq(wanted).expr
        leave = ir.If(self.k._span(), done, (ir.Break(self.k._span(), label),))
        self.k.emit(ir.Loop(self.k._span(), label, (read, leave)))

    def section(self) -> None:
        op, values = self.pick.choice((("cas", (0, 1)), ("exch", (1,))))
        self.until(op, self.lock, values, 0)
        self.maybe(self.fence, 0.3)
        self.touch()
        self.maybe(self.touch, 0.3)
        self.maybe(self.fence, 0.3)
        if self.pick.random() < 0.9:
            atomic(self.k, "store", self.lock, (0,), self.pick.choice(STORES), self.scope())

    def raise_flag(self) -> None:
        self.maybe(self.fence, 0.3)
        atomic(self.k, "store", self.flag, (self.pick.randint(1, 2),), self.pick.choice(STORES), self.scope())

    def wait(self) -> None:
        self.until("load", self.flag, (), self.pick.randint(1, 2))
        self.maybe(self.fence, 0.3)

    def look(self) -> None:
        seen = atomic(self.k, "load", self.flag, (), self.pick.choice(LOADS), self.scope())
        with self.k.when(seen.eq(self.pick.randint(1, 2))):
            self.maybe(self.fence, 0.3)
            self.touch()

    def once(self) -> None:
        won = atomic(self.k, "exch", self.flag, (self.pick.randint(1, 2),), self.pick.choice(LOADS), self.scope())
        with self.k.when(won.eq(0)):
            self.touch()


def races(kernel: Kernel, context: LaunchContext, blocks: int) -> bool | None:
    """Whether some execution races on the data; None where there are too many."""
    found = concrete(context, kernel, {}, 1)
    assert found is not None
    ground = Ground(kernel, found, frozenset({"data", "lock", "flag"}), False, Code(), Budget(200_000, 3_000))
    try:
        world, ways = ways_of(ground, [Who((b, 0, 0), (0, 0, 0)) for b in range(blocks)])
        return any(r.first.use.place == "data" for r in found_races(world, ways))
    except Unknowable:
        return None


@pytest.mark.parametrize("part", range(2))
def test_what_is_proved_apart_races_in_no_execution(part: int) -> None:
    proved = 0
    for seed in (*range(part * SEEDS, (part + 1) * SEEDS), 391, 753):
        protocol = Protocol(seed)
        kernel = protocol.build()
        context = of_site(kernel, launch(kernel, protocol.blocks, 1))
        analysis = analyse(kernel, context, rlimit=400_000)
        if any(q.failures for q in analysis.questions.values() if q.region == "data") or analysis.cut:
            continue
        proved += 1
        assert not races(kernel, context, protocol.blocks), f"seed {seed}"
    assert proved > 1
