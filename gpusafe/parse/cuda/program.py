"""What a translation unit declares, by name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from gpusafe.parse.cuda import syntax as s
from gpusafe.parse.cuda.scan import assigned_names, references, returns

T = TypeVar("T", bound=s.Item)


@dataclass(slots=True)
class Program:
    """Items by their last name; the ones with a body or a value come first."""

    functions: dict[str, list[s.Function]] = field(default_factory=dict)
    records: dict[str, list[s.Record]] = field(default_factory=dict)
    aliases: dict[str, list[s.Alias]] = field(default_factory=dict)
    enumerations: dict[str, s.Enumeration] = field(default_factory=dict)
    enumerators: dict[str, tuple[s.Enumeration, int]] = field(default_factory=dict)
    globals: dict[str, list[tuple[s.Variable, s.Globals]]] = field(default_factory=dict)
    namespaces: dict[str, str] = field(default_factory=dict)
    kernels: list[s.Function] = field(default_factory=list)
    instantiations: list[s.Function] = field(default_factory=list)
    assigned: dict[int, frozenset[str]] = field(default_factory=dict)
    returning: dict[int, list[s.Return]] = field(default_factory=dict)

    @staticmethod
    def of(items: Iterable[s.Item]) -> Program:
        """The tables of a unit's items, members of classes included under the class's scope."""
        program = Program()
        for item in items:
            program.add(item)
        return program

    def add(self, item: s.Item) -> None:
        """Enter one item."""
        match item:
            case s.Function():
                if item.is_instantiation:
                    self.instantiations.append(item)
                    return
                self.functions.setdefault(item.name.rsplit("::", 1)[-1], []).append(item)
                if "__global__" in item.flags and item.body is not None:
                    self.kernels.append(item)
            case s.Record():
                if item.complete:
                    self.records.setdefault(item.name, []).append(item)
            case s.Alias():
                self.aliases.setdefault(item.name, []).append(item)
            case s.Enumeration():
                self.enumerations[item.name] = item
                for index, (name, _) in enumerate(item.members):
                    self.enumerators[name] = (item, index)
            case s.Globals():
                for variable in item.variables:
                    self.globals.setdefault(variable.name, []).append((variable, item))
            case s.NamespaceAlias():
                self.namespaces[item.name] = item.target
            case _:
                pass

    def takes_references(self, name: str) -> bool:
        """Whether a function of that name may write to its arguments."""
        last = name.rpartition("::")[2]
        found = self.functions.get(last)
        if found is None:
            return last == "swap"
        return any(references(f.params) for f in found)

    def assigned_in(self, body: s.Compound) -> frozenset[str]:
        """The names that a body may write after their declaration (computed once for each body)."""
        known = self.assigned.get(id(body))
        if known is None:
            known = self.assigned[id(body)] = assigned_names(body, self.takes_references)
        return known

    def returns_of(self, body: s.Compound) -> list[s.Return]:
        """The ``return`` statements of a body (found once for each body)."""
        known = self.returning.get(id(body))
        if known is None:
            known = self.returning[id(body)] = returns(body)
        return known

    def expand(self, name: str) -> str:
        """``cg::this_grid`` as ``cooperative_groups::this_grid``: namespace aliases replaced."""
        first, _, rest = name.partition("::")
        return f"{self.namespaces[first]}::{rest}" if rest and first in self.namespaces else name


def pick_scoped(found: list[T], qualifier: str, scope: str) -> list[T]:
    """The items that a name with ``qualifier`` may mean when used in ``scope``: the innermost match first."""
    if qualifier:
        return [i for i in found if i.scope == qualifier or i.scope.endswith(f"::{qualifier}")]
    inner = [i for i in found if i.scope == scope]
    return inner + [i for i in found if i.scope != scope]
