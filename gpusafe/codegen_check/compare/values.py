"""What the kernel's own terms say about addresses: their region, and whether they depend on the thread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gpusafe.codegen_check.compare.operations import statements
from gpusafe.ir.expr import Binary, Cast, Expr, Opaque, PtrAdd, PtrBase, Select, Special, Unary, Var
from gpusafe.ir.kernel import Assign, Atomic, Barrier, Havoc, If, Kernel, Load, MBarrier, Stmt, Store, WarpOp

_THREAD = ("tid.", "ctaid.", "laneid", "warpid", "cluster_ctarank")
_DEPTH = 200


@dataclass(frozen=True, slots=True)
class Values:
    """``assigned`` counts the assignments of each variable, ``value`` has the only one of those with one.

    ``varying`` are the variables whose value depends on the thread or is read from memory.
    """

    assigned: Mapping[str, int]
    value: Mapping[str, Expr]
    varying: frozenset[str]

    def region(self, ptr: Expr) -> str | None:
        """The region that a pointer points into, where the terms say so."""
        for _ in range(_DEPTH):
            match ptr:
                case PtrBase():
                    return ptr.region
                case PtrAdd():
                    ptr = ptr.ptr
                case Var() if ptr.name in self.value:
                    ptr = self.value[ptr.name]
                case _:
                    return None
        return None

    def same_for_all(self, expr: Expr) -> bool:
        """Whether a term has one value for all threads and at all times."""
        for term in parts(expr):
            match term:
                case Special() if term.name.startswith(_THREAD):
                    return False
                case Var() if term.name in self.varying or self.assigned.get(term.name, 0) > 1:
                    return False
                case Opaque():
                    return False
        return True

    def depends_on_thread(self, expr: Expr) -> bool:
        """Whether a term mentions the thread, directly or through variables."""
        return any(
            (isinstance(t, Special) and t.name.startswith(_THREAD)) or (isinstance(t, Var) and t.name in self.varying)
            for t in parts(expr)
        )

    def resolved(self, expr: Expr) -> Expr:
        """A pointer with variables of one assignment replaced at its base, for comparisons."""
        for _ in range(_DEPTH):
            if isinstance(expr, Var) and expr.name in self.value:
                expr = self.value[expr.name]
            else:
                break
        return expr


def values_of(kernel: Kernel) -> Values:
    """Read a kernel's assignments."""
    assigned: dict[str, int] = {}
    value: dict[str, Expr] = {}
    varying: set[str] = set()
    sources: list[tuple[str, Expr]] = []
    for stmt in statements(kernel.body):
        for name, expr in _results(stmt):
            assigned[name] = assigned.get(name, 0) + 1
            if expr is None:
                varying.add(name)
            else:
                value[name] = expr
                sources.append((name, expr))
    changed = True
    while changed:
        changed = False
        for name, expr in sources:
            if name not in varying and _mentions_thread(expr, varying):
                varying.add(name)
                changed = True
    once = {name: expr for name, expr in value.items() if assigned[name] == 1}
    return Values(assigned, once, frozenset(varying))


def _mentions_thread(expr: Expr, varying: set[str]) -> bool:
    return any(
        (isinstance(t, Special) and t.name.startswith(_THREAD)) or (isinstance(t, Var) and t.name in varying)
        for t in parts(expr)
    )


def _results(stmt: Stmt) -> Iterator[tuple[str, Expr | None]]:
    """The variables that a statement writes; None where the value is not a term of the kernel."""
    match stmt:
        case Assign():
            yield stmt.var, stmt.value
        case Havoc():
            yield stmt.var, None
        case Atomic():
            yield from ((v, None) for v in (stmt.var, stmt.success) if v)
        case Load() | WarpOp() | Barrier() | MBarrier():
            if stmt.var:
                yield stmt.var, None


def parts(expr: Expr) -> Iterator[Expr]:
    """A term and all terms inside it."""
    stack = [expr]
    while stack:
        term = stack.pop()
        yield term
        match term:
            case Unary() | Cast():
                stack.append(term.a)
            case Binary():
                stack += [term.a, term.b]
            case Select():
                stack += [term.cond, term.a, term.b]
            case Opaque():
                stack += term.args
            case PtrAdd():
                stack += [term.ptr, term.offset]


def thread_conditions(kernel: Kernel, values: Values) -> frozenset[int]:
    """Identities of the conditionals whose condition depends on the thread."""
    return frozenset(id(s) for s in statements(kernel.body) if isinstance(s, If) and values.depends_on_thread(s.cond))


def pointer_of(stmt: Stmt) -> Expr | None:
    """The pointer of a memory access."""
    match stmt:
        case Load() | Store() | Atomic():
            return stmt.ptr
        case _:
            return None
