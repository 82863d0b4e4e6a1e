"""Indexing: elements and ranges of host sequences, of buffers that the host sees, and of device slices."""

from __future__ import annotations

from gpusafe.dataflow.host import terms
from gpusafe.dataflow.host.access import chain, deref, host_slice, touch_slice
from gpusafe.dataflow.host.handles import Buffer, MemSlice, View
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.signals import PanicSignal
from gpusafe.dataflow.host.typing_rules import apply_type
from gpusafe.dataflow.host.values import BagVal, Cell, RangeVal, SeqVal, SliceVal, StructVal, Unknown, Value
from gpusafe.ir.expr import USIZE, Op
from gpusafe.parse.rust import ast
from gpusafe.span import Span


def index_place(m: Machine, expr: ast.Index) -> Cell:
    """The place ``base[index]``."""
    base = m.place(expr.base)
    index = m.value(expr.index)
    return at(m, base, index, expr.span)


def at(m: Machine, base: Cell, index: Value, span: Span) -> Cell:
    """The place of an element or range."""
    target = deref(base).value
    if isinstance(index, Cell):
        index = index.value
    if isinstance(index, RangeVal):
        return Cell(sub_range(m, target, index, span))
    match target:
        case SeqVal():
            return _element(m, target, index, span)
        case SliceVal(seq=seq, start=start):
            position = terms.add(start, index)
            return _element(m, seq, position if position is not None else Unknown("an index"), span)
        case MemSlice() | Buffer(kind="pinned" | "unified"):
            return _memory_element(m, target, index)
        case BagVal(items=items):
            from gpusafe.dataflow.host.std_maps import index as entry

            found = entry(target, index)
            if found is not None:
                return found
            return (
                items[0] if len(items) == 1 else Cell(Unknown("an entry of a map", None, tuple(c.value for c in items)))
            )
        case StructVal(name=owner) if m.program.methods.get((owner, "index")):
            return m.temporary(m.index_user(base, index, span))
    return Cell(Unknown("an element of a value that is not modelled", None, getattr(target, "holds", ())))


def _element(m: Machine, seq: SeqVal, index: Value, span: Span) -> Cell:
    position = terms.known(index)
    if seq.memory is not None:
        first = index if not isinstance(index, Unknown) else m.symbol("index", USIZE)
        return Cell(MemSlice(seq.memory, first, 1, None, True))
    if seq.items is not None:
        if position is not None and 0 <= position < len(seq.items):
            if isinstance(index, terms.Counter) and isinstance(seq.length, int):
                m.note_counter("the loop's counter indexes a list")
            return seq.items[position]
        if seq.items and position is None:
            return _any_of(m, seq, index, span)
    return Cell(sample(m, seq))


def _any_of(m: Machine, seq: SeqVal, index: Value, span: Span) -> Cell:
    """An element by an index that is not known: each one is possible."""
    from gpusafe.dataflow.host.drops import owns

    items = seq.items or []
    if not any(owns(m, c.value) for c in items):
        return Cell(sample(m, seq))
    if len(items) <= 4 and not isinstance(index, Unknown):
        for i, item in enumerate(items[:-1]):
            here = terms.binary(Op.EQ, index, i)
            if m.decide(here if here is not None else Unknown("a comparison"), f"the index is {i}", span):
                return item
        m.assume(terms.binary(Op.EQ, index, len(items) - 1))
        return items[-1]
    if len(items) <= 4:
        labels = tuple(f"the index at {span.file}:{span.line} is {i}" for i in range(len(items)))
        return items[m.choose(labels, turn=True)]
    return Cell(Unknown("an element by an index that is not known", None, tuple(c.value for c in items)))


def sample(m: Machine, seq: SeqVal) -> Value:
    """Some element of a sequence whose contents are not known one by one."""
    if seq.sample is not None:
        return seq.sample()
    kind = seq.elem if isinstance(seq.elem, ast.Type) else None
    if kind is None and seq.elem is not None and not isinstance(seq.elem, ast.Type) and seq.elem.kind == "int":
        return m.symbol("element", seq.elem)
    return apply_type(m, Unknown("an `element`"), kind)


def _memory_element(m: Machine, target: MemSlice | Buffer, index: Value) -> Cell:
    slice_ = host_slice(target)
    assert slice_ is not None
    position = index if not isinstance(index, Unknown) else m.symbol("index", USIZE)
    first = terms.add(slice_.start, position)
    return Cell(MemSlice(slice_.memory, first if first is not None else 0, 1, slice_.elem_bytes, True), "element")


