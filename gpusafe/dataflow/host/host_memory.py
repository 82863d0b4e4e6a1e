"""Host memory that asynchronous operations use: element sizes, and when a Vec or slice becomes a Memory."""

from __future__ import annotations

from gpusafe.dataflow.host import terms
from gpusafe.dataflow.host.access import host_slice, peel
from gpusafe.dataflow.host.handles import Buffer, MemSlice, Pointer, View
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.typing_rules import size_of
from gpusafe.dataflow.host.values import SeqVal, SliceVal, StructVal, Value
from gpusafe.ir.expr import USIZE, Expr, Type
from gpusafe.ir.host import MemAccess
from gpusafe.parse.rust import ast
from gpusafe.span import Span


def element_size(m: Machine, value: Value) -> int | None:
    """Bytes of an element of a sequence, buffer or view; None when not known."""
    match peel(value):
        case Buffer(elem_bytes=size) | View(elem_bytes=size) | MemSlice(elem_bytes=size) | Pointer(elem_bytes=size):
            return size
        case SeqVal(elem=Type() as elem):
            return elem.bytes
        case SeqVal(elem=ast.Type() as kind):
            return size_of(m, kind)
        case SeqVal(items=list() as items) if items and isinstance(items[0].value, Expr):
            return items[0].value.type.bytes
        case SliceVal(seq=seq):
            return element_size(m, seq)
    return None


def nonzero(value: Value) -> bool:
    """Whether a value, or an element of a sequence, is known not to be zero (copied, it is no start of a signal)."""
    found = peel(value)
    seq = found.seq if isinstance(found, SliceVal) else found
    parts = [c.value for c in seq.items or ()] + [seq.fill] if isinstance(seq, SeqVal) else [found]
    return any(terms.known(peel(part)) not in (None, 0) for part in parts)


def length_of(m: Machine, value: Value) -> Value:
    """Number of elements of a sequence, buffer or view; a fresh unknown when not known."""
    found = peel(value)
    length = getattr(found, "length", None)
    if isinstance(length, (int, Expr)):
        return length
    if isinstance(found, StructVal):
        return 1
    return m.symbol("length", USIZE, 0)


def host_range(m: Machine, value: Value, mode: str, span: Span) -> MemAccess | None:
    """The access of an asynchronous copy to its host side, which becomes a Memory if it is not one yet."""
    found = peel(value)
    known = host_slice(found)
    if known is not None:
        size = known.elem_bytes
        start = terms.mul(known.start, size) if size else None
        if start is None:
            return m.whole(known.memory, mode)
        return m.span_access(known.memory, start, terms.mul(known.length, size), mode)
    seq = found.seq if isinstance(found, SliceVal) else found
    if isinstance(seq, SeqVal):
        size = element_size(m, seq)
        length = terms.as_term(seq.length, USIZE)
        seq.memory = m.new_memory("host", span, elem_bytes=size, length=length, name=_name_of(value))
        return host_range(m, value, mode, span)
    return None


def _name_of(value: Value) -> str:
    from gpusafe.dataflow.host.values import RefVal

    current = value
    for _ in range(8):
        if isinstance(current, RefVal):
            if current.cell.name:
                return current.cell.name
            current = current.cell.value
    return ""
