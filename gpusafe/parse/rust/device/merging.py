"""The value where several paths meet: a result variable for each scalar that differs."""

from __future__ import annotations

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import Expr, Type, Var
from gpusafe.parse.rust.device import terms
from gpusafe.parse.rust.device.bodies import Hole, Join
from gpusafe.parse.rust.device.lowering import Lowering
from gpusafe.parse.rust.device.scalars import term_of
from gpusafe.parse.rust.device.types import NeverTy, VarTy
from gpusafe.parse.rust.device.values import (
    NEVER,
    Agg,
    ArrayVal,
    ChoicePlace,
    Diverges,
    EnumVal,
    Fat,
    LocalRef,
    Scalar,
    Unknown,
    Value,
)
from gpusafe.span import Span


def meet(lw: Lowering, join: Join, span: Span) -> Value:
    """The value after all paths into ``join``; fills their holes with the assignments it needs."""
    entries = [(h, v) for h, v in join.entries if not isinstance(v, Diverges)]
    if not entries:
        return NEVER
    if len(entries) == 1:
        return entries[0][1]
    holes = [h for h, _ in entries]
    return _Merge(lw, span, join.hint or "t").merge(holes, [v for _, v in entries])


def select(lw: Lowering, cond: Expr, a: Value, b: Value) -> Value | None:
    """``if cond { a } else { b }`` without statements; None where that is not a matter of terms alone."""
    match a, b:
        case (Scalar(ty=ty, term=x), Scalar(ty=other, term=y)):
            if not lw.infer.unify(ty, other) or (x.type != y.type and "infer" not in (x.type.kind, y.type.kind)):
                return None
            ty = other if isinstance(lw.infer.shallow(ty), NeverTy) else ty
            return Scalar(ty, terms.select(cond, x, y))
        case (Fat(ty=ty, ptr=p, len=n), Fat(ptr=q, len=m)):
            return Fat(ty, terms.select(cond, p, q), terms.select(cond, n, m))
        case (Agg(ty=ty, fields=fields), Agg()) if len(fields) == len(b.fields):
            made = []
            for name, x2 in fields:
                y2 = b.get(name)
                part = select(lw, cond, x2, y2) if y2 is not None else None
                if part is None:
                    return None
                made.append((name, part))
            return Agg(ty, tuple(made))
        case (EnumVal(ty=ty, tag=tag), EnumVal()):
            payloads: dict[int, tuple[Value, ...]] = dict(b.payloads)
            for index, items in a.payloads:
                if index in payloads:
                    parts = [select(lw, cond, x3, y3) for x3, y3 in zip(items, payloads[index], strict=True)]
                    if None in parts:
                        return None
                    payloads[index] = tuple(p for p in parts if p is not None)
                else:
                    payloads[index] = items
            lw.infer.unify(ty, b.ty)
            return EnumVal(ty, terms.select(cond, tag, b.tag), tuple(sorted(payloads.items())))
        case _:
            return a if a == b else None