def bounds(range_: RangeVal, length: Value) -> tuple[Value, Value]:
    """Start and length of a range over something of a length."""
    start = range_.low if range_.low is not None else 0
    end = range_.high if range_.high is not None else length
    if range_.inclusive and range_.high is not None:
        end = terms.add(end, 1)
    count = terms.sub(end, start) if end is not None else None
    return start, count if count is not None else Unknown("the length of a range")


def keep_inside(m: Machine, range_: RangeVal, length: Value) -> None:
    """A range out of order or past the end panics."""
    for condition in _inside(range_, length):
        if condition is False:
            raise PanicSignal
        m.assume(condition)


def is_inside(m: Machine, range_: RangeVal, length: Value, words: str, span: Span) -> bool:
    """Whether a range is in order and not past the end: decided, or both ways are walked."""
    return all(m.decide(c if c is not None else Unknown("a bound"), words, span) for c in _inside(range_, length))


def _inside(range_: RangeVal, length: Value) -> list[Value | None]:
    start = range_.low if range_.low is not None else 0
    end = length if range_.high is None else terms.add(range_.high, 1) if range_.inclusive else range_.high
    pairs = [(low, high) for low, high in ((start, end), (end, length)) if low is not high]
    return [terms.binary(Op.LE, low, high) if low is not None and high is not None else None for low, high in pairs]


def sub_range(m: Machine, target: Value, range_: RangeVal, span: Span) -> Value:
    """``base[a..b]`` as a slice of what is behind the base."""
    match target:
        case SeqVal():
            start, count = bounds(range_, target.length)
            return SliceVal(target, start, count)
        case SliceVal():
            start, count = bounds(range_, target.length)
            first = terms.add(target.start, start)
            return SliceVal(target.seq, first if first is not None else 0, count, target.mutable)
        case MemSlice() | Buffer(kind="pinned" | "unified"):
            whole = host_slice(target)
            assert whole is not None
            start, count = bounds(range_, whole.length)
            first = terms.add(whole.start, start)
            if first is None or isinstance(count, Unknown):
                return whole
            return MemSlice(whole.memory, first, count, whole.elem_bytes, whole.mutable)
        case Buffer():
            keep_inside(m, range_, target.length)
            start, count = bounds(range_, target.length)
            return device_view(m, target, start, count, target.elem_bytes, False)
        case View():
            keep_inside(m, range_, target.length)
            start, count = bounds(range_, target.length)
            first = terms.add(target.start, start)
            return device_view(m, target.buffer, first, count, target.elem_bytes, target.mutable)
    return Unknown("a range of a value that is not modelled", None, getattr(target, "holds", ()))


def device_view(
    m: Machine, buffer: Buffer, start: Value | None, count: Value, elem_bytes: int | None, mutable: bool
) -> View:
    """A view of a device buffer; what is not known about its bounds becomes a symbol."""
    if start is None or isinstance(start, Unknown):
        start = m.symbol("start", USIZE)
    if isinstance(count, Unknown):
        count = m.symbol("length", USIZE)
    return View(buffer, start, count, elem_bytes, mutable)


def element(cell: Cell) -> MemSlice | None:
    """The tracked memory of a place that is one element of it."""
    found = cell.value
    if isinstance(found, MemSlice) and (cell.name == "element" or (found.length == 1 and found.elem_bytes is None)):
        return found
    return None


def read_place(m: Machine, cell: Cell, span: Span, mode: str = "read") -> None:
    """Reading a place that is an element of tracked memory is an access by the host; its value is not known."""
    found = chain(cell)[-1]
    if isinstance(found.value, MemSlice) and found.name == "element":
        touch_slice(m, found.value, mode, span)
        if mode == "read":
            found.value = Unknown("an element of a buffer")
    elif isinstance(found.value, MemSlice) and found.value.length == 1 and found.value.elem_bytes is None:
        touch_slice(m, found.value, mode, span)
        found.value = Unknown("an element of a buffer")


def write_place(m: Machine, cell: Cell, expr: ast.Assign) -> None:
    """Assigning to an element of tracked memory is a write by the host."""
    found = chain(cell)[-1]
    if isinstance(found.value, MemSlice) and isinstance(expr.target, (ast.Index, ast.Unary)):
        touch_slice(m, found.value, "write", expr.span)
