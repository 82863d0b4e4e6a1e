"""What a comparison finds."""

from __future__ import annotations

from dataclasses import dataclass

from gpusafe.codegen_check.ptx import Instr
from gpusafe.verdict import Site


@dataclass(frozen=True, slots=True)
class Weaker:
    """The PTX does less than the source asks.

    ``message`` is the headline, ``primary`` the source operation with what it asks for, ``instrs`` the PTX that stands
    for it (empty: there is none), ``declarations`` PTX variables as (line, text), ``help`` what to do about it.
    ``lost`` is the kind of group whose operation at ``primary`` is lost or weaker, ``cloned``: it is there too often.
    """

    message: str
    primary: Site
    instrs: tuple[Instr, ...] = ()
    related: tuple[Site, ...] = ()
    help: tuple[str, ...] = ()
    declarations: tuple[tuple[int, str], ...] = ()
    lost: str = ""
    cloned: bool = False
