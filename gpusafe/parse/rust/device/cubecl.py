"""What is particular to CubeCL's kernels: how they are launched, their generic numbers, their guarded indexing.

``#[cube(launch)]`` kernels guard each access of a buffer (outside of it nothing is accessed and the unit goes on);
``#[cube(launch_unchecked)]`` ones do not (cubecl-core, ExecutionMode).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import PTR, Expr, PtrAdd, PtrUnknown
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.device.bodies import Nest
from gpusafe.parse.rust.device.types import SCALARS, Ty

DIALECT = "cubecl"
_MODE = re.compile(r"\blaunch(_unchecked)?\b")
_INTEGERS = frozenset({"Int"})
_NUMBERS = frozenset({"Float", "Numeric", "CubePrimitive", "CubeElement", "Scalar", "ScalarArgType"})
_WIDTHS = frozenset({"Size"})


def launch_mode(item: ast.Fn) -> str | None:
    """``launch`` or ``launch_unchecked`` as ``#[cube(..)]`` says; None for what is no kernel of CubeCL."""
    attribute = item.attribute("cube")
    found = _MODE.search(attribute.text) if attribute is not None else None
    return found.group() if found is not None else None


def stand_in(param: ast.GenericParam) -> Ty | None:
    """The number that stands for a generic one: values of buffers are unknown, so that any type does."""
    names = {b.path.last for b in param.bounds if isinstance(b, ast.TypePath)}
    if names & _INTEGERS:
        return SCALARS["u32"]
    if names & (_NUMBERS | _WIDTHS):
        return SCALARS["f32"]
    return None


def granted(item: ast.Fn) -> tuple[str, ...]:
    """What a proof of the kernel takes for granted."""
    names = [g.name for g in item.generics if g.kind == "type" and stand_in(g) is not None]
    return (f"{', '.join(f'`{n}`' for n in names)} stand for any type of that kind",) if names else ()


def guarded(stmt: k.Stmt, guards: dict[Expr, Expr]) -> k.Stmt | Nest:
    """The access under the condition that its index is inside of the buffer; what is not read is not known."""
    if isinstance(stmt, (k.Load, k.Store, k.Atomic)):
        cond = next((guards[p] for p in _bases(stmt.ptr) if p in guards), None)
        if cond is not None:
            return Nest("if", stmt.span, [stmt], list(_nothing(stmt)), cond=cond)
    return stmt


def _bases(pointer: Expr) -> Iterator[Expr]:
    yield pointer
    while isinstance(pointer, PtrAdd):
        pointer = pointer.ptr
        yield pointer


def _nothing(stmt: k.Load | k.Store | k.Atomic) -> Iterator[k.Stmt]:
    var = None if isinstance(stmt, k.Store) else stmt.var
    if var is None or isinstance(stmt, k.Store):
        return
    reason = "an element outside of its buffer"
    if stmt.type == PTR:
        yield k.Assign(stmt.span, var, PtrUnknown(PTR, reason))
    else:
        yield k.Havoc(stmt.span, var, stmt.type, reason)
