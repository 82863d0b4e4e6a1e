"""Iterators: what can be iterated over, the adapters, and the consumers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gpusafe.dataflow.host import terms, threads
from gpusafe.dataflow.host.access import deref, touch
from gpusafe.dataflow.host.drops import owns, take
from gpusafe.dataflow.host.foreign import handles_in, not_followed
from gpusafe.dataflow.host.handles import Buffer, MemSlice
from gpusafe.dataflow.host.indexing import bounds, sample
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.values import (
    MOVED,
    BagVal,
    Cell,
    IterVal,
    RangeVal,
    RefVal,
    SeqVal,
    SliceVal,
    StructVal,
    TupleVal,
    Unknown,
    Value,
    is_scalar,
    none,
    some,
)
from gpusafe.ir.expr import USIZE, Expr
from gpusafe.span import Span

EXACT_LIMIT = 64


def to_iter(m: Machine, value: Value, span: Span, how: str = "into_iter") -> IterVal:
    """The iterator over a value; ``how`` is iter, iter_mut or into_iter."""
    match value:
        case IterVal():
            return value
        case RangeVal():
            return _range(m, value)
        case RefVal(cell=cell):
            inner = deref(cell)
            if isinstance(inner.value, IterVal):
                return inner.value
            return borrowed(m, inner, value.mutable or how == "iter_mut", span)
        case SeqVal():
            return borrowed(m, Cell(value), True, span) if how != "into_iter" else _owned(m, value)
        case SliceVal() | MemSlice() | Buffer():
            mutable = how == "iter_mut" or (how == "into_iter" and getattr(value, "mutable", False))
            return borrowed(m, Cell(value), mutable, span)
        case BagVal():
            return entries(m, value, how)
        case StructVal(name="Option", fields=fields):
            cells = list(fields.values())
            return IterVal(len(cells), lambda i: take(m, cells[i]) if how == "into_iter" else RefVal(cells[i], True))
        case StructVal(name=name) if m.program.method(name, "next", m.home) is not None:
            cell = Cell(value)
            return IterVal(None, lambda i: Unknown("an element", None, (cell.value,)))
    holds = getattr(value, "holds", ())
    return IterVal(None, lambda i: Unknown("an element of a sequence that is not modelled", None, holds))


def entries(m: Machine, bag: BagVal, how: str) -> IterVal:
    """The entries of a map (key and value) or the elements of a set."""
    cells, keys = list(bag.items), list(bag.keys)
    moves = how in ("into_iter", "drain")

    def get(index: int) -> Value:
        inner = take(m, cells[index]) if moves else RefVal(cells[index], True)
        if not keys:
            return inner
        return TupleVal([Cell(keys[index] if moves else RefVal(Cell(keys[index]))), Cell(inner)])

    if moves:
        bag.items, bag.keys = [], []
    return IterVal(len(cells), get, Cell(SeqVal("vec", cells, len(cells))) if moves else None)


def _range(m: Machine, value: RangeVal) -> IterVal:
    low: Value = value.low if value.low is not None else 0
    if value.high is None:
        return IterVal(None, lambda i: _position(m, low, i), endless=True)
    length = bounds(value, None)[1]
    count = terms.known(length)
    if count is not None:
        length = max(0, count)
    return IterVal(None if isinstance(length, Unknown) else length, lambda i: _position(m, low, i))


def _position(m: Machine, low: Value, index: int) -> Value:
    step: Value = terms.Counter(index)
    found = terms.add(low, step)
    if isinstance(found, int):
        return terms.Counter(found)
    return found if found is not None else m.symbol("index", USIZE)


def borrowed(m: Machine, cell: Cell, mutable: bool, span: Span) -> IterVal:
    """Elements by reference."""
    target = cell.value
    match target:
        case SeqVal(items=list() as items, memory=None):
            return IterVal(len(items), lambda i: RefVal(items[i], mutable), elem=target.elem)
        case SeqVal(memory=None):
            return IterVal(target.length, lambda i: RefVal(Cell(sample(m, target)), mutable), elem=target.elem)
        case SliceVal(seq=SeqVal(items=list() as items, memory=None), start=int() as start, length=int() as length):
            part = items[start : start + length]
            return IterVal(len(part), lambda i: RefVal(part[i], mutable), elem=target.seq.elem)
        case SliceVal(seq=SeqVal(memory=None) as seq):
            return IterVal(target.length, lambda i: RefVal(Cell(sample(m, seq)), mutable), elem=seq.elem)
        case SeqVal() | SliceVal() | MemSlice() | Buffer():
            touch(m, target, "read", span)
            if mutable:
                touch(m, target, "write", span)
            return IterVal(target.length, lambda i: Unknown("an element of a buffer"))
    return to_iter(m, target, span, "iter")


def _owned(m: Machine, seq: SeqVal) -> IterVal:
    if seq.items is None:
        return IterVal(seq.length, lambda i: sample(m, seq), Cell(seq), elem=seq.elem)
    items = list(seq.items)
    return IterVal(len(items), lambda i: take(m, items[i]), Cell(seq), elem=seq.elem)


# -- adapters ----------------------------------------------------------------------------------------------------------


def adapt(m: Machine, source: IterVal, name: str, args: list[Value], span: Span) -> IterVal | None:
    """The iterator that an adapter method gives, None when ``name`` is no adapter."""
    made = _adapted(m, source, name, args, span)
    if made is not None and made is not source:
        made.works_on = (*source.works_on, *(a for a in args if not is_scalar(a)))
    return made


def _adapted(m: Machine, source: IterVal, name: str, args: list[Value], span: Span) -> IterVal | None:
    first = args[0] if args else None
    match name:
        case "map":
            return _with(source, lambda i: m.invoke(first, [source.get(i)], span))
        case "enumerate":
            return _with(source, lambda i: TupleVal([Cell(terms.Counter(i)), Cell(source.get(i))]))
        case "cloned" | "copied":
            return _with(source, lambda i: _cloned(m, source.get(i)))
        case "inspect":
            return _with(source, lambda i: _inspected(m, source.get(i), first, span))
        case "by_ref" | "peekable" | "fuse" | "into_iter" | "iter" | "iter_mut" | "into_par_iter" | "par_iter":
            source.parallel = source.parallel or "par_iter" in name
            return source
        case "zip":
            return _zip(m, source, to_iter(m, first, span), span)
        case "rev":
            count = terms.known(source.length)
            if count is None:
                return _with(source, source.get)
            last = count - 1
            return _with(source, lambda i: source.get(last - i))
        case "skip" | "take" | "step_by":
            return _trim(m, source, name, first)
        case "chain":
            return _chain(m, source, to_iter(m, first, span))
        case "cycle":
            count = terms.known(source.length)
            if not count:
                return IterVal(None, source.get, source.owner, endless=True)
            return IterVal(None, lambda i: _around(m, source, i, count), source.owner, endless=True)
        case "filter":
            return _filter(m, source, first, span)
        case "skip_while" | "take_while":
            return _while(m, source, name, first, span)
        case "filter_map":
            return _filter_map(m, source, first, span)
        case "flat_map" | "map_while":
            return IterVal(None, lambda i: m.invoke(first, [source.get(i)], span), source.owner)
        case "scan" if len(args) == 2:
            state = Cell(first)
            return IterVal(None, lambda i: m.invoke(args[1], [RefVal(state, True), source.get(i)], span), source.owner)
    return None


def _inspected(m: Machine, element: Value, function: Value, span: Span) -> Value:
    held = Cell(element)
    m.invoke(function, [RefVal(held)], span)
    return held.value


def _while(m: Machine, source: IterVal, name: str, predicate: Value, span: Span) -> IterVal:
    """``skip_while`` and ``take_while``: split at the first element that the predicate refuses."""
    count = terms.known(source.length)
    if count is None or count > EXACT_LIMIT:
        return IterVal(None, lambda i: _tested(m, source.get(i), predicate, span), source.owner)
    first = source.position
    for index in range(first, count):
        held = Cell(source.get(index))
        verdict = m.invoke(predicate, [RefVal(held)], span)
        if verdict is False:
            if name == "take_while":
                return _kept_of(source, first, index)
            return _from(source, held.value, index, count)
        if verdict is not True:
            return IterVal(None, _constant(held.value), source.owner)
    return _kept_of(source, first, count) if name == "take_while" else IterVal(0, source.get, source.owner)


def _from(source: IterVal, first: Value, index: int, count: int) -> IterVal:
    return IterVal(count - index, lambda i: source.get(index + i) if i else first, source.owner)


def _kept_of(source: IterVal, first: int, end: int) -> IterVal:
    return IterVal(end - first, lambda i: source.get(first + i), source.owner)


def _tested(m: Machine, element: Value, predicate: Value, span: Span) -> Value:
    m.invoke(predicate, [RefVal(Cell(element))], span)
    return element


def _around(m: Machine, source: IterVal, index: int, count: int) -> Value:
    m.note_modulus(count)
    return source.get(index % count)


def _with(source: IterVal, get: Callable[[int], Value]) -> IterVal:
    return IterVal(source.length, get, source.owner, endless=source.endless, parallel=source.parallel)


def _cloned(m: Machine, value: Value) -> Value:
    from gpusafe.dataflow.host.std_methods import clone_value

    inner = value.cell.value if isinstance(value, RefVal) else value
    return clone_value(m, inner)


def _zip(m: Machine, left: IterVal, right: IterVal, span: Span) -> IterVal:
    length = left.length if right.endless or right.length is None else right.length
    a, b = terms.known(left.length), terms.known(right.length)
    if a is not None and b is not None:
        length = min(a, b)
    elif left.length is None and not left.endless:
        length = None
    return IterVal(length, lambda i: TupleVal([Cell(left.get(i)), Cell(right.get(i))]), _both(left, right))


def _both(left: IterVal, right: IterVal) -> Cell | None:
    """What owns the elements of two iterators that were joined."""
    if left.owner is None or right.owner is None:
        return left.owner or right.owner
    return Cell(TupleVal([left.owner, right.owner]))


def _trim(m: Machine, source: IterVal, name: str, amount: Value) -> IterVal:
    count = terms.known(amount)
    total = terms.known(source.length)
    if count is None:
        return IterVal(None, source.get, source.owner)
    if name == "take":
        length: Value | None = count if source.endless else (min(total, count) if total is not None else None)
        return IterVal(length, source.get, source.owner)
    if name == "skip":
        length = max(0, total - count) if total is not None else None
        return IterVal(length, lambda i: source.get(i + count), source.owner, endless=source.endless)
    length = terms.div_ceil(source.length, count) if source.length is not None and count else None
    return IterVal(length, lambda i: source.get(i * count), source.owner, endless=source.endless)


def _chain(m: Machine, left: IterVal, right: IterVal) -> IterVal:
    a, b = terms.known(left.length), terms.known(right.length)
    if a is None:
        return IterVal(None, left.get, _both(left, right))
    total = a + b if b is not None else None
    return IterVal(total, lambda i: left.get(i) if i < a else right.get(i - a), _both(left, right))


def _filter(m: Machine, source: IterVal, predicate: Value, span: Span) -> IterVal:
    count = terms.known(source.length)
    if count is None or count > EXACT_LIMIT:
        return IterVal(None, source.get, source.owner)
    kept: list[Value] = []
    for index in range(count):
        element = source.get(index)
        verdict = m.invoke(predicate, [RefVal(Cell(element))], span)
        if verdict is True:
            kept.append(element)
        elif verdict is False:
            m.drop(element, span)
        else:
            not_followed(m, "filter", [e for e in (element, *kept) if owns(m, e)], span)
            return IterVal(None, _constant(element), source.owner)
    return IterVal(len(kept), lambda i: kept[i], source.owner)


def _constant(element: Value) -> Callable[[int], Value]:
    return lambda i: element


def _filter_map(m: Machine, source: IterVal, function: Value, span: Span) -> IterVal:
    count = terms.known(source.length)
    if count is None or count > EXACT_LIMIT:
        return IterVal(None, lambda i: Unknown("an element"), source.owner)
    kept: list[Value] = []
    for index in range(count):
        result = m.invoke(function, [source.get(index)], span)
        if isinstance(result, StructVal) and result.variant == "None":
            continue
        if not isinstance(result, StructVal):
            not_followed(m, "filter_map", [result], span)
        kept.append(
            take(m, result.fields["0"]) if isinstance(result, StructVal) and result.fields else Unknown("an element")
        )
    return IterVal(len(kept), lambda i: kept[i], source.owner)


# -- consumers ---------------------------------------------------------------------------------------------------------


def advance(m: Machine, source: IterVal, span: Span) -> Value:
    """``next()``."""
    total = terms.known(source.length)
    if total is not None and source.position >= total:
        return none()
    if total is None and not source.endless:
        source.position += 1
        element = sampled(m, source, span) if source.works_on else Unknown("the next element")
        held = (element,) if handles_in(element) else ()
        return Unknown("the next element", None, held)
    source.position += 1
    return some(source.get(source.position - 1))


def walked(source: IterVal) -> Iterator[Value] | None:
    """The elements of an iterator one by one as they are asked for; None where it is not known how many there are."""
    count = terms.known(source.length)
    if count is None or count > EXACT_LIMIT:
        return None
    return _walk(source, count)


def _walk(source: IterVal, count: int) -> Iterator[Value]:
    while source.position < count:
        source.position += 1
        yield source.get(source.position - 1)
    finish(source)


def drain(m: Machine, source: IterVal) -> list[Value] | None:
    """All elements of an iterator that is short enough to walk, None otherwise (one element is walked as a sample)."""
    count = terms.known(source.length)
    if count is None or count > EXACT_LIMIT:
        return None
    indices = range(source.position, count)
    values = threads.each(m, source.get, indices) if source.parallel else [source.get(i) for i in indices]
    source.position = count
    finish(source)
    return values


def finish(source: IterVal) -> None:
    """The owner of moved elements has nothing left."""
    if source.owner is not None and isinstance(source.owner.value, SeqVal):
        seq = source.owner.value
        if seq.items is not None and all(c.value is MOVED for c in seq.items) and seq.memory is None:
            source.owner.value = MOVED


def sampled(m: Machine, source: IterVal, span: Span, consume: Callable[[Value], Value] | None = None) -> Value:
    """One element of a long iterator stands for all; operations that it does are a gap."""
    mark = len(m.ops)
    if terms.known(source.length) == 0:
        return Unknown("no element")
    element = source.get(0)
    if consume is not None:
        element = consume(element)
    if len(m.ops) > mark:
        m.gap(span, "a closure that does GPU work is called an unknown number of times")
    return element


def length_of(source: IterVal) -> Value:
    """Number of elements as a scalar."""
    return source.length if isinstance(source.length, (int, Expr)) else Unknown("a count")
