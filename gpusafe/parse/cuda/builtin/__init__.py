"""What CUDA's built-in functions do."""

from __future__ import annotations

from collections.abc import Callable

from gpusafe.parse.cuda.builtin.async_copy import ASYNC
from gpusafe.parse.cuda.builtin.atomics import ATOMICS
from gpusafe.parse.cuda.builtin.bulk import BULK
from gpusafe.parse.cuda.builtin.claims import CLAIMS
from gpusafe.parse.cuda.builtin.groups import GROUP_FUNCTIONS, GROUP_METHODS
from gpusafe.parse.cuda.builtin.helper_math import HELPERS
from gpusafe.parse.cuda.builtin.maths import MATHS, math_by_pattern
from gpusafe.parse.cuda.builtin.memory import MEMORY
from gpusafe.parse.cuda.builtin.random import RANDOM
from gpusafe.parse.cuda.builtin.refs import REFERENCE_METHODS
from gpusafe.parse.cuda.builtin.site import CallSite
from gpusafe.parse.cuda.builtin.sync import SYNC
from gpusafe.parse.cuda.builtin.textures import TEXTURES
from gpusafe.parse.cuda.builtin.vectors import VECTORS
from gpusafe.parse.cuda.builtin.warp import WARP
from gpusafe.parse.cuda.context import Context
from gpusafe.parse.cuda.values import HandleValue, Operand

Builtin = Callable[[Context, CallSite], Operand]
Method = Callable[[Context, CallSite, HandleValue], Operand]

_FUNCTIONS: dict[str, Builtin] = {
    **HELPERS,
    **SYNC,
    **CLAIMS,
    **WARP,
    **ATOMICS,
    **MEMORY,
    **BULK,
    **ASYNC,
    **MATHS,
    **VECTORS,
    **TEXTURES,
    **RANDOM,
}
_METHODS: dict[tuple[str, str], Method] = {**GROUP_METHODS, **REFERENCE_METHODS}


def find_builtin(name: str) -> Builtin | None:
    """The meaning of a built-in function, by its full name; None when it is none."""
    qualifier, _, last = name.rpartition("::")
    if qualifier in ("cooperative_groups", "cg") or (not qualifier and last in GROUP_FUNCTIONS):
        return GROUP_FUNCTIONS.get(last)
    if qualifier.startswith("cuda") and name in _FUNCTIONS:
        return _FUNCTIONS[name]
    if qualifier in ("", "std", "cuda::std", "cuda::ptx") or qualifier.startswith("nvcuda"):
        return _FUNCTIONS.get(last) or math_by_pattern(last)
    return _FUNCTIONS.get(name)


def find_method(kind: str, name: str) -> Method | None:
    """The meaning of a method of a library object."""
    return _METHODS.get((kind, name))
