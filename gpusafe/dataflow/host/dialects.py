"""Which dialect answers a call: the tables of the dialect modules, tried in the order of what the file uses."""

from __future__ import annotations

from gpusafe.dataflow.host import cudarc, cust, device_ops, extension, oxide, oxide_launch
from gpusafe.dataflow.host.access import chain, deref
from gpusafe.dataflow.host.handles import View
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.results import Found
from gpusafe.dataflow.host.values import Cell, Value
from gpusafe.parse.rust import ast


def call_path(
    m: Machine, full: tuple[str, ...], args: list[Value], expr: ast.Expr, path: ast.Path, expect: ast.Type | None
) -> Found | None:
    """A function of a GPU crate, None when no dialect of the file has it."""
    if m.program.apis:
        described = extension.call_path(m, full, args, expr, path)
        if described is not None:
            return described
    used = m.program.dialects(m.home)
    for name, module in (("cudarc", cudarc), ("cust", cust), ("oxide", oxide), ("cutile", device_ops)):
        if name in used or full[:1] == (name,) or (name == "cust" and "rustacuda" in used):
            found: Found | None = module.call_path(m, full, args, expr, path, expect)
            if found is not None:
                return found
    return None


def call_method(
    m: Machine, receiver: Cell, name: str, args: list[Value], expr: ast.MethodCall, expect: ast.Type | None
) -> Found | None:
    """A method on a handle of a GPU crate."""
    for cell in chain(receiver) if m.program.apis else ():
        described = extension.call_method(m, cell, name, args, expr)
        if described is not None:
            return described
    for cell in chain(receiver):
        handle = cell.value.buffer if isinstance(cell.value, View) else cell.value
        dialect = getattr(handle, "dialect", None)
        module = {"cudarc": cudarc, "cust": cust, "oxide": oxide, "async": device_ops, "cutile": device_ops}.get(
            dialect or ""
        )
        if module is not None:
            found: Found | None = module.call_method(m, cell, receiver, name, args, expr, expect)
            if found is not None:
                return found
    used = m.program.dialects(m.home)
    if "oxide" in used or "cutile" in used:
        return device_ops.call_any(m, deref(receiver), name, args, expr)
    if "cust" in used:
        return cust.call_any(m, deref(receiver), receiver, name, args, expr)
    return None


def call_macro(m: Machine, expr: ast.MacroCall, expect: ast.Type | None) -> Found | None:
    """A macro of a GPU crate."""
    name = expr.path.last
    if name == "launch":
        return cust.launch_macro(m, expr)
    if name in ("cuda_launch", "cuda_launch_async"):
        return oxide_launch.launch_macro(m, expr)
    if name in ("zip", "unzip", "try_join", "join", "select"):
        return device_ops.call_macro(m, expr)
    return None


def struct_literal(m: Machine, path: ast.Path, fields: dict[str, Value], base: Value) -> Value | None:
    """A struct of a GPU crate (launch configurations)."""
    from gpusafe.dataflow.host.launching import config_from_fields

    if "grid_dim" in fields or path.last.startswith("LaunchConfig"):
        return config_from_fields(m, fields, base)
    return None
