"""Slice methods on memory that the device may touch too: looking at the contents is an access by the host."""

from __future__ import annotations

from dataclasses import replace

from gpusafe.dataflow.host import terms
from gpusafe.dataflow.host.access import host_slice, peel, touch, touch_slice
from gpusafe.dataflow.host.handles import MemSlice
from gpusafe.dataflow.host.indexing import at, sub_range
from gpusafe.dataflow.host.iterators import borrowed
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.results import Found
from gpusafe.dataflow.host.values import (
    Cell,
    IterVal,
    RangeVal,
    RefVal,
    SeqVal,
    TupleVal,
    Unknown,
    Value,
    none,
    some,
    unit,
)
from gpusafe.ir.expr import Op
from gpusafe.parse.rust import ast

_WRITES = frozenset(
    [
        "fill",
        "copy_from_slice",
        "clone_from_slice",
        "swap",
        "sort",
        "sort_unstable",
        "sort_by",
        "reverse",
        "rotate_left",
        "rotate_right",
        "copy_within",
        "fill_with",
        "write",
        "write_all",
        "put_slice",
    ]
)
_READS = frozenset(
    [
        "contains",
        "concat",
        "join",
        "starts_with",
        "ends_with",
        "binary_search",
        "repeat",
        "eq",
        "ne",
        "cmp",
        "partial_cmp",
        "hash",
    ]
)


def call(
    m: Machine, target: Cell, name: str, args: list[Value], expr: ast.MethodCall, expect: ast.Type | None
) -> Found | None:
    """A slice method; None when it is not one."""
    slice_ = host_slice(target.value)
    assert slice_ is not None
    span = expr.name_span
    if name in _WRITES:
        touch_slice(m, slice_, "write", span, f"`{name}` writes `{m.memory_name(slice_.memory)}`")
        for arg in args:
            touch(m, arg, "read", span)
        return Found(unit())
    if name in _READS:
        touch_slice(m, slice_, "read", span)
        return Found(Unknown(f"the result of `{name}`"))
    match name:
        case "len":
            return Found(slice_.length)
        case "is_empty":
            empty = terms.binary(Op.EQ, slice_.length, 0)
            return Found(empty if empty is not None else Unknown("a comparison"))
        case "iter" | "iter_mut" | "into_iter":
            return Found(borrowed(m, Cell(slice_), name == "iter_mut", span))
        case "to_vec" | "to_owned" | "clone":
            touch_slice(m, slice_, "read", span)
            return Found(SeqVal("vec", None, slice_.length))
        case "as_slice" | "as_mut_slice" | "as_ref" | "as_mut":
            return Found(MemSlice(slice_.memory, slice_.start, slice_.length, slice_.elem_bytes, "mut" in name))
        case "get" | "get_mut" | "first" | "last" | "first_mut" | "last_mut":
            return Found(_get(m, slice_, name, args, expr))
        case "chunks" | "chunks_exact" | "chunks_mut" | "chunks_exact_mut":
            return Found(_chunks(slice_, peel(args[0]), name))
        case "split_at" | "split_at_mut":
            left = sub_range(m, slice_, RangeVal(0, peel(args[0])), expr.span)
            right = sub_range(m, slice_, RangeVal(peel(args[0]), None), expr.span)
            return Found(TupleVal([Cell(left), Cell(right)]))
        case "get_unchecked" | "get_unchecked_mut":
            return Found(RefVal(at(m, target, args[0], expr.span), name.endswith("mut")))
        case "as_ptr" | "as_mut_ptr":
            from gpusafe.dataflow.host.handles import Pointer

            size = slice_.elem_bytes
            offset = terms.mul(slice_.start, size) if size else 0
            return Found(Pointer(slice_.memory, offset, size))
    return None


def _get(m: Machine, slice_: MemSlice, name: str, args: list[Value], expr: ast.MethodCall) -> Value:
    """``get(i)``, ``get(a..b)``, ``first()`` and the like: a reference into the memory, if there is such an element."""
    mode = "write" if name.endswith("mut") else "read"
    index: Value = peel(args[0]) if args else 0 if name.startswith("first") else terms.sub(slice_.length, 1)
    if isinstance(index, RangeVal):
        part = sub_range(m, slice_, index, expr.span)
        assert isinstance(part, MemSlice)
        return some(replace(part, mutable=mode == "write"))
    inside = terms.binary(Op.LT, index if args else 0, slice_.length)
    words = f"{m.source_text(expr)} is Some"
    if not m.decide(inside if inside is not None else Unknown("a bound"), words, expr.span):
        return none()
    place = at(m, Cell(slice_), index if index is not None else Unknown("an index"), expr.span)
    assert isinstance(place.value, MemSlice)
    touch_slice(m, place.value, mode, expr.name_span)
    return some(RefVal(place, mode == "write"))


def _chunks(slice_: MemSlice, size: Value, name: str) -> IterVal:
    exact, total = "exact" in name, slice_.length
    count = terms.binary(Op.DIV, total, size) if exact else terms.div_ceil(total, size)
    known_total, known_size = terms.known(total), terms.known(size)

    def get(index: int) -> Value:
        offset = terms.mul(terms.Counter(index), size)
        start = terms.add(slice_.start, offset) if offset is not None else None
        length = size
        if known_total is not None and known_size and not exact:  # the last one holds the rest
            length = min(known_size, known_total - index * known_size)
        return MemSlice(slice_.memory, start if start is not None else 0, length, slice_.elem_bytes, "mut" in name)

    return IterVal(count, get)
