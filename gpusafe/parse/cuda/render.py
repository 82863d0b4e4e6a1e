"""Expressions as short text, for the names of temporaries and for messages."""

from __future__ import annotations

from gpusafe.parse.cuda import syntax as s

_LONGEST = 40
Label = str | s.Expr
"""A name for messages and temporaries: text, or an expression that is rendered only when it is needed."""


def shown(label: Label) -> str:
    """The text of a label."""
    return label if isinstance(label, str) else render(label)


def render(expr: s.Expr, depth: int = 0) -> str:
    """The expression as the user wrote it, shortened."""
    if depth > 6:
        return "..."
    line = _text(expr, depth + 1)
    return line if len(line) <= _LONGEST else line[: _LONGEST - 3] + "..."


def _part(expr: s.Expr, depth: int) -> str:
    """An operand, in parentheses when it is an operation itself."""
    inner = render(expr, depth)
    return f"({inner})" if isinstance(expr, (s.Binary, s.Conditional, s.Assign)) else inner


def _list(items: tuple[s.Expr, ...], depth: int) -> str:
    return ", ".join(render(i, depth) for i in items)


def _text(expr: s.Expr, depth: int) -> str:
    match expr:
        case s.Integer(value=value):
            return str(value)
        case s.Floating(value=value):
            return str(value)
        case s.Boolean(value=value):
            return "true" if value else "false"
        case s.NullPointer():
            return "nullptr"
        case s.This():
            return "this"
        case s.Name(name=name):
            return name
        case s.Unary(op=op, operand=operand, postfix=postfix):
            inner = render(operand, depth)
            return inner + op if postfix else op + inner
        case s.Binary(op=op, left=left, right=right) | s.Assign(op=op, target=left, value=right):
            return f"{_part(left, depth)} {op} {_part(right, depth)}"
        case s.Conditional(cond=cond, yes=yes, no=no):
            return f"{render(cond, depth)} ? {render(yes, depth)} : {render(no, depth)}"
        case s.Call(func=func, args=args):
            return f"{render(func, depth)}({_list(args, depth)})"
        case s.Index(base=base, indices=indices):
            return f"{render(base, depth)}[{_list(indices, depth)}]"
        case s.Member(base=base, name=name, arrow=arrow):
            return f"{render(base, depth)}{'->' if arrow else '.'}{name}"
        case s.Cast(operand=operand):
            return render(operand, depth)
        case s.BadExpr(what=what):
            return what
        case _:
            return "..."
