"""Evaluate constants: items, expressions over them, calls of simple ``const fn``.

Everything gives None when it is not constant, not modelled, or would not compile (overflow, division by zero). Nothing
here raises on what a user writes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from gpusafe.parse.consteval_body import call_body, value_of_control
from gpusafe.parse.consteval_frame import Budget, Frame, Place, StopError
from gpusafe.parse.consteval_layout import Layout, layout_of
from gpusafe.parse.consteval_methods import associated, binary, method, unary
from gpusafe.parse.consteval_value import BITS, FLOATS, MAX_ELEMENTS, Const, cast, fits, make_float, typed
from gpusafe.parse.resolve import Foreign, Local, Resolved, Resolver
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.macros import parse_args

__all__ = ["Const", "ConstEval", "Layout", "Place"]


class ConstEval:
    """Evaluates in one crate (and follows paths into others). Results of items are remembered."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver = resolver
        self._items: dict[int, tuple[ast.Item, Const | None]] = {}
        self._open: set[int] = set()
        self._run = Budget()

    # -- entries -----------------------------------------------------------------------------------------------------

    def expr(
        self, expr: ast.Expr, place: Place, env: Mapping[str, Const | int | bool] | None = None, expect: str = ""
    ) -> Const | None:
        """The value of an expression; ``env`` gives const parameters and locals, ``expect`` the integer type wanted."""
        variables = {
            name: value if isinstance(value, Const) else Const(value, "bool" if isinstance(value, bool) else "")
            for name, value in (env or {}).items()
        }
        return self._guarded(lambda: self.value(expr, Frame(place, variables, self.resolver), expect))

    def integer(
        self, expr: ast.Expr, place: Place, env: Mapping[str, Const | int | bool] | None = None, expect: str = "usize"
    ) -> int | None:
        """The value of an integer expression."""
        value = self.expr(expr, place, env, expect)
        return value.integer if value is not None else None

    def item(self, found: Local) -> Const | None:
        """The value of a ``const`` or of an immutable ``static``."""
        return self._guarded(lambda: self._item(found, self.resolver))

    def layout(
        self, given: ast.Type, place: Place, env: Mapping[str, Const | int | bool] | None = None
    ) -> Layout | None:
        """Size and alignment of a type in bytes."""
        variables = {name: value if isinstance(value, Const) else Const(value) for name, value in (env or {}).items()}
        frame = Frame(place, variables, self.resolver)
        nested: Layout | None = None

        def compute() -> Const | None:
            nonlocal nested
            nested = self._layout(given, frame)
            return None

        self._guarded(compute)
        return nested

    def _guarded(self, compute: Callable[[], Const | None]) -> Const | None:
        outer = self._run
        self._run = Budget()
        try:
            return compute()
        except (StopError, OverflowError):
            return None
        finally:
            self._run = outer
            if outer.depth == 0:
                self._open.clear()

    # -- items -------------------------------------------------------------------------------------------------------

    def _item(self, found: Local, resolver: Resolver) -> Const | None:
        item = found.item
        known = self._items.get(id(item))
        if known is not None:
            return known[1]
        if id(item) in self._open or found.rest:
            return None
        self._open.add(id(item))
        value: Const | None = None
        match item:
            case ast.Const(value=given, type=type_) if given is not None:
                value = self._declared(given, type_, found, resolver)
            case ast.Static(value=given, type=type_, mutable=False) if given is not None:
                value = self._declared(given, type_, found, resolver)
        self._open.discard(id(item))
        self._items[id(item)] = (item, value)
        return value

    def _declared(self, given: ast.Expr, type_: ast.Type | None, found: Local, resolver: Resolver) -> Const | None:
        frame = Frame(Place(found.module.path, (), found.owner), {}, self._at(found, resolver))
        name = self.type_name(type_, frame)
        value = self.value(given, frame, name)
        return typed(value, name) if value is not None else None

    def _at(self, found: Local, resolver: Resolver) -> Resolver:
        if found.module.crate == resolver.crate.key:
            return resolver
        crate = resolver.workspace.by_key.get(found.module.crate, resolver.crate)
        return Resolver(resolver.workspace, crate, resolver.tables)

    # -- types -------------------------------------------------------------------------------------------------------

    def type_name(self, given: ast.Type | None, frame: Frame) -> str:
        """The name of a primitive type behind aliases, ``""`` for others."""
        for _ in range(8):
            if not isinstance(given, ast.TypePath):
                return ""
            if len(given.path.names) == 1 and (given.path.last in BITS or given.path.last in FLOATS):
                return given.path.last
            match self._resolve_type(given, frame):
                case Foreign(path=(name,)):
                    return name
                case Local(item=ast.TypeAlias(type=aliased)) as found:
                    given = aliased
                    frame = Frame(Place(found.module.path), {}, self._at(found, frame.resolver))
                case _:
                    return ""
        return ""

    def _resolve_type(self, given: ast.Type, frame: Frame) -> Resolved | None:
        place = frame.place
        return frame.resolver.resolve_type(place.module, given, place.scope, place.within)

    def _layout(self, given: ast.Type, frame: Frame) -> Layout | None:
        def length(expr: ast.Expr) -> int | None:
            value = self.value(expr, frame, "usize")
            return value.integer if value is not None else None

        return layout_of(given, lambda t: self._resolve_type(t, frame), length, dict(frame.place.layouts))

    # -- expressions -------------------------------------------------------------------------------------------------

    def value(self, expr: ast.Expr | None, frame: Frame, expect: str = "") -> Const | None:
        """One step of an evaluation under way; for gpusafe.parse.consteval_body."""
        run = self._run
        run.step()
        run.depth += 1
        try:
            return self._dispatch(expr, frame, expect)
        finally:
            run.depth -= 1

    def _dispatch(self, expr: ast.Expr | None, frame: Frame, expect: str) -> Const | None:
        match expr:
            case ast.Lit():
                return _literal(expr, expect)
            case ast.PathExpr(path=path):
                return self._path(path, frame, expect)
            case ast.Unary(op=op, operand=operand):
                return self._unary(op, operand, frame, expect)
            case ast.Binary(op=op, left=left, right=right):
                return self._binary(op, left, right, frame, expect)
            case ast.Cast(operand=operand, type=type_):
                target = self.type_name(type_, frame)
                inner = self.value(operand, frame, "" if target in FLOATS else target if _bare(operand) else "")
                return cast(inner, target) if inner is not None and target else None
            case ast.Ref(operand=operand, mutable=False, raw=False):
                return self.value(operand, frame, expect)
            case ast.Tuple(items=items) | ast.Array(items=items):
                return self._sequence(items, frame, "tuple" if isinstance(expr, ast.Tuple) else "array")
            case ast.ArrayRepeat(value=value, length=length):
                return self._repeat(value, length, frame)
            case ast.StructLit(base=None, fields=fields):
                return self._struct(fields, frame)
            case ast.Field(base=base, name=name):
                return _field(self.value(base, frame), name)
            case ast.Index(base=base, index=index):
                return _element(self.value(base, frame), self.value(index, frame, "usize"))
            case ast.Call(func=ast.PathExpr(path=path), args=args):
                return self._call(path, args, frame, expect)
            case ast.MethodCall(receiver=receiver, name=name, args=args):
                return self._method(receiver, name, args, frame, expect)
            case ast.MacroCall() if expr.path.last == "concat":
                return self._concat(expr, frame)
            case ast.If() | ast.BlockExpr() | ast.Match():
                return value_of_control(self, expr, frame, expect)
            case _:
                return None

    def _path(self, path: ast.Path, frame: Frame, expect: str) -> Const | None:
        if len(path.names) == 1 and path.last in frame.variables:
            value = frame.variables[path.last]
            return replace(value, type=expect) if value.type == "" and expect in BITS else value
        if path.qself is not None:
            return None
        if len(path.names) == 2 and (known := associated(path.names[0], path.names[1])) is not None:
            return known
        place = frame.place
        match frame.resolver.resolve(place.module, path.names, place.scope, within=place.within):
            case Local(item=ast.Const() | ast.Static()) as found:
                return self._item(found, frame.resolver)
            case Local(item=ast.Enum(variants=variants), variant=variant) if variant is not None:
                return _discriminant(variants, variant, self, frame)
            case Foreign(path=("std", type_, name)) if type_ in BITS or type_ in FLOATS:
                return associated(type_, name)
            case Foreign(path=("std", "primitive", type_, name)):
                return associated(type_, name)
            case _:
                return None

    def _unary(self, op: str, operand: ast.Expr, frame: Frame, expect: str) -> Const | None:
        if op == "*":
            return self.value(operand, frame, expect)
        if op == "-" and isinstance(operand, ast.Lit) and isinstance(operand.value, int):
            value = _literal(operand, "")
            type_ = operand.suffix or (expect if expect in BITS else "")
            number = value.integer if value is not None else None
            return Const(-number, type_) if number is not None and fits(-number, type_) else None
        inner = self.value(operand, frame, expect)
        return unary(op, inner) if inner is not None else None

    def _binary(self, op: str, left: ast.Expr, right: ast.Expr, frame: Frame, expect: str) -> Const | None:
        if op in ("&&", "||"):
            first = self.value(left, frame)
            if first is None or not isinstance(first.value, bool):
                return None
            return first if first.value == (op == "||") else self.value(right, frame)
        wanted = "" if op in ("==", "!=", "<", "<=", ">", ">=") else expect
        a = self.value(left, frame, wanted)
        b = self.value(right, frame, "" if op in ("<<", ">>") else wanted)
        return binary(op, a, b) if a is not None and b is not None else None

    def _all(self, items: Sequence[ast.Expr], frame: Frame, expect: str = "") -> tuple[Const, ...] | None:
        if len(items) > MAX_ELEMENTS:
            return None
        values: list[Const] = []
        for item in items:
            value = self.value(item, frame, expect)
            if value is None:
                return None
            values.append(value)
        return tuple(values)

    def _sequence(self, items: Sequence[ast.Expr], frame: Frame, type_: str) -> Const | None:
        values = self._all(items, frame)
        return Const(values, type_) if values is not None else None

    def _repeat(self, value: ast.Expr, length: ast.Expr, frame: Frame) -> Const | None:
        one, count = self.value(value, frame), self.value(length, frame, "usize")
        number = count.integer if count is not None else None
        if one is None or number is None or not 0 <= number <= MAX_ELEMENTS:
            return None
        return Const((one,) * number, "array")

    def _struct(self, fields: Sequence[tuple[str, ast.Expr]], frame: Frame) -> Const | None:
        values = self._all([given for _, given in fields], frame)
        return Const(tuple(zip((n for n, _ in fields), values, strict=True)), "struct") if values is not None else None

    def _method(
        self, receiver: ast.Expr, name: str, args: Sequence[ast.Expr], frame: Frame, expect: str
    ) -> Const | None:
        inner = self.value(receiver, frame, "" if name in ("len", "pow") else expect)
        values = self._all(args, frame, inner.type if inner is not None and name != "pow" else "")
        return method(name, inner, values) if inner is not None and values is not None else None

    def _concat(self, call: ast.MacroCall, frame: Frame) -> Const | None:
        args = parse_args(call)
        values = self._all(args, frame) if args is not None else None
        if values is None or not all(isinstance(value.value, str | int | bool) for value in values):
            return None
        texts = [str(v.value).lower() if isinstance(v.value, bool) else str(v.value) for v in values]
        return Const("".join(texts), "str")

    # -- calls -------------------------------------------------------------------------------------------------------

    def _call(self, path: ast.Path, args: Sequence[ast.Expr], frame: Frame, expect: str) -> Const | None:
        place = frame.place
        if path.qself is None and len(path.names) == 2 and path.names[0] in (*BITS, *FLOATS):
            return self._primitive_call(path, args, frame)
        match frame.resolver.resolve(place.module, path.names, place.scope, within=place.within):
            case Local(item=ast.Fn() as fn, rest=()) as found:
                return self._function(fn, found, path, args, frame)
            case Foreign(path=("std", "mem", "size_of")) if len(path.generics) == 1:
                layout = self._generic_layout(path, frame)
                return Const(layout.size, "usize") if layout is not None else None
            case Foreign(path=("std", "mem", "align_of")) if len(path.generics) == 1:
                layout = self._generic_layout(path, frame)
                return Const(layout.align, "usize") if layout is not None else None
            case Foreign(path=("std", "cmp", ("min" | "max") as name)):
                values = self._all(args, frame, expect)
                return method(name, values[0], values[1:]) if values else None
            case _:
                return None

    def _generic_layout(self, path: ast.Path, frame: Frame) -> Layout | None:
        given = path.generics[0]
        return self._layout(given, frame) if isinstance(given, ast.Type) else None

    def _primitive_call(self, path: ast.Path, args: Sequence[ast.Expr], frame: Frame) -> Const | None:
        """``u32::from(x)``, ``u32::pow(2, 3)``."""
        type_, name = path.names
        values = self._all(args, frame, type_ if name != "from" else "")
        if not values:
            return None
        if name == "from" and len(values) == 1:
            return cast(values[0], type_)
        return method(name, replace(values[0], type=type_), values[1:])

    def _function(
        self, fn: ast.Fn, found: Local, path: ast.Path, args: Sequence[ast.Expr], frame: Frame
    ) -> Const | None:
        if fn.body is None or fn.problem is not None or fn.is_async or len(args) != len(fn.params):
            return None
        resolver = self._at(found, frame.resolver)
        inside = Frame(Place(found.module.path, (), found.owner), {}, resolver)
        if not self._bind_generics(fn, path, frame, inside):
            return None
        for param, arg in zip(fn.params, args, strict=True):
            value = self.value(arg, frame, self.type_name(param.type, inside))
            if value is None or not isinstance(param.pat, ast.PatIdent):
                return None
            inside.variables[param.pat.name] = value
        return call_body(self, fn.body, inside, self.type_name(fn.result, inside))

    def _bind_generics(self, fn: ast.Fn, path: ast.Path, frame: Frame, inside: Frame) -> bool:
        parameters = [generic for generic in fn.generics if generic.kind != "lifetime"]
        if not parameters:
            return True
        if len(path.generics) != len(parameters):
            return False
        layouts: dict[str, Layout] = {}
        for parameter, argument in zip(parameters, path.generics, strict=True):
            if parameter.kind == "type":
                layout = self._layout(argument, frame) if isinstance(argument, ast.Type) else None
                if layout is not None:
                    layouts[parameter.name] = layout
                continue
            given = _as_expr(argument)
            value = self.value(given, frame, self.type_name(parameter.type, inside)) if given is not None else None
            if value is None:
                return False
            inside.variables[parameter.name] = value
        inside.place = replace(inside.place, layouts=layouts)
        return True


