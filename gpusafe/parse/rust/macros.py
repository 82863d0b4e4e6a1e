"""The arguments of macro calls, parsed where they stand.

Each function gives None when the text is not of the form it reads; spans are those of the file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpusafe.parse.rust import ast
from gpusafe.parse.rust.build import parse_wrapped
from gpusafe.parse.rust.macro_text import opening_of_last_group, place_of, top_level
from gpusafe.span import Span

_FORMAT_AT = {
    **dict.fromkeys(("print", "println", "eprint", "eprintln", "format", "format_args", "panic", "unreachable"), 0),
    **dict.fromkeys(("todo", "unimplemented", "trace", "debug", "info", "warn", "error", "anyhow", "bail"), 0),
    **dict.fromkeys(("write", "writeln", "assert", "debug_assert", "ensure", "expect"), 1),
    **dict.fromkeys(("assert_eq", "assert_ne", "debug_assert_eq", "debug_assert_ne"), 2),
}
"""Macros that take a format string, and which argument it is."""

_HOLE = re.compile(r"\{\{|\}\}|\{([A-Za-z_]\w*)?[^{}]*\}")
_WRAPPER = "__gpusafe"


@dataclass(frozen=True, slots=True)
class Launch:
    """``launch!(module.function<<<grid, block, shared, stream>>>(args))`` of cust and RustaCUDA.

    With a module, ``name`` names the kernel; without one, ``function`` is the variable that holds the function.
    """

    span: Span
    module: ast.Expr | None
    function: ast.Expr | None
    name: str
    grid: ast.Expr
    block: ast.Expr
    shared: ast.Expr
    stream: ast.Expr
    args: tuple[ast.Expr, ...]


def parse_args(call: ast.MacroCall) -> tuple[ast.Expr, ...] | None:
    """Comma-separated expressions.

    For the format macros of std and the usual logging ones, ``name = value`` arguments are given as the value, and the
    ``{name}`` captures of the format string follow at the end as paths with the string's span.
    """
    args = parse_args_text(call.text, call.text_span)
    at = _FORMAT_AT.get(call.path.last)
    if args is None or at is None:
        return args
    named = {
        arg.target.path.last for arg in args if isinstance(arg, ast.Assign) and isinstance(arg.target, ast.PathExpr)
    }
    values = tuple(arg.value if isinstance(arg, ast.Assign) and arg.op == "=" else arg for arg in args)
    if len(values) <= at:
        return values
    return values + _captures(values[at], named)


def _captures(text: ast.Expr, named: set[str]) -> tuple[ast.Expr, ...]:
    if not isinstance(text, ast.Lit) or not isinstance(text.value, str):
        return ()
    names = dict.fromkeys(match[1] for match in _HOLE.finditer(text.value) if match[1] and match[1] not in named)
    return tuple(ast.PathExpr(text.span, ast.Path(text.span, (name,))) for name in names)


def parse_vec(call: ast.MacroCall) -> ast.Array | ast.ArrayRepeat | None:
    """``vec![a, b]`` and ``vec![x; n]`` (and other macros with the syntax of an array)."""
    built = parse_expr_text(f"[{call.text}\n]", _one_left(call.text_span))
    return built if isinstance(built, ast.Array | ast.ArrayRepeat) else None


def parse_array_type(call: ast.MacroCall) -> ast.TypeArray | None:
    """``shared_array![T; N]`` and other macros with the syntax of an array type."""
    built = parse_type_text(f"[{call.text}\n]", _one_left(call.text_span))
    return built if isinstance(built, ast.TypeArray) else None


def parse_launch(call: ast.MacroCall) -> Launch | None:
    """The parts of a ``launch!`` with chevrons."""
    text, at = call.text, call.text_span
    start = next((i for i in top_level(text, "<") if text.startswith("<<<", i)), -1)
    group = opening_of_last_group(text)
    if start < 0 or group is None:
        return None
    end = text.rfind(">>>", start, group)
    if end < 0 or text[end + 3 : group].strip():
        return None
    target = parse_expr_text(text[:start], place_of(text, at, 0, start))
    shape = parse_args_text(text[start + 3 : end], place_of(text, at, start + 3, end))
    close = text.rindex(")")
    args = parse_args_text(text[group + 1 : close], place_of(text, at, group + 1, close))
    if target is None or shape is None or len(shape) != 4 or args is None:
        return None
    match target:
        case ast.Field(base=module, name=name):
            return Launch(call.span, module, None, name, *shape, args)
        case ast.PathExpr(path=path):
            return Launch(call.span, None, target, path.last, *shape, args)
        case _:
            return Launch(call.span, None, target, "", *shape, args)


def parse_fields(call: ast.MacroCall) -> tuple[tuple[str, ast.Expr], ...] | None:
    """``key: value, ...`` (``cuda_launch!`` and its like), in source order."""
    items = parse_wrapped(f"fn {_WRAPPER}(){{{_WRAPPER}{{", call.text, "\n}}", call.text_span)
    match _body(items):
        case ast.Block(stmts=(), tail=ast.StructLit(fields=fields, base=None)):
            return fields
        case _:
            return None


def parse_args_text(text: str, at: Span) -> tuple[ast.Expr, ...] | None:
    """Comma-separated expressions in a text that starts at ``at``."""
    items = parse_wrapped(f"fn {_WRAPPER}(){{{_WRAPPER}(", text, "\n)}", at)
    match _body(items):
        case ast.Block(stmts=(), tail=ast.Call(func=ast.PathExpr(path=path), args=args)) if path.names == (_WRAPPER,):
            return args
        case _:
            return None


def parse_expr_text(text: str, at: Span) -> ast.Expr | None:
    """One expression in a text that starts at ``at``."""
    args = parse_args_text(text, at)
    return args[0] if args is not None and len(args) == 1 else None


def parse_block_text(text: str, at: Span) -> ast.Block | None:
    """The inside of a block (statements and a value) in a text that starts at ``at``."""
    return _body(parse_wrapped(f"fn {_WRAPPER}(){{", text, "\n}", at))


def parse_type_text(text: str, at: Span) -> ast.Type | None:
    """One type in a text that starts at ``at``."""
    items = parse_wrapped(f"type {_WRAPPER}=", text, "\n;", at)
    match items:
        case (ast.TypeAlias(type=given),):
            return given
        case _:
            return None


def parse_items_text(text: str, at: Span) -> tuple[ast.Item, ...] | None:
    """Items in a text that starts at ``at``."""
    return parse_wrapped("", text, "\n", at)


def _body(items: tuple[ast.Item, ...] | None) -> ast.Block | None:
    match items:
        case (ast.Fn(name=name, body=body, problem=None),) if name == _WRAPPER:
            return body
        case _:
            return None


def _one_left(at: Span) -> Span:
    """The place of the delimiter before a macro's text."""
    return Span(at.file, at.line, at.col - 1, at.end_line, at.end_col)
