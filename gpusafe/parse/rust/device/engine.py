"""Putting the parts together: a Lowering that can call all of them."""

from __future__ import annotations

from gpusafe.parse.rust.device.calls import call_fn, call_value
from gpusafe.parse.rust.device.control import block_value
from gpusafe.parse.rust.device.exprs import expr_place, expr_value
from gpusafe.parse.rust.device.frames import Frame, Scope, TypeEnv
from gpusafe.parse.rust.device.lowering import Hooks, Lowering
from gpusafe.parse.rust.device.methods import method_on
from gpusafe.parse.rust.device.program import FnDef, Program
from gpusafe.parse.rust.device.written import lower_type

HOOKS = Hooks(expr_value, expr_place, lower_type, call_value, call_fn, method_on, block_value)


def new_lowering(program: Program, dialect: str, fn: FnDef, env: TypeEnv) -> Lowering:
    """A fresh state for lowering one kernel."""
    frame = Frame(fn.name, env, fn)
    return Lowering(program, HOOKS, dialect, frame, Scope(None, env.module))
