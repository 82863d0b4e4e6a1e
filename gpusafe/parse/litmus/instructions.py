"""One instruction of a litmus test."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from gpusafe.errors import GpusafeError
from gpusafe.parse.litmus.program import (
    Barrier,
    Branch,
    Fence,
    Instruction,
    Jump,
    Label,
    Load,
    Location,
    Move,
    Operand,
    ProxyFence,
    ReadModifyWrite,
    Store,
)

SCOPES = frozenset({"cta", "cluster", "gpu", "sys"})
ARITHMETIC = frozenset({"add", "sub", "mul", "div", "and", "or", "xor", "min", "max"})
_LOADS = {"ld": "generic", "tld": "texture", "suld": "surface", "cold": "constant"}
_STORES = {"st": "generic", "sust": "surface"}
_ATOMS = {"atom": "generic", "suatom": "surface"}
_REDS = {"red": "generic", "sured": "surface"}
_ORDERS = {
    "load": frozenset({"weak", "relaxed", "acquire"}),
    "store": frozenset({"weak", "relaxed", "release"}),
    "atom": frozenset({"relaxed", "acquire", "release", "acq_rel"}),
    "fence": frozenset({"acquire", "release", "acq_rel", "sc"}),
}
_MEMBAR = {"cta": "cta", "gl": "gpu", "sys": "sys"}
_PROXIES = frozenset({"generic", "texture", "surface", "constant", "alias"})
_BRANCHES = {"beq": "==", "bne": "!=", "bge": ">=", "ble": "<=", "bgt": ">", "blt": "<"}


def parse_instruction(text: str, locate: Callable[[str], Location]) -> tuple[Instruction, ...]:
    """The instructions in a field of a row: none, one, or a label and one after it."""
    text = text.strip()
    if not text:
        return ()
    if label := re.match(r"(\w+)\s*:", text):
        return (Label(label.group(1)), *parse_instruction(text[label.end() :], locate))
    head, _, rest = text.partition(" ")
    fields = [f.strip() for f in rest.split(",")] if rest.strip() else []
    name, *parts = head.split(".")
    try:
        return (_instruction(name, parts, fields, locate),)
    except (ValueError, IndexError, KeyError):
        raise GpusafeError(f"litmus: cannot read the instruction `{text}`") from None


def _instruction(name: str, parts: list[str], fields: list[str], locate: Callable[[str], Location]) -> Instruction:
    if name in _LOADS:
        if not _is_name(fields[1]):
            return Move(fields[0], "mov", _operand(fields[1]), 0)
        order, scope = _order(parts, "load")
        return Load(fields[0], locate(fields[1]), order, scope, _LOADS[name])
    if name in _STORES:
        order, scope = _order(parts, "store")
        return Store(locate(fields[0]), _operand(fields[1]), order, scope, _STORES[name])
    if name in _ATOMS or name in _REDS:
        return _read_modify_write(name, parts, fields, locate)
    if name in _BRANCHES:
        return Branch(_BRANCHES[name], _operand(fields[0]), _operand(fields[1]), fields[2])
    if name in ARITHMETIC:
        return Move(fields[0], name, _operand(fields[1]), _operand(fields[2]))
    match name, parts:
        case "mov", _:
            return Move(fields[0], "mov", _operand(fields[1]), 0)
        case "goto", _:
            return Jump(fields[0])
        case "membar", [scope]:
            return Fence("sc", _MEMBAR[scope])
        case "fence", ["proxy", proxy] if proxy in _PROXIES:
            return ProxyFence(proxy)
        case "fence", [scope] if scope in SCOPES:
            return Fence("acq_rel", scope)
        case "fence", [order, scope] if order in _ORDERS["fence"] and scope in SCOPES:
            return Fence(order, scope)
        case "bar", ["cta", ("sync" | "arrive") as how] | [("sync" | "arrive") as how]:
            resource = _operand(fields[1]) if len(fields) > 1 else None
            quorum = _operand(fields[2]) if len(fields) > 2 else None
            if not 1 <= len(fields) <= 3:
                raise ValueError(fields)
            if _is_name(fields[0]) or isinstance(_operand(fields[0]), str):
                raise ValueError(fields)
            return Barrier(int(fields[0]), resource, quorum, how == "arrive")
    raise ValueError(name)


def _read_modify_write(
    name: str, parts: list[str], fields: list[str], locate: Callable[[str], Location]
) -> ReadModifyWrite:
    operation = parts[-1]
    order, scope = _order(parts[:-1], "atom")
    if operation not in ARITHMETIC and operation not in ("exch", "cas"):
        raise ValueError(operation)
    register = None
    if name in _ATOMS:
        register, fields = fields[0], fields[1:]
    operands = tuple(_operand(f) for f in fields[1:])
    if len(operands) != (2 if operation == "cas" else 1):
        raise ValueError(fields)
    proxy = _ATOMS[name] if name in _ATOMS else _REDS[name]
    return ReadModifyWrite(register, locate(fields[0]), operation, operands, order, scope, proxy)


def _order(parts: Sequence[str], kind: str) -> tuple[str, str]:
    """Order and scope, with the defaults of the ISA: weak for ld and st, relaxed and .gpu for atom and red."""
    words = list(parts)
    if words == ["volatile"]:
        return "relaxed", "sys"
    order = "relaxed" if kind == "atom" else "weak"
    if words and words[0] not in SCOPES:
        order = words.pop(0)
    if order not in _ORDERS[kind]:
        raise ValueError(order)
    if order == "weak":
        if words:
            raise ValueError(words)
        return order, "sys"
    scope = words.pop(0) if words else "gpu" if kind == "atom" else ""
    if words or scope not in SCOPES:
        raise ValueError(parts)
    return order, scope


def _is_name(text: str) -> bool:
    return re.fullmatch(r"[A-Za-z_]\w*", text) is not None and not _is_register(text)


def _is_register(text: str) -> bool:
    return re.fullmatch(r"%?r\d+", text) is not None


def _operand(text: str) -> Operand:
    if _is_register(text):
        return text
    return int(text, 0) if re.fullmatch(r"-?0x[0-9a-fA-F]+", text) else int(text)
