"""Functions of the standard library that matter: ownership, threads, sizes, raw slices."""

from __future__ import annotations

from collections.abc import Callable

from gpusafe.dataflow.host import raw_memory, terms, threads
from gpusafe.dataflow.host.access import deref, host_slice, peel, touch, touch_slice
from gpusafe.dataflow.host.accounting import keep_by_hand, leak
from gpusafe.dataflow.host.drops import owns, take
from gpusafe.dataflow.host.foreign import handles_in, mention_gap, not_followed
from gpusafe.dataflow.host.handles import MemSlice, Pointer
from gpusafe.dataflow.host.indexing import element
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.results import Found
from gpusafe.dataflow.host.signals import PanicSignal
from gpusafe.dataflow.host.typing_rules import size_of
from gpusafe.dataflow.host.values import (
    MOVED,
    BagVal,
    Cell,
    ClosureVal,
    IterVal,
    RcBox,
    RefVal,
    SeqVal,
    SharedVal,
    SliceVal,
    StructVal,
    TypeVal,
    Unknown,
    Value,
    none,
    some,
    unit,
)
from gpusafe.ir.expr import Expr, Type
from gpusafe.parse.rust import ast

PathCall = Callable[[Machine, list[Value], ast.Expr, ast.Path], Value]


def before_arguments(m: Machine, names: tuple[str, ...], expr: ast.Call) -> Found | None:
    """Calls whose arguments are not evaluated like others (``drop(x)`` names the variable in its message)."""
    if names[-1] == "drop" and len(expr.args) == 1 and names[-2:-1] in ((), ("mem",)):
        cell = m.place(expr.args[0])
        if _is_copy(cell.value):
            return Found(unit())
        if isinstance(expr.args[0], (ast.PathExpr, ast.Field, ast.Unary)):
            value = take(m, cell)
            if value is not MOVED and owns(m, value):
                m.drop(value, expr.span, cell.name)
        return Found(unit())
    return None


def _is_copy(value: Value) -> bool:
    """Whether dropping a value by hand drops a copy: an array of numbers."""
    if not isinstance(value, SeqVal) or value.kind != "array":
        return False
    if value.items is not None:
        return all(isinstance(c.value, bool | int | float | Expr) for c in value.items)
    named = value.elem.path.last if isinstance(value.elem, ast.TypePath) else ""
    return isinstance(value.elem, Type) or named in terms.SCALARS


def call_path(m: Machine, full: tuple[str, ...], args: list[Value], expr: ast.Expr, path: ast.Path) -> Found | None:
    """The result of a library function, None when it is not one of these."""
    if full[-1] == "from_ptr" and len(full) >= 2 and "Atomic" in full[-2]:
        m.atomics_shared = True
    handler = _TWO.get(full[-2:]) if len(full) >= 2 else None
    if handler is None:
        handler = _ONE.get(full[-1])
    if handler is not None:
        return Found(handler(m, args, expr, path))
    if len(full) >= 2 and full[-2] in _COLLECTIONS:
        return _collection(m, full[-2], full[-1], args, expr)
    if len(full) >= 2 and full[-1] in ("new", "default") and full[-2].startswith("Atomic"):
        return Found(TypeVal("atomic"))
    if full[:1] in (("std",), ("core",), ("alloc",)) and not any(owns(m, a) for a in args):
        if full[-2:] not in _LOOKS_ONLY_AT_ADDRESSES:
            _unknown(m, "::".join(full[-2:]), args, expr)
        return Found(Unknown(f"the result of `{'::'.join(full)}`"))
    return None


_LOOKS_ONLY_AT_ADDRESSES = frozenset(
    [
        ("ptr", "eq"),
        ("ptr", "addr_eq"),
        ("Arc", "ptr_eq"),
        ("Rc", "ptr_eq"),
        ("Arc", "strong_count"),
        ("Rc", "strong_count"),
        ("mem", "align_of_val"),
        ("any", "type_name_of_val"),
        ("mem", "discriminant"),
    ]
)


def _unknown(m: Machine, name: str, args: list[Value], expr: ast.Expr) -> None:
    """What a function of std that is not modelled may do with what it got: look at host memory, or anything else."""
    reaching = [a for a in args if handles_in(a)]
    if all(host_slice(a) is not None and isinstance(a, _PLAIN) for a in reaching):
        for arg in reaching:
            touch(m, arg, "read", expr.span)
            if getattr(arg, "mutable", False):
                touch(m, arg, "write", expr.span)
        return
    mention_gap(m, f"what `{name}` does is not modelled", reaching, expr.span)


_PLAIN = (MemSlice, SliceVal, SeqVal, RefVal)


