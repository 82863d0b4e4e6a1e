"""Methods of the standard library's types, by the kind of value that they are called on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpusafe.dataflow.host import foreign, raw_memory, std_iter, std_memory, std_option, std_seq, terms, threads
from gpusafe.dataflow.host.access import chain, deref, peel, touch
from gpusafe.dataflow.host.branches import quiet
from gpusafe.dataflow.host.drops import owns, take
from gpusafe.dataflow.host.handles import Buffer, MemSlice, Pointer
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.ranged import ranged
from gpusafe.dataflow.host.results import Found
from gpusafe.dataflow.host.syntax_walk import type_name
from gpusafe.dataflow.host.values import (
    BagVal,
    Cell,
    ClosureVal,
    IterVal,
    RangeVal,
    RcBox,
    RefVal,
    SeqVal,
    SharedVal,
    SliceVal,
    StructVal,
    ThreadVal,
    TupleVal,
    TypeVal,
    Unknown,
    Value,
    err,
    is_scalar,
    none,
    ok,
    some,
    unit,
)
from gpusafe.ir.expr import BOOL, Expr, Op
from gpusafe.ir.host import Join
from gpusafe.parse.rust import ast

Method = Callable[[Machine, Cell, list[Value], ast.MethodCall], Value]


def clone_value(m: Machine, value: Value, depth: int = 0) -> Value:
    """``clone()``: shared owners get one more count, host data is copied."""
    from gpusafe.dataflow.host.drops import copy_value

    match value:
        case SharedVal(box=box):
            box.strong += 1
            return SharedVal(box)
        case RefVal(cell=cell) if depth == 0:
            return clone_value(m, deref(cell).value, 1)
        case StructVal(fields=fields) if owns(m, value):
            return StructVal(
                value.name, {n: Cell(clone_value(m, c.value, 1), n) for n, c in fields.items()}, value.variant
            )
        case TupleVal(items=items) if owns(m, value):
            return TupleVal([Cell(clone_value(m, c.value, 1)) for c in items])
        case SeqVal(items=items):
            copied = [Cell(clone_value(m, c.value, 1)) for c in items] if items is not None else None
            return SeqVal(value.kind, copied, value.length, value.elem, None, value.sample)
        case SliceVal(seq=seq):
            return SeqVal("vec", None, value.length, seq.elem, None, seq.sample)
    return copy_value(value)


def call_method(
    m: Machine, receiver: Cell, name: str, args: list[Value], expr: ast.MethodCall, expect: ast.Type | None = None
) -> Found | None:
    """The result of a standard method, None when there is none of that name for this value."""
    if name in ("into", "try_into", "to_owned") and not args and isinstance(receiver.value, MemSlice):
        touch(m, receiver.value, "read", expr.span)
    if name == "try_into" and not args and isinstance(deref(receiver).value, Expr):
        return Found(_narrowed(m, receiver, expr))
    if name in ("into", "try_into") and not args:
        converted = _into(m, receiver, name, expr, expect)
        if converted is not None:
            return converted
    if name in _TRANSPARENT and not args:
        return Found(_transparent(m, receiver, name))
    if name == "clone" and not args:
        return Found(clone_shared(m, receiver))
    target = deref(receiver)
    match target.value:
        case StructVal(name="Option" | "Result", variant=str()):
            return std_option.call(m, target, receiver, name, args, expr)
        case SeqVal() | SliceVal() | BagVal():
            found = std_seq.call(m, target, receiver, name, args, expr)
            if found is not None:
                return found
            return std_iter.call(m, target, name, args, expr, expect) if name in std_iter.ON_SEQUENCES else None
        case Pointer():
            return raw_memory.method(m, target.value, name, args, expr)
        case MemSlice() | Buffer(kind="pinned" | "unified"):
            return std_memory.call(m, target, name, args, expr, expect)
        case IterVal() | RangeVal():
            return std_iter.call(m, target, name, args, expr, expect)
        case ThreadVal():
            return _thread(m, target.value, name, expr)
        case TypeVal():
            return _library(m, target, name, args, expr)
        case Unknown():
            return _unknown(m, target, name, args, expr, expect)
        case ClosureVal():
            return Found(m.invoke(target.value, args, expr.span)) if name in ("call", "call_mut", "call_once") else None
    if is_scalar(target.value):
        return _scalar(m, target, name, args, expr)
    if name == "to_string":
        return Found(TypeVal("text"))
    if name in ("eq", "ne", "cmp", "partial_cmp", "hash"):
        return Found(Unknown("a comparison"))
    return None


_TRANSPARENT = frozenset(
    [
        "as_ref",
        "as_mut",
        "borrow",
        "borrow_mut",
        "deref",
        "deref_mut",
        "into_inner",
        "by_ref",
        "into",
        "try_into",
        "to_owned",
        "as_deref",
        "lock",
        "read_lock",
        "get_mut_unchecked",
        "unsafe_get",
        "into_boxed_slice",
        "leak_box",
        "boxed",
        "as_any",
    ]
)


def _transparent(m: Machine, receiver: Cell, name: str) -> Value:
    target = deref(receiver)
    if isinstance(target.value, StructVal) and target.value.name in ("Option", "Result") and target.value.variant:
        if name in ("as_ref", "as_mut", "as_deref"):
            fields = {n: Cell(RefVal(deref(c), name == "as_mut")) for n, c in target.value.fields.items()}
            return StructVal(target.value.name, fields, target.value.variant)
        return take(m, receiver)
    if name in ("lock", "try_into"):
        return ok(RefVal(target, True) if name == "lock" else take(m, receiver))
    if name == "to_owned" and isinstance(target.value, (SeqVal, SliceVal)):
        return clone_value(m, target.value)
    if name in ("into", "into_inner", "into_boxed_slice", "boxed", "to_owned"):
        return take(m, receiver)
    return RefVal(target, name in ("as_mut", "borrow_mut", "deref_mut"))


def _narrowed(m: Machine, receiver: Cell, expr: ast.MethodCall) -> Value:
    """``try_into()`` of an integer that is not known: too large for the other type is a path of its own."""
    if not quiet(m):
        text, where = m.source_text(expr), f"at {expr.span.file}:{expr.span.line}"
        if m.choose((f"`{text}` fits {where}", f"`{text}` does not fit {where}")) == 1:
            return err(Unknown("an integer that does not fit"))
    return ok(take(m, deref(receiver)))


def _into(m: Machine, receiver: Cell, name: str, expr: ast.MethodCall, expect: ast.Type | None) -> Found | None:
    """``into()`` by the program's own ``From``; None where it is one of the library's."""
    how = "from" if name == "into" else "try_from"
    wanted = type_name(expect) if expect is not None else None
    function = m.program.method(wanted, how, m.home) if wanted is not None else None
    if wanted is not None and function is not None:
        return Found(m.hooks.call_method(m, wanted, how, Cell(take(m, receiver)), [], expr.span))
    if wanted is None and any(key[1] == how for key in m.program.methods):
        foreign.not_followed(m, name, [receiver.value], expr.span)
    return None


def clone_shared(m: Machine, receiver: Cell) -> Value:
    """``clone()`` of what is behind a place: the outermost shared owner, else the value itself."""
    for cell in chain(receiver):
        if isinstance(cell.value, SharedVal):
            return clone_value(m, cell.value)
    return clone_value(m, deref(receiver).value)


def _thread(m: Machine, thread: ThreadVal, name: str, expr: ast.MethodCall) -> Found | None:
    if name == "join":
        if not thread.joined:
            m.emit(Join, expr.span, "join of a thread", thread=thread.ident)
            thread.joined = True
        return Found(ok(take(m, thread.result)))
    return Found(Unknown("a thread"))


def _library(m: Machine, target: Cell, name: str, args: list[Value], expr: ast.MethodCall) -> Found | None:
    value = target.value
    assert isinstance(value, TypeVal)
    if value.name == "scope" and name == "spawn":
        from gpusafe.dataflow.host.threads import spawn

        return Found(spawn(m, args[0], expr.span, value))
    if value.name in ("text", "path"):
        if name in (
            "as_str",
            "as_bytes",
            "to_string",
            "trim",
            "as_c_str",
            "as_ref",
            "to_owned",
            "into_bytes",
            "as_ptr",
        ):
            return Found(value)
        if name == "len":
            return Found(m.symbol("length"))
        if name in ("is_empty", "contains", "starts_with", "ends_with"):
            return Found(m.symbol(name, BOOL))
    if value.name == "OnceCell" and isinstance(value.payload, Cell):
        return _once(m, value, name, args, expr)
    if value.name in ("Mutex", "RwLock", "RefCell", "Cell") and isinstance(value.payload, Cell):
        if name in ("lock", "write", "read", "try_lock"):
            return Found(ok(RefVal(value.payload, True)))
        if name in ("set", "replace"):
            old, value.payload.value = value.payload.value, args[0]
            return Found(old)
        if name == "get":
            return Found(take(m, value.payload))
    if value.name in ("sender", "receiver"):
        return threads.channel_method(m, value, name, args)
    if value.name == "weak" and name == "upgrade" and isinstance(value.payload, RcBox):
        if value.payload.strong <= 0:
            return Found(none())
        value.payload.strong += 1
        return Found(some(SharedVal(value.payload)))
    if any(foreign.handles_in(a) for a in args) or owns(m, value):
        return None
    return Found(Unknown(f"the result of `{name}`"))


def _once(m: Machine, value: TypeVal, name: str, args: list[Value], expr: ast.MethodCall) -> Found | None:
    """``get_or_init``, ``get`` and ``set`` of OnceCell and OnceLock."""
    cell = value.payload
    assert isinstance(cell, Cell)
    filled = cell.value
    assert isinstance(filled, StructVal)
    if name in ("get_or_init", "get_or_try_init") and filled.variant == "None":
        made = m.invoke(args[0], [], expr.span)
        if name == "get_or_try_init" and isinstance(made, StructVal) and made.variant == "Ok":
            made = made.fields["0"].value
        filled = cell.value = some(made)
    if name == "set" and filled.variant == "None":
        cell.value = some(args[0])
        return Found(ok(unit()))
    if name == "get":
        inner = {n: Cell(RefVal(c)) for n, c in filled.fields.items()}
        return Found(StructVal("Option", inner, filled.variant))
    if name not in ("get_or_init", "get_or_try_init"):
        return None
    found = RefVal(filled.fields["0"]) if filled.fields else Unknown("a cell")
    return Found(ok(found) if name == "get_or_try_init" else found)


def _unknown(
    m: Machine, target: Cell, name: str, args: list[Value], expr: ast.MethodCall, expect: ast.Type | None
) -> Found | None:
    value = target.value
    assert isinstance(value, Unknown)
    if value.holds:
        return None
    if name in ("len", "count"):
        if value.why.endswith("(length)"):
            return Found(m.symbol("length"))
        length = m.symbol(f"{target.name or 'value'}.len()", low=0, high=(1 << 63) - 1)
        target.value = SeqVal("vec", None, length, value.type)
        return Found(length)
    if name == "is_empty":
        length = m.symbol(f"{target.name or 'value'}.len()", low=0, high=(1 << 63) - 1)
        target.value = SeqVal("vec", None, length, value.type)
        empty = terms.binary(Op.EQ, length, 0)
        return Found(empty if empty is not None else Unknown("a comparison"))
    if name in ("is_some", "is_none", "is_ok", "is_err"):
        return Found(m.symbol(m.source_text(expr), BOOL))
    if name in ("iter", "into_iter", "iter_mut", "lines", "split_whitespace", "skip", "enumerate", "chars", "bytes"):
        return Found(IterVal(None, lambda i: Unknown("an `element`")))
    if name in std_option.ON_ONE_SIDE and args:
        return Found(std_option.maybe_called(m, value, name, args, expr))
    if any(foreign.handles_in(a) for a in args):
        return None
    if name in std_option.UNWRAPPERS:
        return Found(std_option.unwrap_unknown(m, value, name, expr))
    return Found(Unknown(f"the result of `{name}`"))


# -- numbers -----------------------------------------------------------------------------------------------------------

_BINARY_METHODS: dict[str, Op] = {
    "min": Op.MIN, "max": Op.MAX, "unchecked_add": Op.ADD, "unchecked_mul": Op.MUL,
    "rem_euclid": Op.REM, "div_euclid": Op.DIV,
    "add": Op.ADD, "sub": Op.SUB, "mul": Op.MUL, "div": Op.DIV, "rem": Op.REM,
}  # fmt: skip


def _scalar(m: Machine, target: Cell, name: str, args: list[Value], expr: ast.MethodCall) -> Found | None:
    value = target.value
    other = peel(args[0]) if args else None
    result: Any = None
    if name in ("then", "then_some"):
        return _then(m, value, name, args, expr)
    found = ranged(m, name, value, other, expr)
    if found is not None:
        return Found(found)
    if name == "div_ceil":
        result = terms.div_ceil(value, other)
    elif name == "saturating_sub":
        result = _saturating_sub(m, value, other)
    elif name == "pow" and terms.known(value) is not None and terms.known(other) is not None:
        result = (terms.known(value) or 0) ** min(terms.known(other) or 0, 128)
    elif name == "clamp" and len(args) == 2:
        low = terms.binary(Op.MAX, value, other)
        result = terms.binary(Op.MIN, low, peel(args[1])) if low is not None else None
    elif name in _BINARY_METHODS:
        _piecewise(m, name, value, other)
        result = terms.binary(_BINARY_METHODS[name], value, other)
    elif terms.known(value) is not None:
        result = _known_integer(name, terms.known(value) or 0)
    if result is None and name.startswith(("checked_", "overflowing_")):
        return Found(Unknown(f"the result of `{name}`"))
    if result is not None:
        return Found(result)
    if name in ("to_string", "to_owned"):
        return Found(TypeVal("text"))
    if name == "next_multiple_of":
        up = terms.div_ceil(value, other)
        product = terms.mul(up, other) if up is not None else None
        return Found(product if product is not None else m.symbol("multiple"))
    if name == "div_ceil" and isinstance(other, Expr) and other.type.kind == "int":
        return Found(m.symbol(m.source_text(expr), other.type, 0, terms.known(value)))
    if isinstance(value, Expr) and value.type.kind == "int" and name not in ("is_power_of_two",):
        return Found(m.symbol(m.source_text(expr), value.type))
    return Found(Unknown(f"the result of `{name}`"))


def _then(m: Machine, value: Value, name: str, args: list[Value], expr: ast.MethodCall) -> Found:
    """``cond.then(|| x)``."""
    if not m.decide(value, m.source_text(expr.receiver), expr.span):
        return Found(none())
    return Found(some(m.invoke(args[0], [], expr.span) if name == "then" else args[0]))


def _saturating_sub(m: Machine, value: Value, other: Value) -> Value | None:
    a, b = terms.known(value), terms.known(other)
    if a is not None and b is not None:
        _piecewise(m, "saturating_sub", value, other)
        return terms.like(max(0, a - b), value)
    over = terms.binary(Op.GE, value, other)
    difference = terms.sub(value, other)
    return terms.select(over, difference, 0) if isinstance(over, Expr) and difference is not None else None


def _piecewise(m: Machine, name: str, value: Value, other: Value) -> None:
    if name in ("min", "max", "saturating_sub") and (
        isinstance(value, terms.Counter) or isinstance(other, terms.Counter)
    ):
        m.note_counter(f"the loop's counter goes through `{name}`")


def _known_integer(name: str, value: int) -> Value | None:
    match name:
        case "next_power_of_two":
            return 1 << max(0, value - 1).bit_length()
        case "is_power_of_two":
            return value > 0 and value & (value - 1) == 0
        case "trailing_zeros":
            return (value & -value).bit_length() - 1 if value else 64
        case "ilog2":
            return value.bit_length() - 1
        case "abs" | "unsigned_abs":
            return abs(value)
        case "count_ones":
            return value.bit_count()
        case "isqrt":
            import math

            return math.isqrt(value) if value >= 0 else None
    return None
