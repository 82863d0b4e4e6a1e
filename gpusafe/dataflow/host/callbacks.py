"""Host callbacks on a stream: what the closure borrows must outlive the stream's work."""

from __future__ import annotations

from gpusafe.dataflow.host.access import peel
from gpusafe.dataflow.host.handles import StreamHandle
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.syntax_walk import walk
from gpusafe.dataflow.host.values import MOVED, Cell, ClosureVal, RefVal, TypeVal, Value
from gpusafe.ir.host import Enqueue, MemAccess
from gpusafe.parse.rust import ast
from gpusafe.span import Span

MUTATING = frozenset(["push", "insert", "extend", "clear", "pop", "fill", "swap", "copy_from_slice"])


def enqueue_callback(m: Machine, stream: StreamHandle, closure: Value, span: Span) -> None:
    """Puts a closure on a stream; its accesses are the variables that it borrows."""
    target = peel(closure)
    accesses: list[MemAccess] = []
    if isinstance(target, ClosureVal):
        written = _written(target.node.body)
        owned = {id(c) for c in target.owned}
        for name, cell in target.captures.items():
            borrowed = cell
            if id(cell) in owned and not isinstance(cell.value, RefVal):
                continue
            if isinstance(cell.value, RefVal):
                borrowed = cell.value.cell
            accesses += _borrowed(m, borrowed, name, "write" if name in written else "read", span)
    else:
        m.gap(span, "a callback that is not a closure in sight")
    m.enqueue(stream, "callback", span, f"callback on `{stream.name or stream.ident}`", accesses=tuple(accesses))


def _borrowed(m: Machine, cell: Cell, name: str, mode: str, span: Span) -> list[MemAccess]:
    if cell.value is MOVED:
        return []
    from gpusafe.dataflow.host.access import host_slice

    known = host_slice(cell.value)
    if known is not None:
        return [m.whole(known.memory, mode)]
    if cell.memory is None:
        cell.name = cell.name or name
        cell.memory = m.new_memory("host", span, elem_bytes=1, name=cell.name)
    atomic = isinstance(cell.value, TypeVal) and cell.value.name in ("atomic", "Mutex", "RwLock")
    return [m.whole(cell.memory, "read" if atomic else mode)]


def _written(body: ast.Node) -> set[str]:
    found: set[str] = set()
    for node in walk(body):
        match node:
            case ast.Assign(target=target):
                found |= _root(target)
            case ast.Ref(mutable=True, operand=operand):
                found |= _root(operand)
            case ast.MethodCall(name=name, receiver=receiver, args=args) if name in MUTATING and not atomic(args):
                found |= _root(receiver)
    return found


def atomic(args: tuple[ast.Expr, ...]) -> bool:
    """Whether a method is one of an atomic: its last argument is an ordering."""
    last = args[-1] if args else None
    return isinstance(last, ast.PathExpr) and last.path.last in ("Relaxed", "Release", "AcqRel", "SeqCst", "Acquire")


def _root(expr: ast.Expr) -> set[str]:
    current = expr
    while True:
        match current:
            case ast.PathExpr(path=path) if len(path.names) == 1:
                return {path.names[0]}
            case ast.Field(base=base) | ast.Index(base=base):
                current = base
            case ast.Unary(operand=operand):
                current = operand
            case ast.MethodCall(name="lock" | "write"):
                return set()
            case ast.MethodCall(receiver=receiver):
                current = receiver
            case _:
                return set()


WAITS_FOR_OTHERS = frozenset(["recv", "recv_timeout", "recv_deadline", "wait", "wait_while", "wait_timeout"])
"""Methods of channels, condition variables and barriers with which the host may wait for what a callback does."""


def may_wait_for_callback(m: Machine, receiver: Value, name: str) -> bool:
    """Whether a method call may return only when a callback that is not known to be over has done something."""
    if name not in WAITS_FOR_OTHERS or not m.pending or isinstance(receiver, StreamHandle):
        return False
    return any(isinstance(op, Enqueue) and op.what == "callback" for op in m.ops)
