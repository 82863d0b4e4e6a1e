"""What paths mean as values: constants, statics and the numbers of the standard library."""

from __future__ import annotations

import math

from gpusafe.dataflow.host import terms
from gpusafe.dataflow.host.machine import Call, Machine
from gpusafe.dataflow.host.program import Definition
from gpusafe.dataflow.host.typing_rules import apply_type
from gpusafe.dataflow.host.values import Cell, TypeVal, Unknown, Value
from gpusafe.parse.rust import ast

_FLOATS = {"PI": math.pi, "TAU": math.tau, "E": math.e, "EPSILON": 1e-7, "INFINITY": math.inf, "LN_2": math.log(2)}


def constant(m: Machine, path: ast.Path) -> Cell | None:
    """The place of a constant or static that a path names, None when it is something else."""
    names = path.names
    if len(names) >= 2:
        number = _standard(names[-2], names[-1])
        if number is not None:
            return Cell(number)
        owner = m.call.owner if names[-2] == "Self" else names[-2]
        found = m.program.value_item(f"{owner}::{names[-1]}", m.home)
        if found is not None:
            return _evaluate(m, found)
    found = m.program.value_item(names[-1], m.home)
    return _evaluate(m, found) if found is not None else None


def _standard(owner: str, name: str) -> Value | None:
    type_ = terms.SCALARS.get(owner)
    if type_ is not None and type_.kind == "int":
        return {"MAX": type_.high, "MIN": type_.low, "BITS": type_.bits}.get(name)
    if owner in ("f32", "f64", "consts"):
        if name in ("MAX", "MIN"):
            return 3.4e38 if name == "MAX" else -3.4e38
        return _FLOATS.get(name)
    return None


def _evaluate(m: Machine, found: Definition) -> Cell:
    item = found.item
    key = f"{found.home.file}:{item.span.line}:{item.span.col}"
    cell = m.statics.get(key)
    if cell is not None:
        return cell
    cell = Cell(Unknown(f"`{item.name}` depends on itself"), item.name)
    m.statics[key] = cell
    expr = item.value if isinstance(item, (ast.Const, ast.Static)) else None
    if expr is None:
        cell.value = Unknown(f"the value of `{item.name}`")
        return cell
    caller = m.call
    m.calls.append(Call(caller.function, caller.span, found.home, caller.at, temporaries=[[]], owner=None))
    try:
        type_ = item.type if isinstance(item, (ast.Const, ast.Static)) else None
        value = apply_type(m, m.value(expr, type_), type_)
        if isinstance(value, str):
            value = TypeVal("text", (value, expr.span))
        cell.value = value
    finally:
        m.calls.pop()
    return cell


def type_in_scope(m: Machine, type_: ast.Type | None) -> ast.Type | None:
    """A type with the generic parameters of the present call replaced."""
    if isinstance(type_, ast.TypePath) and len(type_.path.names) == 1:
        return m.call.types.get(type_.path.names[0], type_)
    return type_
