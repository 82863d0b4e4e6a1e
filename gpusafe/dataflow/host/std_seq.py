"""Methods of arrays, slices, Vec and the other collections."""

from __future__ import annotations

from gpusafe.dataflow.host import std_maps, terms
from gpusafe.dataflow.host.access import peel, touch
from gpusafe.dataflow.host.accounting import leak
from gpusafe.dataflow.host.drops import owns, take
from gpusafe.dataflow.host.foreign import handles_in, not_followed
from gpusafe.dataflow.host.indexing import at, bounds, sample, sub_range
from gpusafe.dataflow.host.iterators import borrowed, drain, to_iter
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.naming import christen
from gpusafe.dataflow.host.results import Found
from gpusafe.dataflow.host.values import (
    MOVED,
    BagVal,
    Cell,
    IterVal,
    RangeVal,
    RefVal,
    SeqVal,
    SliceVal,
    TupleVal,
    Unknown,
    Value,
    none,
    ok,
    some,
    unit,
)
from gpusafe.ir.expr import Op
from gpusafe.parse.rust import ast

_FEW = 8
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
    ]
)
_READS = frozenset(
    ["contains", "to_vec", "concat", "join", "starts_with", "ends_with", "binary_search", "repeat", "iter_sum"]
)


def call(m: Machine, target: Cell, receiver: Cell, name: str, args: list[Value], expr: ast.MethodCall) -> Found | None:
    """A method on a sequence."""
    value = target.value
    if isinstance(value, BagVal):
        return std_maps.call(m, value, name, args, expr)
    assert isinstance(value, (SeqVal, SliceVal))
    if name in _WRITES:
        touch(m, value, "write", expr.name_span)
        for arg in args:
            touch(m, arg, "read", expr.name_span)
        _rearrange(m, value, name, args, expr)
        return Found(unit())
    if name in _READS:
        touch(m, value, "read", expr.name_span)
    match name:
        case "len" | "capacity":
            return Found(value.length)
        case "is_empty":
            empty = terms.binary(Op.EQ, value.length, 0)
            return Found(empty if empty is not None else Unknown("a comparison"))
        case "iter" | "iter_mut":
            return Found(borrowed(m, target, name == "iter_mut", expr.name_span))
        case "into_iter":
            return Found(
                to_iter(m, RefVal(target) if isinstance(receiver.value, RefVal) else take(m, target), expr.span)
            )
        case "as_slice" | "as_mut_slice":
            return Found(RefVal(target, name == "as_mut_slice"))
        case "as_ptr" | "as_mut_ptr":
            return Found(RefVal(target, name == "as_mut_ptr"))
        case (
            "get"
            | "get_mut"
            | "first"
            | "last"
            | "first_mut"
            | "last_mut"
            | "front"
            | "back"
            | "front_mut"
            | "back_mut"
        ):
            return Found(_get(m, target, name, args, expr))
        case "get_unchecked" | "get_unchecked_mut":
            return Found(RefVal(at(m, target, args[0], expr.span), name.endswith("mut")))
        case "to_vec":
            from gpusafe.dataflow.host.std_methods import clone_value

            return Found(clone_value(m, value))
        case "chunks" | "chunks_exact" | "chunks_mut" | "chunks_exact_mut":
            return Found(_chunks(m, value, args[0], name))
        case "split_at" | "split_at_mut":
            left = sub_range(m, value, RangeVal(0, args[0]), expr.span)
            right = sub_range(m, value, RangeVal(args[0], None), expr.span)
            return Found(TupleVal([Cell(left), Cell(right)]))
        case "windows":
            return Found(IterVal(None, lambda i: sub_range(m, value, RangeVal(i, None), expr.span)))
        case "drain":
            return Found(to_iter(m, _drained(m, value, args, expr), expr.span))
        case "contains" | "starts_with" | "ends_with" | "binary_search":
            return Found(Unknown(f"the result of `{name}`"))
    if isinstance(value, SeqVal) and name.startswith("push") and args and value.items is not None:
        christen(m, args[-1], f"{target.name}[{len(value.items)}]" if target.name else "")
    return _grow(m, value, name, args, expr) if isinstance(value, SeqVal) else None


def _rearrange(m: Machine, value: SeqVal | SliceVal, name: str, args: list[Value], expr: ast.MethodCall) -> None:
    """Methods that write elements or move them about: exact where it is known which, else the contents are unknown."""
    cells = _cells(value)
    if cells is None:
        if isinstance(value, SeqVal) and value.sample is not None:
            not_followed(m, name, [value.sample()], expr.span)
        return
    numbers = [terms.known(peel(a)) for a in args]
    values = [c.value for c in cells]
    match name:
        case "swap" if None not in numbers and all(0 <= int(n or 0) < len(cells) for n in numbers):
            one, two = int(numbers[0] or 0), int(numbers[1] or 0)
            values[one], values[two] = values[two], values[one]
        case "reverse":
            values.reverse()
        case "rotate_left" | "rotate_right" if numbers[0] is not None and values:
            by = numbers[0] % len(values) * (1 if name == "rotate_left" else -1)
            values = values[by:] + values[:by]
        case _:
            not_followed(m, name, [*values, *args], expr.span)
            values = [v if handles_in(v) else Unknown("an element") for v in values]
    for arg in args:
        if isinstance(arg, terms.Counter):
            m.note_counter("the loop's counter moves elements about")
    for cell, new in zip(cells, values, strict=True):
        cell.value = new


