"""Conditional compilation inside of functions."""

from __future__ import annotations

from collections.abc import Iterable

from gpusafe.ir.expr import BOOL, FALSE, TRUE, Expr, Opaque
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.device import terms
from gpusafe.parse.syntax_cfg import DEVICE, cfg_value


def predicate(text: str) -> Expr:
    """Whether a ``cfg`` predicate holds in device code; one fixed unknown when it is not decided here."""
    if text.strip() == "debug_assertions":
        return FALSE  # kernels are built for release
    known = cfg_value(text, DEVICE)
    if known is None:
        return Opaque(BOOL, f"cfg({' '.join(text.split())})", ())
    return TRUE if known else FALSE


def compiled(attributes: Iterable[ast.Attribute]) -> Expr:
    """Whether something with these attributes is there."""
    whole: Expr = TRUE
    for attribute in attributes:
        if attribute.path == "cfg":
            whole = terms.both(whole, predicate(attribute.text))
    return whole
