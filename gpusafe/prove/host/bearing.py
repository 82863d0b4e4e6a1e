"""Which conditions of a path bear on given terms: those that share an unknown with them, through others perhaps.

The rest may be left out of a question. What is proved without them is proved; and values that answer the question fit
any values that meet the rest, as long as the path can be taken at all (see :mod:`gpusafe.prove.host.feasible`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from gpusafe.ir.expr import Expr, Sym
from gpusafe.ir.host import Enqueue, HostPath
from gpusafe.ir.terms import children


@dataclass(slots=True)
class Bearing:
    """Answers for one list of conditions."""

    conditions: tuple[Expr, ...]
    _parent: dict[str, str] = field(default_factory=dict)
    _of: dict[str, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.conditions = tuple(dict.fromkeys(c for c in self.conditions if c.type.kind == "bool"))
        names = [sorted(symbols(c)) for c in self.conditions]
        for group in names:
            for name in group:
                self._parent[self._root(name)] = self._root(group[0])
        for index, group in enumerate(names):
            if group:
                self._of.setdefault(self._root(group[0]), []).append(index)

    def on(self, terms: Iterable[Expr | None]) -> tuple[Expr, ...]:
        """The conditions that bear on terms, in their order."""
        roots = {self._root(name) for term in terms if term is not None for name in symbols(term)}
        indices = sorted(index for root in roots for index in self._of.get(root, ()))
        return tuple(self.conditions[index] for index in indices)

    def _root(self, name: str) -> str:
        while (above := self._parent.setdefault(name, name)) != name:
            self._parent[name] = self._parent[above]
            name = above
        return name


def of_launch(op: Enqueue, path: HostPath) -> Iterator[Expr | None]:
    """The terms that a launch is made of: its arguments, what they point to, and its shape."""
    for arg in op.args:
        yield arg.value
        yield arg.length
        if arg.range is not None:
            memory = path.memory.get(arg.range.memory)
            yield arg.range.start
            yield arg.range.size
            yield memory.length if memory is not None else None
    if op.shape is not None:
        yield from (*op.shape.grid, *op.shape.block, op.shape.shared_bytes)


def symbols(root: Expr) -> frozenset[str]:
    """The unknowns of a term."""
    found: set[str] = set()
    stack = [root]
    while stack:
        e = stack.pop()
        if isinstance(e, Sym):
            found.add(e.name)
        stack.extend(children(e))
    return frozenset(found)
