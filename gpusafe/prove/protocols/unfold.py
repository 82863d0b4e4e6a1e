"""The ways through one thread of a launch: every atomic read may return any value that its cell may hold.

The interpreter of this room: it runs the kernel IR with concrete numbers, and forks where a value of shared memory
comes in. What lies between two operations that can order something is one event.
"""

from __future__ import annotations

from typing import Any

from gpusafe.dataflow.concrete.evaluate import UNKNOWN, Unknowable
from gpusafe.ir import kernel as ir
from gpusafe.ir.expr import Expr
from gpusafe.prove.memory_model.unfold import Ending, Trace
from gpusafe.prove.protocols.state import Frame, State, Turn
from gpusafe.prove.protocols.steps import Steps
from gpusafe.prove.protocols.way import Cell, Stuck, Way, Who
from gpusafe.prove.protocols.world import World, name_of

STEPS = 60_000  # of one thread on all its ways
WAYS = 1_500
EVENTS = 40  # of one way
TURNS = 8  # of a loop that are compared


class Unfolder(Steps):
    """Follows one thread."""

    def __init__(self, world: World, who: Who, number: int) -> None:
        super().__init__(world, who, number)
        self.out: list[Way] = []
        self.stuck: dict[tuple[Any, ...], set[int]] = {}
        self.steps = 0

    def run(self) -> list[Way]:
        """All ways."""
        self.todo = [State(self._environment(), [Frame(self.world.kernel.body)])]
        while self.todo:
            if len(self.out) > WAYS:
                raise Unknowable("a thread has too many ways through it")
            self._follow(self.todo.pop())
        for (events, spans, uses, cell), values in self.stuck.items():
            trace = Trace(events, {}, Ending.SPINNING, len(events))
            self.out.append(
                Way(
                    self.who,
                    trace,
                    spans,
                    uses,
                    Stuck(cell, frozenset(values), name_of(cell) if cell is not None else ""),
                )
            )
        return self.out

    def _environment(self) -> dict[str, Any]:
        launch, (bx, by, bz) = self.world.launch, self.who.block
        env: dict[str, Any] = {f"param {k}": v for k, v in launch.params.items()}
        env |= {f"length {k}": v for k, v in launch.lengths.items()}
        for axis, n, g, c, t in zip("xyz", launch.block, launch.grid, (bx, by, bz), self.who.tid, strict=True):
            env |= {f"%ntid.{axis}": n, f"%nctaid.{axis}": g, f"%ctaid.{axis}": c, f"%tid.{axis}": t}
        x, y, z = self.who.tid
        number = x + launch.block[0] * (y + launch.block[1] * z)
        env |= {"%laneid": number % 32, "%warpid": number // 32, "%dynamic_smem_bytes": launch.shared_bytes}
        return env

    # -- control

    def _follow(self, state: State) -> None:
        """Runs until the way ends or forks; what is left of a fork is put aside."""
        while True:
            self.steps += 1
            self.world.budget.step()
            if self.steps > STEPS or len(state.events) > EVENTS:
                self._end(state, cut=True)
                return
            if not state.frames:
                self._end(state)
                return
            frame = state.frames[-1]
            if frame.at >= len(frame.body):
                if frame.loop is None:
                    state.frames.pop()
                elif not self._next_turn(state, frame):
                    return
                continue
            stmt = frame.body[frame.at]
            frame.at += 1
            if not self._statement(state, stmt):
                return

    def _statement(self, state: State, stmt: ir.Stmt) -> bool:
        """One statement; False when this way is over."""
        match stmt:
            case ir.If(cond=cond, then=then, orelse=orelse):
                value = self._branch(state, cond)
                if value is UNKNOWN:
                    other = state.copy()
                    other.frames.append(Frame(orelse))
                    self.todo.append(other)
                state.frames.append(Frame(then if value is UNKNOWN or value else orelse))
            case ir.Assume(cond=cond):
                value = self._branch(state, cond)
                if value is UNKNOWN:
                    self._end(state.copy())
                elif not value:
                    self._end(state)
                    return False
            case ir.Block(label=label, body=body):
                state.frames.append(Frame(body, label))
            case ir.Loop(label=label, body=body):
                waits = self.world.code.loop(stmt)[1]
                state.frames.append(Frame(body, label, stmt, 0, (self._turn(state, stmt),) if waits else ()))
            case ir.Break(label=label):
                self._leave(state, label)
                state.frames.pop()
            case ir.Continue(label=label):
                self._leave(state, label)
                return self._next_turn(state, state.frames[-1])
            case ir.Return():
                self._end(state)
                return False
            case _:
                return self.straight(state, stmt)
        return True

    def _branch(self, state: State, cond: Expr) -> Any:
        value = self._value(state, cond)
        state.control |= self._taint(state, cond)
        if value is UNKNOWN and self.world.charitable:
            raise Unknowable("a branch depends on a value that is not known")
        return value

    @staticmethod
    def _leave(state: State, label: str) -> None:
        while state.frames[-1].label != label:
            state.frames.pop()

    def _turn(self, state: State, loop: ir.Loop) -> Turn:
        self._flush(state)
        anew = self.world.code.loop(loop)[0]
        env = {k: v for k, v in state.env.items() if k not in anew}
        return Turn(len(state.events), env, dict(state.local))

    def _next_turn(self, state: State, frame: Frame) -> bool:
        """Starts the next turn of a loop, unless the last one has changed nothing: the thread waits."""
        assert frame.loop is not None
        frame.at = 0
        if not frame.turns:
            return True
        now = self._turn(state, frame.loop)
        before = next((t for t in reversed(frame.turns) if _alike(t, now)), None)
        turn = state.events[before.events :] if before is not None else []
        if before is not None and turn and not any(e.kind in "WD" for e in turn):
            reads = [e for e in turn if e.kind == "R"]
            if before is frame.turns[-1] and len(reads) == 1 and not any(e.kind == "F" for e in turn):
                self._wait(state, before.events, self._cell_of(reads[0]), reads[0].value)
            else:
                self._wait(state, len(state.events), None, 0)
            return False
        written = any(e.kind in "WD" for e in state.events[frame.turns[-1].events :])
        frame.turns = (now,) if written else (*frame.turns[-TURNS:], now)
        return True

    def _wait(self, state: State, end: int, cell: Cell | None, value: int) -> None:
        key = (tuple(state.events[:end]), tuple(state.spans[:end]), tuple(state.uses[:end]), cell)
        self.stuck.setdefault(key, set()).add(value)

    def _end(self, state: State, *, cut: bool = False) -> None:
        self._flush(state)
        trace = Trace(tuple(state.events), {}, Ending.CUT if cut else Ending.DONE)
        self.out.append(Way(self.who, trace, tuple(state.spans), tuple(state.uses), None, cut))


def _alike(one: Turn, two: Turn) -> bool:
    return _same(one.env, two.env) and _same(one.local, two.local)


def _same(a: dict[Any, Any], b: dict[Any, Any]) -> bool:
    """Whether two tables hold the same values; not, where one is not known."""
    return a.keys() == b.keys() and all(_equal(value, b[key]) for key, value in a.items())


def _equal(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if a is UNKNOWN or b is UNKNOWN or type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(_equal(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b)
