"""What a path can mean."""

from __future__ import annotations

from dataclasses import dataclass

from gpusafe.parse.rust import ast
from gpusafe.parse.workspace_model import Module, ModulePath

Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Local:
    """An item of the workspace, and the module that it stands in.

    ``item`` of an associated function or constant is that function or constant, with ``owner`` the impl or trait around
    it. For an enum variant ``item`` is the enum and ``variant`` says which. ``rest`` are segments after the item that
    name nothing that is known (a method that a derive or a macro makes).
    """

    module: Module
    item: ast.Item
    owner: ast.Impl | ast.Trait | None = None
    variant: ast.Variant | None = None
    rest: Names = ()

    @property
    def path(self) -> Names:
        """Module path and name, from the crate's root."""
        return (*self.module.path, self.item.name)


@dataclass(frozen=True, slots=True)
class LocalModule:
    """A module of the workspace."""

    crate: str
    path: ModulePath


@dataclass(frozen=True, slots=True)
class Foreign:
    """A name of a crate that is not read: renames, globs and re-exports of the workspace are applied.

    ``path`` starts with the crate's name in code form; ``core`` and ``alloc`` are given as ``std``; primitive types are
    paths of one name. When only globs can bring the name, ``candidates`` are all that might (``path`` is the first),
    and ``certain`` is false.
    """

    path: Names
    candidates: tuple[Names, ...] = ()
    certain: bool = True


Resolved = Local | LocalModule | Foreign
