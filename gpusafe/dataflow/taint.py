"""Which addresses and branches of a kernel depend on values that a launch does not tell.

``data``: initial contents of memory; ``sync``: results of atomics, volatile reads and warp operations on them, which
may carry an order between threads; ``votes``: which lanes a condition on contents of memory holds for; ``opaque``: what
the interpreter cannot compute. Flow-insensitive: a variable is as tainted as its most tainted assignment.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gpusafe.dataflow.concrete.floats import computed
from gpusafe.ir import expr as ex
from gpusafe.ir import kernel as ir
from gpusafe.ir.terms import children
from gpusafe.span import Span

Taint = frozenset[str]
CLEAN: Taint = frozenset()
VOTES = frozenset({"any", "all", "ballot"})


@dataclass(slots=True)
class Taints:
    """For each place of an access: the taints of its address and of the branches that lead to it."""

    address: dict[Span, Taint] = field(default_factory=dict)
    control: dict[Span, Taint] = field(default_factory=dict)
    variables: dict[str, Taint] = field(default_factory=dict)
    regions: dict[str, Taint] = field(default_factory=dict)
    compared: dict[Span, bool] = field(default_factory=dict)


class _Pass:
    def __init__(self, kernel: ir.Kernel, out: Taints) -> None:
        self.out = out
        self.spaces = {r.name: r.space for r in kernel.regions}
        self.changed = False
        self.reads = _reads(kernel.body)
        self.control: Taint = CLEAN
        self.sticky: Taint = CLEAN

    def expr(self, root: ex.Expr) -> Taint:
        taint: set[str] = set()
        stack = [root]
        while stack:
            e = stack.pop()
            match e:
                case ex.Var(name=name):
                    taint |= self.out.variables.get(name, CLEAN)
                case ex.Opaque(name=name):
                    if not computed(name):
                        taint.add("opaque")
                case ex.PtrUnknown():
                    taint.add("opaque")
            stack.extend(children(e))
        return frozenset(taint)

    def regions_of(self, root: ex.Expr) -> set[str]:
        found: set[str] = set()
        stack = [root]
        while stack:
            e = stack.pop()
            match e:
                case ex.PtrBase(region=region):
                    found.add(region)
                case ex.Var(name=name):
                    found |= {t[7:] for t in self.out.variables.get(name, CLEAN) if t.startswith("points:")}
            stack.extend(children(e))
        return found

    def assign(self, var: str | None, taint: Taint, inside: Taint = CLEAN) -> None:
        if var is not None:
            self._raise(self.out.variables, var, taint | inside)

    def _raise(self, table: dict[str, Taint], key: str, taint: Taint) -> None:
        old = table.get(key, CLEAN)
        if not taint <= old:
            table[key] = old | taint
            self.changed = True

    def place(self, span: Span, ptr: ex.Expr) -> None:
        self.out.address[span] = self.out.address.get(span, CLEAN) | {
            t for t in self.expr(ptr) if not t.startswith("points:")
        }
        self.out.control[span] = self.out.control.get(span, CLEAN) | self.control | self.sticky

    def block(self, body: tuple[ir.Stmt, ...]) -> None:
        for stmt in body:
            self.statement(stmt)

    def statement(self, stmt: ir.Stmt) -> None:
        match stmt:
            case ir.Assign(var=var, value=value):
                taint = self.expr(value)
                if value.type.kind == "ptr":
                    taint |= {f"points:{r}" for r in self.regions_of(value)}
                self.assign(var, taint)
            case ir.Havoc(var=var):
                self.assign(var, frozenset({"opaque"}))
            case ir.Load(var=var, ptr=ptr, volatile=volatile, span=span):
                self.place(span, ptr)
                self.assign(var, self._contents(ptr) | self._address(ptr) | ({"sync"} if volatile else CLEAN))
            case ir.Store(ptr=ptr, value=value, span=span):
                self.place(span, ptr)
                for region in self.regions_of(ptr):
                    kept = self.expr(value) | self._address(ptr) | self.control | self.sticky
                    self._raise(self.out.regions, region, frozenset(t for t in kept if not t.startswith("points:")))
            case ir.ExclusiveBorrow(ptr=ptr, span=span):
                self.place(span, ptr)
            case ir.Atomic(var=var, ptr=ptr, success=success, span=span):
                self.place(span, ptr)
                self.assign(var, frozenset({"sync"}))
                self.assign(success, frozenset({"sync"}))
                for region in self.regions_of(ptr):
                    self._raise(self.out.regions, region, frozenset({"sync"}))
            case ir.WarpOp(var=var, op=op, operands=operands, span=span):
                self.out.control[span] = self.out.control.get(span, CLEAN) | self.control | self.sticky
                taint = frozenset().union(*(self.expr(o) for o in operands)) if operands else CLEAN
                if op in VOTES and "data" in taint:
                    taint = (taint - {"data"}) | {"votes"}
                self.assign(var, taint)
            case ir.Barrier(var=var, value=value, span=span):
                self.out.control[span] = self.out.control.get(span, CLEAN) | self.control | self.sticky
                if value is not None:
                    self.assign(var, self.expr(value))
            case ir.Assume(cond=cond):
                self.sticky |= self.expr(cond)
            case ir.If():
                self._if(stmt)
            case ir.Block(label=label, body=body):
                self._construct(body, label)
            case ir.Loop(label=label, body=body):
                self._construct(body, label)

    def _contents(self, ptr: ex.Expr) -> Taint:
        taint: set[str] = set()
        for region in self.regions_of(ptr):
            if self.spaces.get(region) in (ir.Space.GLOBAL, ir.Space.CONSTANT):
                taint.add("data")
            taint |= self.out.regions.get(region, CLEAN)
        return frozenset(taint)

    def _address(self, ptr: ex.Expr) -> Taint:
        return frozenset(t for t in self.expr(ptr) if not t.startswith("points:"))

    def _if(self, stmt: ir.If) -> None:
        taint = frozenset(t for t in self.expr(stmt.cond) if not t.startswith("points:"))
        outer = self.control
        self.control = outer | taint
        self.block(stmt.then)
        self.block(stmt.orelse)
        self.control = outer
        if not taint:
            return
        inside = _reads((stmt,))
        for var in _assigned((stmt,)):
            if self.reads.get(var, 0) > inside.get(var, 0):
                self.assign(var, taint)
        if _jumps((stmt,)):
            self.sticky |= taint

    def _construct(self, body: tuple[ir.Stmt, ...], label: str) -> None:
        self.block(body)
        taint = _jump_taint(self, body, label)
        if taint:  # how often the body ran, or how far, is tainted: so is what it assigned
            for var in _assigned(body):
                self.assign(var, taint)


def _jump_taint(run: _Pass, body: tuple[ir.Stmt, ...], label: str) -> Taint:
    """The taints of the conditions under which a construct is left by a jump to its label."""
    taint: set[str] = set()
    stack: list[tuple[ir.Stmt, Taint]] = [(s, CLEAN) for s in body]
    while stack:
        stmt, under = stack.pop()
        match stmt:
            case ir.Break(label=to) | ir.Continue(label=to) if to == label:
                taint |= under
            case ir.If(cond=cond, then=a, orelse=b):
                inner = under | {t for t in run.expr(cond) if not t.startswith("points:")}
                stack.extend((s, inner) for s in (*a, *b))
            case ir.Block(body=inside) | ir.Loop(body=inside):
                stack.extend((s, under) for s in inside)
    return frozenset(taint)


def walk(body: tuple[ir.Stmt, ...]) -> list[ir.Stmt]:
    """All statements, however deep."""
    out: list[ir.Stmt] = []
    stack: list[ir.Stmt] = list(body)
    while stack:
        stmt = stack.pop()
        out.append(stmt)
        match stmt:
            case ir.If(then=a, orelse=b):
                stack.extend((*a, *b))
            case ir.Block(body=b) | ir.Loop(body=b):
                stack.extend(b)
    return out


def expressions(stmt: ir.Stmt) -> tuple[ex.Expr | None, ...]:
    """The expressions of one statement, without those of statements inside it."""
    match stmt:
        case ir.Assign(value=v):
            return (v,)
        case ir.Load(ptr=p) | ir.ExclusiveBorrow(ptr=p):
            return (p,)
        case ir.Store(ptr=p, value=v):
            return (p, v)
        case ir.Atomic(ptr=p, operands=o):
            return (p, *o)
        case ir.WarpOp(operands=o, mask=m):
            return (*o, m)
        case ir.Barrier(value=v, mask=m):
            return (v, m)
        case ir.Assume(cond=c) | ir.If(cond=c):
            return (c,)
    return ()


def _reads(body: tuple[ir.Stmt, ...]) -> dict[str, int]:
    """How often each variable is read."""
    out: dict[str, int] = {}
    for stmt in walk(body):
        stack = [e for e in expressions(stmt) if e is not None]
        while stack:
            e = stack.pop()
            match e:
                case ex.Var(name=name):
                    out[name] = out.get(name, 0) + 1
            stack.extend(children(e))
    return out


def _assigned(body: tuple[ir.Stmt, ...]) -> list[str]:
    from gpusafe.dataflow.state import assigned

    return sorted(assigned(body))


def _jumps(body: tuple[ir.Stmt, ...]) -> bool:
    return any(isinstance(s, ir.Break | ir.Continue | ir.Return | ir.Assume) for s in walk(body))


def taints(kernel: ir.Kernel) -> Taints:
    """The taints of all places of a kernel."""
    out = Taints()
    for _ in range(50):
        run = _Pass(kernel, out)
        run.block(kernel.body)
        if not run.changed:
            break
    return out


def can_order(kernel: ir.Kernel, across_blocks: bool) -> bool:
    """Whether a kernel has fences or ordered atomics by which a thread may wait for another of its block, or of any."""
    narrow = (ir.Scope.WARP, ir.Scope.BLOCK) if across_blocks else ()
    for stmt in walk(kernel.body):
        match stmt:
            case ir.Fence(scope=scope) if scope not in narrow:
                return True
            case ir.Atomic(order=order, scope=scope) if scope not in narrow:
                if order not in (ir.Order.WEAK, ir.Order.RELAXED):
                    return True
            case ir.MBarrier() | ir.Unmodelled(syncs=True):
                return True
    return False
