"""Macro calls: formatting and assertions read their arguments, launches go to their dialect, the rest is named."""

from __future__ import annotations

import re

from gpusafe.dataflow.host import dialects, macro_expansion, terms
from gpusafe.dataflow.host.access import peel, touch, touch_cell, touch_root
from gpusafe.dataflow.host.branches import quiet
from gpusafe.dataflow.host.configuration import holds
from gpusafe.dataflow.host.drops import owns
from gpusafe.dataflow.host.foreign import handles_in, mention_gap
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.signals import PanicSignal, ReturnSignal
from gpusafe.dataflow.host.syntax_walk import mentioned
from gpusafe.dataflow.host.values import TypeVal, Unknown, Value, err, unit
from gpusafe.ir.expr import Op
from gpusafe.ir.host import HostAccess
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.macros import parse_args, parse_vec

_FORMAT = frozenset(
    [
        "print",
        "println",
        "eprint",
        "eprintln",
        "format",
        "format_args",
        "write",
        "writeln",
        "trace",
        "debug",
        "info",
        "warn",
        "error",
        "log",
        "dbg",
        "anyhow",
        "format_err",
        "eyre",
    ]
)
_LOGS = frozenset(["trace", "debug", "info", "warn", "error", "log"])
_INLINE = re.compile(r"\{([A-Za-z_]\w*)[:}]")
_PANICS = frozenset(["panic", "unreachable", "todo", "unimplemented"])
_ASSERTS = frozenset(["assert", "debug_assert", "assert_eq", "assert_ne", "debug_assert_eq", "debug_assert_ne"])
_BAILS = frozenset(["bail", "ensure"])
_TEXT = frozenset(
    ["include_str", "env", "option_env", "concat", "stringify", "file", "line", "module_path", "c_str", "cstr"]
)


def macro_expr(m: Machine, expr: ast.MacroCall, expect: ast.Type | None) -> Value:
    """The value of a macro call."""
    name = expr.path.last
    own = macro_expansion.expand(m, expr, expect)
    if own is not None:
        return own.value
    if name in _FORMAT:
        before = len(m.ops)
        read_arguments(m, expr)
        if name in _LOGS and any(not isinstance(op, HostAccess) for op in m.ops[before:]):
            m.gap(expr.span, f"`{name}!` evaluates its arguments only where its level is on, and has an effect")
        return TypeVal("text")
    if name in _PANICS:
        read_arguments(m, expr)
        raise PanicSignal
    if name in _ASSERTS:
        before = len(m.ops)
        result = _assert(m, expr, name)
        if name.startswith("debug") and len(m.ops) != before:
            m.gap(expr.span, f"`{name}!` is there in debug builds only, and has an effect")
        return result
    if name in _BAILS:
        return _bail(m, expr, name)
    if name == "vec":
        return _vec(m, expr, expect)
    if name == "cfg":
        return holds(m, expr.text)
    if name == "matches":
        return _matches(m, expr)
    if name in _TEXT or name in ("include_bytes",):
        return TypeVal("text", (_file_name(expr.text), expr.span))
    known = dialects.call_macro(m, expr, expect)
    if known is not None:
        return known.value
    return _unknown(m, expr)


def read_arguments(m: Machine, expr: ast.MacroCall) -> None:
    """Arguments of a formatting macro are borrowed and read."""
    args = m.program.once("parse_args", expr, lambda: parse_args(expr))
    for arg in args or ():
        if isinstance(arg, ast.Lit):
            _read_inline(m, arg)
            continue
        if isinstance(arg, ast.PathExpr) and len(arg.path.names) == 1 and m.lookup(arg.path.names[0]) is None:
            continue
        cell = m.place(arg)
        touch(m, cell.value, "read", arg.span)
        touch_cell(m, cell, "read", arg.span)
        touch_root(m, arg, "read")
    if args is None:
        _unknown(m, expr)


