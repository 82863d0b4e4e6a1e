"""How the executor gets from a place to what is behind its references, and what the host's own accesses are."""

from __future__ import annotations

from gpusafe.dataflow.host import terms
from gpusafe.dataflow.host.handles import Buffer, MemSlice
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.values import Cell, RefVal, SeqVal, SharedVal, SliceVal, TypeVal, Value
from gpusafe.ir.host import HostAccess
from gpusafe.parse.rust import ast
from gpusafe.span import Span

_CHAIN = 16


def chain(cell: Cell) -> list[Cell]:
    """The place and the places behind its references and shared owners, outermost first."""
    places = [cell]
    for _ in range(_CHAIN):
        match places[-1].value:
            case RefVal(cell=inner):
                places.append(inner)
            case SharedVal(box=box):
                places.append(box.cell)
            case TypeVal(name="Cell" | "Mutex" | "RefCell" | "RwLock" | "guard" | "leaked", payload=Cell() as inner):
                places.append(inner)
            case _:
                break
    return places


def deref(cell: Cell) -> Cell:
    """The innermost place behind references and shared owners."""
    return chain(cell)[-1]


def peel(value: Value) -> Value:
    """A value without the references and shared owners around it."""
    return deref(Cell(value)).value


def host_slice(value: Value, mutable: bool = False) -> MemSlice | None:
    """The tracked host-visible memory behind a value, as a slice (pinned, unified, host memory of a copy)."""
    match peel(value):
        case MemSlice() as found:
            return found
        case Buffer(kind="pinned" | "unified") as buffer:
            return MemSlice(buffer.memory, 0, buffer.length, buffer.elem_bytes, mutable)
        case SeqVal(memory=str() as memory, length=length):
            return MemSlice(memory, 0, length, None, mutable)
        case SliceVal(seq=SeqVal(memory=str() as memory), start=start, length=length):
            return MemSlice(memory, start, length, None, mutable)
    return None


def touch(m: Machine, value: Value, mode: str, span: Span, what: str = "") -> None:
    """The host itself reads or writes tracked memory behind a value, if there is any."""
    slice_ = host_slice(value)
    if slice_ is None:
        return
    touch_slice(m, slice_, mode, span, what)


def touch_slice(m: Machine, slice_: MemSlice, mode: str, span: Span, what: str = "") -> None:
    """The host itself reads or writes a slice of tracked memory."""
    size = slice_.elem_bytes
    name = m.memory_name(slice_.memory)
    label = what or f"host {mode} of `{name}`"
    start = terms.mul(slice_.start, size) if size else None
    count = terms.mul(slice_.length, size) if size else None
    access = m.whole(slice_.memory, mode) if start is None else m.span_access(slice_.memory, start, count, mode)
    m.emit(HostAccess, span, label, access=access)


def touch_root(m: Machine, expr: ast.Expr, mode: str) -> None:
    """The host reads or writes a part of a variable that a callback may use."""
    current = expr
    while isinstance(current, (ast.Field, ast.Index)):
        current = current.base
    if current is not expr and isinstance(current, ast.PathExpr) and len(current.path.names) == 1:
        cell = m.lookup(current.path.names[0])
        if cell is not None:
            touch_cell(m, cell, mode, expr.span)


def touch_cell(m: Machine, cell: Cell, mode: str, span: Span) -> None:
    """The host reads or writes a variable that a callback may use."""
    if cell.memory is not None:
        m.emit(HostAccess, span, f"host {mode} of `{cell.name}`", access=m.whole(cell.memory, mode))