def _cells(value: SeqVal | SliceVal) -> list[Cell] | None:
    """The elements of a sequence or of a known part of it."""
    if isinstance(value, SeqVal):
        return value.items
    start, length = terms.known(value.start), terms.known(value.length)
    if value.seq.items is None or start is None or length is None:
        return value.seq.items
    return value.seq.items[start : start + length]


def _drained(m: Machine, value: SeqVal | SliceVal, args: list[Value], expr: ast.MethodCall) -> Value:
    """``drain(range)``: the elements that come out; the others close ranks."""
    if isinstance(value, SliceVal):
        return value
    if value.items is None:
        return SeqVal("vec", None, value.length, value.elem, None, value.sample)
    range_ = peel(args[0]) if args else RangeVal(None, None)
    start, count = bounds(range_, value.length) if isinstance(range_, RangeVal) else (None, None)
    first, number = terms.known(start), terms.known(count)
    if first is None or number is None:
        not_followed(m, "drain", [c.value for c in value.items], expr.span)
        return SeqVal("vec", None, m.symbol("length"), value.elem)
    taken = value.items[first : first + number]
    del value.items[first : first + number]
    value.length = len(value.items)
    return SeqVal("vec", taken, len(taken), value.elem)


def _get(m: Machine, target: Cell, name: str, args: list[Value], expr: ast.MethodCall) -> Value:
    value = target.value
    assert isinstance(value, (SeqVal, SliceVal))
    mutable = name.endswith("mut")
    if args and isinstance(peel(args[0]), RangeVal):
        range_ = peel(args[0])
        assert isinstance(range_, RangeVal)
        return some(sub_range(m, value, range_, expr.span))
    index: Value = peel(args[0]) if args else (0 if name.startswith(("first", "front")) else None)
    length = terms.known(value.length)
    if index is None:
        index = terms.sub(value.length, 1)
    position = terms.known(index)
    if length is not None and position is not None:
        if isinstance(index, terms.Counter):
            m.note_counter("the loop's counter is compared with a length")
        if not 0 <= position < length:
            return none()
        return some(RefVal(at(m, target, index, expr.span), mutable))
    inside = terms.binary(Op.LT, index, value.length) if index is not None else None
    words = f"{m.source_text(expr)} is Some"
    if m.decide(inside if inside is not None else Unknown("a bound"), words, expr.span):
        return some(RefVal(at(m, target, index, expr.span), mutable))
    return none()


def _chunks(m: Machine, value: SeqVal | SliceVal, size: Value, name: str) -> IterVal:
    exact = "exact" in name
    total = value.length
    count = terms.binary(Op.DIV, total, size) if exact else terms.div_ceil(total, size)
    mutable = name.endswith("mut")

    def get(index: int) -> Value:
        start = terms.mul(terms.Counter(index), size)
        known_total, known_size = terms.known(total), terms.known(size)
        length: Value = size
        if known_total is not None and known_size and not exact:
            length = min(known_size, known_total - index * known_size)
        elif not exact:
            length = m.symbol("chunk.len()", low=1)
        seq, first = (value, start) if isinstance(value, SeqVal) else (value.seq, terms.add(value.start, start))
        return SliceVal(seq, first if first is not None else 0, length, mutable)

    return IterVal(count, get)


