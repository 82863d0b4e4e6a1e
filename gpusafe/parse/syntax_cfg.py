"""``#[cfg(...)]`` with three truth values: what is compiled for the host, for the device, or perhaps for both."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gpusafe.parse.rust import ast
from gpusafe.parse.rust.build_attributes import split_commas

HOST = "host"
DEVICE = "device"
BOTH = frozenset({HOST, DEVICE})

_PREDICATE = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:\((.*)\)|=\s*\"([^\"]*)\")?\s*\Z", re.DOTALL)
_DEVICE_VALUES = {
    "target_arch": frozenset({"nvptx64", "nvptx"}),
    "target_os": frozenset({"cuda"}),
    "target_vendor": frozenset({"nvidia"}),
    "target_family": frozenset[str](),
    "target_env": frozenset({""}),
}
_MAX_NESTING = 40


def item_sets(item: ast.Item) -> frozenset[str]:
    """Where an item can exist: ``host``, ``device``, both, or nowhere. Conditions that are not known keep it."""
    return attribute_sets(item.attributes)


def attribute_sets(attributes: Iterable[ast.Attribute]) -> frozenset[str]:
    """The same for a list of attributes (statements, arms, module declarations)."""
    conditions = [condition for attribute in attributes if (condition := _condition(attribute)) is not None]
    if not conditions:
        return BOTH
    return frozenset(side for side in (HOST, DEVICE) if all(cfg_value(c, side) is not False for c in conditions))


def _condition(attribute: ast.Attribute) -> str | None:
    if attribute.path == "cfg":
        return attribute.text
    if attribute.path == "cfg_attr":
        when, *rest = split_commas(attribute.text) or [""]
        inner = [part[4:-1] for part in rest if re.match(r"cfg\s*\(", part)]
        return f"any(not({when}), all({', '.join(inner)}))" if inner else None
    return None


def cfg_value(predicate: str, side: str, depth: int = 0) -> bool | None:
    """The truth of one predicate on one side (``host`` or ``device``), None when it is not known."""
    match = _PREDICATE.match(predicate)
    if match is None or depth > _MAX_NESTING:
        return None
    name, inner, value = match.groups()
    if inner is not None:
        parts = [cfg_value(part, side, depth + 1) for part in split_commas(inner)]
        return _combine(name, parts)
    if value is not None:
        return _option(name, value, side)
    return {"true": True, "false": False}.get(name, False if name in ("unix", "windows") and side == DEVICE else None)


def _combine(name: str, parts: list[bool | None]) -> bool | None:
    match name:
        case "all":
            return False if False in parts else None if None in parts else True
        case "any":
            return True if True in parts else None if None in parts else False
        case "not" if len(parts) == 1:
            return None if parts[0] is None else not parts[0]
        case _:
            return None


def _option(name: str, value: str, side: str) -> bool | None:
    device = _DEVICE_VALUES.get(name)
    if device is None:
        return None
    if side == DEVICE:
        return value in device
    return False if value in device and value else None
