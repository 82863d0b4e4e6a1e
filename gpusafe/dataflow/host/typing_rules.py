"""What a declared type adds to a value: element sizes of buffers, the type of an unknown scalar."""

from __future__ import annotations

from gpusafe.dataflow.host import terms
from gpusafe.dataflow.host.handles import Buffer, MemSlice, Pointer, View
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.syntax_walk import generic, type_name
from gpusafe.dataflow.host.values import (
    IterVal,
    RefVal,
    SeqVal,
    SharedVal,
    StructVal,
    TupleVal,
    Unknown,
    Value,
)
from gpusafe.ir.expr import Type
from gpusafe.parse.rust import ast

_WRAPPERS = ("Result", "Option", "Arc", "Rc", "Box", "CudaResult", "Mutex", "RefCell", "ManuallyDrop")
_BUFFERS = (
    "CudaSlice", "CudaView", "CudaViewMut", "DeviceBuffer", "DeviceSlice", "DeviceBox", "PinnedHostSlice",
    "UnifiedSlice", "LockedBuffer", "UnifiedBuffer", "PinnedHostBuffer", "DevicePointer", "UnifiedPointer", "Tensor",
)  # fmt: skip


def scalar(m: Machine, type_: ast.Type | None) -> Type | None:
    """The scalar type that a syntactic type is, aliases and generic parameters of the call resolved."""
    current = type_
    for _ in range(8):
        match current:
            case Type():
                return current
            case ast.TypePath(path=path):
                found = terms.SCALARS.get(path.last)
                if found is not None:
                    return found
                bound = m.call.types.get(path.last) if m.calls else None
                if bound is not None and bound is not current:
                    current = bound
                    continue
                alias = m.program.type_item(path.last, m.home)
                if alias is not None and isinstance(alias.item, ast.TypeAlias):
                    current = alias.item.type
                    continue
                return _library_scalar(path.last)
            case _:
                return None
    return None


def _library_scalar(name: str) -> Type | None:
    """Atomics and the like have the size that their name ends in."""
    for base in ("U32", "I32", "U64", "I64", "F32", "F64", "U8", "I8", "U16", "I16"):
        if name.endswith(f"Atomic{base}") or name == f"Atomic{base}":
            return terms.SCALARS[base.lower()]
    return None


def size_of(m: Machine, type_: ast.Type | None) -> int | None:
    """Size in bytes of a type where it is known: scalars, arrays of them, structs of them (repr(C))."""
    if isinstance(type_, ast.TypeRef | ast.TypePtr):
        return 8
    found = scalar(m, type_)
    if found is not None:
        return found.bytes
    if isinstance(type_, ast.TypeArray):
        inner, count = size_of(m, type_.inner), terms.known(m.value(type_.length))
        return inner * count if inner is not None and count is not None else None
    if isinstance(type_, ast.TypeTuple) and not type_.items:
        return 0
    if isinstance(type_, ast.TypePath):
        item = m.program.type_item(type_.path.last, m.home)
        if item is not None and isinstance(item.item, ast.Struct):
            return _struct_size(m, item.item)
    return None


def _struct_size(m: Machine, item: ast.Struct) -> int | None:
    total, widest = 0, 1
    with m.deeper():
        for _, field_type in item.fields:
            size = size_of(m, field_type)
            if size is None:
                return None
            inner = field_type.inner if isinstance(field_type, ast.TypeArray) else field_type
            align = min(16, size_of(m, inner) or 1)
            widest = max(widest, align)
            total = -(-total // align) * align + size
    return -(-total // widest) * widest


def set_elem(m: Machine, value: Buffer, size: int) -> None:
    """A buffer's element size becomes known."""
    if value.elem_bytes is None:
        value.elem_bytes = size
        if m.memory[value.memory].memory.elem_bytes is None:
            m.amend_memory(value.memory, elem_bytes=size)


def apply_type(m: Machine, value: Value, type_: ast.Type | None, depth: int = 0) -> Value:
    """The value, with what its declared type says added."""
    if type_ is None or depth > 8:
        return value
    if isinstance(type_, ast.TypePath):
        bound = m.call.types.get(type_.path.last) if m.calls and len(type_.path.names) == 1 else None
        if bound is not None and bound is not type_:
            return apply_type(m, value, bound, depth + 1)
    match value:
        case Unknown(holds=()):
            found = scalar(m, type_)
            if found is not None and found.kind == "int":
                return m.symbol(value.why.split("`")[1] if "`" in value.why else "unknown", found)
            if value.type is None:
                value.type = type_
        case Buffer() | View() | Pointer() | MemSlice():
            _buffer(m, value, type_)
        case RefVal(cell=cell):
            inner = type_.inner if isinstance(type_, (ast.TypeRef, ast.TypePtr)) else None
            apply_type(m, cell.value, inner, depth + 1)
        case SharedVal(box=box):
            apply_type(m, box.cell.value, generic(type_), depth + 1)
        case StructVal(variant="Ok" | "Some" | "Err", fields=fields) if isinstance(type_, ast.TypePath):
            index = 1 if value.variant == "Err" else 0
            if type_.path.last in _WRAPPERS or value.name in ("Option", "Result"):
                fields["0"].value = apply_type(m, fields["0"].value, generic(type_, index), depth + 1)
        case TupleVal(items=items) if isinstance(type_, ast.TypeTuple):
            for cell, part in zip(items, type_.items, strict=False):
                cell.value = apply_type(m, cell.value, part, depth + 1)
        case SeqVal():
            inner = type_.inner if isinstance(type_, (ast.TypeArray, ast.TypeSlice)) else generic(type_)
            if inner is not None and not (isinstance(inner, ast.TypeOther)):
                value.elem = value.elem or inner
                for cell in value.items or ():
                    cell.value = apply_type(m, cell.value, inner, depth + 1)
        case IterVal():
            pass
    return value


def _buffer(m: Machine, value: Buffer | View | Pointer | MemSlice, type_: ast.Type) -> None:
    current: ast.Type | None = type_
    while isinstance(current, (ast.TypeRef, ast.TypePtr)):
        pointee = current.inner
        if isinstance(current, ast.TypePtr):
            size = size_of(m, pointee)
            if value.elem_bytes is None and size and not isinstance(value, Buffer):
                value.elem_bytes = size
            return
        current = pointee
    name = type_name(current)
    if name not in _BUFFERS:
        return
    argument = generic(current)
    if isinstance(argument, ast.TypeSlice):
        argument = argument.inner
    size = size_of(m, argument)
    if size and value.elem_bytes is None:
        if isinstance(value, Buffer):
            set_elem(m, value, size)
        else:
            value.elem_bytes = size
