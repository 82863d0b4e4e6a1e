"""Launches of cuda-oxide: the methods that `#[cuda_module]` generates, constants, and `cuda_launch!`."""

from __future__ import annotations

from dataclasses import replace

from gpusafe.dataflow.host import terms
from gpusafe.dataflow.host.access import peel
from gpusafe.dataflow.host.cudarc_launch import enqueue_launch
from gpusafe.dataflow.host.handles import (
    Buffer,
    BuiltArg,
    Config,
    FunctionHandle,
    Lazy,
    ModuleHandle,
    Pointer,
    StreamHandle,
    View,
)
from gpusafe.dataflow.host.launching import argument, find_kernel, shape_of, triple
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.results import Found
from gpusafe.dataflow.host.values import Cell, StructVal, TypeVal, Unknown, Value, ok, unit
from gpusafe.ir.host import LaunchShape
from gpusafe.ir.kernel import Kernel, KernelParam
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.macros import parse_fields
from gpusafe.span import Span

KERNELS = ("cuda-oxide", "ptx")
_SUFFIXES = ("_async_owned_unchecked", "_async_unchecked", "_async_owned", "_unchecked", "_async")


def module_method(m: Machine, module: ModuleHandle, name: str, args: list[Value], expr: ast.MethodCall) -> Found | None:
    """A method of a loaded kernel module."""
    if name in ("load_function", "function"):
        text = peel(args[0])
        shown = text if isinstance(text, str) else ""
        return Found(ok(FunctionHandle(module, shown, "oxide")))
    if name == "context":
        return Found(Unknown("a context"))
    if name.startswith("set_") and args:
        made = _set_constant(m, module, name, args, expr)
        if made is not None:
            return made
    if name.startswith("prepare_"):
        return Found(ok(StructVal("Prepared", {"config": Cell(peel(args[0]) if args else None)})))
    first = peel(args[0]) if args else None
    base = _base_name(m, module, name)
    if base is None:
        return None
    if isinstance(first, StreamHandle) and len(args) >= 2:
        _enqueue(m, module, base, first, args[1], args[2:], expr.span, expr.args[2:])
        return Found(ok(unit()))
    if name != base:
        owned = "_owned" in name
        parts = (module, TypeVal("name", base), args[0] if args else Unknown("a configuration"), *args[1:])
        return Found(ok(Lazy("launch_owned" if owned else "launch", parts, "async", expr.span)))
    return None


def _base_name(m: Machine, module: ModuleHandle, name: str) -> str | None:
    """The kernel that a generated method launches."""
    if _is_kernel(m, module, name):
        return name
    for suffix in _SUFFIXES:
        if name.endswith(suffix) and _is_kernel(m, module, name.removesuffix(suffix)):
            return name.removesuffix(suffix)
    return None


def _is_kernel(m: Machine, module: ModuleHandle, name: str) -> bool:
    if name in m.program.kernel_names("cuda-oxide"):
        return True
    modules = [module.path] if module.path in m.program.cuda_modules else list(m.program.cuda_modules)
    return any(name in _declared(m, item) for path in modules for item, _ in m.program.cuda_modules[path])


def _declared(m: Machine, item: ast.Mod) -> frozenset[str]:
    """The kernels that stand in a module."""

    def names() -> frozenset[str]:
        found: set[str] = set()
        stack: list[ast.Item] = list(item.items or ())
        while stack:
            inner = stack.pop()
            if isinstance(inner, ast.Mod):
                stack.extend(inner.items or ())
            elif isinstance(inner, ast.Fn) and inner.attribute("kernel") is not None:
                found.add(inner.name)
        return frozenset(found)

    return m.program.once("declared kernels", item, names)


def _slots(kernel: Kernel | None) -> list[KernelParam]:
    return list(kernel.params) if kernel is not None else []


