"""The atomics of ``cuda_std::atomic::mid``: free functions whose names say operation, type and scope.

``atomic_load_32_device(ptr, order)``, ``atomic_store_64_block(ptr, order, value)``,
``atomic_fetch_add_u32_system(ptr, order, value)``, ``atomic_compare_and_swap_u32_device(ptr, current, new, order)``
(Rust-CUDA at ac2674f, atomic/mid.rs).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAME = re.compile(
    r"^atomic_(?:(?P<mem>load|store)_(?P<width>\d+)|fetch_(?P<fetch>[a-z]+)_(?P<type>[uif]\d+)"
    r"|(?P<swap>swap|exchange)_(?P<swap_type>[uif]\d+)"
    r"|compare_and_swap_(?P<cas_type>[uif]\d+))_(?P<scope>device|block|system)$"
)


@dataclass(frozen=True, slots=True)
class MidAtomic:
    """``op`` as in the IR's Atomic (``cas`` for compare and swap); ``type`` the name of the scalar; ``scope``."""

    op: str
    type: str
    scope: str


def mid_atomic(name: str) -> MidAtomic | None:
    """What an atomic function of ``cuda_std`` does."""
    found = _NAME.match(name)
    if found is None:
        return None
    scope = found["scope"]
    if found["mem"]:
        return MidAtomic(found["mem"], f"u{found['width']}", scope)
    if found["fetch"]:
        return MidAtomic(found["fetch"], found["type"], scope)
    if found["swap"]:
        return MidAtomic("exch", found["swap_type"], scope)
    return MidAtomic("cas", found["cas_type"], scope)
