"""Operators and casts on host values, and the static type of simple expressions."""

from __future__ import annotations

from gpusafe.dataflow.host import terms
from gpusafe.dataflow.host.access import peel, touch, touch_cell
from gpusafe.dataflow.host.handles import Buffer, MemSlice, Pointer
from gpusafe.dataflow.host.indexing import read_place
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.syntax_walk import walk
from gpusafe.dataflow.host.typing_rules import scalar, size_of
from gpusafe.dataflow.host.values import RefVal, StructVal, TypeVal, Unknown, Value
from gpusafe.ir.expr import BOOL, COMPARISONS, USIZE, Expr, Op, Type
from gpusafe.parse.rust import ast


def binary(m: Machine, expr: ast.Binary, expect: ast.Type | None) -> Value:
    """``a op b``; ``&&`` and ``||`` leave out the right side where the left one decides."""
    op = terms.BINARY.get(expr.op)
    if op in (Op.LAND, Op.LOR):
        return _logical(m, expr, op)
    left = m.value(expr.left, expect)
    right = m.value(expr.right, expect)
    for side, part in ((left, expr.left), (right, expr.right)):
        touch(m, side, "read", part.span)
    if op is None:
        return Unknown("the result of an operator")
    if op is Op.SHL:
        shifted = _shifted(m, left, right, expr.left)
        if shifted is not None:
            return shifted
    return operate(m, op, left, right, expr)


def _shifted(m: Machine, left: Value, right: Value, node: ast.Expr) -> Value | None:
    """A known number shifted beyond what fits 31 bits: the bits that its type has no room for are gone."""
    number, by = terms.known(left), terms.known(right)
    if number is None or by is None or not 0 <= by < 128 or 0 <= number << by < 1 << 31:
        return None
    said = static_type(m, node)
    if not isinstance(said, Type) or said.signed:
        return Unknown("a shift that may lose bits")
    return (number << by) & said.high


def operate(m: Machine, op: Op, left: Value, right: Value, expr: ast.Expr) -> Value:
    """An operator on two values."""
    left, right = peel(left), peel(right)
    if isinstance(left, Pointer) and op in (Op.ADD, Op.SUB):
        moved = terms.add(left.offset, right) if op is Op.ADD else terms.sub(left.offset, right)
        return Pointer(
            left.memory, moved if moved is not None else m.symbol("offset", USIZE), left.elem_bytes, left.buffer
        )
    if op in COMPARISONS and (isinstance(left, terms.Counter) or isinstance(right, terms.Counter)):
        m.note_counter("the loop's counter decides a branch")
    if isinstance(left, str) and isinstance(right, str) and op in (Op.EQ, Op.NE):
        return (left == right) == (op is Op.EQ)
    if isinstance(left, StructVal) and isinstance(right, StructVal) and op in (Op.EQ, Op.NE):
        if left.variant != right.variant:
            return op is Op.NE
        if not left.fields and not right.fields and left.variant is not None:
            return op is Op.EQ
    result = terms.binary(op, left, right)
    if (
        isinstance(result, terms.Counter)
        and op is Op.REM
        and isinstance(right, int)
        and not isinstance(right, terms.Counter)
    ):
        m.note_modulus(right)
        return int(result)
    if result is not None:
        return result
    if op in COMPARISONS:
        return m.symbol(m.source_text(expr), BOOL) if _stable(left, right) else Unknown("a comparison")
    for side in (left, right):
        if isinstance(side, Expr) and side.type.kind == "int":
            return m.symbol("value", side.type)
    return Unknown("the result of an operator")


def _stable(left: Value, right: Value) -> bool:
    return isinstance(left, Expr) or isinstance(right, Expr)


def _logical(m: Machine, expr: ast.Binary, op: Op) -> Value:
    left = peel(m.value(expr.left))
    if isinstance(left, bool):
        if left == (op is Op.LOR):
            return left
        return peel(m.value(expr.right))
    if any(isinstance(n, (ast.Call, ast.MethodCall, ast.MacroCall, ast.Try, ast.Await)) for n in walk(expr.right)):
        goes_on = m.decide(left, m.source_text(expr.left), expr.left.span) == (op is Op.LAND)
        return peel(m.value(expr.right)) if goes_on else op is Op.LOR
    right = peel(m.value(expr.right))
    if isinstance(right, bool):
        return right if right == (op is Op.LOR) else left
    result = terms.binary(op, left, right)
    return result if result is not None else Unknown(f"`{m.source_text(expr)}`")


