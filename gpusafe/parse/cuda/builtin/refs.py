"""``cuda::atomic_ref`` and ``cuda::atomic``: seq_cst and system scope unless told otherwise (libcu++)."""

from __future__ import annotations

from collections.abc import Callable

from gpusafe.ir import kernel as k
from gpusafe.parse.cuda import syntax as s
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.builtin.atomics import emit_atomic
from gpusafe.parse.cuda.builtin.site import CallSite
from gpusafe.parse.cuda.builtin.sync import order_named, scope_named
from gpusafe.parse.cuda.context import Context, Unsupported
from gpusafe.parse.cuda.places import read, write
from gpusafe.parse.cuda.render import render
from gpusafe.parse.cuda.values import FunctionName, HandleValue, MemoryPlace, NoValue, Operand, Place, Term, Value

Method = Callable[[Context, CallSite, HandleValue], Operand]


def _place(group: HandleValue) -> Place:
    found = group.parts.get("place")
    if not isinstance(found, Place):
        raise Unsupported(f"a `{t.show(group.type)}` that does not name its object")
    return found


def refer(kind: t.Handle, operands: tuple[Operand, ...]) -> HandleValue:
    """``cuda::atomic_ref<T, scope>(object)``."""
    return HandleValue(kind, {"place": operands[0]} if operands else {})


def atomic_object(place: MemoryPlace) -> HandleValue:
    """A ``cuda::atomic<T, scope>`` in memory: its bytes are those of a T."""
    kind = place.type
    assert isinstance(kind, t.Handle)
    inner = kind.args[0] if kind.args else None
    if not isinstance(inner, t.CType):
        raise Unsupported(f"a `{t.show(kind)}` without a type")
    return HandleValue(kind, {"place": MemoryPlace(inner, place.pointer)})


def _scope(group: HandleValue) -> k.Scope:
    """The second template argument; system scope without one."""
    word = group.type.args[1] if len(group.type.args) > 1 else None
    if word is None:
        return k.Scope.SYSTEM
    if not isinstance(word, FunctionName):
        raise Unsupported(f"the scope of a `{t.show(group.type)}`")
    return scope_named(word.name)


def _order(site: CallSite, index: int) -> k.Order:
    if index >= len(site.args):
        return k.Order.SEQ_CST
    expr: s.Expr = site.args[index]
    return order_named(render(expr))


def _fetch(op: str) -> Method:
    def handler(x: Context, site: CallSite, group: HandleValue) -> Operand:
        value = site.value(x, 0)
        order = _order(site, 1)
        old, _ = emit_atomic(x, op, _place(group), (value,), order, _scope(group), site.span, site.last)
        return old

    return handler


def _load(x: Context, site: CallSite, group: HandleValue) -> Operand:
    order = _order(site, 0)
    old, _ = emit_atomic(x, "load", _place(group), (), order, _scope(group), site.span, site.last)
    return old


def _store(x: Context, site: CallSite, group: HandleValue) -> Operand:
    value = site.value(x, 0)
    order = _order(site, 1)
    emit_atomic(x, "store", _place(group), (value,), order, _scope(group), site.span, site.last, used=False)
    return NoValue(t.VOID)


def _exchange(x: Context, site: CallSite, group: HandleValue) -> Operand:
    return _fetch("exch")(x, site, group)


def _compare(x: Context, site: CallSite, group: HandleValue) -> Operand:
    """``compare_exchange_*(expected, desired, order[, failure])``: ``expected`` gets the old value."""
    expected = site.operand(x, 0)
    before: Value = read(x, expected, site.span, "expected")
    desired = site.value(x, 1)
    order = _order(site, 2)
    old, success = emit_atomic(x, "cas", _place(group), (before, desired), order, _scope(group), site.span, site.last)
    if isinstance(expected, Place):
        write(x, expected, old, site.span)
    if success is None:
        raise Unsupported(f"`{site.last}` on a local variable")
    return Term(t.BOOL, success)


_OPERATIONS: dict[str, Method] = {
    "load": _load,
    "store": _store,
    "exchange": _exchange,
    "compare_exchange_weak": _compare,
    "compare_exchange_strong": _compare,
    **{f"fetch_{op}": _fetch(op) for op in ("add", "sub", "and", "or", "xor", "min", "max")},
}
REFERENCE_METHODS: dict[tuple[str, str], Method] = {
    (kind, name): method for kind in ("atomic_ref", "atomic") for name, method in _OPERATIONS.items()
}
