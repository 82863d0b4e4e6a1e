"""Statements of the kernel IR as Python code: plain functions, or generators where a thread may have to wait."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpusafe.dataflow.arith import fold
from gpusafe.dataflow.concrete.evaluate import UNKNOWN, Fn, Unknowable, compile_expr
from gpusafe.ir import kernel as ir
from gpusafe.ir.expr import Type
from gpusafe.ir.kernel import Scope
from gpusafe.span import Span

if TYPE_CHECKING:
    from gpusafe.dataflow.concrete.machine import Machine, _Thread

RETURN = object()
TRAP = object()


@dataclass(frozen=True, slots=True)
class Jump:
    """Leaving a labelled block or loop, or starting its next iteration."""

    label: str
    again: bool


@dataclass(frozen=True, slots=True)
class Wait:
    """A thread waits: for its warp, its block or the grid; ``combine`` computes each participant's result.

    ``source`` gives for a lane the one whose value a shuffle reads.
    """

    kind: str
    span: Span
    scope: Scope
    mask: int = 0xFFFF_FFFF
    value: Any = None
    combine: Callable[[list[Any]], list[Any]] | None = None
    source: Callable[[int], int | None] | None = None


Plain = Callable[[Any], object]
Gen = Callable[[Any], Generator[Wait, Any, object]]


@dataclass(frozen=True, slots=True)
class Code:
    """Compiled statements: exactly one of the two is set."""

    plain: Plain | None = None
    gen: Gen | None = None


class Program:
    """A kernel compiled for one machine."""

    def __init__(self, kernel: ir.Kernel, machine: Machine) -> None:
        self.machine = machine
        self.body = self.block(kernel.body)

    def start(self, thread: _Thread) -> Generator[Wait, Any, object]:
        """The running code of a thread."""
        if self.body.gen is not None:
            return self.body.gen(thread)
        return self._plain_as_gen(thread)

    def _plain_as_gen(self, thread: _Thread) -> Generator[Wait, Any, object]:
        assert self.body.plain is not None
        return self.body.plain(thread)
        yield  # makes this a generator

    def block(self, body: tuple[ir.Stmt, ...]) -> Code:
        """Statements in order."""
        codes = [self.statement(s) for s in body]
        step = self.machine.step
        if all(c.plain is not None for c in codes):
            plains = [c.plain for c in codes if c.plain is not None]

            def plain(t: Any) -> object:
                for one in plains:
                    step()
                    signal = one(t)
                    if signal is not None:
                        return signal
                return None

            return Code(plain=plain)

        def gen(t: Any) -> Generator[Wait, Any, object]:
            for code in codes:
                step()
                signal = code.plain(t) if code.plain is not None else (yield from code.gen(t))  # type: ignore[misc]
                if signal is not None:
                    return signal
            return None

        return Code(gen=gen)

    def statement(self, stmt: ir.Stmt) -> Code:
        """One statement."""
        match stmt:
            case ir.If():
                return self._if(stmt)
            case ir.Block(label=label, body=body):
                return self._labelled(label, self.block(body), False)
            case ir.Loop(label=label, body=body):
                return self._labelled(label, self.block(body), True)
            case ir.Break(label=label):
                leave = Jump(label, False)
                return Code(plain=lambda t: leave)
            case ir.Continue(label=label):
                again = Jump(label, True)
                return Code(plain=lambda t: again)
            case ir.Return():
                return Code(plain=lambda t: RETURN)
            case ir.Assume(cond=cond):
                test = compile_expr(cond)
                return Code(plain=lambda t: None if test(t.env) else TRAP)
            case ir.Barrier():
                return self._barrier(stmt)
            case ir.WarpOp():
                return self._warp_op(stmt)
            case ir.Fence() | ir.ProxyFence():
                return Code(plain=lambda t: None)
        return Code(plain=self._simple(stmt))

    def _simple(self, stmt: ir.Stmt) -> Plain:
        match stmt:
            case ir.Assign(var=var, value=value):
                fn = compile_expr(value)
                return lambda t: t.env.__setitem__(var, fn(t.env))
            case ir.Havoc(var=var):
                return lambda t: t.env.__setitem__(var, UNKNOWN)
            case ir.Load():
                return self._load(stmt)
            case ir.Store():
                return self._store(stmt)
            case ir.ExclusiveBorrow(ptr=ptr, size=size, span=span):
                at = compile_expr(ptr)
                access = self.machine.access
                return lambda t: _done(access(t, at(t.env), size, "borrow", span, True))
            case ir.Atomic():
                return self._atomic(stmt)
            case ir.AsyncCopy(kind="cp.async"):
                return self._copy(stmt)
            case ir.AsyncControl(kind="cp.async"):
                return self._copy_control(stmt)
        name = type(stmt).__name__

        def stop(t: Any) -> object:
            raise Unknowable(f"the replay does not model {name}")

        return stop

    def _load(self, stmt: ir.Load) -> Plain:
        at, var, type_, span, volatile = compile_expr(stmt.ptr), stmt.var, stmt.type, stmt.span, stmt.volatile
        machine = self.machine

        def load(t: Any) -> object:
            cell = machine.access(t, at(t.env), type_.bytes, "read", span, False, None, volatile)
            if var is not None:
                t.env[var] = machine.memory.read(*cell, type_) if cell is not None else UNKNOWN
            return None

        return load

    def _store(self, stmt: ir.Store) -> Plain:
        at, value, size, span, volatile = (
            compile_expr(stmt.ptr),
            compile_expr(stmt.value),
            stmt.size,
            stmt.span,
            stmt.volatile,
        )
        machine = self.machine

        def store(t: Any) -> object:
            cell = machine.access(t, at(t.env), size, "write", span, True, None, volatile)
            if cell is not None:
                machine.memory.write(*cell, size, value(t.env))
            return None

        return store

    def _atomic(self, stmt: ir.Atomic) -> Plain:
        at, operands, type_ = compile_expr(stmt.ptr), [compile_expr(o) for o in stmt.operands], stmt.type
        machine = self.machine

        def atomic(t: Any) -> object:
            cell = machine.access(t, at(t.env), type_.bytes, "atomic", stmt.span, stmt.op != "load", stmt.scope)
            old = machine.memory.read(*cell, type_) if cell is not None else UNKNOWN
            new = updated(stmt.op, old, [o(t.env) for o in operands], type_)
            if cell is not None and stmt.op != "load":
                machine.memory.write(*cell, type_.bytes, new)
            if stmt.var is not None:
                t.env[stmt.var] = old
            if stmt.success is not None:
                t.env[stmt.success] = old == operands[0](t.env)
            return None

        return atomic

    def _copy(self, stmt: ir.AsyncCopy) -> Plain:
        src, dst = compile_expr(stmt.src), compile_expr(stmt.dst)
        size = compile_expr(stmt.size) if stmt.size is not None else (lambda env: UNKNOWN)
        machine = self.machine

        def copy(t: Any) -> object:
            count = size(t.env)
            if count is UNKNOWN:
                raise Unknowable("the size of an asynchronous copy is not known")
            machine.access(t, src(t.env), count, "read", stmt.span, False)
            machine.copy_issued(t, dst(t.env), count, stmt.span)
            return None

        return copy

    def _copy_control(self, stmt: ir.AsyncControl) -> Plain:
        def control(t: Any) -> object:
            copies = t.copies
            if stmt.action == "commit":
                copies.groups.append(copies.open)
                copies.open = []
            elif stmt.action == "wait":
                copies.groups = copies.groups[-stmt.pending :] if stmt.pending else []
            else:
                copies.groups, copies.open = [], []
            return None

        return control

    def _if(self, stmt: ir.If) -> Code:
        test, then, orelse = compile_expr(stmt.cond), self.block(stmt.then), self.block(stmt.orelse)
        if then.plain is not None and orelse.plain is not None:
            a, b = then.plain, orelse.plain
            return Code(plain=lambda t: a(t) if test(t.env) else b(t))

        def gen(t: Any) -> Generator[Wait, Any, object]:
            code = then if test(t.env) else orelse
            return code.plain(t) if code.plain is not None else (yield from code.gen(t))  # type: ignore[misc]

        return Code(gen=gen)

    def _labelled(self, label: str, body: Code, loops: bool) -> Code:
        step = self.machine.step

        def after(signal: object) -> tuple[bool, object]:
            """Whether the construct goes on with another iteration, else what it ends with."""
            if signal is None:
                return loops, None
            if isinstance(signal, Jump) and signal.label == label:
                return signal.again and loops, None
            return False, signal

        if body.plain is not None:
            once = body.plain

            def plain(t: Any) -> object:
                while True:
                    step()
                    again, signal = after(once(t))
                    if not again:
                        return signal

            return Code(plain=plain)
        run = body.gen
        assert run is not None

        def gen(t: Any) -> Generator[Wait, Any, object]:
            while True:
                step()
                again, signal = after((yield from run(t)))
                if not again:
                    return signal

        return Code(gen=gen)

    def _barrier(self, stmt: ir.Barrier) -> Code:
        kind = {Scope.WARP: "warp", Scope.BLOCK: "block", Scope.DEVICE: "grid"}.get(stmt.scope)
        ident = compile_expr(stmt.ident) if stmt.ident is not None else None
        mask = compile_expr(stmt.mask) if stmt.mask is not None else None
        value = compile_expr(stmt.value) if stmt.value is not None else None
        if kind is None or stmt.action != "sync" or stmt.count is not None or stmt.relaxed:
            return Code(plain=self._simple(stmt))

        def gen(t: Any) -> Generator[Wait, Any, object]:
            if ident is not None and ident(t.env) != 0:
                raise Unknowable("the replay does not model named barriers")
            lanes = 0xFFFF_FFFF if mask is None else mask(t.env)
            if lanes is UNKNOWN:
                raise Unknowable("the mask of a warp barrier is not known")
            own = value(t.env) if value is not None else None
            combine = (lambda threads: _reduce(stmt.reduce, threads)) if value is not None else None
            result = yield Wait(kind, stmt.span, stmt.scope, int(lanes), own, combine)
            if stmt.var is not None:
                t.env[stmt.var] = result
            return None

        return Code(gen=gen)

    def _warp_op(self, stmt: ir.WarpOp) -> Code:
        mask: Fn = compile_expr(stmt.mask) if stmt.mask is not None else (lambda env: 0xFFFF_FFFF)
        operands = [compile_expr(o) for o in stmt.operands]

        def gen(t: Any) -> Generator[Wait, Any, object]:
            if stmt.op in ("activemask", "elect"):
                raise Unknowable(f"the replay does not model `{stmt.op}`")
            lanes = mask(t.env)
            if lanes is UNKNOWN:
                raise Unknowable("the mask of a warp operation is not known")
            if self.machine.partial:
                raise Unknowable("a warp operation needs all lanes")
            own = [o(t.env) for o in operands]
            result = yield Wait(
                "warp", stmt.span, Scope.WARP, int(lanes), own, lambda ts: _exchange(stmt.op, ts, stmt.type),
                lambda lane: _source(stmt.op, lane, own),
            )  # fmt: skip
            if stmt.var is not None:
                t.env[stmt.var] = result
            return None

        return Code(gen=gen)


def _done(_: object) -> None:
    return None


def updated(op: str, old: Any, operands: list[Any], type_: Type) -> Any:
    """The new value of a cell after an atomic operation."""
    value = operands[-1] if operands else UNKNOWN
    if op in ("store", "exch"):
        return value
    if old is UNKNOWN or value is UNKNOWN or operands[0] is UNKNOWN:
        return UNKNOWN
    match op:
        case "cas":
            return value if old == operands[0] else old
        case "fadd":
            return old + value
        case "fsub":
            return old - value
        case "inc":
            return 0 if old >= value else old + 1
        case "dec":
            return value if old == 0 or old > value else old - 1
        case "nand":
            return fold("~", (fold("&", (old, value), type_),), type_)
    sign = {"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^", "min": "min", "max": "max"}.get(op)
    return fold(sign, (old, value), type_) if sign is not None and type_.kind == "int" else UNKNOWN


def _reduce(how: str | None, threads: list[Any]) -> list[Any]:
    values = [t.request.value for t in threads]
    if any(v is UNKNOWN for v in values):
        return [UNKNOWN] * len(values)
    results = {"count": sum(bool(v) for v in values), "and": all(values), "or": any(values)}
    return [results.get(how or "", UNKNOWN)] * len(values)


def _exchange(op: str, threads: list[Any], type_: Type) -> list[Any]:
    """The results of a warp collective for its participants."""
    own = {t.number % 32: t.request.value for t in threads}
    if op in ("any", "all", "ballot"):
        values = {lane: v[0] for lane, v in own.items()}
        if any(v is UNKNOWN for v in values.values()):
            return [UNKNOWN] * len(threads)
        votes = sum(1 << lane for lane, v in values.items() if v)
        result = {"any": votes != 0, "all": all(values.values()), "ballot": votes}[op]
        return [result] * len(threads)
    if op == "match_any":
        keys = {lane: v[0] for lane, v in own.items()}
        if any(v is UNKNOWN for v in keys.values()):
            return [UNKNOWN] * len(threads)
        return [sum(1 << x for x, v in keys.items() if v == keys[t.number % 32]) for t in threads]
    if not op.startswith("shfl"):
        return [UNKNOWN] * len(threads)
    out = []
    for t in threads:
        lane, args = t.number % 32, t.request.value
        if len(args) < 2 or args[1] is UNKNOWN:
            out.append(UNKNOWN)
            continue
        source = _source(op, lane, args)
        out.append(args[0] if source is None else own[source][0] if source in own else UNKNOWN)
    return out


def _source(op: str, lane: int, args: list[Any]) -> int | None:
    """The lane whose value a shuffle gives to ``lane``; None where that is its own, or not known."""
    by = args[1] if len(args) > 1 else UNKNOWN
    if by is UNKNOWN or not op.startswith("shfl"):
        return None
    width = args[2] if len(args) > 2 and args[2] is not UNKNOWN and args[2] in (1, 2, 4, 8, 16, 32) else 32
    first = lane // width * width
    ways = {"shfl_idx": first + by % width, "shfl_up": lane - by, "shfl_down": lane + by, "shfl_xor": lane ^ by}
    source = int(ways[op])
    return source if first <= source < first + width else None
