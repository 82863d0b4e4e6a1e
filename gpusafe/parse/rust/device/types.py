"""Types of values in device code, as far as the lowering needs them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpusafe.ir import expr as ir
from gpusafe.ir.kernel import Scope

if TYPE_CHECKING:
    from gpusafe.parse.rust.device.program import AdtDef


@dataclass(frozen=True, slots=True)
class Ty:
    """Base of types."""


@dataclass(frozen=True, slots=True)
class ScalarTy(Ty):
    """An integer, a float, ``bool`` or ``char`` (32 bits)."""

    type: ir.Type


@dataclass(frozen=True, slots=True)
class VarTy(Ty):
    """A type that inference has not settled yet (see gpusafe.parse.rust.device.infer)."""

    ident: int


@dataclass(frozen=True, slots=True)
class PtrTy(Ty):
    """A reference (``is_ref``) or raw pointer; fat when ``inner`` is a slice."""

    inner: Ty
    mutable: bool
    is_ref: bool


@dataclass(frozen=True, slots=True)
class SliceTy(Ty):
    elem: Ty


@dataclass(frozen=True, slots=True)
class ArrayTy(Ty):
    """``length`` counts elements; a constant term, or one over generic parameters that are not instantiated."""

    elem: Ty
    length: ir.Expr


@dataclass(frozen=True, slots=True)
class TupleTy(Ty):
    items: tuple[Ty, ...]


@dataclass(frozen=True, slots=True)
class AdtTy(Ty):
    """A struct, union or enum of the program or of the prelude, with its generic arguments in order."""

    adt: AdtDef
    args: tuple[Ty | ir.Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class AtomicTy(Ty):
    """An atomic cell: the type of its content and the scope of its operations."""

    content: Ty
    scope: Scope


@dataclass(frozen=True, slots=True)
class ForeignTy(Ty):
    """A type that nothing in sight defines; its size and what it can do are unknown."""

    name: str


@dataclass(frozen=True, slots=True)
class ParamTy(Ty):
    """A type parameter that was not instantiated."""

    name: str


@dataclass(frozen=True, slots=True)
class NeverTy(Ty):
    """``!``."""


@dataclass(frozen=True, slots=True)
class FnTy(Ty):
    """A function item, function pointer or closure; what it does is kept in the value."""


UNIT = TupleTy(())
NEVER = NeverTy()
BOOL = ScalarTy(ir.BOOL)
USIZE = ScalarTy(ir.USIZE)
U32 = ScalarTy(ir.U32)
CHAR = ScalarTy(ir.U32)

SCALARS: dict[str, ScalarTy] = {
    **{f"u{b}": ScalarTy(ir.Type("int", b)) for b in (8, 16, 32, 64, 128)},
    **{f"i{b}": ScalarTy(ir.Type("int", b, True)) for b in (8, 16, 32, 64, 128)},
    **{f"f{b}": ScalarTy(ir.Type("float", b)) for b in (16, 32, 64)},
    "usize": USIZE,
    "isize": ScalarTy(ir.ISIZE),
    "bool": BOOL,
    "char": CHAR,
}


def is_fat(ty: Ty) -> bool:
    """Whether a pointer type carries a length."""
    return isinstance(ty, PtrTy) and isinstance(ty.inner, SliceTy)


def show(ty: Ty) -> str:
    """The type in the words of Rust, for messages."""
    match ty:
        case ScalarTy(type=t):
            letter = {"int": "i" if t.signed else "u", "float": "f", "bool": "bool"}.get(t.kind, t.kind)
            return letter if t.kind == "bool" else f"{letter}{t.bits}"
        case PtrTy(inner=inner, mutable=mutable, is_ref=True):
            return f"&{'mut ' if mutable else ''}{show(inner)}"
        case PtrTy(inner=inner, mutable=mutable):
            return f"*{'mut' if mutable else 'const'} {show(inner)}"
        case SliceTy(elem=elem):
            return f"[{show(elem)}]"
        case ArrayTy(elem=elem):
            return f"[{show(elem)}; _]"
        case TupleTy(items=items):
            return f"({', '.join(map(show, items))})"
        case AdtTy(adt=adt):
            return adt.name
        case ForeignTy(name=name) | ParamTy(name=name):
            return name
        case AtomicTy(content=content):
            return f"atomic {show(content)}"
        case _:
            return "_"
