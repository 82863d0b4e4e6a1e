"""From bodies under construction to IR: placeholder types and sizes get their final values."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import FALSE, TRUE, USIZE, Binary, Cast, Const, Expr, Op, Opaque, PtrAdd, Select, Type, Unary
from gpusafe.parse.rust.device import terms
from gpusafe.parse.rust.device.bodies import Body, Hole, Nest
from gpusafe.parse.rust.device.infer import Infer
from gpusafe.parse.rust.device.layout import SIZE_OF


@cache
def _fields(kind: Any) -> tuple[str, ...]:
    return tuple(f.name for f in dataclasses.fields(kind))


@dataclass(eq=False, slots=True)
class Finisher:
    """Settles types in terms, statements and regions."""

    infer: Infer
    _memo: dict[Expr, Expr] = field(default_factory=dict)

    def type(self, type_: Type) -> Type:
        """The settled type."""
        return self.infer.settle(type_)

    def size(self, size: int) -> int:
        """The settled size of an access or element (negative numbers stand for placeholder types)."""
        return size if size >= 0 else self.infer.settle(Type("infer", -1 - size)).bytes

    def term(self, term: Expr) -> Expr:
        """A term with settled types, folded again."""
        todo: list[tuple[Expr, bool]] = [(term, False)]
        while todo:
            here, ready = todo.pop()
            if here in self._memo:
                continue
            if ready:
                self._memo[here] = self._settle(here)
                continue
            todo.append((here, True))
            todo.extend((child, False) for child in terms.children(here) if child not in self._memo)
        return self._memo[term]

    def _settle(self, term: Expr) -> Expr:
        memo = self._memo
        match term:
            case Const(type=Type(kind=kind, bits=ident)) if kind == SIZE_OF:
                return terms.int_const(self.infer.settle(Type("infer", ident)).bytes, USIZE)
            case Const(type=t, value=value) if t.kind == "infer":
                settled = self.type(t)
                if settled.kind == "float":
                    return Const(settled, float(value))
                return terms.int_const(int(value), settled) if settled.kind == "int" else Const(settled, value)
            case Binary(op=op, a=a, b=b, nowrap=nowrap):
                x, y = memo[a], memo[b]
                if op in (Op.SHL, Op.SHR):
                    return terms.shift(op, x, y)
                if x.type != y.type:
                    y = terms.cast(y, x.type)
                return terms.binary(op, x, y, nowrap)
            case Unary(op=op, a=a):
                return terms.unary(op, memo[a])
            case Cast(type=t, a=a):
                return terms.cast(memo[a], self.type(t))
            case Select(cond=cond, a=a, b=b):
                return terms.select(memo[cond], memo[a], terms.cast(memo[b], memo[a].type))
            case Opaque(type=t, name=name, args=args):
                return Opaque(self.type(t), name, tuple(memo[a] for a in args))
            case PtrAdd(ptr=ptr, offset=offset):
                return terms.ptr_add(memo[ptr], memo[offset])
            case _ if term.type.kind == "infer":
                return dataclasses.replace(term, type=self.type(term.type))
            case _:
                return term

    def stmt(self, stmt: k.Stmt) -> k.Stmt:
        """A statement with all its terms settled."""
        changes: dict[str, Any] = {}
        kind: Any = type(stmt)
        for name in _fields(kind):
            value = getattr(stmt, name)
            match value:
                case Expr():
                    changes[name] = self.term(value)
                case Type() if value.kind == "infer":
                    changes[name] = self.type(value)
                case (Expr(), *_):
                    changes[name] = tuple(map(self.term, value))
                case int() if name == "size" and value < 0:
                    changes[name] = self.size(value)
        return dataclasses.replace(stmt, **changes) if changes else stmt

    def body(self, body: Body) -> tuple[k.Stmt, ...]:
        """A finished statement list."""
        out: list[k.Stmt] = []
        for item in body:
            match item:
                case Hole(stmts=stmts):
                    out.extend(map(self.stmt, stmts))
                case Nest():
                    out.extend(self._nest(item))
                case _:
                    out.append(self.stmt(item))
        return tuple(out)

    def _nest(self, nest: Nest) -> tuple[k.Stmt, ...]:
        first = self.body(nest.first)
        if nest.kind == "loop":
            return (k.Loop(nest.span, nest.label, first),)
        if nest.kind == "block":
            return (k.Block(nest.span, nest.label, first),) if first else ()
        second = self.body(nest.second)
        assert nest.cond is not None
        cond = self.term(nest.cond)
        if cond == TRUE:
            return first
        if cond == FALSE:
            return second
        if not first and not second:
            return ()
        if not first:
            return (k.If(nest.span, terms.negate(cond), second),)
        inner = first[0]
        if len(first) == 1 and not second and isinstance(inner, k.If) and not inner.orelse:
            return (k.If(nest.span, terms.both(cond, inner.cond), inner.then),)
        return (k.If(nest.span, cond, first, second),)

    def region(self, region: k.Region) -> k.Region:
        """A region with its element size and length settled."""
        length = self.term(region.length) if region.length is not None else None
        return dataclasses.replace(region, elem_bytes=self.size(region.elem_bytes), length=length)