def _enqueue(
    m: Machine,
    module: ModuleHandle,
    name: str,
    stream: StreamHandle,
    config: Value,
    args: list[Value],
    span: Span,
    nodes: tuple[ast.Expr, ...],
) -> None:
    """The launch itself, with the arguments as the kernel's parameters have them."""
    function = FunctionHandle(module, name, "oxide")
    kernel = find_kernel(m, function, name, KERNELS)
    built = [
        build_argument(m, value, nodes[i].span if i < len(nodes) else span, _slot(kernel, i))
        for i, value in enumerate(args)
    ]
    context = module.context
    if context is not None and context.known:
        built.append(BuiltArg(argument(m, 0, span), None, context, f"module of `{name}`"))
        extra = built.pop()
        from gpusafe.dataflow.host.launching import check_contexts

        check_contexts(m, stream, [(extra.context, extra.name)], span)
    enqueue_launch(m, stream, kernel, name, launch_shape(m, config, kernel), built, span)


def _slot(kernel: Kernel | None, index: int) -> KernelParam | None:
    slots = _slots(kernel)
    return slots[index] if index < len(slots) else None


def launch_shape(m: Machine, config: Value, kernel: Kernel | None) -> LaunchShape:
    """The shape from a configuration or a prepared launch; cluster and cooperative marks come from the kernel."""
    found = peel(config)
    guarded = isinstance(found, StructVal) and found.name == "Prepared"
    if isinstance(found, StructVal) and guarded:
        found = found.fields["config"].value
    shape = replace(shape_of(m, found), guarded=guarded)
    if kernel is not None:
        cluster = shape.cluster or kernel.contract.cluster
        shape = replace(shape, cluster=cluster, cooperative=shape.cooperative or kernel.contract.cooperative)
    return shape


def build_argument(m: Machine, value: Value, span: Span, param: KernelParam | None) -> BuiltArg:
    """One argument; a row width stays with its buffer."""
    found = peel(value)
    if isinstance(found, StructVal) and found.name == "RowWidth":
        inner = build_argument(m, found.fields["buffer"].value, span, param)
        return BuiltArg(
            replace(inner.arg, value=terms.as_term(found.fields["width"].value)), None, inner.context, inner.name
        )
    arg = argument(m, value, span, param)
    if arg.kind == "memory" and arg.passed == "mut" and param is not None and param.kind == "slice":
        arg = replace(arg, passed="ref")
    buffer = found.buffer if isinstance(found, (View, Pointer)) else found
    if isinstance(buffer, Buffer):
        return BuiltArg(arg, None, buffer.context, m.memory_name(buffer.memory))
    return BuiltArg(arg)


def _set_constant(m: Machine, module: ModuleHandle, name: str, args: list[Value], expr: ast.MethodCall) -> Found | None:
    """``set_x(&stream, &v)`` and ``set_x_blocking(&v)`` write the constant ``X``."""
    from gpusafe.dataflow.host.cudarc import global_view
    from gpusafe.dataflow.host.oxide import default_stream

    blocking = name.endswith("_blocking")
    symbol = name.removeprefix("set_").removesuffix("_blocking").upper()
    if not _is_constant(m, module, symbol):
        return None
    view = global_view(m, module, symbol, expr.span, "oxide")
    m.amend_memory(view.buffer.memory, kind="constant")
    access = m.whole(view.buffer.memory, "write")
    first = peel(args[0])
    if blocking or not isinstance(first, StreamHandle):
        if module.context is None:
            m.gap(expr.span, f"`{name}` on a module whose context is not known", (view.buffer.memory,))
            return Found(ok(unit()))
        stream = default_stream(m, module.context, expr.span).cell.value
        assert isinstance(stream, StreamHandle)
        m.enqueue(stream, "copy", expr.span, f"update of `{symbol}`", accesses=(access,), blocks_host=True)
    else:
        m.enqueue(first, "copy", expr.span, f"update of `{symbol}`", accesses=(access,))
    return Found(ok(unit()))


