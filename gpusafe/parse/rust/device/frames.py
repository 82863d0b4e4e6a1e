"""Where the lowering stands: scopes of local names, and the functions that are being inlined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gpusafe.ir.expr import Expr
from gpusafe.parse.rust.device.bodies import Join
from gpusafe.parse.rust.device.program import FnDef, Module
from gpusafe.parse.rust.device.types import Ty
from gpusafe.parse.rust.device.values import Slot
from gpusafe.span import Span


@dataclass(eq=False, slots=True)
class Scope:
    """The local variables of a block; ``module`` resolves names that are not local variables."""

    parent: Scope | None
    module: Module
    slots: dict[str, Slot] = field(default_factory=dict)

    def find(self, name: str) -> Slot | None:
        """The variable of that name that is in sight."""
        here: Scope | None = self
        while here is not None:
            if name in here.slots:
                return here.slots[name]
            here = here.parent
        return None


@dataclass(frozen=True, slots=True)
class TypeEnv:
    """What names in types mean: the module, the generic parameters in scope, and ``Self``."""

    module: Module
    generics: Mapping[str, Ty | Expr] = field(default_factory=dict)
    self_ty: Ty | None = None


@dataclass(eq=False, slots=True)
class LoopCtx:
    """A loop or labelled block that ``break`` and ``continue`` can name.

    ``label`` is the IR label to leave; ``again`` what starts the next iteration (None: a block). ``again_is_loop``: the
    next iteration starts by Continue, else by leaving the block ``again``.
    """

    name: str | None
    label: str
    join: Join
    is_loop: bool
    scope: Scope | None = None
    again: str | None = None
    again_is_loop: bool = True
    broken: bool = False
    continued: bool = False


@dataclass(eq=False, slots=True)
class Frame:
    """A function that is being lowered: the kernel itself (``returns`` None) or an inlined call."""

    name: str
    env: TypeEnv
    fn: FnDef | None = None
    returns: Join | None = None
    result: Ty | None = None
    label: str = ""
    returned: bool = False
    depth: int = 0
    parent: Frame | None = None
    loops: list[LoopCtx] = field(default_factory=list)
    site: Span | None = None
    scope: Scope | None = None
