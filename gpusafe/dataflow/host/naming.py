"""The names that users give to handles: streams, events and memory are called after their first variable or field."""

from __future__ import annotations

from gpusafe.dataflow.host.handles import Buffer, EventHandle, StreamHandle
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.values import SeqVal, SharedVal, StructVal, TupleVal, Value


def christen(m: Machine, value: Value, name: str, depth: int = 0) -> None:
    """Names the handle that a variable or field of that name now holds, unless it has a name."""
    if not name or depth > 3:
        return
    match value:
        case Buffer():
            if not value.name:
                value.name = name
            info = m.memory.get(value.memory)
            if info is not None and not info.memory.name:
                m.amend_memory(value.memory, name=name)
        case StreamHandle():
            m.name_stream(value, name)
        case EventHandle(name=""):
            value.name = name
        case SharedVal(box=box):
            christen(m, box.cell.value, name, depth + 1)
        case StructVal(variant="Some" | "Ok", fields=fields):
            christen(m, fields["0"].value, name, depth + 1)
        case StructVal(variant=None, fields=fields):
            for field, cell in fields.items():
                christen(m, cell.value, f"{name}.{field}", depth + 1)
        case SeqVal(memory=str() as memory):
            if not m.memory[memory].memory.name:
                m.amend_memory(memory, name=name)
        case SeqVal(items=list() as items) if len(items) <= 64:
            for index, cell in enumerate(items):
                christen(m, cell.value, f"{name}[{index}]", depth + 1)
        case TupleVal(items=items):
            for index, cell in enumerate(items):
                christen(m, cell.value, f"{name}.{index}", depth + 1)
