"""A translation unit: which kernels it has, and the IR of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from gpusafe.ir import kernel as k
from gpusafe.parse.cuda import syntax as s
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.chunks import split
from gpusafe.parse.cuda.context import Context, Scope, TooDeep, Unsupported
from gpusafe.parse.cuda.control import execute
from gpusafe.parse.cuda.expressions import evaluate
from gpusafe.parse.cuda.items import read_chunk
from gpusafe.parse.cuda.kernels import Instance, lower_kernel, unread_kernel
from gpusafe.parse.cuda.launches import FileLaunch, launches
from gpusafe.parse.cuda.lex import Starts
from gpusafe.parse.cuda.overloads import deduce
from gpusafe.parse.cuda.preprocess import Includes, Problem, preprocess
from gpusafe.parse.cuda.program import Program
from gpusafe.parse.cuda.reach import needed
from gpusafe.parse.cuda.resolve import TemplateArg, resolve, show_arg, template_args
from gpusafe.parse.cuda.scan import nodes
from gpusafe.parse.cuda.terms import value_of
from gpusafe.parse.cuda.values import FixedPlace, Operand, Value
from gpusafe.span import Span

_SHOWN_ERRORS = 20


@dataclass(frozen=True, slots=True)
class GlobalVariable:
    """A variable of the module that the host can reach by name (``__constant__``, ``__device__``)."""

    name: str
    space: k.Space
    elem_bytes: int | None
    length: int | None
    span: Span


@dataclass(frozen=True, slots=True)
class CudaModule:
    """The kernels of one source, its globals, what could not be read, and the launches that it makes itself."""

    kernels: tuple[k.Kernel, ...]
    globals: tuple[GlobalVariable, ...]
    problems: tuple[Problem, ...]
    errors: tuple[Span, ...]
    launches: tuple[FileLaunch, ...] = ()


def lower_source(
    file: str,
    text: str,
    *,
    line: int = 1,
    col: int = 1,
    defines: Mapping[str, str] | None = None,
    includes: Includes | None = None,
    line_starts: Starts | None = None,
) -> CudaModule:
    """Lower all kernels of a CUDA C text whose first character stands at ``line``, ``col`` of ``file``.

    ``defines`` are macros given on the compiler's command line; ``includes`` finds files of the tree by name;
    ``line_starts`` gives line and column of every line of a text that does not stand in the file as it is. Nothing that
    the text says makes this raise.
    """
    ready = preprocess(file, text, line=line, col=col, defines=defines, includes=includes, line_starts=line_starts)
    items: list[s.Item] = []
    errors: list[Span] = []
    lost: list[k.Kernel] = []
    for chunk in needed(split(ready.tokens)):
        try:
            found, bad = read_chunk(chunk)
        except Exception as fault:  # a fault of ours costs one function, never the run
            found, bad = [], [chunk.span]
            lost.append(unread_kernel(chunk, f"internal fault: {fault!r}"))
        else:
            if "__global__" in chunk.words and not any(isinstance(i, (s.Function, s.Record)) for i in found):
                lost.append(unread_kernel(chunk, "it does not parse"))
        if ready.packed:
            found = [replace(i, odd="`#pragma pack`") if isinstance(i, s.Record) else i for i in found]
        items.extend(found)
        errors.extend(bad)
    program = Program.of(items)
    own = tuple(sorted(launches(program, items), key=lambda launch: launch.span))
    kernels = tuple(_launched(lower_kernel(program, instance), own) for instance in _instances(program, items))
    return CudaModule(
        (*kernels, *lost),
        _globals(program),
        ready.problems,
        tuple(errors[:_SHOWN_ERRORS]),
        own,
    )


def _launched(kernel: k.Kernel, own: tuple[FileLaunch, ...]) -> k.Kernel:
    """The kernel with the sizes of the launches of its own file; instances of a template share them."""
    sizes = tuple(k.LaunchSize(f.grid, f.block, f.span, f.args) for f in own if f.kernel == kernel.name)
    return replace(kernel, launched=sizes) if sizes else kernel


def _context(program: Program, scope: str) -> Context:
    return Context(program, evaluate, execute, scope=Scope(None, {}, scope))


def _instances(program: Program, items: list[s.Item]) -> Iterator[Instance]:
    """Each kernel once, templates once for each set of arguments that the unit names."""
    asked = list(_asked(program, items))
    seen: set[int] = set()
    for function in program.kernels:
        if id(function) in seen:
            continue
        seen.add(id(function))
        if function.template is None:
            yield Instance(function)
        elif not function.template:
            yield Instance(function, _own_args(program, function))
        else:
            yield from _template_instances(program, function, asked)


def _own_args(program: Program, function: s.Function) -> tuple[TemplateArg, ...]:
    """The arguments of an explicit specialisation."""
    try:
        return tuple(template_args(_context(program, function.scope), function.args or ()))
    except (Unsupported, TooDeep, RecursionError):
        return ()


@dataclass(frozen=True, slots=True)
class _Ask:
    """A place that asks for an instance: explicit arguments, and those of the call."""

    name: str
    args: tuple[s.TypeNode | s.Expr, ...]
    params: tuple[s.TypeNode, ...]


def _asked(program: Program, items: list[s.Item]) -> Iterator[_Ask]:
    for made in program.instantiations:
        yield _Ask(made.name, made.args or (), tuple(p.type for p in made.params))
    if not any(f.template for f in program.kernels):
        return
    for item in items:
        if not isinstance(item, s.Function) or item.body is None:
            continue
        for node in nodes(item.body):
            if isinstance(node, s.Name) and node.args is not None:
                yield _Ask(node.name.rpartition("::")[2], node.args, ())


def _template_instances(program: Program, function: s.Function, asked: list[_Ask]) -> Iterator[Instance]:
    assert function.template is not None
    names: set[str] = set()
    for ask in asked:
        if ask.name.rpartition("::")[2] != function.name:
            continue
        args = _bind(program, function, ask)
        if args is None:
            continue
        key = ", ".join(show_arg(a) for a in args)
        if key not in names:
            names.add(key)
            yield Instance(function, args)
    if not names:
        yield Instance(function, None)


def _bind(program: Program, function: s.Function, ask: _Ask) -> tuple[TemplateArg, ...] | None:
    """The template arguments that a place asks for, None when they cannot be told."""
    assert function.template is not None
    x = _context(program, function.scope)
    scope = Scope(x.scope, {}, function.scope)
    try:
        given = template_args(x, ask.args)
        if any(isinstance(a, t.Unknown) for a in given):
            return None
        for param, arg in zip(function.template, given, strict=False):
            scope.names[param.name] = FixedPlace(arg.type, arg) if isinstance(arg, Value) else arg
        wanted = {p.name: p for p in function.template}
        for own, node in zip(function.params, ask.params, strict=False):
            deduce(x, own.type, resolve(x, node), wanted, scope)
        out: list[TemplateArg] = []
        for param in function.template:
            found = scope.names.get(param.name)
            if found is None and param.default is not None:
                with x.inside(scope):
                    node_or_expr = param.default
                    found = template_args(x, (node_or_expr,))[0]
                scope.names[param.name] = FixedPlace(found.type, found) if isinstance(found, Value) else found
            settled = _settled(found)
            if settled is None:
                return None
            out.append(settled)
        return tuple(out)
    except (Unsupported, TooDeep, RecursionError):
        return None


def _settled(found: object) -> t.CType | Operand | None:
    if isinstance(found, FixedPlace):
        found = found.value
    if isinstance(found, t.CType):
        return found
    if isinstance(found, Value):
        expr = getattr(found, "expr", None)
        return found if expr is None or value_of(expr) is not None else None
    return None


def _globals(program: Program) -> tuple[GlobalVariable, ...]:
    out: list[GlobalVariable] = []
    for variables in program.globals.values():
        for variable, item in variables:
            words = variable.flags & {"__device__", "__constant__", "__managed__"}
            if not words:
                continue
            space = k.Space.CONSTANT if "__constant__" in words else k.Space.GLOBAL
            out.append(_global(program, variable, item, space))
    return tuple(sorted(out, key=lambda g: g.span))


def _global(program: Program, variable: s.Variable, item: s.Globals, space: k.Space) -> GlobalVariable:
    count: int | None = 1
    try:
        kind = resolve(_context(program, item.scope), variable.type)
    except (Unsupported, TooDeep, RecursionError):
        return GlobalVariable(variable.name, space, None, None, variable.span)
    while isinstance(kind, t.Array):
        count = None if count is None or kind.length is None else count * kind.length
        kind = kind.of
    return GlobalVariable(variable.name, space, t.size_of(kind), count, variable.span)