_COLLECTIONS = frozenset(["Vec", "VecDeque", "HashMap", "BTreeMap", "HashSet", "BTreeSet", "String", "SmallVec"])


def _collection(m: Machine, kind: str, name: str, args: list[Value], expr: ast.Expr) -> Found | None:
    for arg in args:
        touch(m, arg, "read", expr.span)
    if kind == "String":
        return Found(TypeVal("text"))
    if name in ("new", "with_capacity", "default"):
        return Found(SeqVal("vec", [], 0) if kind in ("Vec", "VecDeque", "SmallVec") else BagVal(kind))
    if name in ("from", "from_iter") and args:
        inner = peel(args[0])
        if kind.endswith(("Map", "Set")):
            return _map_from(m, kind, inner)
        if isinstance(inner, SeqVal):
            inner.kind = "vec"
            return Found(inner)
        if isinstance(inner, IterVal):
            from gpusafe.dataflow.host.iterators import drain, sampled

            values = drain(m, inner)
            if values is not None:
                return Found(SeqVal("vec", [Cell(v) for v in values], len(values), inner.elem))
            sampled(m, inner, expr.span)
        return Found(SeqVal("vec", None, m.symbol("length")))
    return None


def _map_from(m: Machine, kind: str, inner: Value) -> Found:
    from gpusafe.dataflow.host.std_maps import build

    if isinstance(inner, SeqVal) and inner.items is not None:
        return Found(build(kind, [c.value for c in inner.items]))
    return Found(Unknown("a map", None, (inner,) if owns(m, inner) else ()))


def _same(m: Machine, args: list[Value], expr: ast.Expr, path: ast.Path) -> Value:
    return args[0] if args else unit()


def _shared(m: Machine, args: list[Value], expr: ast.Expr, path: ast.Path) -> Value:
    return SharedVal(RcBox(Cell(args[0] if args else unit())))


def _copied(keeps: PathCall) -> PathCall:
    """``Box::from(x)`` and the like: a slice is copied, anything else is kept."""

    def build(m: Machine, args: list[Value], expr: ast.Expr, path: ast.Path) -> Value:
        if args and isinstance(args[0], MemSlice):
            touch(m, args[0], "read", expr.span)
            return SeqVal("vec", None, args[0].length)
        return keeps(m, args, expr, path)

    return build


def _clone_shared(m: Machine, args: list[Value], expr: ast.Expr, path: ast.Path) -> Value:
    from gpusafe.dataflow.host.std_methods import clone_value

    target = args[0]
    if isinstance(target, RefVal):
        inner = target.cell.value
        return clone_value(m, inner)
    return clone_value(m, target)


def _wrapper(name: str) -> PathCall:
    def build(m: Machine, args: list[Value], expr: ast.Expr, path: ast.Path) -> Value:
        return TypeVal(name, Cell(args[0] if args else unit()))

    return build


def _empty_once(m: Machine, args: list[Value], expr: ast.Expr, path: ast.Path) -> Value:
    return TypeVal("OnceCell", Cell(none()))


def _manually(m: Machine, args: list[Value], expr: ast.Expr, path: ast.Path) -> Value:
    if not owns(m, args[0]):
        return args[0]
    held = Cell(args[0])
    keep_by_hand(m, held)
    return TypeVal("leaked", held)


def _unmanage(m: Machine, args: list[Value], expr: ast.Expr, path: ast.Path) -> Value:
    """``ManuallyDrop::{take, into_inner, drop}``: the value is owned again, and dropped by the last."""
    target: Value = args[0]
    cell = Cell(target)
    while isinstance(cell.value, RefVal):
        cell = cell.value.cell
    if isinstance(cell.value, TypeVal) and isinstance(cell.value.payload, Cell):
        cell = cell.value.payload
    inner = take(m, cell)
    if path.last != "drop":
        return inner
    m.drop(inner, expr.span, cell.name)
    return unit()


def _downgrade(m: Machine, args: list[Value], expr: ast.Expr, path: ast.Path) -> Value:
    target = args[0]
    while isinstance(target, RefVal):
        target = target.cell.value
    return TypeVal("weak", target.box) if isinstance(target, SharedVal) else Unknown("a weak reference")


def _into_inner(m: Machine, args: list[Value], expr: ast.Expr, path: ast.Path) -> Value:
    shared = args[0]
    if not isinstance(shared, SharedVal):
        return Unknown("the content of a shared owner", None, (shared,))
    if shared.box.strong == 1:
        shared.box.strong = 0
        return some(shared.box.cell.value)
    m.drop(shared, expr.span)
    return none()


def _forget(m: Machine, args: list[Value], expr: ast.Expr, path: ast.Path) -> Value:
    leak(args[0])
    return unit()


