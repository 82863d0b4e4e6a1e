"""The arguments of ``asm!`` and ``ptx_asm!``: template and operands."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpusafe.parse.rust import ast
from gpusafe.parse.rust.macro_text import place_of, top_level
from gpusafe.parse.rust.macros import parse_args_text

_OPERAND = re.compile(
    r"\s*(?:(?P<name>[A-Za-z_]\w*)\s*=\s*)?(?P<kind>in|out|lateout|inout|inlateout)\s*\((?P<reg>[^)]*)\)\s*", re.DOTALL
)
_CONST = re.compile(r"\s*(?:(?P<name>[A-Za-z_]\w*)\s*=\s*)?(?P<kind>const|sym)\s+", re.DOTALL)
_OPTIONS = re.compile(r"\s*options\s*\((?P<words>[^)]*)\)\s*\Z", re.DOTALL)
_HOLE = re.compile(r"\{\{|\}\}|\{(?P<name>\w*)(?::\w*)?\}")


@dataclass(frozen=True, slots=True)
class AsmOperand:
    """``kind``: in, out, inout, const or sym; ``value`` is read, ``target`` written (None: ``_``)."""

    symbol: str | None
    kind: str
    value: ast.Expr | None
    target: ast.Expr | None


@dataclass(frozen=True, slots=True)
class Asm:
    """One call; holes of the template read ``%[name]`` and ``%0``."""

    template: str
    operands: tuple[AsmOperand, ...]
    options: frozenset[str]


def parse_asm(call: ast.MacroCall) -> Asm | None:
    """The parts of a call, None when one is not of a known form."""
    pieces = _pieces(call)
    if pieces is None:
        return None
    templates: list[str] = []
    operands: list[AsmOperand] = []
    options: set[str] = set()
    for text, offset in pieces:
        stripped = text.strip()
        found = _OPTIONS.match(text)
        if found is not None:
            options |= {w.strip() for w in found["words"].split(",")}
        elif re.match(r"\s*(clobber|clobber_abi)\s*\(", text):
            continue
        elif not operands and (stripped.startswith(('"', 'r"', "r#", "concat!"))):
            template = _template(call, text, offset)
            if template is None:
                return None
            templates.append(template)
        elif stripped:
            operand = _operand(call, text, offset)
            if operand is None:
                return None
            operands.append(operand)
    joined = "\n".join(templates)
    if call.path.last != "ptx_asm":
        joined = _holes(joined, operands)
    return Asm(joined, tuple(operands), frozenset(options))


def _pieces(call: ast.MacroCall) -> list[tuple[str, int]] | None:
    text = call.text
    commas = [*top_level(text, ","), len(text)]
    out: list[tuple[str, int]] = []
    start = 0
    for comma in commas:
        if text[start:comma].strip():
            out.append((text[start:comma], start))
        start = comma + 1
    return out


def _expr(call: ast.MacroCall, text: str, offset: int) -> ast.Expr | None:
    lead = len(text) - len(text.lstrip())
    body = text.strip()
    at = place_of(call.text, call.text_span, offset + lead, offset + lead + len(body))
    args = parse_args_text(body, at)
    return args[0] if args is not None and len(args) == 1 else None


def _template(call: ast.MacroCall, text: str, offset: int) -> str | None:
    """A string literal, or ``concat!`` of literals."""
    node = _expr(call, text, offset)
    match node:
        case ast.Lit(value=str() as value):
            return value
        case ast.MacroCall(path=path) if path.last == "concat":
            parts = parse_args_text(node.text, node.text_span) or ()
            if all(isinstance(p, ast.Lit) for p in parts):
                return "".join(str(p.value) for p in parts if isinstance(p, ast.Lit))
    return None


def _operand(call: ast.MacroCall, text: str, offset: int) -> AsmOperand | None:
    found = _OPERAND.match(text)
    if found is None:
        const = _CONST.match(text)
        if const is None:
            return None
        value = _expr(call, text[const.end() :], offset + const.end())
        return AsmOperand(const["name"], const["kind"], value, None) if value is not None else None
    rest, at = text[found.end() :], offset + found.end()
    kind = {"lateout": "out", "inlateout": "inout"}.get(found["kind"], found["kind"])
    first, arrow, second = rest.partition("=>")
    if arrow:
        value, target = _expr(call, first, at), _target(call, second, at + len(first) + 2)
        return AsmOperand(found["name"], "inout", value, target)
    if kind == "out":
        return AsmOperand(found["name"], "out", None, _target(call, rest, at))
    value = _expr(call, rest, at)
    if value is None:
        return None
    return AsmOperand(found["name"], kind, value, value if kind == "inout" else None)


def _target(call: ast.MacroCall, text: str, offset: int) -> ast.Expr | None:
    return None if text.strip() == "_" else _expr(call, text, offset)


def _holes(template: str, operands: list[AsmOperand]) -> str:
    """``{name}``, ``{0}`` and ``{}`` as ``%[name]`` and ``%0``."""
    names = {o.symbol for o in operands}
    count = 0

    def hole(found: re.Match[str]) -> str:
        nonlocal count
        if found[0] in ("{{", "}}"):
            return found[0][0]
        name = found["name"]
        if name == "":
            count += 1
            return f"%{count - 1}"
        return f"%{name}" if name.isdigit() else f"%[{name}]" if name in names else found[0]

    return _HOLE.sub(hole, template)
