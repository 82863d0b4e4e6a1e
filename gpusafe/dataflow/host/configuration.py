"""``#[cfg(...)]`` on the way: what is not known is walked both ways, the same answer each time on one path."""

from __future__ import annotations

from collections.abc import Iterable

from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.program import Function
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.build_attributes import split_commas
from gpusafe.parse.syntax_cfg import HOST, cfg_value

_KEY = "cfg"
_DEEP = 8


def holds(m: Machine, predicate: str, depth: int = 0) -> bool:
    """The truth of a predicate on this path."""
    text = "".join(predicate.split())
    known = cfg_value(text, HOST)
    if known is not None:
        return known
    for name, decide in (("not", None), ("all", all), ("any", any)):
        if text.startswith(f"{name}(") and text.endswith(")") and depth < _DEEP:
            parts = split_commas(text[len(name) + 1 : -1])
            if decide is None:
                return not holds(m, parts[0], depth + 1)
            return decide(holds(m, part, depth + 1) for part in parts if part.strip())
    if text == "test":
        return False
    answers: dict[str, bool] = m.singletons.setdefault(_KEY, {})
    if text not in answers:
        answers[text] = m.choose((f"`cfg({text})` is set", f"`cfg({text})` is not set")) == 0
    return answers[text]


def compiled(m: Machine, attributes: Iterable[ast.Attribute]) -> bool:
    """Whether what carries these attributes is there on this path."""
    return all(holds(m, a.text) for a in attributes if a.path == "cfg")


def alternative(m: Machine, function: Function) -> Function:
    """Of functions of one name under different ``cfg`` the one that is there on this path."""
    if not any(a.path == "cfg" for a in function.item.attributes):
        return function
    named = m.program.methods[function.owner, function.name] if function.owner else m.program.free[function.name]
    same = [f for f in named if (f.trait, f.home.module) == (function.trait, function.home.module)]
    if len(same) < 2:
        return function
    return next((f for f in same if compiled(m, f.item.attributes)), function)
