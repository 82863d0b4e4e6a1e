"""Inference of the types that Rust leaves out: union-find over type variables.

A literal without a suffix gets a variable of kind ``int`` or ``float``. Terms built from it carry the placeholder type
``Type("infer", n)``; gpusafe.parse.rust.device.finish replaces it when the whole kernel is lowered.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gpusafe.ir import expr as ir
from gpusafe.parse.rust.device.types import (
    AdtTy,
    ArrayTy,
    AtomicTy,
    PtrTy,
    ScalarTy,
    SliceTy,
    TupleTy,
    Ty,
    VarTy,
)

_DEFAULTS = {"int": ir.I32, "float": ir.F64, "any": ir.U32}


@dataclass
class Infer:
    """The type variables of one kernel."""

    _parent: list[int] = field(default_factory=list)
    _kind: list[str] = field(default_factory=list)
    _bound: dict[int, Ty] = field(default_factory=dict)

    def fresh(self, kind: str = "any") -> VarTy:
        """A new variable: ``int``, ``float`` or ``any``."""
        self._parent.append(len(self._parent))
        self._kind.append(kind)
        return VarTy(len(self._parent) - 1)

    def _root(self, ident: int) -> int:
        while self._parent[ident] != ident:
            self._parent[ident] = self._parent[self._parent[ident]]
            ident = self._parent[ident]
        return ident

    def shallow(self, ty: Ty) -> Ty:
        """``ty`` with its outermost variable replaced, if it is known."""
        if isinstance(ty, VarTy):
            root = self._root(ty.ident)
            return self._bound.get(root, VarTy(root))
        return ty

    def kind(self, ty: Ty) -> str:
        """``int``, ``float`` or ``any`` for a variable, ``""`` for a settled type."""
        ty = self.shallow(ty)
        return self._kind[ty.ident] if isinstance(ty, VarTy) else ""

    def deep(self, ty: Ty) -> Ty:
        """``ty`` with all known variables replaced."""
        ty = self.shallow(ty)
        match ty:
            case PtrTy(inner=inner):
                return PtrTy(self.deep(inner), ty.mutable, ty.is_ref)
            case SliceTy(elem=elem):
                return SliceTy(self.deep(elem))
            case ArrayTy(elem=elem, length=length):
                return ArrayTy(self.deep(elem), length)
            case TupleTy(items=items):
                return TupleTy(tuple(map(self.deep, items)))
            case AdtTy(adt=adt, args=args):
                return AdtTy(adt, tuple(self.deep(a) if isinstance(a, Ty) else a for a in args))
            case AtomicTy(content=content, scope=scope):
                return AtomicTy(self.deep(content), scope)
            case _:
                return ty

    def unify(self, a: Ty, b: Ty) -> bool:
        """Make the two types one where variables allow it; False when they differ."""
        todo = [(a, b)]
        same = True
        while todo:
            x, y = map(self.shallow, todo.pop())
            if x == y:
                continue
            if isinstance(x, VarTy) or isinstance(y, VarTy):
                same &= self._join(x, y)
                continue
            match x, y:
                case (PtrTy(inner=p), PtrTy(inner=q)):
                    todo.append((p, q))
                case (SliceTy(elem=p), SliceTy(elem=q)) | (ArrayTy(elem=p), ArrayTy(elem=q)):
                    todo.append((p, q))
                case (AtomicTy(content=p), AtomicTy(content=q)):
                    todo.append((p, q))
                case (TupleTy(items=ps), TupleTy(items=qs)) if len(ps) == len(qs):
                    todo.extend(zip(ps, qs, strict=True))
                case (AdtTy(adt=f, args=ps2), AdtTy(adt=g, args=qs2)) if f is g:
                    pairs = zip(ps2, qs2, strict=False)
                    todo.extend((p, q) for p, q in pairs if isinstance(p, Ty) and isinstance(q, Ty))
                case _:
                    same = False
        return same

    def _join(self, x: Ty, y: Ty) -> bool:
        if isinstance(x, VarTy) and isinstance(y, VarTy):
            kinds = (self._kind[x.ident], self._kind[y.ident])
            kind = kinds[0] if kinds[1] == "any" else kinds[1]
            self._parent[x.ident] = y.ident
            self._kind[y.ident] = kind
            return "any" in kinds or kinds[0] == kinds[1]
        var, ty = (x, y) if isinstance(x, VarTy) else (y, x)
        assert isinstance(var, VarTy)
        kind = self._kind[var.ident]
        if kind != "any" and not (isinstance(ty, ScalarTy) and ty.type.kind == kind):
            return False
        self._bound[var.ident] = ty
        return True

    def term_type(self, ty: Ty) -> ir.Type | None:
        """The type of terms of scalar type ``ty``; None for types that are not one term."""
        ty = self.shallow(ty)
        match ty:
            case ScalarTy(type=t):
                return t
            case VarTy(ident=ident):
                return ir.Type("infer", ident)
            case PtrTy(inner=inner) if not isinstance(self.shallow(inner), SliceTy):
                return ir.PTR
            case _:
                return None

    def settle(self, type_: ir.Type) -> ir.Type:
        """What a placeholder type stands for at the end (Rust's defaults where nothing settled it)."""
        if type_.kind != "infer":
            return type_
        ty = self.shallow(VarTy(type_.bits))
        match ty:
            case ScalarTy(type=t):
                return t
            case PtrTy():
                return ir.PTR
            case VarTy(ident=ident):
                return _DEFAULTS[self._kind[ident]]
            case _:
                return ir.U32

    def scalar_of(self, type_: ir.Type) -> Ty:
        """The type whose terms have ``type_`` (a variable for a placeholder)."""
        return VarTy(type_.bits) if type_.kind == "infer" else ScalarTy(type_)