def _leak(m: Machine, args: list[Value], expr: ast.Expr, path: ast.Path) -> Value:
    leak(args[0])
    return RefVal(Cell(args[0]), True)


def _exit(m: Machine, args: list[Value], expr: ast.Expr, path: ast.Path) -> Value:
    raise PanicSignal(exits=True)


def _size_of(m: Machine, args: list[Value], expr: ast.Expr, path: ast.Path) -> Value:
    argument = path.generics[0] if path.generics and isinstance(path.generics[0], ast.Type) else None
    size = size_of(m, argument)
    return size if size is not None else m.symbol("size_of", low=0)


def _size_of_val(m: Machine, args: list[Value], expr: ast.Expr, path: ast.Path) -> Value:
    from gpusafe.dataflow.host import terms
    from gpusafe.dataflow.host.host_memory import element_size

    value = peel(args[0]) if args else None
    size = element_size(m, value)
    length = getattr(value, "length", None)
    total = terms.mul(length, size) if size is not None and length is not None else None
    return total if total is not None else m.symbol("size_of_val", low=0)


def _raw_slice(m: Machine, args: list[Value], expr: ast.Expr, path: ast.Path) -> Value:
    pointer = peel(args[0])
    mutable = path.last.endswith("mut")
    if isinstance(pointer, Pointer) and pointer.elem_bytes:
        from gpusafe.dataflow.host import terms

        start = terms.known(pointer.offset)
        if start is not None and start % pointer.elem_bytes == 0:
            return MemSlice(pointer.memory, start // pointer.elem_bytes, args[1], pointer.elem_bytes, mutable)
    if isinstance(pointer, Pointer):
        return MemSlice(pointer.memory, 0, args[1], pointer.elem_bytes, mutable)
    return args[0]


def _swap(m: Machine, args: list[Value], expr: ast.Expr, path: ast.Path) -> Value:
    sides = [_pointee(a) for a in args[: 2 if path.last == "swap" else 1]]
    a, b = sides[0], sides[-1]
    inside = [element(cell) for cell in sides]
    for slice_ in inside:
        if slice_ is not None:
            touch_slice(m, slice_, "write", expr.span)
    if any(slice_ is not None for slice_ in inside):
        for cell, slice_ in zip(sides, inside, strict=True):
            if slice_ is None:
                m.drop(cell.value, expr.span, cell.name)
                cell.value = Unknown("an element of a buffer")
        return unit() if path.last == "swap" else Unknown("an element of a buffer")
    if path.last == "swap":
        a.value, b.value = b.value, a.value
        return unit()
    old = a.value
    a.value = args[1] if path.last == "replace" else _default_like(old)
    return old


def _pointee(value: Value) -> Cell:
    return value.cell if isinstance(value, RefVal) else deref(Cell(value))


def _default_like(value: Value) -> Value:
    match value:
        case StructVal(name="Option"):
            return none()
        case SeqVal():
            return SeqVal("vec", [], 0)
    return Unknown("a default value")


def _default(m: Machine, args: list[Value], expr: ast.Expr, path: ast.Path) -> Value:
    return Unknown("a default value")


def _text(m: Machine, args: list[Value], expr: ast.Expr, path: ast.Path) -> Value:
    from gpusafe.dataflow.host.values import ok

    return ok(peel(args[0]) if args else TypeVal("text"))


def _unwrap_arc(m: Machine, args: list[Value], expr: ast.Expr, path: ast.Path) -> Value:
    from gpusafe.dataflow.host.values import err, ok

    shared = args[0]
    if isinstance(shared, SharedVal) and shared.box.strong == 1:
        shared.box.strong = 0
        return ok(shared.box.cell.value)
    return err(shared)


def _catch(m: Machine, args: list[Value], expr: ast.Expr, path: ast.Path) -> Value:
    """``catch_unwind``: what the closure took is gone after it, and a panic ends in it."""
    from gpusafe.dataflow.host.capturing import run_closure
    from gpusafe.dataflow.host.values import err, ok

    target = peel(args[0])
    if not isinstance(target, ClosureVal):
        not_followed(m, "catch_unwind", args, expr.span)
        return Unknown("the result of `catch_unwind`")
    try:
        return ok(run_closure(m, target, [], expr.span, consume=True))
    except PanicSignal as panic:
        if panic.exits:
            raise
        return err(Unknown("a panic"))


def _uninit(m: Machine, args: list[Value], expr: ast.Expr, path: ast.Path) -> Value:
    return Unknown("an uninitialized value")


_TWO: dict[tuple[str, ...], PathCall] = {
    ("Box", "new"): _same, ("Box", "pin"): _same, ("Pin", "new"): _same, ("Box", "from"): _copied(_same),
    ("ManuallyDrop", "new"): _manually, ("ManuallyDrop", "drop"): _unmanage, ("ManuallyDrop", "take"): _unmanage,
    ("ManuallyDrop", "into_inner"): _unmanage, ("Arc", "into_inner"): _into_inner, ("Rc", "into_inner"): _into_inner,
    ("Arc", "downgrade"): _downgrade, ("Rc", "downgrade"): _downgrade,
    ("Arc", "new"): _shared, ("Rc", "new"): _shared, ("Arc", "from"): _copied(_shared),
    ("Rc", "from"): _copied(_shared),
    ("Arc", "clone"): _clone_shared, ("Rc", "clone"): _clone_shared, ("Clone", "clone"): _clone_shared,
    ("Arc", "try_unwrap"): _unwrap_arc, ("Rc", "try_unwrap"): _unwrap_arc,
    ("Mutex", "new"): _wrapper("Mutex"), ("RwLock", "new"): _wrapper("RwLock"), ("RefCell", "new"): _wrapper("RefCell"),
    ("Cell", "new"): _wrapper("Cell"),
    ("panic", "catch_unwind"): _catch,
    ("mem", "forget"): _forget, ("Box", "leak"): _leak, ("Vec", "leak"): _leak,
    ("process", "exit"): _exit, ("process", "abort"): _exit,
    ("mem", "size_of"): _size_of, ("mem", "size_of_val"): _size_of_val,
    ("mem", "swap"): _swap, ("mem", "replace"): _swap, ("mem", "take"): _swap,
    ("slice", "from_raw_parts"): _raw_slice, ("slice", "from_raw_parts_mut"): _raw_slice,
    ("thread", "spawn"): lambda m, args, expr, path: threads.spawn(m, args[0], expr.span, None),
    ("tokio", "spawn"): lambda m, args, expr, path: threads.spawn_future(m, args[0], expr.span),
    ("task", "spawn"): lambda m, args, expr, path: threads.spawn_future(m, args[0], expr.span),
    ("rayon", "join"): threads.join_both,
    ("rayon", "scope"): lambda m, args, expr, path: threads.scope(m, args[0], expr.span),
    ("mpsc", "channel"): threads.channel,
    ("mpsc", "sync_channel"): threads.channel,
    ("ptr", "copy_nonoverlapping"): raw_memory.copy,
    ("ptr", "copy"): raw_memory.copy,
    ("ptr", "read"): raw_memory.read,
    ("ptr", "write"): raw_memory.write,
    ("ptr", "read_volatile"): raw_memory.read, ("ptr", "read_unaligned"): raw_memory.read,
    ("ptr", "write_volatile"): raw_memory.write, ("ptr", "write_unaligned"): raw_memory.write,
    ("ptr", "write_bytes"): raw_memory.fill, ("ptr", "replace"): raw_memory.replaced,
    ("ptr", "swap"): raw_memory.swap, ("ptr", "swap_nonoverlapping"): raw_memory.swap,
    ("OnceLock", "new"): _empty_once,
    ("OnceCell", "new"): _empty_once,
    ("LazyLock", "new"): lambda m, args, expr, path: m.invoke(args[0], [], expr.span),
    ("LazyCell", "new"): lambda m, args, expr, path: m.invoke(args[0], [], expr.span),
    ("thread", "scope"): lambda m, args, expr, path: threads.scope(m, args[0], expr.span),
    ("CString", "new"): _text, ("CStr", "from_bytes_with_nul"): _text,
    ("Default", "default"): _default, ("MaybeUninit", "uninit"): _uninit,
    ("iter", "repeat"): lambda m, args, expr, path: IterVal(None, lambda i: args[0], endless=True),
    ("iter", "repeat_with"): lambda m, args, expr, path: IterVal(
        None, lambda i: m.invoke(args[0], [], expr.span), endless=True, works_on=(args[0],)
    ),
    ("iter", "from_fn"): lambda m, args, expr, path: IterVal(
        None, lambda i: m.invoke(args[0], [], expr.span), works_on=(args[0],)
    ),
    ("iter", "once"): lambda m, args, expr, path: IterVal(1, lambda i: args[0]),
    ("ptr", "null"): lambda m, args, expr, path: Unknown("a null pointer"),
    ("ptr", "null_mut"): lambda m, args, expr, path: Unknown("a null pointer"),
}  # fmt: skip

_ONE: dict[str, PathCall] = {
    "size_of": _size_of, "size_of_val": _size_of_val, "forget": _forget, "black_box": _same, "AssertUnwindSafe": _same,
}  # fmt: skip
