"""The memory and synchronisation operations of a kernel's IR, each with its place in the control structure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gpusafe.ir.kernel import (
    AsyncControl,
    AsyncCopy,
    Atomic,
    Barrier,
    Block,
    Break,
    Fence,
    If,
    Load,
    Loop,
    MBarrier,
    ProxyFence,
    Scope,
    Stmt,
    Store,
    Unmodelled,
    WarpOp,
)

Step = tuple[int, int, str]
"""One step into the structure: the number of the compound statement, the position inside, and what it is."""


@dataclass(frozen=True, slots=True)
class Operation:
    """``kind`` names what is looked for in the PTX (the keys of ``matching.INSTRUCTIONS``).

    ``guards`` are the conditionals around it, as (statement identity, arm); ``loops`` the identities of the loops
    around it, outermost first; ``order`` numbers the operations as they stand in the text of the (inlined) kernel.
    """

    stmt: Stmt
    kind: str
    order: int
    guards: tuple[tuple[int, int], ...]
    loops: tuple[int, ...]


def operations(body: tuple[Stmt, ...]) -> tuple[Operation, ...]:
    """All of them, in source order."""
    found: list[Operation] = []
    stack: list[tuple[Stmt, tuple[tuple[int, int], ...], tuple[int, ...]]] = [(s, (), ()) for s in reversed(body)]
    while stack:
        stmt, guards, loops = stack.pop()
        match stmt:
            case If():
                stack += [(s, (*guards, (id(stmt), 1)), loops) for s in reversed(stmt.orelse)]
                stack += [(s, (*guards, (id(stmt), 0)), loops) for s in reversed(stmt.then)]
            case Loop():
                stack += [(s, guards, (*loops, id(stmt))) for s in reversed(stmt.body)]
            case Block():
                # a body that may be left early runs its later parts only sometimes: a guard of its own
                inner = (*guards, (id(stmt), 0)) if _left_early(stmt) else guards
                stack += [(s, inner, loops) for s in reversed(stmt.body)]
            case _:
                for kind in _kinds(stmt):
                    found.append(Operation(stmt, kind, len(found), guards, loops))
    return tuple(found)


def statements(body: tuple[Stmt, ...]) -> Iterator[Stmt]:
    """Every statement, compound ones before what they hold."""
    stack = list(reversed(body))
    while stack:
        stmt = stack.pop()
        yield stmt
        match stmt:
            case If():
                stack += [*reversed(stmt.orelse), *reversed(stmt.then)]
            case Loop() | Block():
                stack += reversed(stmt.body)


def _left_early(block: Block) -> bool:
    """Whether a Break out of the block stands anywhere but at its very end."""
    last = block.body[-1] if block.body else None
    return any(isinstance(s, Break) and s.label == block.label and s is not last for s in statements(block.body))


def _kinds(stmt: Stmt) -> tuple[str, ...]:
    match stmt:
        case Load():
            return ("volatile-load" if stmt.volatile else "load",)
        case Store():
            return ("volatile-store" if stmt.volatile else "store",)
        case Atomic():
            return ({"load": "atomic-load", "store": "atomic-store", "cas": "cas"}.get(stmt.op, "rmw"),)
        case Fence():
            return ("fence",)
        case ProxyFence():
            return ("proxy-fence",)
        case Barrier(scope=Scope.CLUSTER):
            halves = {"sync": ("cluster-arrive", "cluster-wait"), "arrive": ("cluster-arrive",)}
            return halves.get(stmt.action, ("cluster-wait",))
        case Barrier(scope=Scope.WARP):
            return ("warp-barrier",)
        case Barrier():
            return ("barrier",)
        case WarpOp():
            return ("warp-op",)
        case MBarrier():
            return ("mbarrier",)
        case AsyncCopy():
            return ("async-copy",)
        case AsyncControl():
            return ("async-control",)
        case Unmodelled() if "assembly" in stmt.what:
            return ("asm",)
        case _:
            return ()
