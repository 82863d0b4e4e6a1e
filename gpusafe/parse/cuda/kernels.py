"""One kernel: its parameters, its regions, its body."""

from __future__ import annotations

from dataclasses import dataclass

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import PTR, Param, PtrBase, PtrUnknown, Type
from gpusafe.parse.cuda import syntax as s
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.chunks import Chunk
from gpusafe.parse.cuda.context import Context, Frame, Scope, TooDeep, Unsupported
from gpusafe.parse.cuda.control import execute
from gpusafe.parse.cuda.emit import TooLarge
from gpusafe.parse.cuda.expressions import evaluate
from gpusafe.parse.cuda.jumps import sequence
from gpusafe.parse.cuda.operands import declare_result
from gpusafe.parse.cuda.places import write
from gpusafe.parse.cuda.program import Program
from gpusafe.parse.cuda.regions import element_type
from gpusafe.parse.cuda.resolve import TemplateArg, bind_template, constant, resolve, show_arg
from gpusafe.parse.cuda.values import Aggregate, FixedPlace, HandleValue, Operand, Term, UnknownValue, Value

_FATAL = (TooDeep, TooLarge, RecursionError)


@dataclass(frozen=True, slots=True)
class Instance:
    """A kernel to lower: template arguments, or None for a template that nothing instantiates."""

    function: s.Function
    args: tuple[TemplateArg, ...] | None = ()

    @property
    def name(self) -> str:
        """The name with its template arguments."""
        if self.args:
            return f"{self.function.name}<{', '.join(show_arg(a) for a in self.args)}>"
        return self.function.name


def lower_kernel(program: Program, instance: Instance) -> k.Kernel:
    """The kernel IR; what goes wrong ends as Unmodelled statements, never as an exception."""
    try:
        made, wanted = _lowered(program, instance, frozenset())
        return _lowered(program, instance, wanted)[0] if wanted else made
    except _FATAL:
        why = "its signature nests too deeply"
    except Exception as fault:  # a fault of ours costs one kernel, never the run
        why = f"internal fault: {fault!r}"
    span = instance.function.span
    gap = k.Unmodelled(span, f"`{instance.function.name}`: {why}")
    return k.Kernel(instance.function.name, instance.function.name, "cuda-c", (), (), (gap,), span)


def unread_kernel(chunk: Chunk, why: str) -> k.Kernel:
    """A kernel of which not even the signature can be read."""
    words = [t.text for t in chunk.tokens]
    start = words.index("__global__") if "__global__" in words else 0
    opening = words.index("(", start) if "(" in words[start:] else start + 1
    name = words[opening - 1] if 0 < opening <= len(words) else "?"
    return k.Kernel(name, name, "cuda-c", (), (), (k.Unmodelled(chunk.span, f"`{name}`: {why}"),), chunk.span)


def _lowered(program: Program, instance: Instance, in_memory: frozenset[int]) -> tuple[k.Kernel, frozenset[int]]:
    """The kernel, and the local variables that need memory of their own because their address is kept."""
    function = instance.function
    x = Context(program, evaluate, execute, in_memory=set(in_memory))
    x.scope = Scope(None, {}, function.scope)
    if (
        function.template
        and instance.args is not None
        and not bind_template(x, x.scope, function.template, instance.args)
    ):
        instance = Instance(function, None)
    params = _params(x, function)
    body: list[k.Stmt] = []
    generic = bool(function.template) and instance.args is None
    if generic:
        what = f"`{function.name}` is a template that nothing in its file instantiates"
        body.append(k.Unmodelled(function.span, what))
    elif function.problem is not None:
        body.append(k.Unmodelled(function.span, f"the body of `{function.name}`: {function.problem}"))
    else:
        body = _body(x, function, params)
    contract = _contract(x, function)
    path = "::".join(p for p in (function.scope, instance.name) if p)
    kernel = k.Kernel(
        instance.name,
        path,
        "cuda-c",
        tuple(p.param for p in params),
        tuple(x.regions.values()),
        tuple(body),
        function.span,
        contract,
        tuple(x.requires),
        generic=generic,
        granted=tuple(x.granted),
        unheld=tuple(x.unheld),
    )
    return kernel, frozenset(x.wanted_in_memory) - in_memory


@dataclass(frozen=True, slots=True)
class _Parameter:
    param: k.KernelParam
    value: Value