def compound(m: Machine, expr: ast.Assign) -> None:
    """``place op= value``."""
    right = m.value(expr.value)
    touch(m, right, "read", expr.value.span)
    target = m.place(expr.target)
    while isinstance(target.value, RefVal):
        target = target.value.cell
    read_place(m, target, expr.span, "write")
    touch_cell(m, target, "write", expr.span)
    op = terms.BINARY.get(expr.op[:-1])
    target.value = operate(m, op, target.value, right, expr) if op is not None else Unknown("the result of an operator")


def cast(m: Machine, operand: Value, expr: ast.Cast) -> Value:
    """``operand as type``; a reference cast to a raw pointer stays what it points to."""
    wanted = scalar(m, expr.type)
    inner = peel(operand)
    if isinstance(expr.type, ast.TypePtr):
        return _pointer(m, operand, inner, expr.type)
    if isinstance(inner, Pointer):
        return inner
    if wanted is None:
        return operand
    if isinstance(inner, TypeVal) and inner.name == "discriminant":
        inner = inner.payload
    result = terms.cast(inner, wanted)
    if result is not None:
        return result
    if wanted.kind == "int":
        return m.symbol(m.source_text(expr.operand), wanted)
    return Unknown("a cast", expr.type)


def _pointer(m: Machine, operand: Value, inner: Value, type_: ast.TypePtr) -> Value:
    if isinstance(type_.inner, ast.TypePath) and "Atomic" in type_.inner.path.last:
        m.atomics_shared = True
    size = size_of(m, type_.inner)
    match inner:
        case Pointer():
            return Pointer(inner.memory, inner.offset, size or inner.elem_bytes, inner.buffer)
        case MemSlice():
            offset = terms.mul(inner.start, inner.elem_bytes) if inner.elem_bytes else 0
            return Pointer(inner.memory, offset, size or inner.elem_bytes)
        case Buffer(kind="pinned" | "unified"):
            return Pointer(inner.memory, 0, size or inner.elem_bytes, inner)
    return operand


def static_type(m: Machine, expr: ast.Expr) -> Type | ast.Type | None:
    """The type of an expression that says it itself (a suffix, a cast, a constructor); None otherwise."""
    match expr:
        case ast.Lit(kind="byte"):
            return terms.SCALARS["u8"]
        case ast.Lit(suffix=suffix) if suffix:
            return terms.SCALARS.get(suffix)
        case ast.Lit(kind="bool"):
            return BOOL
        case ast.Cast(type=type_):
            return scalar(m, type_) or type_
        case ast.Unary(op="-" | "!", operand=operand):
            return static_type(m, operand)
        case ast.Binary(op=op, left=left, right=right):
            return BOOL if terms.BINARY.get(op) in COMPARISONS else static_type(m, left) or static_type(m, right)
        case ast.PathExpr(path=path) if len(path.names) == 1:
            cell = m.lookup(path.names[0])
            if cell is not None and isinstance(cell.value, Expr):
                return cell.value.type
            item = m.program.value_item(path.names[0], m.home) if cell is None else None
            if item is not None and isinstance(item.item, (ast.Const, ast.Static)) and item.item.type is not None:
                return scalar(m, item.item.type) or item.item.type
        case ast.MethodCall(receiver=receiver, name=name) if name in _KEEP_TYPE:
            return static_type(m, receiver)
        case ast.Array(items=items) if items:
            inner = static_type(m, items[0])
            return _array_type(expr, inner, len(items))
        case ast.ArrayRepeat(value=value):
            inner = static_type(m, value)
            count = terms.known(m.value(expr.length))
            return _array_type(expr, inner, count) if count is not None else None
    return None


_KEEP_TYPE = frozenset(
    ("sin", "cos", "sqrt", "abs", "min", "max", "powi", "powf", "exp", "ln", "wrapping_mul", "wrapping_add", "clone",
     "pow", "floor", "ceil", "rem_euclid", "saturating_sub", "tanh")
)  # fmt: skip


def _array_type(expr: ast.Expr, inner: Type | ast.Type | None, count: int) -> ast.Type | None:
    if isinstance(inner, Type):
        name = next((n for n, t in terms.SCALARS.items() if t == inner), None)
        if name is None:
            return None
        inner = ast.TypePath(expr.span, ast.Path(expr.span, (name,)))
    if inner is None:
        return None
    return ast.TypeArray(expr.span, inner, ast.Lit(expr.span, "int", count))