def _as_expr(argument: ast.Type | ast.Expr) -> ast.Expr | None:
    """A const argument: a literal, a block, or a name, which reads as a type."""
    match argument:
        case ast.Expr():
            return argument
        case ast.TypePath(path=path):
            return ast.PathExpr(path.span, path)
        case _:
            return None


def _bare(expr: ast.Expr) -> bool:
    """An integer literal without suffix, or one under ``!``: a cast decides its type."""
    while isinstance(expr, ast.Unary) and expr.op == "!":
        expr = expr.operand
    return isinstance(expr, ast.Lit) and expr.kind == "int" and not expr.suffix


def _literal(expr: ast.Lit, expect: str) -> Const | None:
    match expr.kind, expr.value:
        case "int", int(value):
            if expect in FLOATS and not expr.suffix:
                return None
            type_ = expr.suffix or (expect if expect in BITS else "")
            return Const(value, type_) if fits(value, type_) else None
        case "byte", int(value):
            return Const(value, "u8")
        case "bool", bool(value):
            return Const(value, "bool")
        case "float", float(value):
            return make_float(value, expr.suffix or (expect if expect in FLOATS else ""))
        case kind, (str() | bytes()) as value:
            return Const(value, kind)
        case _:
            return None


def _field(base: Const | None, name: str) -> Const | None:
    if base is None or not isinstance(base.value, tuple):
        return None
    if base.type == "struct":
        return next((v for n, v in base.value if n == name and isinstance(v, Const)), None)  # type: ignore[misc]
    if base.type == "tuple" and name.isdigit() and len(name) < 4 and int(name) < len(base.value):
        found = base.value[int(name)]
        return found if isinstance(found, Const) else None
    return None


def _element(base: Const | None, index: Const | None) -> Const | None:
    number = index.integer if index is not None else None
    if base is None or number is None or base.type != "array" or not isinstance(base.value, tuple):
        return None
    found = base.value[number] if 0 <= number < len(base.value) else None
    return found if isinstance(found, Const) else None


def _discriminant(
    variants: Sequence[ast.Variant], wanted: ast.Variant, evaluator: ConstEval, frame: Frame
) -> Const | None:
    """The number of a variant without fields, so that ``E::A as u32`` has a value."""
    if any(variant.fields for variant in variants):
        return None
    number = -1
    for variant in variants:
        if variant.discriminant is not None:
            given = evaluator.value(variant.discriminant, frame)
            if given is None or given.integer is None:
                return None
            number = given.integer
        else:
            number += 1
        if variant is wanted:
            return Const(number, "")
    return None
