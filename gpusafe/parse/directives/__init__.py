"""What users tell gpusafe in their sources.

Comments ``// gpusafe: allow(GS101): reason`` (on a line of its own: the next statement or item; behind code: that
line), ``// gpusafe: requires(n <= out.len())``, ``// gpusafe: assume(injective(perm))``, and the attribute form
``#[cfg_attr(any(), gpusafe::allow(GS101, reason = "..."))]``, which compiles without warnings on stable Rust.
"""

from __future__ import annotations

from gpusafe.parse.directives.attach import attach
from gpusafe.parse.directives.expr import (
    Apply,
    Compound,
    DirectiveError,
    Expr,
    LengthOf,
    Name,
    Not,
    Number,
    parse_expr,
)
from gpusafe.parse.directives.model import Allow, Contract, Directives, Problem
from gpusafe.parse.directives.read import read
from gpusafe.parse.directives.terms import to_term

__all__ = [
    "Allow",
    "Apply",
    "Compound",
    "Contract",
    "DirectiveError",
    "Directives",
    "Expr",
    "LengthOf",
    "Name",
    "Not",
    "Number",
    "Problem",
    "attach",
    "parse_expr",
    "read",
    "to_term",
]