def _grow(m: Machine, value: SeqVal, name: str, args: list[Value], expr: ast.MethodCall) -> Found | None:
    match name:
        case "push" | "push_back" | "push_front" | "insert":
            item = args[-1]
            if value.items is not None and len(value.items) < 4096:
                place = {"push_front": 0, "insert": terms.known(args[0])}.get(name, len(value.items))
                if place is None:
                    not_followed(m, name, [c.value for c in value.items], expr.span)
                value.items.insert(place if place is not None else len(value.items), Cell(item))
                value.length = len(value.items)
            else:
                longer = terms.add(value.length, 1)
                value.length = longer if longer is not None else m.symbol("length")
            if value.memory is not None:
                touch(m, value, "write", expr.name_span)
            return Found(unit())
        case "append":
            return Found(_append(m, value, args[0], expr))
        case "extend" | "extend_from_slice":
            return Found(_extend(m, value, args[0], expr, clones=name != "extend"))
        case "pop" | "pop_back" | "pop_front" | "remove" | "swap_remove":
            return Found(_remove(m, value, name, args, expr))
        case "clear" | "truncate":
            old = value.items or []
            keep = terms.known(args[0]) if args else 0
            if value.items is not None and keep is not None:
                value.items, gone = old[:keep], old[keep:]
                value.length = len(value.items)
                for cell in gone:
                    m.drop(cell.value, expr.span)
            else:
                not_followed(m, name, [c.value for c in old if owns(m, c.value)], expr.span)
                value.length = args[0] if args else 0
            return Found(unit())
        case "resize" | "resize_with":
            not_followed(m, name, [*(c.value for c in value.items or ()), *args[1:]], expr.span)
            value.items, value.length = None, peel(args[0])
            if value.memory is not None:
                touch(m, value, "write", expr.name_span)
            return Found(unit())
        case "set_len":
            _set_len(m, value, args, expr)
            return Found(unit())
        case "retain" | "retain_mut":
            _retain(m, value, args[0], expr)
            return Found(unit())
        case "split_off":
            return Found(_drained(m, value, [RangeVal(peel(args[0]), None)], expr))
        case "map" if value.kind == "array" and value.items is not None:
            made = [Cell(m.invoke(args[0], [take(m, c)], expr.span)) for c in value.items]
            return Found(SeqVal("array", made, len(made)))
        case "dedup" | "dedup_by_key" | "dedup_by" if not any(handles_in(a) for a in args):
            not_followed(m, name, [c.value for c in value.items or ()], expr.span)
            value.items, value.length = None, m.symbol("length")
            return Found(unit())
        case "reserve" | "reserve_exact" | "try_reserve" | "shrink_to_fit" | "shrink_to":
            if value.memory is not None:  # the contents may move to another place
                touch(m, value, "write", expr.name_span, f"`{name}` may move `{m.memory_name(value.memory)}`")
            return Found(unit() if not name.startswith("try") else ok(unit()))
    return None


def _retain(m: Machine, value: SeqVal, predicate: Value, expr: ast.MethodCall) -> None:
    """``retain``: what the predicate refuses is dropped at once."""
    if value.items is None or len(value.items) > _FEW:
        not_followed(m, "retain", [c.value for c in value.items or ()], expr.span)
        value.items, value.length = None, m.symbol("length")
        return
    kept: list[Cell] = []
    for cell in value.items:
        verdict = m.invoke(predicate, [RefVal(cell, True)], expr.span)
        if verdict is not True and verdict is not False and not handles_in(cell.value):
            value.items, value.length = None, m.symbol("length")
            return
        if m.decide(verdict, m.source_text(expr), expr.span):
            kept.append(cell)
        else:
            m.drop(cell.value, expr.span, cell.name)
    value.items, value.length = kept, len(kept)


def _set_len(m: Machine, value: SeqVal, args: list[Value], expr: ast.MethodCall) -> None:
    """``set_len``: elements beyond it are forgotten, not dropped."""
    keep = terms.known(args[0])
    if keep is not None and value.items is not None and keep <= len(value.items):
        for cell in value.items[keep:]:
            leak(cell.value)
        value.items, value.length = value.items[:keep], keep
        return
    not_followed(m, "set_len", [c.value for c in value.items or ()], expr.span)


def _append(m: Machine, value: SeqVal, source: Value, expr: ast.MethodCall) -> Value:
    """``append(&mut other)``: moves the elements over."""
    other = peel(source)
    if isinstance(other, SeqVal) and other.items is not None and value.items is not None:
        value.items.extend(other.items)
        other.items, other.length = [], 0
        value.length = len(value.items)
        return unit()
    if isinstance(other, SeqVal):
        not_followed(m, "append", [value, other], expr.span)
    return _extend(m, value, source, expr, clones=False)


def _extend(m: Machine, value: SeqVal, source: Value, expr: ast.MethodCall, clones: bool) -> Value:
    from gpusafe.dataflow.host.std_methods import clone_value

    more = to_iter(m, source, expr.span)
    elements = drain(m, more)
    if clones and elements is not None:
        elements = [clone_value(m, e) for e in elements]
    if elements is None or value.items is None:
        not_followed(m, "extend", [e for e in elements or () if owns(m, e)], expr.span)
        not_followed(m, "extend", [c.value for c in value.items or () if owns(m, c.value)], expr.span)
    if elements is not None and value.items is not None:
        value.items.extend(Cell(e) for e in elements)
        value.length = len(value.items)
    else:
        total = terms.add(value.length, more.length) if more.length is not None else None
        value.items, value.length = None, total if total is not None else m.symbol("length")
    if value.memory is not None:
        touch(m, value, "write", expr.name_span)
    return unit()


def _remove(m: Machine, value: SeqVal, name: str, args: list[Value], expr: ast.MethodCall) -> Value:
    optional = name.startswith("pop")
    if value.items is None:
        return Unknown("an element") if optional else sample(m, value)
    if not value.items:
        return none()
    index = {"pop": -1, "pop_back": -1, "pop_front": 0}.get(name)
    if index is None:
        position = terms.known(peel(args[0]))
        if position is None:
            not_followed(m, name, [c.value for c in value.items], expr.span)
        index = position if position is not None and position < len(value.items) else 0
    if name == "swap_remove":
        value.items[index], value.items[-1] = value.items[-1], value.items[index]
        index = -1
    cell = value.items.pop(index)
    value.length = len(value.items)
    taken, cell.value = cell.value, MOVED
    return some(taken) if optional else taken