def _params(x: Context, function: s.Function) -> list[_Parameter]:
    out: list[_Parameter] = []
    for index, node in enumerate(function.params):
        name = node.name or f"parameter {index + 1}"
        try:
            kind = resolve(x, node.type)
        except Unsupported as problem:
            kind = t.Unknown(str(problem))
        out.append(_parameter(x, name, kind, index, node))
    return out


def _parameter(x: Context, name: str, kind: t.CType, index: int, node: s.Parameter) -> _Parameter:
    if isinstance(kind, t.Array):
        kind = t.Pointer(kind.of)
    match kind:
        case t.Scalar(type=type_):
            value: Value = Term(t.plain(kind), Param(type_, name))
            return _Parameter(k.KernelParam(name, "scalar", type_, None, node.span), value)
        case t.Pointer(to=to):
            region = _pointer_region(x, name, to, index, node)
            value = Term(t.plain(kind), PtrBase(PTR, region.name))
            return _Parameter(k.KernelParam(name, "pointer", _element(to), region.name, node.span), value)
        case t.Struct():
            value = _struct_value(x, name, kind)
            return _Parameter(k.KernelParam(name, "opaque", None, None, node.span), value)
        case t.Handle():
            return _Parameter(k.KernelParam(name, "opaque", None, None, node.span), HandleValue(kind))
        case _:
            reason = f"the parameter `{name}` of type `{t.show(kind)}`"
            return _Parameter(k.KernelParam(name, "opaque", None, None, node.span), UnknownValue(kind, reason))


def _pointer_region(x: Context, name: str, to: t.CType, index: int, node: s.Parameter) -> k.Region:
    inner, _ = element_type(to)
    size = t.size_of(inner) or 1
    return x.add_region(k.Region(name, k.Space.GLOBAL, size, None, node.span, index, to.const))


def _element(kind: t.CType) -> Type | None:
    match kind:
        case t.Scalar(type=type_):
            return type_
        case t.Pointer():
            return PTR
        case _:
            return None


def _struct_value(x: Context, name: str, kind: t.CType) -> Value:
    """A struct passed by value: its scalars are uniform; where its pointers lead is not known."""
    match kind:
        case t.Scalar(type=type_):
            return Term(t.plain(kind), Param(type_, name))
        case t.Pointer():
            return Term(t.plain(kind), PtrUnknown(PTR, f"`{name}`, a pointer inside a struct parameter"))
        case t.Struct(fields=fields, union=False):
            return Aggregate(kind, tuple(_struct_value(x, f"{name}.{f.name}", f.type) for f in fields))
        case _:
            return UnknownValue(kind, f"`{name}` of type `{t.show(kind)}`")


def _body(x: Context, function: s.Function, params: list[_Parameter]) -> list[k.Stmt]:
    assert function.body is not None
    assigned = x.program.assigned_in(function.body)
    x.frames.append(Frame(function.name, id(function.body), id(function.body), None, t.VOID, assigned=assigned))
    try:
        with x.emitter.collect() as made:
            for node, param in zip(function.params, params, strict=True):
                x.bind(node.name, _bound(x, param, node, assigned))
            with x.inside(x.scope.inner()):
                sequence(x, function.body.stmts)
    except _FATAL as problem:
        why = "it is too large after inlining" if isinstance(problem, TooLarge) else "it nests too deeply"
        return [k.Unmodelled(function.span, f"the body of `{function.name}`: {why}")]
    finally:
        x.frames.pop()
    return made


def _bound(x: Context, param: _Parameter, node: s.Parameter, assigned: frozenset[str]) -> Operand:
    """A parameter that the body changes is a variable."""
    value = param.value
    if node.name not in assigned or not isinstance(value, (Term, Aggregate)):
        return FixedPlace(value.type, value)
    try:
        place = declare_result(x, value.type, node.name)
    except Unsupported:
        return FixedPlace(value.type, value)
    write(x, place, value, node.span)
    return place


def _contract(x: Context, function: s.Function) -> k.LaunchContract:
    threads = constant(x, function.bounds[0]) if function.bounds else None
    cluster = [constant(x, e) for e in function.cluster]
    shape: tuple[int, int, int] | None = None
    known = [c for c in cluster if c is not None]
    if cluster and len(known) == len(cluster):
        padded = (*known, 1, 1, 1)
        shape = (padded[0], padded[1], padded[2])
    return k.LaunchContract(max_threads=threads, cluster=shape)
