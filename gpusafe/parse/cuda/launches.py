"""Launches that a CUDA C file makes itself (``kernel<<<grid, block>>>(..)``): their geometry where it is constant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gpusafe.parse.cuda import syntax as s
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.context import Context, Frame, Scope
from gpusafe.parse.cuda.control import execute
from gpusafe.parse.cuda.convert import convert
from gpusafe.parse.cuda.declarations import declare
from gpusafe.parse.cuda.expressions import evaluate
from gpusafe.parse.cuda.operands import value_of
from gpusafe.parse.cuda.program import Program
from gpusafe.parse.cuda.scan import nodes
from gpusafe.parse.cuda.terms import value_of as known
from gpusafe.parse.cuda.values import Aggregate, Term, Value
from gpusafe.span import Span

Extent = tuple[int | None, int | None, int | None]
_UNKNOWN: Extent = (None, None, None)


@dataclass(frozen=True, slots=True)
class FileLaunch:
    """One ``<<<>>>``: the kernel (no template arguments), blocks and threads per axis (None: not constant).

    ``args`` are the arguments that are constant integers, None for all others.
    """

    kernel: str
    grid: Extent
    block: Extent
    span: Span
    args: tuple[int | None, ...] = ()


def launches(program: Program, items: Sequence[s.Item]) -> Iterator[FileLaunch]:
    """All launches in host functions, in order."""
    for item in items:
        if isinstance(item, s.Function) and item.body is not None and "__global__" not in item.flags:
            for node in nodes(item.body):
                if isinstance(node, s.Launch) and isinstance(node.func, s.Name):
                    sizes = [_extent(program, item, c) for c in node.config[:2]]
                    grid, block = (*sizes, _UNKNOWN, _UNKNOWN)[:2]
                    args = tuple(_number(_constant(program, item, a)) for a in node.args)
                    yield FileLaunch(node.func.name.rpartition("::")[2], grid, block, node.span, args)


def _extent(program: Program, function: s.Function, expr: s.Expr) -> Extent:
    """The value of one argument between the angle brackets."""
    value = _constant(program, function, expr, "dim3")
    if not isinstance(value, Aggregate) or len(value.fields) != len(_UNKNOWN):
        return _UNKNOWN
    a, b, c = (_number(field) for field in value.fields)
    return (a, b, c)


def _constant(program: Program, function: s.Function, expr: s.Expr, kind_name: str | None = None) -> Value | None:
    """The value of an expression of a host function whose variables are constants, None where it is not known."""
    assert function.body is not None
    assigned = program.assigned_in(function.body)
    x = Context(program, evaluate, execute, scope=Scope(None, {}, function.scope))
    x.frames.append(Frame(function.name, None, None, None, assigned=assigned))
    wanted = {n.name for n in nodes(expr) if isinstance(n, s.Name)}
    try:
        with x.without_statements():
            for node in nodes(function.body):
                if isinstance(node, s.Variable) and node.name in wanted and node.name not in assigned:
                    declare(x, node)
            value = value_of(x, expr)
            kind = t.builtin_type(kind_name) if kind_name is not None else None
            return convert(x, value, kind, expr.span) if kind is not None else value
    except Exception:  # an unknown value is always a right answer
        return None


def _number(value: Value | None) -> int | None:
    return known(value.expr) if isinstance(value, Term) else None
