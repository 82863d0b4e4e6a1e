"""The models of the device APIs, written in Rust (``prelude/*.rs``) and read once per process."""

from __future__ import annotations

from functools import cache
from importlib import resources

from gpusafe.parse.rust.build import parse_file
from gpusafe.parse.rust.device.program import Module, build_module

FAMILIES = ("core", "cuda_std", "oxide", "cubecl")


@cache
def _source(family: str) -> str:
    return (resources.files(__package__) / "prelude" / f"{family}.rs").read_text(encoding="utf-8")


@cache
def prelude(family: str) -> Module:
    """The module of a family's models; raises ValueError when the file does not parse."""
    source = parse_file(f"<{family}>", _source(family))
    if source.errors:
        raise ValueError(f"the prelude {family}.rs does not parse at {source.errors[0]}")
    return build_module((family,), source.items, None, family)


def all_preludes() -> tuple[Module, ...]:
    """The models of all families."""
    return tuple(prelude(f) for f in FAMILIES)
