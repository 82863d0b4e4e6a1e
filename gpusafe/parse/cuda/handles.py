"""Library types that have a meaning for ordering but no bytes of interest."""

from __future__ import annotations

from gpusafe.parse.cuda.types import Handle

_GROUPS = {
    "thread_block": "block group",
    "grid_group": "grid group",
    "cluster_group": "cluster group",
    "coalesced_group": "coalesced group",
    "thread_block_tile": "tile group",
    "thread_group": "thread group",
}


def is_handle(name: str) -> bool:
    """Whether a full name is one of a library type."""
    return handle_type(name, (None,)) is not None


def handle_type(name: str, args: tuple[object, ...]) -> Handle | None:
    """The handle type that a full name stands for, None when it is none."""
    last = name.rpartition("::")[2]
    if last in _GROUPS and ("cooperative_groups" in name or "::" not in name):
        return Handle(_GROUPS[last], args)
    if last in ("atomic_ref", "atomic") and ("cuda" in name or "std" in name):
        return Handle(last, args)
    if last in ("texture", "surface") and "::" not in name and args:
        return Handle(last, args)
    return None
