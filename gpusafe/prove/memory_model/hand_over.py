"""Whether a hand-over is ordered: one thread touches data and signals, another sees the signal and touches the data.

A second opinion on what the kernel prover takes for ordered (prove.pairs_handed_over): the few events of an idiom
become a litmus test, and the axioms say whether the second thread can miss what the first one did.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gpusafe.errors import GpusafeError
from gpusafe.ir import kernel as ir
from gpusafe.ir.expr import Const, Expr, PtrAdd, PtrBase
from gpusafe.ir.kernel import Order, Scope
from gpusafe.parse.litmus import (
    Barrier,
    Condition,
    Fence,
    Instruction,
    LitmusTest,
    Load,
    Location,
    Place,
    ReadModifyWrite,
    Store,
    ThreadCode,
)
from gpusafe.prove.memory_model.decide import Decision, decide
from gpusafe.prove.memory_model.models import Model

SCOPES: Mapping[Scope, str] = {
    Scope.WARP: "none",  # no scope of the PTX model: orders nobody else
    Scope.BLOCK: "cta",
    Scope.CLUSTER: "cluster",
    Scope.DEVICE: "gpu",
    Scope.SYSTEM: "sys",
}
_READS = {Order.ACQUIRE: "acquire", Order.ACQ_REL: "acquire", Order.SEQ_CST: "acquire"}
_WRITES = {Order.RELEASE: "release", Order.ACQ_REL: "release", Order.SEQ_CST: "release"}
# what an atomic of sequential consistency adds to acquire and release is left out: the answer errs to "not ordered"
_BOTH = {**{o: o.value for o in Order}, Order.SEQ_CST: "acq_rel", Order.WEAK: "relaxed"}
_FENCES = {
    Order.ACQUIRE: "acquire",
    Order.RELEASE: "release",
    Order.ACQ_REL: "acq_rel",
    Order.SEQ_CST: "sc",
}
_DATA = {"first": 1, "second": 2}


@dataclass(frozen=True, slots=True)
class Step:
    """One event of a thread: ``what`` is read, write, fence, barrier, or an atomic operation by its name in the IR."""

    what: str
    cell: str = ""
    order: Order = Order.WEAK
    scope: Scope = Scope.SYSTEM
    operands: tuple[int, ...] = ()


def steps(statements: Sequence[ir.Stmt]) -> tuple[Step, ...]:
    """The events of statements on the way on which everything is done once; a region counts as one cell."""
    return tuple(_steps(statements))


def _steps(statements: Sequence[ir.Stmt]) -> Iterator[Step]:
    todo = list(reversed(statements))
    while todo:
        match todo.pop():
            case ir.Load(ptr=ptr):
                yield Step("read", _region(ptr))
            case ir.Store(ptr=ptr):
                yield Step("write", _region(ptr))
            case ir.Atomic(op=op, ptr=ptr, operands=operands, order=order, scope=scope):
                yield Step(op, _region(ptr), order, scope, tuple(_number(o) for o in operands))
            case ir.Fence(order=order, scope=scope):
                yield Step("fence", order=order, scope=scope)
            case ir.Barrier(scope=scope, action="sync", relaxed=False):
                yield Step("barrier", scope=scope)
            case ir.If(then=then):
                todo.extend(reversed(then))
            case ir.Loop(body=body) | ir.Block(body=body):
                todo.extend(reversed(body))
            case ir.Assign() | ir.Break() | ir.Return() | ir.Assume() | ir.Continue():
                continue
            case other:
                raise GpusafeError(f"hand-over: {type(other).__name__} is not modelled")


def _region(pointer: Expr) -> str:
    while isinstance(pointer, PtrAdd):
        pointer = pointer.ptr
    if not isinstance(pointer, PtrBase):
        raise GpusafeError("hand-over: an address that is not a place in a region")
    return pointer.region


def _number(operand: Expr) -> int:
    if not isinstance(operand, Const):
        raise GpusafeError("hand-over: an operand that is not a constant")
    return int(operand.value)


def hand_over(
    first: Sequence[Step],
    second: Sequence[Step],
    data: str,
    signal: str,
    *,
    same_block: bool,
    between: Sequence[Sequence[Step]] = (),
    model: Model = Model.PTX_7_5,
) -> Decision:
    """Looks for an execution in which the second thread sees the first one's signal and yet misses its access of data.

    ``first`` and ``second`` each access ``data`` once. The signal is seen when the second thread's last read of it
    returns more than the first one's own operation found (0 for a store or an exchange); an empty name asks about the
    steps alone (barriers). ``between`` are more threads
    that take part, each in a block of its own. The hand-over is ordered when the decision's ``reachable`` is False.
    """
    threads = [
        _thread(0, first, Place(0, None, 0), data),
        _thread(1, second, Place(0 if same_block else 1, None, 0), data),
    ]
    threads += [_thread(n, code, Place(n, None, 0), data) for n, code in enumerate(between, 2)]
    missed = _missed(first, second, data)
    seen = _seen(first, second, signal)
    cells = sorted({s.cell for code in (first, second, *between) for s in code if s.cell})
    test = LitmusTest(
        "hand-over",
        tuple((cell, 0) for cell in cells),
        tuple(threads),
        "exists",
        missed if seen is None else Condition("and", (seen, missed)),
    )
    return decide(test, model)


def _thread(number: int, code: Sequence[Step], place: Place, data: str) -> ThreadCode:
    value = {0: 1, 1: 2}.get(number, 3)
    out = [i for at, step in enumerate(code) for i in _instruction(step, at, value, data)]
    return ThreadCode(number, place, (), tuple(out))


def _instruction(step: Step, at: int, value: int, data: str) -> Iterator[Instruction]:
    where, scope = Location(step.cell, step.cell), SCOPES[step.scope]
    register = f"r{at}"
    match step.what:
        case "read":
            yield Load(register, where, "weak", "sys", "generic")
        case "write":
            yield Store(where, value if step.cell == data else 1, "weak", "sys", "generic")
        case "load":
            yield Load(register, where, _READS.get(step.order, "relaxed"), scope, "generic")
        case "store":
            yield Store(where, step.operands[0], _WRITES.get(step.order, "relaxed"), scope, "generic")
        case "fence":
            if step.order in _FENCES:
                yield Fence(_FENCES[step.order], scope)
        case "barrier":
            if step.scope is not Scope.BLOCK:
                raise GpusafeError("hand-over: only block barriers are modelled")
            yield Barrier(0, None, None, False)
        case "add" | "sub" | "and" | "or" | "xor" | "min" | "max" | "exch" | "cas":
            yield ReadModifyWrite(register, where, step.what, step.operands, _BOTH[step.order], scope, "generic")
        case other:
            raise GpusafeError(f"hand-over: the operation {other} is not modelled")


def _access(code: Sequence[Step], data: str) -> tuple[int, bool]:
    found = [(at, s.what == "write") for at, s in enumerate(code) if s.cell == data]
    if len(found) != 1 or code[found[0][0]].what not in ("read", "write"):
        raise GpusafeError("hand-over: each side must read or write the data once")
    return found[0]


def _missed(first: Sequence[Step], second: Sequence[Step], data: str) -> Condition:
    """What cannot be when the first access comes before the second one."""
    (one, writes), (two, writes_too) = _access(first, data), _access(second, data)
    if writes and writes_too:
        return Condition("==", terms=(data, _DATA["first"]))
    if writes:
        return Condition("!=", terms=((1, f"r{two}"), _DATA["first"]))
    if writes_too:
        return Condition("==", terms=((0, f"r{one}"), _DATA["second"]))
    return Condition("or")


def _seen(first: Sequence[Step], second: Sequence[Step], signal: str) -> Condition | None:
    """That the second thread saw the signal; None where there is none but barriers."""
    reads = [at for at, s in enumerate(second) if signal and s.cell == signal and s.what not in ("store", "write")]
    if not reads:
        return None
    adds = [at for at, s in enumerate(first) if s.cell == signal and s.what == "add"]
    found: int | tuple[int, str] = (0, f"r{adds[-1]}") if adds else 0
    return Condition(">", terms=((1, f"r{reads[-1]}"), found))
