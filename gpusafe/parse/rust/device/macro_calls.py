"""Macros that device code uses: assertions, printing, addresses, shared arrays, ``matches!``."""

from __future__ import annotations

from collections.abc import Callable

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import PTR, TRUE, PtrBase
from gpusafe.parse.rust import ast, macros
from gpusafe.parse.rust.build import parse_wrapped
from gpusafe.parse.rust.device import conditional, layout
from gpusafe.parse.rust.device.control import condition, conjuncts
from gpusafe.parse.rust.device.lowering import Gap, Lowering
from gpusafe.parse.rust.device.operators import operands
from gpusafe.parse.rust.device.places import borrow
from gpusafe.parse.rust.device.scalars import term_of
from gpusafe.parse.rust.device.types import BOOL, PtrTy, Ty
from gpusafe.parse.rust.device.values import NEVER, UNIT_VALUE, Agg, Scalar, Value
from gpusafe.parse.rust.device.written import constant

_Macro = Callable[[Lowering, ast.MacroCall, Ty | None], Value]


def macro_call(lw: Lowering, node: ast.MacroCall, want: Ty | None) -> Value:
    """``name!(..)``."""
    name = node.path.last
    if name in ("asm", "ptx_asm"):
        from gpusafe.parse.rust.device import inline_asm  # it needs the reader of PTX, which most kernels do not

        return inline_asm.asm_value(lw, node, want)
    handler = _MACROS.get(name)
    if handler is not None:
        return handler(lw, node, want)
    from gpusafe.parse.rust.device.macro_rules import expand

    made = expand(lw, node, want)
    if made is not None:
        return made
    return lw.unmodelled(f"the macro `{name}!`", node.span)


def _args(node: ast.MacroCall) -> tuple[ast.Expr, ...]:
    args = macros.parse_args(node)
    if args is None:
        raise Gap(f"the arguments of `{node.path.last}!`")
    return args


def _assert(lw: Lowering, node: ast.MacroCall, want: Ty | None) -> Value:
    args = _args(node)
    if not args:
        raise Gap("an assertion without a condition")
    for part in conjuncts(args[0]):
        cond, bind = condition(lw, part)
        if cond != TRUE:
            lw.emit(k.Assume(lw.at(node.span), cond, f"{node.path.last}!"))
        bind()
    return UNIT_VALUE


def _assert_eq(lw: Lowering, node: ast.MacroCall, want: Ty | None) -> Value:
    args = _args(node)
    if len(args) < 2:
        raise Gap("an assertion without two sides")
    op = "==" if "_eq" in node.path.last else "!="
    value = lw.expr(ast.Binary(node.span, op, args[0], args[1]), BOOL)
    cond = term_of(lw, value, node.span, BOOL)
    if cond != TRUE:
        lw.emit(k.Assume(lw.at(node.span), cond, f"{node.path.last}!"))
    return UNIT_VALUE


def _debug_only(lw: Lowering, node: ast.MacroCall, want: Ty | None) -> Value:
    """Release builds drop these: they hold no thread back."""
    return UNIT_VALUE


def _panic(lw: Lowering, node: ast.MacroCall, want: Ty | None) -> Value:
    lw.fail(f"{node.path.last}!", node.span)
    return NEVER


def _print(lw: Lowering, node: ast.MacroCall, want: Ty | None) -> Value:
    args = macros.parse_args(node)
    if args is not None:
        values = [a for a in args if not (isinstance(a, ast.Lit) and a.kind == "str")]
        operands(lw, tuple(values))
    return UNIT_VALUE


def _address(mutable: bool) -> _Macro:
    def run(lw: Lowering, node: ast.MacroCall, want: Ty | None) -> Value:
        (arg,) = _args(node)
        return borrow(lw, lw.place(arg), mutable, False, node.span)

    return run


def _matches(lw: Lowering, node: ast.MacroCall, want: Ty | None) -> Value:
    before = "fn __gpusafe() -> bool { match ("
    text, depth, at = node.text, 0, -1
    for position, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            at = position
            break
    if at < 0:
        raise Gap("`matches!` without a pattern")
    body = text[:at] + "){" + text[at + 1 :].rstrip().rstrip(",")
    items = parse_wrapped(before, body, " => true, _ => false } }", node.text_span)
    item = items[0] if items else None
    if not isinstance(item, ast.Fn) or item.body is None or item.body.tail is None:
        raise Gap("`matches!`")
    return lw.expr(item.body.tail, BOOL)


def _shared_array(lw: Lowering, node: ast.MacroCall, want: Ty | None) -> Value:
    """cuda_std's ``shared_array![T; N]``: one static per place in the source."""
    items = parse_wrapped("fn __gpusafe(_: [", node.text, "]) {}", node.text_span)
    item = items[0] if items else None
    if not isinstance(item, ast.Fn) or not isinstance(item.params[0].type, ast.TypeArray):
        raise Gap("`shared_array!`")
    array = item.params[0].type
    elem = lw.type(array.inner)
    length = constant(lw, array.length, lw.env)
    key = hash((node.text_span, node.text)) ^ 1
    name = lw.statics.get(key)
    if name is None:
        name = lw.fresh(lw.hint or "shared_array")
        lw.statics[key] = name
        size, _ = layout.size_align(lw, elem)
        lw.regions[name] = k.Region(name, k.Space.SHARED, size, length, lw.at(node.span), initialized=False)
    return Scalar(PtrTy(elem, True, False), PtrBase(PTR, name))


def _terminate(lw: Lowering, node: ast.MacroCall, want: Ty | None) -> Value:
    """CubeCL's ``terminate!()``: the unit ends."""
    lw.jump(k.Return(lw.at(node.span)))
    return NEVER


def _comptime(lw: Lowering, node: ast.MacroCall, want: Ty | None) -> Value:
    """CubeCL's ``comptime!(..)``: a value that is computed before the kernel runs."""
    (arg,) = _args(node)
    return lw.expr(arg, want)


def _const_block(lw: Lowering, node: ast.MacroCall, want: Ty | None) -> Value:
    return Agg(UNIT_VALUE.ty)


def _cfg(lw: Lowering, node: ast.MacroCall, want: Ty | None) -> Value:
    return lw.scalar(conditional.predicate(node.text))


_MACROS: dict[str, _Macro] = {
    "assert": _assert,
    "gpu_assert": _assert,
    "assert_eq": _assert_eq,
    "assert_ne": _assert_eq,
    "debug_assert": _debug_only,
    "debug_assert_eq": _debug_only,
    "debug_assert_ne": _debug_only,
    **dict.fromkeys(("panic", "unreachable", "todo", "unimplemented"), _panic),
    **dict.fromkeys(("println", "print", "eprintln", "gpu_printf", "printf", "gpu_println", "dbg"), _print),
    "addr_of": _address(False),
    "addr_of_mut": _address(True),
    "matches": _matches,
    "terminate": _terminate,
    "comptime": _comptime,
    "shared_array": _shared_array,
    "cfg": _cfg,
    "static_assert": _const_block,
    "const_assert": _const_block,
}
