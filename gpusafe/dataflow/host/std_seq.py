"""Methods of arrays, slices, Vec and the other collections."""

from __future__ import annotations

from gpusafe.dataflow.host import terms
from gpusafe.dataflow.host.access import peel, touch
from gpusafe.dataflow.host.drops import take
from gpusafe.dataflow.host.indexing import at, sample, sub_range
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
    ]
)
_READS = frozenset(
    ["contains", "to_vec", "concat", "join", "starts_with", "ends_with", "binary_search", "repeat", "iter_sum"]
)


def call(m: Machine, target: Cell, receiver: Cell, name: str, args: list[Value], expr: ast.MethodCall) -> Found | None:
    """A method on a sequence."""
    value = target.value
    if isinstance(value, BagVal):
        return _bag(m, value, name, args, expr)
    assert isinstance(value, (SeqVal, SliceVal))
    if name in _WRITES:
        touch(m, value, "write", expr.name_span)
        for arg in args:
            touch(m, arg, "read", expr.name_span)
        _forget(value, name)
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
            return Found(to_iter(m, _emptied(value), expr.span))
        case "contains" | "starts_with" | "ends_with" | "binary_search":
            return Found(Unknown(f"the result of `{name}`"))
    if isinstance(value, SeqVal) and name.startswith("push") and args and value.items is not None:
        christen(m, args[-1], f"{target.name}[{len(value.items)}]" if target.name else "")
    return _grow(m, value, name, args, expr) if isinstance(value, SeqVal) else None


def _forget(value: SeqVal | SliceVal, name: str) -> None:
    seq = value.seq if isinstance(value, SliceVal) else value
    if name in ("swap", "reverse", "rotate_left", "rotate_right") or seq.items is None:
        return
    for cell in seq.items:
        if isinstance(cell.value, (bool, int, float, str)):
            cell.value = Unknown("an element")


def _emptied(value: SeqVal | SliceVal) -> Value:
    if isinstance(value, SliceVal):
        return value
    taken = SeqVal("vec", value.items, value.length, value.elem, None, value.sample)
    if value.items is not None:
        value.items, value.length = [], 0
    return taken


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
                value.items.insert(place if place is not None else len(value.items), Cell(item))
                value.length = len(value.items)
            else:
                longer = terms.add(value.length, 1)
                value.length = longer if longer is not None else m.symbol("length")
            if value.memory is not None:
                touch(m, value, "write", expr.name_span)
            return Found(unit())
        case "extend" | "extend_from_slice" | "append":
            return Found(_extend(m, value, args[0], expr))
        case "pop" | "pop_back" | "pop_front" | "remove" | "swap_remove":
            return Found(_remove(m, value, name, args))
        case "clear" | "truncate":
            old = value.items or []
            keep = terms.known(args[0]) if args else 0
            if value.items is not None and keep is not None:
                value.items, gone = old[:keep], old[keep:]
                value.length = len(value.items)
                for cell in gone:
                    m.drop(cell.value, expr.span)
            else:
                value.length = args[0] if args else 0
            return Found(unit())
        case "resize" | "resize_with":
            value.items, value.length = None, args[0]
            if value.memory is not None:
                touch(m, value, "write", expr.name_span)
            return Found(unit())
        case "reserve" | "shrink_to_fit" | "dedup" | "retain" | "set_len":
            if name in ("dedup", "retain"):
                value.items, value.length = None, m.symbol("length")
            return Found(unit())
        case "append":
            return Found(unit())
    return None


def _extend(m: Machine, value: SeqVal, source: Value, expr: ast.MethodCall) -> Value:
    more = to_iter(m, source, expr.span)
    elements = drain(m, more)
    if elements is not None and value.items is not None:
        value.items.extend(Cell(e) for e in elements)
        value.length = len(value.items)
    else:
        total = terms.add(value.length, more.length) if more.length is not None else None
        value.items, value.length = None, total if total is not None else m.symbol("length")
    if value.memory is not None:
        touch(m, value, "write", expr.name_span)
    return unit()


def _remove(m: Machine, value: SeqVal, name: str, args: list[Value]) -> Value:
    optional = name.startswith("pop")
    if value.items is None:
        return Unknown("an element") if optional else sample(m, value)
    if not value.items:
        return none()
    index = {"pop": -1, "pop_back": -1, "pop_front": 0}.get(name)
    if index is None:
        position = terms.known(args[0])
        index = position if position is not None and position < len(value.items) else 0
    cell = value.items.pop(index)
    value.length = len(value.items)
    taken, cell.value = cell.value, MOVED
    return some(taken) if optional else taken


def _bag(m: Machine, bag: BagVal, name: str, args: list[Value], expr: ast.MethodCall) -> Found | None:
    match name:
        case "insert":
            bag.items.append(Cell(args[-1]))
            return Found(Unknown("the previous entry"))
        case "get" | "get_mut" | "entry":
            if not bag.items:
                return Found(none())
            if len(bag.items) == 1:
                return Found(some(RefVal(bag.items[0], name == "get_mut")))
            return Found(Unknown("an entry of a map", None, tuple(c.value for c in bag.items)))
        case "values" | "values_mut" | "iter" | "iter_mut" | "into_iter" | "drain" | "into_values":
            cells = list(bag.items)
            return Found(IterVal(len(cells), lambda i: RefVal(cells[i], True)))
        case "len":
            return Found(m.symbol("length"))
        case "clear":
            for cell in bag.items:
                m.drop(cell.value, expr.span)
            bag.items.clear()
            return Found(unit())
        case "contains_key" | "is_empty" | "keys":
            return Found(Unknown(f"the result of `{name}`"))
        case "remove":
            taken = bag.items.pop() if len(bag.items) == 1 else None
            return Found(some(taken.value) if taken else Unknown("an entry of a map"))
    return None
