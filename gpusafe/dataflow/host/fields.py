"""Field access on every kind of value."""

from __future__ import annotations

from gpusafe.dataflow.host.access import deref
from gpusafe.dataflow.host.handles import Config
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.values import Cell, RangeVal, StructVal, TupleVal, Unknown
from gpusafe.span import Span


def field_cell(m: Machine, base: Cell, name: str, span: Span) -> Cell:
    """The place of a field; for values that are not modelled a fresh unknown."""
    target = deref(base)
    match target.value:
        case StructVal(fields=fields):
            if name in fields:
                return fields[name]
            cell = Cell(Unknown(f"field `{name}`"), name)
            fields[name] = cell
            return cell
        case TupleVal(items=items) if name.isdigit() and int(name) < len(items):
            return items[int(name)]
        case RangeVal(low=low, high=high) if name in ("start", "end"):
            return Cell(low if name == "start" else high)
        case Config() as config:
            return _config_field(config, name)
        case Unknown(holds=holds) if holds:
            return Cell(Unknown(f"field `{name}` of a value that is not modelled", None, holds), name)
    return Cell(Unknown(f"field `{name}` of a value that is not modelled"), name)


def _config_field(config: Config, name: str) -> Cell:
    match name:
        case "grid_dim" | "grid":
            return Cell(TupleVal(config.grid))
        case "block_dim" | "block":
            return Cell(TupleVal(config.block))
        case "shared_mem_bytes":
            return config.shared
    return Cell(Unknown(f"field `{name}`"))
