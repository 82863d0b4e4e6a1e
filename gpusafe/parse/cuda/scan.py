"""Questions about a body that are asked before it is lowered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields

from gpusafe.parse.cuda import syntax as s

_LEAVES = frozenset({"span", "name", "op", "flags", "label"})
_PARTS: dict[type[s.Node], tuple[str, ...]] = {
    kind: tuple(f.name for f in fields(kind) if f.name not in _LEAVES)
    for kind in vars(s).values()
    if isinstance(kind, type) and issubclass(kind, s.Node)
}
"""The fields of each node class that may hold nodes."""


def nodes(root: s.Node, *, into_lambdas: bool = True) -> Iterator[s.Node]:
    """All nodes below ``root``, ``root`` included."""
    todo: list[object] = [root]
    while todo:
        here = todo.pop()
        if isinstance(here, tuple):
            todo.extend(here)
            continue
        if not isinstance(here, s.Node):
            continue
        if isinstance(here, s.Lambda) and not into_lambdas:
            continue
        yield here
        todo.extend(getattr(here, name) for name in _PARTS[type(here)])


def assigned_names(body: s.Node, takes_references: Callable[[str], bool]) -> frozenset[str]:
    """Names that the body may write after their declaration: assigned, stepped, or handed out by address or reference.

    ``takes_references`` tells of a function's name whether it may change what it is given.
    """
    out: set[str] = set()
    every = list(nodes(body))
    local = {
        v.name
        for v in every
        if isinstance(v, s.Variable) and isinstance(v.init, s.Lambda) and references(v.init.params)
    }
    for node in every:
        match node:
            case s.Call(func=s.Name(name=name)) if not (takes_references(name) or name in local):
                pass
            case s.Assign(target=target) | s.Unary(op="++" | "--" | "&", operand=target):
                out.add(_root(target))
            case s.Call(args=args) | s.Construct(args=args):
                out.update(a.name for a in args if isinstance(a, s.Name))
            case s.Member(base=s.Name(name=name), arrow=False):
                out.add(name)  # a method may change its object
            case s.Variable(type=s.TypeReference(), init=s.Name(name=name)):
                out.add(name)
            case s.Asm(outputs=outputs):
                out.update(_root(o.value) for o in outputs)
            case s.RangeFor(over=s.Name(name=name)):
                out.add(name)
            case _:
                pass
    return frozenset(out)


def references(params: tuple[s.Parameter, ...]) -> bool:
    """Whether a parameter is a reference that can be written through."""
    return any(
        isinstance(p.type, s.TypeReference) and not (isinstance(p.type.inner, s.TypeName) and p.type.inner.const)
        for p in params
    )


def _root(target: s.Expr) -> str:
    """The variable that an assignment to ``target`` changes directly (not what a pointer leads to)."""
    while True:
        match target:
            case s.Name(name=name):
                return name
            case s.Member(base=base, arrow=False):
                target = base
            case s.Conditional(yes=yes):
                target = yes
            case s.Comma(right=right):
                target = right
            case s.Cast(operand=operand):
                target = operand
            case _:
                return ""


def returns(body: s.Node) -> list[s.Return]:
    """The ``return`` statements of a body, those of lambdas in it left out."""
    return [n for n in nodes(body, into_lambdas=False) if isinstance(n, s.Return)]


def continues(body: s.Stmt) -> bool:
    """Whether a ``continue`` in the body belongs to its loop."""
    todo: list[object] = [body]
    while todo:
        here = todo.pop()
        if isinstance(here, tuple):
            todo.extend(here)
        elif isinstance(here, s.Continue):
            return True
        elif isinstance(here, (s.Stmt, s.Case)) and not isinstance(here, (s.For, s.While, s.DoWhile, s.RangeFor)):
            todo.extend(getattr(here, name) for name in _PARTS[type(here)])
    return False


def breaks(body: s.Stmt | s.Case) -> bool:
    """Whether a ``break`` in the body belongs to the switch or loop around it."""
    todo: list[object] = [body]
    while todo:
        here = todo.pop()
        if isinstance(here, tuple):
            todo.extend(here)
        elif isinstance(here, s.Break):
            return True
        elif isinstance(here, (s.Stmt, s.Case)) and not isinstance(
            here, (s.For, s.While, s.DoWhile, s.RangeFor, s.Switch)
        ):
            todo.extend(getattr(here, name) for name in _PARTS[type(here)])
    return False
