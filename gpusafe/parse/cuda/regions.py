"""Variables that are memory: shared arrays, globals, local arrays."""

from __future__ import annotations

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import PTR, U64, Const, Expr, Op, PtrBase, Special
from gpusafe.parse.cuda import syntax as s
from gpusafe.parse.cuda import terms
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.context import Context, Unsupported
from gpusafe.parse.cuda.resolve import resolve
from gpusafe.parse.cuda.values import MemoryPlace, Operand
from gpusafe.span import Span


def element_type(kind: t.CType) -> tuple[t.CType, int | None]:
    """The innermost element of an array and how many there are (1 for what is no array)."""
    count: int | None = 1
    while isinstance(kind, t.Array):
        count = None if count is None or kind.length is None else count * kind.length
        kind = kind.of
    return kind, count


def make_region(
    x: Context, name: str, space: k.Space, kind: t.CType, span: Span, *, initialized: bool, read_only: bool = False
) -> MemoryPlace:
    """A region for a variable, and the place that it is."""
    inner, count = element_type(kind)
    size = t.size_of(inner)
    if size is None:
        raise Unsupported(f"`{name}`, an array of `{t.show(inner)}`")
    length = None if count is None else Const(U64, count)
    region = x.add_region(k.Region(name, space, size, length, span, None, read_only, False, initialized))
    return MemoryPlace(kind, PtrBase(PTR, region.name))


def shared_variable(x: Context, variable: s.Variable, key: object) -> Operand:
    """A ``__shared__`` variable: one object however often its function is inlined."""
    kind = resolve(x, variable.type)
    if "extern" in variable.flags or (isinstance(kind, t.Array) and kind.length is None):
        return dynamic_shared(x, variable, kind)
    known = x.statics.get(key)
    if known is None:
        place = make_region(x, variable.name, k.Space.SHARED, kind, variable.span, initialized=False)
        known = x.statics[key] = place
    return known


def dynamic_shared(x: Context, variable: s.Variable, kind: t.CType) -> Operand:
    """All ``extern __shared__`` variables are the one dynamic allocation of the block."""
    known = x.statics.get("dynamic shared")
    inner, _ = element_type(kind)
    if isinstance(known, MemoryPlace):
        return MemoryPlace(kind, known.pointer)
    size = t.size_of(inner)
    if size is None:
        raise Unsupported(f"`{variable.name}`, shared memory of `{t.show(inner)}`")
    total: Expr = terms.cast(Special(t.UINT.type, "dynamic_smem_bytes"), U64)
    length = terms.binary(Op.DIV, total, Const(U64, size))
    region = x.add_region(
        k.Region(variable.name, k.Space.DYNAMIC_SHARED, size, length, variable.span, initialized=False)
    )
    place = MemoryPlace(kind, PtrBase(PTR, region.name))
    x.statics["dynamic shared"] = place
    return place


def _all_zero(init: s.Expr | None) -> bool:
    """Whether a variable starts with zeros: it has no initialiser, or one of zeros."""
    stack = [init] if init is not None else []
    while stack:
        match stack.pop():
            case s.Braces(items=items):
                stack += items
            case s.Integer(value=0) | s.Floating(value=0.0):
                continue
            case _:
                return False
    return True


def global_variable(x: Context, variable: s.Variable) -> Operand:
    """A variable of the module: ``__device__``, ``__constant__``, or a table of constants."""
    key = ("global", id(variable))
    known = x.statics.get(key)
    if known is not None:
        return known
    if "__shared__" in variable.flags:
        return shared_variable(x, variable, key)
    kind = resolve(x, variable.type)
    if isinstance(kind, t.Array) and kind.length is None and isinstance(variable.init, s.Braces):
        kind = t.Array(kind.of, len(variable.init.items), const=kind.const)
    fixed = bool({"__constant__", "constexpr"} & variable.flags) or not {"__device__", "__managed__"} & variable.flags
    space = k.Space.CONSTANT if fixed else k.Space.GLOBAL
    read_only = fixed or ("const" in variable.flags and not isinstance(kind, t.Pointer))
    place = make_region(x, variable.name, space, kind, variable.span, initialized=True, read_only=read_only)
    if not _all_zero(variable.init) and isinstance(place.pointer, PtrBase):
        x.amend_region(place.pointer.region, nonzero=True)
    x.statics[key] = place
    if variable.init is not None and isinstance(place.pointer, PtrBase):
        host_may_write = {"__constant__", "__device__", "__managed__"} & variable.flags
        elements = None
        if not host_may_write and isinstance(kind, t.Array):
            from gpusafe.parse.cuda.table_values import read_table

            elements = read_table(x, kind, variable.init)
        if fixed:
            x.tables[place.pointer.region] = elements
    return place