def _is_constant(m: Machine, module: ModuleHandle, symbol: str) -> bool:
    names = [module.path] if module.path in m.program.cuda_modules else list(m.program.cuda_modules)
    for name in names:
        for item, _ in m.program.cuda_modules[name]:
            for inner in item.items or ():
                if isinstance(inner, ast.Static) and inner.name.upper() == symbol:
                    return True
    return any(r.name.upper() == symbol for k in m.program.kernels for r in k.regions)


def launch_macro(m: Machine, expr: ast.MacroCall) -> Found | None:
    """``cuda_launch! { kernel: .., stream: .., module: .., config: .., args: [slice(a), slice_mut(b), x] }``."""
    fields = m.program.once("parse_fields", expr, lambda: parse_fields(expr))
    parts = dict(fields or ())
    if not {"kernel", "config"} <= parts.keys():
        return None
    name = _kernel_name(parts["kernel"])
    stream = peel(m.place(parts["stream"]).value) if "stream" in parts else None
    module = peel(m.place(parts["module"]).value) if "module" in parts else None
    config = m.value(parts["config"])
    listed = parts.get("args")
    nodes = listed.items if isinstance(listed, (ast.Array, ast.Tuple)) else ()
    values = [_macro_argument(m, node) for node in nodes]
    handle = module if isinstance(module, ModuleHandle) else ModuleHandle(None, "oxide")
    if "cluster_dim" in parts or "cooperative" in parts:
        config = _with_marks(m, config, parts)
    if expr.path.last == "cuda_launch_async":
        lazy = (handle, TypeVal("name", name), config, *values)
        return Found(Lazy("launch", lazy, "async", expr.span))
    if not isinstance(stream, StreamHandle):
        m.gap(expr.span, "the stream of a launch is not known")
        return Found(ok(unit()))
    _enqueue(m, handle, name, stream, config, values, expr.span, nodes)
    return Found(ok(unit()))


def _kernel_name(expr: ast.Expr) -> str:
    match expr:
        case ast.PathExpr(path=path):
            return path.last
        case ast.Call(func=func):
            return _kernel_name(func)
    return ""


def _macro_argument(m: Machine, node: ast.Expr) -> Value:
    match node:
        case ast.Call(func=ast.PathExpr(path=path), args=(inner,)) if path.last in ("slice", "slice_mut", "constant"):
            from gpusafe.dataflow.host.values import RefVal

            target = inner.operand if isinstance(inner, ast.Ref) else inner
            return RefVal(m.place(target), path.last == "slice_mut")
    return m.value(node)


def _with_marks(m: Machine, config: Value, parts: dict[str, ast.Expr]) -> Value:
    found = peel(config)
    if not isinstance(found, Config):
        found = Config(triple(Unknown("a size")), triple(Unknown("a size")), Cell(Unknown("a size")))
    cluster = found.cluster
    if "cluster_dim" in parts:
        sizes = [terms.known(c.value) for c in triple(m.value(parts["cluster_dim"]))]
        if all(s is not None for s in sizes):
            cluster = (sizes[0] or 1, sizes[1] or 1, sizes[2] or 1)
    return Config(found.grid, found.block, found.shared, "cooperative" in parts, cluster)


def run_lazy(m: Machine, lazy: Lazy, stream: StreamHandle) -> Value:
    """An asynchronous launch runs: the result is what it owns, or unit for borrowed arguments."""
    module, name, config, *args = lazy.parts
    assert isinstance(module, ModuleHandle) and isinstance(name, TypeVal)
    _enqueue(m, module, str(name.payload), stream, config, args, lazy.span, ())
    if lazy.kind != "launch_owned":
        return unit()
    kept = [a for a in args if isinstance(peel(a), (Buffer, StructVal))]
    if len(kept) == 1:
        return kept[0]
    from gpusafe.dataflow.host.values import TupleVal

    return TupleVal([Cell(a) for a in kept])
