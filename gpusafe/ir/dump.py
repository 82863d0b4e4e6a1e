"""The kernel IR as text, for people: one statement a line, terms in the notation of Rust."""

from __future__ import annotations

from collections.abc import Iterable

from gpusafe.ir import expr as e
from gpusafe.ir import kernel as k

_FUNCTIONS = (e.Op.MIN, e.Op.MAX)


def show_type(type_: e.Type) -> str:
    """``u32``, ``bool``, ``f64``, ``ptr``."""
    match type_.kind:
        case "int":
            return f"{'i' if type_.signed else 'u'}{type_.bits}"
        case "float":
            return f"f{type_.bits}"
        case kind:
            return kind


def show(term: e.Expr) -> str:
    """A term."""
    match term:
        case e.Const(type=t, value=value):
            return str(value).lower() if t.kind == "bool" else f"{value}"
        case e.Var(name=name) | e.Param(name=name):
            return name
        case e.Length(region=region):
            return f"len({region})"
        case e.Special(name=name):
            return f"%{name}"
        case e.Sym(name=name):
            return f"${name}"
        case e.Unary(op=op, a=a):
            return f"{'!' if op is e.Op.NOT else '-' if op is e.Op.NEG else op.value}({show(a)})"
        case e.Binary(op=op, a=a, b=b) if op in _FUNCTIONS:
            return f"{op.value}({show(a)}, {show(b)})"
        case e.Binary(op=op, a=a, b=b):
            return f"({show(a)} {op.value} {show(b)})"
        case e.Cast(type=t, a=a):
            return f"{show(a)} as {show_type(t)}"
        case e.Select(cond=cond, a=a, b=b):
            return f"({show(cond)} ? {show(a)} : {show(b)})"
        case e.Opaque(name=name, args=args):
            return f"{name}[{', '.join(map(show, args))}]"
        case e.PtrBase(region=region):
            return f"&{region}"
        case e.PtrAdd(ptr=ptr, offset=offset):
            return f"{show(ptr)}+[{show(offset)}]"
        case e.PtrUnknown(reason=reason):
            return f"?({reason})"
        case _:
            return repr(term)


def _simple(stmt: k.Stmt) -> str:
    match stmt:
        case k.Assign(var=var, value=value):
            return f"{var}: {show_type(value.type)} = {show(value)}"
        case k.Havoc(var=var, type=t, reason=reason):
            return f"{var}: {show_type(t)} = any  // {reason}"
        case k.Load(var=var, ptr=ptr, type=t, volatile=volatile):
            return f"{var or '_'}: {show_type(t)} = {'volatile ' if volatile else ''}load {show(ptr)}"
        case k.Store(ptr=ptr, value=value, size=size, volatile=volatile):
            return f"{'volatile ' if volatile else ''}store.{size} {show(ptr)} <- {show(value)}"
        case k.ExclusiveBorrow(ptr=ptr, size=size):
            return f"borrow_mut.{size} {show(ptr)}"
        case k.Atomic(var=var, op=op, ptr=ptr, operands=operands, order=order, scope=scope, success=success):
            shown = ", ".join(map(show, (ptr, *operands)))
            target = f"{var or '_'}{', ' + success if success else ''}"
            return f"{target} = atomic.{op}.{order.value}.{scope.value} {shown}"
        case k.Fence(order=order, scope=scope):
            return f"fence.{order.value}.{scope.value}"
        case k.ProxyFence(kind=kind):
            return f"fence.proxy.{kind}"
        case k.Barrier():
            return _barrier(stmt)
        case k.WarpOp(var=var, op=op, mask=mask, operands=operands):
            shown = ", ".join(map(show, operands))
            return f"{var or '_'} = warp.{op} mask={show(mask) if mask else 'all'} {shown}"
        case k.AsyncCopy(kind=kind, dst=dst, src=src, size=size, mbarrier=mbarrier):
            on = f" on {show(mbarrier)}" if mbarrier else ""
            return f"{kind} {show(dst)} <- {show(src)} size {show(size) if size else '?'}{on}"
        case k.AsyncControl(action=action, pending=pending, kind=kind):
            return f"{kind}.{action} {pending}"
        case k.MBarrier(op=op, ptr=ptr, operands=operands, var=var, order=order, scope=scope):
            return f"{var or '_'} = mbarrier.{op}.{order.value}.{scope.value} {', '.join(map(show, (ptr, *operands)))}"
        case k.Assume(cond=cond, reason=reason):
            return f"assume {show(cond)}  // {reason}"
        case k.Break(label=label):
            return f"break {label}"
        case k.Continue(label=label):
            return f"continue {label}"
        case k.Return():
            return "return"
        case k.Unmodelled(what=what, accesses=accesses, syncs=syncs):
            flags = f"{' accesses' if accesses else ''}{' syncs' if syncs else ''}"
            return f"UNMODELLED {what}{flags}"
        case _:
            return repr(stmt)


def _barrier(stmt: k.Barrier) -> str:
    extra = [f"mask={show(stmt.mask)}"] if stmt.mask is not None else []
    extra += [f"id={show(stmt.ident)}"] if stmt.ident is not None else []
    extra += [f"count={show(stmt.count)}"] if stmt.count is not None else []
    extra += ["relaxed"] if stmt.relaxed else []
    if stmt.reduce is not None:
        extra += [f"{stmt.var} = {stmt.reduce} {show(stmt.value) if stmt.value is not None else ''}"]
    return " ".join((f"barrier.{stmt.scope.value}.{stmt.action}", *extra))


def lines(body: Iterable[k.Stmt], indent: int = 1) -> list[str]:
    """A body, one statement a line, with the source line at the end."""
    out: list[str] = []
    pad = "    " * indent
    for stmt in body:
        match stmt:
            case k.If(cond=cond, then=then, orelse=orelse):
                out += [f"{pad}if {show(cond)} {{", *lines(then, indent + 1)]
                out += [f"{pad}}} else {{", *lines(orelse, indent + 1)] if orelse else []
                out.append(f"{pad}}}")
            case k.Block(label=label, body=inner):
                out += [f"{pad}{label}: {{", *lines(inner, indent + 1), f"{pad}}}"]
            case k.Loop(label=label, body=inner):
                out += [f"{pad}{label}: loop {{", *lines(inner, indent + 1), f"{pad}}}"]
            case _:
                out.append(f"{pad}{_simple(stmt):<90} @{stmt.span.line}:{stmt.span.col}")
    return out


def dump(kernel: k.Kernel) -> str:
    """A whole kernel."""
    params = ", ".join(f"{p.name}: {p.kind} {show_type(p.type) if p.type else '?'}" for p in kernel.params)
    out = [f"kernel {kernel.path} [{kernel.dialect}{', generic' if kernel.generic else ''}] ({params})"]
    for region in kernel.regions:
        flags = [n for n in ("read_only", "exclusive") if getattr(region, n)]
        flags += [] if region.initialized else ["uninitialised"]
        length = show(region.length) if region.length is not None else "?"
        out.append(f"  region {region.name}: {region.space.value} {length} x {region.elem_bytes} {' '.join(flags)}")
    if kernel.contract != k.LaunchContract():
        out.append(f"  {kernel.contract}")
    return "\n".join((*out, *lines(kernel.body)))
