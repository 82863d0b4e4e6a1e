"""Methods of maps and sets: entries by key, and what becomes of those that are replaced or removed."""

from __future__ import annotations

from collections.abc import Iterable

from gpusafe.dataflow.host.access import peel
from gpusafe.dataflow.host.drops import owns
from gpusafe.dataflow.host.foreign import handles_in, not_followed
from gpusafe.dataflow.host.iterators import entries
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.results import Found
from gpusafe.dataflow.host.values import (
    BagVal,
    Cell,
    IterVal,
    RefVal,
    StructVal,
    TupleVal,
    TypeVal,
    Unknown,
    Value,
    none,
    some,
    unit,
)
from gpusafe.parse.rust import ast

_SETS = frozenset(["HashSet", "BTreeSet"])


def build(kind: str, elements: Iterable[Value]) -> BagVal:
    """A map of (key, value) tuples, or a set."""
    bag = BagVal(kind)
    for element in elements:
        pair = element if isinstance(element, TupleVal) and len(element.items) == 2 else None
        if kind in _SETS or pair is None:
            bag.items.append(Cell(element))
        else:
            bag.keys.append(pair.items[0].value)
            bag.items.append(Cell(pair.items[1].value))
    return bag


def call(m: Machine, bag: BagVal, name: str, args: list[Value], expr: ast.MethodCall) -> Found | None:
    """A method of a map or set; None when it is not one of these."""
    match name:
        case "insert" if len(args) == 2:
            return Found(_insert(m, bag, args, expr))
        case "insert":
            bag.items.append(Cell(args[-1]))
            return Found(Unknown("whether it was there"))
        case "get" | "get_mut":
            return Found(_get(m, bag, name, args, expr))
        case "remove":
            return Found(_remove(m, bag, args, expr))
        case "iter" | "iter_mut" | "into_iter" | "drain":
            return Found(entries(m, bag, name))
        case "values" | "values_mut":
            cells = list(bag.items)
            return Found(IterVal(len(cells), lambda i: RefVal(cells[i], True)))
        case "into_values":
            return Found(_values(m, bag))
        case "len":
            return Found(m.symbol("length"))
        case "clear":
            for cell in bag.items:
                m.drop(cell.value, expr.span)
            bag.items, bag.keys = [], []
            return Found(unit())
        case "contains_key" | "is_empty" | "keys":
            return Found(Unknown(f"the result of `{name}`"))
        case "entry" | "retain" | "extend" | "append" | "split_off" | "pop_first" | "pop_last" | "take" | "replace":
            not_followed(m, name, [*(c.value for c in bag.items), *args], expr.span)
            holds = tuple(c.value for c in bag.items)
            return Found(Unknown(f"the result of `{name}`", None, holds if name == "entry" else ()))
    return None


def _same(one: Value, other: Value) -> bool | None:
    """Whether two keys are equal; None when that is not known."""
    a, b = _plain(one), _plain(other)
    return None if a is None or b is None else a == b


def _plain(key: Value) -> object:
    found = peel(key)
    match found:
        case bool() | int() | str() | bytes():
            return found
        case TypeVal(name="text", payload=str() as text) | TypeVal(name="text", payload=(str() as text, *_)):
            return text
        case StructVal(variant=str(), fields=fields) if not fields:
            return (found.name, found.variant)
        case TupleVal(items=items):
            inner = tuple(_plain(c.value) for c in items)
            return None if None in inner else inner
    return None


def _find(bag: BagVal, key: Value) -> tuple[int | None, bool]:
    """The entry of a key (the last one that may be it), and whether that is certain."""
    if len(bag.keys) != len(bag.items):
        return None, False
    verdicts = [_same(k, key) for k in bag.keys]
    if True in verdicts:
        return verdicts.index(True), True
    return None, None not in verdicts


def _insert(m: Machine, bag: BagVal, args: list[Value], expr: ast.MethodCall) -> Value:
    index, certain = _find(bag, args[0])
    if index is not None:
        old, bag.items[index].value = bag.items[index].value, args[1]
        return some(old)
    if not certain:
        not_followed(m, "insert", [c.value for c in bag.items if owns(m, c.value)], expr.span)
    bag.keys.append(args[0])
    bag.items.append(Cell(args[1]))
    return none() if certain else Unknown("the previous entry")


def _get(m: Machine, bag: BagVal, name: str, args: list[Value], expr: ast.MethodCall) -> Value:
    index, certain = _find(bag, args[0])
    if index is not None:
        return some(RefVal(bag.items[index], name == "get_mut"))
    if certain or not bag.items:
        return none()
    if len(bag.items) == 1:
        words = f"{m.source_text(expr)} is Some"
        there = m.decide(Unknown("a key"), words, expr.span) if handles_in(bag) else True
        return some(RefVal(bag.items[0], name == "get_mut")) if there else none()
    return Unknown("an entry of a map", None, tuple(c.value for c in bag.items))


def _remove(m: Machine, bag: BagVal, args: list[Value], expr: ast.MethodCall) -> Value:
    index, certain = _find(bag, args[0])
    if index is not None:
        del bag.keys[index]
        return some(bag.items.pop(index).value)
    if not certain:
        not_followed(m, "remove", [c.value for c in bag.items if owns(m, c.value)], expr.span)
        return Unknown("an entry of a map")
    return none()


def _values(m: Machine, bag: BagVal) -> IterVal:
    pairs = entries(m, bag, "into_iter")

    def get(index: int) -> Value:
        found = pairs.get(index)
        return found.items[1].value if isinstance(found, TupleVal) and len(found.items) == 2 else found

    return IterVal(pairs.length, get, pairs.owner)


def index(bag: BagVal, key: Value) -> Cell | None:
    """The place ``map[key]``, None when it is not known which."""
    found, _ = _find(bag, key)
    return bag.items[found] if found is not None else None
