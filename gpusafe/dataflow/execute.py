"""Symbolic execution of a kernel for one generic thread.

Branches are merged by selection, loops are summarised (gpusafe.dataflow.loops), and every access is recorded with the
conditions under which the thread gets there.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from gpusafe.dataflow import loops
from gpusafe.dataflow import phases as ph
from gpusafe.dataflow.accesses import Access, AtomicResult, BarrierPoint, Context, Fact, FencePoint, Gap, OwnUse, Trace
from gpusafe.dataflow.async_copies import Copy
from gpusafe.dataflow.phases import Phase, PhasePoint
from gpusafe.dataflow.state import Exits, State, merge
from gpusafe.dataflow.terms import Term, Terms
from gpusafe.dataflow.uniformity import WARP
from gpusafe.dataflow.values import Bindings, Target, Values, targets
from gpusafe.ir import kernel as ir
from gpusafe.ir.expr import BOOL, U64, Const, Expr, Type
from gpusafe.ir.kernel import Scope, Space
from gpusafe.span import Span

DEPTH_LIMIT = 60
STEP_LIMIT = 20_000
WARP_UNIFORM = frozenset({"any", "all", "ballot"})  # not activemask: lanes may ask at different times


class LimitReached(Exception):
    """The kernel is too deep or too long for this analysis; the message is for the user."""


class Executor:
    """Executes one kernel under bindings; the result is ``trace``. Used once.

    ``banned`` names loop variables (loop, variable) that have no closed form because their steps may overflow.
    """

    def __init__(
        self, kernel: ir.Kernel, terms: Terms, bindings: Bindings, banned: frozenset[tuple[str, str]] = frozenset()
    ) -> None:
        self.kernel = kernel
        self.terms = terms
        self.regions = {r.name: r for r in kernel.regions}
        self.bindings = bindings
        self.values = Values(terms, bindings)
        self.trace = Trace(terms)
        self.banned = banned
        self.exits: dict[str, Exits] = {}
        self.convoys: dict[Term, frozenset[Term]] = {}  # masks of lanes, and the conditions that these lanes share
        self.undecided: set[Hashable] = set()  # loops that cannot be unrolled from what is known at their head
        self.loops: tuple[Term, ...] = ()
        self.path: tuple[int, ...] = ()  # which copy of the unrolled loops around
        self.counter = 0
        self.steps = 0
        self.depth = 0

    def run(self) -> Trace:
        """Executes the whole body."""
        state = State({}, (), ph.start(self.terms))
        for cond in (*self.kernel.requires, *self.kernel.assumes):
            self.trace.facts.append(Fact((), self.values.evaluate(cond, {}), len(self.trace.facts)))
        try:
            self.block(self.kernel.body, state)
        except LimitReached as limit:
            self.trace.gaps.append(Gap(str(limit), self.kernel.span))
        return self.trace

    def block(self, body: Sequence[ir.Stmt], state: State | None) -> State | None:
        """Executes statements in order; None when no way leads to the end."""
        self.depth += 1
        if self.depth > DEPTH_LIMIT:
            raise LimitReached("the kernel nests more deeply than gpusafe follows")
        for stmt in body:
            if state is None:
                break
            self.steps += 1
            if self.steps > STEP_LIMIT:
                raise LimitReached("the kernel is longer than gpusafe follows")
            state = self.statement(stmt, state)
        self.depth -= 1
        return state

    def statement(self, stmt: ir.Stmt, state: State) -> State | None:
        """Executes one statement."""
        match stmt:
            case ir.If():
                return self._branch(stmt, state)
            case ir.Block(label=label, body=body):
                outer = self.exits.get(label)
                self.exits[label] = exits = Exits()
                end = self.block(body, state)
                self._restore(label, outer)
                return merge(self.terms, [*exits.leave, *([end] if end else [])])
            case ir.Loop():
                return loops.execute(self, stmt, state)
            case ir.Break(label=label):
                self.exits.setdefault(label, Exits()).leave.append(state)
                return None
            case ir.Continue(label=label):
                self.exits.setdefault(label, Exits()).again.append(state)
                return None
            case ir.Return():
                return None
            case ir.Barrier():
                return self._barrier(stmt, state)
        self._simple(stmt, state)
        return state

    def _restore(self, label: str, outer: Exits | None) -> None:
        if outer is None:
            self.exits.pop(label, None)
        else:
            self.exits[label] = outer

    def _branch(self, stmt: ir.If, state: State) -> State | None:
        cond = self.values.evaluate(stmt.cond, state.env)
        if cond.op == "const":
            return self.block(stmt.then if cond.data else stmt.orelse, state)
        then = self.block(stmt.then, state.under(cond))
        orelse = self.block(stmt.orelse, state.under(self.terms.neg(cond)))
        return merge(self.terms, [s for s in (then, orelse) if s is not None])

    def _simple(self, stmt: ir.Stmt, state: State) -> None:
        env = state.env
        match stmt:
            case ir.Assign(var=var, value=value):
                env[var] = self.values.evaluate(value, env)
            case ir.Havoc(var=var, type=t, reason=reason):
                env[var] = self.unknown(var, t, reason)
            case ir.Load():
                self._load(stmt, state)
            case ir.Store():
                self._store(stmt, state)
            case ir.ExclusiveBorrow(ptr=ptr, size=size):
                for target in self.targets(ptr, state, stmt.span):
                    self.record(target, size, "borrow", state, stmt.span, True)
            case ir.Atomic():
                self._atomic(stmt, state)
            case ir.WarpOp():
                self._warp_op(stmt, state)
            case ir.Assume(cond=cond):
                self.fact(state, self.values.evaluate(cond, env))
            case ir.Fence(order=order, scope=scope):
                self.trace.fences.append(FencePoint(order, scope, self.context(state), self.number()))
            case ir.ProxyFence():
                pass
            case ir.Unmodelled(what=what, accesses=a, syncs=s):
                self.trace.gaps.append(Gap(what, stmt.span, a, s))
            case ir.MBarrier(var=var):
                self._gap(f"the memory barrier operation `{stmt.op}`", stmt.span)
                if var is not None:
                    env[var] = self.unknown(var, BOOL, "is the result of a memory barrier operation")
            case ir.AsyncCopy():
                self._async_copy(stmt, state)
            case ir.AsyncControl():
                self._async_control(stmt, state)
            case _:
                self._gap(f"a statement of kind {type(stmt).__name__}", stmt.span)

    def _gap(self, what: str, span: Span) -> None:
        self.trace.gaps.append(Gap(what, span))

    def fact(self, state: State, cond: Term) -> None:
        """From here on ``cond`` holds for threads that came this way."""
        if cond is not self.terms.true:
            self.trace.facts.append(Fact(state.guard, cond, len(self.trace.facts)))

    def number(self) -> int:
        """A new number, the same in every execution of the same kernel."""
        self.counter += 1
        return self.counter

    def unknown(self, name: str, type_: Type, reason: str, shared: str = "thread") -> Term:
        """A value that is not known: one for each thread (or block, warp) and loop iteration."""
        return self.terms.make("fresh", type_, self.loops, (f"{name}#{self.number()}", shared, reason))

    def context(self, state: State) -> Context:
        """The conditions of this place."""
        return Context(state.guard, len(self.trace.facts), state.phases, self.loops)

    def targets(self, ptr: Expr, state: State, span: Span) -> list[Target]:
        """The known targets of a pointer; an unknown one is noted as a gap."""
        out = []
        for target in targets(self.terms, self.values.evaluate(ptr, state.env)):
            if target.region is None or target.region not in self.regions:
                self.trace.gaps.append(Gap(target.reason or f"memory `{target.region}`", span, True, False))
            else:
                out.append(self._in_memory(target))
        return out

    def _in_memory(self, target: Target) -> Target:
        """The target in terms of the object that holds it (arguments that are views of one buffer)."""
        same = self.bindings.same_memory.get(target.region or "")
        if same is None:
            return target
        return Target(target.cond, same[0], self.terms.make("sum", U64, (target.offset, same[1])), target.reason)

    def record(
        self,
        target: Target,
        size: int,
        mode: str,
        state: State,
        span: Span,
        writes: bool,
        *,
        volatile: bool = False,
        atomic: ir.Atomic | None = None,
        pending: bool = False,
    ) -> Access:
        """Records an access to one target."""
        assert target.region is not None
        if writes and self.regions[target.region].space is Space.CONSTANT:
            self._gap(f"a write to `{target.region}`, which is constant memory", span)
        context = self.context(state.under(target.cond))
        access = Access(
            target.region,
            target.offset,
            size,
            mode,
            context,
            span,
            self.number(),
            writes,
            volatile,
            atomic.op if atomic else None,
            atomic.order if atomic else ir.Order.WEAK,
            atomic.scope if atomic else None,
            pending,
        )
        if self.regions[target.region].space is not Space.LOCAL:
            self.trace.accesses.append(access)
        elif not self._plainly_inside(access):
            self.trace.private.append(access)
        if not pending:
            self.trace.own_uses += [OwnUse(access, c) for c in state.pending.copies if c.region == access.region]
        return access

    def _plainly_inside(self, access: Access) -> bool:
        region = self.regions[access.region]
        offset = constant_bytes(access.offset)
        if offset is None or not isinstance(region.length, Const):
            return False
        return 0 <= offset <= int(region.length.value) * region.elem_bytes - access.size

    def _load(self, stmt: ir.Load, state: State) -> None:
        value: Term | None = None
        for target in self.targets(stmt.ptr, state, stmt.span):
            access = self.record(target, stmt.type.bytes, "read", state, stmt.span, False, volatile=stmt.volatile)
            seen = self._loaded(access, stmt, state)
            value = seen if value is None else self.terms.select(target.cond, seen, value)
        if stmt.var is not None:
            state.env[stmt.var] = (
                value
                if value is not None
                else self.unknown(stmt.var, stmt.type, "is read through a pointer that is not known")
            )

    def _loaded(self, access: Access, stmt: ir.Load, state: State) -> Term:
        region = self.regions[access.region]
        if region.space is Space.LOCAL:
            offset = constant_bytes(access.offset)
            cell = state.env.get(f"{region.name}@{offset}:{stmt.type.bytes}") if offset is not None else None
            if cell is not None and cell.type == stmt.type:
                return cell
            return self.unknown(region.name, stmt.type, f"is read from the local array `{region.name}`")
        if stmt.volatile:
            return self.unknown(region.name, stmt.type, f"is a volatile read of `{region.name}`")
        phase = access.context.phases.block
        shape = tuple((p.barrier, len(p.at)) for _, p in phase)
        parts = [t for g, p in phase for t in (g, *p.at)]
        data = (region.name, access.seq, shape, len(self.loops))
        return self.terms.make("load", stmt.type, (access.offset, *self.loops, *parts), data)

    def _store(self, stmt: ir.Store, state: State) -> None:
        found = self.targets(stmt.ptr, state, stmt.span)
        for target in found:
            access = self.record(target, stmt.size, "write", state, stmt.span, True, volatile=stmt.volatile)
            region = self.regions[access.region]
            if region.space is not Space.LOCAL:
                if len(found) == 1:
                    self.trace.stored[access.seq] = self.values.evaluate(stmt.value, state.env)
                continue
            offset = constant_bytes(access.offset)
            prefix = f"{region.name}@"
            keep = offset is not None and len(found) == 1
            for cell in [c for c in state.env if c.startswith(prefix)]:
                at, _, size = cell[len(prefix) :].partition(":")
                if offset is None or not (int(at) + int(size) <= offset or offset + stmt.size <= int(at)):
                    del state.env[cell]
            if keep:
                state.env[f"{prefix}{offset}:{stmt.size}"] = self.values.evaluate(stmt.value, state.env)

    def _atomic(self, stmt: ir.Atomic, state: State) -> None:
        writes = stmt.op != "load"
        operands = tuple(self.values.evaluate(o, state.env) for o in stmt.operands)
        old: Term | None = None
        for target in self.targets(stmt.ptr, state, stmt.span):
            access = self.record(target, stmt.type.bytes, "atomic", state, stmt.span, writes, atomic=stmt)
            term = self.terms.make(
                "atomic", stmt.type, (access.offset, *operands, *self.loops), (access.region, access.seq, stmt.op)
            )
            self.trace.atomics.append(AtomicResult(term, access, operands, stmt.type))
            old = term if old is None else self.terms.select(target.cond, term, old)
        if old is None:
            old = self.unknown("atomic", stmt.type, "is the result of an atomic on memory that is not known")
        if stmt.var is not None:
            state.env[stmt.var] = old
        if stmt.success is not None:
            state.env[stmt.success] = (
                self.terms.binary("==", old, operands[0])
                if stmt.op == "cas"
                else self.unknown(stmt.success, BOOL, "tells whether an atomic succeeded")
            )

    def _warp_op(self, stmt: ir.WarpOp, state: State) -> None:
        mask = self.values.evaluate(stmt.mask, state.env) if stmt.mask is not None else None
        convoy = self.convoys.get(mask) if mask is not None else None
        if stmt.op not in ("activemask", "elect") and convoy != frozenset(state.guard):
            name = f"{stmt.span.line}:{stmt.span.col}{list(self.path) or ''}#{self.number()}"
            self.trace.barriers.append(BarrierPoint(name, Scope.WARP, self.context(state), stmt.span, mask))
        if stmt.var is None:
            return
        full = mask is None or mask.const in (0xFFFF_FFFF, -1)
        values = [self.values.evaluate(o, state.env) for o in stmt.operands]
        shared = "warp" if full and (stmt.op in WARP_UNIFORM or stmt.op.startswith("redux")) else "thread"
        if full and stmt.op == "shfl_idx" and len(stmt.operands) > 1:
            lane = self.values.evaluate(stmt.operands[1], state.env)
            width = self.values.evaluate(stmt.operands[2], state.env).const if len(stmt.operands) > 2 else 32
            agreed = width in (32, 0x1F) and loops.uniformity(self).level(lane) <= WARP
            shared = "warp" if agreed else "thread"
        state.env[stmt.var] = self.unknown(
            stmt.var, stmt.type, f"is the result of the warp operation `{stmt.op}`", shared
        )
        self._convoy(stmt, state, full)
        if full:
            self._between_lanes(stmt, values, state.env[stmt.var])

    def _between_lanes(self, stmt: ir.WarpOp, values: list[Term], result: Term) -> None:
        """Notes what a vote of a whole warp was on, and from where a shuffle takes its value."""
        if stmt.op == "ballot":
            self.trace.ballots[result] = values[0]
        elif stmt.op == "shfl_idx" and len(values) > 1 and (len(values) == 2 or values[2].const in (32, 0x1F)):
            self.trace.shuffles[result] = (values[0], values[1])

    def _convoy(self, stmt: ir.WarpOp, state: State, full: bool) -> None:
        """Notes under which conditions the lanes that a warp operation gives as a mask run."""
        assert stmt.var is not None
        own: tuple[Term, ...] = ()
        if stmt.op == "ballot" and full:
            own = (self.values.evaluate(stmt.operands[0], state.env),)
        elif stmt.op not in ("activemask", "match_any"):
            return
        self.convoys[state.env[stmt.var]] = frozenset((*state.guard, *own))

    def _async_copy(self, stmt: ir.AsyncCopy, state: State) -> None:
        size = self.values.evaluate(stmt.size, state.env).const if stmt.size is not None else None
        if stmt.kind != "cp.async" or size is None:
            self._gap("an asynchronous bulk copy", stmt.span)
            for pointer, mode in ((stmt.src, "read"), (stmt.dst, "write")):
                for target in self.targets(pointer, state, stmt.span):
                    self.record(target, size or 16, mode, state, stmt.span, mode == "write", pending=True)
            return
        for target in self.targets(stmt.src, state, stmt.span):
            self.record(target, size, "read", state, stmt.span, False)
        for target in self.targets(stmt.dst, state, stmt.span):
            access = self.record(target, size, "write", state, stmt.span, True, pending=True)
            copy = Copy(access.region, access.offset, size, access.context.guard, stmt.span)
            state.pending = state.pending.issue(copy)

    def _async_control(self, stmt: ir.AsyncControl, state: State) -> None:
        if stmt.kind != "cp.async" or stmt.action not in ("commit", "wait", "wait_all"):
            self._gap("an asynchronous bulk copy", stmt.span)
        elif stmt.action == "commit":
            state.pending = state.pending.commit()
        elif stmt.action == "wait":
            state.pending = state.pending.wait(stmt.pending)
        else:
            state.pending = state.pending.wait_all()

    def _still_copying(self, state: State, span: Span) -> None:
        """Copies under way count as writes in the interval that begins here, too."""
        for copy in state.pending.copies:
            target = Target(self.terms.true, copy.region, copy.offset)
            extra = tuple(g for g in copy.guard if g not in state.guard)
            here = State(state.env, (*state.guard, *extra), state.phases)
            self.record(target, copy.size, "write", here, copy.span, True, pending=True)

    def _barrier(self, stmt: ir.Barrier, state: State) -> State:
        named = stmt.ident is not None and self.values.evaluate(stmt.ident, state.env).const != 0
        if named or stmt.count is not None or stmt.action != "sync":
            self._gap("a named or split barrier", stmt.span)
            return state
        mask = self.values.evaluate(stmt.mask, state.env) if stmt.mask is not None else None
        name = f"{stmt.span.line}:{stmt.span.col}{list(self.path) or ''}#{self.number()}"
        self.trace.barriers.append(BarrierPoint(name, stmt.scope, self.context(state), stmt.span, mask))
        orders = not stmt.relaxed and (mask is None or mask.const in (0xFFFF_FFFF, -1))
        if orders:
            scope = {Scope.WARP: "warp", Scope.DEVICE: "grid", Scope.SYSTEM: "grid"}.get(stmt.scope, "block")
            state.phases = state.phases.after(self.terms, PhasePoint(name, self.loops), scope)
            self._still_copying(state, stmt.span)
        if stmt.var is not None:
            state.env[stmt.var] = self.unknown(stmt.var, ir_type(stmt), "is the result of a block-wide vote", "block")
        return state


def ir_type(stmt: ir.Barrier) -> Type:
    """The type of a barrier's reduction."""
    from gpusafe.ir.expr import I32

    return I32 if stmt.reduce == "count" else BOOL


def constant_bytes(offset: Term) -> int | None:
    """The value of a byte offset that does not depend on anything."""
    if offset.op == "sum":
        parts = [constant_bytes(a) for a in offset.args]
        return None if any(p is None for p in parts) else sum(p for p in parts if p is not None)
    return offset.const


__all__ = ["Executor", "LimitReached", "Phase"]