class _Merge:
    def __init__(self, lw: Lowering, span: Span, hint: str) -> None:
        self.lw = lw
        self.span = lw.at(span)
        self.hint = hint

    def assign(self, holes: list[Hole], found: list[Expr], hint: str) -> Expr:
        """A variable that gets each path's term at its end."""
        first = found[0]
        if all(t == first for t in found) and self.lw.stable(first):
            return first
        name = self.lw.fresh(hint)
        self.lw.temps.add(name)
        for hole, term in zip(holes, found, strict=True):
            hole.stmts.append(k.Assign(self.span, name, self._as(term, first.type)))
        return Var(first.type, name)

    @staticmethod
    def _as(term: Expr, type_: Type) -> Expr:
        if term.type == type_ or "infer" in (term.type.kind, type_.kind):
            return term
        return terms.cast(term, type_)

    def merge(self, holes: list[Hole], values: list[Value], hint: str = "") -> Value:
        """One tree for all values."""
        hint = hint or self.hint
        first = next((v for v in values if not isinstance(v, Unknown)), values[0])
        match first:
            case Scalar():
                return self._scalars(holes, values, first, hint)
            case Fat(ty=ty) if all(isinstance(v, Fat) for v in values):
                fats = [v for v in values if isinstance(v, Fat)]
                ptr = self.assign(holes, [v.ptr for v in fats], f"{hint}.ptr")
                return Fat(ty, ptr, self.assign(holes, [v.len for v in fats], f"{hint}.len"))
            case Agg(ty=ty, fields=fields) if all(isinstance(v, Agg) for v in values):
                made = []
                for name, _ in fields:
                    parts = [v.get(name) for v in values if isinstance(v, Agg)]
                    known = [p for p in parts if p is not None]
                    if len(known) != len(holes):
                        return self._unlike(first)
                    made.append((name, self.merge(holes, known, f"{hint}.{name}")))
                for other in values[1:]:
                    self.lw.infer.unify(ty, other.ty)
                return Agg(ty, tuple(made))
            case EnumVal() if all(isinstance(v, EnumVal) for v in values):
                return self._enums(holes, [v for v in values if isinstance(v, EnumVal)], hint)
            case ArrayVal(ty=ty, items=items) if all(isinstance(v, ArrayVal) for v in values):
                columns = zip(*(v.items for v in values if isinstance(v, ArrayVal)), strict=False)
                made2 = tuple(self.merge(holes, list(column), hint) for column in columns)
                return ArrayVal(ty, made2) if len(made2) == len(items) else self._unlike(first)
            case _ if all(v == first for v in values):
                return first
            case LocalRef(ty=ty) if all(isinstance(v, LocalRef) for v in values):
                places = tuple(v.place for v in values if isinstance(v, LocalRef))
                numbers: list[Expr] = [terms.int_const(i) for i in range(len(places))]
                choice = self.assign(holes, numbers, f"{hint}.which")
                return LocalRef(ty, ChoicePlace(places[0].ty, choice, places))
            case _:
                return self._unlike(first)

    def _scalars(self, holes: list[Hole], values: list[Value], first: Scalar, hint: str) -> Value:
        lw = self.lw
        ty = first.ty
        found = []
        for hole, value in zip(holes, values, strict=True):
            if isinstance(value, LocalRef):
                return self._unlike(first)
            lw.infer.unify(ty, value.ty)
            if isinstance(lw.infer.shallow(ty), NeverTy | VarTy) and isinstance(value, Scalar):
                ty = value.ty
            out, lw.out, dead, lw.dead = lw.out, list(hole.stmts), lw.dead, False
            term = term_of(lw, value, self.span, ty)
            hole.stmts = [s for s in lw.out if isinstance(s, k.Stmt)]
            lw.out, lw.dead = out, dead
            found.append(term)
        return Scalar(ty, self.assign(holes, found, hint))

    def _enums(self, holes: list[Hole], values: list[EnumVal], hint: str) -> Value:
        ty = values[0].ty
        for other in values[1:]:
            self.lw.infer.unify(ty, other.ty)
        tag = self.assign(holes, [v.tag for v in values], f"{hint}.tag")
        payloads: list[tuple[int, tuple[Value, ...]]] = []
        for index in sorted({i for v in values for i, _ in v.payloads}):
            having = [(h, p) for h, v in zip(holes, values, strict=True) if (p := v.payload(index)) is not None]
            count = len(having[0][1])
            some = [h for h, _ in having]
            merged = tuple(self.merge(some, [p[n] for _, p in having], hint) for n in range(count))
            payloads.append((index, merged))
        return EnumVal(ty, tag, tuple(payloads))

    def _unlike(self, value: Value) -> Value:
        return self.lw.unmodelled("values of different shape where paths meet", self.span, syncs=False, ty=value.ty)