def _read_inline(m: Machine, literal: ast.Lit) -> None:
    """``"{name}"`` reads a variable too."""
    if not isinstance(literal.value, str):
        return
    for name in _INLINE.findall(literal.value.replace("{{", "")):
        cell = m.lookup(name)
        if cell is not None:
            touch(m, cell.value, "read", literal.span)
            touch_cell(m, cell, "read", literal.span)


def _assert(m: Machine, expr: ast.MacroCall, name: str) -> Value:
    args = m.program.once("parse_args", expr, lambda: parse_args(expr)) or ()
    needed = 2 if name.endswith(("_eq", "_ne")) else 1
    if len(args) < needed:
        return unit()
    if needed == 1:
        condition = peel(m.value(args[0]))
    else:
        sides = []
        for arg in args[:2]:
            cell = m.place(arg)
            touch(m, cell.value, "read", arg.span)
            sides.append(peel(cell.value))
        op = Op.EQ if name.endswith("_eq") else Op.NE
        result = terms.binary(op, sides[0], sides[1])
        condition = result if result is not None else Unknown("an assertion")
    if isinstance(condition, bool):
        if not condition and not _goes_on(m, expr, name):
            raise PanicSignal
        return unit()
    if quiet(m) or not name.startswith("assert"):
        m.assume(condition)
        return unit()
    if not m.decide(condition, f"{name}!({m.source_text(args[0])}, ..) holds", expr.span, structural=True):
        raise PanicSignal
    return unit()


def _goes_on(m: Machine, expr: ast.MacroCall, name: str) -> bool:
    """Whether the code goes on after an assertion that does not hold: those of debug builds are not in a release."""
    if not name.startswith("debug"):
        return False
    if quiet(m):
        return True
    where = f"at {expr.span.file}:{expr.span.line}"
    return m.choose((f"`{name}!` is left out of the build {where}", f"`{name}!` fails {where}")) == 0


def _bail(m: Machine, expr: ast.MacroCall, name: str) -> Value:
    args = m.program.once("parse_args", expr, lambda: parse_args(expr)) or ()
    if name == "ensure" and args and m.decide(peel(m.value(args[0])), m.source_text(args[0]), expr.span):
        return unit()
    raise ReturnSignal(err(Unknown("an error")))


def _vec(m: Machine, expr: ast.MacroCall, expect: ast.Type | None) -> Value:
    from gpusafe.dataflow.host.calls import repeated
    from gpusafe.dataflow.host.syntax_walk import generic

    if not expr.text.strip():
        from gpusafe.dataflow.host.values import SeqVal

        return SeqVal("vec", [], 0, generic(expect))
    parsed = m.program.once("parse_vec", expr, lambda: parse_vec(expr))
    if isinstance(parsed, ast.Array):
        value = m.value(parsed, None)
        value.kind = "vec"  # type: ignore[attr-defined]
        return value
    if isinstance(parsed, ast.ArrayRepeat):
        return repeated(m, parsed.value, peel(m.value(parsed.length)), "vec")
    return _unknown(m, expr)


def _matches(m: Machine, expr: ast.MacroCall) -> Value:
    args = m.program.once("parse_args", expr, lambda: parse_args(expr))
    if not args:
        return _unknown(m, expr)
    m.place(args[0])
    return Unknown("a match")


def _file_name(text: str) -> str:
    parts = [p for p in text.replace("(", '"').split('"') if "." in p or "/" in p]
    return parts[-1] if parts else text.strip().strip('"')


def _unknown(m: Machine, expr: ast.MacroCall) -> Value:
    cells = [c for c in (m.lookup(n) for n in mentioned(expr)) if c is not None]
    values = [c.value for c in cells]
    if any(handles_in(v) or owns(m, v) for v in values):
        mention_gap(m, f"the macro `{expr.path.last}!` is not known", values, expr.span)
    return Unknown(f"the result of `{expr.path.last}!`")
