"""The state of one evaluation: where it stands, its variables, its budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gpusafe.parse.consteval_layout import Layout
from gpusafe.parse.consteval_value import Const
from gpusafe.parse.resolve import Resolver
from gpusafe.parse.rust import ast
from gpusafe.parse.workspace_model import ModulePath

_MAX_DEPTH = 100
_MAX_STEPS = 20_000


@dataclass(frozen=True, slots=True)
class Place:
    """Where an expression stands: module, items of the blocks around it, the impl around it, known type parameters."""

    module: ModulePath = ()
    scope: Sequence[ast.Item] = ()
    within: ast.Impl | ast.Trait | None = None
    layouts: Mapping[str, Layout] = field(default_factory=dict)


class StopError(Exception):
    """Evaluation ends without a value; never leaves gpusafe.parse.consteval."""


@dataclass(slots=True)
class Budget:
    """Steps and nesting of one evaluation."""

    depth: int = 0
    steps: int = 0

    def step(self) -> None:
        """Count one step; StopError when it is one too many."""
        self.steps += 1
        if self.steps > _MAX_STEPS or self.depth > _MAX_DEPTH:
            raise StopError


@dataclass(slots=True)
class Frame:
    """Variables of one function body (const parameters included), and where it stands."""

    place: Place
    variables: dict[str, Const]
    resolver: Resolver
