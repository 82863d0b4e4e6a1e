"""Raw pointers to memory that the host sees: dereferences, reads, writes and copies are accesses by the host."""

from __future__ import annotations

from gpusafe.dataflow.host import terms
from gpusafe.dataflow.host.access import peel, touch, touch_slice
from gpusafe.dataflow.host.handles import MemSlice, Pointer
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.results import Found
from gpusafe.dataflow.host.values import Cell, Unknown, Value, unit
from gpusafe.parse.rust import ast
from gpusafe.span import Span

HOST_KINDS = ("pinned", "unified", "host")


def pointee(m: Machine, pointer: Pointer) -> Cell:
    """The place that a raw pointer points to: one element."""
    slice_ = stretch(m, pointer, 1)
    return Cell(slice_, "element") if slice_ is not None else Cell(Unknown("what a raw pointer points to"))


def stretch(m: Machine, pointer: Pointer, count: Value) -> MemSlice | None:
    """``count`` elements from a pointer on, if the host can see that memory."""
    if m.memory[pointer.memory].memory.kind not in HOST_KINDS:
        return None
    size = pointer.elem_bytes
    offset = terms.known(pointer.offset)
    if size and offset is not None and offset % size == 0:
        return MemSlice(pointer.memory, offset // size, count, size, True)
    return MemSlice(pointer.memory, 0, count, None, True)


def _access(m: Machine, value: Value, count: Value, mode: str, span: Span) -> None:
    found = peel(value)
    if isinstance(found, Pointer):
        slice_ = stretch(m, found, count)
        if slice_ is not None:
            touch_slice(m, slice_, mode, span)
    else:
        touch(m, found, mode, span)


def copy(m: Machine, args: list[Value], expr: ast.Expr, path: ast.Path) -> Value:
    """``ptr::copy_nonoverlapping(src, dst, count)``."""
    _access(m, args[0], peel(args[2]), "read", expr.span)
    _access(m, args[1], peel(args[2]), "write", expr.span)
    return unit()


def read(m: Machine, args: list[Value], expr: ast.Expr, path: ast.Path) -> Value:
    """``ptr::read(p)``."""
    _access(m, args[0], 1, "read", expr.span)
    return Unknown("what a raw pointer points to")


def write(m: Machine, args: list[Value], expr: ast.Expr, path: ast.Path) -> Value:
    """``ptr::write(p, v)``."""
    _access(m, args[0], 1, "write", expr.span)
    return unit()


def fill(m: Machine, args: list[Value], expr: ast.Expr, path: ast.Path) -> Value:
    """``ptr::write_bytes(p, byte, count)``."""
    _access(m, args[0], peel(args[2]), "write", expr.span)
    return unit()


def replaced(m: Machine, args: list[Value], expr: ast.Expr, path: ast.Path) -> Value:
    """``ptr::replace(p, v)``."""
    _access(m, args[0], 1, "write", expr.span)
    return Unknown("what a raw pointer points to")


def swap(m: Machine, args: list[Value], expr: ast.Expr, path: ast.Path) -> Value:
    """``ptr::swap(a, b)`` and ``ptr::swap_nonoverlapping(a, b, count)``."""
    count: Value = peel(args[2]) if len(args) > 2 else 1
    for arg in args[:2]:
        _access(m, arg, count, "write", expr.span)
    return unit()


def method(m: Machine, pointer: Pointer, name: str, args: list[Value], expr: ast.MethodCall) -> Found | None:
    """Methods of raw pointers."""
    span = expr.name_span
    match name:
        case "read" | "read_volatile" | "read_unaligned":
            _access(m, pointer, 1, "read", span)
            return Found(Unknown("what a raw pointer points to"))
        case "write" | "write_volatile" | "write_unaligned":
            _access(m, pointer, 1, "write", span)
            return Found(unit())
        case "replace" | "swap":
            _access(m, pointer, 1, "write", span)
            if name == "swap":
                _access(m, args[0], 1, "write", span)
            return Found(Unknown("what a raw pointer points to") if name == "replace" else unit())
        case "write_bytes":
            _access(m, pointer, peel(args[1]), "write", span)
            return Found(unit())
        case "copy_from" | "copy_from_nonoverlapping":
            _access(m, args[0], peel(args[1]), "read", span)
            _access(m, pointer, peel(args[1]), "write", span)
            return Found(unit())
        case "copy_to" | "copy_to_nonoverlapping":
            _access(m, pointer, peel(args[1]), "read", span)
            _access(m, args[0], peel(args[1]), "write", span)
            return Found(unit())
    from gpusafe.dataflow.host.cust import pointer_method

    return pointer_method(m, pointer, name, args, expr)
