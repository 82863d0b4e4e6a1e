"""Terms evaluated with numbers for the leaves; what is not known stays unknown (None)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpusafe.dataflow.arith import clip, fold
from gpusafe.dataflow.terms import Term, postorder

Leaf = Callable[[Term], Any]
OPEN = frozenset({"load", "atomic", "shuffle", "fresh", "head", "opaque", "base", "ptradd", "ptrunknown"})


class Plan:
    """Several terms prepared for evaluation under many assignments of their leaves."""

    def __init__(self, roots: list[Term]) -> None:
        self.order = postorder(roots)
        self.at = {t: i for i, t in enumerate(self.order)}
        self.roots = [self.at[r] for r in roots]
        self.args = [tuple(self.at[a] for a in t.args) for t in self.order]

    def __len__(self) -> int:
        return len(self.order)

    def evaluate(self, leaf: Leaf) -> list[Any]:
        """The values of the roots."""
        values: list[Any] = []
        for term, args in zip(self.order, self.args, strict=True):
            values.append(apply(term, [values[a] for a in args], leaf))
        return [values[r] for r in self.roots]


def apply(term: Term, args: list[Any], leaf: Leaf) -> Any:
    """One operation on numbers."""
    op = term.op
    if op == "const":
        return term.data if term.type.kind != "float" else None
    if op == "iter" or not args:
        return leaf(term) if op not in OPEN else None
    if op in OPEN:
        return None
    if op == "&&":
        return False if False in args else None if None in args else True
    if op == "||":
        return True if True in args else None if None in args else False
    if op == "select":
        if args[0] is None:
            return args[1] if args[1] == args[2] else None
        return args[1] if args[0] else args[2]
    if None in args:
        return None
    return _known(term, args)


def _known(term: Term, args: list[Any]) -> Any:
    match term.op:
        case "not":
            return not args[0]
        case "cast":
            return (
                clip(int(args[0]), term.type) if term.type.kind == "int" and term.args[0].type.kind != "float" else None
            )
        case "sum":
            return args[0] + args[1]
        case "ind":
            return args[0] + int(str(term.data)) * args[1] * args[2]
        case "table":
            values, periodic = term.data
            return values[args[0] % len(values) if periodic else min(args[0], len(values) - 1)]
    source = term.args[0].type
    if source.kind == "bool":
        return {"==": args[0] == args[1], "!=": args[0] != args[1]}.get(term.op) if len(args) == 2 else None
    if source.kind != "int":
        return None
    value = fold(term.op, tuple(args), source)
    return bool(value) if term.type.kind == "bool" else value
